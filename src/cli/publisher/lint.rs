//! `backissue lint`: checks a document for its publisher, from the point of view of feed readers. Uses no store. For an address,
//! also fetches the archives that the feed links to.

use super::{lint_url, parse};
use crate::cli::args::{FailOn, LintArgs, LintFormat, Options};
use crate::cli::session::Failure;
use crate::cli::{Done, json};
use crate::io::{clock, console};
use backissue_core::feed::address::without_logins;
use backissue_core::feed::{Kind, Origin};
use backissue_core::lint::{
    Level, LintFinding, LintReport, Topic, examine, mending, report_github, report_json,
    report_sarif,
};

/// Runs `backissue lint`. The exit status is 0 with notes only, 1 with warnings or errors (with `--fail-on error`: with errors), and
/// 2 if the document cannot be read or is not a feed.
pub(in crate::cli) fn run(options: &Options, args: &LintArgs) -> Result<Done, Failure> {
    let verdict = if is_address(&args.file) {
        if args.url.is_some() {
            return Err(Failure::new("--url is only for files, not for an address"));
        }
        lint_url::survey_address(options, &args.file)?
    } else {
        read_report(args)?
    };
    let format = if args.json { LintFormat::Json } else { args.format };
    let name = if args.file == "-" { "stdin" } else { &*without_logins(&args.file) };
    match format {
        LintFormat::Text => console::put(&report_lines(&verdict)),
        LintFormat::Json => console::put(&json::text(&report_json(&verdict))),
        LintFormat::Sarif => {
            let version = env!("CARGO_PKG_VERSION");
            console::put(&json::text(&report_sarif(&verdict, name, version)));
        }
        LintFormat::Github => {
            for line in report_github(&verdict, name) {
                console::put(&line);
            }
        }
    }
    if verdict.kind == Kind::None {
        let name = if args.file == "-" { "standard input" } else { &without_logins(&args.file) };
        return Err(Failure::new(format!("this is not a feed: {name}")));
    }
    let failing = match args.fail_on {
        FailOn::Warning => verdict.count(Level::Error) + verdict.count(Level::Warning),
        FailOn::Error => verdict.count(Level::Error),
    };
    let is_clean = failing == 0;
    Ok(if is_clean { Done::All } else { Done::WithFailures })
}

fn read_report(args: &LintArgs) -> Result<LintReport, Failure> {
    let bytes = parse::read_file(&args.file)?;
    let (url, now) = (args.url.as_deref().map(without_logins), clock::now());
    parse::read_apart(move || {
        examine(&bytes, &Origin { url: url.as_deref(), content_type: None }, now)
    })
}

fn is_address(file: &str) -> bool {
    let file = file.to_ascii_lowercase();
    file.starts_with("http://") || file.starts_with("https://")
}

/// Formats the report as text: findings grouped by topic, then the counts.
fn report_lines(verdict: &LintReport) -> String {
    let mut lines = vec![verdict.title.clone().unwrap_or_else(|| "(no title)".to_owned())];
    let mut topic: Option<Topic> = None;
    for finding in &verdict.findings {
        if topic.replace(finding.topic) != Some(finding.topic) {
            lines.push(format!("\n{}", finding.topic.word()));
        }
        lines.push(finding_line(finding));
        // The address of the document is omitted for files, and for findings about the requested document itself.
        let place = finding.place.as_deref().filter(|place| Some(*place) != verdict.url.as_deref());
        lines.extend(place.map(|place| format!("           at {place}")));
        lines.extend(mending(finding).map(|advice| format!("           mend: {advice}")));
    }
    let counts = [Level::Error, Level::Warning, Level::Note];
    let counts = counts.map(|level| {
        let count = verdict.count(level);
        format!("{count} {}{}", level.word(), if count == 1 { "" } else { "s" })
    });
    lines.push(format!("\n{}", counts.join(", ")));
    lines.join("\n")
}

fn finding_line(finding: &LintFinding) -> String {
    let text = if finding.text.is_empty() { String::new() } else { format!(" '{}'", finding.text) };
    format!("  {:7}  {}{text}: {}", finding.level.word(), finding.element, finding.message)
}

#[cfg(test)]
mod tests {
    use crate::cli::publisher::lint::*;

    #[test]
    fn findings_are_grouped_by_topic() {
        let finding = |level, topic, text: &str| LintFinding {
            level,
            topic,
            place: None,
            element: "ttl".into(),
            text: text.into(),
            message: "m".into(),
        };
        let verdict = LintReport {
            kind: Kind::Rss,
            role: backissue_core::feed::DocumentRole::Plain,
            title: Some("T".into()),
            entries: 0,
            url: None,
            chain: None,
            polls: None,
            findings: vec![
                finding(Level::Note, Topic::Hints, ""),
                finding(Level::Warning, Topic::Hints, "5"),
                finding(Level::Error, Topic::Dates, ""),
            ],
        };
        let expected = "T\n\nhints\n  note     ttl: m\n  warning  ttl '5': m\n           \
                        mend: state the interval once, as a whole number of minutes\n\ndates\n  error    ttl: m\n           \
                        mend: write dates with a time and a time zone, in the format of the feed\n\n\
                        1 error, 1 warning, 1 note";
        assert_eq!(report_lines(&verdict), expected);
    }

    #[test]
    fn addresses_are_distinguished_from_files() {
        assert!(is_address("HTTPS://a.example/feed") && is_address("http://a.example"));
        assert!(!is_address("feed.xml") && !is_address("-") && !is_address("./https"));
    }
}

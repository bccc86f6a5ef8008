//! For publishers, without a store. `backissue lint` checks a document from the point of view of feed readers; for an address, it
//! also fetches the archives that the feed links to, one after another, and finally the document again with its validators (`ETag`
//! and `Last-Modified`) and `A-IM: feed`. `backissue parse` prints the parsed content of a document; `backissue serve` serves a
//! folder of published feeds on this machine.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::time::Duration;

use backissue_core::feed::address::without_logins;
use backissue_core::feed::report::report;
use backissue_core::feed::text::counted_words;
use backissue_core::feed::{self, FeedDocument, Kind, Origin};
use backissue_core::history::{ArchiveFailure as NoArchive, ArchiveRequest};
use backissue_core::lint::{
    Delivered, Headers, Level, LintFinding, LintReport, Survey, Topic, examine, mending,
    report_github, report_json, report_sarif,
};
use indicatif::ProgressBar;

use crate::cli::args::{FailOn, LintArgs, LintFormat, Options, ParseArgs};
use crate::cli::args_publish::ServeArgs;
use crate::cli::session::{self, Failure, block_on};
use crate::cli::{Done, json};
use crate::engine::backfill::archive_response::classify_archive;
use crate::engine::feeds::addresses::{add_login, split_login};
use crate::engine::politeness::host_queue::is_loopback;
use crate::engine::poll::fetch::{
    AddressSource, AnswerBody, FetchId, FetchRequest, Fetched, RequestKind, ServerAnswer,
    Validators,
};
use crate::engine::settings::NetworkSettings;
use crate::io::folder_site::FolderSite;
use crate::io::http::{Http, Limits};
use crate::io::http_server::HttpServer;
use crate::io::signals::Stops;
use crate::io::system::system_words;
use crate::io::{clock, console};

/// Runs `backissue lint`. The exit status is 0 with notes only, 1 with warnings or errors (with `--fail-on error`: with errors), and
/// 2 if the document cannot be read or is not a feed.
pub(in crate::cli) fn run(options: &Options, args: &LintArgs) -> Result<Done, Failure> {
    let verdict = if is_address(&args.file) {
        if args.url.is_some() {
            return Err(Failure::new("--url is only for files, not for an address"));
        }
        survey_address(options, &args.file)?
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
    let bytes = read_file(&args.file)?;
    let (url, now) = (args.url.as_deref().map(without_logins), clock::now());
    read_apart(move || examine(&bytes, &Origin { url: url.as_deref(), content_type: None }, now))
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

/// Fetches a feed and its archives, and collects what `backissue lint` reports about them.
fn survey_address(options: &Options, address: &str) -> Result<LintReport, Failure> {
    if options.offline {
        return Err(Failure::new(
            "an address cannot be fetched with --offline: save the document and name the file",
        ));
    }
    let mut settings = session::read_settings(options)?;
    // A login in the address is sent, but never printed.
    if let Some(split) = split_login(address) {
        add_login(&mut settings.network, &split);
    }
    let address = &without_logins(address);
    block_on(async {
        let http = Http::new(&settings.network, Limits::default()).map_err(Failure::new)?;
        tokio::select! {
            verdict = survey_feed(&http, &settings.network, address) => verdict,
            _ = tokio::signal::ctrl_c() => Err(Failure::new("interrupted")),
        }
    })
}

async fn survey_feed(
    http: &Http,
    settings: &NetworkSettings,
    address: &str,
) -> Result<LintReport, Failure> {
    let request = FetchRequest::typed(FetchId(1), address.to_owned());
    let (first, bytes) = http.fetch_kept(request).await;
    let answer = find_document(&first, address)?;
    let mut survey = Survey::begin(&delivered(address, &first, answer, &bytes), clock::now());
    let bar = new_bar();
    let mut is_welcome = true;
    while let Some(asked) = survey.next(clock::now()) {
        pause_between(settings, &asked.url).await;
        bar.inc(1);
        is_welcome &= fetch_archive(http, &mut survey, &asked).await;
    }
    let validators = Validators {
        url: answer.url.clone(),
        etag: answer.headers.etag.clone(),
        last_modified: answer.headers.last_modified.clone(),
    };
    if is_welcome && validators.speak_for(&answer.url) {
        pause_between(settings, &answer.url).await;
        let requested_delta = validators.etag.is_some();
        let again = FetchRequest {
            validators: Some(validators),
            kind: if requested_delta { RequestKind::Delta } else { RequestKind::Usual },
            ..FetchRequest::typed(FetchId(2), answer.url.clone())
        };
        let (fetched, bytes) = http.fetch_kept(again).await;
        if let Ok(second) = &fetched.result {
            let second = delivered(&answer.url, &fetched, second, &bytes);
            survey.repeated(&second, requested_delta);
        }
    }
    bar.finish_and_clear();
    Ok(survey.into_report())
}

/// Fetches an archive. Returns `false` if the server asks clients to send fewer requests, so that no further archive is fetched.
async fn fetch_archive(http: &Http, survey: &mut Survey, asked: &ArchiveRequest) -> bool {
    let request = FetchRequest {
        id: FetchId(1),
        url: asked.url.clone(),
        validators: None,
        kind: RequestKind::Usual,
        address_source: AddressSource::Supplied { by: asked.by.clone(), public: asked.by_public },
        allow_insecure: false,
        waits_for_store: false,
        redirect_pause_ms: 2_000,
    };
    let (fetched, bytes) = http.fetch_kept(request).await;
    let result = fetched.result.as_ref().map(ServerAnswer::head).map_err(Clone::clone);
    let head = Fetched { result, hops: fetched.hops.clone(), ..fetched };
    let judged = classify_archive(fetched);
    match (&head.result, judged) {
        (Ok(answer), Ok(_)) => {
            survey.arrived(&delivered(&asked.url, &head, answer, &bytes), clock::now());
        }
        (_, Err(failure)) => {
            survey.failed(&failure, clock::now());
            return !matches!(failure, NoArchive::Status { status: 429 | 503, .. });
        }
        (Err(_), Ok(_)) => survey.failed(&NoArchive::Offline, clock::now()),
    }
    true
}

/// Returns the answer to the first request if it contains a feed document.
fn find_document<'a>(first: &'a Fetched, address: &str) -> Result<&'a ServerAnswer, Failure> {
    let cannot = |why: String| Failure::new(format!("{address} could not be read: {why}"));
    let answer = first.result.as_ref().map_err(|failure| cannot(failure.to_string()))?;
    match &answer.body {
        AnswerBody::Document(_) => Ok(answer),
        AnswerBody::Empty => Err(cannot("the response is empty".to_owned())),
        AnswerBody::Article(_)
        | AnswerBody::Listing(_)
        | AnswerBody::Picture(_)
        | AnswerBody::Robots(_) => Err(cannot("it is not a feed".to_owned())),
        AnswerBody::Unread => Err(cannot(format!("the status is {}", answer.status))),
        AnswerBody::Page { candidates, .. } => {
            let feeds: Vec<&str> = candidates.iter().map(|feed| feed.url.as_str()).collect();
            let names = if feeds.is_empty() {
                "it links to no feed".to_owned()
            } else {
                format!("it links to {}", feeds.join(" and "))
            };
            Err(cannot(format!("it is a web page, not a feed; {names}")))
        }
    }
}

fn delivered<'a>(
    asked: &'a str,
    fetched: &Fetched,
    answer: &'a ServerAnswer,
    bytes: &'a [u8],
) -> Delivered<'a> {
    let headers = &answer.headers;
    Delivered {
        asked,
        answered: &answer.url,
        public: answer.public,
        status: answer.status,
        hops: fetched.hops.iter().map(|hop| (hop.status, hop.to.clone())).collect(),
        headers: Headers {
            content_type: headers.content_type.as_deref(),
            etag: headers.etag.is_some(),
            last_modified: headers.last_modified.is_some(),
            times: headers.times(),
            link: headers.link.as_deref(),
            im: headers.im.as_deref(),
            vary: headers.vary.as_deref(),
        },
        wire_bytes: fetched.wire_bytes,
        bytes,
    }
}

/// Pauses as long as the feed reader does between two archives of a site.
async fn pause_between(settings: &NetworkSettings, url: &str) {
    if settings.space_loopback || !is_loopback(url) {
        tokio::time::sleep(Duration::from_millis(settings.archive_spacing_ms)).await;
    }
}

fn new_bar() -> ProgressBar {
    if std::io::stderr().is_terminal() {
        ProgressBar::new_spinner().with_message("fetching archives")
    } else {
        ProgressBar::hidden()
    }
}

/// Maximum size of a document, bytes (SPEC 0, `BODY_MAX`).
const DOCUMENT_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Runs `backissue parse`. The exit status is 1 if the document is not a feed (UX 5).
pub(in crate::cli) fn run_parse(args: &ParseArgs) -> Result<Done, Failure> {
    let bytes = read_file(&args.file)?;
    let (url, content_type) = (args.url.as_deref().map(without_logins), args.content_type.clone());
    let document = read_apart(move || {
        let origin = Origin { url: url.as_deref(), content_type: content_type.as_deref() };
        feed::parse(&bytes, &origin)
    })?;
    if args.json {
        console::put(&json::text(&report(&document)));
    } else {
        print_document(&document);
    }
    Ok(if document.kind == Kind::None { Done::WithFailures } else { Done::All })
}

/// Parses a document on a separate thread, so that a panic in a library is caught and prints nothing.
fn read_apart<T: Send + 'static>(
    reading: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let thread = std::thread::Builder::new().name("parse".into()).spawn(reading);
    let read = thread.ok().and_then(|thread| thread.join().ok());
    read.ok_or_else(|| Failure::new("the document could not be read"))
}

/// Reads a file, or standard input for `-`.
pub(in crate::cli) fn read_file(file: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = if file == "-" {
        std::io::stdin().take(DOCUMENT_BYTES_MAX).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file)
            .and_then(|file| file.take(DOCUMENT_BYTES_MAX).read_to_end(&mut bytes))
    };
    read.map_err(|error| {
        Failure::new(format!("'{}' cannot be read: {}", without_logins(file), system_words(&error)))
    })?;
    Ok(bytes)
}

/// Prints a short summary of the document.
fn print_document(document: &FeedDocument) {
    let title = document.head.title.as_deref().unwrap_or("(no title)");
    console::put(&format!(
        "{} ({}), {}: {title}",
        document.kind.word(),
        document.role.word(),
        counted_words(document.entries.len(), "entry", "entries")
    ));
    for entry in &document.entries {
        let date =
            entry.published.or(entry.updated).map(|at| at.format("%Y-%m-%d %H:%M").to_string());
        let title = entry.title.as_deref().unwrap_or("(no title)");
        console::put(&format!("  {:16}  {title}", date.unwrap_or_default()));
    }
    for flaw in &document.flaws {
        console::put(&format!("  ! {}: {} ({})", flaw.element, flaw.reason, flaw.text));
    }
}

/// Runs `backissue serve`.
pub(in crate::cli) fn run_serve(args: &ServeArgs) -> Result<Done, Failure> {
    let folder = args.folder.as_deref().unwrap_or(Path::new("."));
    let named = folder.display();
    let cannot =
        |error| Failure::new(format!("'{named}' cannot be served: {}", system_words(&error)));
    let site = FolderSite::open(folder).map_err(cannot)?;
    let feeds = site.feeds().map_err(cannot)?;
    let mut stops = Stops::of_process();
    block_on(async {
        let bound = HttpServer::bind_at(args.port).await.map_err(|error| {
            let why = system_words(&error);
            Failure::new(format!(
                "port {} cannot be used: {why}; choose another with --port",
                args.port
            ))
        })?;
        let base = bound.base_url();
        let server = bound.serve(move |request| site.answer(&request));
        console::put(&format!("{base}/"));
        for feed in &feeds {
            console::put(&format!("{base}{feed}"));
        }
        stops.wait().await;
        drop(server);
        Ok(Done::All)
    })
}

#[cfg(test)]
mod tests {
    use crate::cli::commands::lint::*;

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
            role: feed::DocumentRole::Plain,
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

//! The report for a publisher, as JSON and in the formats of programs that check changes: SARIF 2.1.0, and the annotations of GitHub.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::hints::Polls;
use super::table::{Level, LintFinding, mending, rule};
use crate::feed::{DocumentRole, Kind};
use crate::words::rfc_3339;

/// A report on how readers will interpret a document.
#[derive(Debug, Clone, PartialEq)]
pub struct LintReport {
    /// Format of the document.
    pub kind: Kind,
    /// Role of the document in the logical feed.
    pub role: DocumentRole,
    /// Title of the feed.
    pub title: Option<String>,
    /// Number of entries that were read.
    pub entries: usize,
    /// Address of the document, if known.
    pub url: Option<String>,
    /// Archives of the feed; `None` if they were not requested.
    pub chain: Option<Chain>,
    /// Polls by a reader with default settings; `None` if the document is not a feed.
    pub polls: Option<Polls>,
    /// Findings sorted by topic, in a fixed order within each topic.
    pub findings: Vec<LintFinding>,
}

/// Statistics of the archives that were found for a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// Number of readable archives.
    pub archives: u32,
    /// Number of entries in the readable archives.
    pub entries: u32,
    /// Oldest date among the entries of the readable archives.
    pub oldest: Option<DateTime<Utc>>,
    /// Whether the oldest archive was reached without any gap, so that the whole history is available.
    pub is_whole: bool,
}

impl LintReport {
    /// Returns the number of findings with a given level.
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }
}

/// Converts a report to JSON. Times are in UTC in the format of RFC 3339. Missing values are null.
pub fn report_json(verdict: &LintReport) -> Value {
    json!({
        "kind": verdict.kind.word(),
        "role": verdict.role.word(),
        "title": verdict.title,
        "url": verdict.url,
        "entries": verdict.entries,
        "errors": verdict.count(Level::Error),
        "warnings": verdict.count(Level::Warning),
        "notes": verdict.count(Level::Note),
        "chain": verdict.chain.as_ref().map(|chain| json!({
            "archives": chain.archives,
            "entries": chain.entries,
            "oldest": chain.oldest.map(rfc_3339),
            "whole": chain.is_whole,
        })),
        "polls": verdict.polls.as_ref().map(|polls| json!({
            "last_ok": rfc_3339(polls.last_ok),
            "settled_by": polls.settled_by.word(),
            "next_polls": polls.next.iter().copied().map(rfc_3339).collect::<Vec<_>>(),
            "polls_a_week": polls.a_week,
        })),
        "findings": verdict.findings.iter().map(|finding| json!({
            "level": finding.level.word(),
            "topic": finding.topic.word(),
            "url": finding.place,
            "element": finding.element,
            "text": finding.text,
            "message": finding.message,
            "rule": rule(finding),
            "mend": mending(finding),
        })).collect::<Vec<_>>(),
    })
}

/// Converts a report to SARIF. `file` is the checked file or address, as the user named it.
pub fn report_sarif(report: &LintReport, file: &str, version: &str) -> Value {
    let mut rules: Vec<String> = report.findings.iter().map(rule).collect();
    rules.sort_unstable();
    rules.dedup();
    let results: Vec<Value> = report.findings.iter().map(|finding| result(finding, file)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "backissue",
                "version": version,
                "informationUri": "https://backissue.example/",
                "rules": rules.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>(),
            } },
            "results": results,
        }],
    })
}

fn result(finding: &LintFinding, file: &str) -> Value {
    json!({
        "ruleId": rule(finding),
        "level": finding.level.word(),
        "message": { "text": sentence(finding) },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": finding.place.as_deref().unwrap_or(file) },
            },
        }],
    })
}

/// Formats a report as workflow commands of GitHub, one line for each finding.
pub fn report_github(report: &LintReport, file: &str) -> Vec<String> {
    let line = |finding: &LintFinding| {
        let level = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let place = finding.place.as_deref().unwrap_or(file);
        format!(
            "::{level} file={},title={}::{}",
            property(place),
            property(&rule(finding)),
            escaped(&sentence(finding))
        )
    };
    report.findings.iter().map(line).collect()
}

/// Returns the whole finding as one sentence.
fn sentence(finding: &LintFinding) -> String {
    let text = if finding.text.is_empty() { String::new() } else { format!(" '{}'", finding.text) };
    let mend = mending(finding).map(|advice| format!(". To mend it: {advice}")).unwrap_or_default();
    format!("{}{text}: {}{mend}", finding.element, finding.message)
}

/// Escapes a text for a workflow command, which ends at the end of its line.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property, which also ends at a comma or a colon.
fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::Origin;
    use crate::lint::examine;

    fn report() -> LintReport {
        let document =
            "<rss version='2.0'><channel><title>T</title><ttl>a,b: 5%</ttl></channel></rss>";
        examine(document.as_bytes(), &Origin::default(), DateTime::UNIX_EPOCH)
    }

    #[test]
    fn sarif_names_each_rule_once_and_each_finding() {
        let (report, sarif) = (report(), report_sarif(&report(), "feed.xml", "1.0"));
        let run = &sarif["runs"][0];
        assert_eq!(run["results"].as_array().map(Vec::len), Some(report.findings.len()));
        let rules: Vec<&str> = run["tool"]["driver"]["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule["id"].as_str().unwrap())
            .collect();
        let results = run["results"].as_array().unwrap();
        assert!(results.iter().all(|result| rules.contains(&result["ruleId"].as_str().unwrap())));
        assert!(rules.is_sorted_by(|one, other| one < other), "{rules:?}");
        let ttl = results.iter().find(|result| result["ruleId"] == "hints/ttl").unwrap();
        assert_eq!(ttl["level"], "warning");
        assert_eq!(ttl["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "feed.xml");
    }

    #[test]
    fn github_gets_one_escaped_line_for_each_finding() {
        let lines = report_github(&report(), "a,b.xml");
        assert_eq!(lines.len(), report().findings.len());
        let ttl = lines.iter().find(|line| line.contains("hints/ttl")).unwrap();
        assert!(
            ttl.starts_with("::warning file=a%2Cb.xml,title=hints/ttl::ttl 'a,b: 5%25': "),
            "{ttl}"
        );
        assert!(ttl.contains("To mend it: state the interval once"));
    }
}

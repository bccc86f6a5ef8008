//! Checks that what code and documents cite exists: `SPEC` in the specification, `UX` in the interface, and so on.
//!
//! A label is the start of a heading, list item, table row or bold text; rule 4 below the heading B.4 also has the label B.4.4.
//! `docs/README.md` explains this to readers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::LazyLock;

use regex::Regex;

use super::pages::{files_below, page, pages, root};

/// Each word that starts a citation, and the document it refers to.
const DOCUMENTS: [(&str, &str); 4] = [
    ("SPEC", "docs/specification.md"),
    ("UX", "docs/interface.md"),
    ("SCHEDULING", "docs/scheduling.md"),
    ("STORE", "docs/store.md"),
];
/// Pattern of a label, such as B.4, G.20 or AMB-3.
const LABEL: &str = r"[A-Z]+-?\d+(?:\.\d+)*|[A-Z](?:\.\d+)+|\d+(?:\.\d+)*|[A-Z]";

/// Pattern of a line that may start with a label: the Markdown mark, the label, and the rest.
static BEGUN: LazyLock<Regex> =
    LazyLock::new(|| regex(&format!(r"^(#+ |[-*+|] ?(?:\*\*)?)?({LABEL})([^\w]|$)")));
/// Pattern of a label in bold.
static BOLD: LazyLock<Regex> = LazyLock::new(|| regex(&format!(r"\*\*({LABEL})[^\w]")));
/// Pattern of a line break within a comment, including the comment mark of the next line.
static BREAK: LazyLock<Regex> = LazyLock::new(|| regex(r"\n\s*//[/!]?"));
/// Pattern of a citation: a citation word and one or more labels.
static CITED: LazyLock<Regex> = LazyLock::new(|| {
    let first = r"\b(SPEC|UX|SCHEDULING|STORE|DESIGN)\s+(?:(?:section|annex|rule)\s+)?";
    let more = r"(?:(?:,| and| to)\s+[A-Z]\d*(?:\.\d+)+)*";
    regex(&format!(r"{first}((?:{LABEL})\b{more})"))
});

/// Pattern for splitting the labels of a citation.
static ONE: LazyLock<Regex> = LazyLock::new(|| regex(LABEL));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap()
}

/// Returns the labels of a document.
pub(super) fn labels(text: &str) -> BTreeSet<String> {
    let (mut labels, mut head) = (BTreeSet::new(), String::new());
    for line in text.lines() {
        labels.extend(BOLD.captures_iter(line).map(|found| found[1].to_owned()));
        let Some(found) = BEGUN.captures(line.trim_start()) else { continue };
        let label = found[2].to_owned();
        match found.get(1).map(|mark| mark.as_str().starts_with('#')) {
            Some(true) => {
                head.clone_from(&label);
                labels.insert(label);
            }
            // A number at the start of a table row or an unnumbered list item is a figure, not a label.
            Some(false) if !label.starts_with(|char: char| char.is_ascii_digit()) => {
                labels.insert(label);
            }
            None if matches!(&found[3], "." | ")") => {
                labels.insert(format!("{head}.{label}"));
            }
            Some(false) | None => {}
        }
    }
    labels
}

/// Returns the citations in a text, each as its word and its labels. A citation may continue on the next comment line.
fn citations(text: &str) -> Vec<(String, Vec<String>)> {
    let text = BREAK.replace_all(text, " ");
    let found = CITED.captures_iter(&text).map(|found| {
        let labels = ONE.find_iter(&found[2]).map(|label| label.as_str().to_owned());
        (found[1].to_owned(), labels.collect())
    });
    found.collect()
}

/// Returns the citations in a text that have a label which the cited document lacks.
fn unresolved(text: &str, known: &BTreeMap<&str, BTreeSet<String>>) -> Vec<String> {
    let leads =
        |word: &str, label: &String| known.get(word).is_some_and(|labels| labels.contains(label));
    let cited = citations(text).into_iter();
    let lost = cited.filter(|(word, labels)| !labels.iter().all(|label| leads(word, label)));
    lost.map(|(word, labels)| format!("{word} {}", labels.join(", "))).collect()
}

fn known() -> BTreeMap<&'static str, BTreeSet<String>> {
    DOCUMENTS.into_iter().map(|(word, path)| (word, labels(&page(path)))).collect()
}

#[test]
fn every_citation_matches_a_rule() {
    let known = known();
    let mut texts: Vec<(String, String)> =
        pages().into_iter().map(|path| (path.clone(), page(&path))).collect();
    texts.push(("Cargo.toml".into(), page("Cargo.toml")));
    for path in ["src", "tests", "benches"].into_iter().flat_map(files_below) {
        if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            texts.push((path.strip_prefix(root()).unwrap().display().to_string(), text));
        }
    }
    let count: usize = texts.iter().map(|(_, text)| citations(text).len()).sum();
    assert!(count > 400, "only {count} citations were found");
    let lost: Vec<String> = texts
        .iter()
        .flat_map(|(path, text)| {
            unresolved(text, &known).into_iter().map(move |cited| format!("{path}: {cited}"))
        })
        .collect();
    assert!(lost.is_empty(), "these lead nowhere:\n{}", lost.join("\n"));
}

#[test]
fn unmatched_citation_is_found() {
    let known = known();
    // Each citation is split into two strings, so that the check of this file does not find it.
    for (word, label) in [("SP", "EC Z.9"), ("SP", "EC B.4.99"), ("U", "X 77"), ("DES", "IGN 3")] {
        let planted = format!("/// As agreed ({word}{label}).\nfn a() {{}}\n");
        assert_eq!(unresolved(&planted, &known), [format!("{word}{label}")]);
    }
    let broken = concat!("// The other copy wins (SP", "EC\n    // C.5, Q.7).");
    assert_eq!(unresolved(broken, &known), [concat!("SP", "EC C.5, Q.7")]);
    assert_eq!(unresolved("// As in SPEC B.4.4, or in SPEC section 0.", &known), [""; 0]);
}

#[test]
fn labels_are_headings_items_rows_and_bold_texts() {
    let text = "## B.4 Floors\n\n1. one\n4. four\n\n* **S0.7 ttl** and **S0.8** too\n* G.20 restart\n\
        | AMB-3 | x |\n| 12 | a figure |\n### C.8.1 G5: x\nIn the middle A.1 is none.\n";
    let expected = ["B.4", "B.4.1", "B.4.4", "S0.7", "S0.8", "G.20", "AMB-3", "C.8.1"];
    assert_eq!(labels(text), expected.map(str::to_owned).into());
}

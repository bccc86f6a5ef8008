//! Reads the documents in the folder `BACKISSUE_CORPUS` both with this program and with the library feed-rs, and compares the
//! titles and links.
//!
//! A row of [`REASONS`] must explain each difference.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use backissue_core::feed::text::{TITLE_MAX, one_line, plain_line};
use backissue_core::feed::{FeedDocument, Origin, parse};
use feed_rs::model;
use url::Url;

use super::corpus::{corpus, rows, tell};

/// The part of a document that feed-rs and this program read differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Entries,
    Title,
    Link,
}

/// What feed-rs and this program read for the same part of a document.
#[derive(Debug)]
struct Difference {
    part: Part,
    theirs: String,
    ours: String,
}

/// A reason why this program reads a part correctly and feed-rs does not, and the differences it explains. The first reason that
/// fits a difference counts.
struct Reason {
    says: &'static str,
    fits: fn(&str, &Difference) -> bool,
}

const REASONS: &[Reason] = &[
    Reason {
        says: "feed-rs finds no entries in this version or namespace",
        fits: |_, d| d.part == Part::Entries && d.theirs == "0",
    },
    Reason {
        says: "feed-rs leaves out what it cannot read; the element is there",
        fits: |_, d| d.part != Part::Entries && d.theirs.is_empty(),
    },
    Reason {
        says: "the page of an entry is not the page of its comments",
        fits: |_, d| d.part == Part::Link && is_of_comments(&d.theirs, &d.ours),
    },
    Reason {
        says: "an item of JSON Feed without an address has none; a file is no page",
        fits: |name, d| d.part == Part::Link && name.ends_with(".json") && d.ours.is_empty(),
    },
    Reason {
        says: "a page goes before an address that no browser opens",
        fits: |_, d| d.part == Part::Link && d.theirs.starts_with("gemini:"),
    },
    Reason {
        says: "HTML in a title is resolved once more than XML (RFC 4287 section 3.1.1.2, and RSS in practice)",
        fits: |_, d| d.part == Part::Title && d.theirs.replacen("&amp;", "&", 1) == d.ours,
    },
    Reason {
        says: "the text inside elements of a title counts, not only the text before them",
        fits: |name, d| name.contains("title_xml_base") && d.ours.starts_with(&d.theirs),
    },
    Reason {
        says: "entities that the document declares are replaced (XML 1.0 section 4.4)",
        fits: |name, _| name.ends_with("internal-dtd-with-internal-entity.xml"),
    },
    Reason {
        says: "tags in CDATA where XHTML was promised are HTML",
        fits: |name, d| d.part == Part::Title && name.contains("title_not_inline_cdata"),
    },
    Reason {
        says: "of two titles the first counts",
        fits: |name, _| name.ends_with("4.1.2/multiple-titles.xml"),
    },
    Reason {
        says: "an item inside another one that was not closed is an item, too",
        fits: |name, d| {
            d.part == Part::Entries
                && ["missing-self.xml", "illegally-nested.xml"].iter().any(|end| name.ends_with(end))
        },
    },
    Reason {
        says: "the bytes are UTF-8, whatever the document states",
        fits: |name, _| name.ends_with("utf8-incorrect-prolog.xml"),
    },
    Reason {
        says: "the link of RSS goes before atom:link in RSS (SPEC C.2 rule 1)",
        fits: |name, d| d.part == Part::Link && name.contains("rss20_with_atom_elements"),
    },
];

#[test]
fn titles_and_links_match_feed_rs_or_a_known_exception() {
    let Some(folder) = corpus() else { return };
    let (mut both, mut explained, mut unexplained) = (0, BTreeMap::<&str, u32>::new(), Vec::new());
    for row in rows(&folder, "manifest.jsonl") {
        let name = row["file"].as_str().unwrap();
        let Ok(bytes) = fs::read(folder.join(name)) else { continue };
        // Skip documents on which feed-rs panics.
        let read = catch_unwind(AssertUnwindSafe(|| feed_rs::parser::parse(bytes.as_slice())));
        let Ok(Ok(theirs)) = read else { continue };
        both += 1;
        let ours = parse(&bytes, &Origin::default());
        for difference in differences(&theirs, &ours) {
            match REASONS.iter().find(|reason| (reason.fits)(name, &difference)) {
                Some(reason) => *explained.entry(reason.says).or_default() += 1,
                None => unexplained.push(format!("{name}: {difference:?}")),
            }
        }
    }
    tell(&format!("{both} documents read by both"));
    explained.iter().for_each(|(reason, count)| tell(&format!("{count} differ: {reason}")));
    unexplained.iter().for_each(|line| tell(line));
    assert!(both > 0 && unexplained.is_empty(), "{} differences without a reason", unexplained.len());
}

fn is_of_comments(theirs: &str, ours: &str) -> bool {
    ours.is_empty() || ["comments", "feedback"].iter().any(|word| theirs.contains(word))
}

fn differences(theirs: &model::Feed, ours: &FeedDocument) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut compare = |part, theirs: String, ours: String| {
        if theirs != ours {
            found.push(Difference { part, theirs, ours });
        }
    };
    let title = |theirs: Option<&model::Text>, ours: Option<&String>| {
        let (theirs, ours) = (theirs.map(|text| text.content.as_str()), ours.cloned());
        let ours = ours.unwrap_or_default();
        // feed-rs returns titles with their markup, so a title may also match after its markup is removed.
        let as_text = one_line(theirs.unwrap_or_default(), TITLE_MAX);
        let is_same = as_text == ours;
        let plain = plain_line(theirs.unwrap_or_default(), TITLE_MAX);
        (if is_same { as_text } else { plain }, ours)
    };
    let (their_title, our_title) = title(theirs.title.as_ref(), ours.head.title.as_ref());
    compare(Part::Title, their_title, our_title);
    compare(Part::Entries, theirs.entries.len().to_string(), ours.entries.len().to_string());
    if theirs.entries.len() != ours.entries.len() {
        return found;
    }
    for (theirs, ours) in theirs.entries.iter().zip(&ours.entries) {
        let (their_title, our_title) = title(theirs.title.as_ref(), ours.title.as_ref());
        compare(Part::Title, their_title, our_title);
        let is_page = |link: &&model::Link| link.rel.as_deref().is_none_or(|rel| rel == "alternate");
        let link = theirs.links.iter().find(is_page).map(|link| link.href.clone());
        compare(Part::Link, canonical(link), canonical(ours.link.clone()));
    }
    found
}

fn canonical(link: Option<String>) -> String {
    let link = link.unwrap_or_default();
    Url::parse(link.trim()).map_or(link, String::from)
}

//! The file of `backissue export --state`, with a line of JSON for each subscription and each entry. `docs/state.md` describes it.

use std::collections::BTreeMap;

use chrono::{DateTime, SubsecRound, Utc};
use serde::{Deserialize, Serialize};

use super::elsewhere::ElsewhereEntry;
use super::library::{Library, some};
use crate::InputFlaw;
use crate::feed::opml::subscription_list::{
    BadOutline, OpmlFeed, OpmlFlaw, is_setting_name, normal_tags,
};
use crate::feed::text::{NAME_MAX, TITLE_MAX, one_line};
use crate::feed::{Enclosure, Entry};
use crate::history::{Flags, KeptEntry};

/// Version of the format. Later versions may add fields and kinds of lines, which are skipped.
pub const STATE_VERSION: u32 = 1;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum StateLine {
    /// The first line.
    State {
        /// Version of the format: [`STATE_VERSION`].
        version: u32,
        /// Time of the export.
        #[serde(default)]
        exported: Option<DateTime<Utc>>,
    },
    /// A subscription.
    Feed(StateFeed),
    /// An entry. The line of its feed comes before it.
    Entry(Box<StateEntry>),
    /// The last line. A file without it is cut off.
    End,
    /// A kind of line of a later version.
    #[serde(other)]
    Unknown,
}

/// A subscription.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateFeed {
    /// Address of the feed.
    pub url: String,
    /// Title that the user chose.
    pub title: Option<String>,
    /// Title that the publisher states.
    pub publisher_title: Option<String>,
    /// Address of the site.
    pub site: Option<String>,
    /// Tags of the subscription.
    pub tags: Vec<String>,
    /// Settings that the user chose for the feed, as in OPML.
    pub settings: BTreeMap<String, String>,
}

/// An entry and its marks. Its author, text, categories and files are present only if it is starred or labelled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StateEntry {
    /// Address of the feed.
    pub feed: String,
    /// Id of the entry within its feed.
    pub id: String,
    /// Address of its page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Time at which it was published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<DateTime<Utc>>,
    /// Time at which it was changed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<DateTime<Utc>>,
    /// Whether it counts as read.
    pub read: bool,
    /// Whether it is starred.
    pub starred: bool,
    /// Its labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Name of its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Its text, as HTML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Categories that the publisher states.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Attached files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Enclosure>,
}

impl StateEntry {
    /// Describes an entry of the store.
    pub fn new(feed: &str, kept: &KeptEntry, flags: Flags, labels: Vec<String>) -> Self {
        let whole = |time: Option<DateTime<Utc>>| time.map(|time| time.trunc_subsecs(0));
        let entry = Self {
            feed: feed.to_owned(),
            id: kept.id.clone(),
            link: kept.link.clone(),
            title: kept.title.clone(),
            published: whole(kept.published),
            updated: whole(kept.updated),
            read: flags.is_read(),
            starred: flags.is_starred(),
            labels,
            ..Self::default()
        };
        if !entry.is_kept() {
            return entry;
        }
        let (author, categories) = (kept.author.clone(), kept.categories.clone());
        Self { author, categories, files: kept.enclosures.clone(), ..entry }
    }

    /// Checks whether the line contains the author, text, categories and files of the entry.
    pub const fn is_kept(&self) -> bool {
        self.starred || !self.labels.is_empty()
    }
}

/// Checks whether a text starts with the first line of a state file.
pub(super) fn is_state(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    matches!(serde_json::from_str(first), Ok(StateLine::State { .. }))
}

/// Reads a state file. Lines that cannot be read are reported and skipped. The error is a fragment of a sentence.
pub(super) fn read(text: &str) -> Result<Library, InputFlaw> {
    let (mut library, mut is_whole, mut last) = (Library::default(), false, 0);
    let mut cut = None;
    for (line, text) in (1_usize..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        last = line;
        library.list.bad.extend(cut.take());
        match serde_json::from_str(text) {
            Ok(StateLine::State { version, .. }) if version > STATE_VERSION => {
                return Err("a newer version of backissue wrote it: update this one".into());
            }
            Ok(StateLine::State { .. } | StateLine::Unknown) => {}
            Ok(StateLine::Feed(feed)) if is_address(&feed.url) => add_feed(&mut library, feed),
            Ok(StateLine::Entry(entry)) if is_address(&entry.feed) => {
                let StateEntry { feed, .. } = &*entry;
                library.add_entry(&feed.clone(), elsewhere_entry(*entry));
            }
            Ok(StateLine::End) => is_whole = true,
            Ok(StateLine::Feed(_) | StateLine::Entry(_)) => {
                library.list.bad.push(bad(line, text, "it has no address of a feed"));
            }
            // At the end of the file, this is reported only once, as a cut-off file.
            Err(error) if error.is_eof() => {
                cut = Some(bad(line, text, "it is cut off"));
                is_whole = false;
            }
            Err(error) => {
                library.list.bad.push(bad(line, text, &format!("it is not valid: {error}")));
            }
        }
    }
    if !is_whole {
        let reason = "the file is cut off".to_owned();
        library.list.broken = Some(OpmlFlaw { line: last, reason });
    }
    Ok(library)
}

fn is_address(url: &str) -> bool {
    url.contains("://")
}

fn bad(line: usize, text: &str, reason: &str) -> BadOutline {
    BadOutline { text: one_line(text, 60), reason: one_line(reason, NAME_MAX), line }
}

fn add_feed(library: &mut Library, feed: StateFeed) {
    let StateFeed { url, title, site, tags, settings, .. } = feed;
    if library.list.outlines.iter().any(|known| known.xml_url == url) {
        return;
    }
    let settings = settings.into_iter().filter(|(name, _)| is_setting_name(name));
    library.list.outlines.push(OpmlFeed {
        xml_url: url,
        html_url: site,
        title: title.and_then(|title| some(&one_line(&title, TITLE_MAX))),
        tags: normal_tags(tags.iter().map(String::as_str)),
        settings: settings.map(|(name, value)| (name, one_line(&value, TITLE_MAX))).collect(),
    });
}

fn elsewhere_entry(entry: StateEntry) -> ElsewhereEntry {
    ElsewhereEntry {
        is_read: entry.read,
        is_starred: entry.starred,
        labels: entry.labels,
        entry: Entry {
            id: entry.id,
            title: entry.title,
            link: entry.link,
            author: entry.author,
            published: entry.published,
            updated: entry.updated,
            content: entry.content,
            categories: entry.categories,
            enclosures: entry.files,
            ..Entry::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "{\"kind\":\"state\",\"version\":1}\n";
    const FEED: &str =
        "{\"kind\":\"feed\",\"url\":\"http://a.example/\",\"tags\":[\"x\"],\"new\":1}\n";

    fn entry(more: &str) -> String {
        format!("{{\"kind\":\"entry\",\"feed\":\"http://a.example/\",\"id\":\"1\"{more}}}\n")
    }

    #[test]
    fn lines_are_read_one_by_one() {
        let starred = entry(
            ",\"starred\":true,\"content\":\"a\\u001bb\",\"labels\":[\" l\\u0007ater\",\"\"]",
        );
        let text = format!(
            "{HEAD}{FEED}{}{starred}\n{{\"kind\":\"later\"}}\n{{\"kind\":\"feed\",\"tags\":3}}\n{{\"kind\":\"entry\"}}\n{{\"kind\":\"end\"}}\n",
            entry(",\"read\":true,\"content\":\"not kept\"")
        );
        assert!(is_state(&text) && !is_state(FEED) && !is_state("{"));
        let library = read(&text).unwrap();
        assert_eq!(library.list.outlines[0].tags, ["x"]);
        let entries = &library.entries["http://a.example/"];
        assert_eq!(entries.len(), 2);
        assert!(entries[0].is_read && entries[0].entry.content.is_none());
        assert_eq!(entries[1].entry.content.as_deref(), Some("ab"));
        assert_eq!(entries[1].labels, ["later"]);
        let left_out = library.list.left_out();
        assert!(
            left_out.len() == 2 && left_out[0].starts_with("line 7: it is not valid"),
            "{left_out:?}"
        );
        assert!(left_out[1].starts_with("line 8: it has no address"), "{left_out:?}");
    }

    #[test]
    fn a_file_that_is_cut_off_or_newer_is_named() {
        let whole = format!("{HEAD}{FEED}{}{{\"kind\":\"end\"}}\n", entry(""));
        assert_eq!(read(&whole).unwrap().list.left_out(), [""; 0]);
        let lines = whole.lines().count();
        for (cut, line) in [(2, lines), (15, lines - 1), (30, lines - 1)] {
            let left_out = read(&whole[..whole.len() - cut]).unwrap().list.left_out();
            let [only] = left_out.as_slice() else { panic!("{left_out:?}") };
            assert!(only.starts_with(&format!("line {line}: the list is cut off")), "{only}");
        }
        let newer = whole.replace("\"version\":1", "\"version\":2");
        assert!(is_state(&newer) && read(&newer).unwrap_err().contains("newer version"));
    }

    #[test]
    fn lines_are_written_as_they_are_read() {
        let line =
            StateLine::Entry(Box::new(StateEntry { id: "1".into(), ..StateEntry::default() }));
        let text = serde_json::to_string(&line).unwrap();
        assert!(text.starts_with("{\"kind\":\"entry\",\"feed\":\"\",\"id\":\"1\""), "{text}");
        assert_eq!(serde_json::from_str::<StateLine>(&text).unwrap(), line);
    }
}

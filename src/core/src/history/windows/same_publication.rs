//! Detects entries with different ids that are the same publication (by the table of evidence in SPEC C.5).
//!
//! Publishers change ids: a site moves to https or to another host, an edited text gets a new guid, or an id contains a
//! session number. In these cases, link, title and date identify the publication.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;

use chrono::{DateTime, Utc};
use siphasher::sip::SipHasher13;
use url::Url;

use crate::feed::Entry;
use crate::history::kept::KeptEntry;

/// Keys of the hash function that computes the signs. Signs are stored, so these values must never change.
const KEYS: (u64, u64) = (0x7769_6e64_6f77_7320, 0x6d6f_7665_206f_6e21);

/// The lower bits of a hash of one property of an entry; 0 if the entry lacks the property.
pub type Sign = u32;

/// Hashes of the properties by which an entry can be recognized if its id changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signs {
    /// Hash of the link.
    pub link: Sign,
    /// Hash of the title.
    pub title: Sign,
    /// Hash of the stated date.
    pub date: Sign,
    /// Hash of the link without scheme, host and tracking parameters; 0 for the root of a site.
    pub path: Sign,
    /// Hash of the link's host, without `www`.
    pub host: Sign,
}

/// Number of fields in [`Signs`].
pub(super) const SIGNS: usize = 5;

impl Signs {
    /// Computes the signs of one copy of an entry.
    pub fn of(entry: &Entry) -> Self {
        let date = entry.published.or(entry.updated);
        Self::from_parts(entry.link.as_deref(), entry.title.as_deref(), date)
    }

    fn of_kept(kept: &KeptEntry) -> Self {
        let date = kept.published.or(kept.updated);
        Self::from_parts(kept.link.as_deref(), kept.title.as_deref(), date)
    }

    fn from_parts(link: Option<&str>, title: Option<&str>, date: Option<DateTime<Utc>>) -> Self {
        let title = title.map(str::trim).filter(|title| !title.is_empty());
        let url = link.and_then(|link| Url::parse(link).ok()).filter(Url::has_host);
        let host = url.as_ref().and_then(Url::host_str);
        Self {
            link: sign(link),
            title: sign(title),
            date: sign(date.map(|date| date.timestamp().to_string()).as_deref()),
            path: sign(url.as_ref().and_then(path_of).as_deref()),
            host: sign(host.map(|host| host.strip_prefix("www.").unwrap_or(host))),
        }
    }

    pub(super) const fn to_array(self) -> [Sign; SIGNS] {
        [self.link, self.title, self.date, self.path, self.host]
    }

    pub(super) const fn from_array([link, title, date, path, host]: [Sign; SIGNS]) -> Self {
        Self { link, title, date, path, host }
    }
}

/// Returns the part of an address that stays the same when a site moves to another host: path and query, without tracking
/// parameters.
fn path_of(url: &Url) -> Option<String> {
    let query = url.query().unwrap_or_default();
    let kept: Vec<&str> =
        query.split('&').filter(|part| !part.is_empty() && !part.starts_with("utm_")).collect();
    let path = url.path().trim_end_matches('/');
    (!path.is_empty() || !kept.is_empty()).then(|| format!("{path}?{}", kept.join("&")))
}

fn sign(text: Option<&str>) -> Sign {
    text.map_or(0, |text| {
        let mut hasher = SipHasher13::new_with_keys(KEYS.0, KEYS.1);
        hasher.write(text.as_bytes());
        let lower = hasher.finish() & u64::from(Sign::MAX);
        Sign::try_from(lower).unwrap_or(Sign::MAX).max(1)
    })
}

/// A known entry whose id is not in the document.
#[derive(Debug, Clone, Copy)]
pub struct Former {
    pub signs: Signs,
    /// Whether one of the last documents contained the entry.
    pub is_recent: bool,
}

impl Former {
    pub(in crate::history) fn of_kept(kept: &KeptEntry, is_recent: bool) -> Self {
        Self { signs: Signs::of_kept(kept), is_recent }
    }
}

/// A row of the table of evidence: two entries are the same publication if they have equal values for these properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// Equal links and equal titles.
    LinkAndTitle,
    /// Equal titles and equal dates.
    TitleAndDate,
    /// Equal titles and equal paths, at the same host, or if no entry of the document is at the former host.
    TitleAndPath,
    /// Equal links, if every entry of the document has a different link.
    Link,
}

/// Rows of the table, strongest evidence first.
const TABLE: [Evidence; 4] =
    [Evidence::LinkAndTitle, Evidence::TitleAndDate, Evidence::TitleAndPath, Evidence::Link];

impl Evidence {
    /// Returns the two signs of an entry that must be equal; `None` if the entry lacks one of them.
    fn key(self, signs: &Signs) -> Option<(Sign, Sign)> {
        let key = match self {
            Self::LinkAndTitle => (signs.link, signs.title),
            Self::TitleAndDate => (signs.date, signs.title),
            Self::TitleAndPath => (signs.path, signs.title),
            // The root of a site is no evidence, because it may be the link of many entries.
            Self::Link => (signs.link, signs.path),
        };
        (key.0 != 0 && key.1 != 0).then_some(key)
    }
}

/// Finds former entries that are the same publications as entries of a document.
///
/// `document` contains the signs of all entries of the document, and `unknown` the positions of the entries with unknown
/// ids. The result maps positions in `document` to positions in `former`. Each position occurs at most once.
pub(crate) fn find_same(
    document: &[Signs],
    unknown: &BTreeSet<usize>,
    former: &[Former],
) -> BTreeMap<usize, usize> {
    let hosts: BTreeSet<Sign> = document.iter().map(|signs| signs.host).collect();
    let mut found = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for evidence in TABLE {
        if evidence == Evidence::Link && !links_tell_apart(document) {
            continue;
        }
        let here = by_key(evidence, document.iter().enumerate());
        let free = former.iter().enumerate().filter(|(at, _)| !taken.contains(at));
        let there = by_key(evidence, free.map(|(at, former)| (at, &former.signs)));
        for (key, places) in here {
            let [at] = places.as_slice() else { continue };
            if !unknown.contains(at) || found.contains_key(at) {
                continue;
            }
            let candidates = there.get(&key).map_or(&[][..], Vec::as_slice);
            let signs = document.get(*at);
            let fits = |place: &&usize| {
                let former = former.get(**place);
                match (evidence, former, signs) {
                    (Evidence::TitleAndPath, Some(former), Some(signs)) => {
                        former.signs.host == signs.host || !hosts.contains(&former.signs.host)
                    }
                    (Evidence::Link, Some(former), _) => former.is_recent,
                    (_, former, _) => former.is_some(),
                }
            };
            let mut fitting = candidates.iter().filter(fits);
            let (last, is_only) = (fitting.next_back(), fitting.next().is_none());
            // Entries with equal link and title count as one publication even if two such entries were stored before.
            if let Some(place) = last.filter(|_| is_only || evidence == Evidence::LinkAndTitle) {
                found.insert(*at, *place);
                taken.insert(*place);
            }
        }
    }
    found
}

/// Checks whether links identify the entries of a document: it has several entries, each with a different link.
fn links_tell_apart(document: &[Signs]) -> bool {
    let links: BTreeSet<Sign> = document.iter().map(|signs| signs.link).collect();
    document.len() > 1 && links.len() == document.len()
}

fn by_key<'s>(
    evidence: Evidence,
    signs: impl Iterator<Item = (usize, &'s Signs)>,
) -> BTreeMap<(Sign, Sign), Vec<usize>> {
    let mut places: BTreeMap<(Sign, Sign), Vec<usize>> = BTreeMap::new();
    for (at, signs) in signs {
        if let Some(key) = evidence.key(signs) {
            places.entry(key).or_default().push(at);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Link, title and day of an entry.
    type Written = (&'static str, &'static str, i64);

    fn signs((link, title, day): Written) -> Signs {
        let text = |text: &'static str| Some(text).filter(|text| !text.is_empty());
        let date = (day > 0).then(|| DateTime::from_timestamp(day * 86_400, 0)).flatten();
        Signs::from_parts(text(link), text(title), date)
    }

    /// Checks whether the first entry of a document matches the first former entry.
    fn check(reason: &str, former: &[Written], document: &[Written], expected: bool) {
        let former: Vec<Former> =
            former.iter().map(|w| Former { signs: signs(*w), is_recent: true }).collect();
        let document: Vec<Signs> = document.iter().map(|w| signs(*w)).collect();
        let unknown = (0..document.len()).collect();
        let found = find_same(&document, &unknown, &former);
        assert_eq!(found.get(&0) == Some(&0), expected, "{reason}: {found:?}");
    }

    const OTHER: Written = ("https://a.example/other", "Other", 9);

    #[test]
    fn evidence_table_rows_decide_as_stated() {
        let old = ("http://a.example/1", "One", 1);
        check("link and title", &[old], &[("http://a.example/1", "One", 5), OTHER], true);
        check("kept twice", &[old, old], &[old, OTHER], false);
        check("title and date", &[old], &[("http://b.example/x", "One", 1), OTHER], true);
        check("title alone", &[old], &[("http://b.example/x", "One", 5), OTHER], false);
        check("https", &[old], &[("https://www.a.example/1/", "One", 0), OTHER], true);
        check("host", &[old], &[("https://b.example/1", "One", 0)], true);
        check(
            "another site beside it",
            &[old],
            &[("https://b.example/1", "One", 0), ("http://a.example/2", "Two", 0)],
            false,
        );
        check("edited", &[old], &[("http://a.example/1", "One, corrected", 3), OTHER], true);
        check("the only entry", &[old], &[("http://a.example/1", "Two", 3)], false);
        check(
            "one link for all",
            &[old],
            &[("http://a.example/1", "Two", 3), ("http://a.example/1", "Three", 3)],
            false,
        );
        let root = ("https://a.example/", "One", 1);
        check("the root of a site", &[root], &[("https://a.example/", "Two", 3), OTHER], false);
        check("nothing in common", &[old], &[("https://a.example/9", "Nine", 9)], false);
        check("without anything", &[("", "", 0)], &[("", "", 0)], false);
    }

    #[test]
    fn entry_gone_from_recent_documents_needs_more_than_a_link() {
        let former = [Former { signs: signs(("https://a.example/1", "One", 1)), is_recent: false }];
        let document = [signs(("https://a.example/1", "Another year", 400)), signs(OTHER)];
        assert_eq!(find_same(&document, &BTreeSet::from([0, 1]), &former), BTreeMap::new());
    }

    #[test]
    fn known_id_always_identifies_its_entry() {
        let same = signs(("https://a.example/1", "One", 1));
        let former = [Former { signs: same, is_recent: true }];
        assert_eq!(find_same(&[same], &BTreeSet::new(), &former), BTreeMap::new());
    }
}

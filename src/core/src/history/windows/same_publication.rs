//! Detects entries with different ids that are the same publication (by the table of evidence in SPEC C.5).
//!
//! A stated id is the truth until the feed proves otherwise. Publishers do change ids: a site moves to https or to another host,
//! an edited text gets a new guid, or an id contains a session number. Then links, titles, dates and files tell.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;

use chrono::{DateTime, Utc};
use siphasher::sip::SipHasher13;
use url::Url;

use crate::feed::address::owned_domain;
use crate::feed::identity::{is_made_up, is_served};
use crate::feed::{Enclosure, Entry};
use crate::history::kept::{Evidence, KeptEntry};

/// Keys of the hash function that computes the signs. Signs are stored, so these values must never change.
const KEYS: (u64, u64) = (0x7769_6e64_6f77_7320, 0x6d6f_7665_206f_6e21);
/// A date at a multiple of this number of seconds may state only a day: midnight of every time zone is one.
const QUARTER_SECONDS: u32 = 900;

/// The lower bits of a hash of one property of an entry; 0 if the entry lacks the property.
pub type Sign = u32;

/// The properties by which an entry can be recognized if its id changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signs {
    /// Hash of the link.
    pub link: Sign,
    /// Hash of the title.
    pub title: Sign,
    /// The stated date, in Unix seconds.
    pub date: Sign,
    /// Hash of the link without scheme, host and tracking parameters; 0 for the root of a site.
    pub path: Sign,
    /// Hash of the link's host, without `www`.
    pub host: Sign,
    /// Hash of the registrable domain of the link's host.
    domain: Sign,
    /// Hash of the address of the first attached file, without its query.
    file: Sign,
    /// Whether the id is one of an account's server and not of the publisher.
    is_served: bool,
    /// Whether the id is derived from the link or the text, because the publisher states none.
    is_derived: bool,
}

/// Number of fields of [`Signs`] that are stored.
pub(super) const SIGNS: usize = 5;

impl Signs {
    /// Computes the signs of one copy of an entry.
    pub fn of(entry: &Entry) -> Self {
        let date = entry.published.or(entry.updated);
        let (link, title) = (entry.link.as_deref(), entry.title.as_deref());
        Self::from_parts(&entry.id, link, title, date).with_file(&entry.enclosures)
    }

    fn of_kept(kept: &KeptEntry) -> Self {
        let date = kept.published.or(kept.updated);
        let (link, title) = (kept.link.as_deref(), kept.title.as_deref());
        Self::from_parts(&kept.id, link, title, date).with_file(&kept.enclosures)
    }

    fn from_parts(
        id: &str,
        link: Option<&str>,
        title: Option<&str>,
        date: Option<DateTime<Utc>>,
    ) -> Self {
        let title = title.map(str::trim).filter(|title| !title.is_empty());
        let url = link.and_then(|link| Url::parse(link).ok()).filter(Url::has_host);
        let host = url.as_ref().and_then(Url::host_str);
        let seconds = date.map(|date| date.timestamp().rem_euclid(1 << Sign::BITS));
        Self {
            link: sign(link),
            title: sign(title),
            date: seconds.and_then(|seconds| Sign::try_from(seconds).ok()).unwrap_or_default(),
            path: sign(url.as_ref().and_then(path_of).as_deref()),
            host: sign(host.map(|host| host.strip_prefix("www.").unwrap_or(host))),
            domain: sign(host.and_then(owned_domain)),
            file: 0,
            is_served: is_served(id),
            is_derived: is_made_up(id) || link == Some(id),
        }
    }

    fn with_file(self, files: &[Enclosure]) -> Self {
        let file = files.first().and_then(|file| file.url.split(['?', '#']).next());
        Self { file: sign(file.filter(|file| !file.is_empty())), ..self }
    }

    pub(super) const fn to_array(self) -> [Sign; SIGNS] {
        [self.link, self.title, self.date, self.path, self.host]
    }

    pub(super) fn from_array([link, title, date, path, host]: [Sign; SIGNS]) -> Self {
        Self { link, title, date, path, host, ..Self::default() }
    }

    const fn page(&self) -> (Sign, Sign) {
        (self.host, self.path)
    }

    /// Compares the stated dates: `None` if one of them is missing.
    fn has_date_of(&self, other: &Self) -> Option<bool> {
        (self.date != 0 && other.date != 0).then_some(self.date == other.date)
    }
}

/// Returns the part of an address that stays the same when a site moves to another host: path, query and fragment, without
/// tracking parameters.
fn path_of(url: &Url) -> Option<String> {
    let query = url.query().unwrap_or_default();
    let kept: Vec<&str> =
        query.split('&').filter(|part| !part.is_empty() && !part.starts_with("utm_")).collect();
    let (path, fragment) = (url.path().trim_end_matches('/'), url.fragment().unwrap_or_default());
    let says = !path.is_empty() || !kept.is_empty() || !fragment.is_empty();
    let hash = if fragment.is_empty() { "" } else { "#" };
    says.then(|| format!("{path}?{}{hash}{fragment}", kept.join("&")))
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
    /// Place of the entry in the previous document.
    pub place: Option<usize>,
}

impl Former {
    pub(in crate::history) fn of_kept(
        kept: &KeptEntry,
        is_recent: bool,
        place: Option<usize>,
    ) -> Self {
        Self { signs: Signs::of_kept(kept), is_recent, place }
    }
}

/// Rows that compare properties, strongest evidence first.
const TABLE: [Evidence; 5] = [
    Evidence::LinkAndTitle,
    Evidence::TitleAndPath,
    Evidence::TitleAndDate,
    Evidence::TitleAndFile,
    Evidence::Link,
];

/// Returns the signs of an entry that must be equal for a row of the table; `None` if the entry lacks one of them.
fn key(evidence: Evidence, signs: &Signs) -> Option<[Sign; 3]> {
    let Signs { link, title, date, path, host, file, .. } = *signs;
    let (key, is_there) = match evidence {
        Evidence::LinkAndTitle => ([host, if host == 0 { link } else { path }, title], link != 0),
        Evidence::TitleAndPath => ([0, path, title], path != 0),
        Evidence::TitleAndDate => ([0, date, title], date != 0),
        Evidence::TitleAndFile => ([0, file, title], file != 0),
        // The root of a site is no evidence, because it may be the link of many entries.
        Evidence::Link => return (path != 0).then_some([host, path, 0]),
        Evidence::FormerId => return None,
    };
    (is_there && title != 0).then_some(key)
}

/// A document and the known entries with which it is compared.
pub(crate) struct Comparison<'c> {
    /// Signs of all entries of the document.
    pub document: &'c [Signs],
    /// Places of the entries whose ids are unknown.
    pub unknown: &'c BTreeSet<usize>,
    /// Known entries whose ids are not in the document.
    pub former: &'c [Former],
    /// Identity hashes of the document's entries and of those of the previous document.
    pub order: (&'c [u64], &'c [u64]),
    /// Whether the only entry of the document has another text than the only one of the previous document.
    pub is_replaced: bool,
    /// Whether this publisher is known to move its entries to other hosts.
    pub moves: bool,
}

/// The entries of a document that are known under other ids: for each place in the document, the place of the known entry in
/// [`Comparison::former`], and what proves it. Each known entry occurs at most once.
pub(crate) type Same = BTreeMap<usize, (usize, Evidence)>;

impl Comparison<'_> {
    /// Adds to `found` the known entries that are the same publications as entries of the document.
    pub(crate) fn find_same(&self, found: &mut Same) {
        let mut taken: BTreeSet<usize> = found.values().map(|(former, _)| *former).collect();
        for evidence in TABLE {
            let pairs = self.pairs(evidence, found, &taken);
            let pairs = self.proved(evidence, pairs);
            taken.extend(pairs.iter().map(|(_, former)| *former));
            found.extend(pairs.into_iter().map(|(at, former)| (at, (former, evidence))));
        }
    }

    /// Returns the pairs that one row of the table connects. The compared values must be unique in the document and among the known
    /// entries.
    fn pairs(
        &self,
        evidence: Evidence,
        found: &Same,
        taken: &BTreeSet<usize>,
    ) -> Vec<(usize, usize)> {
        let here = by_key(evidence, self.document.iter().enumerate());
        let free = self.former.iter().enumerate().filter(|(at, _)| !taken.contains(at));
        let there = by_key(evidence, free.map(|(at, former)| (at, &former.signs)));
        let pair = |(key, places): (&[Sign; 3], &Vec<usize>)| {
            let [at] = places.as_slice() else { return None };
            if !self.unknown.contains(at) || found.contains_key(at) {
                return None;
            }
            let fits = |place: &&usize| self.fits(evidence, *at, **place) == Some(true);
            let mut fitting = there.get(key)?.iter().filter(fits);
            // Entries with equal link and title count as one publication even if two such entries were stored before.
            let last = *fitting.next_back()?;
            let is_one = fitting.next().is_none() || evidence == Evidence::LinkAndTitle;
            is_one.then_some((*at, last))
        };
        here.iter().filter_map(pair).collect()
    }

    /// Checks whether a row of the table, whose values are equal, connects an entry of the document with a known one.
    fn fits(&self, evidence: Evidence, at: usize, place: usize) -> Option<bool> {
        let former = self.former.get(place)?;
        let (now, before) = (self.document.get(at)?, &former.signs);
        let dates = now.has_date_of(before);
        let is_shared = now.path == 0 || self.is_shared(now);
        let is_from_account = now.is_served || before.is_served;
        Some(match evidence {
            Evidence::LinkAndTitle => {
                let told_apart = is_shared && !now.is_derived && !before.is_derived;
                let replaced = self.is_replaced && now.link == before.link;
                dates == Some(true) || !told_apart && !replaced
            }
            Evidence::TitleAndPath => {
                let is_one_domain = now.domain != 0 && now.domain == before.domain;
                let is_gone = self.document.iter().all(|signs| signs.host != before.host);
                now.host != before.host && dates != Some(false) && (is_one_domain || is_gone)
            }
            Evidence::TitleAndDate => {
                let states_time = !now.date.is_multiple_of(QUARTER_SECONDS);
                let known = self.former.iter().map(|it| &it.signs);
                let others = self.document.iter().chain(known).filter(|it| it.date == now.date);
                let is_own_date = others.filter(|it| it.title != now.title).count() == 0;
                let may_be = states_time || is_from_account || (now.link == 0 && before.link == 0);
                may_be && is_own_date
            }
            Evidence::TitleAndFile => {
                self.document.iter().filter(|signs| signs.file == now.file).count() == 1
            }
            Evidence::Link if is_shared => false,
            Evidence::Link if is_from_account => {
                dates == Some(true) || now.title == 0 || before.title == 0
            }
            Evidence::Link => {
                let may_be = former.is_recent && links_tell_apart(self.document);
                let is_alike =
                    dates == Some(true) || (dates.is_none() && now.title == 0 && before.title == 0);
                may_be && (is_alike || self.has_place_of(at, former.place, dates))
            }
            Evidence::FormerId => false,
        })
    }

    /// Keeps the pairs that the whole document proves: at least half of the entries that left it have returned, or it has other entries
    /// only. Pairs with certain dates need no such proof.
    fn proved(&self, evidence: Evidence, pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        let left = self.former.iter().filter(|former| former.place.is_some()).count();
        let (now, before) = self.order;
        let is_other = pairs.len() > 1 && !now.iter().any(|id| before.contains(id));
        let moves = self.moves && evidence == Evidence::TitleAndPath;
        if moves || is_other || pairs.len().saturating_mul(2) >= left {
            return pairs;
        }
        let is_certain = |(at, former): &(usize, usize)| {
            let Some((now, before)) = self.document.get(*at).zip(self.former.get(*former)) else {
                return false;
            };
            match evidence {
                Evidence::TitleAndPath => now.has_date_of(&before.signs) == Some(true),
                Evidence::TitleAndDate => {
                    let states_time = !now.date.is_multiple_of(QUARTER_SECONDS);
                    states_time || now.is_served || before.signs.is_served
                }
                Evidence::LinkAndTitle
                | Evidence::TitleAndFile
                | Evidence::Link
                | Evidence::FormerId => true,
            }
        };
        pairs.into_iter().filter(is_certain).collect()
    }

    /// Checks whether the publisher uses a link for several publications side by side, such as the page of a show.
    fn is_shared(&self, signs: &Signs) -> bool {
        let users = self.document.iter().filter(|other| other.page() == signs.page()).count();
        let mut known =
            self.former.iter().map(|it| &it.signs).filter(|it| it.page() == signs.page());
        let first = known.next();
        let is_other = |one: &Signs, other: &Signs| {
            one.title != other.title || one.has_date_of(other) == Some(false)
        };
        users > 1 || first.is_some_and(|first| known.any(|other| is_other(first, other)))
    }

    /// Checks whether an entry is where a known one was in the previous document: between the same entries. New entries appear at an
    /// end of the document, so an entry there with another date is none.
    fn has_place_of(&self, at: usize, place: Option<usize>, dates: Option<bool>) -> bool {
        let (now, before) = self.order;
        let around = |ids: &[u64], place: usize, others: &[u64]| {
            let (upper, lower) = ids.split_at_checked(place).unwrap_or_default();
            let is_there = |id: &&u64| others.contains(id);
            let upper = upper.iter().rev().find(is_there).copied();
            (upper, lower.iter().skip(1).find(is_there).copied())
        };
        let (upper, lower) = around(now, at, before);
        let known = [upper, lower].iter().flatten().count();
        let enough = if dates.is_none() { 1 } else { 2 };
        known >= enough && place.is_some_and(|place| around(before, place, now) == (upper, lower))
    }
}

/// Checks whether links identify the entries of a document: it has several entries, each with a different link.
fn links_tell_apart(document: &[Signs]) -> bool {
    let links: BTreeSet<Sign> = document.iter().map(|signs| signs.link).collect();
    document.len() > 1 && links.len() == document.len()
}

fn by_key<'s>(
    evidence: Evidence,
    signs: impl Iterator<Item = (usize, &'s Signs)>,
) -> BTreeMap<[Sign; 3], Vec<usize>> {
    let mut places: BTreeMap<[Sign; 3], Vec<usize>> = BTreeMap::new();
    for (at, signs) in signs {
        if let Some(key) = key(evidence, signs) {
            places.entry(key).or_default().push(at);
        }
    }
    places
}

#[cfg(test)]
#[path = "same_publication_tests.rs"]
mod tests;

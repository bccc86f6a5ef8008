//! Two ways back that no standard knows and no publisher offers, off unless the reader turns one on for a feed: numbered
//! pages as blogs have them, and the copies that the Internet Archive made of the feed's address.
//!
//! An adaptor only says which document comes next. Merging, gaps, caps, retries and pauses are those of the walk.

use chrono::{DateTime, NaiveDateTime, Utc};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::history::address::canonical;
use crate::history::gap::Edge;
use crate::history::gap::GapKind;
use crate::history::gap::Newer;
use crate::history::kind::DocumentKind;
use crate::history::record::Frontier;
use crate::history::record::HistoryRecord;

/// Where the Internet Archive is, unless the reader configured another address.
pub const INTERNET_ARCHIVE: &str = "https://web.archive.org";
/// Copies of one feed that are listed at most: the oldest ones.
pub const CAPTURES_MAX: usize = 2_000;
/// The first page that is not the subscription document itself.
const SECOND_PAGE: u32 = 2;
/// How a capture is named: year, month, day, hour, minute, second.
const CAPTURE_FORM: &str = "%Y%m%d%H%M%S";

/// An adaptor, as the reader chooses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adaptor {
    /// `?paged=2`, `?paged=3`, ... until there is none.
    #[serde(rename = "wordpress")]
    WordPress,
    /// The listing of all copies, then the copies, oldest first.
    InternetArchive,
}

impl Adaptor {
    /// All adaptors.
    pub const ALL: [Self; 2] = [Self::WordPress, Self::InternetArchive];

    /// The word in settings.
    pub const fn word(self) -> &'static str {
        match self {
            Self::WordPress => "wordpress",
            Self::InternetArchive => "internet-archive",
        }
    }

    /// Where its entries come from, in plain words.
    pub const fn origin(self) -> &'static str {
        match self {
            Self::WordPress => "from numbered pages (not offered by this feed)",
            Self::InternetArchive => "from the Internet Archive (not by the publisher)",
        }
    }
}

/// An adaptor in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveAdaptor {
    /// Which.
    pub adaptor: Adaptor,
    /// Where the Internet Archive is; without a slash at the end.
    pub base: String,
    /// The feed's address.
    pub url: String,
}

/// What a feed's adaptor has found out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Adapted {
    /// The adaptor in force; `None`: the reader wants none.
    pub way: Option<ActiveAdaptor>,
    /// The copies the Internet Archive has, oldest first, each by its date and time as one number.
    pub captures: Vec<u64>,
}

/// How a document was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Via {
    /// Its publisher links to it.
    #[default]
    Link,
    /// As a numbered page.
    Page(u32),
    /// As the listing of all copies.
    Listing,
    /// As a copy of that date and time.
    Capture(u64),
}

impl ActiveAdaptor {
    /// The first document that it names.
    const fn first(&self) -> Via {
        match self.adaptor {
            Adaptor::WordPress => Via::Page(SECOND_PAGE),
            Adaptor::InternetArchive => Via::Listing,
        }
    }

    /// The address of a document.
    fn address(&self, via: Via) -> String {
        let Self { base, url, .. } = self;
        match via {
            Via::Link => url.clone(),
            Via::Page(number) => with_query(url, "paged", &number.to_string()),
            Via::Listing => {
                let query = [
                    ("url", url.as_str()),
                    ("output", "json"),
                    ("fl", "timestamp,digest"),
                    ("filter", "statuscode:200"),
                    ("collapse", "digest"),
                ];
                let address = format!("{base}/cdx/search/cdx");
                let with_all =
                    query.iter().fold(address, |at, (name, value)| with_query(&at, name, value));
                with_query(&with_all, "limit", &CAPTURES_MAX.to_string())
            }
            Via::Capture(taken) => format!("{base}/web/{taken:014}id_/{url}"),
        }
    }

    /// Whose word the address of a document is.
    fn speaker(&self, heard: &Newer) -> Newer {
        match self.adaptor {
            Adaptor::WordPress => heard.clone(),
            Adaptor::InternetArchive => Newer {
                url: format!("{}/", self.base),
                public: !is_nearby(&self.base),
                ..heard.clone()
            },
        }
    }
}

/// An address with one more pair in its query.
fn with_query(address: &str, name: &str, value: &str) -> String {
    let Ok(mut url) = Url::parse(address) else { return address.to_owned() };
    url.query_pairs_mut().append_pair(name, value);
    url.into()
}

/// Whether an address is plainly one of the reader's own machine or net.
fn is_nearby(address: &str) -> bool {
    match Url::parse(address).ok().as_ref().and_then(Url::host) {
        Some(Host::Ipv4(ip)) => ip.is_loopback() || ip.is_private(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.is_unique_local(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// When a copy was made.
pub fn taken_at(capture: u64) -> Option<DateTime<Utc>> {
    let text = format!("{capture:014}");
    NaiveDateTime::parse_from_str(&text, CAPTURE_FORM).ok().map(|at| at.and_utc())
}

/// Reads a listing of copies: a JSON array of arrays, the first of which names the columns `timestamp` and `digest`.
/// Copies with a digest that an older one has are left out. `None`: it is no listing.
pub fn read_listing(bytes: &[u8]) -> Option<Vec<u64>> {
    let rows: Vec<Vec<String>> = serde_json::from_slice(bytes).ok()?;
    let Some((head, rows)) = rows.split_first() else { return Some(Vec::new()) };
    let column = |name: &str| head.iter().position(|column| column == name);
    let (at, digest) = (column("timestamp")?, column("digest")?);
    let mut known = std::collections::BTreeSet::new();
    let mut captures: Vec<u64> = rows
        .iter()
        .filter_map(|row| {
            let capture = row.get(at).filter(|text| text.len() == 14)?.parse().ok()?;
            taken_at(capture)?;
            known.insert(row.get(digest)?.as_str()).then_some(capture)
        })
        .take(CAPTURES_MAX)
        .collect();
    captures.sort_unstable();
    captures.dedup();
    Some(captures)
}

impl HistoryRecord {
    /// Puts an adaptor in force, or takes it away: then nothing of it is asked for any more. Called after every good
    /// check of the subscription document, and when the reader chooses; `url` is the feed's address.
    pub fn adapt(&mut self, way: Option<&ActiveAdaptor>) {
        if self.adapted.way.as_ref() != way {
            self.forget_adaptor();
            self.adapted = Adapted { way: way.cloned(), captures: Vec::new() };
        }
        let Some(way) = way else { return };
        // What the publisher offers goes first.
        let offered = self.head.as_ref().is_some_and(|head| head.via == Via::Link);
        if offered || self.kind == DocumentKind::Complete {
            return;
        }
        let heard =
            Newer { url: way.url.clone(), public: true, oldest: self.bottom, archive: None };
        let heard = self.heard.clone().unwrap_or(heard);
        let url = way.address(way.first());
        let edge = Edge {
            key: canonical(&url),
            url,
            newer: way.speaker(&heard),
            epoch: self.epoch,
            via: way.first(),
            ..Edge::default()
        };
        self.begin_at(edge);
    }

    fn begin_at(&mut self, mut edge: Edge) {
        let known = self.settled.as_ref() == Some(&edge.key)
            || self.frontiers.iter().any(|next| next.edge.key == edge.key)
            || self.gaps.contains_key(&crate::history::gap::GapKey::archive(&edge.key));
        if !known {
            self.begin_run();
            self.epoch = self.epoch.saturating_add(1);
            edge.epoch = self.epoch;
            self.push(Frontier { edge: edge.clone(), ..Frontier::default() });
        }
        self.head = Some(edge);
    }

    fn forget_adaptor(&mut self) {
        let adapted = |edge: &Edge| edge.via != Via::Link;
        self.frontiers.retain(|next| !adapted(&next.edge));
        self.gaps.retain(|_, gap| gap.kind() == GapKind::Paged || !adapted(&gap.edge));
        if self.head.as_ref().is_some_and(adapted) {
            (self.head, self.settled) = (None, None);
        }
        self.asking = None;
    }

    /// The document after one that was found in some way, as a link that leads there.
    pub(in crate::history) fn after(&self, edge: &Edge) -> Option<Edge> {
        let way = self.adapted.way.as_ref()?;
        let captures = &self.adapted.captures;
        let via = match edge.via {
            Via::Link => return None,
            Via::Page(number) => Via::Page(number.saturating_add(1)),
            Via::Listing => Via::Capture(*captures.first()?),
            Via::Capture(taken) => {
                let place = captures.partition_point(|capture| *capture <= taken);
                Via::Capture(*captures.get(place)?)
            }
        };
        let oldest = match via {
            // What is missing there was published before the copy was made.
            Via::Capture(taken) => taken_at(taken),
            Via::Link | Via::Page(_) | Via::Listing => edge.newer.oldest,
        };
        let url = way.address(via);
        Some(Edge {
            key: canonical(&url),
            url,
            newer: Newer { archive: Some(edge.key.clone()), oldest, ..edge.newer.clone() },
            depth: edge.depth.saturating_add(1),
            via,
            ..edge.clone()
        })
    }

    /// The adaptor that this feed's history comes by: one is in force, and the publisher offers nothing.
    pub fn adaptor(&self) -> Option<Adaptor> {
        let offered = self.head.as_ref().is_some_and(|head| head.via == Via::Link);
        let way = self.adapted.way.as_ref()?;
        (!offered && !self.archived && self.kind != DocumentKind::Complete).then_some(way.adaptor)
    }
}

#[cfg(test)]
mod tests {
    use crate::history::walk::adaptor::*;

    fn way(adaptor: Adaptor) -> ActiveAdaptor {
        let url = "https://a.example/feed?x=1".to_owned();
        ActiveAdaptor { adaptor, base: INTERNET_ARCHIVE.to_owned(), url }
    }

    #[test]
    fn documents_have_the_addresses_their_services_give_them() {
        let pages = way(Adaptor::WordPress);
        assert_eq!(pages.address(pages.first()), "https://a.example/feed?x=1&paged=2");
        let copies = way(Adaptor::InternetArchive);
        assert_eq!(
            copies.address(Via::Listing),
            "https://web.archive.org/cdx/search/cdx?url=https%3A%2F%2Fa.example%2Ffeed%3Fx%3D1&output=json\
             &fl=timestamp%2Cdigest&filter=statuscode%3A200&collapse=digest&limit=2000"
        );
        assert_eq!(
            copies.address(Via::Capture(20_140_301_120_000)),
            "https://web.archive.org/web/20140301120000id_/https://a.example/feed?x=1"
        );
    }

    #[test]
    fn a_listing_is_read_oldest_first_and_copies_of_one_content_once() {
        let listing = br#"[["timestamp","digest"],["20150101000000","B"],["20140101000000","A"],
            ["20160101000000","A"],["nonsense","C"],["20169901000000","D"],["20170101000000"]]"#;
        assert_eq!(read_listing(listing), Some(vec![20_140_101_000_000, 20_150_101_000_000]));
        assert_eq!(read_listing(b"[]"), Some(Vec::new()));
        for no_listing in ["", "<html>", "{}", "[[\"other\"],[\"x\"]]", "[1]"] {
            assert_eq!(read_listing(no_listing.as_bytes()), None, "{no_listing}");
        }
    }

    #[test]
    fn an_adaptor_begins_once_and_leaves_nothing_when_it_is_taken_away() {
        let mut record = HistoryRecord::default();
        record.adapt(Some(&way(Adaptor::WordPress)));
        record.adapt(Some(&way(Adaptor::WordPress)));
        assert_eq!(record.frontiers.len(), 1);
        assert_eq!(record.adaptor(), Some(Adaptor::WordPress));
        record.adapt(Some(&way(Adaptor::InternetArchive)));
        assert_eq!(record.frontiers.len(), 1);
        assert_eq!(record.frontiers[0].edge.via, Via::Listing);
        record.adapt(None);
        assert_eq!((record.frontiers.len(), &record.head, record.adaptor()), (0, &None, None));
    }

    #[test]
    fn what_the_publisher_offers_goes_first() {
        let offered = Edge { key: "https://a.example/1".into(), ..Edge::default() };
        let mut record = HistoryRecord { head: Some(offered.clone()), ..HistoryRecord::default() };
        record.adapt(Some(&way(Adaptor::WordPress)));
        assert_eq!((&record.head, record.frontiers.len()), (&Some(offered), 0));
        let mut whole = HistoryRecord { kind: DocumentKind::Complete, ..HistoryRecord::default() };
        whole.adapt(Some(&way(Adaptor::InternetArchive)));
        assert!(!whole.has_work());
    }
}

//! Adaptors: two sources of older entries that are neither standardized nor offered by publishers, off unless the user enables
//! one for a feed. The two sources are numbered pages, as in blogs, and the Internet Archive's captures of the feed's address.
//!
//! An adaptor only supplies the address of the next document. The archive walk does everything else: merging, gaps, limits,
//! retries, pauses.

use chrono::{DateTime, NaiveDateTime, Utc};
use serde::{Deserialize, Serialize};
use url::Url;

use super::robots::Robots;

/// Default address of the Internet Archive. Users can set another one.
pub const INTERNET_ARCHIVE: &str = "https://web.archive.org";
/// Maximum number of captures used for one feed. If there are more, only the oldest are used.
pub(crate) const CAPTURES_MAX: usize = 2_000;
/// Number of the first page to request. Page 1 is the subscription document itself.
const SECOND_PAGE: u32 = 2;
/// Format of a capture's timestamp: year, month, day, hour, minute, second.
const CAPTURE_FORM: &str = "%Y%m%d%H%M%S";

/// An adaptor that the user can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adaptor {
    /// Requests `?paged=2`, `?paged=3` and so on until a page is missing.
    #[serde(rename = "wordpress")]
    WordPress,
    /// Requests the listing of all captures of the feed's address, then the captures, oldest first.
    InternetArchive,
}

impl Adaptor {
    /// All adaptors.
    pub const ALL: [Self; 2] = [Self::WordPress, Self::InternetArchive];

    /// Returns the name used in settings.
    pub const fn word(self) -> &'static str {
        match self {
            Self::WordPress => "wordpress",
            Self::InternetArchive => "internet-archive",
        }
    }

    /// Names the source in a sentence, as in "60 entries from ...".
    pub const fn source(self) -> &'static str {
        match self {
            Self::WordPress => "WordPress' pages",
            Self::InternetArchive => "the Internet Archive",
        }
    }

    /// Says what it costs to read the source.
    pub const fn cost(self) -> &'static str {
        match self {
            Self::WordPress => {
                "robots.txt, then one request for each older page, at most 20 in one run"
            }
            Self::InternetArchive => {
                "a list of copies, then one request for each copy, at most 20 in one run"
            }
        }
    }

    /// Describes in plain words where the adaptor's entries come from.
    pub const fn origin(self) -> &'static str {
        match self {
            Self::WordPress => "from numbered pages (not offered by this feed)",
            Self::InternetArchive => "from the Internet Archive (not by the publisher)",
        }
    }
}

/// The adaptor enabled for a feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveAdaptor {
    /// Kind of adaptor.
    pub adaptor: Adaptor,
    /// Base address of the Internet Archive, without a trailing slash.
    pub base: String,
    /// Address of the feed.
    pub url: String,
}

/// The state of a feed's adaptor.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Adapted {
    /// The enabled adaptor; `None` if no adaptor is enabled.
    pub way: Option<ActiveAdaptor>,
    /// Timestamps of the Internet Archive's captures, oldest first. Each timestamp is one number, such as 20140305120000.
    pub captures: Vec<u64>,
    /// What robots.txt said last about the numbered pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robots: Option<Robots>,
}

impl Adapted {
    /// Checks whether robots.txt permits the request for a document; `None` if it must be asked first. Only numbered pages need
    /// it: everything else is linked, or belongs to a service that others are meant to ask.
    pub(super) fn permit(&self, via: FoundBy, url: &str, now: DateTime<Utc>) -> Option<bool> {
        let FoundBy::Page(_) = via else { return Some(true) };
        self.robots.as_ref()?.permit(url, now)
    }
}

/// How the address of a document was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FoundBy {
    /// The address is a link in a document of the publisher.
    #[default]
    Link,
    /// The address is that page of the numbered pages.
    Page(u32),
    /// The address leads to the listing of all captures.
    Listing,
    /// The address leads to the capture with this timestamp.
    Capture(u64),
}

impl ActiveAdaptor {
    /// Returns the first document that the adaptor requests.
    pub(super) const fn first(&self) -> FoundBy {
        match self.adaptor {
            Adaptor::WordPress => FoundBy::Page(SECOND_PAGE),
            Adaptor::InternetArchive => FoundBy::Listing,
        }
    }

    /// Returns the address of a document that the adaptor requests.
    pub(super) fn address(&self, via: FoundBy) -> String {
        let Self { base, url, .. } = self;
        match via {
            FoundBy::Link => url.clone(),
            FoundBy::Page(number) => with_query(url, "paged", &number.to_string()),
            FoundBy::Listing => {
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
            FoundBy::Capture(taken) => format!("{base}/web/{taken:014}id_/{url}"),
        }
    }
}

/// Names a stored document: a copy of the Internet Archive by its day, any other document by its address.
pub fn document_name(url: &str) -> String {
    let capture = url.split_once("/web/").and_then(|(_, rest)| rest.split_once("id_/"));
    let taken = capture.filter(|(taken, _)| taken.len() == 14);
    taken.and_then(|(taken, _)| taken.parse().ok()).map_or_else(|| url.to_owned(), capture_name)
}

/// Names a copy of the Internet Archive by its day.
pub(crate) fn capture_name(capture: u64) -> String {
    let day = taken_at(capture).map(|at| format!(" of {}", at.format("%Y-%m-%d")));
    format!("the Internet Archive's copy{}", day.unwrap_or_default())
}

/// Appends a name and a value to the query of an address.
fn with_query(address: &str, name: &str, value: &str) -> String {
    let Ok(mut url) = Url::parse(address) else { return address.to_owned() };
    url.query_pairs_mut().append_pair(name, value);
    url.into()
}

/// Returns the time at which a capture was made, given its timestamp.
pub(crate) fn taken_at(capture: u64) -> Option<DateTime<Utc>> {
    let text = format!("{capture:014}");
    NaiveDateTime::parse_from_str(&text, CAPTURE_FORM).ok().map(|at| at.and_utc())
}

/// Parses a listing of captures: a JSON array of arrays. The first array contains the column names, which include
/// `timestamp` and `digest`. Skips captures with the same digest as an earlier one. Returns `None` if the bytes are not such
/// a listing.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn way(adaptor: Adaptor) -> ActiveAdaptor {
        let url = "https://a.example/feed?x=1".to_owned();
        ActiveAdaptor { adaptor, base: INTERNET_ARCHIVE.to_owned(), url }
    }

    #[test]
    fn adaptor_documents_use_their_services_addresses() {
        let pages = way(Adaptor::WordPress);
        assert_eq!(pages.address(pages.first()), "https://a.example/feed?x=1&paged=2");
        let copies = way(Adaptor::InternetArchive);
        assert_eq!(
            copies.address(FoundBy::Listing),
            "https://web.archive.org/cdx/search/cdx?url=https%3A%2F%2Fa.example%2Ffeed%3Fx%3D1&output=json\
             &fl=timestamp%2Cdigest&filter=statuscode%3A200&collapse=digest&limit=2000"
        );
        assert_eq!(
            copies.address(FoundBy::Capture(20_140_301_120_000)),
            "https://web.archive.org/web/20140301120000id_/https://a.example/feed?x=1"
        );
    }

    #[test]
    fn listing_is_read_oldest_first_without_duplicates() {
        let listing = br#"[["timestamp","digest"],["20150101000000","B"],["20140101000000","A"],
            ["20160101000000","A"],["nonsense","C"],["20169901000000","D"],["20170101000000"]]"#;
        assert_eq!(read_listing(listing), Some(vec![20_140_101_000_000, 20_150_101_000_000]));
        assert_eq!(read_listing(b"[]"), Some(Vec::new()));
        for no_listing in ["", "<html>", "{}", "[[\"other\"],[\"x\"]]", "[1]"] {
            assert_eq!(read_listing(no_listing.as_bytes()), None, "{no_listing}");
        }
    }
}

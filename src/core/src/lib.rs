//! The core of `backissue`: reads feeds, decides when to poll them next and why, and reports whether their history is whole.
//!
//! Nothing here reads the clock, the network or a disk: the caller passes in what a decision needs, and every decision
//! carries its reason. A module uses only those above it in this list:
//!
//! | module | content |
//! | --- | --- |
//! | [`words`] | durations, times and lists in words |
//! | [`feed`] | parsing of what a publisher provides: documents, entries, hints, feed discovery, OPML |
//! | [`history`] | the known history of each logical feed: kept entries, which copy wins, archives, gaps |
//! | [`schedule`] | when to poll a feed next, and the reason |
//! | [`lint`] | checks of a document for its publisher: how feed readers interpret it |
//! | [`publish`] | the known history of a feed, as Atom documents with archives |
//! | [`search`] | splitting text into words, the query language, the positions of hits |
//! | [`simulate`] | polling strategies, run on recorded publication times and scored |
//! | [`filters`] | the user's filters: which entries they match and what they do to them |
//! | [`other_readers`] | files of other feed readers: which entries were read or starred there |
//! | [`accounts`] | accounts on servers: the protocol as values, and which marks to pull and to send |
//!
//! # Read a document and plan its next poll
//!
//! ```
//! use backissue_core::feed::{Origin, parse};
//! use backissue_core::schedule::{Facts, TimingHeaders, decide};
//! use chrono::{DateTime, Utc};
//!
//! let bytes = br#"<rss version="2.0"><channel><title>Orchard</title><ttl>180</ttl>
//!     <item><title>Frost</title><link>https://a.example/frost</link></item></channel></rss>"#;
//! let document = parse(bytes, &Origin { url: Some("https://a.example/feed"), content_type: None });
//! assert_eq!(document.entries[0].title.as_deref(), Some("Frost"));
//!
//! let now: DateTime<Utc> = "2026-03-02T08:00:00Z".parse().unwrap();
//! let mut facts = Facts { hints: document.hints, ..Facts::default() };
//! facts.record_success(200, &TimingHeaders::default(), now, now);
//! // 0.0 means no jitter. `schedule::spread_unit` computes the value for a real feed.
//! let plan = decide(&facts, now, 0.0);
//! assert_eq!(plan.next_poll.unwrap().to_rfc3339(), "2026-03-02T11:00:00+00:00");
//! assert!(plan.steps.iter().any(|step| step.reason.contains("ttl")));
//! ```
//!
//! # Walk a chain of archives
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use backissue_core::feed::{Origin, parse};
//! use backissue_core::history::{
//!     ArchiveFailure, ArchiveWalk, Arrival, HistoryRecord, HistoryStatus, Mode, Next, Nodes, Polled, WalkPolicy,
//! };
//! use chrono::{DateTime, Utc};
//!
//! let feed = |number: u32, older: Option<u32>| {
//!     let link = older.map_or(String::new(), |older| {
//!         format!("<link rel='prev-archive' href='https://a.example/{older}'/>")
//!     });
//!     let archive = if number == 3 { "" } else { "<fh:archive/>" };
//!     format!(
//!         "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0'>\
//!          <id>urn:orchard</id>{archive}{link}<entry><id>urn:{number}</id><title>Entry {number}</title>\
//!          <updated>2026-03-0{number}T08:00:00Z</updated></entry></feed>"
//!     )
//! };
//! // The publisher has three documents, but the oldest one is missing.
//! let published = BTreeMap::from([
//!     ("https://a.example/3".to_owned(), feed(3, Some(2))),
//!     ("https://a.example/2".to_owned(), feed(2, Some(1))),
//! ]);
//! let read = |url: &str| {
//!     let text = published.get(url)?;
//!     Some(parse(text.as_bytes(), &Origin { url: Some(url), content_type: None }))
//! };
//!
//! let now: DateTime<Utc> = "2026-03-04T08:00:00Z".parse().unwrap();
//! let (mut record, mut nodes) = (HistoryRecord::default(), Nodes::default());
//! let subscription = read("https://a.example/3").unwrap();
//! record.apply_poll(&Polled {
//!     requested: "https://a.example/3",
//!     answered: "https://a.example/3",
//!     public: true,
//!     fetched_at: now,
//!     whole: true,
//!     proven: true,
//!     verifies: None,
//!     document: &subscription,
//! });
//! record.apply_check(Mode::Auto, now);
//!
//! let policy = WalkPolicy::default();
//! let mut walk = ArchiveWalk { record: &mut record, nodes: &mut nodes, policy: &policy };
//! while let Next::Fetch(request) = walk.next(now) {
//!     let Some(document) = read(&request.url) else {
//!         walk.failed(&ArchiveFailure::Status { status: 404, retry_after: None }, now);
//!         continue;
//!     };
//!     let arrival =
//!         Arrival { url: &request.url, public: true, fetched_at: now, wire_bytes: 0, document: &document };
//!     if walk.arrived(&arrival).is_some() {
//!         // A real caller merges the entries and writes them together with the record and the nodes.
//!         walk.merged(document.entries.len().try_into().unwrap());
//!     }
//! }
//! // One archive was read and one is missing. The record reports the gap and the time of its next retry.
//! assert!(matches!(record.status(), HistoryStatus::Partial { .. }));
//! let gaps = record.shown_gaps(false, now);
//! let (_, gap) = &gaps[0];
//! assert_eq!((gaps.len(), gap.edge.url.as_str()), (1, "https://a.example/1"));
//! ```

#![forbid(unsafe_code)]

pub mod accounts;
pub mod feed;
pub mod filters;
pub mod history;
pub mod lint;
pub mod other_readers;
pub mod publish;
pub mod schedule;
pub mod search;
pub mod simulate;
pub mod words;

pub use words::InputFlaw;

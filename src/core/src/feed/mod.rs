//! Parses feed documents (RSS, RDF, Atom, JSON Feed), OPML lists and the feed links of web pages.
//!
//! This module does not fetch, store or schedule anything and does not read the clock. It parses bytes into a [`FeedDocument`] with
//! a list of [`Flaw`]s. Parsing never fails: input that is not a feed gets the kind [`Kind::None`].
//!
//! An XML document is read in these steps:
//!
//! 1. `decode` turns its bytes into text.
//! 2. `lexer` and `tree_builder` turn the text into a tree, however broken it is. OPML uses the same tree.
//! 3. `fields` chooses the element for each field; `names` recognises XML namespaces.
//! 4. `xml_feed` reads the fields from the tree: dates, texts with markup, identities (`identity`), links and archive marks
//!    (`links`), hints (`schedule_hints`), attached files and deleted entries.
//!
//! If these steps find no feed, `parse` parses the original bytes with the library feed-rs.
//!
//! A JSON Feed document is read value by value by `json_feed`.

pub mod address;
pub mod characters;
pub mod document;
pub mod fingerprint;
pub(crate) mod flaws;
pub mod hints;
pub mod identity;
mod json_feed;
mod oddities;
pub mod outgoing;
pub mod parse;
pub mod report;
pub mod text;

pub use crate::feed::page_feeds::page_text;
pub use crate::feed::xml::schedule_hints::read_zone;
pub use address::after_feed_scheme;
pub use document::{
    DocumentRole, Enclosure, Entry, FeedDocument, FeedHead, HistoryLinks, Kind, Link, NewLocation,
    Tombstone,
};
pub use flaws::{Flaw, OTHER_JSON, REMOVED_CONTROLS};
pub use hints::{DayOfWeek, Hints, IntervalRule, Period, SyHint, Zone};
pub use oddities::{Breach, BreachKind, Oddity, OddityKind, find_breaches, find_oddities};
pub use parse::{Origin, parse};
pub use report::report;

pub mod candidates;
pub mod content;
pub mod dates;
mod decode;
mod internal_entities;
pub mod known_sites;
pub mod opml;
pub mod page_feeds;
#[cfg(test)]
mod robustness_tests;
#[cfg(test)]
mod spec_tests;
pub mod xml;

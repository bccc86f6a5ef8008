//! What a publisher says: feed documents and what is written in them. Pure; stands on nothing.
//!
//! This folder does not fetch, does not store, does not decide when to poll and does not know the
//! time. It turns bytes into a [`FeedDocument`] and a list of [`Flaw`]s, and never fails: a document
//! that is no feed has the kind [`Kind::None`].
//!
//! The way of an XML document: `decode` makes text of bytes; `lexer` and `tree_builder` make a tree of it,
//! however broken it is; `repaired` writes what was understood as a clean document, which feed-rs reads
//! (`feed_rs_reader`); `xml_feed` adds from the tree what feed-rs drops: identity (`identity`), links and
//! archive marks (`links`), hints (`schedule_hints`), deleted entries. JSON Feed is read value by value
//! (`json_feed`). Which element says what stands in the tables of `fields` and `names`.

mod address;
pub mod characters;
pub mod document;
pub mod entry;
pub mod fingerprint;
mod flaws;
pub mod hints;
pub mod identity;
mod json_feed;
mod oddities;
pub mod parse;
pub mod report;
pub mod sparse;
pub mod text;

pub use crate::feed::discover::page_feeds::page_text;
pub use crate::feed::xml::schedule_hints::read_zone;
pub use document::{
    DocumentRole, FeedDocument, FeedHead, Flaw, HistoryLinks, Kind, Link, NewLocation, Tombstone,
};
pub use entry::{Enclosure, Entry};
pub use hints::{DayOfWeek, Hints, IntervalRule, Period, SyHint, Zone};
pub use oddities::{Oddity, OddityKind, find_oddities};
pub use parse::{Origin, parse};
pub use report::report;

pub mod content;
pub mod dates;
pub mod discover;
pub mod encoding;
pub mod opml;
#[cfg(test)]
mod robustness_tests;
#[cfg(test)]
mod spec_tests;
pub mod xml;

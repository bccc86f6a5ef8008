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
mod attachments;
mod charset;
mod constructs;
pub mod date;
mod decode;
pub mod discover;
pub mod document;
pub mod entry;
mod feed_addresses;
mod feed_rs_reader;
mod fields;
pub mod fingerprint;
mod flaws;
pub mod hints;
pub mod identity;
mod json_feed;
mod lexer;
mod links;
pub mod markup;
mod names;
pub mod opml;
mod opml_outline;
mod opml_read;
mod opml_write;
pub mod parse;
mod person;
mod rebased;
mod references;
mod repaired;
pub mod report;
mod schedule_hints;
mod scrutiny;
pub mod sparse;
pub mod text;
mod tree;
mod tree_builder;
mod xml_feed;
mod zone_names;

pub use discover::page_text;
pub use document::{
    FeedDocument, FeedHead, Flaw, History, Kind, Link, NewLocation, Role, Tombstone,
};
pub use entry::{Enclosure, Entry};
pub use hints::{Day, Hints, IntervalRule, Period, SyHint, Zone};
pub use parse::{Origin, parse};
pub use report::report;
pub use schedule_hints::read_zone;
pub use scrutiny::{Sight, Sighting, scrutinise};

#[cfg(test)]
mod robustness_tests;
#[cfg(test)]
mod spec_tests;

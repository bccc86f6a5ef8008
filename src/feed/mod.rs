//! What a publisher says: feed documents and what is written in them. Pure; stands on nothing.
//!
//! This folder does not fetch, does not store, does not decide when to poll and does not know the
//! time. It turns bytes into a [`FeedDocument`] and a list of [`Flaw`]s, and never fails: a document
//! that is no feed has the kind [`Kind::None`].

mod charset;
pub mod discover;
pub mod document;
pub mod entry;
mod feed_addresses;
pub mod fingerprint;
pub mod hints;
pub mod identity;
pub mod markup;
pub mod opml;
mod opml_outline;
mod opml_read;
mod opml_write;
pub mod parse;
pub mod report;
pub mod safe_text;
pub mod text;

pub use document::{
    FeedDocument, FeedHead, Flaw, History, Kind, Link, NewLocation, Role, Tombstone,
};
pub use entry::{Enclosure, Entry};
pub use hints::{Day, Hints, IntervalRule, Period, SyHint, Zone};
pub use parse::{Origin, parse};
pub use report::report;

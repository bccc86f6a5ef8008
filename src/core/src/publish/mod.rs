//! Publishes the known history of a feed as Atom documents with archives (RFC 4287, RFC 5005, RFC 6721). Has no side effects;
//! depends on `feed` and `history`.
//!
//! [`DocumentPlan::all`] decides which entries each document contains, and how the documents link to each other. It needs only an
//! [`Outline`] of each entry, so the texts need not be in memory at the same time. [`write_document`] then writes one document. The
//! same history always gives the same bytes, except that time closes months. This module does not write files and does not read
//! the clock.

mod atom;
mod plan;

pub use atom::{
    GENERATOR_MARK, PublishedEntry, PublishedFeed, is_language, outgoing_entry, write_document,
};
pub use plan::{
    ArchiveSize, DocumentPlan, DocumentRank, HistoryOutline, Outline, PlannedLink,
    SUBSCRIPTION_NAME,
};

#[cfg(test)]
mod plan_tests;

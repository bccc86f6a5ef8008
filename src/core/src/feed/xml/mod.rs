//! Reads RSS, RDF and Atom: builds a tolerant XML tree and interprets its elements.

pub(super) mod attachments;
pub(super) mod constructs;
mod element_purpose;
pub(super) mod feed_rs_reader;
pub(super) mod fields;
pub(super) mod lexer;
pub(super) mod links;
mod media_pictures;
mod missing_entries;
pub(super) mod names;
pub(super) mod person;
pub(super) mod references;
pub(super) mod schedule_hints;
pub(super) mod tree;
pub(super) mod tree_builder;
pub(super) mod xml_feed;

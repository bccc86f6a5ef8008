//! Reads RSS, RDF and Atom: builds a tolerant XML tree and interprets its elements.

pub(super) mod attachments;
pub(super) mod constructs;
pub(super) mod fields;
pub(super) mod lexer;
pub(super) mod links;
pub(super) mod names;
pub(super) mod references;
pub(super) mod schedule_hints;
pub(super) mod tree;
pub(super) mod tree_builder;
pub(super) mod xml_feed;

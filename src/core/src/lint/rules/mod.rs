//! Checks of rules that a document or its server breaks although this program can read the feed.

pub(super) mod breaches;
pub(super) mod deltas;

#[cfg(test)]
mod rules_tests;

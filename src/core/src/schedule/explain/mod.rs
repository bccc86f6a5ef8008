//! Explains plans in words.

pub(super) mod explanation;
pub(super) mod sentence;

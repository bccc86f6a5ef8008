//! Explains plans in words.

pub(super) mod explanation;
pub(super) mod sentence;
pub(super) mod sources;
pub(super) mod week_picture;
pub(super) mod wording;

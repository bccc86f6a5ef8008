//! Markup of entries: walked, made absolute.

pub mod markup;
pub(super) mod rebased;

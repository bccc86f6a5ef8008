//! Markup of entries: walked, made absolute.

pub(super) mod absolute_addresses;
pub mod markup;

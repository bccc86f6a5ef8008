//! Parses the dates of feeds.

pub mod date;
pub(super) mod zone_names;

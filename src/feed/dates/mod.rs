//! Dates as publishers write them.

pub mod date;
pub(super) mod zone_names;

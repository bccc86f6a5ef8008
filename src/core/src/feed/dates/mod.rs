//! Parses the dates of feeds.

pub mod calendar;
pub(super) mod clock;
pub mod date;
mod numeric;
mod tokens;
mod usual;

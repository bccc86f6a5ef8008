//! Parses the dates of feeds.

pub mod calendar;
pub(super) mod clock;
pub mod date;
mod names;
mod numeric;
mod tokens;
mod usual;

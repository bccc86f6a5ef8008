//! Parses the dates of feeds.

pub mod calendar;
mod clock;
pub mod date;
mod iso;
mod months;
mod names;
mod numeric;
mod tokens;
mod usual;
mod words;
pub(super) mod zone_names;
mod zones;

//! Processes the HTML of entries: recognises markup, reports its tags and texts, and makes its URLs absolute.

pub mod absolute_addresses;
pub mod html_names;
pub mod markup;
pub mod markup_starts;
pub mod math;

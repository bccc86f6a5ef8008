//! The HTML of entries: recognising markup, walking through it and making its URLs absolute.

pub(super) mod absolute_addresses;
pub mod data_values;
pub mod html_names;
pub mod markup;
pub mod markup_starts;

//! The HTML of entries: what of it is markup, walking over it, and making its addresses absolute.

pub(super) mod absolute_addresses;
pub mod data_values;
pub mod html_names;
pub mod markup;
pub mod markup_starts;

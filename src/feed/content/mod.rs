//! The HTML of entries: walking over it, and making its addresses absolute.

pub(super) mod absolute_addresses;
pub mod markup;

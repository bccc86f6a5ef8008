//! The open search, and the view from before it.

use super::layout::Pane;
use super::reader::Reader;
use crate::ui::panes::entry_list::Listing;
use backissue_core::search::{Marks, Matching};

/// An open search.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The typed text.
    pub text: String,
    /// The parsed query. `None` before anything is typed.
    pub matching: Option<Matching>,
    /// Reason why the text cannot be parsed, as a sentence. The list still shows the previous query.
    pub flaw: Option<String>,
    /// View from before the search.
    pub(in crate::ui) before: ViewBeforeSearch,
}

/// The view from before a search.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ui) struct ViewBeforeSearch {
    pub(in crate::ui) focus: Pane,
    pub(in crate::ui) list: Listing,
    pub(in crate::ui) reader: Option<Reader>,
    pub(in crate::ui) marks: Marks,
}

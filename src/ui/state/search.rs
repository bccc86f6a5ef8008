//! The open search, and the list and text that were open before it.

use super::layout::Pane;
use super::reader::Reader;
use crate::ui::panes::entry_list::Listing;
use backissue_core::search::{Marks, Matching};

/// The open search.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The query as typed by the user.
    pub text: String,
    /// The parsed query. `None` until the user has typed a query.
    pub matching: Option<Matching>,
    /// Sentence that explains why the typed text is not a valid query. Until the text is valid, the list shows the results of the
    /// previous query.
    pub flaw: Option<String>,
    /// List and text to restore when the search is closed.
    pub(in crate::ui) before: ViewBeforeSearch,
}

impl Search {
    /// Returns whether only the texts of the newest entries were read, because the query is still being typed.
    pub fn is_answered_in_part(&self) -> bool {
        self.matching.as_ref().is_some_and(|matching| matching.texts_max.is_some())
    }
}

/// The list and text that were open before a search.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ui) struct ViewBeforeSearch {
    pub(in crate::ui) focus: Pane,
    pub(in crate::ui) list: Listing,
    pub(in crate::ui) reader: Option<Reader>,
    pub(in crate::ui) marks: Marks,
}

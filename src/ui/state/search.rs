//! The open search, and where the reader was before it.

use super::layout::Pane;
use super::reader::Reader;
use crate::ui::panes::entry_list::Listing;
use backissue_core::search::{Marks, Matching};

/// A search that is open.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// What was typed.
    pub text: String,
    /// What is looked for; `None`: nothing was typed yet.
    pub matching: Option<Matching>,
    /// Why the text cannot be read, as a sentence; the list is that of the text before.
    pub flaw: Option<String>,
    /// Where the reader was.
    pub(in crate::ui) before: Before,
}

/// Where the reader was when a search was opened.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ui) struct Before {
    pub(in crate::ui) focus: Pane,
    pub(in crate::ui) list: Listing,
    pub(in crate::ui) reader: Option<Reader>,
    pub(in crate::ui) marks: Marks,
}

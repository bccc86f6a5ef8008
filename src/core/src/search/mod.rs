//! Search: splitting a text into words, the query language, matching, and the positions of hits. Has no side effects;
//! depends on `history`.
//!
//! This module has no index and does not read entries. The `io` module calls it to split texts into words, and looks the
//! words up in its index.

mod date;
mod fold;
mod marks;
mod matching;
mod phrases;
mod query;
mod words;

pub use fold::folded;
pub use marks::{Marks, Snippet};
pub use matching::{Labels, Matching};
pub use phrases::EntryTexts;
pub use query::{EntryState, Named, Query, QueryField, QueryFlaw, Term, parse};
pub use words::{ScannedWord, WordScanner};

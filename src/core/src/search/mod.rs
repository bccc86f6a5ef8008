//! Search: the words of a text, the query language, matching, and the positions of hits. Pure; depends on `history`.
//!
//! This folder has no index and does not read entries: `io` calls it to split texts into words and looks them up.

mod date;
mod fold;
mod marks;
mod matching;
mod query;
mod words;

pub use fold::folded;
pub use marks::{Marks, Snippet};
pub use matching::{Labels, Matching};
pub use query::{EntryState, Named, Query, QueryField, QueryFlaw, Term, parse};
pub use words::{ScannedWord, WordScanner};

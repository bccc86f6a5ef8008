//! What a reader looks for: the words of a text, the query, which entries it takes, where it hits.
//! Pure; stands on `history`.
//!
//! This folder keeps no index and reads no entry: `io` asks it which words a text has and looks them up.

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

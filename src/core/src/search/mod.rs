//! Search: splitting a text into words, the query language, matching, and the positions of hits. Has no side effects;
//! depends on `feed` and `history`.
//!
//! This module has no index and does not read entries. The `io` module calls it to split texts into words, and looks the
//! words up in its index.

mod condition;
mod fields;
mod marks;
mod matching;
mod newsboat;
mod parse_query;
mod same_article;
mod text_test;
mod words;

pub use condition::{
    Condition, EntryState, Leaf, NameKind, NamePattern, NamePosition, NameTest, QueriedFeed,
    RowTest, Subject, When,
};
pub use fields::{FIELDS, Field, FlawKind, QueryFlaw};
pub use marks::{Marks, Snippet};
pub use matching::{KnownNames, Matching};
pub use newsboat::translate_newsboat;
pub use parse_query::{COLOURS_MAX, Query, field_query, parse, row_query, with_renamed_tags};
pub use same_article::{FoldedEntries, LinksInside, fold_entries, links_inside};
pub use same_article::{NEAR_SECONDS, SameArticles};
pub use text_test::{Attachment, EntryTexts, Term, TextField, TextTest};
pub use text_test::{LengthLimit, TextLength};
pub use words::{ScannedWord, WordScanner, folded};

//! Search: splitting a text into words, the query language, matching, and the positions of hits. Has no side effects;
//! depends on `feed` and `history`.
//!
//! This module has no index and does not read entries. The `io` module calls it to split texts into words, and looks the
//! words up in its index.

mod condition;
mod entry_regex;
mod entry_texts;
mod fields;
mod fold;
mod marks;
mod matching;
mod name_test;
mod newsboat;
mod parse_query;
mod query;
mod query_flaw;
mod query_value;
mod same_article;
mod text_test;
mod when;
mod words;

pub use condition::{Condition, EntryState, Leaf, RowTest, Subject};
pub use entry_texts::EntryTexts;
pub use fields::{FIELDS, Field};
pub use fold::folded;
pub use marks::{Marks, Snippet};
pub use matching::{KnownNames, Matching};
pub use name_test::{FeedNames, NameKind, NamePattern, NameTest, Position};
pub use newsboat::translate_newsboat;
pub use parse_query::parse;
pub use query::{Query, field_query};
pub use query_flaw::{FlawKind, QueryFlaw};
pub use same_article::SameArticles;
pub use text_test::{Term, TextField, TextTest};
pub use when::When;
pub use words::{ScannedWord, WordScanner};

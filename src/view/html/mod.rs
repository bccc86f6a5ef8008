//! Renders an entry's HTML as styled lines for the terminal.
//!
//! This module is pure: it takes markup and a width, and returns lines. Nothing is fetched or executed, and no colour is
//! chosen: spans carry roles, which the theme colours.
//!
//! `body_reader` turns the tags into a shallow tree of blocks ([`model`]); `links` numbers the link targets and labels pictures
//! and players, which `media` adds to the text. `lines` lays out the blocks at a width, with `wrap` for running text and `table`
//! for tables. The depth of the tree is limited when it is built, so that layout never recurses deeply. Time is linear in the
//! size of the markup.
//!
//! html2text (0.17.4) was not suitable: emoji exceed the width, `<ol start>` near the end of `i64` overflows, and a nested list
//! in a narrow pane is an error. This module therefore only uses the tokenizer underneath it, from html5ever.

mod body_reader;
mod elements;
mod flow;
mod lines;
mod links;
mod markdown;
mod media;
mod model;
mod open_containers;
mod render;
mod table;
mod table_empty;
mod wrap;

#[cfg(test)]
mod tests;

pub(in crate::view) use lines::prefix;
pub use markdown::{InBook, markdown, xhtml};
pub use model::Column;
pub use render::{picture_addresses, render};
pub(super) use wrap::{is_leftward, is_leftward_language};

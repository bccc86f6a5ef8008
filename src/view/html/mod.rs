//! Renders an entry's HTML as styled lines for the terminal.
//!
//! Pure: markup and a width in, lines out. Nothing is fetched or executed, and no colour is chosen: spans carry roles,
//! which the theme colours.
//!
//! `body_reader` turns the tags into a shallow tree of blocks ([`model`]); `links` numbers what may be opened,
//! `images` labels pictures and players. `lines` lays the blocks out at a width, with `wrap` for running text and
//! `table` for tables. The depth of the tree is limited where it is built, so that layout never recurses far; time is
//! linear in the markup.
//!
//! html2text (0.17.4) was tried: emoji exceed the width, `<ol start>` near the end of `i64` overflows, a nested list
//! in a narrow pane is an error. So only the tokenizer below it is used, html5ever's.

mod body_reader;
mod colouring;
mod elements;
mod flow;
mod images;
mod language;
mod lines;
mod links;
mod media;
mod model;
mod open_containers;
mod render;
mod table;
mod table_grid;
mod tags;
mod wrap;

#[cfg(test)]
mod tests;

pub use model::Column;
pub use render::render;

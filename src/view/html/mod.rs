//! An entry's HTML as styled lines of a terminal.
//!
//! Pure: markup and a width in, lines out. Nothing is fetched, nothing is executed, no colour is
//! chosen here (spans carry roles, the theme gives them colours), and no link is opened.
//!
//! The way: `body_reader` turns the tags into a short tree of blocks ([`model`]), with `links` numbering
//! what may be opened and `images` naming pictures and players; `lines` lays the blocks out at a
//! width, with `wrap` for running text and `table` for tables. Depth is bounded where the tree is
//! built, so laying out never recurses far; time is linear in the markup.
//!
//! Why not html2text as a whole? Measured with 0.17.4: emoji run over the width, `<ol start>` near
//! the end of `i64` overflows, a nested list in a narrow pane is an error. What is used here is the
//! tokenizer it stands on, html5ever's.

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

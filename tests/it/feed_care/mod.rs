//! The care of feeds: their plans, tags, addresses and problems, and what is fetched ahead.

mod attention;
mod bot_walls;
mod edits;
mod handles;
mod moving;
mod notifying;
mod pictures_ahead;
pub mod plans;
mod silence;
mod tags;
mod texts_ahead;

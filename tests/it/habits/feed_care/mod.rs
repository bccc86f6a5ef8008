//! Journeys around the care of feeds: their addresses, their problems and what they are silent about.

mod attention;
mod bot_walls;
mod edits;
mod handles;
mod moving;
mod notifying;
mod pictures_ahead;
mod seen_and_heard;
mod silence;
mod texts_ahead;

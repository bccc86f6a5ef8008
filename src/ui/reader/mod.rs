//! The open entry: its text as lines, its pictures, and the reading position.

pub mod copying;
pub mod find_in_text;
pub mod full_text;
pub mod gap_explained;
pub mod lay_out;
pub mod lines;
pub mod link_hints;
pub mod marking_read;
pub mod media_hints;
pub mod open_entry;
pub mod open_pages;
pub mod page_text;
pub mod picture_places;
pub mod pictures;
pub mod pipe;
pub mod read_ahead;
pub mod reading_position;
pub mod sideways;

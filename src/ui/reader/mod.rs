//! The open entry: its text as lines, its pictures, and the reading position.

pub mod count_reading;
pub mod find_in_text;
pub mod full_text;
pub mod gap_explained;
pub mod lay_out;
pub mod lines;
pub mod open_entry;
pub mod open_pages;
pub mod reading_position;

//! Tests of whole journeys in the terminal interface: keys are pressed, and the screen and the store are checked.

pub mod asking;
pub mod bulk;
pub mod failed_writes;
pub mod filters;
pub mod full_text;
pub mod hooks;
pub mod key_bindings;
pub mod late_rows;
pub mod mouse;
pub mod palette;
pub mod plans;
pub mod random_keys;
pub mod reading;
pub mod reading_positions;
pub mod searching;
pub mod sideways;
pub mod tags;
pub mod tour;
pub mod undo;

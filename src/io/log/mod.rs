//! The log: what the program does, line by line, in a rotating file for its reader alone; and the report that a panic leaves.

mod log_file;
mod panic_report;
mod secrets;
mod subscriber;
mod what_happens;

pub use log_file::{LogFile, log_folder};
pub use panic_report::{report_panic, take_report};
pub use subscriber::{begin, log_tail};
pub(super) use what_happens::{log_effect, log_input};

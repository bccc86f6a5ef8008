//! The log: what the program does, line by line, in a rotating file for its reader alone; and the reports that panics leave.

mod log_file;
mod panic_notices;
mod panic_report;
mod secrets;
mod subscriber;
mod what_happens;

pub use log_file::{LogFile, log_folder};
pub use panic_notices::{ToldTo, Untold, find_untold};
pub use panic_report::report_panic;
pub use subscriber::{begin, log_tail};
pub(super) use what_happens::{log_effect, log_input};

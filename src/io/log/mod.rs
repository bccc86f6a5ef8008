//! The log: one line per action of the program, in a rotating file that only the user can read, and the reports of panics.

mod log_file;
mod loop_log;
mod panic_notices;
mod panic_report;
mod secrets;
mod subscriber;

pub use log_file::{LogFile, log_folder};
pub(super) use loop_log::{log_effect, log_input};
pub use panic_notices::{ToldTo, Untold, find_untold};
pub use panic_report::report_panic;
pub use subscriber::{begin, log_tail};

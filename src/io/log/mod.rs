//! The log: one line per action of the program, in a rotating file that only the user can read, and the reports of panics.

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

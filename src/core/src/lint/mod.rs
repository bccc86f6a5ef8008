//! Checks of a feed for its publisher: how readers will interpret it. Has no side effects; depends on `feed` and `schedule`.
//!
//! [`examine()`] turns bytes into a [`LintReport`]: a list of [`LintFinding`]s in a fixed order, and the resulting polls.
//! [`Survey`] does the same for an address: it names the archives to request, and checks the responses and the chain. This module
//! does not use the network or read the clock.

mod delivery;
mod document;
mod hints;
mod history;
mod report;
mod survey;
mod table;

pub use delivery::{Delivered, Headers};
pub use survey::examine;
pub use table::{Level, LintFinding, Topic};

pub use hints::Polls;
pub use report::{Chain, LintReport, report_github, report_json, report_sarif};
pub use survey::Survey;
pub use table::{mending, rule};

#[cfg(test)]
mod findings_tests;
#[cfg(test)]
mod format_tests;
#[cfg(test)]
mod spec_tests;
#[cfg(test)]
mod survey_tests;
#[cfg(test)]
mod verdict_tests;

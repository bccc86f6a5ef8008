//! What readers will make of a document, for the one who publishes it. Pure; stands on `feed` and `schedule`.
//!
//! [`examine()`] turns bytes into a [`LintReport`]: a list of [`LintFinding`]s in a fixed order, and the polls that
//! the document leads to. [`Survey`] does the same for an address: it says which archives to ask for, and what of
//! the answers and of the chain is wrong. This folder asks nothing of the network and does not know the time.

mod archives;
mod dates;
mod delivery;
mod document;
mod entries;
mod examine;
mod exhibit;
mod finding;
mod flaws;
mod hints;
mod history;
mod polls;
mod speakers;
mod survey;
mod wording;

pub use crate::lint::lint_report::Chain;
pub use crate::lint::lint_report::LintReport;
pub use crate::lint::lint_report::report_json;
pub use delivery::{Delivered, Headers};
pub use examine::examine;
pub use finding::{Level, LintFinding, Topic};
pub use polls::Polls;
pub use survey::Survey;

#[cfg(test)]
mod findings_tests;
mod lint_report;
#[cfg(test)]
mod spec_tests;
#[cfg(test)]
mod survey_tests;

//! Checks of a feed for its publisher: how readers will interpret it. Has no side effects; depends on `feed` and `schedule`.
//!
//! [`examine()`] turns bytes into a [`LintReport`]: a list of [`LintFinding`]s in a fixed order, and the resulting polls.
//! [`Survey`] does the same for an address: it names the archives to request, and checks the responses and the chain. This module
//! does not use the network or read the clock.

mod archives;
mod dates;
mod delivery;
mod document;
mod entries;
mod examine;
mod finding;
mod flaws;
mod hints;
mod history;
mod lint_input;
mod polls;
mod report;
mod rules;
mod stated_hints;
mod survey;
mod wording;

pub use delivery::{Delivered, Headers};
pub use examine::examine;
pub use finding::{Level, LintFinding, Topic};

pub use polls::Polls;
pub use report::lint_formats::{report_github, report_sarif};
pub use report::lint_report::{Chain, LintReport, report_json};
pub use report::mending::{mending, rule};
pub use survey::Survey;

#[cfg(test)]
mod findings_tests;
#[cfg(test)]
mod spec_tests;
#[cfg(test)]
mod survey_tests;
#[cfg(test)]
mod verdict_tests;

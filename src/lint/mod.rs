//! What readers will make of a document, for the one who publishes it. Pure; stands on `feed` and `schedule`.
//!
//! [`examine()`] turns bytes into a [`Verdict`]: a list of [`Finding`]s in a fixed order, and the polls that
//! the document leads to. This folder asks nothing of the network and does not know the time.

mod dates;
mod document;
mod entries;
mod examine;
mod finding;
mod flaws;
mod hints;
mod history;
mod polls;
mod speakers;
mod verdict;
mod wording;

pub use examine::examine;
pub use finding::{Finding, Level, Topic};
pub use polls::Polls;
pub use verdict::{Verdict, verdict_json};

#[cfg(test)]
mod findings_tests;
#[cfg(test)]
mod spec_tests;

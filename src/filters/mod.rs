//! The reader's own rules about entries: which entries they hit, and what they do to them.
//! Pure; stands on `feed`, `history` and `search`.
//!
//! This folder reads no store: `io` hands it entries and writes what it decides.

mod judge;
mod pattern;
mod rule;
mod subject;
mod until;

pub use judge::Judge;
pub use pattern::{Pattern, RuleFlaw};
pub use rule::{Action, EntryRule, Reach};
pub use subject::Subject;
pub use until::{read_until, until_text};

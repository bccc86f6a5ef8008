//! The report of all findings: its forms for people and programs, and what to do about each finding.

pub(super) mod lint_formats;
pub(super) mod lint_report;
pub(super) mod mending;

//! Importing from other readers, exporting, and publishing.

pub(in crate::cli) mod export;
pub(in crate::cli) mod import;
pub(in crate::cli) mod newsboat_lines;
pub(in crate::cli) mod publish;

//! Moving in from other readers and moving out.

mod epub;
pub(in crate::cli) mod export;
mod export_entries;
mod export_state;
pub(in crate::cli) mod import;
mod newsboat_config;
pub(in crate::cli) mod publish;
mod report;
mod sources;

//! Subcommands for publishers and for experiments: parse, lint, publish, serve, simulate.

pub(super) mod lint;
pub(super) mod simulate;
pub(super) mod simulate_own;

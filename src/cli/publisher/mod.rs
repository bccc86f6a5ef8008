//! Subcommands for publishers and for experiments: parse, lint, publish, serve, simulate.

pub(super) mod lint;
pub(super) mod lint_url;
pub(super) mod parse;
pub(super) mod serve;
pub(super) mod simulate;
pub(super) mod simulate_feed;
mod simulate_figures;
mod simulate_own;

//! The integration tests in one binary, which is linked once and shares its helper modules.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::wildcard_enum_match_arm,
    clippy::format_collect,
    clippy::default_trait_access,
    clippy::duplicate_mod,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "a test may panic, know how late it is, be short, and run in several settings; this binary exports nothing"
)]

mod agreement;
mod cli;
mod docs;
mod downloads;
mod feed_care;
mod feeds;
mod finding;
mod fuzzing;
mod history;
mod http;
mod keys;
mod marking;
mod polling;
mod reading;
mod screens;
mod simulation;
mod store;
mod support;
mod wild;

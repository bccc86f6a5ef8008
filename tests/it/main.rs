//! The integration tests, one binary: one link, shared pieces.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::wildcard_enum_match_arm,
    clippy::format_collect,
    clippy::default_trait_access,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "a test may panic, know how late it is, and be short; this binary exports nothing"
)]

mod answers;
mod binary;
mod broken_server;
mod cli;
mod corpus;
mod demo_world;
mod docs;
mod documents;
mod elsewhere_program;
mod full_text;
mod gallery;
mod history;
mod history_journeys;
mod history_program;
mod hooks;
mod http;
mod journeys;
mod late_rows;
mod lint_program;
mod mutations;
mod named_keys;
mod opml;
mod palette;
mod pictures;
mod placing;
mod plans;
mod pointing;
mod polite;
mod previews;
mod random_keys;
mod reader_pictures;
mod rebinding;
mod rhythms;
mod rss;
mod rules;
mod screens;
mod scripted;
mod searching;
mod sideways;
mod simulation;
mod site;
mod store;
mod tags;
mod timing;
mod touring;
mod undoing;
mod world;

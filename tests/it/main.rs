//! The integration tests, one binary: one link, shared pieces.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "a test may panic, and this binary exports nothing"
)]

mod corpus;
mod journeys;
mod mutations;
mod screens;
mod world;

//! Runs the target `records` in cargo-fuzz.
#![no_main]

backissue_fuzz::fuzz!("records");

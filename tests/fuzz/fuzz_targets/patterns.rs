//! Runs the target `patterns` in cargo-fuzz.
#![no_main]

backissue_fuzz::fuzz!("patterns");

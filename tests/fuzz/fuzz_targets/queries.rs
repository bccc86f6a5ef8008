//! Runs the target `queries` in cargo-fuzz.
#![no_main]

backissue_fuzz::fuzz!("queries");

//! Runs the target `frames` in cargo-fuzz.
#![no_main]

backissue_fuzz::fuzz!("frames");

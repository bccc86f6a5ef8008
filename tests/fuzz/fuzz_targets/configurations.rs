//! Runs the target `configurations` in cargo-fuzz.
#![no_main]

backissue_fuzz::fuzz!("configurations");

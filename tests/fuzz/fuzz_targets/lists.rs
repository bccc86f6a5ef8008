//! Runs the target `lists` in cargo-fuzz.
#![no_main]

backissue_fuzz::fuzz!("lists");

//! Runs the target `layout` in cargo-fuzz.
#![no_main]

backissue_fuzz::fuzz!("layout");

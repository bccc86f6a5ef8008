//! Runs the target `documents` in cargo-fuzz.
#![no_main]

backissue_fuzz::fuzz!("documents");

//! cargo-fuzz runs the target `frames`.
#![no_main]

backissue_fuzz::fuzz!("frames");

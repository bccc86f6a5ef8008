//! cargo-fuzz runs the target `patterns`.
#![no_main]

backissue_fuzz::fuzz!("patterns");

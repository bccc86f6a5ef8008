//! cargo-fuzz runs the target `queries`.
#![no_main]

backissue_fuzz::fuzz!("queries");

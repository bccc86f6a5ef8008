//! cargo-fuzz runs the target `records`.
#![no_main]

backissue_fuzz::fuzz!("records");

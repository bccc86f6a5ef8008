//! cargo-fuzz runs the target `layout`.
#![no_main]

backissue_fuzz::fuzz!("layout");

//! cargo-fuzz runs the target `configurations`.
#![no_main]

backissue_fuzz::fuzz!("configurations");

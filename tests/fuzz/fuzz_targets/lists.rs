//! cargo-fuzz runs the target `lists`.
#![no_main]

backissue_fuzz::fuzz!("lists");

//! cargo-fuzz runs the target `documents`.
#![no_main]

backissue_fuzz::fuzz!("documents");

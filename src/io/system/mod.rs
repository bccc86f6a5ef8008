//! The operating system: its limits, its errors in words, and memory returned to it.

pub mod limits;
pub mod memory;
pub mod words;

//! Functions for the operating system: raises its limits, describes its errors in words, and returns unused memory to it.

pub mod limits;
pub mod memory;
pub mod words;

//! What the system allows this process, what it refuses, in words, and what it gets back.

pub mod limits;
pub mod memory;
pub mod words;

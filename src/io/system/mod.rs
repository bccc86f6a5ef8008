//! What the system allows this process, and what it refuses, in words.

pub mod limits;
pub mod words;

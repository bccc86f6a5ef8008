//! Tests with feed documents and lists from the real world.

pub mod corpus;
pub mod other_readers;

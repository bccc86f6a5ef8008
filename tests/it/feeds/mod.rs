//! Tests with feed documents and lists from the real world.

pub mod corpus;
pub mod linting;
pub mod other_readers;

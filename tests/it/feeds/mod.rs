//! Tests of feed documents from the real world.

pub mod corpus;

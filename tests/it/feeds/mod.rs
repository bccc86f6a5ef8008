//! Documents as others wrote them.

pub mod corpus;

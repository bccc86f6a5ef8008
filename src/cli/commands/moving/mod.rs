//! Moving in from other readers and moving out.

pub(in crate::cli) mod export;
pub(in crate::cli) mod import;
pub(in crate::cli) mod publish;

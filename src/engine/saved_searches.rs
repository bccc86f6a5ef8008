//! A search that was saved.

use serde::{Deserialize, Serialize};

/// A search that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSearch {
    /// Its number, that no other one has.
    pub id: u32,
    /// What it is called.
    pub name: String,
    /// What is looked for.
    pub text: String,
}

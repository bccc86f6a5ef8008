//! A search that the user saved.

use serde::{Deserialize, Serialize};

/// A search that the user saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSearch {
    /// Unique number of the search.
    pub id: u32,
    /// Name of the search.
    pub name: String,
    /// Text of the query.
    pub text: String,
}

//! Ids of changes, and steps that the store completes.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use backissue_core::filters::EntryFilter;

/// Id of a change, used to drop its undo step if the write fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChangeId(pub u64);

/// A step whose entries are known when the change is written.
#[derive(Debug, Clone, PartialEq)]
pub struct LaterStep {
    /// Id of the change.
    pub id: ChangeId,
    /// Time of the change.
    pub at: DateTime<Utc>,
    /// The filters before the change, if it is one of a filter.
    pub filters: Vec<EntryFilter>,
    /// `true` if it is a part of the step of an import, which has this id.
    pub joins: bool,
}

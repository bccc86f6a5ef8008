//! Records of the devices that sync with this program: when each was last seen, and what it changed, so that the user can undo
//! it.

use std::collections::BTreeMap;

use backissue_core::history::{EntryKey, FeedKey};
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::error::StoreError;
use super::handle::Store;
use super::pack::TableName;
use crate::engine::change::MarkChange;
use crate::engine::feeds::setting_row::Chosen;
use crate::io::codec;

const DEVICES_KEY: &[u8] = b"devices";
/// Maximum number of stored steps of a device. The oldest are dropped first.
const STEPS_MAX: usize = 200;
/// How long a step can be undone. Removed subscriptions can be restored for the same time.
const STEP_TIME: TimeDelta = TimeDelta::weeks(1);

/// What is stored about a device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceRecord {
    /// Time of the last request of the device, accurate to a few minutes.
    pub seen: Option<DateTime<Utc>>,
    /// The requests of the device that changed something, oldest first.
    pub steps: Vec<DeviceStep>,
    /// Feeds from which the device asked to unsubscribe, until the user confirms or rejects it.
    pub held: Vec<FeedKey>,
}

/// A request of a device that changed something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceStep {
    pub at: DateTime<Utc>,
    pub changes: Vec<DeviceChange>,
}

/// A change, with what is needed to revert it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum DeviceChange {
    Marked(MarkChange),
    Labelled {
        name: String,
        keys: Vec<EntryKey>,
        set: bool,
    },
    Subscribed(FeedKey),
    Unsubscribed(FeedKey),
    /// The title or tags of a feed were changed. Contains the former values.
    Arranged(FeedKey, Box<Chosen>),
}

impl DeviceRecord {
    /// Counts the changes after `since` for which `is_kind` returns `true`.
    pub fn count(&self, since: DateTime<Utc>, is_kind: impl Fn(&DeviceChange) -> bool) -> usize {
        let steps = self.steps.iter().filter(|step| step.at > since);
        steps.flat_map(|step| &step.changes).filter(|change| is_kind(change)).count()
    }
}

impl Store {
    /// Returns the records of all devices, by name. A damaged record counts as empty.
    pub fn device_records(&self) -> Result<BTreeMap<String, DeviceRecord>, StoreError> {
        let bytes = self.facts.get(DEVICES_KEY)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// Stores the feeds from which a device asked to unsubscribe.
    pub fn save_held(&mut self, name: &str, held: Vec<FeedKey>) -> Result<(), StoreError> {
        let mut records = self.device_records()?;
        records.entry(name.to_owned()).or_default().held = held;
        self.put(TableName::Facts, DEVICES_KEY, codec::encode(&records)?)
    }

    /// Changes the record of a device. If `change` returns `None`, the record is removed.
    pub fn change_device<T>(
        &mut self,
        name: &str,
        now: DateTime<Utc>,
        change: impl FnOnce(&mut DeviceRecord) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        let mut records = self.device_records()?;
        let mut record = records.remove(name).unwrap_or_default();
        let done = change(&mut record);
        if done.is_some() {
            record.steps.retain(|step| step.at > now - STEP_TIME);
            let old = record.steps.len().saturating_sub(STEPS_MAX);
            record.steps.drain(..old);
            records.insert(name.to_owned(), record);
        }
        self.put(TableName::Facts, DEVICES_KEY, codec::encode(&records)?)?;
        Ok(done)
    }
}

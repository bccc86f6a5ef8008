//! What is remembered of the reader's devices: when they were seen, and what they changed, so that it can be taken back.

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
/// Most steps of a device; the oldest are dropped first.
const STEPS_MAX: usize = 200;
/// How long a step can be taken back: as long as removed subscriptions are kept.
const STEP_TIME: TimeDelta = TimeDelta::weeks(1);

/// A device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceRecord {
    /// When it asked for something last, to within some minutes.
    pub seen: Option<DateTime<Utc>>,
    /// What it changed, oldest first.
    pub steps: Vec<DeviceStep>,
    /// Feeds that it asks to unsubscribe from, until the user answers.
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
    /// The title or tags of a feed changed from these.
    Arranged(FeedKey, Box<Chosen>),
}

impl DeviceRecord {
    /// Counts the changes of a kind since a time.
    pub fn count(&self, since: DateTime<Utc>, is_kind: impl Fn(&DeviceChange) -> bool) -> usize {
        let steps = self.steps.iter().filter(|step| step.at > since);
        steps.flat_map(|step| &step.changes).filter(|change| is_kind(change)).count()
    }
}

impl Store {
    /// Returns what is remembered of devices, by name. A damaged record counts as none.
    pub fn device_records(&self) -> Result<BTreeMap<String, DeviceRecord>, StoreError> {
        let bytes = self.facts.get(DEVICES_KEY)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// Writes from which feeds a device asks to unsubscribe.
    pub fn save_held(&mut self, name: &str, held: Vec<FeedKey>) -> Result<(), StoreError> {
        let mut records = self.device_records()?;
        records.entry(name.to_owned()).or_default().held = held;
        self.put(TableName::Facts, DEVICES_KEY, codec::encode(&records)?)
    }

    /// Changes what is remembered of a device; `None` forgets it.
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

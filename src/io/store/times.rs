//! The small record of a feed's last polls, which is written instead of its whole state if nothing else changed.

use crate::io::store::pack::{Batch, TableName};
use chrono::{DateTime, Utc};

use super::super::codec;
use super::error::StoreError;
use super::handle::Store;
use super::record_keys::feed_bytes;
use crate::engine::feeds::subscription::FeedState;
use crate::engine::poll::poll_times::PollTimes;
use backissue_core::history::FeedKey;

impl Store {
    /// Returns the batches that write the state of a feed: the small record alone if nothing but times changed, else the
    /// whole state.
    pub(super) fn state_batches(
        &self,
        feed: FeedKey,
        state: &FeedState,
    ) -> Result<Vec<(TableName, Batch)>, StoreError> {
        let key = feed_bytes(feed);
        let mut times = Batch::default();
        let before = self.state.get(key)?.and_then(|bytes| codec::decode::<FeedState>(&bytes).ok());
        if before.is_some_and(|before| PollTimes::are_all_that_differs(&before, state)) {
            times.insert(key, codec::encode(&PollTimes::of(state))?);
            return Ok(vec![(TableName::Times, times)]);
        }
        let mut whole = Batch::default();
        whole.insert(key, codec::encode(state)?);
        times.remove(key);
        Ok(vec![(TableName::State, whole), (TableName::Times, times)])
    }

    /// Writes when a feed was tried last, before each request, so that a restart does not repeat it (SPEC G.20). The
    /// record has about forty bytes, the whole state some hundred.
    pub fn save_try(&mut self, feed: FeedKey, at: DateTime<Utc>) -> Result<(), StoreError> {
        let known = self.times(feed)?;
        let mut times = match known {
            Some(times) => times,
            None => PollTimes::of(&self.whole_state(feed)?),
        };
        times.last_try = Some(at);
        let mut batch = Batch::default();
        batch.insert(feed_bytes(feed), codec::encode(&times)?);
        self.apply(vec![(TableName::Times, batch)])
    }

    /// Returns the state of a feed with the times of its last polls; the default if it cannot be read.
    pub(super) fn state_of(&self, feed: FeedKey) -> Result<FeedState, StoreError> {
        let mut state = self.whole_state(feed)?;
        if let Some(times) = self.times(feed)? {
            times.set_in(&mut state);
        }
        Ok(state)
    }

    fn whole_state(&self, feed: FeedKey) -> Result<FeedState, StoreError> {
        let bytes = self.state.get(feed_bytes(feed))?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    fn times(&self, feed: FeedKey) -> Result<Option<PollTimes>, StoreError> {
        // A damaged one is reported with the damages of the state; the state then is as it was last written in full.
        let bytes = self.times.get(feed_bytes(feed))?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()))
    }
}

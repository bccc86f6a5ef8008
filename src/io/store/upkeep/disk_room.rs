//! Room on the disk: sled does not go on after a write that failed, so it is asked to write only where there is room.

use crate::engine::store_work::Job;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::upkeep::free_room::MeasureRoom;

/// Bytes that must be free whatever is written: what sled writes, and what other programs take meanwhile.
pub(super) const FREE_MIN: u64 = 8 * 1024 * 1024;
/// What is written of a document, for each of its bytes: texts, their records, and the pages that hold them.
const GROWTH: u64 = 3;

/// About how many bytes a job writes.
fn size_of(job: &Job) -> u64 {
    // Marks and records are small.
    let document = if let Job::Commit(commit) = job {
        commit.document.as_deref()
    } else if let Job::KeepHistory(commit) = job {
        commit.document.as_ref().map(|(document, _)| &**document)
    } else {
        None
    };
    let arrived = if let Job::Sync(sync) = job { sync.arrived.as_slice() } else { &[] };
    let entries = document.map_or(&[][..], |document| document.entries.as_slice());
    let bytes = entries.iter().chain(arrived.iter().map(|(_, entry)| entry)).map(|entry| {
        let texts = [&entry.content, &entry.summary].into_iter().flatten();
        texts.map(String::len).fold(500, usize::saturating_add)
    });
    let bytes = bytes.fold(0, usize::saturating_add);
    u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(GROWTH)
}

impl Store {
    /// Measures the room on the disk by other means than the system's, as tests do.
    pub const fn measure_room_by(&mut self, measure: MeasureRoom) {
        self.measure_room = measure;
    }

    /// An error if there is no room for what a job writes.
    pub(in crate::io::store) fn check_room(&mut self, job: &Job) -> Result<(), StoreError> {
        if job.only_reads() {
            return Ok(());
        }
        if self.only_reads() {
            return Err(StoreError::ReadOnly);
        }
        let size = size_of(job);
        self.check_room_for(size.saturating_add(FREE_MIN))
    }

    /// An error if there is no room for texts of this size.
    pub(in crate::io) fn check_room_for_texts(&self, bytes: usize) -> Result<(), StoreError> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(GROWTH);
        self.check_room_for(bytes.saturating_add(FREE_MIN))
    }

    /// An error if fewer bytes are free than are needed. Where that is not known, sled may try.
    pub(in crate::io::store) fn check_room_for(&self, needed: u64) -> Result<(), StoreError> {
        match (self.measure_room)(&self.data) {
            Some(free) if free < needed => Err(StoreError::Full { free, needed }),
            Some(_) | None => Ok(()),
        }
    }
}

//! Room on the disk: sled does not go on after a write that failed, so it is asked to write only where there is room.

use std::thread;
use std::time::Duration;

use crate::engine::store_work::Job;
use crate::io::clock;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::upkeep::free_room::MeasureRoom;
use crate::io::system::words::is_out_of_files_now;

/// Bytes that must be free whatever is written: a segment of sled's log, its snapshot, and what other programs take
/// meanwhile.
pub(super) const FREE_MIN: u64 = 8 * 1024 * 1024;
/// How long a write waits for a file that it may open, and the pause between two looks.
const FILE_WAIT: Duration = Duration::from_secs(5);
const FILE_PAUSE: Duration = Duration::from_millis(20);
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
    let entries = document.map_or(&[][..], |document| document.entries.as_slice());
    let bytes = entries.iter().map(|entry| {
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
        if self.copy.is_some() {
            return Err(StoreError::ReadOnly);
        }
        if self.syncer.is_stuck() {
            return Err(StoreError::Stuck);
        }
        let size = size_of(job);
        // Large texts have files of their own, and sled waits for ever for one that it found no file for.
        if size > 0 && !self.wait_for_file() {
            return Err(StoreError::NoFiles);
        }
        self.check_room_for(size.saturating_add(FREE_MIN))
    }

    /// Whether a file can be opened, now or within a few seconds: requests that end give theirs back.
    fn wait_for_file(&mut self) -> bool {
        if !is_out_of_files_now() {
            return true;
        }
        self.syncer.give_spare();
        let began = clock::instant();
        while is_out_of_files_now() {
            if began.elapsed() > FILE_WAIT {
                return false;
            }
            thread::sleep(FILE_PAUSE);
        }
        true
    }

    /// An error if there is no room for texts of so many bytes.
    pub(in crate::io::store) fn check_room_for_texts(
        &self,
        bytes: usize,
    ) -> Result<(), StoreError> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX).saturating_mul(GROWTH);
        self.check_room_for(bytes.saturating_add(FREE_MIN))
    }

    /// An error if there are not so many bytes free.
    pub(in crate::io::store) fn check_room_for(&self, needed: u64) -> Result<(), StoreError> {
        check_free((self.measure_room)(&self.data), needed)
    }
}

/// An error if fewer bytes are free than are needed. Where that is not known, sled may try.
pub(super) fn check_free(free: Option<u64>, needed: u64) -> Result<(), StoreError> {
    match free {
        Some(free) if free < needed => Err(StoreError::Full { free, needed }),
        Some(_) | None => Ok(()),
    }
}

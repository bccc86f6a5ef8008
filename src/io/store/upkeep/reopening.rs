//! Opens the store again while the program runs: after a write or a sync that failed, when a data folder that could not be written
//! can be written again, and when one that was gone is back.

use std::path::Path;
use std::time::Duration;

use super::disk_room::FREE_MIN;
use super::reading_copy::is_writable;
use crate::io::clock;
use crate::io::regular_files::try_again;
use crate::io::store::error::StoreError;
use crate::io::store::handle::Store;
use crate::io::store::pack::PackPlace;
use crate::io::store::pack::database::PACK;
use crate::io::store::sleepy_threads::SessionLength;
use crate::io::system::words::is_out_of_files_now;

/// How often opening is tried while another process has the files for a moment, or the system refuses what is temporary.
const TRIES: u32 = 300;
/// The pause between two attempts.
const TRY_PAUSE: Duration = Duration::from_millis(100);

impl Store {
    /// Returns whether the store should be opened again before the next write.
    pub(in crate::io::store) fn is_worth_reopening(&self) -> bool {
        let has_room = || self.check_room_for(FREE_MIN).is_ok() && !is_out_of_files_now();
        if self.only_reads() {
            return has_room() && is_writable(&self.data);
        }
        match self.db.place() {
            PackPlace::Here => self.db.is_wrong() && has_room(),
            PackPlace::Returned => has_room(),
            PackPlace::Gone => false,
        }
    }

    /// Closes the files and opens them again. The open list stays; records are read again. Other threads that read wait meanwhile.
    /// Returns a sentence for the user, if something was lost.
    pub(in crate::io::store) fn reopen(mut self) -> Result<(Self, Option<String>), StoreError> {
        let (order, gaps) = (std::mem::take(&mut self.order), std::mem::take(&mut self.gaps));
        let (list_number, measure_room) = (self.list_number, self.measure_room);
        let (search_index, shared) = (self.search_index.clone(), self.shared_tables.clone());
        // The search index may be there.
        let elsewhere = self.elsewhere.take();
        let mut opened = Err(StoreError::NoRoom);
        shared.send_modify(|tables| {
            *tables = None;
            opened = self.open_again();
            *tables = opened.as_ref().ok().map(|(store, _)| store.text_tables());
        });
        let (mut store, told) = opened?;
        (store.order, store.gaps, store.list_number) = (order, gaps, list_number);
        (store.measure_room, store.search_index) = (measure_room, search_index);
        store.shared_tables = shared;
        store.elsewhere = elsewhere.or(store.elsewhere);
        Ok((store, told))
    }

    fn open_again(self) -> Result<(Self, Option<String>), StoreError> {
        let (stay, data) = (self.stay, self.data.clone());
        // A folder that is back has another lock file.
        if self.only_reads() || self.check_place().is_err() {
            drop(self);
            return open_patiently(&data, stay);
        }
        // The folder stays locked: in a gap another process would take the store.
        let lock = self.close();
        match Self::open_locked(&data, lock, stay) {
            Ok(store) => Ok((store, None)),
            // What is damaged is repaired, and what cannot be written is read: then another process may be faster.
            Err(_) => open_patiently(&data, stay),
        }
    }
}

/// Opens a store, and waits for it while another process has it or the system refuses what is temporary.
fn open_patiently(data: &Path, stay: SessionLength) -> Result<(Store, Option<String>), StoreError> {
    let is_temporary = |error: &StoreError| {
        matches!(
            error,
            StoreError::InUse { .. }
                | StoreError::Gone(_)
                | StoreError::NoRoom
                | StoreError::NoFiles
                | StoreError::Folder { .. }
                | StoreError::Refused { .. }
                | StoreError::Failed(_)
        )
    };
    try_again(TRIES, TRY_PAUSE, is_temporary, || {
        if !data.join(PACK).exists() {
            return Err(StoreError::Gone(data.into()));
        }
        Store::open_or_recover(data, clock::precise_now(), stay)
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc::channel;

    use std::fs::File;

    use crate::io::store::upkeep::reopening::*;

    fn lock_file(data: &Path) -> File {
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).open(data.join("lock")).unwrap()
    }

    #[test]
    fn store_stays_locked_while_it_is_reopened() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().to_owned();
        let mut store = Store::open(&data).unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let thief = std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                if lock_file(&data).try_lock().is_ok() {
                    return true;
                }
            }
            false
        });
        for _ in 0..5 {
            store = store.reopen().unwrap().0;
        }
        over.store(true, Ordering::Relaxed);
        assert!(!thief.join().unwrap(), "the store was taken");
        assert_eq!(store.salt(7).unwrap(), 7);
    }

    #[test]
    fn brief_store_owner_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().to_owned();
        drop(Store::open(&data).unwrap());
        let mut held = lock_file(&data);
        held.try_lock().unwrap();
        // Another process, as far as anybody can see.
        held.write_all(b"1\n/nowhere\n").and_then(|()| held.set_len(11)).unwrap();
        let (sender, opened) = channel();
        let opening = std::thread::spawn(move || {
            sender.send(open_patiently(&data, SessionLength::Short).is_ok())
        });
        assert!(opened.recv_timeout(3 * TRY_PAUSE).is_err(), "it waits");
        drop(held);
        assert!(opened.recv().unwrap());
        opening.join().unwrap().unwrap();
    }
}

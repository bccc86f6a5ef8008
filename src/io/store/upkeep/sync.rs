//! Makes writes durable: sled's own flush syncs neither its log nor the files that it writes for pages of more than an
//! eighth of a megabyte.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use sled::Db;

use crate::io::store::error::{StoreError, catch_sled_panic};

/// Syncs the files of a store.
#[derive(Debug)]
pub(in crate::io::store) struct Syncer {
    db: Db,
    log: File,
    /// The folder of sled's large pages, and the newest of them that has been synced.
    blobs: PathBuf,
    blobs_synced: i64,
}

impl Syncer {
    pub(in crate::io::store) const fn new(db: Db, log: File, blobs: PathBuf) -> Self {
        Self { db, log, blobs, blobs_synced: -1 }
    }

    /// Makes everything written so far durable, also against a power cut.
    pub(in crate::io::store) fn sync(&mut self) -> Result<(), StoreError> {
        // What is written while this goes on may be half there: it is synced the next time as well.
        let before = self.newest_blob().unwrap_or(self.blobs_synced);
        self.db.flush()?;
        let failed = |error: io::Error| StoreError::Failed(error.to_string());
        self.sync_blobs(before).map_err(failed)?;
        self.log.sync_data().map_err(failed)
    }

    /// Returns the highest number of sled's large pages.
    fn newest_blob(&self) -> Option<i64> {
        fs::read_dir(&self.blobs).ok()?.flatten().filter_map(|file| number_of(&file)).max()
    }

    /// Syncs sled's large pages. Those up to the number `before` existed before the flush.
    fn sync_blobs(&mut self, before: i64) -> io::Result<()> {
        let mut newest = self.blobs_synced;
        for file in fs::read_dir(&self.blobs)? {
            let file = file?;
            let Some(number) = number_of(&file).filter(|&number| number > self.blobs_synced) else {
                continue;
            };
            match File::open(file.path()) {
                Ok(blob) => blob.sync_all()?,
                // sled has replaced it meanwhile: then a later one holds what it held.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            }
            newest = newest.max(number);
        }
        if newest > self.blobs_synced {
            File::open(&self.blobs)?.sync_all()?;
            self.blobs_synced = newest.min(before);
        }
        Ok(())
    }

    /// Returns a handle on the same files for another thread.
    fn second(&self) -> io::Result<Self> {
        let (db, log) = (self.db.clone(), self.log.try_clone()?);
        Ok(Self { db, log, blobs: self.blobs.clone(), blobs_synced: self.blobs_synced })
    }

    /// Starts a thread that syncs at each message and then calls `done`. It ends when the sender is dropped, and holds
    /// the files until then.
    pub(in crate::io::store) fn start(
        &self,
        done: impl Fn(Result<(), StoreError>) + Send + 'static,
    ) -> io::Result<(Sender<()>, JoinHandle<()>)> {
        let mut syncer = self.second()?;
        let (orders, ordered) = channel();
        let work = move || {
            while ordered.recv().is_ok() {
                // Whoever waits for the answer must not wait for ever.
                done(catch_sled_panic(|| syncer.sync()));
            }
        };
        Ok((orders, std::thread::Builder::new().name("syncer".into()).spawn(work)?))
    }
}

/// Returns the number of one of sled's large pages; their names are ascending numbers.
fn number_of(file: &fs::DirEntry) -> Option<i64> {
    file.file_name().to_str()?.parse().ok()
}

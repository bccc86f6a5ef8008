//! Makes writes durable: sled's own flush syncs neither its log nor the files that it writes for pages of more than an
//! eighth of a megabyte.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use sled::{Config, Db};

use super::flush_watch::FlushWatch;
use crate::io::store::error::{StoreError, catch_sled_panic};
use crate::io::system::words::is_out_of_files;

/// What is written to sled's own tree, in which nothing is kept, to find the disk full: less than goes into a file of its own,
/// and together more than what sled gathers before it writes.
const SCRATCH_BYTES: usize = 100_000;
const SCRATCH_WRITES: u8 = 250;
/// The pause between two of these writes.
const SCRATCH_PAUSE: Duration = Duration::from_millis(5);

/// How often a sync is tried that the system has no file for, and the pause before it is again: what was written is there, and
/// nothing would be gained by giving it up.
const FILE_TRIES: u32 = 600;
const FILE_PAUSE: Duration = Duration::from_millis(100);

/// As many are open at once while large pages are synced.
const SPARE_FILES: usize = 2;

/// Syncs the files of a store.
#[derive(Debug)]
pub(in crate::io::store) struct Syncer {
    db: Db,
    /// sled's settings; they say what went wrong in its threads.
    config: Config,
    /// Started by the first flush.
    watch: Option<FlushWatch>,
    log: File,
    /// Files that are open for when the system opens no others: a large page has a file of its own.
    spare: Vec<File>,
    /// sled waits for a write that will never be done.
    is_stuck: Arc<AtomicBool>,
    /// The folder of sled's large pages, and the newest of them that has been synced.
    blobs: PathBuf,
    blobs_synced: i64,
}

impl Syncer {
    pub(in crate::io::store) fn new(db: Db, config: Config, log: File, blobs: PathBuf) -> Self {
        let spare = Vec::new();
        let (is_stuck, blobs_synced) = (Arc::default(), -1);
        Self { db, config, watch: None, log, spare, is_stuck, blobs, blobs_synced }
    }

    /// Makes everything written so far durable, also against a power cut.
    pub(in crate::io::store) fn sync(&mut self) -> Result<(), StoreError> {
        // What is written while this goes on may be half there: it is synced the next time as well.
        let before = self.newest_blob().unwrap_or(self.blobs_synced);
        self.flush()?;
        let mut tries = 0;
        while let Err(error) = self.sync_blobs(before) {
            if !is_out_of_files(&error) || tries == FILE_TRIES {
                return Err(error.into());
            }
            tries += 1;
            if !self.give_spare() {
                std::thread::sleep(FILE_PAUSE);
            }
        }
        self.keep_spare();
        Ok(self.log.sync_data()?)
    }

    /// Keeps a few files open for when there are none.
    fn keep_spare(&mut self) {
        while self.spare.len() < SPARE_FILES
            && let Ok(file) = File::open("/dev/null")
        {
            self.spare.push(file);
        }
    }

    /// Gives up the spare files, so that others can be opened; says whether there were any.
    pub(in crate::io::store) fn give_spare(&mut self) -> bool {
        !std::mem::take(&mut self.spare).is_empty()
    }

    /// Flushes what is in memory.
    fn flush(&mut self) -> Result<(), StoreError> {
        if self.is_stuck() {
            return Err(StoreError::Stuck);
        }
        let watch = || FlushWatch::start(self.db.clone(), self.config.clone());
        self.watch.get_or_insert_with(watch).flush(&self.db)?;
        Ok(())
    }

    /// Has sled notice that the disk is full, after a write that it gave up half-way: until it does, it waits for ever for
    /// the rest of that write, also when it is closed.
    pub(in crate::io::store) fn give_up(&self) {
        for number in 0..SCRATCH_WRITES {
            if self.config.global_error().is_err() {
                return;
            }
            // What is there already would not be written. sled writes in threads of its own.
            self.db.insert(b"full", vec![number; SCRATCH_BYTES]).ok();
            std::thread::sleep(SCRATCH_PAUSE);
        }
        // There is room again meanwhile. Never closed, it is not waited for at the end.
        if !self.is_stuck.swap(true, Ordering::Relaxed) {
            std::mem::forget(self.db.clone());
        }
    }

    /// Whether nothing can be written until the program is started again.
    pub(in crate::io::store) fn is_stuck(&self) -> bool {
        self.is_stuck.load(Ordering::Relaxed)
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
        Ok(Self {
            db: self.db.clone(),
            config: self.config.clone(),
            watch: None,
            log: self.log.try_clone()?,
            spare: Vec::new(),
            is_stuck: Arc::clone(&self.is_stuck),
            blobs: self.blobs.clone(),
            blobs_synced: self.blobs_synced,
        })
    }

    /// Starts a thread that syncs at each order and then calls `done`. It holds the files until it ends.
    pub(in crate::io::store) fn start(
        &self,
        done: impl Fn(Result<(), StoreError>) + Send + 'static,
    ) -> io::Result<SyncThread> {
        let mut syncer = self.second()?;
        let (orders, ordered) = channel();
        let work = move || {
            while ordered.recv().is_ok() {
                // Whoever waits for the answer must not wait for ever.
                done(catch_sled_panic(|| syncer.sync()));
            }
        };
        let thread = std::thread::Builder::new().name("syncer".into()).spawn(work)?;
        Ok(SyncThread { orders, thread })
    }
}

/// A thread that syncs the files of a store when it is told to.
#[derive(Debug)]
pub(in crate::io::store) struct SyncThread {
    orders: Sender<()>,
    thread: JoinHandle<()>,
}

impl SyncThread {
    /// Orders a sync; says whether there is anybody to do it.
    pub(in crate::io::store) fn order(&self) -> bool {
        self.orders.send(()).is_ok()
    }

    /// Ends the thread, which lets go of the files.
    pub(in crate::io::store) fn end(self) {
        drop(self.orders);
        self.thread.join().ok();
    }
}

/// Returns the number of one of sled's large pages; their names are ascending numbers.
fn number_of(file: &fs::DirEntry) -> Option<i64> {
    file.file_name().to_str()?.parse().ok()
}

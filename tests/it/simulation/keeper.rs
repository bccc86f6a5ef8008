//! The store without its thread: reads are answered at once; pending writes share one sync and are reported after it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use backissue::engine::poll::fetch::FetchRequest;
use backissue::io::store::{SessionLength, Store};
use chrono::{DateTime, TimeDelta, Utc};

use super::crash::{Crash, Dump};
use crate::support::store_port::{self, Kind, StoreWork, Stored};

/// The store, its pending writes, and the written data that is being synced.
pub struct Keeper {
    store: Option<Store>,
    /// The current data folder, inside the temporary folder `below`, which is deleted with the simulation.
    folder: PathBuf,
    below: tempfile::TempDir,
    opened: u32,
    queue: VecDeque<Write>,
    unsynced: Vec<Done>,
    /// Time on the publishers' clock at which the running sync ends.
    pub synced_at: Option<DateTime<Utc>>,
    /// Number of writes performed.
    pub writes: u64,
    pub crash: Option<Crash>,
    /// Whether the planned crash is due, so that nothing more is written.
    pub dies: bool,
}

/// Pending work.
enum Write {
    Work(Box<StoreWork>),
    /// A request that is sent once earlier work is durable.
    Fetch(FetchRequest),
}

/// Work that was written and is reported after its sync.
pub enum Done {
    /// The store's report; `None` if there is nothing to report.
    Answer(Option<Box<Stored>>),
    Fetch(FetchRequest),
}

impl Keeper {
    /// Creates a store in a temporary folder, in memory (`/dev/shm`) if possible. The folder is deleted on drop.
    pub fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let below =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let below = below.unwrap();
        let folder = below.path().join("0");
        let mut keeper = Self {
            store: None,
            folder,
            below,
            opened: 0,
            queue: VecDeque::new(),
            unsynced: Vec::new(),
            synced_at: None,
            writes: 0,
            crash: None,
            dies: false,
        };
        keeper.open();
        keeper
    }

    pub fn store(&mut self) -> &mut Store {
        self.store.as_mut().unwrap()
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Opens the store in the current folder.
    pub fn open(&mut self) {
        self.store = None;
        self.store = Some(Store::open_to(&self.folder, SessionLength::Short).unwrap());
    }

    /// Opens the store as the program does when it starts after a crash. Returns whether the store had to be rebuilt: sled's
    /// threads write parts of its log in any order and may leave a hole in unacknowledged data.
    pub fn open_after_crash(&mut self, now: DateTime<Utc>) -> bool {
        self.store = None;
        let (store, told) =
            Store::open_or_recover(&self.folder, now, SessionLength::Short).unwrap();
        self.store = Some(store);
        told.is_some()
    }

    /// Switches to another data folder, as after a crash, and deletes the current one.
    pub fn go_on_with(&mut self, folder: PathBuf) {
        (self.queue, self.unsynced) = (VecDeque::new(), Vec::new());
        (self.synced_at, self.crash, self.dies) = (None, None, false);
        self.store = None;
        std::fs::remove_dir_all(&self.folder).ok();
        self.folder = folder;
    }

    /// Returns the path of a data folder that does not exist yet.
    pub fn new_folder(&mut self) -> PathBuf {
        self.opened += 1;
        self.below.path().join(self.opened.to_string())
    }

    /// Checks whether everything received was written, synced and reported.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.unsynced.is_empty()
    }

    /// Accepts store work. A read is performed at once and its result returned; a write is queued.
    pub fn hand(&mut self, mut work: StoreWork) -> Option<Stored> {
        let store = self.store.as_mut().unwrap();
        store.fix_list(&mut work);
        if Kind::BacksUp.is(&work) {
            return None;
        }
        if !store_port::reads(&work) {
            self.queue.push_back(Write::Work(Box::new(work)));
            return None;
        }
        if store_port::needs_group(store, &work) {
            self.write_group();
        }
        self.store().perform(work)
    }

    /// Queues a request that is sent once all earlier work is durable.
    pub fn hand_fetch(&mut self, request: FetchRequest) {
        self.queue.push_back(Write::Fetch(request));
    }

    /// Returns the requests that wait for a sync and have not been sent.
    pub fn waiting_fetches(&self) -> impl Iterator<Item = &FetchRequest> {
        let queued = self.queue.iter().filter_map(|write| match write {
            Write::Fetch(request) => Some(request),
            Write::Work(_) => None,
        });
        let unsynced = self.unsynced.iter().filter_map(|done| match done {
            Done::Fetch(request) => Some(request),
            Done::Answer(_) => None,
        });
        queued.chain(unsynced)
    }

    /// Performs the pending writes and starts a sync for them, unless a sync is already running.
    pub fn write(&mut self, real: DateTime<Utc>) {
        if self.synced_at.is_some() || self.dies {
            return;
        }
        while let Some(next) = self.queue.pop_front() {
            match next {
                Write::Work(work) => self.write_one(*work),
                Write::Fetch(request) => self.unsynced.push(Done::Fetch(request)),
            }
            if self.dies {
                return;
            }
        }
        if self.unsynced.is_empty() {
            return;
        }
        self.write_group();
        let takes = 1 + i64::try_from(self.writes % 23).unwrap();
        self.synced_at = Some(real + TimeDelta::milliseconds(takes));
    }

    fn write_one(&mut self, work: StoreWork) {
        self.writes += 1;
        let is_loose = store_port::may_be_parted(&work);
        let is_direct = store_port::is_written_at_once(&work);
        if store_port::needs_group(self.store(), &work) {
            self.write_group();
        }
        if let Some(crash) = &mut self.crash
            && crash.is_now(is_loose)
        {
            self.dies = true;
            return;
        }
        let answer = self.store().perform_in_group(work);
        self.look_at_marks(answer.as_ref());
        self.unsynced.push(Done::Answer(answer.map(Box::new)));
        if is_direct {
            self.note_state();
        }
    }

    /// Checks that every entry that the store reports as changed has the new value of the mark.
    fn look_at_marks(&mut self, answer: Option<&Stored>) {
        let Some((changed, flag, value)) = answer.and_then(store_port::marked) else { return };
        let kept = self.store().entries(changed).unwrap();
        assert!(kept.iter().all(|entry| entry.flags.get(flag) == value), "{changed:?}: {kept:?}");
    }

    fn write_group(&mut self) {
        let written = self.store().write_group();
        assert!(written.is_ok(), "a group cannot be written: {written:?}");
        self.note_state();
    }

    /// Records the store's current state as one that the planned crash may leave.
    fn note_state(&mut self) {
        if self.crash.is_some() {
            let state = Dump::of(self.store());
            self.crash.as_mut().unwrap().states.push(state);
        }
    }

    /// Ends the running sync and returns the reports that waited for it.
    pub fn sync(&mut self) -> Vec<Done> {
        self.synced_at = None;
        self.store().sync().unwrap();
        if let Some(mut crash) = self.crash.take() {
            self.keep_synced(&mut crash);
            self.crash = Some(crash);
        }
        std::mem::take(&mut self.unsynced)
    }

    /// Plans a crash and records the possible states from now on.
    pub fn expect(&mut self, mut crash: Crash) {
        self.write_group();
        self.store().sync().unwrap();
        self.keep_synced(&mut crash);
        self.crash = Some(crash);
    }

    /// Records that the data durable now must survive the crash.
    fn keep_synced(&mut self, crash: &mut Crash) {
        crash.states = vec![Dump::of(self.store())];
        if crash.is_power_cut() {
            let copy = self.new_folder();
            super::crash::copy_folder(&self.folder, &copy);
            crash.keep(copy);
        }
    }

    /// Performs all pending work, as at an orderly end, and closes the store.
    pub fn close(&mut self, real: DateTime<Utc>) {
        self.crash = None;
        self.write(real);
        while self.synced_at.is_some() {
            self.sync();
            self.write(real);
        }
        self.store = None;
    }
}

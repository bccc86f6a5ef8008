//! The store as its thread keeps it, without the thread: reads are answered at once, writes that wait together share one
//! sync, and are reported after it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use backissue::engine::poll::fetch::FetchRequest;
use backissue::engine::store_work::{Answer, Job, StoreWork, Stored};
use backissue::io::store::{Stay, Store};
use chrono::{DateTime, TimeDelta, Utc};

use super::crash::{Crash, Dump};

/// The store, what waits to be written, and what is being synced.
pub struct Keeper {
    store: Option<Store>,
    /// The data folder of the moment, below one that goes with the simulation.
    folder: PathBuf,
    below: tempfile::TempDir,
    opened: u32,
    queue: VecDeque<Write>,
    unsynced: Vec<Done>,
    /// When the sync under way ends, true time.
    pub synced_at: Option<DateTime<Utc>>,
    /// How many writes were done.
    pub writes: u64,
    pub crash: Option<Crash>,
    /// The program dies now.
    pub dies: bool,
}

/// What waits for its turn.
enum Write {
    Work(Box<StoreWork>),
    /// A request that goes out when what was handed in before is durable.
    Fetch(FetchRequest),
}

/// What was written and is being synced.
pub enum Done {
    /// `None`: there is nothing to answer.
    Answer(Option<Box<Stored>>),
    Fetch(FetchRequest),
}

impl Keeper {
    /// A store in a folder that is gone when this is dropped; in memory where the machine has a file system for that.
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

    /// Opens the store of the folder.
    pub fn open(&mut self) {
        self.store = None;
        self.store = Some(Store::open_to(&self.folder, Stay::Short).unwrap());
    }

    /// Opens what a crash left, as the program does when it starts. Says whether records had to be copied out: sled's threads
    /// write parts of its log in any order, and may leave a hole in what nobody was told is written.
    pub fn open_after_crash(&mut self, now: DateTime<Utc>) -> bool {
        self.store = None;
        let (store, told) = Store::open_or_recover(&self.folder, now, Stay::Short).unwrap();
        self.store = Some(store);
        told.is_some()
    }

    /// Goes on with another folder, as it is after a crash; the old one goes.
    pub fn go_on_with(&mut self, folder: PathBuf) {
        (self.queue, self.unsynced) = (VecDeque::new(), Vec::new());
        (self.synced_at, self.crash, self.dies) = (None, None, false);
        self.store = None;
        std::fs::remove_dir_all(&self.folder).ok();
        self.folder = folder;
    }

    /// A folder that is not there yet.
    pub fn new_folder(&mut self) -> PathBuf {
        self.opened += 1;
        self.below.path().join(self.opened.to_string())
    }

    /// Whether everything that was handed in is durable and reported.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.unsynced.is_empty()
    }

    /// Takes work; a read is answered at once.
    pub fn hand(&mut self, mut work: StoreWork) -> Option<Stored> {
        let store = self.store.as_mut().unwrap();
        store.fix_list(&mut work);
        if matches!(work.job, Job::BackUp(_)) {
            return None;
        }
        if !work.job.is_read() {
            self.queue.push_back(Write::Work(Box::new(work)));
            return None;
        }
        if store.needs_group(&work.job) {
            self.write_group();
        }
        self.store().perform(work)
    }

    /// A request that waits for what was handed in before.
    pub fn hand_fetch(&mut self, request: FetchRequest) {
        self.queue.push_back(Write::Fetch(request));
    }

    /// The requests that have not gone out yet.
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

    /// Does the writes that wait, if no sync is under way, and orders a sync for them.
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
        let is_loose =
            matches!(work.job, Job::Absorb { .. } | Job::ForgetFeeds(_) | Job::Filter(_));
        let is_direct = !matches!(work.job, Job::Commit(_) | Job::SaveTry(..) | Job::SaveState(..));
        if self.store().needs_group(&work.job) {
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

    /// What the store says of marks is so.
    fn look_at_marks(&mut self, answer: Option<&Stored>) {
        let Some(Ok(Answer::Marked { flag, value, marked, .. })) = answer.map(|it| &it.result)
        else {
            return;
        };
        let kept = self.store().entries(&marked.changed).unwrap();
        assert!(
            kept.iter().all(|(_, _, flags)| flags.get(*flag) == *value),
            "{marked:?}: {kept:?}"
        );
    }

    fn write_group(&mut self) {
        let written = self.store().write_group();
        assert!(written.is_ok(), "a group cannot be written: {written:?}");
        self.note_state();
    }

    /// Before a crash each state that the files may be found in is noted.
    fn note_state(&mut self) {
        if self.crash.is_some() {
            let state = Dump::of(self.store());
            self.crash.as_mut().unwrap().states.push(state);
        }
    }

    /// The sync that was under way is over: what it reports.
    pub fn sync(&mut self) -> Vec<Done> {
        self.synced_at = None;
        self.store().sync().unwrap();
        if let Some(mut crash) = self.crash.take() {
            self.keep_synced(&mut crash);
            self.crash = Some(crash);
        }
        std::mem::take(&mut self.unsynced)
    }

    /// A crash is to come: from now on it is noted what it may leave.
    pub fn expect(&mut self, mut crash: Crash) {
        self.write_group();
        self.store().sync().unwrap();
        self.keep_synced(&mut crash);
        self.crash = Some(crash);
    }

    /// What is durable now must be found after the crash.
    fn keep_synced(&mut self, crash: &mut Crash) {
        crash.states = vec![Dump::of(self.store())];
        if crash.is_power_cut() {
            let copy = self.new_folder();
            super::crash::copy_folder(&self.folder, &copy);
            crash.keep(copy);
        }
    }

    /// Does everything that was handed in, as at an orderly end, and closes the store.
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

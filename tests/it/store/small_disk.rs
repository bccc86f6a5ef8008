//! A really full disk: a small file system in memory, which only the superuser can mount; without that right the tests are
//! skipped.
//!
//! `BACKISSUE_FULL_DISKS=300 cargo test --test it store::small_disk -- --nocapture` fills the small disk 300 times.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use backissue::engine::change::value::LaterStep;
use backissue::engine::request::Input;
use backissue::io::answers::Answers;
use backissue::io::store::{MeasureRoom, Store, StoreThread};
use backissue_core::history::{EntryKey, FeedKey, Flag};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{entry, polled};
use crate::support::store_port::{Done, StoreFailure, Task, report_on};

/// Number of times the disk is filled if `BACKISSUE_FULL_DISKS` is not set.
const FEW: usize = 4;
/// Number of entries per document; their texts together exceed the free space.
const ENTRIES: u32 = 3;

/// Whether the store is prevented from measuring the free space, so that it writes although the disk is full.
static IS_BLIND: AtomicBool = AtomicBool::new(false);

/// A file system of 64 MB in memory: its mount point, and the temporary folder around it.
pub(crate) struct SmallDisk(PathBuf, tempfile::TempDir);

impl SmallDisk {
    /// Mounts a small disk; prints a message and returns `None` if the system does not permit it.
    pub(crate) fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64m", "tmpfs"])
            .arg(&path)
            .stderr(std::process::Stdio::null())
            .status();
        let mounted = mounted.is_ok_and(|status| status.success());
        if !mounted {
            super::damages::say(format_args!("left out: only the superuser makes a small disk"));
        }
        mounted.then(|| Self(path, folder))
    }

    /// Returns the data folder on the disk.
    pub(crate) fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    /// Remounts the disk as writable or read-only. sled releases its files a moment after it is closed, so a failed attempt is
    /// repeated.
    pub(crate) fn allow_writes(&self, allows: bool) {
        let options = if allows { "remount,rw" } else { "remount,ro" };
        let is_done = (0..200).any(|_| {
            let done = Command::new("mount").args(["-o", options]).arg(&self.0).output();
            let is_done = done.unwrap().status.success();
            if !is_done {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            is_done
        });
        assert!(is_done, "the disk stays busy");
    }

    fn free(&self) -> u64 {
        let found = rustix::fs::statvfs(&self.0).unwrap();
        found.f_bavail * found.f_frsize
    }

    /// Fills the disk until only `left` bytes are free.
    pub(crate) fn fill(&self, left: u64) {
        let taken = usize::try_from(self.free().saturating_sub(left)).unwrap();
        // The write may fail because sled itself used up the remaining space, which fills the disk just as well.
        fs::write(self.0.join("filler"), vec![1; taken]).ok();
    }

    pub(crate) fn empty(&self) {
        fs::remove_file(self.0.join("filler")).ok();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("-l").arg(&self.0).status().ok();
        let _ = &self.1;
    }
}

/// A running store thread, with the channel on which it reports results.
pub(super) struct Working {
    pub(super) thread: StoreThread,
    answers: UnboundedReceiver<Input>,
    tasks: u64,
    told: Vec<String>,
}

impl Working {
    fn start(data: &Path) -> Self {
        // While `IS_BLIND` is set, the measured space is wrong, as if another program filled the disk between the check and the
        // write.
        Self::start_measured(data, |folder| {
            let found = rustix::fs::statvfs(folder).unwrap();
            (!IS_BLIND.load(Ordering::Relaxed)).then(|| found.f_bavail * found.f_frsize)
        })
    }

    pub(super) fn start_measured(data: &Path, measure: MeasureRoom) -> Self {
        let mut store = Store::open(data).unwrap();
        store.measure_room_by(measure);
        let (sender, answers) = unbounded_channel();
        Self {
            thread: StoreThread::start(store, Answers::new(sender)).unwrap(),
            answers,
            tasks: 0,
            told: Vec::new(),
        }
    }

    /// Hands in a task, with an undo step if there is one, without waiting for its report. Returns its number.
    pub(super) fn begin(&mut self, task: Task, step: Option<LaterStep>) -> u64 {
        self.tasks += 1;
        task.hand(&self.thread, self.tasks, step);
        self.tasks
    }

    pub(super) fn perform(&mut self, task: Task) -> Result<Done, StoreFailure> {
        self.perform_beside(task, None)
    }

    pub(super) fn perform_beside(
        &mut self,
        task: Task,
        step: Option<LaterStep>,
    ) -> Result<Done, StoreFailure> {
        let number = self.begin(task, step);
        while let Some(input) = self.answers.blocking_recv() {
            if let Input::Trouble(told) = &input {
                self.told.push(told.clone());
            }
            if let Some(report) = report_on(input, number) {
                return report;
            }
        }
        panic!("the thread of the store ended");
    }
}

pub(super) fn text(number: u32) -> String {
    let mut seed = u64::from(number) + 1;
    let digits = (0..20_000).map(|_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + u8::try_from((seed >> 33) % 26).unwrap())
    });
    digits.collect()
}

pub(super) fn poll(round: u32) -> Task {
    let entries = (0..ENTRIES).map(|id| entry(round * ENTRIES + id, &text(round * ENTRIES + id)));
    let feed = FeedKey(1 + round % 3);
    Task::poll(polled(feed, i64::from(round), entries.collect()))
}

pub(super) fn mark(feed: FeedKey, seq: u32) -> Task {
    Task::mark(vec![EntryKey { feed, seq }], Flag::Read, true)
}

#[test]
fn disk_filling_during_a_write_loses_nothing_acknowledged() {
    let rounds = std::env::var("BACKISSUE_FULL_DISKS").ok().and_then(|text| text.parse().ok());
    let Some(disk) = SmallDisk::mount() else { return };
    let (mut refused, mut written) = (0, 0);
    let data = disk.0.join("data");
    let mut working = Working::start(&data);
    let mut kept: BTreeMap<EntryKey, bool> = BTreeMap::new();
    for round in 0..u32::try_from(rounds.unwrap_or(FEW)).unwrap() {
        // Each round leaves a different amount of free space, so that a different write fails.
        disk.fill(u64::from(round % 16) * 4096);
        for (work, is_blind) in [(poll(round), true), (poll(round + 10_000), false)] {
            IS_BLIND.store(is_blind, Ordering::Relaxed);
            match working.perform(work) {
                Ok(done) => {
                    let (feed, counters) = done.poll();
                    written += 1;
                    let seqs = counters.next_seq.saturating_sub(ENTRIES)..counters.next_seq;
                    kept.extend(seqs.map(|seq| (EntryKey { feed, seq }, false)));
                }
                Err(why) => {
                    refused += 1;
                    assert!(why.no_room, "{why:?}");
                }
            }
        }
        disk.empty();
        // There is room again, so the next write succeeds without any action by the user.
        let (feed, counters) = working.perform(poll(round + 20_000)).unwrap().poll();
        let last = EntryKey { feed, seq: counters.next_seq - 1 };
        working.perform(mark(last.feed, last.seq)).unwrap();
        kept.insert(last, true);
        if disk.free() < 28_000_000 {
            working = check_and_begin_anew(working, &data, &mut kept);
        }
    }
    check_and_begin_anew(working, &data, &mut kept);
    if rounds.is_some() {
        super::damages::say(format_args!(
            "{refused} writes refused, {written} written all the same, none lost"
        ));
        assert!(refused > 0);
    }
}

/// Checks that everything acknowledged is in the store, then continues with an empty folder.
fn check_and_begin_anew(
    working: Working,
    data: &Path,
    kept: &mut BTreeMap<EntryKey, bool>,
) -> Working {
    let told = working.told;
    drop(working.thread.stop().unwrap());
    let mut store = Store::open(data).unwrap();
    for (key, is_read) in std::mem::take(kept) {
        let there = store.entry(key).unwrap();
        let (_, flags) = there.unwrap_or_else(|| panic!("{key} was answered: {told:#?}"));
        assert!(flags.is_read() || !is_read, "{key}");
    }
    let health = store.check(false).unwrap();
    assert_eq!(health.findings, []);
    drop(store);
    fs::remove_dir_all(data).unwrap();
    Working::start(data)
}

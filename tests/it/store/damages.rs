//! Random damage in every file of a store: nothing panics, what stands outside the damage is there, and afterwards the
//! store is sound.
//!
//! `BACKISSUE_DAMAGES=500 cargo test --test it store::damages -- --nocapture` does so many and prints a table.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use backissue::history::{EntryKey, FeedKey, Flag};
use backissue::io::store::{Stay, Store};
use chrono::NaiveDate;

use super::{at, entry, polled};

/// Damages without the variable.
const FEW: usize = 18;
const FEEDS: u32 = 8;
const DAY: NaiveDate = NaiveDate::from_ymd_opt(2026, 2, 2).unwrap();

/// Numbers that look random and are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }
}

fn text(seed: u32) -> String {
    let mut chance = Chance(u64::from(seed));
    let words = if seed % 97 == 0 { 150_000 } else { 60 + chance.below(200) };
    (0..words).map(|_| format!("{:05} ", chance.below(100_000))).collect()
}

/// A store after some sessions, the last of which was never backed up.
fn build(folder: &Path) {
    for session in 0..5_u32 {
        let mut store = Store::open(folder).unwrap();
        for feed in 1..=FEEDS {
            let first = session * 12 + 1;
            let entries =
                (first..first + 12).map(|id| entry(id, &text(feed * 1000 + id))).collect();
            let second = i64::from(session) * 1000 + i64::from(feed);
            store.commit(&polled(FeedKey(feed), second, entries)).unwrap();
            let keys: Vec<EntryKey> =
                (first - 1..first + 7).map(|seq| EntryKey { feed: FeedKey(feed), seq }).collect();
            store.mark(&keys, Flag::Read, true).unwrap();
            store.mark(&keys[..1], Flag::Starred, true).unwrap();
        }
        store.sync().unwrap();
        if session == 2 {
            store.back_up_daily(DAY).unwrap();
        }
    }
}

/// What the reader has: subscriptions, entries, marks and texts, each by name.
fn picture(store: &mut Store) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for saved in store.subscriptions().unwrap() {
        found.insert(format!("feed {}", saved.key), format!("{:?}", saved.record));
        for seq in 0..saved.counters.next_seq {
            let key = EntryKey { feed: saved.key, seq };
            let Ok(Some((kept, flags))) = store.entry(key) else { continue };
            found.insert(format!("entry {key}"), format!("{kept:?}"));
            let marks = (flags.is_read(), flags.is_starred());
            found.insert(format!("marks {key}"), format!("{marks:?}"));
            let body = store.body(key).ok().flatten().and_then(|body| body.content);
            found.insert(format!("text {key}"), body.unwrap_or_default());
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(file.file_name());
        if file.file_type().unwrap().is_dir() {
            copy(&file.path(), &target);
        } else {
            fs::copy(file.path(), target).unwrap();
        }
    }
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for file in fs::read_dir(folder).unwrap().flatten() {
        if file.file_type().unwrap().is_dir() {
            files.extend(files_of(&file.path()));
        } else {
            files.push(file.path());
        }
    }
    files.sort();
    files
}

/// Damages one of the files; says how and which.
fn damage(store: &Path, chance: &mut Chance) -> (String, &'static str) {
    // Most of what is kept is in the log.
    let files = files_of(store);
    let in_log = chance.below(2) == 0;
    let path = if in_log { store.join("db") } else { files[chance.below(files.len())].clone() };
    let mut bytes = fs::read(&path).unwrap();
    let place = chance.below(bytes.len());
    let how = match chance.below(3) {
        0 => {
            if let Some(byte) = bytes.get_mut(place) {
                *byte ^= 1 << chance.below(8);
            }
            "a bit"
        }
        1 => {
            let end = (place + 4096).min(bytes.len());
            bytes[place..end].fill(0);
            "4 kB of zeros"
        }
        _ => {
            bytes.truncate(place);
            "cut off"
        }
    };
    fs::write(&path, bytes).unwrap();
    let name = path.strip_prefix(store).unwrap().to_string_lossy().into_owned();
    let kind = if name.starts_with("snap") {
        "snap".to_owned()
    } else {
        name.split('/').next().unwrap().to_owned()
    };
    (kind, how)
}

/// What one damage did.
struct Outcome {
    lost: usize,
    lost_but_texts: usize,
}

fn survive(data: &Path, before: &BTreeMap<String, String>, what: &str) -> Outcome {
    let opened = catch_unwind(AssertUnwindSafe(|| {
        let (mut store, _) = Store::open_or_recover(data, at(100), Stay::Short).unwrap();
        let first = store.check(true);
        let mut store = match first {
            Ok(_) => store,
            Err(why) => {
                // As `doctor --repair` does.
                drop(store);
                Store::mend(data, at(200), &why.to_string()).unwrap();
                Store::open(data).unwrap()
            }
        };
        store.check(true).unwrap();
        drop(store);
        let mut store = Store::open(data).unwrap();
        let health = store.check(false).unwrap();
        assert!(health.findings.is_empty(), "{what}: {:?}", health.findings);
        store.back_up(std::io::sink(), None).unwrap();
        picture(&mut store)
    }));
    let after = opened.unwrap_or_else(|_| panic!("{what}: it panicked"));
    let lost = before.iter().filter(|(name, value)| after.get(*name) != Some(*value));
    let lost: Vec<&String> = lost.map(|(name, _)| name).collect();
    let lost_but_texts = lost.iter().filter(|name| !name.starts_with("text")).count();
    Outcome { lost: lost.len(), lost_but_texts }
}

fn middle(mut numbers: Vec<usize>) -> usize {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

#[test]
fn whatever_is_damaged_the_rest_is_there_and_the_store_is_sound_again() {
    let asked = std::env::var("BACKISSUE_DAMAGES").ok().and_then(|text| text.parse().ok());
    let sound = tempfile::tempdir().unwrap();
    build(sound.path());
    let before = picture(&mut Store::open(sound.path()).unwrap());
    let mut chance = Chance(7);
    let mut table: BTreeMap<(String, &'static str), Vec<Outcome>> = BTreeMap::new();
    for number in 0..asked.unwrap_or(FEW) {
        let data = tempfile::tempdir().unwrap();
        copy(sound.path(), data.path());
        let (file, how) = damage(&data.path().join("store"), &mut chance);
        let outcome = survive(data.path(), &before, &format!("damage {number}: {how} in {file}"));
        if how == "a bit" {
            assert!(outcome.lost <= 60, "damage {number} in {file}: {} are lost", outcome.lost);
        }
        table.entry((file, how)).or_default().push(outcome);
    }
    println!("{} things before: subscriptions, entries, marks, texts", before.len());
    println!("file   damage         times  lost: median  worst  without texts: worst");
    let mut all = Vec::new();
    for ((file, how), outcomes) in &table {
        let lost: Vec<usize> = outcomes.iter().map(|outcome| outcome.lost).collect();
        let others = outcomes.iter().map(|outcome| outcome.lost_but_texts).max().unwrap();
        let worst = lost.iter().max().unwrap();
        println!(
            "{file:6} {how:14} {:5} {:13} {worst:6} {others:21}",
            lost.len(),
            middle(lost.clone())
        );
        all.extend(lost);
    }
    println!("all: median {}, worst {}", middle(all.clone()), all.iter().max().unwrap());
}

//! Power cuts: of the data written since the last sync, any 4 kB block and any file may or may not be on the disk. No
//! acknowledged write is lost, and each other write is present completely or not at all.
//!
//! `BACKISSUE_POWER_CUTS=100 cargo test --test it store::power_cuts -- --nocapture` simulates 100 power cuts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use backissue::io::store::{SessionLength, Store};
use backissue_core::history::{EntryKey, FeedKey, Flag};

use super::damages::{Chance, copy, files_of, folder, say};
use super::{at, entry, polled};

/// Number of power cuts if `BACKISSUE_POWER_CUTS` is not set.
const FEW: usize = 3;
/// Number of entries per document.
const ENTRIES: u32 = 4;
/// Number of bytes that a disk writes as one unit.
const BLOCK: usize = 4096;

fn text(seed: u32) -> String {
    let mut chance = Chance(u64::from(seed));
    (0..400 + chance.below(9_000)).map(|_| format!("{:04} ", chance.below(10_000))).collect()
}

/// Commits a document of one of three feeds, stars its first entry, and returns that entry's key.
fn write(store: &mut Store, round: u32) -> EntryKey {
    let feed = FeedKey(1 + round % 3);
    let ids = round * ENTRIES..(round + 1) * ENTRIES;
    let entries = ids.map(|id| entry(id, &text(id))).collect();
    let merged = store.commit(&polled(feed, i64::from(round), entries)).unwrap();
    let key = EntryKey { feed, seq: merged.counters.next_seq - ENTRIES };
    store.mark(&[key], Flag::Starred, true).unwrap();
    key
}

fn read(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let name = |path: &Path| path.strip_prefix(folder).unwrap().to_owned();
    // During the scan sled may remove files that it no longer needs, so unreadable ones are skipped.
    let found = files_of(folder);
    found.iter().filter_map(|path| Some((name(path), fs::read(path).ok()?))).collect()
}

/// Returns a disk content that a power cut may leave between a synced and a later state: each block or file that differs has
/// either its old or its new content.
fn between(
    synced: &BTreeMap<PathBuf, Vec<u8>>,
    later: &BTreeMap<PathBuf, Vec<u8>>,
    chance: &mut Chance,
) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let names: BTreeSet<&PathBuf> = synced.keys().chain(later.keys()).collect();
    for name in names {
        let (old, new) = (synced.get(name), later.get(name));
        let (Some(new), true) = (new, old.is_some() || chance.below(2) == 0) else {
            // A removed file may still exist after a power cut. It is never missing while its replacement is incomplete: sled
            // removes a file only after writing out the replacement, and the file system's journal keeps that order.
            if let Some(old) = old {
                found.insert(name.clone(), old.clone());
            }
            continue;
        };
        let old = old.cloned().unwrap_or_default();
        let length = if chance.below(2) == 0 { old.len() } else { new.len() };
        let mut bytes = Vec::with_capacity(length);
        for from in (0..length).step_by(BLOCK) {
            let to = (from + BLOCK).min(length);
            let source = if chance.below(2) == 0 { &old } else { new };
            let mut block =
                source.get(from.min(source.len())..to.min(source.len())).unwrap().to_vec();
            block.resize(to - from, 0);
            bytes.extend(block);
        }
        found.insert(name.clone(), bytes);
    }
    found
}

#[test]
fn power_cut_loses_no_acknowledged_write() {
    let stated = std::env::var("BACKISSUE_POWER_CUTS").ok().and_then(|text| text.parse().ok());
    let mut chance = Chance(3);
    let (mut mended, mut kept_all) = (0, 0);
    let cuts = stated.unwrap_or(FEW);
    for cut in 0..cuts {
        let data = folder();
        let mut store = Store::open(data.path()).unwrap();
        let acknowledged: Vec<EntryKey> = (0..6 + u32::try_from(chance.below(12)).unwrap())
            .map(|round| write(&mut store, round))
            .collect();
        store.sync().unwrap();
        let synced = read(data.path());
        let last = u32::try_from(acknowledged.len()).unwrap();
        let more = 1 + u32::try_from(chance.below(12)).unwrap();
        let later: Vec<EntryKey> =
            (last..last + more).map(|round| write(&mut store, round)).collect();
        let state = between(&synced, &read(data.path()), &mut chance);
        let disk = folder();
        copy(data.path(), disk.path());
        fs::remove_dir_all(disk.path().join("store")).unwrap();
        for (name, bytes) in &state {
            let path = disk.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let (mut store, told) =
            Store::open_or_recover(disk.path(), at(100), SessionLength::Short).unwrap();
        mended += usize::from(told.is_some());
        let mut has = |key: &EntryKey| match store.entry(*key).unwrap() {
            Some((_, flags)) => {
                let texts = (0..ENTRIES).all(|place| {
                    let key = EntryKey { seq: key.seq + place, ..*key };
                    store.body(key).unwrap().and_then(|body| body.content).is_some()
                });
                (true, flags.is_starred(), texts)
            }
            None => (false, false, false),
        };
        for key in &acknowledged {
            assert_eq!(has(key), (true, true, true), "cut {cut}: {key} was acknowledged: {told:?}");
        }
        kept_all += later.iter().filter(|key| has(key).0).count();
        let health = store.check(true).unwrap();
        assert!(told.is_some() || health.findings.is_empty(), "cut {cut}: {:?}", health.findings);
        assert_eq!(store.check(false).unwrap().findings, [], "cut {cut}");
    }
    say(format_args!(
        "{cuts} power cuts: nothing acknowledged lost; {mended} times records were copied out, {kept_all} documents that nobody had acknowledged were there"
    ));
}

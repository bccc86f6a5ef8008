//! The reader of sled's log against sled itself, and against damage.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::io::codec;
use crate::io::store::salvage::*;

type Records = BTreeMap<(Vec<u8>, Vec<u8>), Vec<u8>>;

const LETTERS: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";

/// Numbers that look random and are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

fn db(files: &Path) -> sled::Db {
    let config = sled::Config::new().path(files).mode(sled::Mode::LowSpace).cache_capacity(1 << 24);
    for _ in 0..500 {
        if let Ok(db) = config.open() {
            return db;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("the files stay locked");
}

/// Sessions that write, change and remove records of all sizes in several trees.
fn work(files: &Path, sessions: u64, seed: u64) -> Records {
    let (mut chance, mut expected) = (Chance(seed), Records::new());
    for _ in 0..sessions {
        let db = db(files);
        for _ in 0..400 {
            let tree: &[u8] =
                [&b"about"[..], b"feeds", b"meta", b"bodies", b"nodes"][chance.below(5)];
            let number = chance.below(300);
            let key = match tree {
                b"feeds" => u32::try_from(number).unwrap().to_be_bytes().to_vec(),
                b"meta" | b"bodies" => (number << 32 | chance.below(4)).to_be_bytes().to_vec(),
                _ => format!("\0\0\0{}http://a.example/{number}", number % 7).into_bytes(),
            };
            let open = db.open_tree(tree).unwrap();
            if chance.below(6) == 0 {
                open.remove(&key).unwrap();
                expected.remove(&(tree.to_vec(), key));
                continue;
            }
            let length = match chance.below(60) {
                0 => 200_000,
                1..=9 => 6_000,
                _ => 80,
            };
            let text: String = (0..length).map(|_| char::from(LETTERS[chance.below(26)])).collect();
            let value = codec::encode(&text).unwrap();
            open.insert(&key, value.as_slice()).unwrap();
            expected.insert((tree.to_vec(), key), value);
        }
        db.flush().unwrap();
    }
    expected
}

fn salvaged(files: &Path) -> (Records, Salvaged) {
    let mut found = Records::new();
    let told = salvage(files, &mut |tree, key, value, _| {
        let before = found.insert((tree.to_vec(), key.to_vec()), value.to_vec());
        assert_eq!(before, None, "each record is found once");
        Ok(())
    });
    (found, told.unwrap())
}

#[test]
fn log_of_many_sessions_is_read_record_by_record() {
    for seed in 1..4 {
        let folder = tempfile::tempdir().unwrap();
        let expected = work(folder.path(), 6, seed);
        let (found, told) = salvaged(folder.path());
        assert_eq!(
            told,
            Salvaged { records: expected.len() as u64, ..Salvaged::default() },
            "seed {seed}"
        );
        assert!(found == expected, "seed {seed}");
        assert_eq!(inspect(folder.path(), &mut Vec::new()).unwrap(), Finding::Sound);
        // Without the snapshot the whole log is looked at.
        for snapshot in fs::read_dir(folder.path()).unwrap().flatten() {
            if snapshot.file_name().to_string_lossy().starts_with("snap.") {
                fs::remove_file(snapshot.path()).unwrap();
            }
        }
        assert_eq!(inspect(folder.path(), &mut Vec::new()).unwrap(), Finding::Sound);
    }
}

#[test]
fn log_damage_loses_little_and_invents_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let expected = work(folder.path(), 4, 9);
    let log = folder.path().join("db");
    let sound = fs::read(&log).unwrap();
    let mut chance = Chance(5);
    let mut worst = 0;
    for _ in 0..30 {
        let mut bytes = sound.clone();
        let at = chance.below(bytes.len());
        let end = (at + 4096).min(bytes.len());
        bytes[at..end].fill(0);
        fs::write(&log, &bytes).unwrap();
        let (found, _) = salvaged(folder.path());
        let lost = expected.iter().filter(|(key, value)| found.get(*key) != Some(*value)).count();
        worst = worst.max(lost);
    }
    assert!(worst <= 60, "{worst} of {} records", expected.len());
}

/// Damages what pages were when they were written last, one after the other, and hands on what is told then; says of how many.
fn without_newest_pages(files: &Path, put: &mut PutSalvaged<'_>) -> (usize, Vec<Salvaged>) {
    // It writes a snapshot.
    drop(db(files));
    let written = inspection::pages_in_snapshot(files).unwrap();
    let log_files = LogFiles::open(files).unwrap();
    let scan = log_files.scan().unwrap();
    let log = files.join("db");
    let sound = fs::read(&log).unwrap();
    let mut told = Vec::new();
    for message in
        scan.messages.iter().filter(|message| written.get(&message.page) == Some(&message.lsn))
    {
        let Some(content) = log_files.content(message).filter(|content| content.len() > 400) else {
            continue;
        };
        let Some(at) = sound.windows(content.len()).position(|part| part == content) else {
            continue;
        };
        let mut bytes = sound.clone();
        bytes[at + 50] ^= 1;
        fs::write(&log, bytes).unwrap();
        told.push(salvage(files, put).unwrap());
        if told.len() == 12 {
            break;
        }
    }
    (told.len(), told)
}

#[test]
fn lost_newest_page_state_is_reported_as_earlier() {
    let folder = tempfile::tempdir().unwrap();
    let expected = work(folder.path(), 4, 11);
    let mut earlier = 0;
    let (hit, told) = without_newest_pages(folder.path(), &mut |tree, key, value, place| {
        earlier += usize::from(place.is_some());
        let now = expected.get(&(tree.to_vec(), key.to_vec()));
        assert!(place.is_some() || now.is_some_and(|now| now == value), "{tree:?} {key:?}");
        Ok(())
    });
    assert!(told.iter().all(|told| told.is_partial), "{told:?}");
    assert!(hit > 3 && earlier > 0, "{hit} {earlier}");
}

#[test]
fn log_state_after_a_backup_is_never_older_than_it() {
    let folder = tempfile::tempdir().unwrap();
    // What each record was, in turn, and how often it was written before the backup.
    let mut values: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    let mut backed_up: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let backups = [(0, "2026-02-01"), (3, "2026-02-02")];
    let mut chance = Chance(3);
    for session in 0..5_u32 {
        let db = db(folder.path());
        let feeds = db.open_tree(b"feeds").unwrap();
        for number in 0..300_u32 {
            let key = u32::try_from(chance.below(400)).unwrap().to_be_bytes().to_vec();
            let value = codec::encode(&format!("{session} {number:0200}")).unwrap();
            feeds.insert(&key, value.as_slice()).unwrap();
            values.entry(key).or_default().push(value);
        }
        if let Some((_, day)) = backups.iter().find(|(after, _)| *after == session) {
            db.open_tree(ABOUT).unwrap().insert(LAST_BACKUP, day.as_bytes()).unwrap();
            backed_up = values.iter().map(|(key, all)| (key.clone(), all.len())).collect();
        }
        db.flush().unwrap();
    }
    let mut places = Vec::new();
    let (_, told) = without_newest_pages(folder.path(), &mut |tree, key, value, place| {
        if let (b"feeds", Some(place)) = (tree, place) {
            let written = values[key].iter().position(|known| known == value).unwrap() + 1;
            places.push((place, written < backed_up.get(key).copied().unwrap_or_default()));
        }
        Ok(())
    });
    let day = NaiveDate::from_ymd_opt(2026, 2, 2).unwrap();
    let (known, made) = told.iter().find_map(|told| told.backed_up).unwrap();
    assert_eq!(known, day);
    let behind = places.iter().filter(|(place, _)| *place > made);
    let before = places.iter().filter(|(place, is_older)| *place <= made && *is_older);
    assert!(before.count() > 0, "nothing older than the backup was found");
    let is_older: Vec<bool> = behind.map(|(_, is_older)| *is_older).collect();
    assert!(!is_older.is_empty() && !is_older.contains(&true), "{is_older:?}");
}

#[test]
fn damaged_settings_and_snapshots_are_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let expected = work(folder.path(), 3, 2);
    let settings = fs::read(folder.path().join("conf")).unwrap();
    for file in fs::read_dir(folder.path()).unwrap().flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if name == "conf" || name.starts_with("snap.") {
            let mut bytes = fs::read(file.path()).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(file.path(), bytes).unwrap();
        }
    }
    prepare(folder.path()).unwrap();
    assert_eq!(fs::read(folder.path().join("conf")).unwrap(), settings);
    assert_eq!(inspect(folder.path(), &mut Vec::new()).unwrap(), Finding::Sound);
    let db = db(folder.path());
    for ((tree, key), value) in &expected {
        let there = db.open_tree(tree).unwrap().get(key).unwrap();
        assert_eq!(there.as_deref(), Some(value.as_slice()));
    }
}

/// Changes records until the log is shorter than it was when it was opened.
fn shortened(files: &Path) -> Records {
    let (log, mut chance) = (files.join("db"), Chance(5));
    let mut expected = Records::new();
    for _ in 0..40 {
        let db = db(files);
        let opened = fs::metadata(&log).unwrap().len();
        for _ in 0..400 {
            for _ in 0..5 {
                let key = chance.below(60).to_be_bytes().to_vec();
                if chance.below(3) == 0 {
                    db.remove(&key).unwrap();
                    expected.remove(&(Vec::new(), key));
                } else {
                    let value: Vec<u8> =
                        (0..chance.below(50_000)).map(|at| at.to_be_bytes()[7]).collect();
                    db.insert(&key, value.as_slice()).unwrap();
                    expected.insert((Vec::new(), key), value);
                }
            }
            db.flush().unwrap();
            if fs::metadata(&log).unwrap().len() + 400_000 < opened {
                return expected;
            }
        }
    }
    panic!("the log was never shortened");
}

#[test]
fn log_truncated_by_sled_since_opening_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let expected = shortened(folder.path());
    // sled shortens the file on a thread of its own, which may go on for a moment after the store is closed.
    let mut finding = inspect(folder.path(), &mut Vec::new()).unwrap();
    for _ in 0..100 {
        if finding == Finding::Sound {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        finding = inspect(folder.path(), &mut Vec::new()).unwrap();
    }
    assert_eq!(finding, Finding::Sound);
    let found = || {
        db(folder.path())
            .iter()
            .map(Result::unwrap)
            .map(|(key, value)| ((Vec::new(), key.to_vec()), value.to_vec()))
            .collect::<Records>()
    };
    assert!(found() == expected);
    // What is not said again behind the snapshot is missing; the end of a log may be free.
    let log = fs::OpenOptions::new().write(true).open(folder.path().join("db")).unwrap();
    loop {
        log.set_len(log.metadata().unwrap().len() / 2).unwrap();
        match inspect(folder.path(), &mut Vec::new()).unwrap() {
            Finding::Damaged(_) => break,
            Finding::Sound => assert!(found() == expected),
        }
    }
}

#[test]
fn flipped_bit_is_found_before_sled_truncates_its_log() {
    let folder = tempfile::tempdir().unwrap();
    work(folder.path(), 1, 3);
    let log = folder.path().join("db");
    let mut bytes = fs::read(&log).unwrap();
    bytes[40_000] ^= 4;
    fs::write(&log, bytes).unwrap();
    assert!(matches!(inspect(folder.path(), &mut Vec::new()).unwrap(), Finding::Damaged(_)));
}

//! A store that cannot be opened is rebuilt from a daily backup.

use backissue::engine::entries::rows::Show;
use backissue::engine::poll::fetch::Validators;
use backissue::io::store::{SessionLength, Store, StoreError, backup_is_due};
use backissue_core::history::Flag;
use chrono::NaiveDate;

use super::{FEED, at, commit, entry, key, listed, open, polled};

const TODAY: NaiveDate = NaiveDate::from_ymd_opt(2026, 2, 2).unwrap();

/// Creates a store with ten entries, one of them read and another starred, makes a backup, and then adds one entry that the
/// backup lacks.
fn backed_up() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    let mut first = polled(FEED, 1, (1..=10).map(|id| entry(id, "a text")).collect());
    first.state.validators = Validators {
        url: "https://site.example/1.xml".into(),
        etag: Some(b"x".to_vec()),
        last_modified: None,
    };
    store.commit(&first).unwrap();
    store.mark(&[key(0)], Flag::Read, true).unwrap();
    store.mark(&[key(1)], Flag::Starred, true).unwrap();
    store.back_up_daily(TODAY).unwrap();
    commit(&mut store, 2, vec![entry(11, "came later")]);
    folder
}

/// The kinds of damage to the pack.
#[derive(Clone, Copy)]
enum Damage {
    Nonsense,
    /// Zeros, as left by a file system without a journal.
    Zeros,
}

/// Damages the pack while the program is not running, and removes sled's files.
fn damage(folder: &tempfile::TempDir, damage: Damage) {
    let log = folder.path().join("store.pack");
    std::fs::remove_dir_all(folder.path().join("store")).unwrap();
    let length = usize::try_from(std::fs::metadata(&log).unwrap().len()).unwrap();
    let bytes = match damage {
        Damage::Nonsense => vec![0xA5; 70_000],
        Damage::Zeros => vec![0; length],
    };
    std::fs::write(log, bytes).unwrap();
}

#[test]
fn damaged_store_is_set_aside_and_marks_are_restored() {
    for kind in [Damage::Nonsense, Damage::Zeros] {
        let folder = backed_up();
        damage(&folder, kind);
        let (mut store, told) =
            Store::open_or_recover(folder.path(), at(100), SessionLength::Short).unwrap();
        let told = told.expect("it was damaged");
        assert!(told.contains("1 subscription, ") && told.contains("2026-02-02"), "{told}");
        assert!(told.contains("the texts of 10 entries are missing"), "{told}");
        assert_eq!(listed(&mut store, Show::All).len(), 10);
        let (kept, flags) = store.entry(key(0)).unwrap().unwrap();
        assert_eq!((kept.title.as_deref(), flags.is_unread()), (Some("Entry 1"), false));
        assert!(store.entry(key(1)).unwrap().unwrap().1.is_starred());
        assert_eq!(store.body(key(0)).unwrap(), None);
        let saved = store.subscriptions().unwrap();
        assert_eq!(saved[0].state.validators, Validators::default(), "it is requested in full");
        assert_eq!((saved[0].counters.unread, saved[0].counters.starred), (9, 1));
        assert_eq!(store.check(false).unwrap().findings, []);
        let aside = std::fs::read_dir(folder.path()).unwrap().flatten();
        let aside =
            aside.filter(|file| file.file_name().to_string_lossy().starts_with("store-damaged"));
        assert_eq!(aside.count(), 1);
    }
}

#[test]
fn small_records_of_a_cut_pack_come_from_the_index() {
    let folder = backed_up();
    let mut store = open(&folder);
    for seq in 2..8 {
        store.mark(&[key(seq)], Flag::Starred, true).unwrap();
    }
    drop(store);
    let pack = folder.path().join("store.pack");
    let bytes = std::fs::read(&pack).unwrap();
    std::fs::write(&pack, &bytes[..bytes.len() - 1_500]).unwrap();
    let (mut store, told) =
        Store::open_or_recover(folder.path(), at(100), SessionLength::Short).unwrap();
    let told = told.expect("it was damaged");
    assert!(told.ends_with("; as far as known, no entries or texts are missing"), "{told}");
    assert!((2..8).all(|seq| store.entry(key(seq)).unwrap().unwrap().1.is_starred()));
    assert_eq!(listed(&mut store, Show::All).len(), 11);
    assert_eq!(store.body(key(3)).unwrap().unwrap().content.as_deref(), Some("a text"));
}

#[test]
fn a_file_without_a_frame_is_never_emptied() {
    let folder = backed_up();
    std::fs::write(folder.path().join("store.pack"), vec![0xA5; 70_000]).unwrap();
    let (mut store, told) =
        Store::open_or_recover(folder.path(), at(100), SessionLength::Short).unwrap();
    let told = told.unwrap();
    assert!(told.contains("1 subscription and"), "{told}");
    assert_eq!(listed(&mut store, Show::All).len(), 11);
    let aside = std::fs::read_dir(folder.path()).unwrap().flatten().map(|file| file.path());
    let kept = aside.filter(|path| path.to_string_lossy().contains("store-damaged"));
    let kept: Vec<_> = kept.map(|path| std::fs::read(path.join("store.pack")).unwrap()).collect();
    assert_eq!(kept, [vec![0xA5; 70_000]]);
    drop(store);
    std::fs::remove_file(folder.path().join("store.pack")).unwrap();
    let (_, told) = Store::open_or_recover(folder.path(), at(200), SessionLength::Short).unwrap();
    assert!(told.is_some(), "its records are gone, but not from the index and the backup");
}

#[test]
fn a_damaged_or_missing_index_loses_nothing() {
    for damage in 0..3 {
        let folder = backed_up();
        let log = folder.path().join("store/db");
        let length = usize::try_from(std::fs::metadata(&log).unwrap().len()).unwrap();
        match damage {
            0 => std::fs::remove_dir_all(folder.path().join("store")).unwrap(),
            1 => std::fs::write(log, vec![0; length]).unwrap(),
            _ => std::fs::write(log, vec![0xA5; 70_000]).unwrap(),
        }
        let (mut store, told) =
            Store::open_or_recover(folder.path(), at(100), SessionLength::Short).unwrap();
        assert_eq!((told, listed(&mut store, Show::All).len()), (None, 11));
        assert!(store.entry(key(1)).unwrap().unwrap().1.is_starred());
        assert_eq!(store.body(key(0)).unwrap().unwrap().content.as_deref(), Some("a text"));
        assert_eq!(store.check(false).unwrap().findings, []);
    }
}

#[test]
fn restored_texts_are_neither_new_nor_edited() {
    let folder = backed_up();
    damage(&folder, Damage::Zeros);
    let (mut store, _) =
        Store::open_or_recover(folder.path(), at(100), SessionLength::Short).unwrap();
    let merged = commit(&mut store, 200, (1..=3).map(|id| entry(id, "a text")).collect());
    assert_eq!((merged.new, merged.edited), (0, 0));
    let text = |store: &Store, seq| store.body(key(seq)).unwrap().and_then(|body| body.content);
    assert_eq!(text(&store, 0).as_deref(), Some("a text"));
    assert_eq!(text(&store, 5), None);
    assert!(!store.entry(key(0)).unwrap().unwrap().1.is_unread(), "what was read stays read");
    let again = commit(&mut store, 300, vec![entry(1, "another text")]);
    assert_eq!((again.new, again.edited), (0, 1));
    drop(store);
    let (mut store, told) =
        Store::open_or_recover(folder.path(), at(400), SessionLength::Short).unwrap();
    assert_eq!((told, listed(&mut store, Show::All).len()), (None, 10));
    assert_eq!(
        text(&store, 1).as_deref(),
        Some("a text"),
        "the texts are recorded as lost only once"
    );
}

#[test]
fn without_a_readable_backup_nothing_is_set_aside() {
    let folder = backed_up();
    damage(&folder, Damage::Nonsense);
    let backup = folder.path().join("backups/2026-02-02.backup");
    std::fs::write(&backup, b"not one").unwrap();
    for _ in 0..2 {
        let refused =
            Store::open_or_recover(folder.path(), at(100), SessionLength::Short).unwrap_err();
        assert!(matches!(refused, StoreError::Unreadable { .. }), "{refused}");
        assert!(refused.to_string().contains("restore a backup with"), "{refused}");
    }
    assert!(folder.path().join("store.pack").is_file());
    assert_eq!(std::fs::read(backup).unwrap(), b"not one");
}

#[test]
fn program_killed_in_its_first_second_starts_over() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("store.pack"), b"").unwrap();
    let (store, told) =
        Store::open_or_recover(folder.path(), at(100), SessionLength::Short).unwrap();
    assert_eq!((store.subscriptions().unwrap().len(), told), (0, None));
}

#[test]
fn a_store_of_the_older_form_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("store")).unwrap();
    std::fs::write(folder.path().join("store/db"), b"records").unwrap();
    for _ in 0..2 {
        let refused =
            Store::open_or_recover(folder.path(), at(100), SessionLength::Short).unwrap_err();
        assert!(matches!(refused, StoreError::Older(_)), "{refused}");
    }
    assert_eq!(std::fs::read(folder.path().join("store/db")).unwrap(), b"records");
}

#[test]
fn inaccessible_store_is_left_alone() {
    let folder = backed_up();
    let pack = folder.path().join("store.pack");
    std::fs::remove_file(&pack).unwrap();
    std::fs::create_dir(&pack).unwrap();
    let refused = Store::open_or_recover(folder.path(), at(100), SessionLength::Short).unwrap_err();
    assert!(matches!(refused, StoreError::Refused { .. }), "{refused}");
    assert!(refused.to_string().contains("may be intact"), "{refused}");
    assert!(pack.is_dir());
}

#[test]
fn a_backup_is_made_once_a_day() {
    let folder = backed_up();
    assert!(!backup_is_due(folder.path(), TODAY));
    assert!(backup_is_due(folder.path(), TODAY.succ_opt().unwrap()));
    let store = open(&folder);
    store.back_up_daily(NaiveDate::from_ymd_opt(2099, 1, 1).unwrap()).unwrap();
    let tomorrow = TODAY.succ_opt().unwrap();
    assert!(backup_is_due(folder.path(), tomorrow), "a wrong clock stops nothing");
    store.back_up_daily(tomorrow).unwrap();
    drop(store);
    damage(&folder, Damage::Zeros);
    let (_, told) =
        Store::open_or_recover(folder.path(), at(24 * 3600), SessionLength::Short).unwrap();
    assert!(told.is_some_and(|told| told.contains("2026-02-03")));
}

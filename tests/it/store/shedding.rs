//! The limit on the size of stored texts (SPEC C.10).

use backissue::engine::entries::entry_view::FullText;
use backissue::engine::entries::rows::Show;
use backissue::io::store::DroppedTexts;
use backissue_core::history::Flag;

use super::{commit, entry, key, listed, open};

/// Returns a text of random characters, which does not compress.
fn text(id: u32) -> String {
    let mut seed = id.wrapping_mul(2_654_435_761) | 1;
    let letter = |_| {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        char::from(b'!' + u8::try_from(seed % 90).unwrap())
    };
    (0..20_000).map(letter).collect()
}

#[test]
fn only_texts_of_the_oldest_read_entries_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    // Entries with larger numbers are older. The last entry has a long text in a separate record.
    let mut entries: Vec<_> = (1..=20).map(|id| entry(id, &text(id))).collect();
    entries.push(entry(21, &(0..40).map(text).collect::<String>()));
    commit(&mut store, 1, entries);
    let all: Vec<_> = (0..21).map(key).collect();
    store.mark(&all[5..], Flag::Read, true).unwrap();
    store.mark(&all[18..19], Flag::Starred, true).unwrap();
    let whole = store.shed_texts(100_000_000).unwrap();
    assert_eq!(whole.entries, 0);
    assert!(whole.before > 900_000, "{whole:?}");
    // To free half a megabyte, texts in shared records must be dropped too.
    let shed = store.shed_texts(200_000).unwrap();
    assert_eq!(shed.before, whole.before);
    let gone: Vec<u32> = (0..21).filter(|&seq| store.body(key(seq)).unwrap().is_none()).collect();
    assert_eq!(shed.entries, gone.len());
    assert_eq!(gone[gone.len() - 2..], [19, 20], "the oldest first");
    assert!(!gone.contains(&18), "starred");
    assert!(gone[0] >= 5, "unread ones stay: {gone:?}");
    let in_order: Vec<u32> = (gone[0]..=20).filter(|&seq| seq != 18).collect();
    assert_eq!(gone, in_order, "no younger one before an older one");
    for &seq in &gone {
        assert!(store.is_text_gone(key(seq)).unwrap());
    }
    assert!(!store.is_text_gone(key(0)).unwrap());
    assert_eq!(listed(&mut store, Show::All).len(), 21, "the entries stay");
    assert_eq!(store.shed_texts(200_000).unwrap().entries, 0, "once is enough");
    drop(store);
    let mut store = open(&folder);
    assert_eq!(store.check(false).unwrap().findings, []);
    let again = commit(&mut store, 2, vec![entry(20, &text(20))]);
    assert_eq!((again.new, again.edited), (0, 0), "not shown as new");
    assert_eq!(store.body(key(19)).unwrap(), None, "and not kept again");
    commit(&mut store, 3, vec![entry(20, "edited")]);
    assert!(store.body(key(19)).unwrap().is_some());
    assert!(!store.is_text_gone(key(19)).unwrap());
}

#[test]
fn unread_and_starred_texts_are_always_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, (1..=8).map(|id| entry(id, &text(id))).collect());
    let shed = store.shed_texts(1000).unwrap();
    assert!(matches!(shed, DroppedTexts { entries: 0, before } if before > 100_000), "{shed:?}");
    assert!(!store.may_hold_too_much(1000).unwrap(), "it has not grown since");
}

#[test]
fn already_dropped_texts_free_no_more_space() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    let max = 1_800_000;
    let mut shed = Vec::new();
    for round in 0..4_u32 {
        // Entries with larger numbers are older. Every second entry stays unread and keeps its text, so every record keeps some
        // texts.
        let from = 1000 - 40 * round;
        commit(
            &mut store,
            1 + i64::from(round),
            (from..from + 40).map(|id| entry(id, &text(id))).collect(),
        );
        let read: Vec<_> = (40 * round..40 * (round + 1)).step_by(2).map(key).collect();
        store.mark(&read, Flag::Read, true).unwrap();
        shed.push(store.shed_texts(max).unwrap().entries);
        let left = store.shed_texts(u64::MAX).unwrap().before;
        assert!(left <= max, "{left} bytes are left after {shed:?}");
    }
    assert!(shed[2] > 0 && shed[3] > 0, "{shed:?}");
}

#[test]
fn fetched_pages_count_and_are_dropped_with_texts() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, (1..=20).map(|id| entry(id, "a short text")).collect());
    let all: Vec<_> = (0..20).map(key).collect();
    for (&key, id) in all.iter().zip(1..) {
        let page = FullText { html: text(id), ..FullText::default() };
        store.save_full_text(key, &page).unwrap();
    }
    store.mark(&all[5..], Flag::Read, true).unwrap();
    let shed = store.shed_texts(200_000).unwrap();
    assert!(shed.before > 300_000 && shed.entries > 5, "{shed:?}");
    let gone = |seq: u32| store.full_text(key(seq)).unwrap().is_none();
    let pages_gone: Vec<u32> = (0..20).filter(|&seq| gone(seq)).collect();
    let texts_gone: Vec<u32> =
        (0..20).filter(|&seq| store.body(key(seq)).unwrap().is_none()).collect();
    assert_eq!(pages_gone, texts_gone);
    assert_eq!(pages_gone, (20 - u32::try_from(shed.entries).unwrap()..20).collect::<Vec<_>>());
    assert!(store.shed_texts(u64::MAX).unwrap().before <= 200_000);
}

//! Committed entries, texts, states and poll logs are still there after reopening the store; removed data is not.

use backissue::engine::entries::entry_view::{FullText, ReadingPosition};
use backissue::engine::entries::rows::{ListQuery, RowsWanted, Scope, Seek, Show};
use backissue::engine::feeds::subscription::{FeedState, SubscriptionRecord};
use backissue::engine::other_reader_marks::Elsewhere;
use backissue::engine::poll::fetch::Validators;
use backissue::engine::poll::poll_log::POLL_LOG_LINES;
use backissue::io::store::{Store, StoreError};
use backissue::ui::panes::entry_list::WINDOW_ROWS;
use backissue_core::history::{EntryKey, FeedKey, Flag};
use backissue_core::other_readers::elsewhere::{ElsewhereEntry, SeenElsewhere};

use super::{FEED, at, commit, end, entry, key, listed, open, polled, record};

#[test]
fn commits_survive_reopening_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let validators = Validators {
        url: "https://site.example/1.xml".into(),
        etag: Some(b"W/\"caf\xe9-gzip\"".to_vec()),
        last_modified: Some(b"gestern".to_vec()),
    };
    let mut sent = polled(FEED, 1, vec![entry(1, "one"), entry(2, "two")]);
    sent.state.validators = validators;
    {
        let mut store = open(&folder);
        let merged = store.commit(&sent).unwrap();
        assert_eq!((merged.new, merged.edited, merged.counters.unread), (2, 0, 2));
    }
    let mut store = open(&folder);
    let saved = store.subscriptions().unwrap().remove(0);
    assert_eq!((saved.key, &saved.record, &saved.state), (FEED, &record(FEED), &sent.state));
    assert_eq!((saved.counters.total, saved.counters.next_seq), (2, 2));
    let (kept, flags) = store.entry(key(1)).unwrap().unwrap();
    assert_eq!((kept.id.as_str(), kept.first_seen), ("id-2", at(1)));
    assert!(flags.is_unread());
    assert_eq!(store.body(key(0)).unwrap().unwrap().text(), Some("one"));
    assert_eq!(store.entry(key(2)).unwrap(), None);
    assert_eq!(store.body(key(2)).unwrap(), None);
    assert_eq!(store.entry(EntryKey { feed: FeedKey(9), seq: 0 }).unwrap(), None);
}

#[test]
fn a_document_read_again_adds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, vec![entry(1, "one"), entry(2, "two")]);
    let again = commit(&mut store, 2, vec![entry(1, "one"), entry(2, "two")]);
    assert_eq!((again.new, again.edited, again.counters.total), (0, 0, 2));
}

#[test]
fn edited_entry_keeps_number_marks_and_first_sight() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, vec![entry(1, "one"), entry(2, "two")]);
    store.mark(&[key(1)], Flag::Read, true).unwrap();
    store.mark(&[key(1)], Flag::Starred, true).unwrap();
    let edited = commit(&mut store, 2, vec![entry(3, "three"), entry(2, "two, corrected")]);
    assert_eq!((edited.new, edited.edited), (1, 1));
    let (kept, flags) = store.entry(key(1)).unwrap().unwrap();
    assert!(flags.is_read() && flags.is_starred());
    assert_eq!((kept.id.as_str(), kept.first_seen), ("id-2", at(1)));
    assert_eq!(store.body(key(1)).unwrap().unwrap().text(), Some("two, corrected"));
    assert_eq!(store.entry(key(2)).unwrap().unwrap().0.id, "id-3");
}

#[test]
fn a_poll_without_a_document_changes_only_the_state() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, vec![entry(1, "one")]);
    let mut unchanged = polled(FEED, 2, Vec::new());
    unchanged.document = None;
    unchanged.record = None;
    let merged = store.commit(&unchanged).unwrap();
    assert_eq!((merged.new, merged.counters.total), (0, 1));
    let saved = store.subscriptions().unwrap().remove(0);
    assert_eq!((saved.state.polls, saved.record), (2, record(FEED)));
}

#[test]
fn the_poll_log_keeps_the_last_polls_newest_first() {
    let folder = tempfile::tempdir().unwrap();
    {
        let mut store = open(&folder);
        for second in 1..=i64::from(POLL_LOG_LINES) + 7 {
            commit(&mut store, second, vec![entry(u32::try_from(second).unwrap(), "x")]);
        }
        store.commit(&polled(FeedKey(2), 1, Vec::new())).unwrap();
    }
    let log = open(&folder).poll_log(FEED).unwrap();
    assert_eq!(log.len(), POLL_LOG_LINES as usize);
    let newest = i64::from(POLL_LOG_LINES) + 7;
    let expected: Vec<_> = (8..=newest).rev().map(at).collect();
    assert_eq!(log.iter().map(|line| line.at).collect::<Vec<_>>(), expected);
    assert!(log.iter().all(|line| line.new == 1), "the merge fills the sums in");
}

#[test]
fn large_texts_round_trip_and_may_change_size() {
    let folder = tempfile::tempdir().unwrap();
    let large = |mark: &str| mark.repeat(700 * 1024);
    let texts = |store: &Store| -> Vec<String> {
        let text = |seq| store.body(key(seq)).unwrap().unwrap().text().unwrap().to_owned();
        (0..4).map(text).collect()
    };
    let mut expected = vec!["small".to_owned(), large("a"), large("b"), "also small".to_owned()];
    for (second, changed) in [(1, None), (2, Some("little")), (3, Some("c"))] {
        let mut store = open(&folder);
        if let Some(text) = changed {
            expected[1] = if text == "c" { large(text) } else { text.to_owned() };
            expected[0].push('!');
        }
        let entries = (1..).zip(&expected).map(|(id, text)| entry(id, text)).collect();
        commit(&mut store, second, entries);
        assert_eq!(texts(&store), expected);
        drop(store);
        let mut store = open(&folder);
        assert_eq!(texts(&store), expected, "after reopening");
        assert_eq!(store.check(false).unwrap().findings, []);
    }
}

#[test]
fn five_thousand_entries_of_one_document_are_kept_in_order() {
    let folder = tempfile::tempdir().unwrap();
    {
        let mut store = open(&folder);
        let merged = commit(&mut store, 1, (1..=5000).map(|id| entry(id, "text")).collect());
        assert_eq!((merged.new, merged.counters.unread), (5000, 5000));
    }
    let mut store = open(&folder);
    let order = listed(&mut store, Show::All);
    assert_eq!(order, (0..5000).map(key).collect::<Vec<_>>(), "newest first");
    store.mark(&order[..3000], Flag::Read, true).unwrap();
    let query = ListQuery {
        scope: Scope::Feeds(vec![FEED]),
        show: Show::All,
        since: None,
        keep: Default::default(),
        gaps: Vec::new(),
        order: Default::default(),
        join: None,
        apart: Default::default(),
        rare: None,
    };
    let wanted = RowsWanted {
        rebuild: Some(query),
        seek: Some(Seek {
            from: 10,
            down: true,
            what: backissue::engine::entries::rows::SeekTarget::Unread,
        }),
        ..RowsWanted::at(7, 0, WINDOW_ROWS)
    };
    let loaded = store.rows_wanted(&wanted).unwrap();
    assert_eq!((loaded.list, loaded.total, loaded.found), (7, 5000, Some(3000)));
    assert_eq!((loaded.rows.len(), loaded.offset), (WINDOW_ROWS, 3000 - WINDOW_ROWS / 2));
    assert_eq!(loaded.rows[WINDOW_ROWS / 2].title, "Entry 3001");
    let health = store.check(false).unwrap();
    assert_eq!((health.feeds, health.entries, health.findings), (1, 5000, vec![]));
}

#[test]
fn ended_subscription_leaves_no_records() {
    let folder = tempfile::tempdir().unwrap();
    {
        let mut store = open(&folder);
        for feed in [FEED, FeedKey(2), FeedKey(257)] {
            store.commit(&polled(feed, 1, vec![entry(1, &"x".repeat(600_000))])).unwrap();
        }
        end(&mut store, FEED);
        assert_eq!(listed(&mut store, Show::All).len(), 2);
        store.forget_feeds(&[FEED, FeedKey(2)]).unwrap();
    }
    let mut store = open(&folder);
    assert_eq!(store.last_feed().unwrap(), 257);
    assert_eq!(store.ended_subscriptions().unwrap(), []);
    let left: Vec<FeedKey> =
        store.subscriptions().unwrap().into_iter().map(|saved| saved.key).collect();
    assert_eq!(left, [FeedKey(2), FeedKey(257)]);
    assert_eq!(store.poll_log(FEED).unwrap(), []);
    assert_eq!(store.body(key(0)).unwrap(), None);
    let again = commit(&mut store, 2, vec![entry(5, "five")]);
    assert_eq!((again.new, again.counters.total, again.counters.next_seq), (1, 1, 1));
    assert_eq!(store.check(false).unwrap().findings, []);
}

#[test]
fn ended_subscription_is_unlisted_and_uncounted() {
    let folder = tempfile::tempdir().unwrap();
    {
        let mut store = open(&folder);
        for feed in [FEED, FeedKey(2)] {
            store.commit(&polled(feed, 1, vec![entry(1, "text")])).unwrap();
        }
        end(&mut store, FEED);
    }
    let mut store = open(&folder);
    assert_eq!(store.subscriptions().unwrap().len(), 1);
    let ended = store.ended_subscriptions().unwrap();
    assert_eq!((ended.len(), ended[0].key, ended[0].counters.total), (1, FEED, 1));
    assert_eq!(listed(&mut store, Show::All).len(), 1);
    assert_eq!(store.unread_since(chrono::DateTime::UNIX_EPOCH).unwrap(), 1);
    let health = store.check(false).unwrap();
    assert_eq!((health.feeds, health.entries, health.findings), (1, 1, vec![]));
    // A full backup contains the data as well.
    let mut file = Vec::new();
    store.back_up(&mut file, None).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    Store::restore_backup(elsewhere.path(), file.as_slice(), "aside").unwrap();
    let restored = Store::open(elsewhere.path()).unwrap();
    assert_eq!(restored.ended_subscriptions().unwrap(), ended);
}

#[test]
fn records_and_states_are_written_alone_too() {
    let folder = tempfile::tempdir().unwrap();
    {
        let mut store = open(&folder);
        let records: Vec<(FeedKey, SubscriptionRecord)> =
            (1..=300).map(|feed| (FeedKey(feed), record(FeedKey(feed)))).collect();
        store.save_records(&records).unwrap();
        let state = FeedState { trouble: Some("asked".into()), ..FeedState::default() };
        store.save_state(FeedKey(300), &state).unwrap();
        store.sync().unwrap();
    }
    let saved = open(&folder).subscriptions().unwrap();
    assert_eq!(saved.len(), 300);
    assert_eq!(saved[299].state.trouble.as_deref(), Some("asked"));
    assert_eq!((saved[0].state.clone(), saved[0].counters), Default::default());
}

#[test]
fn a_second_owner_is_refused_until_the_first_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(&folder);
    let refused = Store::open(folder.path()).unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    let sentence = refused.to_string();
    assert!(sentence.contains(&std::process::id().to_string()), "{sentence}");
    assert!(sentence.contains("--data-dir") && !sentence.contains('\n'), "{sentence}");
    drop(first);
    open(&folder);
}

#[test]
fn a_store_can_be_opened_again_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for second in 1..=20 {
        let mut store = Store::open(folder.path()).expect("it has no other owner");
        commit(&mut store, second, (1..=200).map(|id| entry(id, "text")).collect());
    }
}

#[test]
fn merged_feed_brings_pages_positions_and_dropped_texts() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    let into = |seq| EntryKey { feed: FeedKey(2), seq };
    commit(&mut store, 1, (1..=4).map(|id| entry(id, "a text")).collect());
    store.commit(&polled(FeedKey(2), 1, vec![entry(1, "a text"), entry(4, "a text")])).unwrap();
    let page = |html: &str| FullText { html: html.into(), ..FullText::default() };
    let place = |offset| ReadingPosition { offset, of: 100 };
    for (key, html, offset) in [(key(0), "of one", 3), (key(1), "of two", 5), (key(3), "old", 7)] {
        store.save_full_text(key, &page(html)).unwrap();
        store.save_place(key, Some(place(offset))).unwrap();
    }
    store.save_full_text(into(1), &page("own")).unwrap();
    store.save_place(into(1), Some(place(9))).unwrap();
    store.mark(&[key(2)], Flag::Read, true).unwrap();
    assert_eq!(store.shed_texts(1).unwrap().entries, 1);
    for _ in 0..2 {
        store.absorb(FEED, FeedKey(2)).unwrap();
        for (seq, html, offset) in [(0, "of one", 3), (2, "of two", 5), (1, "own", 9)] {
            assert_eq!(store.full_text(into(seq)).unwrap(), Some(page(html)));
            assert_eq!(store.place(into(seq)).unwrap(), Some(place(offset)));
        }
        assert_eq!(store.entry(into(3)).unwrap().unwrap().0.id, "id-3");
        assert!(store.is_text_gone(into(3)).unwrap() && !store.is_text_gone(into(2)).unwrap());
    }
}

#[test]
fn merged_feed_waits_for_what_another_reader_knew() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, vec![entry(1, "a text")]);
    store.commit(&polled(FeedKey(2), 1, vec![entry(1, "a text")])).unwrap();
    let known = |id| ElsewhereEntry {
        entry: entry(id, ""),
        is_read: true,
        is_starred: id == 6,
        ..ElsewhereEntry::default()
    };
    for (feed, id) in [(FEED, 5), (FEED, 6), (FeedKey(2), 7)] {
        let seen = SeenElsewhere::new(&[known(id)], at(1));
        store
            .note_elsewhere(feed, &Elsewhere { seen, ..Elsewhere::default() }, at(1), None)
            .unwrap();
    }
    store.absorb(FEED, FeedKey(2)).unwrap();
    let met = (4..=7).map(|id| entry(id, "a text")).collect();
    let merged = store.commit(&polled(FeedKey(2), 2, met)).unwrap();
    assert_eq!((merged.counters.total, merged.counters.unread, merged.counters.starred), (5, 2, 1));
}

//! The search index next to the store in four states: current, behind the store, damaged, missing.

use std::sync::mpsc::channel;
use std::time::Duration;

use backissue::engine::entries::rows::{ListQuery, RowOrder, Scope, Show};
use backissue::engine::request::Input;
use backissue::io::answers::Answers;
use backissue::io::search::{CatchUp, Indexer, SearchIndex, SharedIndex};
use backissue::io::store::{SessionLength, Store};
use backissue_core::feed::{Enclosure, Entry};
use backissue_core::history::{EntryKey, FeedKey, Flag};
use backissue_core::search::{KnownNames, Marks, Matching, QueriedFeed, parse};
use backissue_core::words::frequency::Frequency;
use chrono_tz::Tz;

use super::{FEED, at, commit, end, entry, key, open, polled};

/// Maximum time to wait for an event that should occur immediately.
const WAIT: Duration = Duration::from_secs(30);

fn matching(query: &str, typing: bool) -> Matching {
    let query = parse(query, typing, Tz::UTC).unwrap();
    let feeds = [(FEED, "Orchard"), (FeedKey(2), "Tower")].map(|(key, title)| QueriedFeed {
        key,
        title,
        address: "",
        tags: &[],
        frequency: Frequency::default(),
    });
    Matching::new(query, KnownNames { feeds: &feeds, labels: &[] }, at(0)).unwrap()
}

/// Updates the search index as the program does when it starts.
fn catch_up(store: &mut Store) -> CatchUp {
    let index = SearchIndex::open(store.folder()).unwrap();
    let mut behind = CatchUp::new(index.clone(), store.texts());
    assert!(behind.everything(&mut |_| true).unwrap());
    behind.commit().unwrap();
    store.use_index(index);
    behind
}

fn found(store: &mut Store, query: &str) -> Vec<u32> {
    let found = store.search(&matching(query, false)).unwrap();
    found.into_iter().map(|hit| hit.key.seq).collect()
}

fn titled(id: u32, title: &str, text: &str) -> Entry {
    Entry { title: Some(title.into()), author: Some("Ann Lee".into()), ..entry(id, text) }
}

fn orchard() -> Vec<Entry> {
    vec![
        titled(1, "Frost report", "<p>The <em>late</em> frost of the tenth.</p>"),
        titled(2, "Grafting wax", "<p>Warm it slowly &amp; wait for late autumn; frost harms.</p>"),
        titled(3, "Élan", "<p>naïve caf&eacute;</p><script>hidden</script>"),
        titled(4, "東京の天気", "<p>新しい漢字。</p>"),
        titled(5, "Pruning", "<p class=\"frost\">Nothing of it.</p>"),
    ]
}

#[test]
fn files_pictures_edits_and_lengths_match() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    let mut entries = orchard();
    let file = Enclosure { url: "https://site.example/2.mp3".into(), ..Enclosure::default() };
    entries[1].enclosures.push(file);
    entries[2].content = Some("<p>x <IMG src='/a.png' alt='frost'></p>".into());
    entries[3].content = Some(format!("<p>{}</p>", "late frost ".repeat(700)));
    commit(&mut store, 1, entries.clone());
    entries[0].content = Some("<p>Another text with frost.</p>".into());
    entries[0].updated = Some(at(5));
    commit(&mut store, 10, entries);
    catch_up(&mut store);
    for (query, expected) in [
        ("has:file", vec![1]),
        ("has:picture", vec![2]),
        ("-has:picture -has:file", vec![0, 3, 4]),
        ("longer:1000", vec![3]),
        ("longer:1400", vec![]),
        ("longer:6min", vec![3]),
        ("longer:7min", vec![]),
        ("frost shorter:1000", vec![0, 1]),
        ("frost shorter:1min", vec![0, 1]),
        ("is:edited", vec![0]),
    ] {
        let mut found = found(&mut store, query);
        found.sort_unstable();
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn words_phrases_fields_and_exclusion_match() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, orchard());
    catch_up(&mut store);
    for (query, expected) in [
        // A match in the title has more weight than one in the text, and markup is not searched.
        ("frost", vec![0, 1]),
        ("FROST late", vec![0, 1]),
        ("\"late frost\"", vec![0]),
        ("frost -wax", vec![0]),
        ("frost -\"late frost\"", vec![1]),
        ("frost -\"frost late\"", vec![0, 1]),
        ("late -\"late autumn\" -\"late frost\"", vec![]),
        ("title:frost", vec![0]),
        ("elan cafe", vec![2]),
        ("hidden", vec![]),
        ("prun*", vec![4]),
        ("prun", vec![]),
        ("author:lee wax", vec![1]),
        ("東京", vec![3]),
        ("京の天", vec![3]),
        ("字", vec![3]),
        ("漢字", vec![3]),
        ("京東", vec![]),
        ("-frost -elan", vec![3, 4]),
    ] {
        assert_eq!(found(&mut store, query), expected, "{query}");
    }
    let typed = store.search(&matching("gra", true)).unwrap();
    assert_eq!(typed.iter().map(|hit| hit.key.seq).collect::<Vec<_>>(), [1]);
    let marks = Marks::for_condition(&matching("\"late frost\"", false).condition);
    assert_eq!(store.snippet(key(0), &marks, 80).marked(), "The «late frost» of the tenth.");
}

#[test]
fn operators_categories_links_and_expressions_match() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    let mut entries = orchard();
    entries[0].categories = vec!["Late pruning".into(), "Weather".into()];
    entries[4].categories = vec!["weather report".into()];
    commit(&mut store, 1, entries);
    catch_up(&mut store);
    for (query, expected) in [
        ("frost OR elan", vec![0, 2, 1]),
        ("frost (wax OR report)", vec![0, 1]),
        ("NOT (frost OR elan)", vec![3, 4]),
        ("frost OR is:starred", vec![0, 1]),
        ("category:weather", vec![0, 4]),
        ("category:\"late pruning\"", vec![0]),
        ("category:\"pruning weather\"", vec![]),
        ("-category:weather frost", vec![1]),
        ("link:/[45]$/", vec![3, 4]),
        ("link:EXAMPLE/3", vec![2]),
        ("/fr.st h/", vec![1]),
        ("title:/^gr/ OR *lan*", vec![1, 2]),
        ("-/o/ feed:orchard", vec![2, 3]),
        ("text:frost", vec![0, 1]),
        ("feed:tower", vec![]),
    ] {
        for _ in 0..2 {
            assert_eq!(found(&mut store, query), expected, "{query}");
        }
    }
    store.mark(&[key(4)], Flag::Starred, true).unwrap();
    assert_eq!(found(&mut store, "frost OR is:starred"), [0, 1, 4]);
}

#[test]
fn a_phrase_is_looked_for_again_in_changed_texts() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, orchard());
    catch_up(&mut store);
    for _ in 0..2 {
        assert_eq!(found(&mut store, "\"late frost\""), [0]);
        assert_eq!(found(&mut store, "frost -\"late frost\""), [1]);
    }
    let other = titled(1, "Frost report", "The frost was late.");
    let same = titled(2, "Grafting wax", "Warm it slowly: the late frost harms.");
    commit(&mut store, 2, vec![other, same]);
    catch_up(&mut store);
    assert_eq!(found(&mut store, "\"late frost\""), [1]);
    assert_eq!(found(&mut store, "frost -\"late frost\""), [0]);
}

#[test]
fn an_index_found_damaged_while_it_is_written_is_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, orchard());
    catch_up(&mut store);
    let segment = SearchIndex::folder_in(store.folder()).join("00000001.words");
    let mut bytes = std::fs::read(&segment).unwrap();
    // Behind the header, which alone is read when the index is opened: a merge notices it.
    bytes[60] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let shared = SharedIndex::default();
    let (answers, _heard) = tokio::sync::mpsc::unbounded_channel::<Input>();
    let (data, answers) = (store.folder().to_owned(), Answers::new(answers));
    let (index, stay) = (shared.clone(), SessionLength::Long);
    let indexer = Indexer::start(data, index, store.texts(), stay, answers).unwrap();
    for round in 0..8_u32 {
        commit(&mut store, 2 + i64::from(round), vec![titled(10 + round, "Hail and frost", "x")]);
        indexer.changed(FEED);
        let (waiting, told) = channel();
        indexer.when_indexed(waiting);
        // It is not answered while the index is built again.
        while told.recv_timeout(WAIT).is_ok_and(|missing| missing > 0) {}
    }
    let (waiting, told) = channel();
    indexer.when_indexed(waiting);
    assert_eq!(told.recv_timeout(WAIT), Ok(0));
    store.use_index(shared.get().unwrap());
    assert_eq!(found(&mut store, "frost").len(), 10);
    assert_eq!(SearchIndex::damage(folder.path()), None);
    indexer.stop();
}

#[test]
fn searches_use_current_marks_and_dates() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, orchard());
    catch_up(&mut store);
    store.mark(&[key(0)], Flag::Read, true).unwrap();
    store.mark(&[key(1)], Flag::Starred, true).unwrap();
    for (query, expected) in [
        ("frost is:unread", vec![1]),
        ("frost is:read", vec![0]),
        ("is:starred", vec![1]),
        ("frost -is:starred", vec![0]),
        ("is:read", vec![0]),
        ("frost before:2015", vec![]),
        ("frost after:2015", vec![0, 1]),
    ] {
        assert_eq!(found(&mut store, query), expected, "{query}");
    }
    assert_eq!(store.unread_found(&matching("frost", false)).unwrap(), 1);
}

#[test]
fn search_catches_up_with_added_changed_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, orchard());
    catch_up(&mut store);
    // One entry is edited and one is new.
    let edited = titled(1, "Thaw report", "It thaws.");
    commit(&mut store, 2, vec![edited, titled(6, "New frost", "x")]);
    assert_eq!(found(&mut store, "frost"), [0, 1], "the index lags behind");
    let state = catch_up(&mut store).state();
    assert_eq!((state.indexed, state.missing), (6, 0));
    assert_eq!(found(&mut store, "frost"), [5, 1]);
    assert_eq!(found(&mut store, "thaw"), [0]);
    // A complete document marks all entries that it lacks as withdrawn.
    let complete = backissue::engine::feeds::subscription::Commit {
        complete: true,
        ..polled(FEED, 3, orchard())
    };
    store.commit(&complete).unwrap();
    assert_eq!(found(&mut store, "title:new"), [0; 0], "judged at once");
    let state = catch_up(&mut store).state();
    assert_eq!((state.indexed, state.missing), (5, 0));
}

#[test]
fn unsubscribed_feed_is_unsearchable_and_leaves_the_index() {
    let folder = tempfile::tempdir().unwrap();
    {
        let mut store = open(&folder);
        commit(&mut store, 1, orchard());
        store.commit(&polled(FeedKey(2), 1, vec![titled(9, "Frost too", "x")])).unwrap();
        assert_eq!(catch_up(&mut store).state().indexed, 6);
        end(&mut store, FEED);
    }
    let mut store = open(&folder);
    let hits = |store: &mut Store| {
        let hits = store.search(&matching("frost", false)).unwrap();
        hits.iter().map(|hit| hit.key).collect::<Vec<_>>()
    };
    let left = [EntryKey { feed: FeedKey(2), seq: 0 }];
    let state = catch_up(&mut store).state();
    assert_eq!((state.indexed, state.missing), (6, 0), "it can be restored");
    assert_eq!(hits(&mut store), left);
    store.forget_feeds(&[FEED]).unwrap();
    let state = catch_up(&mut store).state();
    assert_eq!((state.indexed, state.missing), (1, 0));
    assert_eq!(hits(&mut store), left);
}

#[test]
fn a_kill_between_the_commits_of_store_and_index_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    {
        let mut store = open(&folder);
        commit(&mut store, 1, orchard());
        catch_up(&mut store);
        commit(&mut store, 2, vec![titled(7, "Hail and frost", "x")]);
        let index = SearchIndex::open(store.folder()).unwrap();
        let mut behind = CatchUp::new(index, store.texts());
        behind.everything(&mut |_| true).unwrap();
        // Dropping the index without a commit loses what was written to it, as killing the program does.
        drop(behind);
        assert_eq!(found(&mut store, "hail"), [0; 0]);
    }
    let mut store = open(&folder);
    let state = catch_up(&mut store).state();
    assert_eq!((state.indexed, state.missing), (6, 0));
    assert_eq!(found(&mut store, "hail"), [5]);
}

#[test]
fn search_without_waiting_reports_the_unindexed_number() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, orchard());
    let shared = SharedIndex::default();
    let (answers, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let data = store.folder().to_owned();
    let (index, answers) = (shared.clone(), Answers::new(answers));
    let indexer =
        Indexer::start(data, index, store.texts(), SessionLength::Short, answers).unwrap();
    let (waiting, told) = channel();
    indexer.when_indexed(waiting);
    assert_eq!(told.recv_timeout(WAIT), Ok(0));
    while heard.try_recv().is_ok() {}
    commit(&mut store, 2, vec![titled(7, "Hail and frost", "x")]);
    indexer.changed(FEED);
    indexer.when_indexed(channel().0);
    // The screen is informed of the update before the callers that wait for it.
    let (waiting, told) = channel();
    indexer.when_indexed(waiting);
    assert_eq!(told.recv_timeout(WAIT), Ok(0));
    let heard: Vec<Input> = std::iter::from_fn(|| heard.try_recv().ok()).collect();
    assert_eq!(heard, [1, 0].map(|missing| Input::Indexed { missing }));
    store.use_index(shared.get().unwrap());
    assert_eq!(found(&mut store, "hail"), [5]);
    indexer.stop();
}

#[test]
fn missing_or_damaged_index_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, orchard());
    catch_up(&mut store);
    assert_eq!(SearchIndex::damage(folder.path()), None);
    let files = SearchIndex::folder_in(folder.path());
    for damage in 0..4 {
        match damage {
            3 => {
                // The program was killed while it built the index for the first time, so the folder is empty.
                std::fs::remove_dir_all(&files).unwrap();
                std::fs::create_dir(&files).unwrap();
            }
            0 => std::fs::remove_dir_all(&files).unwrap(),
            1 => std::fs::write(files.join("meta.json"), "nonsense").unwrap(),
            _ => {
                for file in std::fs::read_dir(&files).unwrap() {
                    let path = file.unwrap().path();
                    if path.extension().is_some_and(|end| end == "words") {
                        let mut bytes = std::fs::read(&path).unwrap();
                        bytes.iter_mut().take(20).for_each(|byte| *byte ^= 0x5a);
                        std::fs::write(&path, bytes).unwrap();
                    }
                }
            }
        }
        assert_eq!(
            SearchIndex::damage(folder.path()).is_some(),
            [1, 2].contains(&damage),
            "{damage}"
        );
        if damage == 2 {
            SearchIndex::make_empty(folder.path()).unwrap();
        }
        assert_eq!(catch_up(&mut store).state().missing, 0, "{damage}");
        assert_eq!(SearchIndex::damage(folder.path()), None, "{damage}");
    }
}

#[test]
fn search_result_list_keeps_entries_read_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 1, orchard());
    catch_up(&mut store);
    let list = |order, keep: &[EntryKey]| ListQuery {
        scope: Scope::Found(Box::new(matching("frost is:unread", false))),
        show: Show::All,
        since: None,
        keep: keep.iter().copied().collect(),
        gaps: Vec::new(),
        order,
        join: None,
        apart: Default::default(),
        rare: None,
    };
    let seqs = |store: &mut Store, query: &ListQuery| -> Vec<u32> {
        let rows = store.ordered(query).unwrap();
        rows.into_iter().filter_map(|row| Some(row.entry()?.seq)).collect()
    };
    assert_eq!(seqs(&mut store, &list(RowOrder::BestFirst, &[])), [0, 1]);
    assert_eq!(seqs(&mut store, &list(RowOrder::OldestFirst, &[])), [1, 0]);
    store.mark(&[key(0)], Flag::Read, true).unwrap();
    assert_eq!(seqs(&mut store, &list(RowOrder::NewestFirst, &[])), [1]);
    assert_eq!(seqs(&mut store, &list(RowOrder::NewestFirst, &[key(0)])), [0, 1]);
}

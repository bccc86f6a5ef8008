//! How the store keeps the publication times from which rhythms are learned.

use backissue_core::feed::Entry;
use chrono::TimeDelta;

use super::{FEED, at, commit, end, entry, open, polled};

fn minutes(store: &backissue::io::store::Store) -> Vec<i64> {
    store.publications(FEED).unwrap().minutes().collect()
}

fn stamped(id: u32, second: i64) -> Entry {
    Entry { published: Some(at(second)), ..entry(id, "text") }
}

#[test]
fn first_document_records_all_dates_and_later_ones_news() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    assert!(store.publications(FEED).unwrap().since().is_none());
    commit(&mut store, 0, vec![stamped(1, -7200), stamped(2, -600)]);
    let minute = |second: i64| at(second).timestamp() / 60;
    assert_eq!(minutes(&store), [minute(-7200), minute(-600)]);
    let mut second = polled(FEED, 3600, vec![stamped(3, 1800), stamped(1, -7200)]);
    second.state.facts.last_ok = Some(at(3600));
    let mut before = second.state.clone();
    before.facts.last_ok = Some(at(0));
    store.save_state(FEED, &before).unwrap();
    store.commit(&second).unwrap();
    assert_eq!(minutes(&store), [minute(-7200), minute(-600), minute(1800)]);
    let mut third = polled(FEED, 7200, vec![stamped(3, 1800)]);
    third.document.as_mut().unwrap().entries[0].updated = Some(at(5400));
    third.document.as_mut().unwrap().entries[0].content = Some("rewritten".into());
    store.commit(&third).unwrap();
    assert_eq!(minutes(&store).len(), 4);
    assert_eq!(minutes(&store)[3], minute(5400));
}

#[test]
fn poll_without_news_keeps_the_publication_record() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    commit(&mut store, 0, vec![stamped(1, -7200)]);
    let known = store.publications(FEED).unwrap();
    commit(&mut store, 60, vec![stamped(1, -7200)]);
    let mut unchanged = polled(FEED, 120, Vec::new());
    unchanged.document = None;
    store.commit(&unchanged).unwrap();
    assert_eq!(store.publications(FEED).unwrap(), known);
    drop(store);
    let mut store = open(&folder);
    assert_eq!(store.publications(FEED).unwrap(), known);
    end(&mut store, FEED);
    store.forget_feeds(&[FEED]).unwrap();
    drop(store);
    assert!(open(&folder).publications(FEED).unwrap().since().is_none());
}

#[test]
fn busiest_feed_record_stays_below_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    let entries = (0..2500).map(|id| stamped(id, -i64::from(id) * 120));
    commit(&mut store, 0, entries.collect());
    let publications = store.publications(FEED).unwrap();
    assert_eq!(publications.len(), 2000);
    assert!(rmp_serde::to_vec_named(&publications).unwrap().len() < 32_000);
    assert!(publications.since().unwrap() > (at(0) - TimeDelta::days(84)).timestamp() / 60);
}

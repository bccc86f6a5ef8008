//! The user's actions on a feed's history: allow a walk of its archives, stop it, dismiss a gap, read the archives again.

use backissue_core::history::{GoOn, Limit, Mode, Next, Reason};

use super::Reader;
use super::publisher::{Fault, Publisher, SITE};

#[test]
fn in_ask_mode_a_catch_up_of_three_needs_no_question() {
    let mut publisher = Publisher::new(2, 5);
    let mut reader = Reader::of(SITE);
    reader.policy.mode = Mode::Ask;
    reader.poll(&mut |url: &str| publisher.answer(url));
    assert_eq!(reader.requests.len(), 0);
    let key = reader.gaps()[0].0;
    reader.record.go_on(key, &reader.nodes);
    reader.walk(&mut |url: &str| publisher.answer(url));
    assert_eq!((reader.requests.len(), reader.gaps().len()), (2, 0));

    publisher.archives = 4;
    reader.poll(&mut |url: &str| publisher.answer(url));
    let read = (reader.requests.len(), reader.gaps().len());
    assert_eq!(read, (5, 0), "two new ones, and the former newest one, which may have grown");
    publisher.archives = 10;
    reader.poll(&mut |url: &str| publisher.answer(url));
    assert_eq!(reader.requests.len(), 8, "three of six");
    let reason = reader.gaps().remove(0).1.reason;
    assert_eq!(reason, Reason::Limit { limit: Limit::Consent, fetched: 3 });
}

#[test]
fn stopped_walk_continues_where_it_stopped() {
    let mut publisher = Publisher::new(10, 5);
    let mut reader = Reader::of(SITE);
    reader.policy.run_documents = 4;
    reader.poll(&mut |url: &str| publisher.answer(url));
    let key = reader.gaps()[0].0;
    assert_eq!(reader.record.go_on(key, &reader.nodes), GoOn::Walking);
    let now = reader.now;
    assert!(matches!(reader.desk().next(now), Next::Fetch(_)));
    reader.record.stop(now);
    assert_eq!(reader.desk().next(now), Next::Rest(None), "a late answer would find no walk");
    let gap = reader.gaps().remove(0);
    assert_eq!((gap.0, reader.gaps().len()), (key, 1));
    reader.policy.run_documents = 20;
    reader.record.go_on(key, &reader.nodes);
    reader.walk(&mut |url: &str| publisher.answer(url));
    assert_eq!(reader.standing(), "complete history");
    assert!(reader.applied.values().all(|times| *times == 1));
}

#[test]
fn a_dismissed_gap_stays_hidden_until_its_reason_changes() {
    let mut publisher = Publisher::new(3, 5);
    publisher.faults.insert(2, Fault::Status(404));
    let mut reader = Reader::of(SITE);
    reader.poll(&mut |url: &str| publisher.answer(url));
    let key = reader.gaps()[0].0;
    reader.record.dismiss(key);
    assert!(reader.gaps().is_empty());
    assert_eq!(reader.standing(), "1 archive read so far, 1 gap", "hidden is not complete");
    reader.record.go_on(key, &reader.nodes);
    reader.walk(&mut |url: &str| publisher.answer(url));
    publisher.faults.insert(2, Fault::Status(410));
    reader.record.go_on(key, &reader.nodes);
    reader.walk(&mut |url: &str| publisher.answer(url));
    assert_eq!(reader.gaps().len(), 1);
}

#[test]
fn rereading_forgets_archives_and_keeps_entries() {
    let mut publisher = Publisher::new(6, 5);
    let mut reader = Reader::of(SITE);
    reader.poll(&mut |url: &str| publisher.answer(url));
    let before: Vec<String> = reader.ids().into_iter().map(str::to_owned).collect();
    reader.record.reread(&mut reader.nodes);
    reader.walk(&mut |url: &str| publisher.answer(url));
    assert_eq!(reader.requests.len(), 12, "a document without new entries is no reason to stop");
    assert_eq!(reader.ids(), before);
    assert_eq!(reader.standing(), "complete history");
}

#[test]
fn continue_during_a_reread_does_not_end_it() {
    let mut publisher = Publisher::new(6, 5);
    let mut reader = Reader::of(SITE);
    reader.poll(&mut |url: &str| publisher.answer(url));
    reader.record.reread(&mut reader.nodes);
    assert_eq!(reader.record.go_on_everywhere(&reader.nodes), GoOn::Walking);
    reader.walk(&mut |url: &str| publisher.answer(url));
    assert_eq!(reader.requests.len(), 12);
}

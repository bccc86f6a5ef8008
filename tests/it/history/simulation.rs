//! A walk of three hundred archives, of which one in ten is broken, by a feed reader that crashes fifty times.

use backissue_core::history::{GapKind, GoOn};

use super::Reader;
use super::publisher::{Chance, Fault, Publisher, SITE};

const ARCHIVES: usize = 300;
const ENTRIES: usize = 50;

fn reader(seed: u64) -> Reader {
    let mut reader = Reader::of(SITE);
    reader.policy.day_documents = 100_000;
    let mut chance = Chance(seed ^ 0x00c0_ffee);
    let mut steps = std::collections::BTreeSet::new();
    while steps.len() < 50 {
        steps.insert(1 + chance.below(560) as u32);
    }
    reader.crashes = steps.into_iter().rev().collect();
    reader
}

/// Continues the walk at each limit until there is none left, like a user who always agrees.
fn keep_saying_yes(reader: &mut Reader, publisher: &mut Publisher) {
    for _ in 0..100 {
        let mut limits = reader.gaps().into_iter().filter(|(_, gap)| gap.kind() == GapKind::Limit);
        let Some((key, _)) = limits.next_back() else { return };
        assert_eq!(reader.record.go_on(key, &reader.nodes), GoOn::Walking);
        reader.walk(&mut |url: &str| publisher.answer(url));
    }
    panic!("the walk does not end");
}

/// Checks that each reachable entry is listed once, and that the rest is shown as one gap at the end of the list.
fn check_partial(reader: &Reader, publisher: &Publisher) {
    let (reached, loops) = match publisher.newest_fault() {
        None => (0, false),
        Some((archive, Fault::Loop(_))) => (archive - 1, true),
        Some((archive, _)) => (archive, false),
    };
    let expected = (ARCHIVES - reached) * ENTRIES + 10;
    let ids = reader.ids();
    assert_eq!(ids.len(), expected);
    assert!(ids.is_sorted_by(|a, b| a < b), "every entry once");
    let gaps = reader.gaps();
    assert_eq!(gaps.len(), usize::from(publisher.newest_fault().is_some()), "{gaps:?}");
    if let Some((_, gap)) = gaps.first() {
        assert_eq!(gap.kind() == GapKind::Loop, loops);
        assert_eq!(reader.list().last(), Some(&format!("{:?}", gap.kind())), "it is last");
        // The history is called complete except for the gap only if the gap is not retried automatically.
        let said = match gap.retry_at {
            _ if loops => "may be incomplete: its archives form a loop".to_owned(),
            None => "history complete except 1 gap".to_owned(),
            Some(_) => match reader.record.archives {
                0 => "no archives read yet, 1 gap".to_owned(),
                1 => "1 archive read so far, 1 gap".to_owned(),
                count => format!("{count} archives read so far, 1 gap"),
            },
        };
        assert_eq!(reader.standing(), said);
    }
}

/// Polls and retries until no entry is missing; after each poll the newest fault is removed, and after a few polls all faults.
fn simulate(seed: u64, loops: bool, undated: bool) {
    let mut publisher = Publisher::new(ARCHIVES, ENTRIES).with_faults(seed, loops);
    publisher.undated = undated;
    let mut reader = reader(seed);
    let mut looped = 0;
    for round in 0..100 {
        reader.poll(&mut |url: &str| publisher.answer(url));
        keep_saying_yes(&mut reader, &mut publisher);
        check_partial(&reader, &publisher);
        let Some((broken, fault)) = publisher.newest_fault() else { break };
        looped += usize::from(matches!(fault, Fault::Loop(_)));
        publisher.faults.remove(&broken);
        if round > 3 {
            publisher.heal();
        }
        // Archives that answered 403 or 410 and loops are retried only when the user asks; other faults are retried at the next
        // poll.
        if matches!(fault, Fault::Status(403 | 410) | Fault::Loop(_)) {
            let key = reader.gaps()[0].0;
            assert_eq!(reader.record.go_on(key, &reader.nodes), GoOn::Walking);
            reader.walk(&mut |url: &str| publisher.answer(url));
        }
        reader.pass(24 * 8);
    }
    assert_eq!(reader.standing(), "complete history", "seed {seed}");
    assert_eq!(reader.ids().len(), ARCHIVES * ENTRIES + 10);
    assert_eq!(reader.counters.unread, 10, "history is never unread");
    let again = reader.applied.values().filter(|times| **times > 1).count();
    // Only the archives with a looping link are merged twice, because the test asked for a retry.
    assert!(again <= looped, "{again} archives were fetched again");
    assert!(reader.crashes.is_empty(), "it lost its memory fifty times on the way");
}

#[test]
fn broken_archives_are_read_partly_and_fully_once_healed() {
    for seed in 1..=2 {
        simulate(seed, false, seed % 2 == 0);
    }
}

#[test]
fn loops_are_shown_and_repaired() {
    simulate(11, true, false);
}

#[test]
fn changed_addresses_cost_one_request_without_duplicates() {
    let mut publisher = Publisher::new(40, 10);
    let mut reader = Reader::of(SITE);
    reader.policy.run_documents = 100;
    reader.poll(&mut |url: &str| publisher.answer(url));
    assert_eq!((reader.requests.len(), reader.ids().len()), (40, 410));
    for edition in 1..=5 {
        publisher.edition = edition;
        reader.pass(24);
        reader.poll(&mut |url: &str| publisher.answer(url));
        assert_eq!(reader.requests.len(), 40 + edition as usize, "one request for each change");
        assert_eq!(reader.ids().len(), 410);
        assert_eq!(reader.standing(), "complete history");
    }
}

#[test]
fn changing_unreachable_address_stays_one_gap() {
    let mut publisher = Publisher::new(40, 10);
    publisher.faults.insert(40, Fault::Status(404));
    let mut reader = Reader::of(SITE);
    reader.policy.run_documents = 100;
    for edition in 1..=6 {
        publisher.edition = edition;
        reader.poll(&mut |url: &str| publisher.answer(url));
        assert_eq!(reader.gaps().len(), 1, "{:?}", reader.gaps());
        reader.pass(1);
    }
    publisher.heal();
    publisher.edition = 7;
    reader.poll(&mut |url: &str| publisher.answer(url));
    assert_eq!(reader.standing(), "complete history");
    assert_eq!(reader.ids().len(), 410);
}

//! The stored counters equal a recount after random actions in any order.

use backissue::engine::entries::rows::Show;
use backissue_core::history::{EntryKey, FeedKey, Flag};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{end, entry, listed, open, polled};

/// An action of a user or a publisher.
#[derive(Debug, Clone)]
enum Step {
    Poll { feed: u32, ids: Vec<u32>, text: u8 },
    Mark { feed: u32, seqs: Vec<u32>, flag: Flag, value: bool },
    End { feed: u32 },
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let feed = || 1_u32..=3;
    let flag = prop_oneof![Just(Flag::Read), Just(Flag::Starred)];
    let step = prop_oneof![
        6 => (feed(), vec(1_u32..=90, 0..40), any::<u8>())
            .prop_map(|(feed, ids, text)| Step::Poll { feed, ids, text: text % 3 }),
        6 => (feed(), vec(0_u32..=95, 0..40), flag, any::<bool>())
            .prop_map(|(feed, seqs, flag, value)| Step::Mark { feed, seqs, flag, value }),
        1 => feed().prop_map(|feed| Step::End { feed }),
        1 => Just(Step::Reopen),
    ];
    vec(step, 1..25)
}

fn check(steps: Vec<Step>) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder);
    for (second, step) in (1_i64..).zip(steps) {
        match step {
            Step::Poll { feed, ids, text } => {
                let entries = ids.iter().map(|&id| entry(id, &format!("text {text}"))).collect();
                store.commit(&polled(FeedKey(feed), second, entries)).unwrap();
            }
            Step::Mark { feed, seqs, flag, value } => {
                let keys: Vec<EntryKey> =
                    seqs.iter().map(|&seq| EntryKey { feed: FeedKey(feed), seq }).collect();
                store.mark(&keys, flag, value).unwrap();
            }
            Step::End { feed } => {
                // Only an existing subscription can be ended.
                let known = store.subscriptions().unwrap();
                if known.iter().any(|saved| saved.key == FeedKey(feed)) {
                    end(&mut store, FeedKey(feed));
                    drop(store);
                    store = open(&folder);
                }
            }
            Step::Reopen => {
                drop(store);
                store = open(&folder);
            }
        }
    }
    assert_eq!(store.check(false).unwrap().findings, [], "the store's own recount");
    let sums = store.subscriptions().unwrap().into_iter().fold((0, 0, 0), |sum, saved| {
        let sums = saved.counters;
        (sum.0 + sums.total, sum.1 + sums.unread, sum.2 + sums.starred)
    });
    let counted = [Show::All, Show::Unread, Show::Starred]
        .map(|show| u32::try_from(listed(&mut store, show).len()).unwrap());
    assert_eq!([sums.0, sums.1, sums.2], counted, "what lists show");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_equal_a_recount_after_any_steps(steps in steps()) {
        check(steps);
    }
}

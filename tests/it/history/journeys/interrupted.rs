//! Interrupted archive walks: what is in the store equals what was in memory.

use backissue::engine::backfill::walk_stage::HistoryAction;
use backissue::engine::feeds::subscription::{ProposedFor, ProposedMove};
use backissue::engine::poll::poll_request::{PollKind, PollRequest};
use backissue::engine::request::{Request, TroubleAnswer};
use backissue_core::history::FeedKey;
use chrono::TimeDelta;

use super::{FEED, NOTES, archive, orchard, standing, subscribe};
use crate::support::store_port::Kind;
use crate::support::world::rss;

#[test]
fn reread_archives_are_forgotten_before_the_poll_is_saved() {
    let mut world = orchard();
    world.refuse(&archive("2026-01"), 404, Default::default());
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.rest();
    let other = format!("{NOTES}other.atom");
    world.serve(&other, &rss("Other", &[("o", "One", 1, "")]));
    world.pass(TimeDelta::minutes(6));
    subscribe(&mut world, &other);
    world.tell(Request::History(FEED, HistoryAction::Reread));
    world.tell(Request::Poll(PollRequest {
        feeds: Some(vec![FEED]),
        kind: PollKind::Allowed,
        archives: true,
    }));
    world.wait(1);
    assert!(!world.app.engine.backfills.is_empty(), "the archive waits for its pause");
    assert_eq!(world.store.check(false).unwrap().findings, []);
    world.rest();
    assert_eq!(world.store.check(false).unwrap().findings, []);
    assert_eq!(world.asked().iter().filter(|url| url.ends_with("2026-02.atom")).count(), 2);
}

/// Each write of the history in turn fails, alone or with a poll that fails or is under way: it is never called complete while
/// entries are missing, and becomes so in the end.
#[test]
fn a_history_is_not_called_complete_after_any_write_failed() {
    let all = {
        let mut world = orchard();
        subscribe(&mut world, &format!("{NOTES}index.atom"));
        world.rest();
        (world.feed(1).counters.total, standing(&world))
    };
    assert!(all.1.starts_with("complete history"), "{all:?}");
    for failing in 0..6 {
        for with_poll in [None, Some(false), Some(true)] {
            let mut world = orchard();
            subscribe(&mut world, &format!("{NOTES}index.atom"));
            let mut written = 0;
            for _ in 0..40 {
                if written == failing {
                    world.failing.push(Kind::WritesHistory);
                    if let Some(fails) = with_poll {
                        world.failing.extend(fails.then_some(Kind::WritesPoll));
                        let feeds = Some(vec![FEED]);
                        let kind = PollKind::Forced;
                        world.tell(Request::Poll(PollRequest { feeds, kind, archives: true }));
                    }
                }
                written += 1;
                world.wait(1);
                let shown = (world.feed(1).counters.total, standing(&world));
                let stored = world.reload();
                let kept = stored.engine.feeds[&FEED].history.status().text();
                for (total, words) in [(shown.0, shown.1), (shown.0, kept)] {
                    let is_whole = !words.starts_with("complete") || total == all.0;
                    assert!(is_whole, "{failing} {with_poll:?}: {total} entries, {words}");
                }
                if written > failing && world.app.engine.backfills.is_empty() {
                    break;
                }
            }
            world.failing.clear();
            for _ in 0..30 {
                world.pass(TimeDelta::hours(12));
            }
            assert_eq!((world.feed(1).counters.total, standing(&world)), all, "{failing}");
        }
    }
}

#[test]
fn interrupted_walk_leaves_memory_equal_to_the_store() {
    let other = format!("{NOTES}other.atom");
    let polled = |feed| {
        Request::Poll(PollRequest {
            feeds: Some(vec![feed]),
            kind: PollKind::Allowed,
            archives: true,
        })
    };
    for end in ["429", "unsubscribed", "merged"] {
        let (mut world, document) = (orchard(), rss("Other", &[("o", "One", 1, "")]));
        world.refuse(&archive("2026-01"), 404, Default::default());
        subscribe(&mut world, &format!("{NOTES}index.atom"));
        world.rest();
        world.serve(&other, &document);
        subscribe(&mut world, &other);
        world.wait(2);
        world.refuse(&other, 429, Default::default());
        world.pass(TimeDelta::minutes(6));
        world.tell(polled(FEED));
        world.tell(Request::History(FEED, HistoryAction::Reread));
        assert!(!world.app.engine.backfills.is_empty(), "the archive waits for its pause");
        match end {
            "429" => {
                world.tell(polled(FeedKey(2)));
                world.pass(TimeDelta::seconds(1));
            }
            "unsubscribed" => {
                world.tell(Request::Unsubscribe(FEED));
                world.tell(Request::Undo);
            }
            _ => {
                let moving = world.app.engine.feeds.get_mut(&FEED).unwrap();
                let to = other.clone();
                moving.state.proposed = Some(ProposedMove {
                    to,
                    because: ProposedFor::Move,
                    public: true,
                    since: world.now,
                });
                world.tell(Request::Trouble(FEED, TroubleAnswer::AcceptMove));
                assert!(!world.app.engine.feeds.contains_key(&FEED));
                world.tell(Request::Undo);
            }
        }
        assert!(world.app.engine.backfills.is_empty(), "{end}");
        assert_eq!(world.reload().engine.feeds[&FEED].history, world.feed(1).history);
        world.serve(&other, &document);
        world.pass(TimeDelta::hours(26));
        world.wait(2);
        world.rest();
        let newest = world.asked().iter().filter(|url| **url == archive("2026-02")).count();
        assert_eq!(newest, 2, "the requested history is reread");
    }
}

#[test]
fn killed_program_resumes_without_refetching() {
    let mut world = orchard();
    subscribe(&mut world, &format!("{NOTES}index.atom"));
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.asked().len(), 2, "one archive came");
    world.restart();
    assert!(world.app.engine.backfills.is_empty());
    world.press("l");
    let screen = world.draw();
    assert_eq!(standing(&world), "1 archive read so far");
    world.pass(TimeDelta::hours(2));
    world.rest();
    assert_eq!(standing(&world), "complete history");
    let archives: Vec<&str> =
        world.asked().into_iter().filter(|url| url.contains("archive/")).collect();
    assert_eq!(archives.len(), 3, "{screen}");
}

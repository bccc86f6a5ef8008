//! Failed store writes: exactly the change that the failed write should have stored is reverted on the screen, and the program does
//! not wait for the lost write.

use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::feeds::subscription::{
    ArchiveAddress, FormerAddress, ProposedFor, ProposedMove, Subscription,
};
use backissue::engine::poll::fetch::AnswerHeaders;
use backissue::engine::request::{Input, Request, TroubleAnswer};
use backissue::engine::update::update as engine_update;
use backissue::io::store::{SessionLength, Store, damaged_folders};
use backissue::ui::effect::ScreenEffect;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{FeedKey, Flag};
use backissue_core::schedule::{FeedStatus, Pace, Wait, WaitHeader};
use chrono::TimeDelta;

use crate::store::damage::destroy;
use crate::support::rss::rss;
use crate::support::store_port::Kind;
use crate::support::world::World;

const NOTES: &str = "https://orchard.example/feed";

fn world() -> World {
    let items =
        [("a", "Wax", 1, "a"), ("b", "Sponsored: Ladders", 2, "b"), ("c", "Vespers", 3, "c")];
    let feed = rss("Orchard Notes", &items);
    let mut world = World::subscribed(120, 36, &[(NOTES, &feed, &["garden"])]);
    world.press("<enter>");
    world
}

/// Returns the number of starred rows on the screen, and of starred entries in the store.
fn stars(world: &World) -> (usize, u32) {
    let rows = world.app.ui.list.rows.iter().filter(|row| row.flags.is_starred());
    (rows.count(), world.reload().engine.starred())
}

#[test]
fn failed_star_is_reverted_and_its_neighbour_stays() {
    let mut world = world();
    world.press("sj");
    assert_eq!(stars(&world), (1, 1));
    world.failing.push(Kind::MarksWith(Flag::Starred));
    world.press("s");
    assert_eq!(stars(&world), (1, 1), "the one before is unchanged");
    assert!(world.notice().contains("the disk is full"), "{}", world.notice());
    world.press("s");
    assert_eq!(stars(&world), (2, 2), "and it can be tried again");
    world.press("uu");
    assert_eq!(stars(&world), (0, 0), "the failed change is no step of undo");
}

#[test]
fn failed_star_of_several_entries_keeps_the_one_that_had_it() {
    let mut world = world();
    world.press("s");
    world.failing.push(Kind::MarksWith(Flag::Starred));
    world.press("xjxs");
    assert_eq!(stars(&world), (1, 1), "one of the two was starred before");
}

#[test]
fn failed_read_mark_is_reverted_in_list_and_reader() {
    let mut world = world();
    world.failing.push(Kind::MarksWith(Flag::Read));
    world.press("<enter>");
    assert!(world.app.ui.list.selected_row().unwrap().flags.is_unread());
    assert!(world.app.ui.reader.as_ref().unwrap().entry.flags.is_unread());
    assert_eq!(world.app.engine.unread(), 3);
    world.press("N");
    assert_eq!((world.app.engine.unread(), world.reload().engine.unread()), (2, 2));
}

#[test]
fn retry_after_is_respected_when_it_cannot_be_saved() {
    let mut world = world();
    let retry_after = Some("288000".to_owned());
    world.refuse(NOTES, 429, AnswerHeaders { retry_after, ..AnswerHeaders::default() });
    world.failing.push(Kind::WritesPoll);
    world.poll(FeedKey(1));
    assert_eq!(world.feed(1).state.facts.failures, 0, "a full disk counts as no failure");
    let asked = world.requests.len();
    for _ in 0..200 {
        world.pass(TimeDelta::minutes(20));
    }
    assert_eq!(world.requests.len(), asked);
    world.refuse(NOTES, 410, AnswerHeaders::default());
    world.failing.push(Kind::WritesPoll);
    world.pass(TimeDelta::hours(30));
    for _ in 0..100 {
        world.pass(TimeDelta::hours(3));
    }
    assert_eq!(world.requests.len(), asked + 1, "it is gone");
}

/// Returns the number of subscriptions in memory and in the store.
fn subscribed(world: &World) -> (usize, usize) {
    (world.app.engine.feeds.len(), world.reload().engine.feeds.len())
}

#[test]
fn failed_subscription_writes_leave_feeds_unchanged() {
    let mut world = world();
    world.failing.push(Kind::WritesRecords);
    world.tell(Request::Unsubscribe(FeedKey(1)));
    assert_eq!(subscribed(&world), (1, 1), "it is still subscribed");
    assert!(world.feed(1).plan.next_poll.is_some(), "and has its time");
    world.tell(Request::Undo);
    assert!(world.notice().contains("nothing to undo"), "{}", world.notice());
    world.tell(Request::Unsubscribe(FeedKey(1)));
    assert_eq!(subscribed(&world), (0, 0));
    world.failing.push(Kind::WritesRecords);
    world.tell(Request::Undo);
    assert_eq!(subscribed(&world), (0, 0), "it is not restored");
    let address = "https://tower.example/feed".to_owned();
    let wanted = Subscribe { address, ..Subscribe::default() };
    world.failing.push(Kind::WritesRecords);
    world.tell(Request::Import(vec![wanted.clone()]));
    assert_eq!(subscribed(&world), (0, 0), "it is not made");
    world.tell(Request::Import(vec![wanted]));
    assert_eq!(subscribed(&world), (1, 1));
}

#[test]
fn undo_after_a_failed_mark_all_asks_first() {
    let mut world = world();
    world.press("s");
    world.failing.push(Kind::MarksList);
    world.press("A");
    assert_eq!(world.app.engine.unread(), 3);
    world.press("u<esc>");
    assert_eq!(stars(&world), (1, 1), "nothing older goes without an answer");
    world.press("u<enter>");
    assert_eq!(stars(&world), (0, 0));
}

#[test]
fn failed_setting_reverts_with_its_plan() {
    let mut world = world();
    let before = world.feed(1).clone();
    world.press("hgjjjjjj");
    world.failing.push(Kind::WritesRecords);
    world.press("+");
    let after = world.feed(1);
    assert_eq!(after.record.feed_settings, before.record.feed_settings);
    assert_eq!(after.plan.next_poll, before.plan.next_poll);
    assert!(world.notice().contains("the disk is full"), "{}", world.notice());
    world.press("-");
    assert_eq!(world.feed(1).record.feed_settings.pace, Some(Pace::Less));
    world.press("u");
    assert_eq!(world.feed(1).record.feed_settings.pace, before.record.feed_settings.pace);
}

#[test]
fn failed_move_answer_keeps_address_and_question() {
    for answer in [
        TroubleAnswer::DeclineMove,
        TroubleAnswer::AcceptMove,
        TroubleAnswer::UndoMove,
        TroubleAnswer::AllowInsecure,
        TroubleAnswer::Resume,
    ] {
        let mut world = world();
        let former = FormerAddress {
            url: "https://former.example/feed".into(),
            until: world.now,
            public: true,
            by_user: false,
        };
        let to = "https://elsewhere.example/feed".to_owned();
        let subscription = world.app.engine.feeds.get_mut(&FeedKey(1)).unwrap();
        subscription.record.former.push(former);
        subscription.state.proposed =
            Some(ProposedMove { to, because: ProposedFor::Move, public: true, since: world.now });
        subscription.state.archive = Some(ArchiveAddress {
            current: None,
            why: "it names none".into(),
            insecure: false,
            since: world.now,
        });
        subscription.state.facts.standing = FeedStatus::Archive;
        subscription.state.facts.hints.expired = true;
        subscription.state.facts.failures = 3;
        subscription.state.failing_since = Some(world.now);
        std::sync::Arc::make_mut(&mut subscription.history).windows.sizes.push(3);
        let before = world.feed(1).clone();
        world.failing.push(Kind::WritesRecords);
        world.tell(Request::Trouble(FeedKey(1), answer));
        assert!(world.notice().contains("the disk is full"), "{}", world.notice());
        assert_eq!(world.feed(1).record, before.record, "{answer:?}");
        assert_eq!(world.feed(1).state.proposed, before.state.proposed, "{answer:?}");
        assert_eq!(world.feed(1).state.archive, before.state.archive, "{answer:?}");
        let standing = |feed: &Subscription| feed.state.facts.standing;
        assert_eq!(standing(world.feed(1)), standing(&before), "{answer:?}");
        assert_eq!(world.feed(1).state.facts.failures, 3, "{answer:?}");
        assert_eq!(world.feed(1).state.failing_since, before.state.failing_since, "{answer:?}");
        assert_eq!(world.feed(1).history.windows, before.history.windows, "{answer:?}");
        world.tell(Request::Undo);
        assert_eq!(world.feed(1).record, before.record, "{answer:?}: nothing must be undone");
    }
}

#[test]
fn host_wait_survives_a_failed_move() {
    let (notes, news) = ([("a", "Wax", 1, "a")], [("b", "Bells", 2, "b")]);
    let (notes, news) = (rss("Orchard Notes", &notes), rss("Orchard News", &news));
    let feeds: [(&str, &str, &[&str]); 2] =
        [(NOTES, &notes, &[]), ("https://orchard.example/news", &news, &[])];
    let mut world = World::subscribed(120, 36, &feeds);
    let to = "https://elsewhere.example/feed".to_owned();
    let subscription = world.app.engine.feeds.get_mut(&FeedKey(1)).unwrap();
    subscription.state.proposed =
        Some(ProposedMove { to, because: ProposedFor::Move, public: true, since: world.now });
    let accepted = Input::Request(Request::Trouble(FeedKey(1), TroubleAnswer::AcceptMove));
    let effects = engine_update(&mut world.app.engine, world.now, accepted).effects;
    let news = world.app.engine.feeds.get_mut(&FeedKey(2)).unwrap();
    let (received_at, stated_by) = (world.now, WaitHeader::RetryAfter);
    news.state.facts.host_wait = Some(Wait { received_at, seconds: 7200, stated_by, refusals: 0 });
    world.failing.push(Kind::WritesRecords);
    world.perform(effects.into_iter().map(ScreenEffect::from).collect());
    assert_eq!(world.feed(1).record.url, NOTES);
    let wait = |feed: &Subscription| feed.state.facts.host_wait.map(|wait| wait.seconds);
    assert_eq!(wait(world.feed(1)), Some(7200));
    assert_eq!(wait(&world.reload().engine.feeds[&FeedKey(1)]), Some(7200), "after a restart, too");
}

#[test]
fn failed_merge_keeps_the_feed_and_its_question() {
    let (notes, tower) =
        (rss("Orchard Notes", &[("a", "Wax", 1, "a")]), "https://tower.example/feed");
    let bells = rss("Tower", &[("b", "Bells", 2, "b")]);
    let feeds: [(&str, &str, &[&str]); 2] =
        [(NOTES, &notes, &["garden"]), (tower, &bells, &["music"])];
    let mut world = World::subscribed(120, 36, &feeds);
    let subscription = world.app.engine.feeds.get_mut(&FeedKey(1)).unwrap();
    let proposed = ProposedMove {
        to: tower.to_owned(),
        because: ProposedFor::Move,
        public: true,
        since: world.now,
    };
    subscription.state.proposed = Some(proposed);
    let before = (world.feed(1).clone(), world.feed(2).clone());
    world.failing.push(Kind::Merges);
    world.tell(Request::Trouble(FeedKey(1), TroubleAnswer::AcceptMove));
    assert!(world.notice().contains("the disk is full"), "{}", world.notice());
    assert_eq!(subscribed(&world), (2, 2));
    assert_eq!(world.feed(1).record, before.0.record);
    assert_eq!(world.feed(1).state.proposed, before.0.state.proposed);
    assert!(world.feed(1).plan.next_poll.is_some(), "it has its time");
    assert_eq!(world.feed(2).record, before.1.record);
    world.tell(Request::Undo);
    assert!(world.notice().contains("nothing to undo"), "{}", world.notice());
    world.tell(Request::Trouble(FeedKey(1), TroubleAnswer::AcceptMove));
    assert_eq!(subscribed(&world), (1, 1));
    assert_eq!(
        (world.feed(2).counters.total, &world.feed(2).record.tags[..]),
        (2, &["music".to_owned(), "garden".to_owned()][..])
    );
    assert_eq!(world.reload().engine.feeds[&FeedKey(2)].counters.total, 2);
}

#[test]
fn failed_tag_change_reverts_on_every_feed() {
    let mut world = world();
    world.press("hgjjjjjj");
    world.failing.push(Kind::WritesRecords);
    world.press("t<c-u>music<enter>");
    assert_eq!(world.feed(1).record.tags, ["garden"]);
    assert!(world.draw().contains("garden"));
}

#[test]
fn failed_filter_is_dropped_and_the_next_is_saved() {
    let mut world = world();
    world.press("j");
    world.failing.push(Kind::WritesFilters);
    world.press("m<enter>");
    assert!(world.app.engine.filters.list.is_empty());
    assert!(world.notice().contains("the disk is full"), "{}", world.notice());
    assert_eq!(world.app.engine.unread(), 3);
    world.press("m<enter>");
    assert_eq!(world.app.engine.filters.list.len(), 1);
    assert_eq!(world.reload().engine.filters.list, world.app.engine.filters.list);
    world.failing.push(Kind::WritesFilters);
    world.press("FD");
    assert_eq!(world.app.engine.filters.list.len(), 1, "unsubscribing is undone too");
}

#[test]
fn a_filter_that_cannot_be_applied_is_taken_back() {
    let mut world = world();
    world.failing.push(Kind::AppliesFilter);
    world.press("jm<enter>");
    assert_eq!((world.app.engine.filters.list.len(), world.app.engine.unread()), (0, 3));
    let again = world.reload();
    assert!(again.engine.filters.list.is_empty() && !again.engine.undo.can_undo());
}

#[test]
fn two_filters_that_fail_together_leave_none_in_the_store() {
    let mut world = world();
    world.press("jm<enter>");
    let kept = world.app.engine.filters.list.clone();
    assert_eq!(kept.len(), 1);
    for _ in 0..2 {
        world.failing.push(Kind::WritesFilters);
    }
    let new = EntryFilter { query: "plum".into(), ..EntryFilter::default() };
    world.tell(Request::Together(vec![
        Request::RemoveFilter(kept[0].id),
        Request::SaveFilter(Box::new(new)),
    ]));
    assert_eq!(world.app.engine.filters.list, kept);
    assert_eq!(world.reload().engine.filters.list, kept);
}

#[test]
fn failed_saved_search_makes_no_list() {
    let mut world = world();
    world.failing.push(Kind::WritesSearches);
    world.press("/wax<c-s>");
    assert!(world.app.engine.saved_searches.is_empty());
    assert!(!world.draw().contains("⌕ wax"));
    world.press("<esc><esc>u");
    assert_eq!(world.notice(), "nothing to undo");
}

#[test]
fn failed_poll_write_restores_the_known_state() {
    let mut world = world();
    let before = world.feed(1).state.validators.clone();
    world.serve(NOTES, &rss("Orchard Notes", &[("d", "New", 4, "d")]));
    world.failing.push(Kind::WritesPoll);
    world.poll(FeedKey(1));
    let feed = world.feed(1);
    assert_eq!(feed.state.validators, before);
    assert!(!feed.is_failing(), "it is no fault of the feed's");
    let now = world.now;
    assert_eq!(backissue::engine::feeds::trouble::count(&world.app.engine, now), 0);
    assert!(world.app.engine.room_awaited.is_some(), "no feed is polled automatically now");
    assert_eq!(world.app.engine.unread(), 3);
    world.poll(FeedKey(1));
    assert_eq!(world.app.engine.unread(), 4);
    assert_eq!(world.app.engine.room_awaited, None, "there is room again");
}

#[test]
fn command_for_an_unreadable_entry_never_starts_later() {
    let mut world = world();
    world.failing.push(Kind::ReadsEntry);
    world.press("|cat<enter>");
    assert!(world.ran.is_empty());
    assert!(world.notice().contains("the disk is full"), "{}", world.notice());
    world.press("<enter>");
    assert!(world.ran.is_empty(), "{:?}", world.ran);
    assert!(world.app.ui.reader.is_some(), "the entry is open");
}

#[test]
fn recovery_report_stays_in_attention_until_dismissed() {
    let feed = rss("Orchard Notes", &[("a", "Wax", 1, "a")]);
    let mut world = World::subscribed(120, 36, &[(NOTES, &feed, &[])]);
    let told =
        "the store could not be opened (a part of its log is damaged): 12 records were recovered";
    world.app.engine.mended = Some(told.to_owned());
    world.press("hgg");
    let mut rows = 0;
    while !world.draw().contains("The store") && rows < 12 {
        world.press("j");
        rows += 1;
    }
    let shown = world.draw();
    assert!(shown.contains("The store") && shown.contains("mended"), "{shown}");
    world.press("l<enter>");
    assert_eq!(world.app.engine.mended, None);
    assert!(!world.draw().contains("The store"));
}

#[test]
fn recovery_report_repeats_at_start_until_dismissed() {
    let feed = rss("Orchard Notes", &[("a", "Wax", 1, "a")]);
    let mut world = World::subscribed(120, 36, &[(NOTES, &feed, &[])]);
    world.store.back_up_daily(world.now.date_naive()).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    world.store = Store::open(elsewhere.path()).unwrap();
    destroy(world.folder.path());
    let (store, told) =
        Store::open_or_recover(world.folder.path(), world.now, SessionLength::Short).unwrap();
    world.store = store;
    let told = told.unwrap();
    assert!(told.contains("the texts of 1 entry are missing; the next polls restore"), "{told}");
    let goes_to_the_store = |world: &mut World| {
        world.press("hhgg");
        for _ in 0..12 {
            if world.draw().contains("The store") {
                return true;
            }
            world.press("j");
        }
        false
    };
    for _ in 0..2 {
        world.restart();
        assert_eq!(world.app.engine.mended.as_ref(), Some(&told));
        assert!(goes_to_the_store(&mut world), "{}", world.draw());
    }
    world.press("l<enter>");
    world.restart();
    assert_eq!(world.app.engine.mended, None);
    assert!(!goes_to_the_store(&mut world), "{}", world.draw());
    let kept = damaged_folders(world.folder.path());
    assert_eq!(kept[0].told, told, "the doctor still reports it");
}

//! Undo and redo of changes that were made in different views.

use backissue::engine::change::MarkChange;
use backissue::engine::change::value::SavedSearch;
use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::feeds::setting_row::Chosen;
use backissue::engine::feeds::subscription::{GivenBy, SubscriptionRecord};
use backissue::engine::request::{Input, Request};
use backissue::engine::update::update as engine_update;
use backissue::ui::effect::ScreenEffect;
use backissue::ui::keys::key_bindings::{KeyPreset, Keymap};
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flag, Flags};

use chrono::TimeDelta;

use crate::support::world::{World, rss};

fn world() -> World {
    let entries = [("a", "One", 1, ""), ("b", "Two", 2, ""), ("c", "Three", 3, "")];
    // Articles with one link would be read together.
    let tower = rss("Tower", &entries).replace("site.example", "tower.example");
    let garden = rss("Garden", &entries);
    let mut world = World::subscribed(
        100,
        30,
        &[
            ("https://garden.example/feed", &garden, &[]),
            ("https://tower.example/feed", &tower, &[]),
        ],
    );
    world.press("hG");
    world
}

/// Returns everything that the user can change: the subscriptions and the marks of all entries.
fn state(world: &mut World) -> (Vec<SubscriptionRecord>, Vec<Flags>) {
    let records = world.app.engine.feeds.values().map(|feed| feed.record.clone()).collect();
    let keys: Vec<EntryKey> = (1..=2)
        .flat_map(|feed| (0..3).map(move |seq| EntryKey { feed: FeedKey(feed), seq }))
        .collect();
    let entries = world.store.entries(&keys).unwrap();
    (records, entries.into_iter().map(|entry| entry.flags).collect())
}

#[test]
fn all_changes_are_undone_and_redone_in_order() {
    let mut world = world();
    let mut seen = vec![state(&mut world)];
    for keys in ["+", "ls", "jN", "A", "h-", "Dy"] {
        world.press(keys);
        let now = state(&mut world);
        assert_ne!(Some(&now), seen.last(), "{keys} changes something");
        seen.push(now);
    }
    for _ in 0..2 {
        for before in seen.iter().rev().skip(1) {
            world.press("u");
            assert_eq!(&state(&mut world), before);
        }
        world.press("u");
        assert_eq!(world.notice(), "nothing to undo");
        for after in seen.iter().skip(1) {
            world.press("<c-y>");
            assert_eq!(&state(&mut world), after);
        }
        world.press("<c-y>");
        assert_eq!(world.notice(), "nothing to redo");
    }
}

#[test]
fn undo_is_reported_and_a_new_change_ends_redo() {
    let mut world = world();
    world.press("lA");
    assert_eq!(world.notice(), "3 marked read · u undo");
    world.press("u");
    assert_eq!(world.notice(), "undone: 3 marked read");
    world.press("<c-y>");
    assert_eq!(world.notice(), "redone: 3 marked read");
    world.press("h+u");
    assert_eq!(world.notice(), "undone: settings of 'Tower'");
    world.press("<c-y>");
    assert_eq!(world.notice(), "redone: settings of 'Tower'");
    world.press("u-<c-y>");
    assert_eq!(world.notice(), "nothing to redo");
}

#[test]
fn two_hundred_changes_can_be_undone() {
    let mut world = world();
    let start = state(&mut world);
    for _ in 0..100 {
        world.press("+-");
    }
    assert_ne!(state(&mut world), start);
    for _ in 0..200 {
        world.press("u");
    }
    assert_eq!(state(&mut world), start);
}

#[test]
fn five_thousand_entries_are_marked_and_undone_in_one_step() {
    let items: Vec<(String, String)> =
        (0..5000).map(|n| (format!("g{n}"), format!("Entry {n}"))).collect();
    let entries: Vec<(&str, &str, i64, &str)> = (1..)
        .zip(&items)
        .map(|(hours, (guid, title))| (guid.as_str(), title.as_str(), hours, ""))
        .collect();
    let large = rss("Large", &entries);
    let mut world = World::subscribed(100, 30, &[("https://large.example/feed", &large, &[])]);
    assert_eq!(world.app.engine.unread(), 5000);
    world.press("lsA");
    assert_eq!((world.app.engine.unread(), world.notice()), (0, "5000 marked read · u undo"));
    world.press("hG+");
    world.press("uu");
    assert_eq!((world.app.engine.unread(), world.notice()), (5000, "undone: 5000 marked read"));
    world.press("<c-y>");
    assert_eq!((world.app.engine.unread(), world.notice()), (0, "redone: 5000 marked read"));
    world.press("uu<c-y>");
    assert_eq!((world.app.engine.unread(), world.app.engine.starred()), (5000, 1));
}

#[test]
fn undo_of_mark_unread_makes_an_archived_entry_old_again() {
    let mut world = World::new(120, 36);
    crate::history::journeys::serve_orchard(&mut world);
    crate::history::journeys::subscribe(&mut world, "https://orchard.example/notes/index.atom");
    world.rest();
    let flags = |world: &World| world.app.ui.list.selected_row().unwrap().flags;
    world.press("lG");
    let before = flags(&world);
    assert!(before.is_from_history() && !before.was_opened(), "{before:?}");
    world.press("N");
    assert!(flags(&world).is_unread());
    world.press("u");
    assert_eq!(flags(&world), before);
}

#[test]
fn list_that_was_empty_shows_what_undo_brings_back() {
    let mut world = world();
    world.press("hg");
    let unread: Vec<String> = world.titles().into_iter().map(str::to_owned).collect();
    assert!(!unread.is_empty());
    world.press("AjkA");
    assert_eq!(world.titles(), [""; 0], "everything is read");
    world.press("u");
    assert_eq!(world.titles(), unread);
}

#[test]
fn undo_of_a_wider_mark_keeps_earlier_marks() {
    let keys: Vec<EntryKey> = (0..3).map(|seq| EntryKey { feed: FeedKey(1), seq }).collect();
    for reopened in [false, true] {
        let mut world = world();
        let mark = |keys: &[EntryKey]| {
            Request::Mark(MarkChange { keys: keys.to_vec(), flag: Flag::Starred, value: true })
        };
        let starred = |world: &mut World| -> Vec<bool> {
            let entries = world.store.entries(&keys).unwrap();
            entries.into_iter().map(|entry| entry.flags.is_starred()).collect()
        };
        world.tell(mark(&keys[..1]));
        world.tell(mark(&keys));
        // These entries are already starred, so the request changes nothing and adds no undo step.
        world.tell(mark(&keys[1..]));
        assert_eq!(starred(&mut world), [true; 3]);
        for expected in [[true, false, false], [false; 3]] {
            if reopened {
                world.reopen();
            }
            world.tell(Request::Answered(Box::new(Request::Undo), None));
            assert_eq!(starred(&mut world), expected, "{reopened}");
        }
    }
}

#[test]
fn changes_are_undone_in_order_by_another_process() {
    let mut world = world();
    let mut seen = vec![state(&mut world)];
    for keys in ["+", "ls", "jN", "A", "h-"] {
        world.press(keys);
        seen.push(state(&mut world));
    }
    for before in seen.iter().rev().skip(1) {
        world.reopen();
        world.press("u");
        assert_ne!(&state(&mut world), before, "it asks, because an earlier session changed it");
        world.press("<enter>");
        assert_eq!(&state(&mut world), before);
    }
    world.reopen();
    world.press("u");
    assert_eq!(world.notice(), "nothing to undo");
    assert_eq!(world.store.check(false).unwrap().findings, []);
}

#[test]
fn unsubscribed_feed_is_restored_by_another_process() {
    let mut world = world();
    world.press("ls<tab>hG");
    let before = state(&mut world);
    let sums = |world: &World| (world.app.engine.unread(), world.app.engine.starred());
    let counted = sums(&world);
    world.press("Dy");
    assert_eq!((world.app.engine.feeds.len(), sums(&world).1), (1, 0));
    world.reopen();
    assert_eq!(world.app.engine.feeds.len(), 1);
    let health = world.store.check(false).unwrap();
    assert_eq!((health.feeds, health.entries, health.findings), (1, 3, vec![]));
    world.press("gg<enter>");
    assert_eq!(world.titles().len(), 3, "the remaining entries");
    world.press("u<enter>");
    assert_eq!(world.notice(), "subscribed again to 'Tower'");
    assert_eq!((state(&mut world), sums(&world)), (before, counted));
    world.reopen();
    assert_eq!((world.app.engine.feeds.len(), sums(&world)), (2, counted));
}

#[test]
fn unsubscribed_feed_is_deleted_after_a_week() {
    let mut world = world();
    world.press("+Dy");
    world.pass(TimeDelta::days(7) - TimeDelta::seconds(1));
    assert_eq!(world.store.ended_subscriptions().unwrap().len(), 1);
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.store.ended_subscriptions().unwrap(), []);
    assert_eq!(world.store.saved_steps().unwrap(), []);
    world.press("u");
    assert_eq!(world.notice(), "nothing to undo");
    world.reopen();
    assert_eq!((world.app.engine.feeds.len(), world.app.engine.last_feed), (1, 1));
    assert_eq!(world.store.last_feed().unwrap(), 2, "no number is used twice");
}

/// A process that starts with a clock that is a year ahead deletes nothing: all is there when the clock is right again.
#[test]
fn wrong_clock_does_not_delete_what_is_kept_for_a_week() {
    let mut world = world();
    world.press("Dy");
    let right = world.now;
    world.now += TimeDelta::days(365);
    world.reopen();
    world.pass(TimeDelta::hours(1));
    assert_eq!(world.store.ended_subscriptions().unwrap().len(), 1);
    world.now = right;
    world.reopen();
    world.press("u<enter>");
    assert_eq!(world.notice(), "subscribed again to 'Tower'");
    world.press("Dy");
    world.pass(TimeDelta::days(6));
    world.reopen();
    world.pass(TimeDelta::days(2));
    assert_eq!(world.store.ended_subscriptions().unwrap(), [], "this process has run for a day");
}

#[test]
fn undo_does_not_duplicate_a_resubscribed_feed() {
    let mut world = world();
    world.press("Dy");
    let address = "https://tower.example/feed".to_owned();
    // A server names the feed before the user restores it.
    let again = Subscribe { address, given_by: GivenBy::Account, ..Subscribe::default() };
    world.subscribe_to_all(vec![again]);
    assert_eq!(world.app.engine.feeds.len(), 2);
    world.press("u");
    assert!(world.notice().contains("cannot be restored"), "{}", world.notice());
    assert_eq!(world.app.engine.feeds.len(), 2);
}

#[test]
fn unwritten_change_is_not_undone_by_another_process() {
    let mut world = world();
    world.failing.push(crate::support::store_port::Kind::Marks);
    world.press("ls");
    assert!(world.notice().contains("the disk is full"), "{}", world.notice());
    assert_eq!(world.store.saved_steps().unwrap(), []);
    world.reopen();
    world.press("u");
    assert_eq!(world.notice(), "nothing to undo");
}

/// Makes a request, unsubscribes from feed 1 before the request's effects are performed, and then undoes the removal.
fn while_it_is_given_up(world: &mut World, request: Request) {
    let asked = engine_update(&mut world.app.engine, world.now, Input::Request(request)).effects;
    world.tell(Request::Unsubscribe(FeedKey(1)));
    world.perform(asked.into_iter().map(ScreenEffect::from).collect());
    world.tell(Request::Undo);
}

#[test]
fn writes_to_an_unsubscribed_feed_count_after_undo() {
    let mut world = world();
    let keys: Vec<EntryKey> = (0..3).map(|seq| EntryKey { feed: FeedKey(1), seq }).collect();
    world.tell(Request::Mark(MarkChange { keys: keys.clone(), flag: Flag::Read, value: true }));
    assert_eq!(world.feed(1).counters.unread, 0);
    while_it_is_given_up(&mut world, Request::Undo);
    let stored = world.reload().engine.feeds[&FeedKey(1)].counters;
    assert_eq!((stored.unread, world.feed(1).counters), (3, stored));
    while_it_is_given_up(
        &mut world,
        Request::Mark(MarkChange { keys, flag: Flag::Starred, value: true }),
    );
    let stored = world.reload().engine.feeds[&FeedKey(1)].counters;
    assert_eq!((stored.starred, world.feed(1).counters), (3, stored));
}

fn listed(count: u32) -> Vec<Subscribe> {
    let listed = |number| Subscribe {
        address: format!("https://{number}.example/feed"),
        ..Subscribe::default()
    };
    (1..=count).map(listed).collect()
}

#[test]
fn what_arrives_is_no_step_and_offers_no_undo() {
    let mut world = world();
    world.press("ls<tab>hG");
    let before = state(&mut world);
    world.tell(Request::Arrived(Box::new(Request::Import(listed(12)))));
    assert!(!world.notice().contains("undo"), "{}", world.notice());
    assert_eq!(world.app.engine.feeds.len(), 14);
    world.press("u");
    assert_eq!(world.notice(), "undone: 1 starred");
    world.tell(Request::Arrived(Box::new(Request::Unsubscribe(FeedKey(9)))));
    assert!(!world.notice().contains("undo"), "{}", world.notice());
    world.press("u");
    assert_eq!((world.notice(), world.app.engine.feeds.len()), ("nothing to undo", 13));
    world.press("<c-y>");
    assert_eq!(world.notice(), "redone: 1 starred", "nor does it end redo");
    assert_eq!(state(&mut world).1, before.1);
}

#[test]
fn only_what_the_user_changed_is_taken_back() {
    let mut world = world();
    let set = |world: &mut World, arrived: bool, change: &dyn Fn(&mut Chosen)| {
        let mut chosen = world.feed(1).record.chosen();
        change(&mut chosen);
        let request = Request::Set(FeedKey(1), Box::new(chosen));
        world.tell(if arrived { Request::Arrived(Box::new(request)) } else { request });
    };
    set(&mut world, false, &|chosen| chosen.tags = vec!["Mine".into()]);
    set(&mut world, false, &|chosen| chosen.own_title = Some("Mine".into()));
    set(&mut world, true, &|chosen| chosen.own_title = Some("Theirs".into()));
    set(&mut world, true, &|chosen| chosen.tags.insert(0, "Folder".into()));
    world.press("uu");
    let record = &world.feed(1).record;
    assert_eq!(
        (record.own_title.as_deref(), &record.tags[..]),
        (Some("Theirs"), &["Folder".into()][..])
    );
    world.tell(Request::RenameTag { tag: "Folder".into(), name: "Shelf".into() });
    set(&mut world, true, &|chosen| chosen.tags.push("Later".into()));
    world.press("u");
    assert_eq!(world.feed(1).record.tags, ["Later", "Folder"]);
}

#[test]
fn an_import_of_an_earlier_session_is_undone_after_a_question() {
    let mut world = world();
    world.tell(Request::Import(listed(60)));
    world.reopen();
    for keys in ["u<esc>", "unu", "<esc>"] {
        world.press(keys);
        assert_eq!(world.app.engine.feeds.len(), 62, "{keys}");
    }
    world.press("u");
    let screen = world.draw();
    assert!(screen.contains("undo import of an earlier session: unsubscribe from 60"), "{screen}");
    world.press("<enter>");
    assert_eq!(world.app.engine.feeds.len(), 2);
    assert_eq!(world.notice(), "import undone: 60 feeds; Ctrl-y brings them back");
    world.reopen();
    world.press("<c-y>");
    assert_eq!(world.app.engine.feeds.len(), 62);
    assert_eq!(world.notice(), "import redone: 60 feeds");
    world.press("u<enter>");
    world.press(":removed<enter>A");
    assert_eq!(world.app.engine.feeds.len(), 62, "all rows at once");
}

#[test]
fn a_question_is_about_the_change_that_it_names() {
    let mut world = world();
    world.press("ls");
    world.reopen();
    world.press("u");
    world.tell(Request::Mark(MarkChange {
        keys: vec![EntryKey { feed: FeedKey(2), seq: 0 }],
        flag: Flag::Read,
        value: true,
    }));
    let before = state(&mut world);
    world.press("<enter>");
    assert!(world.notice().contains("nothing was undone"), "{}", world.notice());
    assert_eq!(state(&mut world), before);
}

#[test]
fn with_the_keys_of_newsboat_u_shows_the_links() {
    let mut world = world();
    world.app.ui.settings.keys = Keymap::with(KeyPreset::Newsboat, &[], Vec::new()).0;
    world.app.ui.settings.key_preset = KeyPreset::Newsboat;
    world.press("hD");
    assert_eq!(world.app.engine.feeds.len(), 2, "D does nothing there");
    world.press("lA");
    assert_eq!(world.notice(), "3 marked read · Y undo");
    world.press("<enter>uuuu");
    assert_eq!(world.app.engine.unread(), 3, "it undoes nothing");
    world.press("<esc>Y");
    assert_eq!(world.app.engine.unread(), 6);
    world.press("C");
    assert!(world.notice().contains("press A on the list 'All unread'"), "{}", world.notice());
}

#[test]
fn a_removed_feed_that_is_added_again_has_its_marks() {
    let mut world = world();
    let tower = world.app.engine.feeds.values().find(|feed| feed.record.url.contains("tower"));
    let (feed, address) = tower.map(|feed| (feed.key, feed.record.url.clone())).unwrap();
    let star =
        MarkChange { keys: vec![EntryKey { feed, seq: 0 }], flag: Flag::Starred, value: true };
    world.tell(Request::Mark(star));
    let before = world.feed(feed.0).counters;
    world.tell(Request::Unsubscribe(feed));
    let (tags, title) = (vec!["new".into()], Some("Belfry".into()));
    let wanted = Subscribe { address, tags, title, ..Subscribe::default() };
    world.tell(Request::Subscribe(Box::new(wanted)));
    world.rest();
    assert!(world.notice().starts_with("subscribed again, with its marks,"), "{}", world.notice());
    let again = world.feed(feed.0);
    assert_eq!((again.counters, again.record.tags.last().unwrap().as_str()), (before, "new"));
    let kept = world.reload().engine;
    assert_eq!(kept.feeds[&feed].counters, before);
    assert_eq!(kept.feeds[&feed].record.own_title.as_deref(), Some("Belfry"));
    world.tell(Request::Undo);
    assert!(!world.app.engine.feeds.contains_key(&feed));
}

#[test]
fn a_renamed_tag_is_renamed_in_searches_and_filters() {
    let mut world = world();
    let chosen = Chosen { tags: vec!["Folder".into()], ..world.feed(1).record.chosen() };
    world.tell(Request::Set(FeedKey(1), Box::new(chosen)));
    let search = SavedSearch { id: 1, name: "mine".into(), text: "one tag:folder".into() };
    world.tell(Request::SaveSearches(vec![search]));
    let query = "tag:folder title:two".to_owned();
    world.tell(Request::SaveFilter(Box::new(EntryFilter { query, ..EntryFilter::default() })));
    let queries = |world: &World| {
        let engine = &world.app.engine;
        let tag = engine.feeds[&FeedKey(1)].record.tags[0].clone();
        (tag, engine.saved_searches[0].text.clone(), engine.filters.list[0].query.clone())
    };
    let before = queries(&world);
    world.tell(Request::RenameTag { tag: "Folder".into(), name: "My shelf".into() });
    let named =
        ["My shelf", "one tag:\"My shelf\"", "tag:\"My shelf\" title:two"].map(str::to_owned);
    assert_eq!(queries(&world), named.clone().into());
    world.press("u");
    assert_eq!(queries(&world), before);
    world.press("<c-y>");
    world.reopen();
    assert_eq!(queries(&world), named.into());
}

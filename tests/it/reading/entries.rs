//! Journeys from key press to screen: reading, marking, undoing, subscribing, polling.

use crate::support::documents::page;
use crate::support::rss::{NOTES, rss, two_feeds};
use crate::support::store_port::{Kind, entry_read, entry_wanted};
use crate::support::world::{Scripted, World};
use backissue::engine::entries::entry_view::LoadedEntry;
use backissue::engine::poll::poll_log::PollOutcome;
use backissue::engine::poll::poll_request::{PollKind, PollRequest};
use backissue::engine::request::{Input, Request};
use backissue::ui::effect::ScreenEffect;
use backissue::ui::keys::key::Key;
use backissue::ui::state::layout::Pane;
use backissue::ui::update::{ScreenInput, update};
use backissue_core::history::FeedKey;
use chrono::TimeDelta;

fn unread(world: &World) -> u64 {
    world.app.engine.unread()
}

#[test]
fn opening_an_entry_marks_it_read_and_undo_takes_it_back() {
    let mut world = two_feeds();
    assert_eq!(unread(&world), 3);
    world.press("<enter><enter>");
    assert_eq!((unread(&world), world.app.ui.focus), (2, Pane::Reader));
    assert!(world.draw().contains("Wax"));
    world.press("u");
    assert_eq!(unread(&world), 3);
}

#[test]
fn marking_a_list_read_is_one_undo_step() {
    let mut world = two_feeds();
    world.press("A");
    assert_eq!(unread(&world), 0);
    assert_eq!(world.notice(), "3 marked read · u undo");
    assert_eq!(world.titles().len(), 3, "rows stay until the list is reopened");
    world.press("u");
    assert_eq!(unread(&world), 3);
    world.press("u");
    assert_eq!(world.notice(), "nothing to undo");
}

#[test]
fn undo_after_mark_all_reverts_only_the_list() {
    let mut world = two_feeds();
    world.press("<enter>s");
    // The user presses both keys before the store has answered the first one.
    let now = world.now;
    let marks = update(&mut world.app, now, ScreenInput::Key(Key::char('A')));
    assert!(update(&mut world.app, now, ScreenInput::Key(Key::char('u'))).is_empty());
    world.perform(marks);
    assert_eq!((unread(&world), world.app.engine.starred()), (3, 1));
    assert_eq!(world.notice(), "undone: 3 marked read");
}

#[test]
fn a_star_is_set_taken_away_and_undone() {
    let mut world = two_feeds();
    world.press("<enter>s");
    assert_eq!(world.app.engine.starred(), 1);
    world.press("hjj");
    assert_eq!(world.titles(), ["Wax"]);
    world.press("ls");
    assert_eq!(world.app.engine.starred(), 0);
    world.press("u");
    assert_eq!(world.app.engine.starred(), 1);
}

#[test]
fn space_moves_through_unread_entries_and_feeds() {
    let mut world = two_feeds();
    world.press("jjjjjj");
    assert_eq!(world.titles(), ["Wax", "Ladders"]);
    world.press("   ");
    assert_eq!(unread(&world), 0, "two of this feed and one of the next");
    assert_eq!(world.titles(), ["Vespers"]);
    world.press(" ");
    assert_eq!(world.notice(), "nothing unread");
}

#[test]
fn the_previous_unread_entry_is_found_above() {
    let mut world = two_feeds();
    world.press("<enter>jjp");
    assert_eq!(world.app.ui.reader.as_ref().unwrap().entry.kept.title.as_deref(), Some("Ladders"));
}

#[test]
fn link_opens_by_number_and_page_by_o() {
    let mut world = two_feeds();
    world.press("<enter><enter>1o");
    assert_eq!(world.opened, ["https://site.example/x", "https://site.example/n2"]);
}

#[test]
fn q_goes_back_pane_by_pane_and_then_quits() {
    let mut world = two_feeds();
    world.press("<enter><enter>qq");
    assert!(!world.quit);
    world.press("q");
    assert!(world.quit);
}

#[test]
fn a_feed_is_not_polled_again_by_hand_within_a_minute() {
    let mut world = two_feeds();
    let before = world.requests.len();
    world.press("<end>r");
    assert_eq!(world.requests.len(), before);
    assert_eq!(world.notice(), "nothing new in Orchard Notes (checked 2 s ago)");
    world.pass(TimeDelta::seconds(61));
    world.press("r");
    assert_eq!(world.requests.len(), before + 1);
}

#[test]
fn validators_return_to_their_address_and_304_adds_nothing() {
    let mut world = two_feeds();
    let body = world.network[NOTES].body.clone();
    world.network.insert(
        NOTES.into(),
        Scripted { status: 200, etag: Some("W/odd-\"tag"), body, ..Scripted::default() },
    );
    for _ in 0..2 {
        world.pass(TimeDelta::minutes(2));
        world.tell(Request::Poll(PollRequest {
            feeds: Some(vec![FeedKey(1)]),
            kind: PollKind::Allowed,
            archives: true,
        }));
        world.pass(TimeDelta::seconds(2));
    }
    let last = world.requests.last().unwrap();
    assert_eq!(
        last.validators.as_ref().and_then(|v| v.etag.as_deref()),
        Some(b"W/odd-\"tag".as_slice())
    );
    assert_eq!(world.app.engine.poll_run.results.back().unwrap().outcome, PollOutcome::NotModified);
    assert_eq!(unread(&world), 3);
}

#[test]
fn manual_poll_ignores_the_startup_delay() {
    let mut world = two_feeds();
    world.pass(TimeDelta::minutes(2));
    let before = world.requests.len();
    world.app.engine.host_queue.not_before = Some(world.now + TimeDelta::seconds(5));
    world.press("<end>r");
    assert_eq!(world.requests.len(), before + 1);
}

#[test]
fn a_forced_poll_carries_no_validators() {
    let mut world = two_feeds();
    world.network.get_mut(NOTES).unwrap().etag = Some("\"1\"");
    for kind in [PollKind::Allowed, PollKind::Forced] {
        world.pass(TimeDelta::minutes(2));
        world.tell(Request::Poll(PollRequest {
            feeds: Some(vec![FeedKey(1)]),
            kind,
            archives: true,
        }));
        world.pass(TimeDelta::seconds(2));
    }
    let last = world.requests.last().unwrap();
    assert!(
        last.validators.is_none()
            && last.kind == backissue::engine::poll::fetch::RequestKind::Fresh
    );
}

#[test]
fn feeds_are_polled_by_plan_automatically() {
    let mut world = two_feeds();
    let polled = world.requests.len();
    let planned = world.app.engine.feeds[&FeedKey(1)].plan.next_poll.unwrap();
    assert!(planned > world.now, "{planned}");
    world.pass(planned - world.now - TimeDelta::seconds(1));
    let early = world.requests.iter().skip(polled).filter(|request| request.url == NOTES).count();
    world.pass(TimeDelta::seconds(1));
    world.pass(TimeDelta::seconds(3));
    let due = world.requests.iter().skip(polled).filter(|request| request.url == NOTES).count();
    assert_eq!((early, due), (0, 1));
}

#[test]
fn failing_feed_keeps_entries_and_validators_and_backs_off() {
    let mut world = two_feeds();
    world.network.get_mut(NOTES).unwrap().etag = Some("\"1\"");
    world.pass(TimeDelta::minutes(2));
    world.press("<end>r");
    world.pass(TimeDelta::seconds(2));
    world.network.insert(NOTES.into(), Scripted { status: 500, ..Scripted::default() });
    world.pass(TimeDelta::minutes(2));
    world.press("r");
    world.pass(TimeDelta::seconds(2));
    let feed = &world.app.engine.feeds[&FeedKey(1)];
    assert_eq!(feed.state.trouble.as_deref(), Some("answered 500 Internal Server Error"));
    assert_eq!((feed.state.facts.failures, feed.counters.total), (1, 2));
    assert_eq!(feed.state.validators.etag.as_deref(), Some(b"\"1\"".as_slice()));
    assert!(feed.plan.next_poll.unwrap() >= world.now + TimeDelta::minutes(14));
}

#[test]
fn gone_feed_is_not_polled_again() {
    let mut world = two_feeds();
    world.network.insert(NOTES.into(), Scripted { status: 410, ..Scripted::default() });
    world.pass(TimeDelta::minutes(2));
    world.press("<end>r");
    world.pass(TimeDelta::seconds(2));
    let asked = world.requests.len();
    assert!(world.app.engine.feeds[&FeedKey(1)].is_gone());
    world.press("r");
    for _ in 0..50 {
        world.pass(TimeDelta::hours(12));
    }
    assert!(world.requests.iter().skip(asked).all(|request| request.url != NOTES));
    assert_eq!(world.app.engine.feeds[&FeedKey(1)].counters.total, 2);
}

#[test]
fn pasted_site_becomes_a_subscription_with_entries() {
    let mut world = World::new(120, 36);
    world.serve("https://site.example/", "<html><head><title>Site</title><link rel=alternate type='application/rss+xml' href='/feed.xml'></head></html>");
    world.serve(
        "https://site.example/feed.xml",
        &rss("Site Notes", &[("s1", "Hello", 1, "<p>World</p>")]),
    );
    world.tell(ScreenInput::Pasted("https://site.example/".into()));
    world.press("<enter>");
    world.pass(TimeDelta::seconds(2));
    world.pass(TimeDelta::seconds(2));
    let screen = world.draw();
    assert!(screen.contains("Site Notes") && screen.contains("Hello"), "{screen}");
    let offer = "1 entry · no older entries offered · about every hour (default interval)";
    assert_eq!(world.notice(), format!("subscribed to 'Site Notes': {offer} · u undo"));
    world.press("<enter>");
    assert!(world.draw().contains("World"), "paste, Enter, Enter: it is read");
    world.press("uu");
    assert!(world.app.engine.feeds.is_empty(), "the mark and the subscription are undone");
    world.press("<c-y>");
    assert_eq!(world.app.engine.feeds.len(), 1);
}

#[test]
fn a_page_with_several_feeds_asks_which_one() {
    let mut world = World::new(120, 36);
    let links = [("Notes", "/notes.xml"), ("Pictures", "/pictures.xml")];
    world.serve("https://site.example/", &page("Site", &links));
    world.serve(
        "https://site.example/pictures.xml",
        &rss("Pictures of a Site", &[("p1", "A gate", 1, "")]),
    );
    world.press("asite.example<enter>");
    assert!(world.draw().contains("Which feed?"), "{}", world.draw());
    world.press("j<enter>");
    world.pass(TimeDelta::seconds(2));
    assert!(world.notice().starts_with("subscribed to 'Pictures of a Site': 1 entry"));
    world.press("asite.example<enter>");
    world.pass(TimeDelta::seconds(2));
    world.press("q");
    assert!(!world.draw().contains("Which feed?"));
    assert_eq!(world.app.engine.feeds.len(), 1);
}

#[test]
fn page_without_a_feed_is_reported_in_one_sentence() {
    let mut world = World::new(120, 36);
    world.serve("https://site.example/", "<html><head><title>Nothing here</title></head></html>");
    world.press("asite.example<enter>");
    for _ in 0..20 {
        world.pass(TimeDelta::seconds(2));
    }
    assert!(
        world.notice().contains("the page 'Nothing here' links to no feed"),
        "{}",
        world.notice()
    );
    assert!(world.requests.len() <= 8, "{}", world.requests.len());
    assert!(world.app.engine.feeds.is_empty());
}

#[test]
fn an_address_is_subscribed_to_once() {
    let mut world = two_feeds();
    world.press("ahttps://orchard.example/feed<enter>");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.app.engine.feeds.len(), 2);
    assert_eq!(world.notice(), "already subscribed to 'Orchard Notes'");
}

#[test]
fn new_entries_appear_and_the_selection_stays() {
    let mut world = two_feeds();
    world.press("<end><enter>j");
    assert_eq!(world.app.ui.list.selected_row().unwrap().title, "Ladders");
    world.serve(
        NOTES,
        &rss(
            "Orchard Notes",
            &[("n3", "Frost", 0, ""), ("n2", "Wax", 1, ""), ("n1", "Ladders", 2, "")],
        ),
    );
    world.pass(TimeDelta::minutes(2));
    world.press("r");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.titles(), ["Frost", "Wax", "Ladders"]);
    assert_eq!(world.app.ui.list.selected_row().unwrap().title, "Ladders");
}

#[test]
fn unsubscribing_is_undone_with_every_mark() {
    let mut world = two_feeds();
    world.press("<enter>shjjjjjj");
    assert_eq!(world.titles(), ["Wax", "Ladders"]);
    world.press("Dy");
    assert_eq!((world.app.engine.feeds.len(), world.app.engine.starred()), (1, 0));
    assert_eq!(world.notice(), "unsubscribed from 'Orchard Notes' · u undo");
    world.press("g");
    assert_eq!(world.titles(), ["Vespers"], "its entries are in no list");
    assert_eq!(world.reload().engine.feeds.len(), 1);
    world.press("u");
    assert_eq!((world.app.engine.feeds.len(), world.app.engine.starred()), (2, 1));
    world.press("jg");
    assert_eq!(world.titles().len(), 3);
}

#[test]
fn everything_survives_a_restart() {
    let mut world = two_feeds();
    world.press("<enter><enter>s");
    let saved = world.reload();
    assert_eq!(saved.engine.unread(), 2);
    assert_eq!(saved.engine.starred(), 1);
    for (key, feed) in &world.app.engine.feeds {
        assert_eq!(saved.engine.feeds[key].state, feed.state);
        assert_eq!(saved.engine.feeds[key].record, feed.record);
        assert_eq!(saved.engine.feeds[key].plan.due, feed.plan.due);
    }
}

#[test]
fn next_entry_shows_at_once_unless_it_changed() {
    let mut world = two_feeds();
    world.press("<enter><enter>");
    let next = |world: &mut World| {
        let asked = update(&mut world.app, world.now, ScreenInput::Key(Key::char('J')));
        let loads = |effect: &ScreenEffect| Kind::ReadsEntry.starts(effect);
        let key = world.app.ui.reader.as_ref().map(|reader| reader.entry.key);
        let selected = world.app.ui.list.selected_row().and_then(|row| row.key.entry());
        (key == selected, asked.iter().filter(|effect| loads(effect)).count())
    };
    assert_eq!(next(&mut world), (true, 1), "it is shown and the next one is requested");

    let mut world = two_feeds();
    world.press("<enter><enter>");
    let edited = rss("Orchard Notes", &[("n1", "Ladders", 2, "<p>longer ladders</p>")]);
    world.serve(NOTES, &edited);
    world.pass(TimeDelta::minutes(6));
    world.tell(Request::Poll(PollRequest { feeds: None, kind: PollKind::Allowed, archives: true }));
    world.pass(TimeDelta::seconds(2));
    world.press("J");
    assert!(world.draw().contains("longer ladders"), "{}", world.draw());
}

#[test]
fn returning_at_once_finds_the_unsaved_reading_position() {
    let long: String = (0..200).map(|line| format!("<p>paragraph {line}</p>")).collect();
    let feed = rss("Notes", &[("a", "Long", 1, &long), ("b", "Short", 2, "<p>b</p>")]);
    let mut world = World::subscribed(120, 36, &[(NOTES, &feed, &[])]);
    world.press("<enter><enter> J");
    let key = |char| ScreenInput::Key(Key::char(char));
    let left = world.app.ui.left.unwrap();
    assert!(left.1.is_some());
    // The store answers with an older reading position than the one in memory, which must win.
    let asked = update(&mut world.app, world.now, key('K'));
    let read = world.store.read_entry(entry_wanted(&asked)).unwrap().unwrap();
    world.tell(entry_read(LoadedEntry { place: None, ..read }));
    let reader = world.app.ui.reader.as_ref().unwrap();
    assert_eq!((reader.entry.key, reader.place()), (left.0, left.1));
}

#[test]
fn times_follow_the_reader_to_another_time_zone() {
    let mut world = two_feeds();
    world.press("<enter><enter>");
    let before = world.draw();
    world.tell(Input::ZoneChanged(chrono_tz::Tz::Asia__Tokyo));
    assert_ne!(world.draw(), before);
    world.tell(Input::ZoneChanged(chrono_tz::Tz::UTC));
    assert_eq!(world.draw(), before);
}

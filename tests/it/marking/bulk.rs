//! Bulk changes: the user selects several feeds or entries, and the next action changes all of them as one undo step.

use backissue::engine::poll::fetch::AnswerHeaders;
use backissue::ui::state::pending::ImportedList;
use backissue::ui::update::ScreenInput;
use backissue_core::history::{FeedKey, Flags};
use backissue_core::schedule::Pace;

use crate::support::world::{World, rss};

/// Returns a world with five feeds, of which the first three have the same tag.
fn world() -> World {
    let documents: Vec<(String, String)> = (1..=5)
        .map(|number| {
            let (id, title) = (format!("e{number}"), format!("Entry {number}"));
            let entries = [(id.as_str(), title.as_str(), 1, "")];
            (format!("https://f{number}.example/feed"), rss(&format!("Feed {number}"), &entries))
        })
        .collect();
    let feeds: Vec<(&str, &str, &[&str])> = (0..)
        .zip(&documents)
        .map(|(place, (url, body))| {
            let tags: &[&str] = if place < 3 { &["garden"] } else { &[] };
            (url.as_str(), body.as_str(), tags)
        })
        .collect();
    World::subscribed(110, 30, &feeds)
}

fn bottom(world: &mut World) -> String {
    world.draw().lines().rev().nth(1).unwrap_or_default().trim().to_owned()
}

#[test]
fn marked_feeds_are_removed_together_and_restored_by_undo() {
    let mut world = world();
    world.press("jjjjjx");
    assert_eq!(world.app.ui.marked.feeds.len(), 3, "a tag marks its feeds");
    assert!(world.draw().contains("✓  Feed 1"), "{}", world.draw());
    world.press("Gx");
    assert!(bottom(&mut world).starts_with("4 feeds marked · D t r"), "{}", bottom(&mut world));
    world.press("D");
    let question = "Unsubscribe from 'Feed 1', 'Feed 2' and 2 more (4 entries, 4 unread)?";
    assert!(bottom(&mut world).starts_with(question), "{}", bottom(&mut world));
    assert!(bottom(&mut world).ends_with("u undoes this for a week · y/n"));
    world.press("y");
    assert_eq!(world.app.engine.feeds.len(), 1);
    assert_eq!(world.notice(), "unsubscribed from 4 feeds · u undo");
    assert!(world.app.ui.marked.is_empty());
    world.press("u");
    assert_eq!((world.app.engine.feeds.len(), world.app.engine.unread()), (5, 5));
    world.press("<c-y>");
    assert_eq!(world.app.engine.feeds.len(), 1);
    world.reopen();
    assert_eq!(world.app.engine.feeds.len(), 1);
    world.press("u<enter>");
    assert_eq!(world.app.engine.feeds.len(), 5, "another session restores them with one key too");
}

#[test]
fn a_range_is_marked_and_its_pace_and_tags_change_as_one() {
    let mut world = world();
    world.press("jjjjjjxjX");
    assert_eq!(world.app.ui.marked.feeds.len(), 3);
    world.press("+");
    let more = |world: &World| {
        let feeds = world.app.engine.feeds.values();
        feeds.filter(|feed| feed.record.feed_settings.pace == Some(Pace::More)).count()
    };
    assert_eq!((more(&world), world.notice()), (3, "checking 3 feeds more often · u undo"));
    world.press("tnews, -garden<enter>");
    for feed in 1..=3 {
        assert_eq!(world.feed(feed).record.tags, ["news"]);
    }
    world.press("u");
    assert_eq!(world.feed(2).record.tags, ["garden"]);
    world.press("u");
    assert_eq!(more(&world), 0);
    assert_eq!(world.notice(), "undone: 3 changes");
}

#[test]
fn marked_entries_are_starred_and_marked_read_together() {
    let mut world = world();
    world.press("lxxx");
    assert_eq!(world.app.ui.marked.entries.len(), 3);
    assert!(
        bottom(&mut world).starts_with("3 entries marked · N, A and s"),
        "{}",
        bottom(&mut world)
    );
    world.press("s");
    assert_eq!((world.app.engine.starred(), world.notice()), (3, "3 starred · u undo"));
    world.press("gxGXN");
    assert_eq!(world.app.engine.unread(), 0);
    world.press("uu");
    assert_eq!((world.app.engine.unread(), world.app.engine.starred()), (5, 0));
    let flags = world.app.ui.list.rows.iter().map(|row| row.flags.is_unread());
    assert!(flags.into_iter().all(|unread| unread) && !Flags::NEW.is_starred());
}

#[test]
fn escape_clears_marks_and_changes_nothing() {
    let mut world = world();
    world.press("Gxkx<esc>");
    assert!(world.app.ui.marked.is_empty());
    assert_eq!(world.notice(), "all marks removed");
    world.press("jjjx");
    assert!(!world.app.ui.marked.is_empty() || world.notice().starts_with("only feeds"));
}

/// Returns the world of five feeds after feeds 2 and 4 have ended with status 410.
fn world_with_gone_feeds() -> World {
    let mut world = world();
    for feed in [2, 4] {
        let url = format!("https://f{feed}.example/feed");
        world.refuse(&url, 410, AnswerHeaders::default());
        world.poll(FeedKey(feed));
        world.poll(FeedKey(feed));
    }
    world
}

#[test]
fn ended_feeds_are_unsubscribed_by_one_key() {
    let mut world = world_with_gone_feeds();
    world.press("ggjjjjl");
    assert!(world.draw().contains("Z all ended feeds"), "{}", world.draw());
    world.press("Z");
    assert!(
        bottom(&mut world).starts_with("Unsubscribe from 'Feed 2' and 'Feed 4'"),
        "{}",
        bottom(&mut world)
    );
    world.press("y");
    assert_eq!(world.app.engine.feeds.len(), 3);
    world.press("u");
    assert_eq!(world.app.engine.feeds.len(), 5);
    world.press("Zn");
    assert_eq!(world.app.engine.feeds.len(), 5);
}

#[test]
fn one_key_dismisses_all_marked_feeds_and_clears_marks() {
    let mut world = world_with_gone_feeds();
    world.press("ggjjjjlxx");
    assert_eq!(world.app.ui.marked.feeds.len(), 2);
    world.press("N");
    assert!(world.notice().starts_with("dismissed 2 feeds"), "{}", world.notice());
    assert!(world.app.ui.marked.is_empty());
    assert!(world.draw().contains("Nothing needs attention"), "{}", world.draw());
}

#[test]
fn space_turns_the_page_in_the_help_and_leaves_it_open() {
    let mut world = world();
    world.press("?");
    let first = world.draw();
    world.press(" ");
    assert!(world.draw() != first && world.app.ui.overlay.is_some());
    world.press("<esc>");
    assert!(world.app.ui.overlay.is_none());
}

#[test]
fn bulk_change_is_one_undo_step_beyond_the_step_limit() {
    let mut world = world();
    let wanted = (0..300).map(|number| backissue::engine::feeds::addition::Subscribe {
        address: format!("https://m{number}.example/"),
        tags: vec!["many".into()],
        ..Default::default()
    });
    let list = ImportedList { wanted: wanted.collect(), ..ImportedList::default() };
    world.tell(ScreenInput::ListRead(Box::new(list)));
    let place = world.app.ui.feeds.rows.iter().position(|row| {
        matches!(row, backissue::ui::state::feeds_pane::FeedsRow::Tag(tag, _) if tag == "many")
    });
    world.press("ggj");
    for _ in 1..place.unwrap() {
        world.press("j");
    }
    world.press("xDy");
    assert_eq!(world.app.engine.feeds.len(), 5);
    world.press("u");
    assert_eq!(world.app.engine.feeds.len(), 305);
}

#[test]
fn marked_feeds_are_marked_read_instead_of_the_list() {
    let mut world = world();
    world.press("jjjjjxGx");
    assert_eq!(world.app.engine.unread(), 5);
    world.press("A");
    let unread = |world: &World| {
        (1..=5).map(|number| world.feed(number).counters.unread).collect::<Vec<_>>()
    };
    assert_eq!(unread(&world), [0, 0, 0, 1, 0]);
    assert!(world.app.ui.marked.is_empty());
    world.press("u");
    assert_eq!(unread(&world), [1; 5]);
}

#[test]
fn another_order_keeps_the_selected_and_the_marked_entries() {
    let mut world = world();
    let selected = |world: &World| world.app.ui.list.selected_row().unwrap().title.clone();
    world.press("<enter>xx");
    let (title, before) = (selected(&world), world.titles().len());
    for keys in ["S", "S", "f", "fff", "<enter>S"] {
        world.press(keys);
        let marked = world.app.ui.marked.entries.len();
        assert_eq!((selected(&world), marked), (title.clone(), 2), "{keys}");
    }
    assert_eq!(world.app.ui.reader.as_ref().unwrap().entry.kept.title.as_deref(), Some(&*title));
    world.press("hN");
    assert_eq!((before, world.app.engine.unread()), (5, 2), "one was read before");
}

//! The screen position (view, row, entry) is restored when the program starts again.

use std::fmt::Write as _;

use backissue::engine::entries::rows::RowKey;
use backissue::ui::state::feeds_pane::SortOrder;
use backissue::ui::state::layout::Pane;

use crate::support::world::{World, rss};

fn world() -> World {
    let mut long = String::new();
    for number in 0..200 {
        write!(long, "<p>Paragraph {number} of a long text.</p>").unwrap();
    }
    let entries: Vec<(String, String)> =
        (0..80).map(|number| (format!("n{number}"), format!("Entry {number}"))).collect();
    let entries: Vec<(&str, &str, i64, &str)> = (1..)
        .zip(&entries)
        .map(|(hours, (id, title))| (id.as_str(), title.as_str(), hours, long.as_str()))
        .collect();
    let tower = rss("Bell Tower", &[("b1", "Vespers", 3, "<p>Six.</p>")]);
    World::subscribed(
        100,
        30,
        &[
            ("https://orchard.example/feed", &rss("Orchard", &entries), &["garden"]),
            ("https://tower.example/feed", &tower, &["sound"]),
        ],
    )
}

fn selected(world: &World) -> (&str, Option<&str>) {
    let row = world.app.ui.list.selected_row().map_or("", |row| row.title.as_str());
    let reader = world.app.ui.reader.as_ref();
    (row, reader.and_then(|reader| reader.entry.kept.title.as_deref()))
}

#[test]
fn reader_returns_to_its_list_entry_and_position() {
    let mut world = world();
    world.press("jjjjjj<enter>");
    for _ in 0..60 {
        world.press("j");
    }
    world.press("<enter><c-d><c-d>");
    assert_eq!(selected(&world), ("Entry 60", Some("Entry 60")));
    let scroll = world.app.ui.reader.as_ref().unwrap().scroll;
    assert!(scroll > 10);
    let unread = world.app.engine.unread();
    let before = world.draw();
    world.end_and_come_back();
    assert_eq!(selected(&world), ("Entry 60", Some("Entry 60")));
    assert_eq!(world.app.ui.reader.as_ref().unwrap().scroll, scroll);
    assert_eq!((world.app.ui.focus, world.app.engine.unread()), (Pane::Reader, unread));
    assert_eq!(world.draw(), before, "the screen is unchanged");
}

#[test]
fn entry_read_in_the_unread_list_stays_open() {
    let mut world = world();
    world.press("<enter>jj<enter>");
    let read = selected(&world).1.unwrap().to_owned();
    world.end_and_come_back();
    assert_eq!(selected(&world), (read.as_str(), Some(read.as_str())));
    assert!(matches!(world.app.ui.list.selected_row().unwrap().key, RowKey::Entry(_)));
    assert_eq!(world.app.ui.list.total, 81, "it stays in the list");
}

#[test]
fn sort_order_folds_and_layout_are_restored() {
    let mut world = world();
    world.press("SLjjjjj");
    world.end_and_come_back();
    assert_eq!(world.app.ui.feeds.order, SortOrder::Unread);
    assert!(world.app.ui.layout.is_some());
    assert_eq!((world.app.ui.feeds.selected, world.app.ui.focus), (5, Pane::Feeds));
}

#[test]
fn missing_or_unwanted_screen_places_are_skipped() {
    let mut world = world();
    world.press("G<enter><enter>");
    world.app.ui.settings.restore = false;
    world.end_and_come_back();
    assert_eq!((world.app.ui.feeds.selected, world.app.ui.focus), (0, Pane::Feeds));
    assert!(world.app.ui.reader.is_none());
    world.app.ui.settings.restore = true;
    world.press("G<enter><enter>hh");
    let place = backissue::ui::come_back::place_of(&world.app);
    world.press("Dy");
    world.app = world.reload();
    world.app.ui.returns_to = Some(Box::new(place));
    let first = backissue::ui::update::begin(&mut world.app, world.now);
    world.perform(first);
    assert_eq!((world.app.ui.feeds.selected, world.app.ui.focus), (0, Pane::Feeds));
}

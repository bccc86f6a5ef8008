//! Clicks and wheel steps of the mouse on texts that are looked up on the screen.

use crate::support::world::{World, rss};
use backissue::ui::keys::mouse::{Gesture, Mouse};
use backissue::ui::state::layout::Pane;
use backissue::ui::state::overlay::Overlay;
use backissue::ui::update::ScreenInput;
use chrono::TimeDelta;

/// Returns a world with two feeds; the first has many entries and a long text with a link.
fn world(columns: u16, rows: u16) -> World {
    let long = format!(
        "<p>See <a href=\"https://site.example/ladders\">the ladders</a> there.</p>{}",
        "<p>More of it.</p>".repeat(60)
    );
    let many: Vec<(String, String)> =
        (0..60).map(|n| (format!("g{n}"), format!("Entry {n:02} of many"))).collect();
    let mut entries: Vec<(&str, &str, i64, &str)> = vec![("first", "Frost report", 1, &long)];
    for (hour, (guid, title)) in (2..).zip(&many) {
        entries.push((guid, title, hour, "<p>Text.</p>"));
    }
    let orchard = rss("Orchard Notes", &entries);
    let tower = rss("Bell Tower", &[("b1", "Vespers", 3, "<p>Six.</p>")]);
    World::subscribed(
        columns,
        rows,
        &[
            ("https://orchard.example/feed", &orchard, &["garden"]),
            ("https://tower.example/f", &tower, &[]),
        ],
    )
}

/// Returns the column and row of the first occurrence of a text on the screen.
fn place(world: &mut World, text: &str) -> (u16, u16) {
    place_before(world, text, usize::MAX)
}

/// Returns the column and row of the first occurrence of a text that starts within this number of columns from the left.
fn place_before(world: &mut World, text: &str, columns: usize) -> (u16, u16) {
    let screen = world.draw();
    let found = screen.lines().enumerate().find_map(|(row, line)| {
        let column = line[..line.find(text)?].chars().count();
        (column < columns).then_some((column, row))
    });
    let (column, row) = found.unwrap_or_else(|| panic!("no '{text}' in\n{screen}"));
    (u16::try_from(column).unwrap(), u16::try_from(row).unwrap())
}

fn act(world: &mut World, gesture: Gesture, text: &str) {
    let (column, row) = place(world, text);
    world.tell(ScreenInput::Mouse(Mouse { gesture, column, row }));
    world.draw();
}

fn click(world: &mut World, text: &str) {
    act(world, Gesture::Click, text);
}

/// Clicks the row with this title in the feed list.
fn click_feed(world: &mut World, title: &str) {
    let (column, row) = place_before(world, title, 28);
    world.tell(ScreenInput::Mouse(Mouse { gesture: Gesture::Click, column, row }));
    world.draw();
}

#[test]
fn a_click_selects_and_a_second_one_opens() {
    let mut world = world(140, 30);
    click_feed(&mut world, "Bell Tower");
    assert_eq!(world.titles(), ["Vespers"]);
    assert_eq!(world.app.ui.focus, Pane::Feeds);
    click_feed(&mut world, "Orchard Notes");
    click(&mut world, "Entry 03 of many");
    assert_eq!(world.app.ui.focus, Pane::Entries);
    assert!(world.app.ui.reader.is_none());
    click(&mut world, "Entry 03 of many");
    let reader = world.app.ui.reader.as_ref().unwrap();
    assert_eq!(reader.entry.kept.title.as_deref(), Some("Entry 03 of many"));
    assert_eq!(world.app.ui.focus, Pane::Reader);
}

#[test]
fn a_click_on_the_sign_of_a_tag_folds_it() {
    let mut world = world(140, 30);
    click_feed(&mut world, "▾");
    let folded = world.draw();
    assert!(folded.contains("▸ garden") && !folded.contains(" Orchard Notes  "), "{folded}");
    assert_eq!(world.app.ui.feeds.selected, 0, "nothing else was selected");
    click_feed(&mut world, "▸");
    assert!(world.draw().contains("▾ garden"));
    click_feed(&mut world, "garden");
    assert_eq!(world.titles().len(), 61, "beside the sign it is selected");
}

#[test]
fn a_click_on_a_day_heading_selects_nothing() {
    let mut world = world(140, 30);
    world.press("ljj");
    let selected = world.app.ui.list.selected;
    click(&mut world, "Yesterday,");
    assert_eq!(world.app.ui.list.selected, selected);
}

#[test]
fn a_click_on_a_link_opens_it() {
    for (columns, rows) in [(140, 30), (90, 24), (60, 20)] {
        let mut world = world(columns, rows);
        world.press("l<enter>");
        click(&mut world, "there.");
        assert_eq!(world.opened, [""; 0], "no link");
        click(&mut world, "ladders");
        assert_eq!(world.opened, ["https://site.example/ladders"], "{columns}x{rows}");
    }
}

#[test]
fn the_wheel_scrolls_the_pane_under_it() {
    let mut world = world(140, 30);
    world.press("l<enter>");
    act(&mut world, Gesture::WheelDown, "More of it.");
    assert_eq!(world.app.ui.reader.as_ref().unwrap().scroll, 3);
    act(&mut world, Gesture::WheelUp, "More of it.");
    assert_eq!(world.app.ui.reader.as_ref().unwrap().scroll, 0);
    // The wheel scrolls the list under the pointer without moving the focus to it.
    act(&mut world, Gesture::WheelDown, "Entry 05 of many");
    let list = &world.app.ui.list;
    assert_eq!((list.top, list.selected, world.app.ui.focus), (3, 3, Pane::Reader));
    for _ in 0..40 {
        act(&mut world, Gesture::WheelDown, "of many");
    }
    assert!(world.draw().contains("Entry 59 of many"));
    for _ in 0..40 {
        act(&mut world, Gesture::WheelUp, "of many");
    }
    assert_eq!(world.app.ui.list.top, 0);
}

#[test]
fn overlays_are_clicked_scrolled_and_closed() {
    let mut world = world(140, 30);
    click(&mut world, "? help");
    assert!(matches!(&world.app.ui.overlay, Some(Overlay::Help(help)) if help.top == 0));
    act(&mut world, Gesture::WheelDown, "page down");
    assert!(matches!(&world.app.ui.overlay, Some(Overlay::Help(help)) if help.top == 3));
    click(&mut world, "next unread entry");
    assert_eq!(world.app.ui.overlay, None);
    world.press(":timetable");
    click(&mut world, " timetable ");
    assert!(matches!(world.app.ui.overlay, Some(Overlay::Timetable(_))));
    // The first click on a row selects it, the second opens the plan of its feed. A click outside closes both overlays and also
    // selects what it hits.
    let (column, row) = place(&mut world, "Timetable");
    let second = Mouse { gesture: Gesture::Click, column, row: row + 2 };
    world.tell(ScreenInput::Mouse(second));
    assert!(
        matches!(world.app.ui.overlay, Some(Overlay::Timetable(pane)) if pane.list.selected == 1)
    );
    world.tell(ScreenInput::Mouse(second));
    assert!(matches!(world.app.ui.overlay, Some(Overlay::Plan(_))));
    click_feed(&mut world, "Starred");
    assert_eq!(world.app.ui.overlay, None);
    assert_eq!(world.app.ui.feeds.selected, 2);
}

#[test]
fn click_on_a_result_ends_search_typing() {
    let mut world = world(140, 30);
    world.press("/of many");
    click(&mut world, "Entry 04 of many");
    assert_eq!(world.app.ui.overlay, None);
    assert!(world.app.ui.search.is_some());
    click(&mut world, "Entry 04 of many");
    assert_eq!(world.app.ui.focus, Pane::Reader);
}

#[test]
fn without_the_mouse_nothing_happens() {
    let mut world = world(140, 30);
    world.app.ui.settings.mouse = false;
    click_feed(&mut world, "Bell Tower");
    assert_eq!(world.app.ui.feeds.selected, 0);
}

#[test]
fn resuming_gives_the_network_a_moment() {
    let mut world = world(140, 30);
    world.press("/fro<c-z>");
    assert_eq!(world.suspended, 1, "also while a line is typed");
    let before = world.requests.len();
    world.press("<esc>");
    world.now += TimeDelta::hours(30);
    world.tell(ScreenInput::Continued(60, 20));
    assert_eq!(world.app.ui.size, (60, 20));
    assert_eq!(world.requests.len(), before, "not at once");
    world.pass(TimeDelta::seconds(11));
    assert!(world.requests.len() > before, "what fell due meanwhile is polled");
}

#[test]
fn link_of_the_focused_feed_or_entry_is_copied() {
    let mut world = world(140, 30);
    world.press("y");
    assert_eq!(world.notice(), "there is no link to copy here");
    world.press("<end>y");
    world.press("ly");
    assert_eq!(world.copied, ["https://tower.example/f", "https://site.example/b1"]);
    assert_eq!(world.notice(), "copied: https://site.example/b1");
}

#[test]
fn full_screen_reader_toggles_on_and_off() {
    let mut world = world(160, 30);
    world.press("lz");
    assert_eq!(world.app.ui.focus, Pane::Reader);
    let alone = world.draw();
    assert!(!alone.contains("All unread") && alone.contains("the ladders"), "{alone}");
    assert_eq!(world.app.ui.viewport.reader.columns, 156);
    assert_eq!(world.app.ui.viewport.reader.column, 2);
    world.press("z");
    assert!(world.draw().contains("All unread"));
    world.press("zq");
    let back = world.draw();
    assert!(back.contains("All unread") && back.contains("the ladders"), "{back}");
}

#[test]
fn wheel_moves_the_selection_in_filter_lists_and_dialogs() {
    let mut world = world(140, 30);
    world.press("lm<enter>m<enter>");
    let listed = (world.app.ui.list.top, world.app.ui.list.selected);
    world.press("F");
    let selected = |world: &World| match &world.app.ui.overlay {
        Some(Overlay::List(open)) => open.list.selected,
        Some(Overlay::FilterDialog(filter)) => filter.form.selected,
        other => panic!("{other:?}"),
    };
    assert_eq!(selected(&world), 0);
    act(&mut world, Gesture::WheelDown, "Enter edits, D removes");
    assert_eq!(selected(&world), 1);
    act(&mut world, Gesture::WheelUp, "Enter edits, D removes");
    assert_eq!(selected(&world), 0);
    world.press("<enter>");
    let before = selected(&world);
    act(&mut world, Gesture::WheelDown, "matches");
    assert_eq!(selected(&world), before + 1);
    assert_eq!((world.app.ui.list.top, world.app.ui.list.selected), listed, "the pane stays");
}

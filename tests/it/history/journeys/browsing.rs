//! Reading a long history: jumping to a date, and reading from the start.

use super::subscribe;
use crate::support::world::{World, rss};

const URL: &str = "https://long.example/feed";

/// Returns a world subscribed to a feed with this number of entries, one for each day back from the start of the test, with the
/// entry list focused.
fn long(entries: i64) -> World {
    let ids: Vec<String> = (0..entries).map(|day| format!("e{day}")).collect();
    let entries: Vec<(&str, &str, i64, &str)> =
        ids.iter().zip(0..).map(|(id, day)| (id.as_str(), id.as_str(), 24 * day + 1, "")).collect();
    let mut world = World::new(120, 36);
    world.serve(URL, &rss("Long", &entries));
    subscribe(&mut world, URL);
    world.press("l");
    world
}

#[test]
fn date_jump_works_and_the_edge_shows_the_position() {
    let mut world = long(3000);
    world.press("@2021-07<enter>");
    let row = world.app.ui.list.selected_row().unwrap();
    assert_eq!(row.listed.format("%Y-%m-%d").to_string(), "2021-07-31");
    let screen = world.draw();
    assert!(screen.contains("Jul 2021 · ") && screen.contains('┃'), "{screen}");
    world.press("@1990<enter>");
    assert_eq!(world.app.ui.list.selected, 2999, "nothing is older");
    world.press("@soon<enter>");
    assert!(world.notice().contains("is not a date"));
}

#[test]
fn feed_is_read_from_the_start_and_resumes_there() {
    let mut world = long(1204);
    world.press("B");
    assert_eq!(world.titles()[0], "e1203", "the oldest comes first");
    world.press("<enter>JJ");
    let screen = world.draw();
    assert!(screen.contains("3 of 1,204 read"), "{screen}");
    world.press("<esc>B");
    assert_eq!(world.titles()[0], "e0", "newest first again");
    world.restart();
    world.press("jjjjjlB");
    let row = world.app.ui.list.selected_row().unwrap();
    assert_eq!(row.title, "e1200", "the first that was not opened");
    assert!(world.draw().contains("3 of 1,204 read"));
}

#[test]
fn a_long_list_holds_only_the_rows_around_the_selected_one() {
    let entries = 12_000;
    let mut world = World::new(120, 36);
    world.serve(URL, &rss("Long", &[("x", "X", 1, "")]));
    subscribe(&mut world, URL);
    // Poll several documents, because a document may have at most 10 000 entries.
    let mut number = 0;
    while number < entries {
        let most = (number + 6000).min(entries);
        let ids: Vec<String> = (number..most).map(|id| format!("e{id}")).collect();
        let ids = ids.iter().zip(number..);
        let items: Vec<(&str, &str, i64, &str)> =
            ids.map(|(id, hours)| (id.as_str(), id.as_str(), hours + 2, "")).collect();
        world.serve(URL, &rss("Long", &items));
        world.poll(backissue_core::history::FeedKey(1));
        number = most;
    }
    world.press("l");
    let half = usize::from(world.app.ui.viewport.entries_rows / 2);
    for press in 1..=40 {
        world.press("<c-d>");
        let list = &world.app.ui.list;
        assert!(list.total > 12_000, "{}", list.total);
        assert!(list.selected >= (press - 1) * half / 2, "it moves: {}", list.selected);
        assert!(list.rows.len() <= 400, "{} rows are in memory", list.rows.len());
    }
    world.press("G");
    let list = &world.app.ui.list;
    assert_eq!(list.selected + 1, list.total);
    assert!(list.rows.iter().any(|row| row.title == "e11999"));
    assert!(list.rows.len() <= 400, "{} rows are in memory", list.rows.len());
}

//! Jumping to a feed, tag or list by some letters.

use backissue::ui::state::feeds_pane::FeedsRow;
use backissue::ui::state::layout::Pane;

use crate::support::rss::{numbered, two_feeds};
use crate::support::world::World;

#[test]
fn a_feed_out_of_many_is_open_after_four_keys() {
    let titles: Vec<String> =
        (0..150_u8).map(|n| format!("Site {}{n}", char::from(b'a' + n % 26))).collect();
    let feeds: Vec<(String, String)> = titles
        .iter()
        .map(|title| {
            (format!("https://{title}.example/f").replace(' ', ""), numbered(title, title, 1, 1))
        })
        .collect();
    let feeds: Vec<(&str, &str, &[&str])> =
        feeds.iter().map(|(url, text)| (url.as_str(), text.as_str(), &["all"][..])).collect();
    let mut world = World::subscribed(100, 30, &feeds);
    world.press("bq1<enter>");
    let title = |world: &World| {
        let feed = world.app.ui.feeds.selected_row().and_then(FeedsRow::feed).unwrap();
        world.app.engine.feeds[&feed].record.shown_title().to_owned()
    };
    assert!(title(&world).contains("q1"), "{}", title(&world));
    assert_eq!(world.app.ui.focus, Pane::Entries);
}

#[test]
fn tags_lists_and_folded_feeds_are_found() {
    let mut world = two_feeds();
    world.press("bstar<enter>");
    assert_eq!(world.app.ui.feeds.selected_row(), Some(&FeedsRow::Starred));
    world.press("hGtbells<enter>");
    world.press("bbells<enter>");
    assert!(
        matches!(world.app.ui.feeds.selected_row(), Some(FeedsRow::Tag(tag, _)) if tag == "bells")
    );
    world.press("hh");
    assert!(!world.draw().contains("│   Orchard"), "folded");
    world.press(":jump orchard<enter>");
    assert_eq!(world.titles(), ["Wax", "Ladders"]);
    assert!(world.draw().contains("│▌  Orchard"), "unfolded");
}

#[test]
fn a_feed_that_is_hidden_because_it_is_read_is_shown() {
    let mut world = two_feeds();
    world.press("GAgc");
    world.pass(chrono::TimeDelta::seconds(5));
    assert!(!world.draw().contains("│   Orchard"));
    world.press("borch<enter>");
    assert!(world.draw().contains("│▌  Orchard"), "{}", world.draw());
    assert_eq!(world.titles(), ["Wax", "Ladders"]);
}

#[test]
fn letters_that_match_nothing_say_so() {
    let mut world = two_feeds();
    world.press("bzzzz");
    assert!(world.draw().contains("nothing matches this"), "{}", world.draw());
    world.press("<enter>");
    assert_eq!(world.notice(), "no feed, tag or list matches 'zzzz'");
    world.press("bx<esc>");
    assert!(world.app.ui.overlay.is_none());
}

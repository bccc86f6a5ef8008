//! Finding words in the open text, and hints on its links.

use backissue::ui::state::layout::Pane;

use crate::support::rss::rss;
use crate::support::world::World;

/// Returns a world with an open text of 60 paragraphs.
fn open() -> World {
    let paragraphs: String = (1..=60)
        .map(|number| {
            let what = if number % 20 == 0 { "Frost came." } else { "It rained." };
            format!("<p>{number}. {what} <a href='https://site.example/p{number}'>more</a></p>")
        })
        .collect();
    let text = rss("Orchard Notes", &[("n1", "Weather", 1, &paragraphs)]);
    let mut world = World::subscribed(100, 30, &[("https://orchard.example/feed", &text, &[])]);
    world.press("<enter><enter>");
    world
}

fn shows(world: &mut World, text: &str) -> bool {
    world.draw().contains(text)
}

#[test]
fn words_are_found_in_the_text_and_n_goes_on() {
    let mut world = open();
    world.press("/frost");
    assert!(shows(&mut world, "20. Frost") && shows(&mut world, "Find in this text: frost"));
    world.press("<enter>");
    assert_eq!(world.notice(), "'frost': 1 of 3 · n next · N previous · Esc ends");
    world.press("n");
    assert!(shows(&mut world, "40. Frost"), "{}", world.draw());
    world.press("nn");
    assert!(shows(&mut world, "20. Frost"), "the first comes after the last");
    world.press("N");
    assert!(shows(&mut world, "60. Frost"));
    world.press("<esc>");
    assert_eq!((world.app.ui.focus, world.app.ui.find.is_none()), (Pane::Reader, true));
    world.press("N");
    assert_eq!(world.app.engine.unread(), 1, "N marks unread again");
}

#[test]
fn a_cancelled_search_returns_to_where_it_began() {
    let mut world = open();
    world.press("/40.<esc>");
    assert!(shows(&mut world, "  1. It rained. more"), "{}", world.draw());
    world.press("/nowhere<enter>");
    assert_eq!(world.notice(), "'nowhere' is not in this text");
    world.press("<c-f>frost<enter>");
    assert!(world.app.ui.search.is_some(), "Ctrl-f searches all entries");
}

#[test]
fn a_letter_on_a_link_opens_copies_or_passes_it_on() {
    let mut world = open();
    world.press("f");
    assert!(shows(&mut world, "1. It rained. more[a]"), "{}", world.draw());
    world.press("s");
    assert_eq!(world.opened, ["https://site.example/p2"]);
    assert!(shows(&mut world, "more[1]"));
    world.press("fyd");
    assert_eq!(world.copied, ["https://site.example/p3"]);
    world.press("f|a");
    assert!(shows(&mut world, "Pipe the entry to"), "{}", world.draw());
    world.press("save {link}<enter>");
    assert!(
        world.ran.iter().any(|run| format!("{run:?}").contains("https://site.example/p1")),
        "{:?}",
        world.ran
    );
    world.press("f<esc>f0");
    assert_eq!(world.notice(), "no link has the hint '0'");
}

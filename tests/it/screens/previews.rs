//! Previewing a feed's entries before subscribing; the subscription then does not request the same documents again.

use backissue_core::schedule::SettledBy;
use backissue_core::words::when_words;
use chrono_tz::Tz;

use crate::support::documents::page;
use crate::support::rss::{numbered, rss};
use crate::support::world::World;

const SITE: &str = "https://site.example/";
const NOTES: &str = "https://site.example/notes.xml";
const PICTURES: &str = "https://site.example/pictures.xml";

/// Returns a world with a site that names three feeds; the address of the last one returns an error.
fn site(columns: u16, rows: u16) -> World {
    let mut world = World::new(columns, rows);
    let links = [("Notes", "/notes.xml"), ("Pictures", "/pictures.xml"), ("Gone", "/gone.xml")];
    world.serve(SITE, &page("Site", &links));
    world.serve(NOTES, &numbered("All Notes", "Note number", 8, 30));
    world.serve(PICTURES, &rss("Pictures of a Site", &[("p1", "A gate", 1, "<p>Iron.</p>")]));
    world.press("asite.example<enter>");
    world
}

#[test]
fn selected_feed_is_previewed_and_not_refetched_when_chosen() {
    let mut world = site(120, 36);
    assert!(world.draw().contains("reading the feed"), "{}", world.draw());
    world.wait(4);
    let screen = world.draw();
    let offer = "no older entries offered · next check around 16:15 (learned from its";
    assert!(screen.contains(offer), "{screen}");
    assert!(screen.contains("2026-03-01  Note number 1") && screen.contains("Note number 5"));
    assert!(!screen.contains("Note number 6"), "{screen}");
    assert_eq!(world.asked(), [SITE, NOTES], "only the selected one");
    world.press("j");
    world.wait(4);
    assert!(world.draw().contains("Pictures of a Site: 1 entry"), "{}", world.draw());
    world.press("k");
    world.wait(4);
    assert_eq!(world.asked(), [SITE, NOTES, PICTURES]);
    world.press("<enter>");
    world.wait(4);
    assert_eq!(world.asked(), [SITE, NOTES, PICTURES], "the document was here");
    assert_eq!(world.app.engine.feeds.len(), 1);
    let plan = world.feed(1).plan;
    let next = when_words(plan.next_poll.unwrap(), world.now, Tz::UTC);
    assert_eq!(
        (next.as_str(), plan.settled_by),
        ("around 16:15", SettledBy::Learned),
        "as offered"
    );
    assert_eq!(world.titles().len(), 8);
    world.press("<enter>");
    assert!(world.draw().contains("Text."), "{}", world.draw());
}

#[test]
fn choosing_before_the_preview_reuses_its_request() {
    let mut world = site(120, 36);
    world.press("<enter>");
    world.wait(4);
    assert_eq!(world.asked(), [SITE, NOTES]);
    assert!(
        world.notice().starts_with("subscribed to 'All Notes': 8 entries"),
        "{}",
        world.notice()
    );
    assert_eq!(world.titles().len(), 8);
}

#[test]
fn unreadable_preview_says_so_and_the_choice_stays_open() {
    let mut world = site(120, 36);
    world.press("jj");
    world.wait(4);
    world.wait(4);
    let screen = world.draw();
    assert!(screen.contains("it cannot be read:"), "{screen}");
    world.press("<esc>");
    world.wait(4);
    assert!(world.app.engine.feeds.is_empty());
}

#[test]
fn leaving_the_choice_requests_and_subscribes_to_nothing() {
    let mut world = site(120, 36);
    world.press("<esc>");
    world.wait(4);
    assert!(world.app.engine.feeds.is_empty());
    assert_eq!(world.asked(), [SITE]);
}

#[test]
fn the_choice_with_its_preview_fits_every_size() {
    for (columns, rows) in [(120, 36), (90, 24), (40, 12)] {
        let mut world = site(columns, rows);
        world.wait(4);
        insta::assert_snapshot!(format!("preview_{columns}x{rows}"), world.draw());
    }
}

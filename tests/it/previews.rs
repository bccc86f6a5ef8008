//! What a feed offers is seen before it is subscribed to, and nothing is asked twice.

use chrono::TimeDelta;

use crate::world::{World, rss};

const SITE: &str = "https://site.example/";
const NOTES: &str = "https://site.example/notes.xml";
const PICTURES: &str = "https://site.example/pictures.xml";

/// A site that names three feeds; the last one is not there.
fn site(columns: u16, rows: u16) -> World {
    let mut world = World::new(columns, rows);
    let link = |title: &str, path: &str| {
        format!("<link rel=alternate type='application/rss+xml' title='{title}' href='{path}'>")
    };
    let links = [("Notes", "/notes.xml"), ("Pictures", "/pictures.xml"), ("Gone", "/gone.xml")];
    let links: String = links.iter().map(|(title, path)| link(title, path)).collect();
    world.serve(SITE, &format!("<html><head>{links}</head></html>"));
    let notes: Vec<(String, String)> =
        (1..=8).map(|n| (format!("n{n}"), format!("Note number {n}"))).collect();
    let notes: Vec<(&str, &str, i64, &str)> = (1..)
        .zip(&notes)
        .map(|(hours, (guid, title))| (guid.as_str(), title.as_str(), hours * 30, "<p>Text.</p>"))
        .collect();
    world.serve(NOTES, &rss("All Notes", &notes));
    world.serve(PICTURES, &rss("Pictures of a Site", &[("p1", "A gate", 1, "<p>Iron.</p>")]));
    world.press("asite.example<enter>");
    world
}

/// Time passes until the site may be asked again.
fn wait(world: &mut World) {
    for _ in 0..4 {
        world.pass(TimeDelta::seconds(2));
    }
}

#[test]
fn the_selected_feed_is_looked_at_and_is_not_asked_for_again_when_it_is_chosen() {
    let mut world = site(120, 36);
    assert!(world.draw().contains("looking at it"), "{}", world.draw());
    wait(&mut world);
    let screen = world.draw();
    let offer = "All Notes: 8 entries · no older entries offered · every 1 h (default";
    assert!(screen.contains(offer), "{screen}");
    assert!(screen.contains("2026-03-01  Note number 1") && screen.contains("Note number 5"));
    assert!(!screen.contains("Note number 6"), "{screen}");
    assert_eq!(world.asked(), [SITE, NOTES], "only the selected one");
    world.press("j");
    wait(&mut world);
    assert!(world.draw().contains("Pictures of a Site: 1 entry"), "{}", world.draw());
    world.press("k");
    wait(&mut world);
    assert_eq!(world.asked(), [SITE, NOTES, PICTURES]);
    world.press("<enter>");
    wait(&mut world);
    assert_eq!(world.asked(), [SITE, NOTES, PICTURES], "the document was here");
    assert_eq!(world.model.feeds.len(), 1);
    assert_eq!(world.titles().len(), 8);
    world.press("<enter>");
    assert!(world.draw().contains("Text."), "{}", world.draw());
}

#[test]
fn who_does_not_wait_for_the_preview_gets_the_feed_from_the_same_request() {
    let mut world = site(120, 36);
    world.press("<enter>");
    wait(&mut world);
    assert_eq!(world.asked(), [SITE, NOTES]);
    assert!(
        world.notice().starts_with("subscribed to 'All Notes': 8 entries"),
        "{}",
        world.notice()
    );
    assert_eq!(world.titles().len(), 8);
}

#[test]
fn a_feed_that_cannot_be_read_says_so_and_the_choice_stays_open() {
    let mut world = site(120, 36);
    world.press("jj");
    wait(&mut world);
    wait(&mut world);
    let screen = world.draw();
    assert!(screen.contains("it cannot be read:"), "{screen}");
    world.press("<esc>");
    wait(&mut world);
    assert!(world.model.feeds.is_empty());
}

#[test]
fn leaving_asks_for_nothing_more_and_subscribes_to_nothing() {
    let mut world = site(120, 36);
    world.press("<esc>");
    wait(&mut world);
    assert!(world.model.feeds.is_empty());
    assert_eq!(world.asked(), [SITE]);
}

#[test]
fn the_choice_with_its_preview_fits_every_size() {
    for (columns, rows) in [(120, 36), (90, 24), (40, 12)] {
        let mut world = site(columns, rows);
        wait(&mut world);
        insta::assert_snapshot!(format!("preview_{columns}x{rows}"), world.draw());
    }
}

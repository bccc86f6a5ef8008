//! The guided tour that `backissue demo` shows.

use crate::support::world::{World, rss};
use backissue::ui::app::Tour;

const FEED: &str = "https://garden.example/feed.atom";

/// Returns a world at the start of the tour, with a feed that has new entries and an archive answered with 403.
fn world() -> World {
    let archive = "https://garden.example/old.atom";
    let entries = [("a", "Frost", 1, "white"), ("b", "Wax", 2, "")];
    let document = rss("Garden", &entries).replace(
        "<description/>",
        &format!("<description/><link xmlns='http://www.w3.org/2005/Atom' rel='prev-archive' href='{archive}'/>"),
    );
    let mut world = World::subscribed(120, 36, &[(FEED, &document, &[])]);
    world.refuse(archive, 403, Default::default());
    world.rest();
    world.app.ui.tour = Some(Tour::default());
    world
}

/// Returns the number of the tour step on the screen; 0 means that the tour is over.
fn step(world: &mut World) -> u32 {
    let screen = world.draw();
    let step = screen.split("tour ").nth(1).and_then(|rest| rest.split('/').next());
    step.map_or(0, |step| step.parse().unwrap())
}

#[test]
fn tour_advances_when_its_step_is_done_and_ends() {
    let mut world = world();
    assert_eq!(step(&mut world), 1);
    let mut seen = Vec::new();
    for keys in ["j", "n", "q", "i", "+", "u", "q", "hg<down><down><down>", "l", "?"] {
        world.press(keys);
        world.rest();
        seen.push(step(&mut world));
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 6, 7, 8, 0]);
}

#[test]
fn tour_and_plan_name_the_same_reason() {
    let mut world = world();
    world.press("nqi");
    let reason = world.feed(1).plan.settled_by.in_words();
    let screen = world.draw();
    assert!(screen.contains(&format!("tour 4/8 · what decides: {reason} · + ")), "{screen}");
}

#[test]
fn tour_stays_visible_beside_messages() {
    let mut world = world();
    world.press("nqi+");
    let screen = world.draw();
    assert!(!world.notice().is_empty());
    assert!(screen.contains(world.notice()) && screen.contains("tour 5/8"), "{screen}");
}

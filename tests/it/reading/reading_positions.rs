//! Reading positions: an entry is opened again at the place where the user left it, at any screen width.

use crate::support::world::{World, rss};

const NOTES: &str = "https://orchard.example/feed";

fn long_text() -> World {
    let words: Vec<String> =
        (0..400).map(|at| format!("<p>word{at} and a few more of them</p>")).collect();
    let notes =
        rss("Orchard Notes", &[("n2", "Long", 1, &words.concat()), ("n1", "Short", 2, "<p>b</p>")]);
    World::subscribed(120, 36, &[(NOTES, &notes, &[])])
}

/// Returns the first visible word of the open entry's text.
fn first_word(world: &mut World) -> String {
    let screen = world.draw();
    let from = screen.find("word").expect("the text is shown");
    screen[from..].split_whitespace().next().unwrap().to_owned()
}

#[test]
fn an_entry_opens_again_where_it_was_left() {
    let mut world = long_text();
    world.press("<enter><enter><pgdn><pgdn><pgdn>j");
    let left = first_word(&mut world);
    assert_ne!(left, "word0");
    world.press("JK");
    assert_eq!(first_word(&mut world), left, "after another entry");
    world.press("qq");
    world.restart();
    world.resize(60, 20);
    world.press("<end><enter><enter>");
    assert_eq!(first_word(&mut world), left, "after a new start, at another width");
    world.resize(120, 36);
    assert_eq!(first_word(&mut world), left, "and at the first one again");
}

#[test]
fn open_entry_resumes_and_a_finished_one_restarts() {
    let mut world = long_text();
    world.press("<enter><enter><pgdn>");
    let left = first_word(&mut world);
    world.press("<c-c>");
    world.restart();
    world.press("<end><enter><enter>");
    assert_eq!(first_word(&mut world), left);
    world.press("GJK");
    assert_eq!(first_word(&mut world), "word0");
}

//! Hints about pictures and sound, and titles of right-to-left text.

use crate::support::rss::NOTES;
use crate::support::world::{World, rss};

/// Opens the only entry of a feed, which has this text.
fn open(title: &str, markup: &str, attached: &str) -> World {
    let document =
        rss("Notes", &[("n1", title, 1, markup)]).replace("</item>", &format!("{attached}</item>"));
    let mut world = World::subscribed(120, 36, &[(NOTES, &document, &[])]);
    world.press("<enter><enter>");
    world
}

#[test]
fn comic_names_the_key_for_pictures_until_they_are_shown() {
    let comic = "<img src=\"https://a.example/c.png\" alt=\"Comic\" title=\"The joke\">";
    let mut world = open("Comic", comic, "");
    let screen = world.draw();
    assert!(screen.contains("I shows the picture") && screen.contains("(The joke)"), "{screen}");
    world.press("I");
    assert!(!world.draw().contains("shows the picture"), "{}", world.draw());
    let long = format!("{comic}<p>{}</p>", "words and more words ".repeat(30));
    assert!(!open("Text", &long, "").draw().contains("shows the picture"));
}

#[test]
fn podcast_names_the_key_that_plays_it() {
    let sound = "<enclosure url=\"https://a.example/1.mp3\" type=\"audio/mpeg\"/>";
    let screen = open("Episode", "<p>Notes</p>", sound).draw();
    assert!(screen.contains("E downloads the attached file"), "{screen}");
    let paper = "<enclosure url=\"https://a.example/1.pdf\" type=\"application/pdf\"/>";
    assert!(!open("Paper", "<p>Notes</p>", paper).draw().contains("attached file"));
}

#[test]
fn right_to_left_title_starts_where_its_text_does() {
    let screen = open("שלום עולם", "<p>שלום עולם ומלואו</p>", "").draw();
    let ends: Vec<usize> = screen
        .lines()
        .filter_map(|line| {
            Some(line.chars().count() - line.chars().rev().position(|c| c == 'ם' || c == 'ו')?)
        })
        .collect();
    let (last, others) = ends.split_last().unwrap();
    assert!(others.contains(last), "title and text end in one column: {ends:?} {screen}");
}

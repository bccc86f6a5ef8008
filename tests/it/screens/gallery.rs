//! Snapshots of every view at four sizes, with an empty, a full and a broken world: one snapshot file per view.

use std::fmt::Write as _;

use backissue::engine::poll::fetch::AnswerHeaders;
use backissue::engine::request::Input;
use backissue_core::history::FeedKey;
use chrono::TimeDelta;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;

use crate::support::demo_world::demo_world;
use crate::support::documents::page;
use crate::support::world::{World, rss};

const SIZES: [(u16, u16); 4] = [(160, 50), (100, 30), (60, 20), (40, 12)];

/// Names of the views, with the keys that open each from the first row of the subscriptions.
const VIEWS: [(&str, &str); 15] = [
    ("panes", "l"),
    ("plan", "<end>i"),
    ("attention", "gjjjjl"),
    ("gaps", "gjjjl"),
    ("timetable", "P"),
    ("help", "?"),
    ("palette", ":"),
    ("search", "/the"),
    ("add", "ahttps://orchard.example/"),
    ("choice", "ahttps://choose.example/<enter>"),
    ("edit", "<end>e"),
    ("mute", "ljm"),
    ("rules", ":rules<enter>"),
    ("subscriptions", "<end>"),
    // The view of an entry's text must be last, because opening an entry marks it as read.
    ("reader", "l<enter>"),
];

/// Returns a world whose only subscription has no entry yet.
fn empty() -> World {
    World::subscribed(160, 50, &[("https://orchard.example/feed", &rss("Orchard Notes", &[]), &[])])
}

/// Returns a world with refusing servers, an unreachable host, a moved feed and an ended one; after these are set up, writes to
/// the store fail.
fn broken() -> World {
    let mut world = demo_world(160, 50);
    let feeds: Vec<(FeedKey, String)> =
        world.app.engine.feeds.values().map(|feed| (feed.key, feed.record.url.clone())).collect();
    for (place, (_, url)) in feeds.iter().enumerate() {
        match place % 5 {
            0 => world.refuse(url, 503, AnswerHeaders::default()),
            1 => world.refuse(url, 410, AnswerHeaders::default()),
            2 => drop(world.network.remove(url)),
            3 => {
                world.lead(url, 301, "https://elsewhere.example/feed");
                world.serve(
                    "https://elsewhere.example/feed",
                    &rss("Elsewhere", &[("x", "Other", 1, "")]),
                );
            }
            _ => world.serve(url, "<html>We are closed.</html>"),
        }
    }
    for _ in 0..3 {
        world.pass(TimeDelta::minutes(40));
        for (feed, _) in &feeds {
            world.poll(*feed);
        }
    }
    world.app.ui.notice = None;
    world
}

/// Presses keys and waits for the answers to the resulting requests. The site `choose.example` names three feeds.
fn lead_to(world: &mut World, keys: &str) {
    let links = [("All of it", "/all"), ("News alone", "/news"), ("Comments", "/talk")];
    world.serve("https://choose.example/", &page("A site", &links));
    for (name, title) in [("all", "All of it"), ("news", "News alone"), ("talk", "Comments")] {
        let entries =
            [("1", "The first", 3, "<p>One.</p>"), ("2", "The second", 30, "<p>Two.</p>")];
        world.serve(&format!("https://choose.example/{name}"), &rss(title, &entries));
    }
    world.press(keys);
    if keys.contains("choose") {
        world.wait(6);
    }
}

/// Appends the screens of one view and one state at all sizes to `text`.
fn screens(world: &mut World, state: &str, text: &mut String) {
    for (columns, rows) in SIZES {
        let screen = world.resize(columns, rows);
        writeln!(text, "{state}, {columns}x{rows}\n{screen}\n").unwrap();
    }
}

fn compare(view: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("gallery");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(view, text));
}

#[test]
fn every_view_at_every_size_empty_full_and_broken() {
    let mut full_and_broken = [("full", demo_world(160, 50)), ("broken", broken())];
    for (view, keys) in VIEWS {
        let mut text = String::new();
        let mut world = empty();
        lead_to(&mut world, keys);
        screens(&mut world, "empty", &mut text);
        for (state, world) in &mut full_and_broken {
            let (before, now) = (world.app.clone(), world.now);
            lead_to(world, keys);
            if *state == "broken" {
                let why = "the store cannot be written: no space left on device; nothing new is kept until there is room";
                world.tell(Input::Trouble(why.to_owned()));
            }
            screens(world, state, &mut text);
            (world.app, world.now) = (before, now);
        }
        compare(view, &text);
    }
}

#[test]
fn the_welcome_at_every_size() {
    let mut text = String::new();
    screens(&mut World::new(160, 50), "empty", &mut text);
    let mut world = World::new(160, 50);
    world.tell(Input::Trouble(
        "configuration: line 3: [ui] theme: unknown theme 'drak'; did you mean 'dark'?".into(),
    ));
    screens(&mut world, "broken", &mut text);
    compare("welcome", &text);
}

/// Returns the line of the plain screen on which the terminal's cursor is.
fn line_at_cursor(world: &World) -> String {
    let (columns, rows) = world.app.ui.size;
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal
        .draw(|frame| {
            backissue::view::draw(frame, &world.app, world.now);
        })
        .unwrap();
    let row = terminal.get_cursor_position().unwrap().y;
    let cells = terminal.backend().buffer().content().chunks(usize::from(columns));
    cells.into_iter().nth(usize::from(row)).unwrap().iter().map(Cell::symbol).collect()
}

#[test]
fn plain_screen_cursor_is_at_the_selection() {
    let mut world = demo_world(100, 30);
    world.app.ui.appearance.plain = true;
    for (keys, expected) in [
        ("", "All unread, "),
        ("jj", "Starred"),
        ("ggl", "unread, The clock on the Customs House"),
        ("j", "unread, Start here"),
        ("<enter>", "Every entry of this feed"),
        ("q<esc><end>i", "Next poll"),
        ("?", "Moving"),
        ("?P", "Sal"),
        ("<esc><esc>:goto", ":goto"),
    ] {
        world.press(keys);
        let line = line_at_cursor(&world);
        assert!(line.contains(expected), "{keys}: {line}\n{}", world.draw());
    }
}

#[test]
fn the_plain_screen_has_words_and_no_lines() {
    let mut text = String::new();
    for (name, keys) in [
        ("subscriptions", "<end>k"),
        ("entries", "ljj"),
        ("reader", "l<enter>"),
        ("plan", "<end>i"),
        ("gaps", "gjjjl"),
        ("attention", "gjjjjl"),
        ("help", "?"),
    ] {
        let mut world = demo_world(160, 50);
        world.app.ui.appearance.plain = true;
        world.press(keys);
        for (columns, rows) in [(100, 30), (40, 12)] {
            let screen = world.resize(columns, rows);
            let line = screen.chars().find(|char| ('\u{2190}'..'\u{2600}').contains(char));
            assert_eq!(line, None, "{screen}");
            writeln!(text, "{name}, {columns}x{rows}\n{screen}\n").unwrap();
        }
    }
    compare("plain", &text);
}

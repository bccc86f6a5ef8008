//! Checks that the pictures of the README and the guide match what the program draws. `BACKISSUE_PICTURES=write` rewrites them.

use std::path::Path;

use backissue::engine::entries::rows::RowKey;
use backissue::ui::theme::colours::Colours;
use backissue::view;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::svg::{Frame, Paper, film, svg};
use crate::support::demo_world::demo_world;
use crate::support::world::World;

/// Default text and background colours of the pictures, taken from the theme.
const PAPER: Paper = Paper { ink: (0xd7, 0xda, 0xe0), ground: (0x16, 0x18, 0x1d) };

/// Draws a world at this size and returns the screen as an SVG picture with this title.
fn picture(world: &mut World, size: (u16, u16), title: &str) -> String {
    world.app.ui.notice = None;
    svg(&drawn(world, size), PAPER, title)
}

/// Draws a world at this size, in the dark theme.
fn drawn(world: &mut World, (columns, rows): (u16, u16)) -> Buffer {
    world.resize(columns, rows);
    let appearance = &mut world.app.ui.appearance;
    appearance.colours = Colours::True;
    appearance.choose("dark").unwrap();
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal
        .draw(|frame| {
            view::draw(frame, &world.app, world.now);
        })
        .unwrap();
    terminal.backend().buffer().clone()
}

/// Compares a picture beside a document, which must show it, with what was drawn, or replaces it.
pub(super) fn compare(document: &str, name: &str, drawn: &str) {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let path = document.with_file_name(name);
    if std::env::var("BACKISSUE_PICTURES").is_ok_and(|wish| wish == "write") {
        std::fs::write(&path, drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == drawn,
        "{name} is not what is drawn: BACKISSUE_PICTURES=write cargo test --test it pictures"
    );
    let text = std::fs::read_to_string(&document).unwrap();
    assert!(text.contains(&format!("({name})")), "{name} is not shown");
}

#[test]
fn readme_recording_matches_the_program() {
    let mut world = demo_world(110, 28);
    world.app.ui.notice = None;
    let mut frames = Vec::new();
    // The keys, then what the screen shows after the last of them, for this number of tenths of a second.
    for (keys, tenths, caption) in [
        ("", 25, "The feeds, and what is unread"),
        ("l", 10, "l: to the entries"),
        ("<enter>", 30, "Enter: read"),
        (" ", 20, "Space: a page down, then the next unread entry"),
        ("q", 10, "q: back"),
        ("i", 45, "i: when is this feed polled next, and why then?"),
        ("+", 25, "+: more often"),
        ("<esc>", 10, "Esc: back"),
        ("/", 6, "/: search in all entries, as you type"),
        ("t", 3, "/: search in all entries, as you type"),
        ("i", 3, "/: search in all entries, as you type"),
        ("d", 3, "/: search in all entries, as you type"),
        ("e", 25, "/: search in all entries, as you type"),
        ("<esc>", 6, "Esc: back"),
        ("hgbWalled<enter>", 15, "b: jump to a feed"),
        ("l", 35, "A gap: what is missing of this feed's history, and why"),
        ("hb Courier<enter>A", 20, "A: mark all of it read"),
        ("u", 25, "u: undo, as with every change"),
    ] {
        world.press(keys);
        let buffer = drawn(&mut world, (110, 28));
        frames.push(Frame { buffer, tenths, caption: caption.to_owned() });
    }
    compare("README.md", "assets/recording.svg", &film(&frames, PAPER, "A minute with backissue"));
}

#[test]
fn pictures_of_the_guide_match_the_program() {
    for (page, name, keys, row, then, size, title) in [
        // The list of a feed whose entries have all kinds of texts.
        (
            "first-hour",
            "panes",
            "<end>l",
            Some("Tables"),
            "<enter>",
            (124, 30),
            "Subscriptions, entries and an entry side by side",
        ),
        // An entry with highlighted code, one line of which is wider than the pane.
        (
            "reading",
            "code",
            "<end>l",
            Some("Code"),
            "<enter>z",
            (100, 40),
            "An entry with code, alone on the screen",
        ),
        (
            "when-feeds-are-checked",
            "plan",
            "<end>",
            None,
            "i",
            (124, 40),
            "The plan of a feed: when it is polled next, and why then",
        ),
        // The feed with archives, one of which its server does not deliver.
        (
            "older-entries",
            "gap",
            "gjjjjjjjjjjjl",
            Some("missing"),
            "",
            (124, 20),
            "A line in the list where older entries are missing",
        ),
        (
            "older-entries",
            "timeline",
            "gjjjjjjjjjjjl",
            None,
            ":timeline<enter>",
            (100, 20),
            "The years of a feed, and what is missing in them",
        ),
    ] {
        let mut world = demo_world(160, 50);
        world.press(keys);
        // Moves down to the row with the wanted title, or to the first gap.
        while let (Some(wanted), Some(row)) = (row, world.app.ui.list.selected_row()) {
            let gap = matches!(row.key, RowKey::Gap(..));
            if row.title.contains(wanted) || gap {
                break;
            }
            world.press("j");
        }
        world.press(then);
        let drawn = picture(&mut world, size, title);
        compare(&format!("docs/guide/{page}.md"), &format!("{name}.svg"), &drawn);
    }
}

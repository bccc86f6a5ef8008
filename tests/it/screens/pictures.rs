//! Checks that the README pictures match what the program draws. `BACKISSUE_PICTURES=write` rewrites them.

use backissue::engine::entries::rows::RowKey;
use backissue::ui::theme::colours::Colours;
use backissue::view;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::svg::{Paper, svg};
use crate::support::demo_world::demo_world;
use crate::support::world::World;

/// Default text and background colours of the pictures, taken from the theme.
const PAPER: Paper = Paper { ink: (0xd7, 0xda, 0xe0), ground: (0x16, 0x18, 0x1d) };

/// Draws a world at this size and returns the screen as an SVG picture with this title.
fn picture(world: &mut World, (columns, rows): (u16, u16), title: &str) -> String {
    world.resize(columns, rows);
    let appearance = &mut world.app.ui.appearance;
    appearance.colours = Colours::True;
    appearance.choose("dark").unwrap();
    world.app.ui.notice = None;
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal
        .draw(|frame| {
            view::draw(frame, &world.app, world.now);
        })
        .unwrap();
    svg(terminal.backend().buffer(), PAPER, title)
}

#[test]
fn readme_pictures_match_the_program() {
    let write = std::env::var("BACKISSUE_PICTURES").is_ok_and(|wish| wish == "write");
    for (name, keys, row, then, size, title) in [
        // The list of a feed whose entries have all kinds of texts.
        (
            "panes",
            "<end>l",
            Some("Tables"),
            "<enter>",
            (124, 30),
            "Subscriptions, entries and an entry side by side",
        ),
        // An entry with highlighted code, one line of which is wider than the pane.
        (
            "code",
            "<end>l",
            Some("Code"),
            "<enter>z",
            (100, 40),
            "An entry with code, alone on the screen",
        ),
        (
            "plan",
            "<end>",
            None,
            "i",
            (124, 40),
            "The plan of a feed: when it is polled next, and why then",
        ),
        // The feed with archives, one of which its server does not deliver.
        (
            "gap",
            "gjjjjjjjjjjjl",
            Some("missing"),
            "",
            (124, 20),
            "A line in the list where older entries are missing",
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
        let path = format!("{}/assets/{name}.svg", env!("CARGO_MANIFEST_DIR"));
        if write {
            std::fs::write(&path, &drawn).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == drawn,
            "assets/{name}.svg is not what is drawn: BACKISSUE_PICTURES=write cargo test --test it pictures"
        );
        let readme = include_str!("../../../README.md");
        assert!(readme.contains(&format!("(assets/{name}.svg)")), "{name} is shown");
    }
}

//! Runs the real binary in a terminal and checks what a person sees after pressing keys.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::ops::Range;
use std::process::Command;
use std::time::Duration;

#[path = "it/support/dice.rs"]
#[expect(dead_code, reason = "the other tests use all of it")]
mod dice;
#[path = "e2e/pictures.rs"]
mod pictures;
#[path = "e2e/pieces.rs"]
mod pieces;
#[path = "e2e/shell.rs"]
mod shell;
#[path = "it/support/site.rs"]
#[expect(dead_code, reason = "the other tests use all of it")]
mod site;
#[path = "it/support/terminal_session.rs"]
mod terminal_session;

use site::{Site, answer};
use terminal_session::Session;

#[test]
fn the_demo_is_read_from_start_to_end() {
    let mut session = Session::start(&["demo"], 120, 36);
    let flags = session.flags();
    session.until("every feed's own title", |screen| {
        let panes = screen.rows(0, 120).take(33).collect::<String>();
        words(screen, 2, 33..68) > 3 && !panes.contains("127.0.0.1")
    });
    session.until_quiet();
    session.press("l");
    session.press("j");
    session.press("\r");
    session.until("the text of an entry", |screen| {
        // The pane with the entry shows the title, source and address, then an empty line and the text.
        screen.contents().contains("http://127.0.0.1:") && words(screen, 16, 30..110) > 3
    });
    session.press("?");
    session.until_it_says("Keys that work here");
    session.press("?");
    session.until("the text again", |screen| !screen.contents().contains("Keys that work"));
    session.press("\t");
    session.press("qqq");
    assert!(session.ended().success());
    session.given_back();
    assert_eq!(session.flags(), flags, "the line discipline is as before");
}

#[test]
fn after_an_unfinished_sequence_or_paste_keys_work() {
    let mut session = Session::start(&["demo"], 120, 36);
    session.until("an entry in the list", |screen| words(screen, 2, 33..68) > 3);
    session.until_quiet();
    session.press("\x1b[");
    session.press("A");
    session.take_for(Duration::from_millis(400));
    assert!(!session.text().contains("marked read"), "{}", session.text());
    session.press("?");
    session.until_it_says("Keys that work here");
    session.press("\x1b[200~");
    session.press("\x03");
    assert!(session.ended().success());
    session.given_back();
}

#[test]
fn every_size_is_drawn_and_a_signal_ends_it_cleanly() {
    let mut session = Session::start(&["demo"], 120, 36);
    let flags = session.flags();
    session.until("an entry in the list", |screen| words(screen, 2, 33..68) > 3);
    for (columns, rows) in [(40, 12), (80, 24), (119, 20), (200, 50), (40, 50), (300, 12)] {
        session.resize(columns, rows);
        session
            .until("a screen from edge to edge", |screen| reaches_the_edges(screen, columns, rows));
    }
    session.resize(30, 5);
    session.until_it_says("40 x 12");
    session.resize(40, 12);
    // If a key arrives together with a resize, the terminal library may not read it, so wait before pressing the next one.
    session.until("a screen from edge to edge", |screen| reaches_the_edges(screen, 40, 12));
    session.until_quiet();
    for key in ["l", "\r", "?", "j", "?", "\t", "G", "g", " ", "n", "?"] {
        session.press(key);
    }
    session.until_it_says("Keys");
    let id = session.child.process_id().unwrap();
    let told = Command::new("sh").args(["-c", &format!("kill -TERM {id}")]).status().unwrap();
    assert!(told.success());
    assert!(session.ended().success());
    session.given_back();
    assert_eq!(session.flags(), flags, "the line discipline is as before");
}

#[test]
fn without_subscriptions_it_shows_what_to_do() {
    let mut session = Session::start(&[], 80, 24);
    for words in
        ["Welcome", "paste the address", "import a list of feeds: OPML, or newsboat's urls", "demo"]
    {
        session.until_it_says(words);
    }
    session.press("a");
    session.press("orchard\r");
    session.until_it_says("'orchard' is not the address");
    session.press("d");
    session.until("an entry of the demo", |screen| words(screen, 2, 31..79) > 3);
    session.press("\x03");
    assert!(session.ended().success());
}

#[test]
fn more_often_takes_effect_and_survives_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let data = data.to_str().unwrap();
    let added = Command::new(env!("CARGO_BIN_EXE_backissue"))
        .env_clear()
        .env("HOME", home.path())
        .args(["--data-dir", data, "add", "--no-poll", "http://127.0.0.1:1/orchard.xml"])
        .output();
    assert!(added.unwrap().status.success());
    let mut session = Session::start(&["--data-dir", data, "--offline"], 120, 36);
    session.until_it_says("orchard.xml");
    session.press("jjjjji");
    session.until_it_says("What you can do");
    session.press("+");
    session.until("the sign in the list and in the pane", |screen| {
        screen.contents().matches('▲').count() == 2
    });
    session.until_it_says("more often");
    session.press("iq");
    assert!(session.ended().success());
    let mut session = Session::start(&["--data-dir", data, "--offline"], 120, 36);
    session.until_it_says("▲");
    session.press("q");
    assert!(session.ended().success());
}

#[test]
fn search_is_typed_saved_and_opened() {
    let mut session = Session::start(&["demo"], 120, 36);
    session.until("an entry in the list", |screen| words(screen, 2, 42..100) > 3);
    session.until_quiet();
    session.press("/what a sleeper");
    session.until_it_says("Search: what a sleeper");
    session.until("the only entry that fits", |screen| {
        screen.contents().contains("What a sleeper") && words(screen, 2, 42..100) == 0
    });
    session.press("\x13");
    session.until_it_says("⌕ what a sleeper");
    session.until_it_says("Name of the search: what a sleeper");
    session.press("\r");
    session.until("the entry in its list", |screen| words(screen, 2, 42..100) > 1);
    session.press("\r");
    session.until("its text", |screen| (16..30).any(|row| words(screen, row, 42..110) > 6));
    session.press("\x06titel:x");
    session.until_it_says("did you mean 'title:'?");
    session.press("\x1b");
    session.until("the list again", |screen| !screen.contents().contains("did you mean 'title:'"));
    session.press("\x03");
    assert!(session.ended().success());
    session.given_back();
}

/// Returns a feed with this number of entries, every tenth of which is an advertisement.
fn large(entries: usize) -> String {
    use std::fmt::Write as _;
    let mut document = String::from("<rss version=\"2.0\"><channel><title>Large Feed</title>");
    for n in 0..entries {
        let title = if n % 10 == 0 { "Sponsored" } else { "Plain" };
        write!(document, "<item><guid>g{n}</guid><title>{title}: entry {n}</title></item>")
            .unwrap();
    }
    document.push_str("</channel></rss>");
    document
}

#[test]
fn five_thousand_entries_are_added_muted_read_and_restored() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let mut session = Session::start(&["--data-dir", data.to_str().unwrap()], 120, 36);
    session.until_it_says("Welcome");
    let document = large(5000);
    let site = Site::start(move |_| {
        answer(200, &[("content-type", "application/rss+xml")], document.clone())
    });
    let address = site.at("/feed.xml");
    session.press(&format!("\x1b[200~{address}\x1b[201~"));
    session.until_it_says("feed.xml");
    session.press("\r");
    session.until_it_says("5000 entries");
    session.until_it_says("Sponsored: entry 0");
    session.press("m");
    session.until_it_says("matches 500 of 5000 entries, 500 unread");
    session.press("\r");
    session.until_it_says("filter saved: 500 entries hidden");
    session.until("the list without them", |screen| !screen.contents().contains("Sponsored"));
    session.press("A");
    session.until_it_says("4500 marked read · u undo");
    session.press("u");
    session.until_it_says("undone: 4500 marked read");
    session.press("u");
    session.until_it_says("undone: filter '");
    session.until_it_says("Sponsored: entry 10");
    session.press("\x03");
    assert!(session.ended().success());
}

/// Returns the number of words in a row of the screen between these columns.
fn words(screen: &vt100::Screen, row: u16, columns: Range<u16>) -> usize {
    let cells = columns.filter_map(|column| screen.cell(row, column));
    let text: String =
        cells.map(|cell| if cell.has_contents() { cell.contents() } else { " " }).collect();
    text.split_whitespace().count()
}

/// Checks whether the panes fill the screen: one starts in the top-left corner, and one ends at the right edge above the lines at
/// the bottom.
fn reaches_the_edges(screen: &vt100::Screen, columns: u16, rows: u16) -> bool {
    let corner = |row, column, signs: &str| {
        let cell = screen.cell(row, column).map_or("", vt100::Cell::contents);
        !cell.is_empty() && signs.contains(cell)
    };
    corner(0, 0, "┌")
        && corner(0, columns - 1, "┐")
        // Below the panes are the demo tour, the status line (which may take several rows) and the key hints, so the bottom edge
        // may be in several rows.
        && (2..=6).any(|up| corner(rows - up, 0, "└") && corner(rows - up, columns - 1, "┘"))
}

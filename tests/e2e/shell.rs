//! How the program works with its shell and its terminal: suspending, signals, window title, mouse and clipboard.

use std::process::Command;
use std::time::Duration;

use super::{Session, reaches_the_edges, words};

/// Starts a shell with job control that runs `backissue demo`; returns the terminal session and the demo's process id.
fn shell_with_demo() -> (Session, String) {
    let mut session = Session::start_program("/bin/sh", &["-i"], 120, 36);
    session.press("PS1='at your service '; set -m; cd; export NO_PROXY='*'\n");
    session.until("a prompt", |screen| screen.contents().matches("at your service").count() >= 2);
    let program = env!("CARGO_BIN_EXE_backissue");
    let start = format!("sh -c 'echo $$ > id; exec {program} demo'\n");
    session.press(&start);
    session.until("an entry in the list", |screen| words(screen, 2, 33..68) > 3);
    session.until_quiet();
    let id = std::fs::read_to_string(session.home.as_ref().unwrap().path().join("id")).unwrap();
    (session, id.trim().to_owned())
}

fn send(signal: &str, id: &str) {
    let told = Command::new("sh").args(["-c", &format!("kill -{signal} {id}")]).status().unwrap();
    assert!(told.success());
}

/// Waits until the shell, not the program, reads from the terminal again.
#[track_caller]
fn until_the_shell_has_it(session: &mut Session) {
    session.until("the shell", |screen| {
        let text = screen.contents();
        !screen.alternate_screen()
            && text.to_lowercase().contains("stopped")
            && !text.contains("All unread")
    });
    let screen = session.screen.screen();
    assert!(!screen.hide_cursor() && !screen.bracketed_paste());
    assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    session.until_quiet();
    session.press("echo still $((40 + 2)) here\n");
    session.until_it_says("still 42 here");
}

#[track_caller]
fn until_it_goes_on(session: &mut Session) {
    session.until("the whole screen again", |screen| {
        screen.alternate_screen()
            && reaches_the_edges(screen, 120, 36)
            && screen.contents().contains("All unread")
            && !screen.contents().contains("still 42")
    });
    session.until_quiet();
    assert_ne!(session.screen.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::None);
}

#[test]
fn ctrl_z_suspends_to_the_shell_and_fg_resumes() {
    let (mut session, id) = shell_with_demo();
    for round in 0..2 {
        if round == 0 {
            session.press("\x1a");
        } else {
            send("TSTP", &id);
        }
        until_the_shell_has_it(&mut session);
        session.press("fg\n");
        until_it_goes_on(&mut session);
        session.press("?");
        session.until_it_says("Keys that work here");
        session.press("?");
        session.until("the panes", |screen| !screen.contents().contains("Keys that work"));
    }
    // After a stop that it could not notice (SIGSTOP), the program also redraws the whole screen.
    send("STOP", &id);
    session.until_it_says("topped");
    session.press("fg\n");
    until_it_goes_on(&mut session);
    session.press("\x03");
    session.until("the shell", |screen| !screen.alternate_screen());
    session.press("exit\n");
    session.ended();
}

#[test]
fn without_a_shell_ctrl_z_shows_a_message() {
    // Without subscriptions, so that no news of a poll takes the place of the answer.
    let mut session = Session::start(&[], 120, 36);
    session.until_it_says("Welcome");
    session.press("\x1a");
    session.until_it_says("there is no shell to return to");
    session.press("\x03");
    assert!(session.ended().success());
}

#[test]
fn late_answers_of_the_terminal_never_reach_the_shell() {
    let (mut session, _) = shell_with_demo();
    for round in 0..2 {
        session.press("\x1a");
        until_the_shell_has_it(&mut session);
        // The program asks again when it goes on, and is left before the answer comes.
        session.press("fg\n");
        session.until("the alternate screen", vt100::Screen::alternate_screen);
        session.press(if round == 0 { "\x1a" } else { "\x03" });
        session.take_for(Duration::from_millis(300));
        session.press("\x1b]11;rgb:1010/1010/1010\x1b\\\x1b[?62;22c");
        session.until("the shell", |screen| !screen.alternate_screen());
        session.press("echo still $((40 + 2)) here\n");
        session.until_it_says("still 42 here");
        assert!(!session.has_written("11;rgb"), "{}", session.text());
        if round == 0 {
            session.press("fg\n");
            until_it_goes_on(&mut session);
        }
    }
}

#[test]
fn every_signal_that_ends_the_program_restores_the_terminal() {
    for signal in ["USR1", "USR2", "QUIT", "ALRM"] {
        let mut session = Session::start(&["demo"], 120, 36);
        session.until("an entry in the list", |screen| words(screen, 2, 33..68) > 3);
        send(signal, &session.child.process_id().unwrap().to_string());
        assert!(session.ended().success(), "{signal}");
        session.given_back();
    }
}

#[test]
fn output_that_ends_at_once_waits_for_a_key() {
    let home = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_backissue");
    let start = format!("LESS=-FRX exec {program} demo");
    let mut session = Session::start_at_home(home.path(), "/bin/sh", &["-c", &start], 120, 36);
    session.until("an entry in the list", |screen| words(screen, 2, 33..68) > 3);
    session.until_quiet();
    for (command, output) in
        [("!echo several words", "several words"), ("sh -c 'echo one; echo two'", "two")]
    {
        session.press(&format!("l|\x15{command}\r"));
        // The screen of the shell still has what the program before it said.
        session.until_it_says(output);
        session.until_it_says("press a key to return to backissue");
        session.press(" ");
        session.until("the panes", |screen| screen.contents().contains("All unread"));
        session.until_quiet();
    }
    session.press("\x03");
    assert!(session.ended().success());
}

#[test]
fn rapid_resizes_end_in_the_last_size() {
    let mut session = Session::start(&["demo"], 120, 36);
    session.until("an entry in the list", |screen| words(screen, 2, 33..68) > 3);
    for step in 0..120_u16 {
        session.resize(40 + step * 37 % 160, 12 + step * 17 % 40);
    }
    session.resize(101, 31);
    session.until("a screen from edge to edge", |screen| reaches_the_edges(screen, 101, 31));
    session.until_quiet();
    session.press("\x03");
    assert!(session.ended().success());
    session.given_back();
}

#[test]
fn title_mouse_and_clipboard_are_the_terminals() {
    let mut session = Session::start(&["demo"], 120, 36);
    session.until("an entry in the list", |screen| words(screen, 2, 33..68) > 3);
    session.until_quiet();
    assert!(session.has_written("\x1b[22;2t"), "the title is kept");
    assert!(session.has_written("\x1b]0;backissue \u{b7} "), "and ours is set");
    assert!(session.has_written(" unread\x07"));
    assert_eq!(
        session.screen.screen().mouse_protocol_mode(),
        vt100::MouseProtocolMode::ButtonMotion
    );
    // Clicking twice on the third row of entries opens that entry.
    session.press("\x1b[<0;60;3M\x1b[<0;60;3m");
    session.until_quiet();
    session.press("\x1b[<0;60;3M\x1b[<0;60;3m");
    session.until("its text", |screen| words(screen, 20, 42..110) > 3);
    session.press("y");
    session.until_it_says("copied: http://127.0.0.1:");
    assert!(
        session.has_written("\x1b]52;c;aHR0cDovLzEyNy4wLjAuMTo"),
        "http://127.0.0.1: in Base64"
    );
    // When the terminal loses and regains focus, nothing changes.
    session.press("\x1b[O\x1b[I");
    session.press("T");
    session.until_it_says("theme dark");
    session.press("\x03");
    assert!(session.ended().success());
    assert!(session.has_written("\x1b[23;2t"), "the title is restored");
    session.given_back();
}

#[test]
fn links_and_plain_words_are_written_as_configured() {
    let home = tempfile::tempdir().unwrap();
    let configuration = home.path().join("config.toml");
    std::fs::write(&configuration, "[ui]\nhyperlinks = true\nmouse = false\ntitle = false\n")
        .unwrap();
    let configuration = configuration.to_str().unwrap();
    let mut session = Session::start(&["--config", configuration, "demo"], 120, 60);
    session.until("an entry in the list", |screen| words(screen, 2, 33..68) > 3);
    session.until_quiet();
    // Select the last feed, which has every kind of content; its first entry has many links.
    session.press("Gl");
    session.until_it_says("Tables: the honest and the wide");
    session.until_quiet();
    session.press("\r");
    session.until_it_says("publisher[1]");
    session.until_quiet();
    assert!(session.has_written("\x1b]8;id=1;http://127.0.0.1:"));
    assert!(session.has_written("\x1b]8;;\x1b\\"));
    assert!(!session.has_written("\x1b]0;") && !session.has_written("\x1b[22;2t"));
    assert_eq!(session.screen.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    session.press("\x03");
    assert!(session.ended().success());
    session.given_back();
    let mut session = Session::start(&["--plain", "demo"], 120, 60);
    session.until_it_says("Tag coast, ");
    session.press("j");
    session.until("the cursor on the second row", |screen| screen.cursor_position().0 == 2);
    assert!(!session.text().contains('│'), "{}", session.text());
    session.press("\x03");
    assert!(session.ended().success());
}

/// Creates a data folder with one subscription; returns the arguments with which the program opens it.
fn orchard(home: &tempfile::TempDir) -> [String; 3] {
    let data = home.path().join("data").to_str().unwrap().to_owned();
    let added = Command::new(env!("CARGO_BIN_EXE_backissue"))
        .env_clear()
        .env("HOME", home.path())
        .args(["--data-dir", &data, "add", "--no-poll", "http://127.0.0.1:1/orchard.xml"])
        .output();
    assert!(added.unwrap().status.success());
    ["--data-dir".to_owned(), data, "--offline".to_owned()]
}

#[test]
fn signal_to_end_loses_no_change() {
    let home = tempfile::tempdir().unwrap();
    let arguments = orchard(&home);
    let arguments = arguments.each_ref().map(String::as_str);
    let mut session = Session::start(&arguments, 120, 36);
    session.until_it_says("orchard.xml");
    session.press("jjjjj+");
    session.until_it_says("more often");
    send("TERM", &session.child.process_id().unwrap().to_string());
    assert!(session.ended().success());
    session.given_back();
    let mut session = Session::start(&arguments, 120, 36);
    session.until_it_says("▲");
    session.press("q");
    assert!(session.ended().success());
}

#[test]
fn closed_terminal_ends_the_program_normally() {
    let home = tempfile::tempdir().unwrap();
    let arguments = orchard(&home);
    let arguments = arguments.each_ref().map(String::as_str);
    let mut session = Session::start(&arguments, 120, 36);
    session.until_it_says("orchard.xml");
    session.press("jjjjj");
    let ended = session.close_after("+");
    assert!(ended.success(), "{ended:?}");
    let mut session = Session::start(&arguments, 120, 36);
    session.until_it_says("▲");
    assert!(!session.text().contains("fault"), "{}", session.text());
    session.press("q");
    assert!(session.ended().success());
    // If nothing was logged, there is no log folder or no file in it.
    let log = std::fs::read_dir(home.path().join("data/log")).into_iter().flatten();
    let files: Vec<_> = log.map(|file| file.unwrap().file_name()).collect();
    assert!(!files.iter().any(|file| file.to_string_lossy().starts_with("panic")), "{files:?}");
}

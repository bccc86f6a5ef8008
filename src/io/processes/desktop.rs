//! The clipboard and notifications of the desktop. A text is copied with a program of the desktop, through tmux or GNU screen, or
//! by the terminal (OSC 52), which also shows notifications.

use std::process::Stdio;
use std::time::Duration;

use backissue_core::feed::text::one_line;
use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::timeout;

use super::run_command::{apart, is_program};
use crate::engine::external_command::ExternalCommand;
use crate::engine::settings::{DesktopNotes, NotifySettings};
use crate::io::terminal;
use crate::ui::theme::colours::is_in_gnu_screen;
use crate::ui::theme::graphics::is_in_tmux;

/// Maximum wait for a program that receives a text.
const TIME_MAX: Duration = Duration::from_secs(2);
/// Maximum length of a sequence that GNU screen passes on, in bytes.
const PIECE_BYTES: usize = 240;

/// Copies a text. Returns the message for the user: `told`, with a note if only the terminal received the text, because the
/// terminal may ignore it.
pub(in crate::io) async fn copy(text: &str, told: String) -> String {
    let variable = |name: &str| std::env::var(name).ok();
    let mut is_copied = false;
    for program in programs(variable) {
        if !is_copied
            && ExternalCommand::typed(program).is_ok_and(|line| is_program(line.program()))
        {
            is_copied = take(program, text).await;
        }
    }
    if is_in_tmux(variable) {
        is_copied |=
            take("tmux load-buffer -w -", text).await || take("tmux load-buffer -", text).await;
    }
    if !is_in_tmux(variable) || !is_copied {
        terminal::send(&sequence(text, is_in_gnu_screen(variable)));
    }
    if is_copied { told } else { format!("{told} (if this terminal supports OSC 52)") }
}

/// Returns the programs of the desktop that may be installed, in the order in which to try them.
fn programs(variable: impl Fn(&str) -> Option<String>) -> Vec<&'static str> {
    let has = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let mut programs = vec!["pbcopy"];
    if has("WAYLAND_DISPLAY") {
        programs.push("wl-copy");
    }
    if has("DISPLAY") {
        programs.extend(["xclip -selection clipboard", "xsel --clipboard --input"]);
    }
    programs
}

/// Passes a text to a program. Returns whether the program accepted it.
async fn take(program: &str, text: &str) -> bool {
    let taken = async {
        let line = ExternalCommand::typed(program).ok()?;
        let mut command = Command::from(apart(&line).ok()?);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.kill_on_drop(true).spawn().ok()?;
        child.stdin.take()?.write_all(text.as_bytes()).await.ok()?;
        child.wait().await.ok().filter(std::process::ExitStatus::success)
    };
    timeout(TIME_MAX, taken).await.is_ok_and(|taken| taken.is_some())
}

/// Returns the escape sequence that copies a text to the clipboard of the terminal.
fn sequence(text: &str, in_gnu_screen: bool) -> String {
    let mut sequence = String::new();
    if CopyToClipboard::to_clipboard_from(text).write_ansi(&mut sequence).is_err() {
        return String::new();
    }
    if !in_gnu_screen {
        return sequence;
    }
    // The usual end of the sequence would also end the wrapping sequence. The sequence is ASCII.
    let sequence = format!("{}\x07", sequence.trim_end_matches(['\u{1b}', '\\', '\u{7}']));
    let pieces = sequence.as_bytes().chunks(PIECE_BYTES);
    pieces.flat_map(|piece| [b"\x1bP", piece, b"\x1b\\"].concat()).map(char::from).collect()
}

/// Maximum length of a notification, in characters.
const CHARS_MAX: usize = 200;

/// Sends a desktop notification, unless a command of the user has the terminal.
pub fn tell(text: &str, settings: &NotifySettings) {
    let tmux = is_in_tmux(|name| std::env::var(name).ok());
    terminal::send(&note_sequence(text, settings, tmux));
}

/// Returns the escape sequence of a notification.
fn note_sequence(text: &str, settings: &NotifySettings, tmux: bool) -> String {
    // Replace semicolons, because a semicolon would start another field of the escape sequence.
    let text = one_line(text, CHARS_MAX).replace(';', ",");
    let note = match settings.desktop {
        DesktopNotes::Off => String::new(),
        DesktopNotes::Osc9 => format!("\x1b]9;{text}\x07"),
        DesktopNotes::Osc777 => format!("\x1b]777;notify;backissue;{text}\x07"),
    };
    let tmux = tmux && !note.is_empty();
    let note = terminal::through_tmux(note, tmux);
    let bell = if settings.bell { "\x07" } else { "" };
    format!("{note}{bell}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gnu_screen_gets_short_wrapped_pieces() {
        assert_eq!(sequence("ab", false), "\x1b]52;c;YWI=\x1b\\");
        assert_eq!(sequence("ab", true), "\x1bP\x1b]52;c;YWI=\x07\x1b\\");
        let long = sequence(&"x".repeat(1000), true);
        let pieces: Vec<&str> = long.split_terminator("\x1b\\").collect();
        assert!(pieces.len() > 5 && pieces.iter().all(|piece| piece.starts_with("\x1bP")));
        let joined: String = pieces.iter().map(|piece| &piece[2..]).collect();
        let whole = sequence(&"x".repeat(1000), false);
        assert_eq!(joined.trim_end_matches('\u{7}'), whole.trim_end_matches("\x1b\\"));
    }

    #[test]
    fn programs_of_the_desktop_need_its_display() {
        let programs =
            |set: &'static str| programs(move |name| (name == set).then(|| ":0".to_owned()));
        assert_eq!(programs("SSH_CONNECTION"), ["pbcopy"]);
        assert_eq!(programs("WAYLAND_DISPLAY"), ["pbcopy", "wl-copy"]);
        assert_eq!(programs("DISPLAY").len(), 3);
    }
}

#[cfg(test)]
mod desktop_notes_tests {
    use crate::io::processes::desktop::*;

    #[test]
    fn desktop_note_is_one_escape_sequence_for_any_text() {
        let hostile = "a\x07b\x1b]0;title\x07;c\nd";
        for (desktop, bell, tmux, expected) in [
            (DesktopNotes::Off, false, false, ""),
            (DesktopNotes::Off, true, true, "\x07"),
            (DesktopNotes::Osc9, false, false, "\x1b]9;ab]0,title,c d\x07"),
            (DesktopNotes::Osc777, true, false, "\x1b]777;notify;backissue;ab]0,title,c d\x07\x07"),
            (DesktopNotes::Osc9, false, true, "\x1bPtmux;\x1b\x1b]9;ab]0,title,c d\x07\x1b\\"),
        ] {
            let settings = NotifySettings { desktop, bell, ..NotifySettings::default() };
            assert_eq!(note_sequence(hostile, &settings, tmux), expected);
        }
    }
}

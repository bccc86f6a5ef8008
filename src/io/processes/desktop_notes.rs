//! Desktop notifications, sent through the terminal.

use crate::engine::settings::{DesktopNotes, NotifySettings};
use crate::io::terminal;
use crate::ui::theme::graphics::is_in_tmux;
use backissue_core::feed::text::one_line;

/// Maximum length of a notification, in characters.
const CHARS_MAX: usize = 200;

/// Sends a desktop notification, unless a command of the user has the terminal.
pub fn tell(text: &str, settings: &NotifySettings) {
    let tmux = is_in_tmux(|name| std::env::var(name).ok());
    terminal::send(&sequence(text, settings, tmux));
}

/// Returns the escape sequence of a notification.
fn sequence(text: &str, settings: &NotifySettings, tmux: bool) -> String {
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
    use crate::io::processes::desktop_notes::*;

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
            assert_eq!(sequence(hostile, &settings, tmux), expected);
        }
    }
}

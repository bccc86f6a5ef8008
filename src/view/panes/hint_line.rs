//! The line of hints at the bottom: the most important keys of the current context.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::ui::app::App;
use crate::ui::panes::attention;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;
use crate::view::{cells, pane, theme};

/// The name of a command, and a description of its effect in one or two words.
type Hint = (&'static str, &'static str);

const FEEDS: [Hint; 5] = [
    ("open", "entries"),
    ("poll", "poll now"),
    ("add", "add"),
    ("plan", "next poll"),
    ("search", "search"),
];
const ENTRIES: [Hint; 5] = [
    ("open", "read"),
    ("next-unread", "next unread"),
    ("star", "star"),
    ("mark-all-read", "all read"),
    ("search", "search"),
];
const READER: [Hint; 5] = [
    ("read-on", "read on"),
    ("next-unread", "next unread"),
    ("star", "star"),
    ("open-in-browser", "browser"),
    ("back", "back"),
];
const ATTENTION: [Hint; 5] = [
    ("open", "fix"),
    ("toggle-read", "dismiss"),
    ("unsubscribe", "unsubscribe"),
    ("undo", "undo"),
    ("back", "back"),
];
const PLAN: [Hint; 5] = [
    ("poll", "poll now"),
    ("more-often", "more often"),
    ("less-often", "less often"),
    ("steps", "why"),
    ("back", "close"),
];
const TIMETABLE: [Hint; 5] = [
    ("poll", "poll now"),
    ("more-often", "more often"),
    ("less-often", "less often"),
    ("plan", "why"),
    ("back", "close"),
];
const HELP: [Hint; 3] = [("search", "find"), ("down", "down"), ("close", "close")];

/// Draws the line of hints, if there is room for it.
pub(in crate::view) fn draw(frame: &mut Frame<'_>, area: Rect, app: &App) {
    if area.height == 0 {
        return;
    }
    let help = key_of(app, "help");
    let end = if help.is_empty() { String::new() } else { format!("{help} ") };
    let room = usize::from(area.width).saturating_sub(cells::width(&end) + HELP_WORD.len() + 2);
    let mut spans = Vec::new();
    let mut used = 0_usize;
    for (name, words) in hints(app) {
        let key = key_of(app, name);
        let cells = cells::width(&key).saturating_add(words.len()).saturating_add(4);
        if key.is_empty() || used.saturating_add(cells) > room {
            continue;
        }
        used = used.saturating_add(cells);
        spans.push(Span::styled(format!(" {key}"), theme::KEY));
        spans.push(Span::styled(format!(" {words}  "), theme::DIM));
    }
    if !end.is_empty() {
        spans.push(Span::raw(" ".repeat(room.saturating_sub(used).saturating_add(1))));
        spans.push(Span::styled(end, theme::KEY));
        spans.push(Span::styled(HELP_WORD, theme::DIM));
    }
    pane::put(frame, &[Line::from(spans)], area);
}

/// The word after the key that opens the help.
const HELP_WORD: &str = "help";

/// Returns the first key of the command with the given name. Returns an empty string if it has no key.
fn key_of(app: &App, name: &str) -> String {
    app.ui.settings.keys.key(name).unwrap_or_default()
}

/// Returns the hints for the current context. There are none while a dialog is open, because dialogs show their own keys.
fn hints(app: &App) -> &'static [Hint] {
    match (&app.ui.overlay, app.ui.focus) {
        _ if app.engine.feeds.is_empty() => &[],
        (None, Pane::Feeds) => &FEEDS,
        (None, Pane::Entries) if attention::is_open(app) => &ATTENTION,
        (None, Pane::Entries) => &ENTRIES,
        (None, Pane::Reader) => &READER,
        (Some(Overlay::Plan(_)), _) => &PLAN,
        (Some(Overlay::Timetable(_)), _) => &TIMETABLE,
        // While the user types a filter in the help, keys enter text instead of running commands.
        (Some(Overlay::Help(help)), _) if !help.typing => &HELP,
        (Some(_), _) => &[],
    }
}

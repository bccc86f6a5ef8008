//! The command palette: fuzzy search over the names and descriptions of all commands, which are shown with their keys (UX 2).

use chrono::{DateTime, Utc};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};

use super::outcome::{ClickOutcome, KeyOutcome};
use super::prompt::{Prompt, PromptPurpose, Typed};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::{COMMANDS, Command};
use crate::ui::keys::key::{Code, Key};
use crate::ui::keys::key_bindings::command_at;
use crate::ui::scroll_list::ScrollList;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{Overlay, Palette};

/// Opens the palette. Until the user types something, it lists every command that works in the current context.
pub fn open_palette(app: &mut App) -> Vec<ScreenEffect> {
    let line = Prompt::new(PromptPurpose::Command);
    let own = app.ui.settings.keys.own_commands().to_vec();
    let list = ScrollList::default();
    let mut palette = Palette { line, found: Vec::new(), list, focus: app.ui.focus, own };
    palette.search();
    app.ui.lay_over(Overlay::Palette(palette));
    Vec::new()
}

/// Handles a key while the palette is open.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> KeyOutcome {
    let Some(Overlay::Palette(palette)) = &mut app.ui.overlay else { return KeyOutcome::Passed };
    let count = palette.found.len();
    match key {
        Key { code: Code::Down | Code::Tab, .. } | Key { code: Code::Char('n'), ctrl: true } => {
            palette.list.step(true, 1, count);
        }
        Key { code: Code::Up | Code::BackTab, .. } | Key { code: Code::Char('p'), ctrl: true } => {
            palette.list.step(false, 1, count);
        }
        Key { code: Code::Backspace, .. } if palette.line.text.is_empty() => {
            app.ui.uncover();
        }
        _ => match palette.line.key(key) {
            Typed::More => palette.search(),
            Typed::Cancelled => app.ui.uncover(),
            Typed::Done => return run_chosen(app, now),
        },
    }
    KeyOutcome::Done(Vec::new())
}

/// Inserts pasted text into the palette.
pub fn paste_text(app: &mut App, text: &str) -> Vec<ScreenEffect> {
    if let Some(Overlay::Palette(palette)) = &mut app.ui.overlay {
        palette.line.insert(text);
        palette.search();
    }
    Vec::new()
}

/// Runs the clicked command.
pub fn click_line(app: &mut App, _now: DateTime<Utc>, line: usize) -> ClickOutcome {
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(line);
    if let Some(Overlay::Palette(palette)) = &mut app.ui.overlay
        && place < palette.found.len()
    {
        palette.list.selected = place;
        return ClickOutcome::Enter;
    }
    ClickOutcome::Done(Vec::new())
}

impl Palette {
    /// Returns the command of the selected match.
    fn selected_command(&self) -> Option<Command> {
        command_at(*self.found.get(self.list.selected)?)
    }

    /// Returns the name and the description of the command at a place in the table, or beyond its end of an own command.
    pub fn described(&self, place: usize) -> Option<(String, String)> {
        if let Some(row) = COMMANDS.get(place) {
            return Some((row.name.to_owned(), row.help.to_owned()));
        }
        let own = self.own.get(place.checked_sub(COMMANDS.len())?)?;
        Some((own.name.clone(), own.about()))
    }

    /// Splits the typed text into a command name and an argument.
    fn written(&self) -> (&str, &str) {
        let text = self.line.text.trim();
        text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
    }

    fn search(&mut self) {
        let offered = COMMANDS.iter().enumerate().filter(|(_, row)| {
            row.works_in(self.focus) && !matches!(row.command, Command::Link | Command::Palette)
        });
        let (word, argument) = self.written();
        // With an argument, the command of exactly this name is the only match.
        let exact = offered.clone().find(|(_, row)| row.name == word);
        let places = offered.clone().map(|(place, _)| place);
        let own = COMMANDS.len()..COMMANDS.len().saturating_add(self.own.len());
        let described = places.chain(own).filter_map(|place| Some((place, self.described(place)?)));
        self.found = match exact {
            Some((place, _)) if !argument.is_empty() => vec![place],
            _ => rank_commands(described, self.line.text.trim()),
        };
        if let Some((exact, _)) = exact {
            // A whole name means this command, even if another one matches better.
            self.found.retain(|place| *place != exact);
            self.found.insert(0, exact);
        }
        self.list.selected = 0;
    }

    /// Returns the sentence for a whole name of a command that does not work in the current pane.
    fn explain_elsewhere(&self) -> Option<String> {
        let word = self.line.text.trim();
        let named = || COMMANDS.iter().filter(|row| row.name == word);
        if self.list.selected > 0 || named().any(|row| row.works_in(self.focus)) {
            return None;
        }
        let panes = [
            (Pane::Feeds, "the list of feeds"),
            (Pane::Entries, "a list of entries"),
            (Pane::Reader, "an open text"),
        ];
        let places: Vec<&str> = panes
            .into_iter()
            .filter(|(pane, _)| named().any(|row| row.works_in(*pane)))
            .map(|(_, place)| place)
            .collect();
        (!places.is_empty()).then(|| format!("'{word}' works in {}", places.join(" and in ")))
    }
}

/// Returns the indexes of the commands that match the typed text, best match first. A match in the name ranks above a match in the
/// description.
fn rank_commands(
    offered: impl Iterator<Item = (usize, (String, String))>,
    typed: &str,
) -> Vec<usize> {
    let pattern = Pattern::parse(typed, CaseMatching::Ignore, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    let mut letters = Vec::new();
    let mut score =
        |text: &str| pattern.score(nucleo_matcher::Utf32Str::new(text, &mut letters), &mut matcher);
    let mut scored: Vec<(u32, usize)> = offered
        .filter_map(|(place, (name, help))| {
            let by_name = score(&name).map(|score| score.saturating_add(1));
            // Fuzzy matches in a long description are meaningless, so every typed word must occur literally in the description.
            let help = help.to_lowercase();
            let by_help = words.iter().all(|word| help.contains(word)).then_some(1);
            by_name.max(by_help).map(|score| (score, place))
        })
        .collect();
    scored.sort_by_key(|&(score, place)| (std::cmp::Reverse(score), place));
    scored.into_iter().map(|(_, place)| place).collect()
}

/// Handles Enter: closes the palette and runs the selected command.
fn run_chosen(app: &mut App, now: DateTime<Utc>) -> KeyOutcome {
    let Some(Overlay::Palette(palette)) = app.ui.overlay.take() else { return KeyOutcome::Passed };
    app.ui.uncover();
    if let Some(text) = palette.explain_elsewhere() {
        app.ui.complain(now, text);
        return KeyOutcome::Done(Vec::new());
    }
    let Some(command) = palette.selected_command() else {
        let text = format!("no command matches '{}' · ? shows the keys", palette.line.text.trim());
        app.ui.complain(now, text);
        return KeyOutcome::Done(Vec::new());
    };
    let (word, argument) = palette.written();
    match COMMANDS.iter().find(|row| row.command == command) {
        Some(row) if !argument.is_empty() && word == row.name => {
            KeyOutcome::RunWith(row.name, argument.to_owned())
        }
        Some(_) | None => KeyOutcome::Run(command),
    }
}

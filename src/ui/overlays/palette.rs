//! The command palette: every command by name, found by a few of its letters, with its key beside it (UX 2).

use chrono::{DateTime, Utc};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};

use super::prompt::Prompt;
use super::prompt::PromptPurpose;
use super::prompt::Typed;
use crate::engine::effect::Effect;
use crate::engine::feeds::subscribe;
use crate::engine::feeds::subscribe::Wanted;
use crate::engine::model::Model;
use crate::ui::keys::command::Command;
use crate::ui::keys::command_names::name;
use crate::ui::keys::key::Code;
use crate::ui::keys::key::Key;
use crate::ui::keys::key_input;
use crate::ui::keys::keymap::BINDINGS;
use crate::ui::keys::keymap::Binding;
use crate::ui::keys::keymap::works_in;
use crate::ui::panes::browsing;
use crate::ui::screen::Overlay;
use crate::ui::screen::Pane;
use crate::ui::theme::appearance;

/// The open palette.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Palette {
    /// What was typed.
    pub line: Prompt,
    /// The commands it may mean, as places in the table of keys, best first.
    pub found: Vec<usize>,
    /// Place of the selected one among them.
    pub selected: usize,
    /// The pane the keys were with.
    focus: Pane,
}

/// Opens the palette: with nothing typed it lists every command that works here.
pub fn open(model: &mut Model) -> Vec<Effect> {
    let line = Prompt::new(PromptPurpose::Command);
    let mut palette = Palette { line, found: Vec::new(), selected: 0, focus: model.screen.focus };
    palette.search();
    model.screen.lay_over(Overlay::Palette(palette));
    Vec::new()
}

/// A key while the palette is open.
pub fn pressed(model: &mut Model, now: DateTime<Utc>, key: Key) -> Vec<Effect> {
    let Some(Overlay::Palette(palette)) = &mut model.screen.overlay else { return Vec::new() };
    let last = palette.found.len().saturating_sub(1);
    match key {
        Key { code: Code::Down | Code::Tab, .. } | Key { code: Code::Char('n'), ctrl: true } => {
            palette.selected = palette.selected.saturating_add(1).min(last);
        }
        Key { code: Code::Up | Code::BackTab, .. } | Key { code: Code::Char('p'), ctrl: true } => {
            palette.selected = palette.selected.saturating_sub(1);
        }
        Key { code: Code::Backspace, .. } if palette.line.text.is_empty() => {
            model.screen.uncover();
        }
        _ => match palette.line.key(key) {
            Typed::More => palette.search(),
            Typed::Cancelled => model.screen.uncover(),
            Typed::Done => return chosen(model, now),
        },
    }
    Vec::new()
}

/// Text was pasted into the palette.
pub fn pasted(palette: &mut Palette, text: &str) {
    palette.line.insert(text);
    palette.search();
}

impl Palette {
    /// The selected line of the table.
    pub fn selected_binding(&self) -> Option<&'static Binding> {
        BINDINGS.get(*self.found.get(self.selected)?)
    }

    /// A command written out, and what stands behind it.
    fn written(&self) -> (&str, &str) {
        let text = self.line.text.trim();
        text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
    }

    fn search(&mut self) {
        let offered = BINDINGS.iter().enumerate().filter(|(_, binding)| {
            works_in(binding, self.focus)
                && !matches!(binding.command(), Command::Digit(_) | Command::Palette)
        });
        let (word, argument) = self.written();
        // A name that is written out is meant, whatever else its letters would find.
        let exact = offered.clone().find(|(_, binding)| name(binding.command()) == word);
        self.found = match exact {
            Some((place, _)) if !argument.is_empty() => vec![place],
            _ => ranked(offered, self.line.text.trim()),
        };
        self.selected = 0;
    }
}

/// Places of the bindings that what was typed may mean, best first: its name counts more than what it does.
fn ranked<'b>(offered: impl Iterator<Item = (usize, &'b Binding)>, typed: &str) -> Vec<usize> {
    let pattern = Pattern::parse(typed, CaseMatching::Ignore, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    let mut letters = Vec::new();
    let mut score =
        |text: &str| pattern.score(nucleo_matcher::Utf32Str::new(text, &mut letters), &mut matcher);
    let mut scored: Vec<(u32, usize)> = offered
        .filter_map(|(place, binding)| {
            let by_name = score(name(binding.command())).map(|score| score.saturating_add(1));
            // Letters scattered over a sentence mean nothing: there the words themselves must stand.
            let help = binding.help.to_lowercase();
            let by_help = words.iter().all(|word| help.contains(word)).then_some(1);
            by_name.max(by_help).map(|score| (score, place))
        })
        .collect();
    scored.sort_by_key(|&(score, place)| (std::cmp::Reverse(score), place));
    scored.into_iter().map(|(_, place)| place).collect()
}

/// Enter: the selected command is done.
fn chosen(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(Overlay::Palette(palette)) = model.screen.overlay.take() else { return Vec::new() };
    model.screen.uncover();
    let Some(binding) = palette.selected_binding() else {
        let text = format!("no command is like '{}' · ? shows the keys", palette.line.text.trim());
        model.screen.complain(now, text);
        return Vec::new();
    };
    let command = binding.command();
    let (word, argument) = palette.written();
    if argument.is_empty() || word != name(command) {
        return key_input::commanded(model, now, command);
    }
    with_argument(model, now, command, argument)
}

/// A command with what was typed behind its name.
fn with_argument(
    model: &mut Model,
    now: DateTime<Utc>,
    command: Command,
    argument: &str,
) -> Vec<Effect> {
    if command == Command::GoTo {
        return browsing::go_to(model, now, argument);
    }
    if command == Command::Theme {
        return appearance::choose(model, now, argument);
    }
    if command == Command::Add {
        let id = model.next_addition();
        let address = argument.to_owned();
        return subscribe::add(
            model,
            now,
            Wanted { id, address, choose: true, ..Wanted::default() },
        );
    }
    let text =
        format!("'{}' takes nothing behind it: '{argument}' was not understood", name(command));
    model.screen.complain(now, text);
    Vec::new()
}

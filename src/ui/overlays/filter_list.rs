//! The list of the reader's rules.

use chrono::{DateTime, Utc};

use super::filter_dialog;
use crate::engine::effect::Effect;
use crate::engine::entries::entry_filters;
use crate::engine::model::Model;
use crate::ui::keys::command::Command;
use crate::ui::keys::key::Key;
use crate::ui::keys::run_command;
use crate::ui::screen::Overlay;
use crate::ui::screen::Pane;

/// Lines of a rule on the screen.
pub const RULE_LINES: usize = 2;

/// The open list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RuleList {
    /// Place of the selected rule.
    pub selected: usize,
}

/// Opens the list, or closes it.
pub fn open(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if matches!(model.screen.overlay, Some(Overlay::Rules(_))) {
        model.screen.uncover();
        return Vec::new();
    }
    if model.rules.list.is_empty() {
        model.screen.say(now, "no rules yet: m on an entry makes one");
        return Vec::new();
    }
    model.screen.lay_over(Overlay::Rules(RuleList::default()));
    vec![Effect::CountRuled]
}

/// A key in the list.
pub fn pressed(model: &mut Model, now: DateTime<Utc>, open: RuleList, key: Key) -> Vec<Effect> {
    let last = model.rules.list.len().saturating_sub(1);
    let selected = open.selected.min(last);
    let id = model.rules.list.get(selected).map(|rule| rule.id);
    let place = |model: &mut Model, selected: usize| {
        model.screen.overlay = Some(Overlay::Rules(RuleList { selected }));
        Vec::new()
    };
    match model.settings.keys.command(key, Pane::Feeds) {
        Some(Command::Down) => place(model, selected.saturating_add(1).min(last)),
        Some(Command::Up) => place(model, selected.saturating_sub(1)),
        Some(Command::First) => place(model, 0),
        Some(Command::Last) => place(model, last),
        Some(Command::Enter | Command::Edit) => {
            id.map(|id| filter_dialog::edit(model, now, id)).unwrap_or_default()
        }
        Some(Command::Unsubscribe) => {
            id.map(|id| entry_filters::give_up(model, id)).unwrap_or_default()
        }
        Some(Command::Add) => filter_dialog::create(model, now),
        Some(command @ (Command::Undo | Command::Redo | Command::Help | Command::Quit)) => {
            run_command::obey(model, now, command)
        }
        Some(Command::Back | Command::Mute | Command::Rules | Command::Left) => {
            model.screen.uncover();
            Vec::new()
        }
        Some(_) | None => {
            model.screen.say(now, "in the rules: Enter edits, D gives up, a makes one, q closes");
            Vec::new()
        }
    }
}

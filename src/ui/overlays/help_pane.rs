//! The help: the keys that work here, and the search in them.

use super::plan_pane;
use super::prompt::{Prompt, PromptPurpose, Typed};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::{COMMANDS, Command, CommandRow};
use crate::ui::keys::key::{Code, Key};
use crate::ui::screen::{Overlay, Ui};

/// The open help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpPane {
    /// First line shown.
    pub top: usize,
    /// What the lines must hold.
    pub filter: Prompt,
    /// The filter has the keys.
    pub typing: bool,
}

/// Opens the help, or closes it.
pub fn toggle(app: &mut App) -> Vec<ScreenEffect> {
    if matches!(app.ui.overlay, Some(Overlay::Help(_))) {
        app.ui.uncover();
    } else {
        let filter = Prompt::new(PromptPurpose::Help);
        app.ui.lay_over(Overlay::Help(HelpPane { top: 0, filter, typing: false }));
    }
    Vec::new()
}

/// A key while the filter is typed; `false`: it is not typed, the key means what it means elsewhere.
pub fn pressed(help: &mut HelpPane, key: Key) -> bool {
    if !help.typing {
        return false;
    }
    help.top = 0;
    match (key.code, help.filter.key(key)) {
        (Code::Up | Code::Down | Code::PageUp | Code::PageDown, _) => {
            help.typing = false;
            return false;
        }
        (_, Typed::More) => {}
        (_, Typed::Done) => help.typing = false,
        (_, Typed::Cancelled) => {
            help.filter = Prompt::new(PromptPurpose::Help);
            help.typing = false;
        }
    }
    true
}

/// What a command does while the help is open; `false`: it works as elsewhere.
pub fn commanded(screen: &mut Ui, command: Command) -> bool {
    let Some(Overlay::Help(help)) = &mut screen.overlay else { return false };
    if command == Command::Search {
        help.typing = true;
        return true;
    }
    if command == Command::Back && !help.filter.text.is_empty() {
        help.filter = Prompt::new(PromptPurpose::Help);
        return true;
    }
    if !command.works_in_help() {
        screen.uncover();
        return true;
    }
    false
}

/// The lines of the table of keys that the help shows: those that work where it was opened and hold every word
/// that was typed.
pub fn rows(app: &App, help: &HelpPane) -> Vec<usize> {
    let beneath = app.ui.beneath.last();
    let over = matches!(beneath, Some(Overlay::Plan(_) | Overlay::Timetable(_)));
    let typed = help.filter.text.to_lowercase();
    let holds = |place: usize, row: &CommandRow| {
        let keys = app.ui.settings.keys.keys_of(place);
        let whole = format!("{keys} {} {}", row.name, row.help);
        let whole = whole.to_lowercase();
        typed.split_whitespace().all(|word| whole.contains(word))
    };
    let lines = COMMANDS.iter().enumerate();
    lines
        .filter(|(_, row)| row.works_in(app.ui.focus))
        .filter(|(_, row)| !over || plan_pane::works_over_panes(row.command))
        .filter(|(place, row)| holds(*place, row))
        .map(|(place, _)| place)
        .collect()
}

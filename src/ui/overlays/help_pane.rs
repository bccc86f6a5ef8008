//! The help: lists the keys that work in the current context, and filters this list by typed words.

use super::prompt::{Prompt, PromptPurpose, TypedText};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::{COMMANDS, Command, grouped};
use crate::ui::keys::key::{Code, Key};
use crate::ui::scroll_list::{Distance, moved};
use crate::ui::state::overlay::{HelpPane, Overlay};

/// Opens or closes the help.
pub fn toggle_help(app: &mut App) -> Vec<ScreenEffect> {
    if matches!(app.ui.overlay, Some(Overlay::Help(_))) {
        app.ui.uncover();
    } else {
        let filter = Prompt::new(PromptPurpose::Help);
        app.ui.lay_over(Overlay::Help(HelpPane { top: 0, filter, typing: false }));
    }
    Vec::new()
}

/// Handles a key while a filter is typed in the help. Returns `None` if no filter is being typed.
pub fn press_key(app: &mut App, key: Key) -> Option<Vec<ScreenEffect>> {
    let Some(Overlay::Help(help)) = &mut app.ui.overlay else { return None };
    if !help.typing {
        return None;
    }
    help.top = 0;
    match (key.code, help.filter.key(key)) {
        (Code::Up | Code::Down | Code::PageUp | Code::PageDown, _) => {
            help.typing = false;
            return None;
        }
        (_, TypedText::More) => {}
        (_, TypedText::Done) => help.typing = false,
        (_, TypedText::Cancelled) => {
            help.filter = Prompt::new(PromptPurpose::Help);
            help.typing = false;
        }
    }
    Some(Vec::new())
}

/// Inserts pasted text into the filter that is typed in the help. Returns `None` if no filter is being typed.
pub fn paste_text(app: &mut App, text: &str) -> Option<Vec<ScreenEffect>> {
    let Some(Overlay::Help(help)) = &mut app.ui.overlay else { return None };
    help.typing.then(|| {
        help.filter.insert(text);
        Vec::new()
    })
}

/// Handles a command while the help is open. Returns `None` if the help is not open or the command (such as scrolling) runs as
/// usual.
pub fn take_command(app: &mut App, command: Command) -> Option<Vec<ScreenEffect>> {
    if command == Command::Space && matches!(app.ui.overlay, Some(Overlay::Help(_))) {
        scroll_help(app, true, Distance::Page);
        return Some(Vec::new());
    }
    let Some(Overlay::Help(help)) = &mut app.ui.overlay else { return None };
    if command == Command::Search {
        help.typing = true;
    } else if matches!(command, Command::Back | Command::Close) && !help.filter.text.is_empty() {
        help.filter = Prompt::new(PromptPurpose::Help);
    } else if !command.works_in_help() {
        app.ui.uncover();
    } else {
        return None;
    }
    Some(Vec::new())
}

/// Scrolls the help.
pub fn scroll_help(app: &mut App, down: bool, distance: Distance) -> bool {
    let lines = usize::from(app.ui.viewport.help_lines);
    // One page is the height of the screen without the borders of the help and the lines above and below the help.
    let page = app.ui.size.1.saturating_sub(8).max(5);
    if let Some(Overlay::Help(help)) = &mut app.ui.overlay {
        help.top = moved(help.top, lines, down, distance.steps(page));
    }
    true
}

/// Returns the groups of the help, each with those commands that work in the context where the help was opened and that match the
/// typed filter. Every word of the filter must occur in the command's keys, name or description, or in the heading of its group.
pub fn find_groups(app: &App, help: &HelpPane) -> Vec<(&'static str, Vec<usize>)> {
    let over = app.ui.beneath.last().is_some_and(Overlay::is_about_feeds);
    let typed = help.filter.text.to_lowercase();
    let is_shown = |heading: &str, place: usize| {
        let Some(row) = COMMANDS.get(place) else { return false };
        let keys = app.ui.settings.keys.keys_of(place);
        let whole =
            format!("{keys} {} {} {heading}", row.name, app.ui.words(row.help)).to_lowercase();
        row.works_in(app.ui.focus)
            && (!over || row.command.works_over_panes())
            && typed.split_whitespace().all(|word| whole.contains(word))
    };
    let shown = grouped().map(|(heading, mut places)| {
        places.retain(|place| is_shown(heading, *place));
        (heading, places)
    });
    shown.filter(|(_, places)| !places.is_empty()).collect()
}

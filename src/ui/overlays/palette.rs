//! The command palette: a list of all commands to pick from, with their descriptions and keys (UX 2).

use chrono::{DateTime, Utc};

use super::outcome::KeyOutcome;
use super::prompt::{Prompt, PromptPurpose};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::{COMMANDS, Command};
use crate::ui::keys::key_bindings::command_at;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;
use crate::ui::state::pick_list::{PickItem, PickList, PickTarget};

/// Opens the palette. Until the user types something, it lists every command that works in the current context.
pub fn open_palette(app: &mut App) -> Vec<ScreenEffect> {
    let offered = COMMANDS.iter().enumerate().filter(|(_, row)| {
        row.works_in(app.ui.focus) && !matches!(row.command, Command::Link | Command::Palette)
    });
    let offered = offered.map(|(place, row)| (place, row.name.to_owned(), app.ui.words(row.help)));
    let own = app.ui.settings.keys.own_commands().iter().zip(COMMANDS.len()..);
    let own = own.map(|(own, place)| (place, own.name.clone(), own.about()));
    let items = offered.chain(own).map(|(place, name, detail)| {
        let target = PickTarget::Command(place);
        PickItem { name, detail, target }
    });
    let picks = PickList::new(Prompt::new(PromptPurpose::Command), items.collect());
    app.ui.lay_over(Overlay::Pick(picks));
    Vec::new()
}

/// Runs the picked command, with the text that was typed after its name.
pub fn run_picked(app: &mut App, now: DateTime<Utc>, picks: &PickList) -> KeyOutcome {
    let typed = picks.line.text.trim();
    let item = picks.selected_item();
    let elsewhere =
        if picks.list.selected == 0 { works_elsewhere(typed, app.ui.focus) } else { None };
    let place = match item.map(|item| &item.target) {
        Some(PickTarget::Command(place)) if elsewhere.is_none() => *place,
        Some(_) | None => {
            let text = app.ui.words("{help} shows the keys");
            let nothing = || format!("no command matches '{typed}' · {text}");
            app.ui.complain(now, elsewhere.unwrap_or_else(nothing));
            return KeyOutcome::Done(Vec::new());
        }
    };
    let (word, argument) = picks.written();
    match (COMMANDS.get(place), command_at(place)) {
        (Some(row), _) if !argument.is_empty() && word == row.name => {
            KeyOutcome::RunWith(row.name, argument.to_owned())
        }
        (_, Some(command)) => KeyOutcome::Run(command),
        (_, None) => KeyOutcome::Done(Vec::new()),
    }
}

/// Returns the sentence for a whole name of a command that does not work in the focused pane.
fn works_elsewhere(word: &str, focus: Pane) -> Option<String> {
    let named = || COMMANDS.iter().filter(|row| row.name == word);
    if named().any(|row| row.works_in(focus)) {
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

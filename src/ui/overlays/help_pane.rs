//! The help lists the keys that work in the current context, and filters this list by typed words; the command palette lists all
//! commands to pick from, with their descriptions and keys (UX 2).

use super::list_panel::KeyOutcome;
use super::prompt::{Prompt, PromptPurpose, TypedText};
use crate::ui::app::{App, Cx};
use crate::ui::keys::command_table::{COMMANDS, Command, CommandRow, grouped, synonyms};
use crate::ui::keys::key::{Code, Key};
use crate::ui::keys::key_bindings::command_at;
use crate::ui::scroll_list::{Distance, moved};
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{HelpPane, Overlay, PickItem, PickList, PickTarget};

/// Opens or closes the help.
pub fn toggle_help(cx: &mut Cx<'_>) {
    if matches!(cx.app.ui.overlay, Some(Overlay::Help(_))) {
        cx.app.ui.uncover();
    } else {
        let filter = Prompt::new(PromptPurpose::Help);
        cx.app.ui.lay_over(Overlay::Help(HelpPane { top: 0, filter, typing: false }));
    }
}

/// Handles a key while a filter is typed in the help. Returns `None` if no filter is being typed.
pub fn press_key(cx: &mut Cx<'_>, key: Key) -> Option<()> {
    let Some(Overlay::Help(help)) = &mut cx.app.ui.overlay else { return None };
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
    Some(())
}

/// Inserts pasted text into the filter that is typed in the help. Returns `None` if no filter is being typed.
pub fn paste_text(cx: &mut Cx<'_>, text: &str) -> Option<()> {
    let Some(Overlay::Help(help)) = &mut cx.app.ui.overlay else { return None };
    help.typing.then(|| {
        help.filter.insert(text);
    })
}

/// Handles a command while the help is open. Returns `None` if the help is not open or the command (such as scrolling) runs as
/// usual.
pub fn take_command(cx: &mut Cx<'_>, command: Command) -> Option<()> {
    if command == Command::Space && matches!(cx.app.ui.overlay, Some(Overlay::Help(_))) {
        scroll_help(cx.app, true, Distance::Page);
        return Some(());
    }
    let Some(Overlay::Help(help)) = &mut cx.app.ui.overlay else { return None };
    // Over a text, the key that searches finds words in the text.
    if matches!(command, Command::Search | Command::Find) {
        help.typing = true;
    } else if matches!(command, Command::Back | Command::Close) && !help.filter.text.is_empty() {
        help.filter = Prompt::new(PromptPurpose::Help);
    } else if !command.works_in_help() {
        cx.app.ui.uncover();
    } else {
        return None;
    }
    Some(())
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
/// Over a plan, its own keys come first.
pub fn find_groups(app: &App, help: &HelpPane) -> Vec<(&'static str, Vec<usize>)> {
    let over = app.ui.beneath.last().is_some_and(Overlay::is_about_feeds);
    let typed = help.filter.text.to_lowercase();
    let works =
        |row: &CommandRow| row.works_in(app.ui.focus) && (!over || row.command.works_over_panes());
    let is_shown = |heading: &str, place: usize| {
        let Some((keys, name, help)) = described(app, place) else { return false };
        let whole = format!("{keys} {name} {help} {heading}").to_lowercase();
        COMMANDS.get(place).map_or(!over, works)
            && typed.split_whitespace().all(|word| whole.contains(word))
    };
    let own = (COMMANDS.len()..).take(app.ui.settings.keys.own_commands().len()).collect();
    let shown = grouped().chain([("Your own commands", own)]).map(|(heading, mut places)| {
        places.retain(|place| is_shown(heading, *place));
        (heading, places)
    });
    let mut groups: Vec<_> = shown.filter(|(_, places)| !places.is_empty()).collect();
    if over {
        groups.sort_by_key(|(heading, _)| *heading != "When and why");
    }
    groups
}

/// Returns the keys, the name and the description of the command at an index of the command table. An index beyond the end of the
/// table means one of the own commands.
pub fn described(app: &App, place: usize) -> Option<(String, String, String)> {
    let keys = &app.ui.settings.keys;
    let (name, help) = if let Some(row) = COMMANDS.get(place) {
        (row.name.to_owned(), app.ui.words(row.help))
    } else {
        let own = keys.own_commands().get(place.checked_sub(COMMANDS.len())?)?;
        (own.name.clone(), own.about())
    };
    Some((keys.keys_of(place), name, help))
}

/// Commands of newsboat that the palette does not have, each with the way to do the same in this program.
const HABITS: [(&str, &str); 3] = [
    ("set", "the configuration file has the settings, {edit} those of a feed"),
    ("tag", "{jump} jumps to a tag, {edit} sets those of a feed"),
    ("", "rows have no numbers: 5{down} moves by five, {goto} goes to a date"),
];

/// The commands at the top of the palette.
const WANTED_MOST: [&str; 12] = [
    "add",
    "poll",
    "poll-all",
    "search",
    "search-all",
    "mark-all-read",
    "edit",
    "unsubscribe",
    "filters",
    "import",
    "accounts",
    "theme",
];

/// Opens the palette. Until the user types something, it lists every command that works in the current context.
pub fn open_palette(cx: &mut Cx<'_>) {
    let is_offered = |row: &CommandRow| {
        row.works_in(cx.app.ui.focus) && !matches!(row.command, Command::Link | Command::Palette)
    };
    let offered = (0..).map_while(|place| Some((place, described(cx.app, place)?)));
    let offered = offered.filter(|(place, _)| COMMANDS.get(*place).is_none_or(is_offered));
    let items = offered.map(|(place, (_, name, detail))| {
        let target = PickTarget::Command(place);
        PickItem { name, detail, target }
    });
    let mut items: Vec<PickItem> = items.collect();
    let rank = |item: &PickItem| WANTED_MOST.iter().position(|name| *name == item.name);
    items.sort_by_key(|item| rank(item).unwrap_or(WANTED_MOST.len()));
    let picks = PickList::new(Prompt::new(PromptPurpose::Command), items);
    cx.app.ui.lay_over(Overlay::Pick(picks));
}

/// Runs the picked command, and passes it the text that was typed after its name.
pub fn run_picked(cx: &mut Cx<'_>, picks: &PickList) -> KeyOutcome {
    let typed = picks.line.text.trim();
    let item = picks.selected_item();
    let elsewhere =
        if picks.list.selected == 0 { works_elsewhere(picks, cx.app.ui.focus) } else { None };
    let place = match item.map(|item| &item.target) {
        Some(PickTarget::Command(place)) if elsewhere.is_none() => *place,
        Some(_) | None => {
            let (word, _) = picks.written();
            let is_number = word.parse::<u32>().is_ok();
            let mut habits = HABITS.iter().filter(|_| !word.is_empty());
            let habit = habits.find(|(name, _)| *name == word || (name.is_empty() && is_number));
            let text = cx.app.ui.words(habit.map_or("{help} shows the keys", |(_, text)| text));
            let nothing = || format!("no command matches '{typed}' · {text}");
            cx.complain(elsewhere.unwrap_or_else(nothing));
            return KeyOutcome::Done;
        }
    };
    let (word, argument) = picks.written();
    match (COMMANDS.get(place), command_at(place)) {
        (Some(row), _) if !argument.is_empty() && word == row.name => {
            KeyOutcome::RunWith(row.name, argument.to_owned())
        }
        (_, Some(command)) => KeyOutcome::Run(command),
        (_, None) => KeyOutcome::Done,
    }
}

/// Returns a sentence about a command that does not work in the focused pane, if the typed text is the whole name of the command,
/// or a whole synonym and there are no other matches.
pub fn works_elsewhere(picks: &PickList, focus: Pane) -> Option<String> {
    let (word, by_synonym) = (picks.line.text.trim(), picks.found.is_empty());
    let is_called = |row: &CommandRow| by_synonym && synonyms(row.name).any(|other| other == word);
    let is_named = |row: &&CommandRow| row.name == word || is_called(row);
    let named = || COMMANDS.iter().filter(is_named);
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
    let name = named().next()?.name;
    (!places.is_empty()).then(|| format!("'{name}' works in {}", places.join(" and in ")))
}

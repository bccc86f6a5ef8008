//! The lists over the panes, such as the downloads: they move, close and explain their keys alike. A list has its own rows, and a table
//! of what can be done with them.
//!
//! Work that an overlay cannot do itself is returned as a value. While an address is looked up, the panes are blocked; then one
//! such list has the feeds found on the page.

use backissue_core::history::{FeedKey, address};
use chrono::{DateTime, Utc};

use crate::engine::feeds::addition::{Addition, Subscribe};
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::commands::Command;
use crate::ui::keys::key::Key;
use crate::ui::keys::key_bindings::Keymap;
use crate::ui::scroll_list::{Distance, ScrollList};
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{AskedQuestion, Asks, ListOf, OpenList, Overlay};

/// What a list shows, and what can be done with its rows.
#[derive(Debug)]
pub struct ListKind {
    pub title: &'static str,
    /// What is shown in the place of a list without rows.
    pub empty: &'static str,
    /// Number of screen lines of a row.
    pub lines: u16,
    /// Commands that close the list, because they open it.
    pub toggles: &'static [Command],
    /// Returns the number of rows.
    pub count: fn(&App, DateTime<Utc>, ListOf) -> usize,
    pub actions: &'static [ListAction],
    /// Runs after the list was opened, or another row was selected.
    pub moved: fn(&mut App, DateTime<Utc>, OpenList) -> Vec<ScreenEffect>,
    /// Runs after the user closed the list.
    pub closed: fn(&mut App, DateTime<Utc>, OpenList) -> Vec<ScreenEffect>,
}

/// Something that can be done with the selected row.
#[derive(Debug)]
pub struct ListAction {
    /// Commands that do it. The first one is named in the title.
    commands: &'static [Command],
    /// What it does, as words after a key.
    words: &'static str,
    /// Does it. Returns `None` if it cannot be done with this row.
    run: RunAction,
}

type RunAction = fn(&mut App, DateTime<Utc>, OpenList) -> Option<Vec<ScreenEffect>>;

/// Makes an action.
pub const fn action(
    commands: &'static [Command],
    words: &'static str,
    run: RunAction,
) -> ListAction {
    ListAction { commands, words, run }
}

impl ListKind {
    /// Default parts of a list.
    pub const PLAIN: Self = Self {
        title: "",
        empty: "",
        lines: 1,
        toggles: &[],
        count: |_, _, _| 0,
        actions: &[],
        moved: |_, _, _| Vec::new(),
        closed: |_, _, _| Vec::new(),
    };

    /// Describes the keys that work in the list.
    pub fn hint(&self, keys: &Keymap) -> String {
        let actions = self.actions.iter().filter_map(|action| {
            Some(format!("{} {}", keys.key_of(action.commands.first()?.name()), action.words))
        });
        let closes = format!("{} closes", keys.key_of(Command::Back.name()));
        actions.chain([closes]).collect::<Vec<_>>().join(", ")
    }
}

/// Opens or closes a list. A list without rows is not opened.
pub fn toggle(app: &mut App, now: DateTime<Utc>, of: ListOf, kind: &ListKind) -> Vec<ScreenEffect> {
    if matches!(app.ui.overlay, Some(Overlay::List(open)) if open.of == of) {
        app.ui.uncover();
        return Vec::new();
    }
    if (kind.count)(app, now, of) == 0 {
        return app.ui.say_only(now, kind.empty);
    }
    let open = OpenList { of, list: ScrollList::default() };
    app.ui.lay_over(Overlay::List(open));
    (kind.moved)(app, now, open)
}

/// Returns the open list, with a selected row that exists if there is one.
fn open_list(app: &App, now: DateTime<Utc>, kind: &ListKind) -> Option<(OpenList, usize)> {
    let Some(Overlay::List(mut open)) = app.ui.overlay else { return None };
    let count = (kind.count)(app, now, open.of);
    open.list.selected = open.list.selected.min(count.saturating_sub(1));
    Some((open, count))
}

/// Handles a command in a list. Returns `None` for a command that works as usual.
pub fn take_command(
    app: &mut App,
    now: DateTime<Utc>,
    kind: &ListKind,
    command: Command,
) -> Option<Vec<ScreenEffect>> {
    let (open, _) = open_list(app, now, kind)?;
    if matches!(command, Command::Back | Command::Close | Command::Left)
        || kind.toggles.contains(&command)
    {
        app.ui.uncover();
        return Some((kind.closed)(app, now, open));
    }
    if command.works_in_help() || matches!(command, Command::Undo | Command::Redo) {
        return None;
    }
    let action = kind.actions.iter().find(|action| action.commands.contains(&command));
    let effects = action.and_then(|action| (action.run)(app, now, open));
    if effects.is_none() {
        explain(app, now, kind);
    }
    close_empty(app, now, kind);
    Some(effects.unwrap_or_default())
}

/// Names the keys that work in a list.
pub fn explain(app: &mut App, now: DateTime<Utc>, kind: &ListKind) {
    app.ui.say(now, format!("in this list: {}", kind.hint(&app.ui.settings.keys)));
}

/// Closes the open list if it has no rows any more.
pub fn close_empty(app: &mut App, now: DateTime<Utc>, kind: &ListKind) {
    if open_list(app, now, kind).is_some_and(|(_, count)| count == 0) {
        app.ui.uncover();
    }
}

/// Moves the selection down (`true`) or up.
pub fn scroll(
    app: &mut App,
    now: DateTime<Utc>,
    kind: &ListKind,
    (down, distance): (bool, Distance),
) -> Vec<ScreenEffect> {
    let Some((mut open, count)) = open_list(app, now, kind) else { return Vec::new() };
    let rows = app.ui.viewport.overlay.rows.checked_div(kind.lines).unwrap_or(0);
    open.list.step(down, distance.steps(rows), count);
    open.list.keep_in_sight(count, usize::from(rows));
    app.ui.overlay = Some(Overlay::List(open));
    (kind.moved)(app, now, open)
}

/// Selects the row at a line of the screen; a click on the selected row is Enter.
pub fn click(app: &mut App, now: DateTime<Utc>, kind: &ListKind, line: usize) -> Vec<ScreenEffect> {
    let Some((mut open, count)) = open_list(app, now, kind) else { return Vec::new() };
    let row = line.checked_div(usize::from(kind.lines)).unwrap_or(0);
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(row);
    if open.list.click(place, count) {
        return take_command(app, now, kind, Command::Enter).unwrap_or_default();
    }
    app.ui.overlay = Some(Overlay::List(open));
    (kind.moved)(app, now, open)
}

/// What an overlay did with a key.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyOutcome {
    /// The overlay handled the key. These effects must be performed.
    Done(Vec<ScreenEffect>),
    /// The overlay did not handle the key, so the panes must handle it.
    Passed,
    /// The overlay did not handle the key itself, but this command must run.
    Run(Command),
    /// As [`KeyOutcome::Run`], for the command with this name and the text that was typed after it.
    RunWith(&'static str, String),
}

impl From<Option<Vec<ScreenEffect>>> for KeyOutcome {
    fn from(taken: Option<Vec<ScreenEffect>>) -> Self {
        taken.map_or(Self::Passed, Self::Done)
    }
}

/// What an overlay did with a click.
#[derive(Debug, Clone, PartialEq)]
pub enum ClickOutcome {
    /// The overlay handled the click. These effects must be performed.
    Done(Vec<ScreenEffect>),
    /// The clicked item must be opened, as if the user had pressed Enter.
    Enter,
}

/// Subscribes to a typed address. While the address is looked up, keys do not reach the panes.
pub fn subscribe_to(app: &mut App, now: DateTime<Utc>, address: String) -> Vec<ScreenEffect> {
    look_up(app, now, Subscribe { address, ..Subscribe::default() })
}

/// Maximum number of addresses that can be pasted at once. The list of more than that belongs into a file.
const PASTED_MAX: usize = 50;
/// Number of pasted addresses that the question names.
const PASTED_NAMED: usize = 3;

/// Asks whether to subscribe to several pasted addresses.
pub fn offer_several(app: &mut App, now: DateTime<Utc>, addresses: Vec<String>) {
    let count = addresses.len();
    if count > PASTED_MAX {
        let text = format!("{count} addresses at once: import a file that lists them (:import)");
        app.ui.answer(now, text);
        return;
    }
    let mut named: Vec<String> = addresses
        .iter()
        .take(PASTED_NAMED)
        .map(|one| address::host(one).unwrap_or_else(|| one.clone()))
        .collect();
    if count > PASTED_NAMED {
        named.push(format!("{} more", count - PASTED_NAMED));
    }
    let text = format!("Subscribe to {count} addresses? {} · y/n", named.join(", "));
    if app.ui.overlay.is_some() {
        app.ui.uncover();
    }
    app.ui.lay_over(Overlay::Question(AskedQuestion { text, asks: Asks::Subscribe(addresses) }));
}

/// Subscribes to several addresses. The first feed of each page is taken.
pub fn subscribe_to_several(
    app: &mut App,
    now: DateTime<Utc>,
    addresses: Vec<String>,
) -> Vec<ScreenEffect> {
    let ask = |address: String| {
        let id = app.engine.next_addition();
        let wanted = Subscribe { id, address, ..Subscribe::default() };
        app.ask(now, Request::Subscribe(Box::new(wanted)))
    };
    addresses.into_iter().flat_map(ask).collect()
}

/// Changes the address of a feed to a typed address, once a feed is found there.
pub fn move_to(
    app: &mut App,
    now: DateTime<Utc>,
    feed: FeedKey,
    address: String,
) -> Vec<ScreenEffect> {
    look_up(app, now, Subscribe { address, moves: Some(feed), ..Subscribe::default() })
}

fn look_up(app: &mut App, now: DateTime<Utc>, wanted: Subscribe) -> Vec<ScreenEffect> {
    let id = app.engine.next_addition();
    let wanted = Subscribe { id, choose: true, ..wanted };
    let effects = app.ask(now, Request::Subscribe(Box::new(wanted)));
    wait_for(app, id);
    effects
}

/// Opens the overlay that keeps keys from the panes until the address lookup ends or offers a choice between feeds.
fn wait_for(app: &mut App, addition: u32) {
    let open = app.engine.additions.get(&addition);
    if open.is_some_and(|addition| addition.ended.is_none()) {
        app.ui.lay_over(Overlay::Looking(addition));
    }
}

/// Closes the overlay that keeps keys from the panes if the address lookup has ended.
pub fn follow_addition(app: &mut App) {
    let Some(Overlay::Looking(id)) = app.ui.overlay else { return };
    let addition = app.engine.additions.get(&id);
    if addition.is_none_or(|addition| addition.ended.is_some()) {
        app.ui.uncover();
    }
}

/// Handles a key while an address is looked up: Esc cancels the lookup, and any other key does nothing.
pub fn press_waiting_key(app: &mut App, now: DateTime<Utc>, key: Key) -> KeyOutcome {
    let Some(Overlay::Looking(addition)) = app.ui.overlay else { return KeyOutcome::Passed };
    match app.ui.settings.keys.command(key, Pane::Feeds) {
        Some(Command::Quit) => KeyOutcome::Passed,
        Some(Command::Back | Command::Close) => {
            app.ui.uncover();
            let effects = app.ask(now, Request::Choose { addition, url: None });
            app.ui.say(now, "cancelled: nothing was changed");
            KeyOutcome::Done(effects)
        }
        Some(_) | None => KeyOutcome::Done(Vec::new()),
    }
}

/// The choice between the feeds found on a page.
pub static LIST: ListKind = ListKind {
    title: "Which feed?",
    count: |app, _, of| found(app, of).map_or(0, |addition| addition.found.len()),
    actions: &[action(&[Command::Enter], "subscribes", |app, now, open| {
        let (addition, url) = url_at(app, open)?;
        app.ui.uncover();
        let effects = app.ask(now, Request::Choose { addition, url: Some(url) });
        wait_for(app, addition);
        Some(effects)
    })],
    moved: |app, now, open| {
        let Some((addition, url)) = url_at(app, open) else { return Vec::new() };
        app.ask(now, Request::Preview { addition, url })
    },
    closed: |app, now, open| {
        let ListOf::Choice(addition) = open.of else { return Vec::new() };
        app.ask(now, Request::Choose { addition, url: None })
    },
    ..ListKind::PLAIN
};

/// Returns the addition (the pending subscription) that a choice belongs to.
pub fn found(app: &App, of: ListOf) -> Option<&Addition> {
    let ListOf::Choice(addition) = of else { return None };
    app.engine.additions.get(&addition)
}

/// Returns the addition that waits for the choice, and the selected address.
fn url_at(app: &App, open: OpenList) -> Option<(u32, String)> {
    let addition = found(app, open.of)?;
    let candidate = addition.found.get(open.list.selected)?;
    Some((addition.wanted.id, candidate.url.clone()))
}

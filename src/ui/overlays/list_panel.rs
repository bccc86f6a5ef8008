//! The lists over the panes, such as the downloads. They all handle movement and closing in the same way, and show their keys in
//! the same way. Each list defines its own rows, and a table of actions for the rows.
//!
//! Work that an overlay cannot do itself is returned as a value. While an address is looked up, keys do not reach the panes. One
//! of the lists then offers the feeds that were found on the page.

use backissue_core::history::{FeedKey, address};
use chrono::{DateTime, Utc};

use crate::engine::feeds::addition::{Addition, Subscribe};
use crate::engine::request::Request;
use crate::ui::app::{App, Cx};
use crate::ui::keys::command_table::Command;
use crate::ui::keys::key::Key;
use crate::ui::keys::key_bindings::Keymap;
use crate::ui::scroll_list::{Distance, ScrollList};
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{AskedQuestion, Asks, ListOf, OpenList, Overlay};

/// A kind of list: its contents and its actions.
#[derive(Debug)]
pub struct ListKind {
    pub title: &'static str,
    /// Text that is shown instead of the rows if there are none.
    pub empty: &'static str,
    /// Number of screen lines per row.
    pub lines: u16,
    /// Commands that open the list. While it is open, they close it.
    pub toggles: &'static [Command],
    /// Returns the number of rows.
    pub count: fn(&App, DateTime<Utc>, ListOf) -> usize,
    pub actions: &'static [ListAction],
    /// Runs after the list has been opened or another row has been selected.
    pub moved: fn(&mut Cx<'_>, OpenList),
    /// Runs after the user has closed the list.
    pub closed: fn(&mut Cx<'_>, OpenList),
}

/// An action for the selected row.
#[derive(Debug)]
pub struct ListAction {
    /// Commands that run the action. The title of the list names the first one.
    commands: &'static [Command],
    /// Description of the action, to be shown after a key.
    words: &'static str,
    /// Runs the action. Returns `None` if the action is not possible for this row.
    run: RunAction,
}

type RunAction = fn(&mut Cx<'_>, OpenList) -> Option<()>;

/// Creates an action.
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
        moved: |_, _| {},
        closed: |_, _| {},
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
pub fn toggle(cx: &mut Cx<'_>, of: ListOf, kind: &ListKind) {
    if matches!(cx.app.ui.overlay, Some(Overlay::List(open)) if open.of == of) {
        cx.app.ui.uncover();
        return;
    }
    if (kind.count)(cx.app, cx.now, of) == 0 {
        return cx.say(kind.empty);
    }
    let open = OpenList { of, list: ScrollList::default() };
    cx.app.ui.notice = None;
    cx.app.ui.lay_over(Overlay::List(open));
    (kind.moved)(cx, open);
}

/// Returns the open list, with a selected row that exists if there is one.
fn open_list(app: &App, now: DateTime<Utc>, kind: &ListKind) -> Option<(OpenList, usize)> {
    let Some(Overlay::List(mut open)) = app.ui.overlay else { return None };
    let count = (kind.count)(app, now, open.of);
    open.list.selected = open.list.selected.min(count.saturating_sub(1));
    Some((open, count))
}

/// Handles a command in a list. Returns `None` for a command that works as usual.
pub fn take_command(cx: &mut Cx<'_>, kind: &ListKind, command: Command) -> Option<()> {
    let (open, _) = open_list(cx.app, cx.now, kind)?;
    if matches!(command, Command::Back | Command::Close | Command::Left)
        || kind.toggles.contains(&command)
    {
        cx.app.ui.uncover();
        (kind.closed)(cx, open);
        return Some(());
    }
    if command.works_in_help() || matches!(command, Command::Undo | Command::Redo) {
        return None;
    }
    let action = kind.actions.iter().find(|action| action.commands.contains(&command));
    if action.and_then(|action| (action.run)(cx, open)).is_none() {
        explain(cx, kind);
    }
    // The action may have opened another list instead.
    if matches!(cx.app.ui.overlay, Some(Overlay::List(shown)) if shown.of == open.of) {
        close_empty(cx, kind);
    }
    Some(())
}

/// Names the keys that work in a list.
pub fn explain(cx: &mut Cx<'_>, kind: &ListKind) {
    cx.say(format!("in this list: {}", kind.hint(&cx.app.ui.settings.keys)));
}

/// Closes the open list if it no longer has any rows.
pub fn close_empty(cx: &mut Cx<'_>, kind: &ListKind) {
    if open_list(cx.app, cx.now, kind).is_some_and(|(_, count)| count == 0) {
        cx.app.ui.uncover();
    }
}

/// Moves the selection down (`true`) or up.
pub fn scroll(cx: &mut Cx<'_>, kind: &ListKind, (down, distance): (bool, Distance)) {
    let Some((mut open, count)) = open_list(cx.app, cx.now, kind) else { return };
    let rows = cx.app.ui.viewport.overlay.rows.checked_div(kind.lines).unwrap_or(0);
    open.list.step(down, distance.steps(rows), count);
    open.list.keep_in_sight(count, usize::from(rows));
    cx.app.ui.overlay = Some(Overlay::List(open));
    (kind.moved)(cx, open);
}

/// Selects the row at a line of the screen; a click on the selected row is Enter.
pub fn click(cx: &mut Cx<'_>, kind: &ListKind, line: usize) {
    let Some((mut open, count)) = open_list(cx.app, cx.now, kind) else { return };
    let row = line.checked_div(usize::from(kind.lines)).unwrap_or(0);
    let place = usize::from(cx.app.ui.viewport.overlay_top).saturating_add(row);
    if open.list.click(place, count) {
        take_command(cx, kind, Command::Enter);
        return;
    }
    cx.app.ui.overlay = Some(Overlay::List(open));
    (kind.moved)(cx, open);
}

/// What an overlay did with a key.
#[derive(Debug, Clone, PartialEq)]
pub enum KeyOutcome {
    /// The overlay handled the key.
    Done,
    /// The overlay did not handle the key, so the panes must handle it.
    Passed,
    /// The overlay did not handle the key itself, but this command must run.
    Run(Command),
    /// As [`KeyOutcome::Run`], for the command with this name and the text that was typed after it.
    RunWith(&'static str, String),
}

impl From<Option<()>> for KeyOutcome {
    fn from(taken: Option<()>) -> Self {
        if taken.is_some() { Self::Done } else { Self::Passed }
    }
}

/// What an overlay did with a click.
#[derive(Debug, Clone, PartialEq)]
pub enum ClickOutcome {
    /// The overlay handled the click.
    Done,
    /// The clicked item must be opened, as if the user had pressed Enter.
    Enter,
}

/// Subscribes to a typed address. While the address is looked up, keys do not reach the panes.
pub fn subscribe_to(cx: &mut Cx<'_>, address: String) {
    look_up(cx, Subscribe { address, ..Subscribe::default() });
}

/// Maximum number of addresses that can be pasted at once. More addresses must be imported from a file.
const PASTED_MAX: usize = 50;
/// Number of pasted addresses that the question names.
const PASTED_NAMED: usize = 3;

/// Asks whether to subscribe to several pasted addresses.
pub fn offer_several(cx: &mut Cx<'_>, addresses: Vec<String>) {
    let count = addresses.len();
    if count > PASTED_MAX {
        let text = format!("{count} addresses at once: import a file that lists them (:import)");
        cx.answer(text);
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
    if cx.app.ui.overlay.is_some() {
        cx.app.ui.uncover();
    }
    cx.app.ui.lay_over(Overlay::Question(AskedQuestion { text, asks: Asks::Subscribe(addresses) }));
}

/// Subscribes to several addresses. The first feed of each page is taken.
pub fn subscribe_to_several(cx: &mut Cx<'_>, addresses: Vec<String>) {
    for address in addresses {
        let id = cx.app.engine.next_addition();
        let wanted = Subscribe { id, address, ..Subscribe::default() };
        cx.ask(Request::Subscribe(Box::new(wanted)));
    }
}

/// Changes the address of a feed to a typed address, once a feed is found there.
pub fn move_to(cx: &mut Cx<'_>, feed: FeedKey, address: String) {
    look_up(cx, Subscribe { address, moves: Some(feed), ..Subscribe::default() });
}

fn look_up(cx: &mut Cx<'_>, wanted: Subscribe) {
    let id = cx.app.engine.next_addition();
    let wanted = Subscribe { id, choose: true, ..wanted };
    cx.ask(Request::Subscribe(Box::new(wanted)));
    wait_for(cx.app, id);
}

/// Opens the overlay that keeps keys away from the panes until the address lookup has ended or offers a choice between feeds.
fn wait_for(app: &mut App, addition: u32) {
    let open = app.engine.additions.get(&addition);
    if open.is_some_and(|addition| addition.ended.is_none()) {
        app.ui.lay_over(Overlay::Looking(addition));
    }
}

/// Closes the overlay that keeps keys away from the panes if the address lookup has ended.
pub fn follow_addition(app: &mut App) {
    let Some(Overlay::Looking(id)) = app.ui.overlay else { return };
    let addition = app.engine.additions.get(&id);
    if addition.is_none_or(|addition| addition.ended.is_some()) {
        app.ui.uncover();
    }
}

/// Handles a key while an address is looked up: Esc cancels the lookup, and any other key does nothing.
pub fn press_waiting_key(cx: &mut Cx<'_>, key: Key) -> KeyOutcome {
    let Some(Overlay::Looking(addition)) = cx.app.ui.overlay else { return KeyOutcome::Passed };
    match cx.app.ui.settings.keys.command(key, Pane::Feeds) {
        Some(Command::Quit) => KeyOutcome::Passed,
        Some(Command::Back | Command::Close) => {
            cx.app.ui.uncover();
            cx.ask(Request::Choose { addition, url: None });
            cx.say("cancelled: nothing was changed");
            KeyOutcome::Done
        }
        Some(_) | None => KeyOutcome::Done,
    }
}

/// The choice between the feeds found on a page.
pub static LIST: ListKind = ListKind {
    title: "Which feed?",
    count: |app, _, of| found(app, of).map_or(0, |addition| addition.found.len()),
    actions: &[action(&[Command::Enter], "subscribes", |cx, open| {
        let (addition, url) = url_at(cx.app, open)?;
        cx.app.ui.uncover();
        cx.ask(Request::Choose { addition, url: Some(url) });
        wait_for(cx.app, addition);
        Some(())
    })],
    moved: |cx, open| {
        let Some((addition, url)) = url_at(cx.app, open) else { return };
        cx.ask(Request::Preview { addition, url });
    },
    closed: |cx, open| {
        let ListOf::Choice(addition) = open.of else { return };
        cx.ask(Request::Choose { addition, url: None });
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

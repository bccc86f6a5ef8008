//! The overlay table: how each overlay handles keys, pasted text, commands, scrolling and the mouse.
//!
//! A new overlay needs a variant of [`Overlay`], a row in this table, its own file, and code in the view that draws it.
//!
//! The input line handles its keys and pasted text here, and the text of a finished line is processed.

use super::list_panel::{self, ClickOutcome, KeyOutcome, ListKind};
use super::prompt::{Prompt, PromptPurpose, TypedText};
use super::{accounts, edit_dialog, filter_dialog, help_pane, hour_selection, plan_pane};
use crate::engine::request::Request;
use crate::ui::actions::{downloads, feeds, history_lists, jump, marking, run_own, unsubscribe};
use crate::ui::app::{App, Cx};
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::command_table::Command;
use crate::ui::keys::key::{Code, Key};
use crate::ui::panes::{browsing, search_pane};
use crate::ui::reader::{find_in_text, open_pages};
use crate::ui::scroll_list::Distance;
use crate::ui::state::overlay::{ListOf, Overlay};

/// Number of rows or lines that one wheel step scrolls.
pub const WHEEL_LINES: usize = 3;

/// How an overlay handles each kind of input. If a function returns `None` or `Passed`, the panes handle the input.
#[derive(Debug)]
pub struct OverlayRow {
    /// Contents and actions of the list, if the overlay is a list. These are then used instead of the functions below.
    pub list: Option<&'static ListKind>,
    /// Handles a key before the key bindings are consulted.
    pub key: fn(&mut Cx<'_>, Key) -> KeyOutcome,
    /// Handles pasted text.
    pub paste: fn(&mut Cx<'_>, &str) -> Option<()>,
    /// Handles a command before [`run_command`](crate::ui::keys::key_input) carries it out.
    pub command: fn(&mut Cx<'_>, Command) -> Option<()>,
    /// Scrolls the overlay or moves its selection, down (`true`) or up. Returns `false` if the pane below should scroll instead.
    pub scroll: fn(&mut App, bool, Distance) -> bool,
    /// What the mouse wheel does over the overlay.
    pub wheel: Wheel,
    /// Handles a click on a line of the overlay, counted from the first visible line.
    pub click: fn(&mut Cx<'_>, usize) -> ClickOutcome,
    /// What a click outside the overlay does.
    pub beside: ClickOutside,
}

/// What the mouse wheel does over an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wheel {
    /// Each wheel step scrolls the overlay by this number of lines.
    Lines(usize),
    /// Each wheel step acts like an arrow key.
    Arrows,
    /// The wheel scrolls the pane under the pointer.
    Panes,
}

/// What a click outside an overlay does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClickOutside {
    /// Nothing.
    Nothing,
    /// Closes the overlay.
    Closes,
    /// Closes the overlay and passes the click to the panes.
    ClosesAndClicks,
    /// Ends the search that is being typed and passes the click to the panes.
    EndsSearch,
}

/// Default row of the table: the overlay leaves most input to the panes.
const PLAIN: OverlayRow = OverlayRow {
    list: None,
    key: |_, _| KeyOutcome::Passed,
    paste: |_, _| None,
    command: |_, _| None,
    scroll: |_, _, _| false,
    wheel: Wheel::Lines(1),
    click: |_, _| ClickOutcome::Done,
    beside: ClickOutside::Nothing,
};

/// Default row of a list.
const LIST: OverlayRow = OverlayRow { beside: ClickOutside::Closes, ..PLAIN };

static HELP: OverlayRow = OverlayRow {
    list: None,
    key: |cx, key| help_pane::press_key(cx, key).into(),
    paste: help_pane::paste_text,
    command: help_pane::take_command,
    scroll: help_pane::scroll_help,
    wheel: Wheel::Lines(WHEEL_LINES),
    click: |cx, _| {
        cx.app.ui.uncover();
        ClickOutcome::Done
    },
    beside: ClickOutside::Closes,
};

static PROMPT: OverlayRow = OverlayRow {
    key: |cx, key| {
        press_key(cx, key);
        KeyOutcome::Done
    },
    paste: |cx, text| {
        paste_text(cx, text);
        Some(())
    },
    wheel: Wheel::Panes,
    beside: ClickOutside::EndsSearch,
    ..PLAIN
};

static LOOKING: OverlayRow = OverlayRow { key: list_panel::press_waiting_key, ..PLAIN };

static QUESTION: OverlayRow = OverlayRow { key: unsubscribe::press_key, ..PLAIN };

static HINTS: OverlayRow =
    OverlayRow { key: open_pages::press_key, beside: ClickOutside::ClosesAndClicks, ..PLAIN };

static PICK: OverlayRow = OverlayRow {
    key: jump::press_key,
    paste: |cx, text| {
        jump::paste_text(cx, text);
        Some(())
    },
    wheel: Wheel::Arrows,
    click: jump::click_line,
    beside: ClickOutside::Closes,
    ..PLAIN
};

static PLAN: OverlayRow = OverlayRow {
    key: |cx, key| hour_selection::press_key(cx, key).into(),
    command: plan_pane::refuse_command,
    scroll: plan_pane::scroll_plan,
    wheel: Wheel::Lines(WHEEL_LINES),
    beside: ClickOutside::ClosesAndClicks,
    ..PLAIN
};

static TIMETABLE: OverlayRow = OverlayRow {
    command: plan_pane::refuse_command,
    scroll: hour_selection::scroll_timetable,
    click: |cx, line| {
        hour_selection::click_line(cx, line);
        ClickOutcome::Done
    },
    beside: ClickOutside::ClosesAndClicks,
    ..PLAIN
};

static EDIT: OverlayRow = OverlayRow {
    key: |cx, key| {
        edit_dialog::press_key(cx, key);
        KeyOutcome::Done
    },
    paste: |cx, text| {
        edit_dialog::paste_text(cx, text);
        Some(())
    },
    wheel: Wheel::Arrows,
    click: |cx, line| {
        edit_dialog::click_line(cx, line);
        ClickOutcome::Done
    },
    ..PLAIN
};

static ACCOUNT: OverlayRow = OverlayRow {
    key: |cx, key| {
        accounts::press_key(cx, key);
        KeyOutcome::Done
    },
    paste: |cx, text| {
        accounts::paste_text(cx, text);
        Some(())
    },
    wheel: Wheel::Arrows,
    click: |cx, line| {
        accounts::click_line(cx, line);
        ClickOutcome::Done
    },
    ..PLAIN
};

static FILTER_DIALOG: OverlayRow = OverlayRow {
    key: |cx, key| {
        filter_dialog::press_key(cx, key);
        KeyOutcome::Done
    },
    paste: |cx, text| {
        filter_dialog::paste_text(cx, text);
        Some(())
    },
    wheel: Wheel::Arrows,
    click: |cx, line| {
        filter_dialog::click_line(cx, line);
        ClickOutcome::Done
    },
    ..PLAIN
};

static CHOICE: OverlayRow =
    OverlayRow { list: Some(&list_panel::LIST), beside: ClickOutside::Nothing, ..LIST };
static ACCOUNTS: OverlayRow = OverlayRow { list: Some(&accounts::LIST), ..LIST };
static FILTERS: OverlayRow =
    OverlayRow { list: Some(&filter_dialog::LIST), beside: ClickOutside::ClosesAndClicks, ..LIST };
static REMOVED: OverlayRow = OverlayRow { list: Some(&unsubscribe::LIST), ..LIST };
static DOWNLOADS: OverlayRow = OverlayRow { list: Some(&downloads::LIST), ..LIST };
static SHARE: OverlayRow = OverlayRow { list: Some(&run_own::LIST), ..LIST };
static TIMELINE: OverlayRow = OverlayRow { list: Some(&history_lists::TIMELINE), ..LIST };
static OLDER: OverlayRow = OverlayRow { list: Some(&history_lists::SOURCES), ..LIST };

impl Overlay {
    /// Returns the row of the overlay table for this overlay.
    pub const fn row(&self) -> &'static OverlayRow {
        match self {
            Self::Help(_) => &HELP,
            Self::Prompt(_) => &PROMPT,
            Self::Looking(_) => &LOOKING,
            Self::Question(_) => &QUESTION,
            Self::Hints(_) => &HINTS,
            Self::Pick(_) => &PICK,
            Self::Plan(_) => &PLAN,
            Self::Timetable(_) => &TIMETABLE,
            Self::Edit(_) => &EDIT,
            Self::Account(_) => &ACCOUNT,
            Self::FilterDialog(_) => &FILTER_DIALOG,
            Self::List(open) => match open.of {
                ListOf::Choice(_) => &CHOICE,
                ListOf::Accounts => &ACCOUNTS,
                ListOf::Filters => &FILTERS,
                ListOf::Removed => &REMOVED,
                ListOf::Downloads => &DOWNLOADS,
                ListOf::Share => &SHARE,
                ListOf::Older(_) => &OLDER,
                ListOf::Timeline(_) => &TIMELINE,
            },
        }
    }
}

/// Returns the row of the overlay table for the topmost overlay. Returns `None` if no overlay is open.
pub fn open_row(app: &App) -> Option<&'static OverlayRow> {
    app.ui.overlay.as_ref().map(Overlay::row)
}

/// Returns the topmost overlay, if it is a list.
pub fn open_list(app: &App) -> Option<&'static ListKind> {
    open_row(app)?.list
}

/// Lets the topmost overlay handle a command. Returns `None` if no overlay is open or the overlay does not handle the command.
pub fn take_command(cx: &mut Cx<'_>, command: Command) -> Option<()> {
    match open_list(cx.app) {
        Some(kind) => list_panel::take_command(cx, kind, command),
        None => (open_row(cx.app)?.command)(cx, command),
    }
}

/// Lets the topmost overlay handle a click on one of its lines.
pub fn click(cx: &mut Cx<'_>, line: usize) -> ClickOutcome {
    match (open_list(cx.app), open_row(cx.app)) {
        (Some(kind), _) => {
            list_panel::click(cx, kind, line);
            ClickOutcome::Done
        }
        (None, Some(row)) => (row.click)(cx, line),
        (None, None) => ClickOutcome::Done,
    }
}

/// Scrolls the topmost overlay or moves its selection, down (`true`) or up. Returns `None` if the pane below should scroll instead.
pub fn scroll_open(cx: &mut Cx<'_>, down: bool, distance: Distance) -> Option<()> {
    let row = open_row(cx.app)?;
    if let Some(kind) = row.list {
        list_panel::scroll(cx, kind, (down, distance));
        return Some(());
    }
    (row.scroll)(cx.app, down, distance).then_some(())
}

/// Inserts pasted text into the input line.
pub fn paste_text(cx: &mut Cx<'_>, text: &str) {
    if let Some(Overlay::Prompt(prompt)) = &mut cx.app.ui.overlay {
        if prompt.purpose == PromptPurpose::Search {
            prompt.insert(&text.trim_matches(['\r', '\n']).replace(['\r', '\n', '\t'], " "));
        } else {
            prompt.insert(text);
        }
    }
    find_in_text::follow_line(cx.app);
    search_pane::follow_line(cx);
}

/// Checks whether pasted text is the address of a subscription.
pub fn takes_address(app: &App) -> bool {
    match &app.ui.overlay {
        Some(Overlay::Prompt(prompt)) => prompt.purpose == PromptPurpose::Add,
        Some(_) => false,
        None => true,
    }
}

/// Checks whether the user is typing a search query.
pub fn is_search_typed(app: &App) -> bool {
    let Some(Overlay::Prompt(prompt)) = &app.ui.overlay else { return false };
    prompt.purpose == PromptPurpose::Search
}

/// Handles a key in the input line.
pub fn press_key(cx: &mut Cx<'_>, key: Key) {
    let Some(Overlay::Prompt(prompt)) = &cx.app.ui.overlay else { return };
    let purpose = prompt.purpose;
    if press_own_key(cx, purpose, key).is_some() {
        return;
    }
    let Some(Overlay::Prompt(prompt)) = &mut cx.app.ui.overlay else { return };
    match prompt.key(key) {
        TypedText::More => {
            find_in_text::follow_line(cx.app);
            search_pane::follow_line(cx);
        }
        TypedText::Cancelled => {
            cx.app.ui.uncover();
            if purpose == PromptPurpose::Find {
                find_in_text::end(cx.app, true);
            }
        }
        TypedText::Done => finish_line(cx),
    }
}

/// Handles a key that has a special meaning for the purpose of the input line. Returns `None` for other keys.
fn press_own_key(cx: &mut Cx<'_>, purpose: PromptPurpose, key: Key) -> Option<()> {
    if purpose == PromptPurpose::Search {
        return search_pane::press_key(cx, key);
    }
    if purpose == PromptPurpose::Pipe && key == Key::code(Code::Up) {
        open_pages::take_last(cx.app);
        return Some(());
    }
    let is_path = is_path(purpose);
    if is_path && key == Key::code(Code::Tab) {
        let Some(Overlay::Prompt(prompt)) = &cx.app.ui.overlay else { return None };
        cx.out.push(ScreenEffect::CompletePath(prompt.text.clone()));
        return Some(());
    }
    let is_tags = matches!(purpose, PromptPurpose::Tags(_) | PromptPurpose::MarkedTags);
    let completes = is_tags && key == Key::code(Code::Tab);
    completes.then(|| {
        edit_dialog::complete_tag(cx.app);
    })
}

/// Checks whether the line is the path of a file.
const fn is_path(purpose: PromptPurpose) -> bool {
    matches!(purpose, PromptPurpose::Import | PromptPurpose::Export | PromptPurpose::Save)
}

/// Replaces the path in the input line by its completion, unless the path has changed since the completion was requested.
pub fn complete_path(app: &mut App, typed: &str, completed: &str) {
    if let Some(Overlay::Prompt(prompt)) = &mut app.ui.overlay
        && is_path(prompt.purpose)
        && prompt.text == typed
    {
        *prompt = Prompt::filled(prompt.purpose, completed.to_owned());
    }
}

/// Closes the input line and processes its text.
fn finish_line(cx: &mut Cx<'_>) {
    let Some(Overlay::Prompt(prompt)) = cx.app.ui.overlay.take() else { return };
    cx.app.ui.uncover();
    if let PromptPurpose::Rule { feed, replaces } = prompt.purpose {
        return hour_selection::set_rule(cx, (feed, replaces), &prompt.text);
    }
    if let PromptPurpose::Tags(feed) = prompt.purpose {
        return edit_dialog::set_tags(cx, feed, &prompt.text);
    }
    if prompt.purpose == PromptPurpose::Find {
        return find_in_text::finish(cx);
    }
    if prompt.text.trim().is_empty() {
        return;
    }
    match prompt.purpose {
        PromptPurpose::Add => list_panel::subscribe_to(cx, prompt.text),
        PromptPurpose::Import => feeds::import_file(cx, &prompt.text),
        PromptPurpose::Export => feeds::export_list(cx, &prompt.text),
        PromptPurpose::Save => downloads::save(cx, &prompt.text),
        PromptPurpose::Rename(id) => search_pane::rename_search(cx, id, &prompt.text),
        PromptPurpose::Copy(feed) => cx.ask(Request::ReadCopy(feed, prompt.text.clone())),
        PromptPurpose::MarkedTags => marking::change_tags(cx, &prompt.text),
        PromptPurpose::RenameTag => edit_dialog::rename_tag(cx, &prompt.text),
        PromptPurpose::GoTo => browsing::go_to(cx, &prompt.text),
        PromptPurpose::Pipe => open_pages::take_command(cx, &prompt.text),
        // The edit dialog, the palette, the help and the search handle their own lines. Lines for rules and tags were handled
        // above.
        PromptPurpose::Field(_)
        | PromptPurpose::Password
        | PromptPurpose::Tags(_)
        | PromptPurpose::Condition
        | PromptPurpose::Command
        | PromptPurpose::Find
        | PromptPurpose::Jump
        | PromptPurpose::Label
        | PromptPurpose::Search
        | PromptPurpose::Help
        | PromptPurpose::Rule { .. } => {}
    }
}

//! A list from which the user picks an item by typing some of its letters: the feeds, tags and lists to jump to, commands, or the
//! labels that the user sets on entries by hand.

use backissue_core::feed::text::one_line;
use backissue_core::filters::FilterScope;
use backissue_core::history::EntryKey;
use backissue_core::search::folded;

use crate::engine::entries::entry_filters;
use crate::engine::request::Request;
use crate::ui::app::{App, Cx};
use crate::ui::keys::key::{Code, Key};
use crate::ui::overlays::help_pane;
use crate::ui::overlays::list_panel::{ClickOutcome, KeyOutcome};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose, TypedText};
use crate::ui::panes::{feeds_pane, load_rows};
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{Overlay, PickItem, PickList, PickTarget, rank};

/// Opens the list of all feeds, tags and lists, from which the user jumps to one.
pub fn open_jump(cx: &mut Cx<'_>) {
    let items = jump_items(cx.app);
    let picks = PickList::new(Prompt::new(PromptPurpose::Jump), items);
    cx.app.ui.lay_over(Overlay::Pick(picks));
}

/// Jumps to the feed, tag or list that matches a typed text best.
pub fn jump_to(cx: &mut Cx<'_>, typed: &str) {
    let items = jump_items(cx.app);
    let found = rank(&items, typed).first().and_then(|place| items.get(*place));
    open_item(cx, found, typed);
}

/// Returns all feeds, tags and lists. Feeds come first, by title.
fn jump_items(app: &App) -> Vec<PickItem> {
    let feeds = app.engine.feeds.values();
    let mut items: Vec<PickItem> = feeds
        .map(|feed| PickItem {
            name: feed.record.shown_title().to_owned(),
            detail: feed.record.tags.join(", "),
            target: PickTarget::Row(FeedsRow::Feed(feed.key, 0)),
        })
        .collect();
    items.sort_by_cached_key(|item| folded(&item.name));
    items.extend(app.ui.feeds.rows.iter().filter_map(|row| {
        let (name, detail) = match row {
            FeedsRow::AllUnread => ("All unread", "list"),
            FeedsRow::Today => ("Today", "list"),
            FeedsRow::Starred => ("Starred", "list"),
            FeedsRow::Ended => ("Ended this week", "list"),
            FeedsRow::Reading => ("Today's reading", "list"),
            FeedsRow::Gaps => ("Gaps", "list"),
            FeedsRow::Attention => ("Attention", "list"),
            FeedsRow::Search(id) => (load_rows::find_search(app, *id)?.name.as_str(), "search"),
            FeedsRow::Tag(tag, _) => (tag.as_str(), "tag"),
            FeedsRow::Feed(..) => return None,
        };
        let (name, detail) = (name.to_owned(), detail.to_owned());
        Some(PickItem { name, detail, target: PickTarget::Row(row.clone()) })
    }));
    items
}

/// Handles a key while the list is open.
pub fn press_key(cx: &mut Cx<'_>, key: Key) -> KeyOutcome {
    let Some(Overlay::Pick(picks)) = &mut cx.app.ui.overlay else { return KeyOutcome::Passed };
    let count = picks.found.len();
    match key {
        Key { code: Code::Down | Code::Tab, .. } | Key { code: Code::Char('n'), ctrl: true } => {
            picks.list.step(true, 1, count);
        }
        Key { code: Code::Up | Code::BackTab, .. } | Key { code: Code::Char('p'), ctrl: true } => {
            picks.list.step(false, 1, count);
        }
        Key { code: Code::Backspace, .. } if picks.line.text.is_empty() => cx.app.ui.uncover(),
        _ => match picks.line.key(key) {
            TypedText::More => picks.search(),
            TypedText::Cancelled => cx.app.ui.uncover(),
            TypedText::Done => return take_picked(cx),
        },
    }
    KeyOutcome::Done
}

/// Inserts pasted text into the input line.
pub fn paste_text(cx: &mut Cx<'_>, text: &str) {
    if let Some(Overlay::Pick(picks)) = &mut cx.app.ui.overlay {
        picks.line.insert(text);
        picks.search();
    }
}

/// Picks the clicked item.
pub fn click_line(cx: &mut Cx<'_>, line: usize) -> ClickOutcome {
    let place = usize::from(cx.app.ui.viewport.overlay_top).saturating_add(line);
    if let Some(Overlay::Pick(picks)) = &mut cx.app.ui.overlay
        && place < picks.found.len()
    {
        picks.list.selected = place;
        return ClickOutcome::Enter;
    }
    ClickOutcome::Done
}

/// Closes the list, and opens the picked item or runs the picked command.
fn take_picked(cx: &mut Cx<'_>) -> KeyOutcome {
    let Some(Overlay::Pick(picks)) = cx.app.ui.overlay.take() else { return KeyOutcome::Passed };
    cx.app.ui.uncover();
    if picks.line.purpose == PromptPurpose::Command {
        return help_pane::run_picked(cx, &picks);
    }
    open_item(cx, picks.selected_item(), &picks.line.text);
    KeyOutcome::Done
}

/// Opens the list of an item, and moves the focus to its entries. Without an item, says that nothing matches the typed text.
fn open_item(cx: &mut Cx<'_>, item: Option<&PickItem>, typed: &str) {
    let Some(item) = item else {
        return cx.complain(format!("no feed, tag or list matches '{}'", typed.trim()));
    };
    let row = match &item.target {
        PickTarget::Row(row) => row,
        PickTarget::Label(name) => return toggle_label(cx, name),
        PickTarget::Command(_) => return,
    };
    feeds_pane::select_row(cx, row);
    load_rows::open_list(cx);
    cx.app.ui.focus = Pane::Entries;
}

/// Name of the label for entries to read later, which has a key of its own.
const LATER: &str = "later";
/// Maximum length of a label in characters.
const LABEL_CHARS_MAX: usize = 60;

/// Opens the list of labels for the marked entries or the selected entry.
pub fn open_labels(cx: &mut Cx<'_>) {
    if chosen_entries(cx.app).is_empty() {
        return cx.say("select an entry first: {label} sets a label on it");
    }
    let labels = cx.app.engine.filters.list.iter();
    let labels = labels.filter(|filter| filter.scope == FilterScope::ByHand);
    let mut items: Vec<PickItem> = labels
        .filter_map(|filter| filter.action.label())
        .map(|name| PickItem {
            name: name.to_owned(),
            detail: if all_have(cx.app, name) { "remove" } else { "label" }.to_owned(),
            target: PickTarget::Label(name.to_owned()),
        })
        .collect();
    items.sort_by_cached_key(|item| item.name.to_lowercase());
    cx.app.ui.lay_over(Overlay::Pick(PickList::new(Prompt::new(PromptPurpose::Label), items)));
}

/// Sets the label for reading later on the marked entries or the selected entry, or removes it.
pub fn toggle_later(cx: &mut Cx<'_>) {
    toggle_label(cx, LATER);
}

/// Sets a label on the marked entries or the selected entry. If all of them have it, removes it.
pub fn toggle_label(cx: &mut Cx<'_>, typed: &str) {
    let name = one_line(typed.trim().trim_start_matches('#'), LABEL_CHARS_MAX);
    let keys = chosen_entries(cx.app);
    if name.is_empty() || keys.is_empty() {
        return cx.say("select an entry first: {label} sets a label on it");
    }
    let set = !all_have(cx.app, &name);
    cx.app.ui.marked.entries.clear();
    cx.ask(Request::Label { name, keys, set });
}

/// Returns the marked entries or, if none is marked, the selected one.
pub(super) fn chosen_entries(app: &App) -> Vec<EntryKey> {
    let marked = &app.ui.marked.entries;
    if app.ui.focus == Pane::Entries && !marked.is_empty() {
        return marked.iter().copied().collect();
    }
    app.ui.list.selected_row().and_then(|row| row.key.entry()).into_iter().collect()
}

/// Checks whether all chosen entries that are in memory have a label that was set by hand.
fn all_have(app: &App, name: &str) -> bool {
    let keys = chosen_entries(app);
    let rows = app.ui.list.rows.iter();
    let mut chosen = rows.filter(|row| row.key.entry().is_some_and(|key| keys.contains(&key)));
    chosen.all(|row| {
        entry_filters::labels_by_hand(&app.engine, &row.ruled).any(|label| label == name)
    })
}

//! A list from which the user picks an item by typing some of its letters: the feeds, tags and lists to jump to, or labels.

use chrono::{DateTime, Utc};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::labels;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::keys::key::{Code, Key};
use crate::ui::overlays::outcome::{ClickOutcome, KeyOutcome};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose, Typed};
use crate::ui::panes::{list_query, load_rows, tag_folds};
use crate::ui::scroll_list::ScrollList;
use crate::ui::state::feeds_pane::FeedsRow;
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::{Overlay, PickItem, PickList, PickTarget};

/// What the list says of a label that does not exist yet.
const NEW_LABEL: &str = "new label";

/// Opens the list of all feeds, tags and lists, from which the user jumps to one.
pub fn open_jump(app: &mut App) -> Vec<ScreenEffect> {
    let items = jump_items(app);
    let line = Prompt::new(PromptPurpose::Jump);
    let mut picks = PickList { line, items, found: Vec::new(), list: ScrollList::default() };
    search(&mut picks);
    app.ui.lay_over(Overlay::Pick(picks));
    Vec::new()
}

/// Jumps to the feed, tag or list that matches a typed text best.
pub fn jump_to(app: &mut App, now: DateTime<Utc>, typed: &str) -> Vec<ScreenEffect> {
    let items = jump_items(app);
    let found = rank(&items, typed).first().and_then(|place| items.get(*place));
    open_item(app, now, found, typed)
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
    items.sort_by_cached_key(|item| item.name.to_lowercase());
    items.extend(app.ui.feeds.rows.iter().filter_map(|row| {
        let (name, detail) = match row {
            FeedsRow::AllUnread => ("All unread", "list"),
            FeedsRow::Today => ("Today", "list"),
            FeedsRow::Starred => ("Starred", "list"),
            FeedsRow::Gaps => ("Gaps", "list"),
            FeedsRow::Attention => ("Attention", "list"),
            FeedsRow::Search(id) => (list_query::find_search(app, *id)?.name.as_str(), "search"),
            FeedsRow::Tag(tag, _) => (tag.as_str(), "tag"),
            FeedsRow::Feed(..) => return None,
        };
        let (name, detail) = (name.to_owned(), detail.to_owned());
        Some(PickItem { name, detail, target: PickTarget::Row(row.clone()) })
    }));
    items
}

/// Handles a key while the list is open.
pub fn press_key(app: &mut App, now: DateTime<Utc>, key: Key) -> KeyOutcome {
    let Some(Overlay::Pick(picks)) = &mut app.ui.overlay else { return KeyOutcome::Passed };
    let count = picks.found.len();
    match key {
        Key { code: Code::Down | Code::Tab, .. } | Key { code: Code::Char('n'), ctrl: true } => {
            picks.list.step(true, 1, count);
        }
        Key { code: Code::Up | Code::BackTab, .. } | Key { code: Code::Char('p'), ctrl: true } => {
            picks.list.step(false, 1, count);
        }
        Key { code: Code::Backspace, .. } if picks.line.text.is_empty() => app.ui.uncover(),
        _ => match picks.line.key(key) {
            Typed::More => search(picks),
            Typed::Cancelled => app.ui.uncover(),
            Typed::Done => return KeyOutcome::Done(take_picked(app, now)),
        },
    }
    KeyOutcome::Done(Vec::new())
}

/// Inserts pasted text into the input line.
pub fn paste_text(app: &mut App, text: &str) -> Vec<ScreenEffect> {
    if let Some(Overlay::Pick(picks)) = &mut app.ui.overlay {
        picks.line.insert(text);
        search(picks);
    }
    Vec::new()
}

/// Picks the clicked item.
pub fn click_line(app: &mut App, _now: DateTime<Utc>, line: usize) -> ClickOutcome {
    let place = usize::from(app.ui.viewport.overlay_top).saturating_add(line);
    if let Some(Overlay::Pick(picks)) = &mut app.ui.overlay
        && place < picks.found.len()
    {
        picks.list.selected = place;
        return ClickOutcome::Enter;
    }
    ClickOutcome::Done(Vec::new())
}

/// Closes the list and opens the picked item.
fn take_picked(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(Overlay::Pick(picks)) = app.ui.overlay.take() else { return Vec::new() };
    app.ui.uncover();
    open_item(app, now, picks.selected_item(), &picks.line.text)
}

/// Opens the list of an item, and moves the focus to its entries. Without an item, says that nothing matches the typed text.
fn open_item(
    app: &mut App,
    now: DateTime<Utc>,
    item: Option<&PickItem>,
    typed: &str,
) -> Vec<ScreenEffect> {
    let Some(item) = item else {
        app.ui.complain(now, format!("no feed, tag or list matches '{}'", typed.trim()));
        return Vec::new();
    };
    let row = match &item.target {
        PickTarget::Row(row) => row,
        PickTarget::Label(name) => return labels::toggle_label(app, now, name),
    };
    let mut effects = tag_folds::select_row(app, row);
    effects.extend(load_rows::open_list(app, now));
    app.ui.focus = Pane::Entries;
    effects
}

impl PickList {
    /// Returns the selected item.
    pub fn selected_item(&self) -> Option<&PickItem> {
        self.items.get(*self.found.get(self.list.selected)?)
    }
}

/// Finds the items that match the typed letters. A label that does not exist yet is offered as a new one.
pub(super) fn search(picks: &mut PickList) {
    picks.items.retain(|item| item.detail != NEW_LABEL);
    let typed = picks.line.text.trim().to_owned();
    picks.found = rank(&picks.items, &typed);
    let is_new = !typed.is_empty() && picks.items.iter().all(|item| item.name != typed);
    if picks.line.purpose == PromptPurpose::Label && is_new {
        let target = PickTarget::Label(typed.clone());
        picks.items.push(PickItem { name: typed, detail: NEW_LABEL.to_owned(), target });
        picks.found.push(picks.items.len().saturating_sub(1));
    }
    picks.list = ScrollList::default();
}

/// Returns the indexes of the items whose name matches the typed text, best match first.
fn rank(items: &[PickItem], typed: &str) -> Vec<usize> {
    let pattern = Pattern::parse(typed, CaseMatching::Ignore, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut letters = Vec::new();
    let mut scored: Vec<(u32, usize)> = (0..)
        .zip(items)
        .filter_map(|(place, item)| {
            let name = Utf32Str::new(&item.name, &mut letters);
            Some((pattern.score(name, &mut matcher)?, place))
        })
        .collect();
    scored.sort_by_key(|&(score, place)| (std::cmp::Reverse(score), place));
    scored.into_iter().map(|(_, place)| place).collect()
}

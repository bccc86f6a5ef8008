//! Labels that the user sets on entries by hand.

use chrono::{DateTime, Utc};

use crate::engine::entries::entry_filters;
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::state::layout::Pane;
use crate::ui::state::overlay::Overlay;
use crate::ui::state::pick_list::{PickItem, PickList, PickTarget};
use backissue_core::feed::text::one_line;
use backissue_core::filters::FilterScope;
use backissue_core::history::EntryKey;

/// Name of the label for entries to read later, which has a key of its own.
const LATER: &str = "later";
/// Maximum length of a label in characters.
const LABEL_CHARS_MAX: usize = 60;

/// Opens the list of labels for the marked entries or the selected entry.
pub fn open_labels(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if chosen_entries(app).is_empty() {
        return app.ui.say_only(now, "select an entry first: {label} sets a label on it");
    }
    let labels = app.engine.filters.list.iter();
    let labels = labels.filter(|filter| filter.scope == FilterScope::ByHand);
    let mut items: Vec<PickItem> = labels
        .filter_map(|filter| filter.action.label())
        .map(|name| PickItem {
            name: name.to_owned(),
            detail: if all_have(app, name) { "remove" } else { "label" }.to_owned(),
            target: PickTarget::Label(name.to_owned()),
        })
        .collect();
    items.sort_by_cached_key(|item| item.name.to_lowercase());
    app.ui.lay_over(Overlay::Pick(PickList::new(Prompt::new(PromptPurpose::Label), items)));
    Vec::new()
}

/// Sets the label for reading later on the marked entries or the selected entry, or removes it.
pub fn toggle_later(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    toggle_label(app, now, LATER)
}

/// Sets a label on the marked entries or the selected entry. If all of them have it, removes it.
pub fn toggle_label(app: &mut App, now: DateTime<Utc>, typed: &str) -> Vec<ScreenEffect> {
    let name = one_line(typed.trim().trim_start_matches('#'), LABEL_CHARS_MAX);
    let keys = chosen_entries(app);
    if name.is_empty() || keys.is_empty() {
        return app.ui.say_only(now, "select an entry first: {label} sets a label on it");
    }
    let set = !all_have(app, &name);
    app.ui.marked.entries.clear();
    app.ask(now, Request::Label { name, keys, set })
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

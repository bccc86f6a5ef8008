//! Saved searches: each is a list of its own below the other smart lists, with what is unread in it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::feeds_pane;
use super::feeds_pane::FeedsRow;
use super::navigation;
use super::search_pane;
use crate::engine::effect::Effect;
use crate::engine::model::Model;
use crate::engine::undo::Step;
use crate::search::{Marks, Matching};
use crate::ui::overlays::prompt::Prompt;
use crate::ui::overlays::prompt::PromptPurpose;
use crate::ui::screen::Overlay;
use crate::ui::screen::Pane;

/// Saved searches at most.
const SEARCHES_MAX: usize = 100;
/// Characters of a name.
const NAME_CHARS_MAX: usize = 100;

/// A search that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSearch {
    /// Its number, that no other one has.
    pub id: u32,
    /// What it is called.
    pub name: String,
    /// What is looked for.
    pub text: String,
}

/// All of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Saved {
    /// In the order they were saved.
    pub list: Vec<SavedSearch>,
    /// Unread entries each finds.
    pub unread: BTreeMap<u32, u32>,
    /// They are being counted.
    counting: bool,
    /// Something changed since.
    again: bool,
}

impl Saved {
    /// One of them.
    pub fn get(&self, id: u32) -> Option<&SavedSearch> {
        self.list.iter().find(|search| search.id == id)
    }
}

/// Takes what the store has at the start.
pub fn take(model: &mut Model, list: Vec<SavedSearch>) {
    model.searches = Saved { list, ..Saved::default() };
    feeds_pane::rebuild(model);
}

/// What a saved search looks for now: its dates may be counted from today.
pub fn matching(model: &Model, now: DateTime<Utc>, id: u32) -> Option<Matching> {
    search_pane::read(model, now, &model.searches.get(id)?.text, false).ok()
}

/// The words that are marked in the selected list.
pub fn marks(model: &Model) -> Marks {
    let Some(FeedsRow::Search(id)) = model.screen.feeds.selected_row() else {
        return Marks::default();
    };
    let text = model.searches.get(*id).map_or("", |search| search.text.as_str());
    let query = crate::search::parse(text, false, DateTime::UNIX_EPOCH, model.zone);
    query.map(|query| Marks::for_terms(&query.terms)).unwrap_or_default()
}

/// Keeps the open search as a list.
pub fn save(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let text = model.screen.search.as_ref().map(|search| search.text.trim().to_owned());
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        model.screen.say(now, "search for something first: / opens the search");
        return Vec::new();
    };
    let name: String = text.chars().take(NAME_CHARS_MAX).collect();
    // What was found is kept: also what the last word may become that was still being typed.
    let search = model.screen.search.as_ref();
    let typed = search.and_then(|search| search.matching.as_ref()?.terms.last());
    let open = typed.is_some_and(|term| term.prefix) && text.ends_with(char::is_alphanumeric);
    let text = if open { format!("{text}*") } else { text };
    let known = model.searches.list.iter().find(|search| search.text == text);
    if let Some(known) = known {
        let said = format!("this search is kept already as '{}'", known.name);
        model.screen.say(now, said);
        return Vec::new();
    }
    if let Err(flaw) = search_pane::read(model, now, &text, false) {
        model.screen.complain(now, flaw.to_string());
        return Vec::new();
    }
    if model.searches.list.len() >= SEARCHES_MAX {
        model.screen.complain(now, format!("{SEARCHES_MAX} searches are kept: give one up first"));
        return Vec::new();
    }
    let id =
        model.searches.list.iter().map(|search| search.id).max().unwrap_or(0).saturating_add(1);
    let mut list = model.searches.list.clone();
    list.push(SavedSearch { id, name, text });
    if matches!(model.screen.overlay, Some(Overlay::Prompt(_))) {
        model.screen.uncover();
    }
    let mut effects = change(model, now, list);
    // The search goes on as the list that was made of it.
    let place = model.screen.feeds.rows.iter().position(|row| *row == FeedsRow::Search(id));
    if let Some(place) = place {
        model.screen.feeds.selected = place;
        effects.extend(navigation::open_list(model, now));
        model.screen.focus = Pane::Entries;
    }
    model.screen.say(now, "kept as a list of its own · e renames it · u undo");
    effects
}

/// The saved search that is selected in the subscriptions pane.
fn selected(model: &Model) -> Option<u32> {
    match model.screen.feeds.selected_row() {
        Some(FeedsRow::Search(id)) if model.screen.focus == Pane::Feeds => Some(*id),
        Some(_) | None => None,
    }
}

/// Asks for another name for the selected search; `None`: none is selected.
pub fn rename(model: &mut Model) -> Option<Vec<Effect>> {
    let id = selected(model)?;
    let name = model.searches.get(id)?.name.clone();
    model.screen.lay_over(Overlay::Prompt(Prompt::filled(PromptPurpose::Rename(id), name)));
    Some(Vec::new())
}

/// The name was typed.
pub fn renamed(model: &mut Model, now: DateTime<Utc>, id: u32, name: &str) -> Vec<Effect> {
    let mut list = model.searches.list.clone();
    let Some(search) = list.iter_mut().find(|search| search.id == id) else { return Vec::new() };
    search.name = name.trim().chars().take(NAME_CHARS_MAX).collect();
    change(model, now, list)
}

/// Gives the selected search up; `None`: none is selected.
pub fn give_up(model: &mut Model, now: DateTime<Utc>) -> Option<Vec<Effect>> {
    let id = selected(model)?;
    let mut list = model.searches.list.clone();
    list.retain(|search| search.id != id);
    let mut effects = change(model, now, list);
    effects.extend(navigation::open_list(model, now));
    model.screen.say(now, "the search is given up; its entries stay · u undo");
    Some(effects)
}

/// Takes the last change of the saved searches back.
pub fn take_back(model: &mut Model, now: DateTime<Utc>, before: Vec<SavedSearch>) -> Vec<Effect> {
    let mut effects = put(model, now, before);
    effects.extend(navigation::open_list(model, now));
    effects
}

fn change(model: &mut Model, now: DateTime<Utc>, list: Vec<SavedSearch>) -> Vec<Effect> {
    let before = model.searches.list.clone();
    model.undo.push(Step::Searches { before });
    put(model, now, list)
}

fn put(model: &mut Model, now: DateTime<Utc>, list: Vec<SavedSearch>) -> Vec<Effect> {
    model.searches.list.clone_from(&list);
    feeds_pane::rebuild(model);
    let mut effects = vec![Effect::SaveSearches(list)];
    effects.extend(counting(model, now));
    effects
}

/// Asks how much is unread in each, unless the answer to an earlier question is still on its way.
pub fn counting(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if model.searches.list.is_empty() || !model.screen.is_on() {
        return Vec::new();
    }
    if std::mem::replace(&mut model.searches.counting, true) {
        model.searches.again = true;
        return Vec::new();
    }
    let ids = model.searches.list.iter().map(|search| search.id);
    let wanted = ids.filter_map(|id| Some((id, matching(model, now, id)?))).collect();
    vec![Effect::CountFound(wanted)]
}

/// The answer to that.
pub fn counted(model: &mut Model, now: DateTime<Utc>, counts: BTreeMap<u32, u32>) -> Vec<Effect> {
    (model.searches.unread, model.searches.counting) = (counts, false);
    if std::mem::take(&mut model.searches.again) { counting(model, now) } else { Vec::new() }
}

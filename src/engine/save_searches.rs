//! Adds saved searches, replaces their list, and restores an earlier list.

use super::change::change_id::ChangeId;
use super::change::list_change::ListChange;
use super::change::step::Step;
use super::change::{self, Change};
use super::effect::Effect;
use super::event::Event;
use super::saved_searches::SavedSearch;
use super::state::Engine;

/// Maximum number of saved searches.
pub const SEARCHES_MAX: usize = 100;
/// Maximum length of the name of a saved search, in characters.
const NAME_CHARS_MAX: usize = 100;

/// Returns a list of searches with new ones added, each given by its name and query. A query that is in the list is not added again.
pub fn with_new(
    list: &[SavedSearch],
    new: impl IntoIterator<Item = (String, String)>,
) -> Vec<SavedSearch> {
    let mut list = list.to_vec();
    for (name, text) in new {
        if list.len() < SEARCHES_MAX && !list.iter().any(|search| search.text == text) {
            let id = list.iter().map(|search| search.id).max().unwrap_or(0).saturating_add(1);
            list.push(SavedSearch { id, name: short_name(&name), text });
        }
    }
    list
}

/// Returns a name as it is saved.
pub fn short_name(name: &str) -> String {
    name.trim().chars().take(NAME_CHARS_MAX).collect()
}

/// Replaces the list of saved searches and adds an undo step.
pub fn save(engine: &mut Engine, list: Vec<SavedSearch>) -> Vec<Effect> {
    let step = engine.undo.push(Step::Searches { before: engine.saved_searches.clone() });
    let effects = write(engine, list, step);
    engine.tell(Event::FeedsChanged);
    effects
}

/// Restores an earlier list of saved searches, for an undo or a redo.
pub fn put(engine: &mut Engine, list: Vec<SavedSearch>) -> Vec<Effect> {
    let effects = write(engine, list, None);
    engine.tell(Event::SearchesPutBack);
    effects
}

fn write(engine: &mut Engine, list: Vec<SavedSearch>, step: Option<ChangeId>) -> Vec<Effect> {
    let before = std::mem::replace(&mut engine.saved_searches, list);
    let change = ListChange::new(before, &engine.saved_searches);
    vec![change::write(engine, Change::Searches(change), step)]
}

//! Replaces the list of saved searches, and restores an earlier list.

use super::change::list_change::ListChange;
use super::change::undo_stack::Step;
use super::change::value::ChangeId;
use super::change::{self, Change};
use super::effect::Effect;
use super::event::Event;
use super::saved_searches::SavedSearch;
use super::state::Engine;

/// Replaces the list of saved searches and adds an undo step.
pub fn save(engine: &mut Engine, list: Vec<SavedSearch>) -> Vec<Effect> {
    let step = engine.undo.push(Step::Searches { before: engine.saved_searches.clone() });
    let effects = write(engine, list, Some(step));
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

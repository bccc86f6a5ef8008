//! Saved searches: kept, changed, taken back.

use super::effect::Effect;
use super::event::Event;
use super::saved_searches::SavedSearch;
use super::state::Engine;
use super::store_work::Job;
use super::undo::rollback::Rollback;
use super::undo::undo_stack::{ChangeId, Step};

/// Keeps these searches in place of those there are; that can be taken back.
pub fn save(engine: &mut Engine, list: Vec<SavedSearch>) -> Vec<Effect> {
    let change = engine.undo.push(Step::Searches { before: engine.saved_searches.clone() });
    let effects = write(engine, list, Some(change));
    engine.tell(Event::FeedsChanged);
    effects
}

/// Puts searches back that were there before.
pub fn put(engine: &mut Engine, list: Vec<SavedSearch>, change: Option<ChangeId>) -> Vec<Effect> {
    let effects = write(engine, list, change);
    engine.tell(Event::SearchesPutBack);
    effects
}

fn write(engine: &mut Engine, list: Vec<SavedSearch>, change: Option<ChangeId>) -> Vec<Effect> {
    let before = std::mem::replace(&mut engine.saved_searches, list.clone());
    vec![Effect::store_ahead(Job::SaveSearches(list), Rollback::Searches { before, change })]
}

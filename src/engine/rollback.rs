//! What was shown ahead of a write, so that a write that fails takes back exactly that.

use chrono::{DateTime, Utc};

use super::effect::Effect;
use super::entries::{entry_filters, marks};
use super::event::Event;
use super::feeds::feed_settings;
use super::feeds::setting_table::Chosen;
use super::saved_searches::SavedSearch;
use super::state::Engine;
use super::store_work::{JobId, JobSubject, Stored};
use super::undo::ChangeId;
use crate::filters::EntryFilter;
use crate::history::{EntryKey, FeedKey, Flag};

/// How to take back what was shown ahead of one job.
#[derive(Debug, Clone, PartialEq)]
pub enum Rollback {
    /// A mark on entries.
    Marks {
        /// The entries that it was shown on.
        keys: Vec<EntryKey>,
        /// Which mark.
        flag: Flag,
        /// What was shown.
        value: bool,
        /// The step of undo that goes with it.
        change: Option<ChangeId>,
    },
    /// A filter as it was before; `None`: there was none.
    Filter {
        /// Its number.
        id: u32,
        /// The filter.
        before: Option<Box<EntryFilter>>,
    },
    /// The whole list of filters as it was before.
    Filters(Vec<EntryFilter>),
    /// The saved searches as they were before.
    Searches {
        /// The searches.
        before: Vec<SavedSearch>,
        /// The step of undo that goes with it.
        change: Option<ChangeId>,
    },
    /// What was chosen for feeds before.
    Settings {
        /// The feeds.
        before: Vec<(FeedKey, Chosen)>,
        /// The step of undo that goes with it.
        change: Option<ChangeId>,
    },
}

/// Keeps the rollbacks of work that leaves the engine, and gives each piece its identity.
pub fn register(engine: &mut Engine, effects: &mut [Effect]) {
    for effect in effects {
        if let Effect::Store(work) = effect
            && work.id == JobId::default()
        {
            engine.last_job = engine.last_job.saturating_add(1);
            work.id = JobId(engine.last_job);
            if let Some(rollback) = work.rollback.take() {
                engine.rollbacks.insert(work.id, rollback);
            }
        }
    }
}

/// A job ended well: what was shown ahead of it is so.
pub fn done(engine: &mut Engine, id: JobId) {
    engine.rollbacks.remove(&id);
}

/// A job failed: what was shown ahead of it is taken back.
pub fn failed(engine: &mut Engine, now: DateTime<Utc>, stored: &Stored) -> Vec<Effect> {
    match stored.subject {
        JobSubject::ListMark => engine.undo.step_fails(),
        JobSubject::Filter(id) => entry_filters::failed(engine, id),
        JobSubject::Poll(_)
        | JobSubject::History(_)
        | JobSubject::Records
        | JobSubject::Rows(_)
        | JobSubject::Entry(_)
        | JobSubject::Publications(_)
        | JobSubject::NewEntries
        | JobSubject::Change
        | JobSubject::Keeping
        | JobSubject::Display => {}
    }
    match engine.rollbacks.remove(&stored.id) {
        None => Vec::new(),
        Some(Rollback::Marks { keys, flag, value, change }) => {
            engine.undo.forget(change);
            marks::show(engine, keys, flag, !value, true);
            Vec::new()
        }
        Some(Rollback::Filter { id, before }) => {
            entry_filters::put_filter_back(engine, id, before.map(|filter| *filter))
        }
        Some(Rollback::Filters(before)) => {
            engine.filters.list = before;
            engine.tell(Event::FiltersChanged);
            Vec::new()
        }
        Some(Rollback::Searches { before, change }) => {
            engine.undo.forget(change);
            engine.saved_searches = before;
            engine.tell(Event::SearchesPutBack);
            Vec::new()
        }
        Some(Rollback::Settings { before, change }) => {
            engine.undo.forget(change);
            feed_settings::show_settings(engine, now, before);
            Vec::new()
        }
    }
}

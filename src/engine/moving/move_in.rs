//! Takes over everything from another reader as one change, so that one undo reverts all of it.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::elsewhere;
use crate::engine::effect::Effect;
use crate::engine::entries::entry_filters;
use crate::engine::feeds::addition::MoveIn;
use crate::engine::feeds::addresses::{address_of, subscribed_as};
use crate::engine::feeds::import;
use crate::engine::save_searches::{self, with_new};
use crate::engine::state::Engine;
use backissue_core::filters::{EntryFilter, FilterScope};
use backissue_core::history::FeedKey;
use backissue_core::other_readers::elsewhere::KnownEntries;
use backissue_core::other_readers::library::MovedFilter;

/// Takes over everything. Polls nothing.
pub fn move_in(engine: &mut Engine, now: DateTime<Utc>, moved: MoveIn) -> Vec<Effect> {
    let MoveIn { subscriptions, searches, filters, known } = moved;
    engine.undo.begin_together();
    let mut effects = import::import(engine, now, subscriptions);
    let list = with_new(&engine.saved_searches, searches);
    if list.len() > engine.saved_searches.len() {
        effects.extend(save_searches::save(engine, list));
    }
    effects.extend(entry_filters::save_labels(engine, labels_here(engine, &known)));
    let filters = filters_here(engine, filters);
    effects.extend(entry_filters::save_moved(engine, now, filters));
    effects.extend(elsewhere::note(engine, now, known));
    engine.undo.end_together_open(now);
    effects
}

/// Returns the labels of entries of feeds that are subscribed to.
pub(super) fn labels_here(engine: &Engine, known: &KnownEntries) -> BTreeSet<String> {
    let here = known.iter().filter(|(address, _)| feed_at(engine, address).is_some());
    here.flat_map(|(_, entries)| entries.iter().flat_map(|entry| entry.labels.iter().cloned()))
        .collect()
}

/// Returns the valid filters that are not here yet, without those of feeds that are not subscribed to.
fn filters_here(engine: &Engine, filters: Vec<MovedFilter>) -> Vec<EntryFilter> {
    let here = filters.into_iter().filter_map(|MovedFilter { action, feed, query }| {
        let scope = match feed {
            Some(address) => FilterScope::Feed(feed_at(engine, &address)?),
            None => FilterScope::Everywhere,
        };
        Some(EntryFilter { action, scope, query, ..EntryFilter::default() })
    });
    let is_known = |filter: &EntryFilter| {
        let same = |kept: &EntryFilter| EntryFilter { id: filter.id, ..kept.clone() } == *filter;
        engine.filters.list.iter().any(same)
    };
    here.filter(|filter| !is_known(filter) && filter.check().is_ok()).collect()
}

/// Returns the feed with this address, if it is subscribed to.
fn feed_at(engine: &Engine, address: &str) -> Option<FeedKey> {
    subscribed_as(engine, &address_of(address).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::change::step::Step;
    use crate::engine::entries::filter_work::{FilterChanges, Filtered};
    use crate::engine::input::Input;
    use crate::engine::request::Request;
    use crate::engine::settings::Settings;
    use crate::engine::store_work::{Answer, Beside, Job, JobSubject, StoreWork, Stored};
    use crate::engine::update::update;
    use backissue_core::history::EntryKey;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    /// Applies an input and returns the jobs for the store.
    fn jobs(engine: &mut Engine, input: Input) -> Vec<StoreWork> {
        let effects = update(engine, NOW, input).effects.into_iter();
        effects
            .filter_map(|it| if let Effect::Store(work) = it { Some(*work) } else { None })
            .collect()
    }

    #[test]
    fn each_frame_of_an_import_contains_its_undo_step() {
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, Vec::new(), NOW);
        let filter = |query: &str| MovedFilter {
            action: backissue_core::filters::Action::Read,
            feed: None,
            query: query.into(),
        };
        let moved = MoveIn { filters: vec![filter("one"), filter("two")], ..MoveIn::default() };
        let written = jobs(&mut engine, Input::Request(Request::MoveIn(Box::new(moved))));
        let saves = |work: &&StoreWork| matches!(work.job, Job::SaveFilters(_));
        let list = written.iter().find(saves).unwrap();
        let Some(Beside::Steps(steps)) = &list.beside else { panic!("{written:?}") };
        let (id, Step::Imported(parts)) = (steps.kept[0].id, &steps.kept[0].step) else {
            panic!("{steps:?}")
        };
        assert_eq!(parts.len(), 2, "the new filters can be undone from the first frame on");
        for number in [1, 2] {
            let key = EntryKey { feed: FeedKey(1), seq: number };
            let applied = jobs(&mut engine, Input::FilterHits(number, Ok(vec![key])));
            let [
                StoreWork {
                    job: Job::Filter { .. },
                    beside: Some(Beside::Later(later)),
                    id: job,
                    ..
                },
            ] = &applied[..]
            else {
                panic!("{applied:?}")
            };
            assert!(later.joins && later.id == id, "{later:?}");
            let changes = FilterChanges { after: vec![key], ..FilterChanges::none(number) };
            let answer = Answer::Filtered(Box::new(Filtered { changes, counters: Vec::new() }));
            let (subject, result) = (JobSubject::Filter(number), Ok(answer));
            let stored = Stored { id: *job, subject, result };
            let after = jobs(&mut engine, Input::Stored(Box::new(stored)));
            assert!(!after.iter().any(|work| matches!(work.job, Job::SaveSteps(_))), "{after:?}");
        }
        let undone = jobs(&mut engine, Input::Request(Request::Undo));
        let replayed = undone.iter().filter(|work| matches!(work.job, Job::Filter { .. })).count();
        assert_eq!((replayed, engine.filters.list.len()), (2, 0), "{undone:?}");
    }
}

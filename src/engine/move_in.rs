//! Takes over everything from another reader as one change, so that one undo reverts all of it: subscriptions, searches, filters,
//! and which entries were read or starred there. What that would add is counted before anything is changed.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::feed::Entry;
use backissue_core::feed::address::without_logins;
use backissue_core::feed::outgoing::outgoing_link;
use backissue_core::filters::{EntryFilter, FilterScope};
use backissue_core::history::FeedKey;
use backissue_core::other_readers::elsewhere::{ElsewhereEntry, KnownEntries, SeenElsewhere};
use backissue_core::other_readers::library::MovedFilter;
use chrono::{DateTime, Utc};

use super::other_reader_marks::{Elsewhere, ElsewhereNoted, MarksTaken};
use crate::engine::entries::entry_filters;
use crate::engine::feeds::addition::{MoveIn, Subscribe};
use crate::engine::feeds::addresses::{address_of, by_address, comparable, subscribed_as};
use crate::engine::feeds::import;
use crate::engine::request::{Effect, Event};
use crate::engine::search_query::{self, with_new};
use crate::engine::start_external::allowed_address;
use crate::engine::state::Engine;
use crate::engine::store_work::{Beside, Job};

/// Takes over everything. Polls nothing.
pub fn move_in(engine: &mut Engine, now: DateTime<Utc>, moved: MoveIn) {
    let MoveIn { subscriptions, searches, filters, known } = moved;
    engine.undo.begin_together();
    import::import(engine, now, subscriptions);
    let list = with_new(&engine.saved_searches, searches);
    if list.len() > engine.saved_searches.len() {
        search_query::save(engine, list);
    }
    entry_filters::save_labels(engine, labels_here(engine, &known));
    let filters = filters_here(engine, filters);
    entry_filters::save_moved(engine, now, filters);
    note(engine, now, known);
    engine.undo.end_together_open(now);
}

/// Returns the labels of entries of feeds that are subscribed to.
fn labels_here(engine: &Engine, known: &KnownEntries) -> BTreeSet<String> {
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
    by_address(engine).get(&comparable(&address_of(address).ok()?)).copied()
}

/// Hands what another reader knew of entries to the store, by the address of the feed. Entries of feeds that are not subscribed to
/// are only counted.
pub fn note(engine: &mut Engine, now: DateTime<Utc>, known: KnownEntries) {
    let feeds = by_address(engine);
    engine.elsewhere = ElsewhereNoted::default();
    for (address, entries) in known {
        let url = address_of(&address).ok();
        let Some(&feed) = url.and_then(|url| feeds.get(&comparable(&url))) else {
            engine.elsewhere.add(&unsubscribed(&entries));
            continue;
        };
        let seen = SeenElsewhere::new(&entries, now);
        let is_known = |entry: &Entry| {
            !entry.id.is_empty() && (entry.title.is_some() || entry.content.is_some())
        };
        let kept = entries.into_iter().filter(|it| it.is_kept() && is_known(&it.entry));
        let entries: Vec<Entry> = kept.map(|it| it.entry).collect();
        if !seen.is_empty() {
            let step = engine.undo.later_joined(now);
            let job = Job::NoteElsewhere(feed, now, Box::new(Elsewhere { seen, entries }));
            engine.carry_out(Effect::store_beside(job, Beside::Later(step)));
        }
    }
}

/// Counts the marks of entries of a feed that is not subscribed to.
fn unsubscribed(entries: &[ElsewhereEntry]) -> ElsewhereNoted {
    let count = |is: fn(&ElsewhereEntry) -> bool| MarksTaken {
        unsubscribed: entries.iter().filter(|entry| is(entry)).count(),
        ..MarksTaken::default()
    };
    let (read, starred) = (count(|entry| entry.is_read), count(|entry| entry.is_starred));
    ElsewhereNoted { read, starred, ..ElsewhereNoted::default() }
}

/// Handles the answer of the store: the marks that entries got become part of the undo step of the import.
pub fn noted(engine: &mut Engine, feed: FeedKey, noted: &ElsewhereNoted) {
    engine.elsewhere.add(noted);
    for part in noted.steps(feed, &engine.filters.list) {
        engine.undo.join(part);
    }
    engine.tell(Event::Updated { feed, entries: true, poll: false });
    if !noted.labelled.is_empty() {
        engine.tell(Event::FiltersChanged);
    }
    engine.undo.step_is_known();
}

/// Numbers of things that were found and of those that would be taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of things in the files of the other reader.
    pub found: usize,
    /// Number of things that would be taken, or that are here already.
    pub taken: usize,
}

impl Count {
    fn add(&mut self, found: bool, taken: bool) {
        self.found = self.found.saturating_add(usize::from(found));
        self.taken = self.taken.saturating_add(usize::from(found && taken));
    }
}

/// What taking over from another reader would add.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forecast {
    /// Feeds.
    pub feeds: Count,
    /// Number of the feeds that are already subscribed to. They only get new tags.
    pub subscribed: usize,
    /// Titles that the user chose.
    pub titles: Count,
    /// Different tags.
    pub tags: Count,
    /// Feeds that are hidden there, and quiet here.
    pub hidden: Count,
    /// Entries that were read.
    pub read: Count,
    /// Entries that were starred.
    pub starred: Count,
    /// Different labels of entries.
    pub labels: Count,
    /// Searches.
    pub searches: Count,
    /// Filters.
    pub filters: Count,
}

impl MoveIn {
    /// Replaces addresses that were exported without their secrets by those of the feeds that they were exported from.
    #[must_use]
    pub fn with_secrets(mut self, engine: &Engine) -> Self {
        let urls = engine.feeds.values().map(|feed| &feed.record.url);
        let exported = urls.filter_map(|url| Some((outgoing_link(url)?, url.clone())));
        let mut secret: BTreeMap<String, String> =
            exported.filter(|(out, url)| out != url).collect();
        secret.retain(|out, _| subscribed_as(engine, out).is_none());
        for asked in &mut self.subscriptions {
            if let Some(url) = secret.get(&asked.address) {
                asked.address.clone_from(url);
            }
        }
        let known = self.known.into_iter();
        self.known = known.map(|(at, of)| (secret.remove(&at).unwrap_or(at), of)).collect();
        self
    }
}

/// Returns the addresses of a list that cannot be subscribed to, each with the reason.
pub fn refused(engine: &Engine, moved: &MoveIn) -> Vec<(String, String)> {
    let refused = |asked: &Subscribe| {
        let why = allowed_address(asked, &engine.settings.network).err()?;
        Some((without_logins(&asked.address), why.into()))
    };
    moved.subscriptions.iter().filter_map(refused).collect()
}

/// Counts what taking over from another reader would add.
pub fn forecast(engine: &Engine, moved: &MoveIn) -> Forecast {
    let here: BTreeSet<String> =
        engine.feeds.values().map(|feed| comparable(&feed.record.url)).collect();
    let mut after = here.clone();
    let mut all = Forecast::default();
    let (mut tags, mut tags_taken) = (BTreeSet::new(), BTreeSet::new());
    for asked in &moved.subscriptions {
        let url = allowed_address(asked, &engine.settings.network);
        let url = url.ok().map(|url| comparable(&url));
        let is_new = url.as_ref().is_some_and(|url| after.insert(url.clone()));
        let is_valid = url.is_some();
        all.feeds.add(true, is_valid);
        all.subscribed =
            all.subscribed.saturating_add(usize::from(url.is_some_and(|url| here.contains(&url))));
        all.titles.add(asked.title.is_some(), is_new);
        all.hidden.add(asked.feed_settings.quiet, is_new);
        tags.extend(&asked.tags);
        if is_valid {
            tags_taken.extend(&asked.tags);
        }
    }
    all.tags = Count { found: tags.len(), taken: tags_taken.len() };
    let is_subscribed =
        |address: &String| address_of(address).is_ok_and(|url| after.contains(&comparable(&url)));
    for (address, entries) in &moved.known {
        let is_here = is_subscribed(address);
        for entry in entries {
            all.read.add(entry.is_read, is_here);
            all.starred.add(entry.is_starred, is_here);
        }
    }
    let labelled = moved.known.iter().flat_map(|(address, entries)| {
        let is_here = is_subscribed(address);
        entries.iter().flat_map(|entry| &entry.labels).map(move |label| (label, is_here))
    });
    let labels: BTreeSet<(&String, bool)> = labelled.collect();
    let here: BTreeSet<&str> =
        labels.iter().filter(|(_, is_here)| *is_here).map(|(label, _)| label.as_str()).collect();
    let found: BTreeSet<&str> = labels.iter().map(|(label, _)| label.as_str()).collect();
    let taken = here.len().saturating_sub(entry_filters::labels_without_room(engine, &here));
    all.labels = Count { found: found.len(), taken };
    let list = with_new(&engine.saved_searches, moved.searches.iter().cloned());
    for (_, query) in &moved.searches {
        all.searches.add(true, list.iter().any(|search| search.text == *query));
    }
    for filter in &moved.filters {
        all.filters.add(true, filter.feed.as_ref().is_none_or(is_subscribed));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::change::undo_stack::Step;
    use crate::engine::entries::filter_work::FilterChanges;
    use crate::engine::request::{Input, Request};
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
            let answer = Answer::Filtered(Box::new(changes), Some(later.id));
            let (subject, result) = (JobSubject::Filter(number), Ok(answer));
            let stored = Stored { id: *job, subject, counters: Vec::new(), result };
            let after = jobs(&mut engine, Input::Stored(Box::new(stored)));
            assert!(!after.iter().any(|work| matches!(work.job, Job::SaveSteps(_))), "{after:?}");
        }
        let undone = jobs(&mut engine, Input::Request(Request::Undo));
        let replayed = undone.iter().filter(|work| matches!(work.job, Job::Filter { .. })).count();
        assert_eq!((replayed, engine.filters.list.len()), (2, 0), "{undone:?}");
    }
}

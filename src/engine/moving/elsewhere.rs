//! Takes over from another reader which entries were read or starred there.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::engine::change::MarkChange;
use crate::engine::change::step::Step;
use crate::engine::effect::Effect;
use crate::engine::entries::filter_work::FilterChanges;
use crate::engine::event::Event;
use crate::engine::feeds::addresses::{address_of, comparable};
use crate::engine::state::Engine;
use crate::engine::store_work::{Beside, Job};
use backissue_core::feed::Entry;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{Counters, EntryKey, FeedKey, Flag};
use backissue_core::other_readers::elsewhere::{ElsewhereEntry, KnownEntries, SeenElsewhere};

/// What another reader knew of the entries of a feed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Elsewhere {
    /// What is known of all entries.
    pub seen: SeenElsewhere,
    /// Starred and labelled entries with their texts, which are added if the feed no longer has them.
    pub entries: Vec<Entry>,
}

/// What became of the marks of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MarksTaken {
    /// Number of entries that are here and have the mark.
    pub here: usize,
    /// Number of entries that get the mark when they are met.
    pub later: usize,
    /// Number of entries of feeds that are not subscribed to.
    pub unsubscribed: usize,
}

/// What the store did with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElsewhereNoted {
    /// Entries that were read elsewhere.
    pub read: MarksTaken,
    /// Entries that were starred elsewhere.
    pub starred: MarksTaken,
    /// Number of starred or labelled entries that were added with their texts.
    pub added: usize,
    /// Marks that entries got which were here before, for the undo.
    pub marked: BTreeMap<u32, Vec<Flag>>,
    /// Labels that entries got, for the undo.
    pub labelled: Vec<FilterChanges>,
    /// Time of the import, if entries are waited for.
    pub waits_since: Option<DateTime<Utc>>,
    /// Counters of the feed afterwards.
    pub counters: Counters,
}

impl ElsewhereNoted {
    /// Returns the steps that undo it.
    pub fn steps(&self, feed: FeedKey, filters: &[EntryFilter]) -> Vec<Step> {
        let marked = [Flag::Read, Flag::Starred].into_iter().filter_map(|flag| {
            let marked = self.marked.iter().filter(|(_, flags)| flags.contains(&flag));
            let keys: Vec<EntryKey> = marked.map(|(&seq, _)| EntryKey { feed, seq }).collect();
            (!keys.is_empty()).then_some(Step::Marked(MarkChange { flag, value: true, keys }))
        });
        let labelled = self.labelled.iter();
        let labelled = labelled.map(|changes| Step::of_filter(filters.to_vec(), changes.clone()));
        let awaited = self.waits_since.map(|since| Step::Awaited { feed, since, again: false });
        marked.chain(labelled).chain(awaited).collect()
    }

    /// Adds the numbers of another feed.
    fn add(&mut self, other: &Self) {
        for (sum, taken) in [(&mut self.read, other.read), (&mut self.starred, other.starred)] {
            sum.here = sum.here.saturating_add(taken.here);
            sum.later = sum.later.saturating_add(taken.later);
            sum.unsubscribed = sum.unsubscribed.saturating_add(taken.unsubscribed);
        }
        self.added = self.added.saturating_add(other.added);
    }
}

/// Hands what another reader knew of entries to the store, by the address of the feed. Entries of feeds that are not subscribed to
/// are only counted.
pub fn note(engine: &mut Engine, now: DateTime<Utc>, known: KnownEntries) -> Vec<Effect> {
    let feeds: BTreeMap<String, FeedKey> =
        engine.feeds.values().map(|feed| (comparable(&feed.record.url), feed.key)).collect();
    engine.elsewhere = ElsewhereNoted::default();
    let mut effects = Vec::new();
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
            effects.push(Effect::store_beside(job, Beside::Later(step)));
        }
    }
    effects
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

/// Handles the answer of the store: the marks that entries got become part of the undo step of the import. Returns `true` if the
/// user already asked to undo it.
pub fn noted(engine: &mut Engine, feed: FeedKey, noted: &ElsewhereNoted) -> bool {
    engine.elsewhere.add(noted);
    engine.set_counters(feed, noted.counters);
    for part in noted.steps(feed, &engine.filters.list) {
        engine.undo.join(part);
    }
    engine.tell(Event::Updated { feed, entries: true, poll: false });
    if !noted.labelled.is_empty() {
        engine.tell(Event::FiltersChanged);
    }
    engine.undo.step_is_known()
}

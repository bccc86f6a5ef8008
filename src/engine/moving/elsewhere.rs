//! Takes over from another reader which entries were read or starred there.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::elsewhere_marks::{Elsewhere, ElsewhereNoted, MarksTaken};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::feeds::addresses::{address_of, comparable};
use crate::engine::state::Engine;
use crate::engine::store_work::{Beside, Job};
use backissue_core::feed::Entry;
use backissue_core::history::FeedKey;
use backissue_core::other_readers::elsewhere::{ElsewhereEntry, KnownEntries, SeenElsewhere};

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

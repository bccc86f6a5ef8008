//! Takes over from another reader which entries were read or starred there.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::feeds::addresses::{address_of, comparable};
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::feed::Entry;
use backissue_core::history::{Counters, FeedKey};
use backissue_core::other_readers::elsewhere::{ElsewhereEntry, SeenElsewhere};

/// What another reader knew of the entries of a feed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Elsewhere {
    /// The entries that were read or starred.
    pub seen: SeenElsewhere,
    /// Starred entries with their texts, which are added if the feed no longer has them.
    pub entries: Vec<Entry>,
}

/// What the store did with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ElsewhereNoted {
    /// Number of entries that were here and got their marks.
    pub met: usize,
    /// Number of starred entries that were added.
    pub added: usize,
    /// Number of entries that get their marks when they are met.
    pub later: usize,
    /// Counters of the feed afterwards.
    pub counters: Counters,
}

impl ElsewhereNoted {
    /// Adds the numbers of another feed.
    pub const fn add(&mut self, other: Self) {
        self.met = self.met.saturating_add(other.met);
        self.added = self.added.saturating_add(other.added);
        self.later = self.later.saturating_add(other.later);
    }
}

/// Hands what another reader knew of entries to the store, by the address of the feed. Feeds that are not subscribed to are left out.
pub fn note(
    engine: &mut Engine,
    now: DateTime<Utc>,
    known: BTreeMap<String, Vec<ElsewhereEntry>>,
) -> Vec<Effect> {
    let feeds: BTreeMap<String, FeedKey> =
        engine.feeds.values().map(|feed| (comparable(&feed.record.url), feed.key)).collect();
    engine.elsewhere = ElsewhereNoted::default();
    let mut effects = Vec::new();
    for (address, entries) in known {
        let url = address_of(&address).ok();
        let Some(&feed) = url.and_then(|url| feeds.get(&comparable(&url))) else { continue };
        let seen = SeenElsewhere::new(&entries, now);
        let starred = entries.into_iter().filter(|it| it.is_starred && !it.entry.id.is_empty());
        let entries: Vec<Entry> = starred.map(|it| it.entry).collect();
        if !seen.is_empty() {
            let job = Job::NoteElsewhere(feed, now, Box::new(Elsewhere { seen, entries }));
            effects.push(Effect::store(job));
        }
    }
    effects
}

/// Handles the answer of the store.
pub fn noted(engine: &mut Engine, feed: FeedKey, noted: ElsewhereNoted) {
    engine.elsewhere.add(noted);
    engine.set_counters(feed, noted.counters);
    engine.tell(Event::Updated { feed, entries: true, poll: false });
}

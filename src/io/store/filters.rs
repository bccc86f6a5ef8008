//! What the reader's rules did: which entries each rule hit, and its marks set on them or taken back.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use sled::Batch;
use sled::transaction::{ConflictableTransactionError, Transactional};

use super::commit::transaction_failed;
use super::error::StoreError;
use super::open::Store;
use super::open::feed_bytes;
use super::open::feed_of;
use super::open::number_of;
use super::open::numbered_key;
use super::upkeep::check::Finding;
use super::upkeep::check::unreadable;
use crate::engine::entries::entry_filters::RuleChanges;
use crate::engine::entries::entry_filters::RuleCount;
use crate::engine::entries::entry_filters::RuleWish;
use crate::engine::entries::entry_filters::Ruled;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::filters::{Action, EntryFilter, FilterSubject, PreparedFilters};
use crate::history::{EntryKey, FeedKey, Flag, Flags, Merged};
use crate::io::codec;

/// Name of the rules among the facts about the store.
const RULES_KEY: &[u8] = b"rules";
/// Name of the folded tags among the facts about the store.
const FOLDED_KEY: &[u8] = b"folded";
/// The marks that rules set.
const RULED_FLAGS: [Flag; 3] = [Flag::Hidden, Flag::Read, Flag::Starred];

/// The reader's rules and the entries they hit.
#[derive(Debug, Default)]
pub(super) struct Rulings {
    rules: Vec<EntryFilter>,
    judge: PreparedFilters,
    hits: BTreeMap<(u32, FeedKey), BTreeSet<u32>>,
}

/// Entries of one document that rules hit, by the rules' numbers.
pub(super) type NewHits = BTreeMap<u32, Vec<u32>>;

impl Rulings {
    fn hits_of(&self, rule: u32) -> impl Iterator<Item = EntryKey> + '_ {
        let of_rule = self.hits.range((rule, FeedKey(0))..=(rule, FeedKey(u32::MAX)));
        of_rule.flat_map(|((_, feed), seqs)| seqs.iter().map(|&seq| EntryKey { feed: *feed, seq }))
    }

    fn has_hit(&self, rule: u32, key: EntryKey) -> bool {
        self.hits.get(&(rule, key.feed)).is_some_and(|seqs| seqs.contains(&key.seq))
    }

    /// Whether one of these rules hit an entry.
    pub(super) fn have_hit(&self, rules: &BTreeSet<u32>, key: EntryKey) -> bool {
        rules.iter().any(|&rule| self.has_hit(rule, key))
    }

    /// Whether another rule than this one hides an entry.
    fn is_hidden_otherwise(&self, rule: u32, key: EntryKey) -> bool {
        let mut others = self.rules.iter().filter(|other| other.id != rule);
        others.any(|other| other.action == Action::Hide && self.has_hit(other.id, key))
    }
}

impl Store {
    /// Reads the rules and what they hit; a damaged record of hits is as good as none.
    pub(super) fn read_rulings(&mut self) -> Result<(), StoreError> {
        let rules = self.rules()?;
        let mut hits: BTreeMap<(u32, FeedKey), BTreeSet<u32>> = BTreeMap::new();
        for pair in &self.rulings_tree {
            let (key, bytes) = pair?;
            let (Some(feed), Some(rule)) = (feed_of(&key), number_of(&key)) else { continue };
            let seqs = codec::decode_compressed::<BTreeSet<u32>>(&bytes).unwrap_or_default();
            hits.insert((rule, feed), seqs);
        }
        self.rulings = Rulings { judge: PreparedFilters::new(&rules), rules, hits };
        Ok(())
    }

    /// The reader's rules, in their order; none if their record is damaged.
    pub fn rules(&self) -> Result<Vec<EntryFilter>, StoreError> {
        let bytes = self.about.get(RULES_KEY)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// What is wrong with the records of rules, of what they hit, and of folded tags. With `repair` a record of hits or of
    /// folded tags that cannot be read is removed.
    pub(super) fn check_rulings(&self, repair: bool) -> Result<Vec<Finding>, StoreError> {
        let mut found = Vec::new();
        let rules = self.about.get(RULES_KEY)?;
        if rules.is_some_and(|bytes| codec::decode::<Vec<EntryFilter>>(&bytes).is_err()) {
            let text = "the record of your rules is damaged; none is in force".to_owned();
            found.push(Finding { text, repaired: false });
        }
        let folded = self.about.get(FOLDED_KEY)?;
        if folded.is_some_and(|bytes| codec::decode::<BTreeSet<String>>(&bytes).is_err()) {
            let text = "the record of folded tags is damaged; none is folded".to_owned();
            found.push(Finding { text, repaired: repair });
            if repair {
                self.about.remove(FOLDED_KEY)?;
            }
        }
        let read = |bytes: &[u8]| codec::decode_compressed::<BTreeSet<u32>>(bytes).map(drop);
        found.extend(unreadable(&self.rulings_tree, repair, read, |feed, why| {
            format!(
                "feed {feed}: what a rule of yours hit cannot be read ({why}); what it did stays done, and it can be edited to be done anew"
            )
        })?);
        Ok(found)
    }

    /// Writes the rules; from now on entries that arrive are judged by them.
    pub fn save_rules(&mut self, rules: &[EntryFilter]) -> Result<(), StoreError> {
        self.about.insert(RULES_KEY, codec::encode(&rules)?)?;
        self.rulings.judge = PreparedFilters::new(rules);
        self.rulings.rules = rules.to_vec();
        Ok(())
    }

    /// The tags that are folded; none if their record is damaged.
    pub fn folded(&self) -> Result<BTreeSet<String>, StoreError> {
        let bytes = self.about.get(FOLDED_KEY)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// Writes which tags are folded.
    pub fn save_folded(&self, folded: &BTreeSet<String>) -> Result<(), StoreError> {
        self.about.insert(FOLDED_KEY, codec::encode(folded)?)?;
        Ok(())
    }

    /// The rules that hit an entry, by their numbers, in the order of the rules.
    pub fn ruled_by(&self, key: EntryKey) -> Vec<u32> {
        let rules = self.rulings.rules.iter().map(|rule| rule.id);
        rules.filter(|&rule| self.rulings.has_hit(rule, key)).collect()
    }

    /// How many entries each rule hit, and how many of them are hidden.
    pub fn count_ruled(&mut self) -> Result<BTreeMap<u32, RuleCount>, StoreError> {
        let ids: Vec<u32> = self.rulings.rules.iter().map(|rule| rule.id).collect();
        let mut counts = BTreeMap::new();
        for id in ids {
            let mut count = RuleCount::default();
            let hits: Vec<EntryKey> = self.rulings.hits_of(id).collect();
            for key in hits {
                let Some(flags) = self.flags_of(key)? else { continue };
                count.hits = count.hits.saturating_add(1);
                count.hidden = count.hidden.saturating_add(u32::from(flags.is_hidden()));
            }
            counts.insert(id, count);
        }
        Ok(counts)
    }

    /// The marks of an entry that is there, of a feed that was not given up.
    fn flags_of(&mut self, key: EntryKey) -> Result<Option<Flags>, StoreError> {
        if self.ended.contains(&key.feed) {
            return Ok(None);
        }
        Ok(self.rows_of(key.feed)?.get(key.seq as usize).map(|row| row.flags))
    }

    /// Judges the entries that a document brought for the first time, before they are counted.
    pub(super) fn judge_new(
        &self,
        feed: FeedKey,
        merged: &mut Merged,
        first_new: u32,
        now: DateTime<Utc>,
    ) -> NewHits {
        let mut hits = NewHits::new();
        if self.rulings.judge.is_empty() || merged.new == 0 {
            return hits;
        }
        let bytes = self.feeds.get(feed_bytes(feed)).ok().flatten();
        let record = bytes.and_then(|bytes| codec::decode::<SubscriptionRecord>(&bytes).ok());
        let tags = record.map(|record| record.tags).unwrap_or_default();
        let judge = self.rulings.judge.for_feed(feed, &tags, now);
        if judge.is_empty() {
            return hits;
        }
        for (&seq, entry) in merged.entries.range_mut(first_new..) {
            let before = entry.row.flags;
            for rule in judge.hits(&FilterSubject::new(feed, &entry.kept, entry.body.as_ref())) {
                entry.row.flags = rule.action.done_to(entry.row.flags);
                hits.entry(rule.id).or_default().push(seq);
            }
            merged.counters.shift(Some(before), Some(entry.row.flags));
        }
        hits
    }

    /// The batch that writes these hits beside those known.
    pub(super) fn hits_batch(&self, feed: FeedKey, new: &NewHits) -> Result<Batch, StoreError> {
        let mut batch = Batch::default();
        for (&rule, seqs) in new {
            let known = self.rulings.hits.get(&(rule, feed));
            let all: BTreeSet<u32> = known.into_iter().flatten().chain(seqs).copied().collect();
            batch.insert(&numbered_key(feed, rule), codec::encode_compressed(&all)?);
        }
        Ok(batch)
    }

    /// Remembers hits that were written.
    pub(super) fn hits_written(&mut self, feed: FeedKey, new: NewHits) {
        for (rule, seqs) in new {
            self.rulings.hits.entry((rule, feed)).or_default().extend(seqs);
        }
    }

    /// Hands the hits of entries over that went to another feed; `now_as`: their numbers there.
    pub(super) fn hand_hits(
        &mut self,
        from: FeedKey,
        into: FeedKey,
        now_as: &BTreeMap<u32, u32>,
    ) -> Result<(), StoreError> {
        let mut handed = NewHits::new();
        for ((rule, feed), seqs) in &self.rulings.hits {
            let moved = seqs.iter().filter_map(|seq| now_as.get(seq).copied());
            if *feed == from {
                handed.entry(*rule).or_default().extend(moved);
            }
        }
        handed.retain(|_, seqs| !seqs.is_empty());
        self.rulings_tree.apply_batch(self.hits_batch(into, &handed)?)?;
        self.hits_written(into, handed);
        Ok(())
    }

    /// Forgets the hits of a feed that was removed.
    pub(super) fn forget_hits(&mut self, feed: FeedKey) {
        self.rulings.hits.retain(|(_, of), _| *of != feed);
    }

    /// Does with the entries of a rule what is wished; answers with what that changed, and the sums afterwards.
    pub fn rule(&mut self, wish: &RuleWish) -> Result<Ruled, StoreError> {
        let rule = wish.rule();
        let before: BTreeSet<EntryKey> = self.rulings.hits_of(rule).collect();
        let (after, wanted) = match wish {
            RuleWish::Apply { hits, action, .. } => {
                let after: BTreeSet<EntryKey> = hits.iter().copied().collect();
                let wanted = self.wanted_by(rule, &before, &after, action)?;
                (after, wanted)
            }
            RuleWish::Replay { changes, forward } => self.replayed(changes, *forward, &before)?,
        };
        let changes = RuleChanges {
            rule,
            flags: self.differences(&wanted)?,
            before: before.iter().copied().collect(),
            after: after.iter().copied().collect(),
        };
        let mut counters = Vec::new();
        let hit = before.iter().chain(&after).map(|key| key.feed);
        let feeds: BTreeSet<FeedKey> = hit.chain(wanted.keys().map(|key| key.feed)).collect();
        for feed in feeds {
            let seqs = |keys: &BTreeSet<EntryKey>| -> BTreeSet<u32> {
                keys.iter().filter(|key| key.feed == feed).map(|key| key.seq).collect()
            };
            let all = EntryKey { feed, seq: 0 }..=EntryKey { feed, seq: u32::MAX };
            let marks = wanted.range(all).map(|(key, flags)| (key.seq, *flags)).collect();
            counters.push((feed, self.write_ruled(feed, rule, &marks, seqs(&after))?));
        }
        Ok(Ruled { changes, counters })
    }

    /// The marks of all entries that a rule hit or hits, after its hits are `after` and its action is done to them.
    fn wanted_by(
        &mut self,
        rule: u32,
        before: &BTreeSet<EntryKey>,
        after: &BTreeSet<EntryKey>,
        action: &Action,
    ) -> Result<BTreeMap<EntryKey, Flags>, StoreError> {
        let mut wanted = BTreeMap::new();
        for &key in before.union(after) {
            let Some(flags) = self.flags_of(key)? else { continue };
            let free = before.contains(&key) && !self.rulings.is_hidden_otherwise(rule, key);
            let shown = if free { flags.with(Flag::Hidden, false) } else { flags };
            let done = if after.contains(&key) { action.done_to(shown) } else { shown };
            if done != flags {
                wanted.insert(key, done);
            }
        }
        Ok(wanted)
    }

    /// The hits and marks after changes were taken back, or made again. What the rule hid since is shown when the
    /// rule is taken back.
    fn replayed(
        &mut self,
        changes: &RuleChanges,
        forward: bool,
        now: &BTreeSet<EntryKey>,
    ) -> Result<(BTreeSet<EntryKey>, BTreeMap<EntryKey, Flags>), StoreError> {
        let hits = if forward { &changes.after } else { &changes.before };
        let hits: BTreeSet<EntryKey> = hits.iter().copied().collect();
        let mut wanted: BTreeMap<EntryKey, Flags> = BTreeMap::new();
        for &(key, flag, value) in &changes.flags {
            let known = match wanted.get(&key) {
                Some(flags) => Some(*flags),
                None => self.flags_of(key)?,
            };
            let Some(flags) = known else { continue };
            wanted.insert(key, flags.with(flag, value == forward));
        }
        for &key in now {
            let known = changes.before.binary_search(&key).is_ok()
                || changes.after.binary_search(&key).is_ok();
            if known || self.rulings.is_hidden_otherwise(changes.rule, key) {
                continue;
            }
            if let Some(flags) = self.flags_of(key)? {
                wanted.insert(key, flags.with(Flag::Hidden, false));
            }
        }
        Ok((hits, wanted))
    }

    /// Which marks these would change.
    fn differences(
        &mut self,
        wanted: &BTreeMap<EntryKey, Flags>,
    ) -> Result<Vec<(EntryKey, Flag, bool)>, StoreError> {
        let mut changed = Vec::new();
        for (&key, &after) in wanted {
            let Some(before) = self.flags_of(key)? else { continue };
            let differing =
                RULED_FLAGS.into_iter().filter(|&flag| before.get(flag) != after.get(flag));
            changed.extend(differing.map(|flag| (key, flag, after.get(flag))));
        }
        Ok(changed)
    }

    /// Writes marks and hits of one feed, all or nothing.
    fn write_ruled(
        &mut self,
        feed: FeedKey,
        rule: u32,
        marks: &BTreeMap<u32, Flags>,
        hits: BTreeSet<u32>,
    ) -> Result<crate::history::Counters, StoreError> {
        let mut counters = self.counters_of(feed)?;
        let rows = self.rows_of(feed)?;
        for (&seq, &flags) in marks {
            if let Some(row) = rows.get_mut(seq as usize) {
                counters.shift(Some(row.flags), Some(flags));
                row.flags = flags;
            }
        }
        let index = self.index_batch(feed, marks.keys().copied())?;
        let (mut sums, mut hit) = (Batch::default(), Batch::default());
        sums.insert(&feed_bytes(feed), codec::encode(&counters)?);
        if hits.is_empty() {
            hit.remove(&numbered_key(feed, rule));
        } else {
            hit.insert(&numbered_key(feed, rule), codec::encode_compressed(&hits)?);
        }
        let written = (&self.index, &self.counters, &self.rulings_tree)
            .transaction(|(i, c, r)| {
                i.apply_batch(&index)?;
                c.apply_batch(&sums)?;
                r.apply_batch(&hit)?;
                Ok::<(), ConflictableTransactionError<()>>(())
            })
            .map_err(transaction_failed);
        if let Err(error) = written {
            self.rows.remove(&feed);
            return Err(error);
        }
        if hits.is_empty() {
            self.rulings.hits.remove(&(rule, feed));
        } else {
            self.rulings.hits.insert((rule, feed), hits);
        }
        Ok(counters)
    }
}

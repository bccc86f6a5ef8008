//! Syncs with servers: which stored entry is which entry on the server, and the marks on which both sides last agreed.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::accounts::marks::{AgreedLabel, KnownLabel, KnownMarks};
use backissue_core::accounts::miniflux::ChangeState;
use backissue_core::accounts::subscriptions::{AgreedFeed, Leaving};
use backissue_core::accounts::{ItemId, Marks};
use backissue_core::feed::identity::{identity_hash, is_hashed_identity};
use backissue_core::feed::{Entry, FeedDocument};
use backissue_core::filters::FilterScope;
use backissue_core::history::kept::Position;
use backissue_core::history::merge::known_copies;
use backissue_core::history::{
    DocumentPlace, EntryKey, FeedKey, Flag, Flags, Known, KnownEntry, Merging, Tombstones, merge_as,
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::change::MarkChange;
use crate::engine::entries::account_state::{FeedSync, FeedSynced};
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::io::codec;
use crate::io::store::commit::CommitParts;
use crate::io::store::error::StoreError;
use crate::io::store::handle::{Store, feed_bytes};
use crate::io::store::pack::{Batch, TableName};

/// Key of the states of accounts in the table of facts.
const STATES_KEY: &[u8] = b"accounts";
/// Maximum number of log lines of an account.
const LOG_MAX: usize = 200;
/// Maximum number of ids that are remembered as unusable.
const SKIPPED_MAX: usize = 20_000;

/// The state of an account between two syncs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AccountState {
    /// Time of the last sync that compared everything.
    pub whole_at: Option<DateTime<Utc>>,
    /// Entries that the server lists but does not return, or whose feed the server does not list. They are requested once a day.
    pub skipped: BTreeSet<ItemId>,
    /// Hash of the first page of unread entries at the last sync, or `None` if that sync failed.
    pub unread_start: Option<u64>,
    /// Progress of syncs with a server that lists changes (Miniflux).
    pub changes: ChangeState,
    /// Feeds that were removed here and stay on the server until the user confirms or cancels the removal.
    pub held: Vec<FeedKey>,
    /// Entries whose marks the server did not accept, with the number of attempts.
    pub refused: BTreeMap<ItemId, u8>,
    /// The last syncs, oldest first.
    pub log: Vec<SyncLine>,
}

/// A line of the log of syncs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SyncLine {
    /// Time at which the sync ended.
    pub at: DateTime<Utc>,
    /// Seconds for which the server asked to be left alone.
    pub pause: Option<u32>,
    /// Duration in milliseconds.
    pub ms: u64,
    /// Number of requests.
    pub requests: u32,
    /// Bytes of bodies sent.
    pub sent_bytes: u64,
    /// Bytes of bodies received.
    pub received_bytes: u64,
    /// Entries that were added.
    pub new: u32,
    /// Entries that were edited on the server.
    pub edited: u32,
    /// Marks that changed here.
    pub marked: u32,
    /// Marks that were sent.
    pub sent: u32,
    /// Changes of subscriptions on either side.
    pub feeds: u32,
    /// Titles of the feeds that were unsubscribed here because they were unsubscribed on the server.
    pub unsubscribed: Vec<String>,
    /// Titles of the feeds that were unsubscribed on the server but stay subscribed here, because they did not come from the
    /// account.
    pub kept: Vec<String>,
    /// Number of feeds that were removed here and stay on the server until the user answers.
    pub held: usize,
    /// Number of marks of a restored backup that the server does not have and that wait for the user's answer.
    pub held_marks: usize,
    /// Marks that the server reported as accepted but did not set.
    pub untaken: u32,
    /// Marks that are no longer sent, because the server refused them three times.
    pub dropped: u32,
    /// Why the server refused a change of a subscription, as a sentence.
    pub refused: Option<String>,
    /// Why the sync ended early, as a sentence.
    pub failure: Option<String>,
}

/// The synced state of a feed of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::io::store) struct SyncedFeed {
    /// The subscription as both sides last agreed on it.
    pub agreed: AgreedFeed,
    items: BTreeMap<ItemId, SyncedItem>,
    labels: BTreeMap<String, AgreedLabel>,
}

/// The labels of a feed of an account, and the entries that can have them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedLabels {
    /// Entries that are on both sides.
    pub entries: BTreeMap<ItemId, EntryKey>,
    /// Labels set by hand, by name.
    pub labels: BTreeMap<String, KnownLabel>,
}

/// An entry that is on both sides: its number here, and bits for its marks, which are defined below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct SyncedItem(u32, u8);

const READ: u8 = 1;
const STARRED: u8 = 1 << 1;
const READ_SENT: u8 = 1 << 2;
const STAR_SENT: u8 = 1 << 3;
const READ_HELD: u8 = 1 << 4;
const STAR_HELD: u8 = 1 << 5;

impl SyncedItem {
    fn new(seq: u32, marks: KnownMarks) -> Self {
        let bit = |set, bit| if set { bit } else { 0 };
        let agreed = bit(marks.agreed.is_read, READ) | bit(marks.agreed.is_starred, STARRED);
        let sent = bit(marks.sent.is_read, READ_SENT) | bit(marks.sent.is_starred, STAR_SENT);
        let held = bit(marks.held.is_read, READ_HELD) | bit(marks.held.is_starred, STAR_HELD);
        Self(seq, agreed | sent | held)
    }

    fn marks(self, flags: Flags) -> KnownMarks {
        let has = |bit: u8| self.1 & bit != 0;
        KnownMarks {
            agreed: Marks { is_read: has(READ), is_starred: has(STARRED) },
            local: local_marks(flags, has(READ)),
            sent: Marks { is_read: has(READ_SENT), is_starred: has(STAR_SENT) },
            held: Marks { is_read: has(READ_HELD), is_starred: has(STAR_HELD) },
        }
    }
}

const fn marks_of(flags: Flags) -> Marks {
    Marks { is_read: flags.is_read(), is_starred: flags.is_starred() }
}

/// Returns the local marks of an entry. An entry that ended because it was unread for too long keeps the read mark of the
/// account, because the user did not read it.
const fn local_marks(flags: Flags, agreed_read: bool) -> Marks {
    let marks = marks_of(flags);
    if flags.has_ended() && !flags.was_opened() {
        return Marks { is_read: agreed_read, ..marks };
    }
    marks
}

/// Returns the flags with these marks. The read flag changes only if the mark changed.
const fn with_marks(flags: Flags, before: Marks, after: Marks) -> Flags {
    let starred = flags.with(Flag::Starred, after.is_starred);
    if after.is_read == before.is_read { starred } else { starred.with(Flag::Read, after.is_read) }
}

/// Returns the marks that differ, with their new values.
fn differing_marks(before: Marks, after: Marks) -> impl Iterator<Item = (Flag, bool)> {
    let read = (Flag::Read, before.is_read, after.is_read);
    let all = [read, (Flag::Starred, before.is_starred, after.is_starred)];
    all.into_iter().filter(|(_, before, after)| before != after).map(|(flag, _, new)| (flag, new))
}

impl Store {
    /// Returns the last synced state of a feed of an account, with the present marks of its entries.
    pub fn synced(
        &mut self,
        feed: FeedKey,
    ) -> Result<(AgreedFeed, BTreeMap<ItemId, KnownMarks>), StoreError> {
        let synced = self.synced_feed(feed)?;
        let rows = self.rows_of(feed)?;
        let marks = synced.items.into_iter().filter_map(|(id, item)| {
            let row = rows.get(item.0 as usize)?;
            Some((id, item.marks(row.flags)))
        });
        Ok((synced.agreed, marks.collect()))
    }

    /// Returns the labels of a feed of an account, as they were last synced and as the user has set them by hand now.
    pub fn synced_labels(&mut self, feed: FeedKey) -> Result<FeedLabels, StoreError> {
        let synced = self.synced_feed(feed)?;
        let agreed = synced.labels.into_iter();
        let known = |agreed| KnownLabel { agreed, local: BTreeSet::new() };
        let labels = agreed.map(|(name, agreed)| (name, known(agreed))).collect();
        let entries = synced.items.into_iter();
        let entries = entries.map(|(id, item)| (id, EntryKey { feed, seq: item.0 })).collect();
        let mut feed_labels = FeedLabels { entries, labels };
        let by_hand = self.filters.list.iter().filter(|it| it.scope == FilterScope::ByHand);
        for filter in by_hand {
            let Some(name) = filter.action.label() else { continue };
            let labelled = feed_labels.entries.iter();
            let labelled = labelled.filter(|(_, key)| self.filters.has_hit(filter.id, **key));
            let local: BTreeSet<ItemId> = labelled.map(|(id, _)| id.clone()).collect();
            if !local.is_empty() {
                feed_labels.labels.entry(name.to_owned()).or_default().local = local;
            }
        }
        Ok(feed_labels)
    }

    /// Returns the states of the accounts, by name of the account.
    pub fn account_states(&self) -> Result<BTreeMap<String, AccountState>, StoreError> {
        let bytes = self.tables.facts.get(STATES_KEY)?;
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// Changes the state of an account. If `change` returns `None`, the state is removed.
    pub fn change_account_state(
        &mut self,
        name: &str,
        change: impl FnOnce(&mut AccountState) -> Option<()>,
    ) -> Result<(), StoreError> {
        let mut states = self.account_states()?;
        let mut state = states.remove(name).unwrap_or_default();
        if change(&mut state).is_some() {
            let old = state.log.len().saturating_sub(LOG_MAX);
            state.log.drain(..old);
            while state.skipped.len() > SKIPPED_MAX {
                state.skipped.pop_first();
            }
            states.insert(name.to_owned(), state);
        }
        self.put(TableName::Facts, STATES_KEY, codec::encode(&states)?)
    }

    fn synced_feed(&self, feed: FeedKey) -> Result<SyncedFeed, StoreError> {
        let bytes = self.tables.syncs.get(feed_bytes(feed))?;
        // A damaged record counts as empty. The next sync finds the entries again by link, title and date.
        Ok(bytes.and_then(|bytes| codec::decode(&bytes).ok()).unwrap_or_default())
    }

    /// Stores the labels on which both sides agree, for the entries that the account still has.
    fn sync_labels(&mut self, sync: &FeedSync, synced: &mut SyncedFeed) -> Result<(), StoreError> {
        synced.labels.extend(sync.labels.clone());
        if let Some(is_sent) = sync.answer {
            let known = self.synced_labels(sync.feed)?.labels.into_iter();
            synced.labels.extend(known.map(|(name, label)| (name, label.answered(is_sent))));
        }
        let items = &synced.items;
        for label in synced.labels.values_mut() {
            label.entries.retain(|id| items.contains_key(id));
            label.sent.retain(|id| items.contains_key(id));
            label.held.retain(|id| items.contains_key(id));
        }
        synced.labels.retain(|_, label| *label != AgreedLabel::default());
        Ok(())
    }

    /// Writes the result of a sync for a feed, all or none of it. Also returns the marks that it changed on stored entries.
    pub(in crate::io::store) fn sync_feed(
        &mut self,
        sync: &FeedSync,
    ) -> Result<(FeedSynced, Vec<MarkChange>), StoreError> {
        let feed = sync.feed;
        let before = self.synced_feed(feed)?;
        let mut synced = before.clone();
        synced.agreed = sync.agreed.clone().unwrap_or(synced.agreed);
        if synced.agreed.stream != before.agreed.stream {
            // Ids of entries belong to the subscription on the server. After subscribing again, the same entries have other ids.
            synced.items.clear();
            synced.labels.clear();
        }
        synced.items.retain(|id, _| !sync.gone.contains(id));
        let (edits, arrived_again) = self.edits(sync, &synced)?;
        let counters = self.counters_of(feed)?;
        let document = self.unknown_entries(sync, &mut synced)?;
        let place = DocumentPlace { position: Position::Page, fetched_at: sync.at };
        let merging = Merging::at(place);
        let tombstones = Tombstones::default();
        let mut merged = merge_as(&document, &merging, &tombstones, &Known::new(), counters);
        let ids = ids_of(sync);
        for (seq, entry) in &mut merged.entries {
            let Some(&id) = ids.get(entry.kept.id.as_str()) else { continue };
            let remote = sync.marks.get(id).copied().unwrap_or_default();
            let flags = with_marks(Flags::NEW, Marks::default(), remote);
            merged.counters.shift(Some(entry.row.flags), Some(flags));
            entry.row.flags = flags;
            let item = SyncedItem::new(*seq, KnownMarks::first(remote, remote));
            synced.items.insert(id.clone(), item);
        }
        let first_new = counters.next_seq;
        let hits = self.apply_filters(feed, &document, &mut merged, first_new, sync.at);
        let place = DocumentPlace { position: Position::Subscription, ..place };
        let merging = Merging::at(place);
        let mut edited = merge_as(&edits, &merging, &tombstones, &arrived_again, merged.counters);
        edited.entries.retain(|_, entry| entry.is_edited);
        self.keep_previous(feed, &mut edited, place);
        merged.counters = edited.counters;
        merged.entries.append(&mut edited.entries);
        let (mut flags, mut changed) = (BTreeMap::new(), BTreeMap::<_, Vec<EntryKey>>::new());
        let rows = self.rows_of(feed)?;
        for (id, item) in &mut synced.items {
            let Some(row) = rows.get(item.0 as usize) else { continue };
            let before = item.marks(row.flags);
            let mut known = before;
            if let Some(remote) = sync.marks.get(id) {
                known = known.merged(*remote);
            }
            if let Some(sending) = sync.sending.get(id) {
                known.sent = *sending;
            }
            known = sync.answer.map_or(known, |is_sent| known.answered(is_sent));
            let after = with_marks(row.flags, before.local, known.local);
            if after != row.flags {
                merged.counters.shift(Some(row.flags), Some(after));
                flags.insert(item.0, after);
                for mark in differing_marks(before.local, known.local) {
                    changed.entry(mark).or_default().push(EntryKey { feed, seq: item.0 });
                }
            }
            *item = SyncedItem::new(item.0, known);
        }
        let marked = u32::try_from(flags.len()).unwrap_or(u32::MAX);
        self.sync_labels(sync, &mut synced)?;
        let mut batch = Batch::default();
        if synced != before {
            batch.insert(feed_bytes(feed), codec::encode(&synced)?);
        }
        let merged = self.write(feed, merged, CommitParts::of_sync(hits, flags, batch))?;
        let (new, edited) = (merged.new, edited.edited);
        let changed = changed.into_iter();
        let changed = changed.map(|((flag, value), keys)| MarkChange { flag, value, keys });
        Ok((FeedSynced { new, edited, marked }, changed.collect()))
    }

    /// Counts the entries of feeds whose marks were changed here and not yet confirmed by the server.
    pub fn unsent_marks(&mut self, feeds: &[FeedKey]) -> Result<usize, StoreError> {
        let mut count = 0_usize;
        for feed in feeds {
            let (_, marks) = self.synced(*feed)?;
            let unsent = marks.values().filter(|known| known.local != known.agreed);
            count = count.saturating_add(unsent.count());
        }
        Ok(count)
    }

    /// For a restored backup: holds back all changes that a sync would send to a server, because the server may have changed
    /// since the backup was written. Titles and folders are taken from the server.
    pub fn hold_unsent(&mut self) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        let (active, ended) = (self.subscriptions()?, self.ended_subscriptions()?);
        for saved in active.iter().chain(&ended) {
            let feed = saved.key;
            if saved.record.leaving != Leaving::Stays {
                let record = SubscriptionRecord { leaving: Leaving::Stays, ..saved.record.clone() };
                self.save_records(&[(feed, record)])?;
            }
            let mut synced = self.synced_feed(feed)?;
            let known = self.synced_labels(feed)?.labels.into_iter();
            synced.labels = known.map(|(name, label)| (name, label.restored())).collect();
            let rows = self.rows_of(feed)?;
            for item in synced.items.values_mut() {
                let Some(row) = rows.get(item.0 as usize) else { continue };
                *item = SyncedItem::new(item.0, item.marks(row.flags).restored());
            }
            if !synced.agreed.stream.is_empty() {
                let title = saved.record.own_title.clone();
                synced.agreed.title = title.unwrap_or(synced.agreed.title);
                synced.agreed.folder = saved.record.tags.first().cloned();
                batch.insert(feed_bytes(feed), codec::encode(&synced)?);
            }
        }
        self.db.commit(&[(TableName::Syncs, &batch)])
    }

    /// Returns the arrived entries that an earlier sync added, so that edits on the server can be found. Entries that a poll
    /// added are left out, because servers alter titles and texts.
    fn edits(
        &mut self,
        sync: &FeedSync,
        synced: &SyncedFeed,
    ) -> Result<(FeedDocument, Known), StoreError> {
        let again = sync.arrived.iter().filter(|(id, _)| synced.items.contains_key(id));
        let mut entries: Vec<Entry> = again.map(|(_, entry)| entry.clone()).collect();
        if entries.is_empty() {
            return Ok((FeedDocument::default(), Known::new()));
        }
        let wanted: BTreeSet<u64> = entries.iter().map(|it| identity_hash(&it.id)).collect();
        let known = self.find_known(sync.feed, |row| wanted.contains(&row.identity))?;
        let is_same = |entry: &Entry| {
            let known = known.get(&identity_hash(&entry.id));
            known.is_some_and(|all| all.iter().any(|known| known.kept.id == entry.id))
        };
        entries.retain(is_same);
        Ok((FeedDocument { entries, ..FeedDocument::default() }, known))
    }

    /// Connects arrived entries with stored ones from a poll or an earlier sync. Returns the arrived entries that have no stored
    /// one.
    fn unknown_entries(
        &mut self,
        sync: &FeedSync,
        synced: &mut SyncedFeed,
    ) -> Result<FeedDocument, StoreError> {
        let arrived = sync.arrived.iter().filter(|(id, _)| !synced.items.contains_key(id));
        let entries = arrived.map(|(_, entry)| entry.clone()).collect();
        let mut document = FeedDocument { entries, ..FeedDocument::default() };
        if document.entries.is_empty() {
            return Ok(document);
        }
        let place = DocumentPlace { position: Position::Page, fetched_at: sync.at };
        let merging = Merging::at(place);
        let taken: BTreeSet<u32> = synced.items.values().map(|item| item.0).collect();
        let is_hashed = document.entries.iter().any(|entry| is_hashed_identity(&entry.id));
        let mut known = if taken.len() >= self.rows_of(sync.feed)?.len() {
            // Every stored entry is already connected with an entry on the server, or nothing is stored yet, as in a first sync.
            Known::new()
        } else if is_hashed {
            // Only the hashes of the publisher's ids are known, so every stored entry is a candidate.
            self.find_known(sync.feed, |_| true)?
        } else {
            self.find_candidates(sync.feed, &document, &merging)?
        };
        for entries in known.values_mut() {
            entries.retain(|entry| !taken.contains(&entry.seq));
        }
        let mut copies = known_copies(&document, &merging, &known);
        let again = self.known_there(sync.feed, &document, &taken)?;
        copies.extend(again.iter().map(|(known, id)| (known.seq, id.clone())));
        let ids = ids_of(sync);
        for known in known.values().flatten().chain(again.iter().map(|(known, _)| known)) {
            let Some(&id) = copies.get(&known.seq).and_then(|id| ids.get(id.as_str())) else {
                continue;
            };
            // Marks that were set here count as changes that the server does not have yet. Old entries that count as read but were
            // never opened are an exception: they are not marked as read on the server.
            let flags = known.row.flags;
            let agreed =
                Marks { is_read: flags.is_read() && !flags.was_opened(), is_starred: false };
            let item = SyncedItem::new(known.seq, KnownMarks { agreed, ..KnownMarks::default() });
            synced.items.insert(id.clone(), item);
        }
        let here: BTreeSet<String> = copies.into_values().collect();
        document.entries.retain(|entry| !here.contains(&entry.id));
        Ok(document)
    }
}

/// Returns the ids of the arrived entries on the server, by their ids in the document.
fn ids_of(sync: &FeedSync) -> BTreeMap<&str, &ItemId> {
    sync.arrived.iter().map(|(id, entry)| (entry.id.as_str(), id)).collect()
}

impl Store {
    /// Returns the stored entries that the server has dropped and fetched again under another number, with their ids in the
    /// document. Link, title and date of such an entry are unchanged, and no other entry has the link.
    pub(super) fn known_there(
        &mut self,
        feed: FeedKey,
        document: &FeedDocument,
        taken: &BTreeSet<u32>,
    ) -> Result<Vec<(KnownEntry, String)>, StoreError> {
        let dates = document.entries.iter().filter_map(|entry| entry.published);
        let dates: BTreeSet<i64> = dates.map(|date| date.timestamp()).collect();
        let known = self.find_known(feed, |row| dates.contains(&row.listed))?;
        let known = known.into_values().flatten().filter(|known| taken.contains(&known.seq));
        let mut by_link: BTreeMap<String, Vec<KnownEntry>> = BTreeMap::new();
        for known in known {
            let link = known.kept.link.clone().unwrap_or_default();
            by_link.entry(link).or_default().push(known);
        }
        let mut again = Vec::new();
        for entry in &document.entries {
            let link = entry.link.as_deref().unwrap_or_default();
            let alike = document.entries.iter().filter(|other| other.link == entry.link).count();
            let Some([known]) = by_link.get(link).map(Vec::as_slice).filter(|_| alike == 1) else {
                continue;
            };
            let kept = &known.kept;
            if !link.is_empty() && kept.title == entry.title && kept.published == entry.published {
                again.push((known.clone(), entry.id.clone()));
            }
        }
        Ok(again)
    }
}

#[cfg(test)]
#[path = "syncs_tests.rs"]
mod tests;

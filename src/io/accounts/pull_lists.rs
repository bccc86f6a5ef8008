//! Pulls from a server that gives the entries and their marks as lists of ids: all, the unread, and the starred ones.

use std::collections::{BTreeMap, BTreeSet};

use super::connection::SyncFailure;
use super::label_sync;
use super::reconcile;
use super::session::{KnownItems, Session, check_cancelled, check_emptied};
use crate::engine::entries::account_state::FeedSync;
use backissue_core::accounts::ItemId;
use backissue_core::accounts::answers::GatheredIds;
use backissue_core::accounts::greader::{READING_LIST, STARRED};
use backissue_core::accounts::marks::{KnownMarks, ServerMarks};
use backissue_core::feed::identity::identity_hash;
use backissue_core::history::FeedKey;

impl Session<'_> {
    /// Pulls what is new, merges marks, and sends those of this side.
    pub(super) fn sync_by_lists(&mut self) -> Result<(), SyncFailure> {
        if self.whole {
            self.state.skipped.clear();
        }
        let known = self.known()?;
        (self.progress)("comparing entries", 0, 0);
        let skipped = self.state.skipped.clone();
        let is_known = |id: &ItemId| known.marks.contains_key(id) || skipped.contains(id);
        let known_to_stop_at: Option<&dyn Fn(&ItemId) -> bool> =
            if self.whole { None } else { Some(&is_known) };
        let listed = self.server.ids(READING_LIST, false, known_to_stop_at)?;
        check_emptied(listed.ids.is_empty(), &known)?;
        let unread_start = self.state.unread_start.take();
        let has_new = listed.ids.iter().any(|id| !is_known(id));
        let is_quiet = !self.whole && !has_new && known.marks.values().all(KnownMarks::is_settled);
        let mut start = 0;
        let unread = self.server.unread_ids(|page| {
            start = hash_of(page);
            is_quiet && unread_start == Some(start)
        })?;
        let Some(unread) = unread else {
            return self.end_quietly(&known, unread_start);
        };
        let marks = self.with_stars(&unread)?;
        let mut seen = BTreeSet::new();
        let all = listed.ids.iter().chain(&marks.unread).chain(&marks.starred);
        let new: Vec<ItemId> = all
            .filter(|id| !is_known(id))
            .filter(|id| seen.insert((*id).clone()))
            .cloned()
            .collect();
        self.fetch(&new, &marks)?;
        if self.whole {
            // Nothing else tells which entries their publishers edited.
            let newest = listed.ids.iter().filter(|id| known.marks.contains_key(*id));
            let newest: Vec<ItemId> =
                newest.take(self.server.entries_a_request()).cloned().collect();
            self.fetch(&newest, &marks)?;
        }
        let gone = self.find_gone(&known, &marks, self.whole.then_some(&listed))?;
        self.apply(&known, &marks, &gone)?;
        self.send(&marks)?;
        label_sync::sync_labels(self)?;
        self.state.unread_start = Some(start);
        Ok(())
    }

    /// Ends a sync in which the first of several pages of unread entries is as it was, and nothing is new or to be sent. The others are
    /// compared when everything is, so that a quiet sync takes few requests also if very many entries are unread.
    fn end_quietly(&mut self, known: &KnownItems, start: Option<u64>) -> Result<(), SyncFailure> {
        let of_known = known.marks.iter().filter(|(_, marks)| !marks.agreed.is_read);
        let unread = of_known.map(|(id, _)| id.clone()).collect();
        let starred: BTreeSet<ItemId> =
            self.server.ids(STARRED, false, None)?.ids.into_iter().collect();
        let marks = ServerMarks { unread, starred };
        let new: Vec<ItemId> =
            marks.starred.iter().filter(|id| !known.marks.contains_key(*id)).cloned().collect();
        let gone = self.find_gone(known, &marks, None)?;
        self.apply(known, &marks, &gone)?;
        self.send(&marks)?;
        label_sync::sync_labels(self)?;
        // With a starred entry that is not here, the next sync reads everything.
        let is_new = new.iter().any(|id| !self.state.skipped.contains(id));
        self.state.unread_start = start.filter(|_| !is_new);
        Ok(())
    }

    pub(super) fn listed_marks(&mut self) -> Result<ServerMarks, SyncFailure> {
        let unread = self.server.ids(READING_LIST, true, None)?;
        self.with_stars(&unread)
    }

    fn with_stars(&mut self, unread: &GatheredIds) -> Result<ServerMarks, SyncFailure> {
        let unread = unread.ids.iter().cloned().collect();
        let starred = self.server.ids(STARRED, false, None)?.ids.into_iter().collect();
        Ok(ServerMarks { unread, starred })
    }

    /// Fetches entries and writes them batch by batch.
    fn fetch(&mut self, new: &[ItemId], marks: &ServerMarks) -> Result<(), SyncFailure> {
        let mut done = 0;
        for batch in new.chunks(self.server.entries_a_request()) {
            check_cancelled(self.hand)?;
            (self.progress)("fetching entries", done, new.len());
            let items = self.server.items(batch)?;
            let is_unknown = |stream: &String| !self.streams.contains_key(stream);
            if !self.whole && items.iter().any(|item| is_unknown(&item.stream)) {
                // A feed was added there.
                self.whole = true;
                reconcile::compare_feeds(self)?;
            }
            let mut missing: BTreeSet<ItemId> = batch.iter().cloned().collect();
            let mut syncs: BTreeMap<FeedKey, FeedSync> = BTreeMap::new();
            for item in items {
                let Some(&feed) = self.streams.get(&item.stream) else { continue };
                if !missing.remove(&item.id) {
                    continue;
                }
                let sync = syncs.entry(feed).or_insert_with(|| FeedSync::new(feed, self.at));
                sync.marks.insert(item.id.clone(), marks.of(&item.id));
                sync.arrived.push((item.id, item.entry));
            }
            self.write(syncs.into_values().collect())?;
            self.state.skipped.extend(missing);
            done = done.saturating_add(batch.len());
        }
        Ok(())
    }

    /// Returns the known entries that the server no longer has.
    fn find_gone(
        &mut self,
        known: &KnownItems,
        marks: &ServerMarks,
        all: Option<&GatheredIds>,
    ) -> Result<BTreeSet<ItemId>, SyncFailure> {
        let is_there = |all: &GatheredIds, id: &ItemId| {
            all.contains(id) || marks.unread.contains(id) || marks.starred.contains(id)
        };
        if let Some(all) = all {
            let gone = known.marks.keys().filter(|id| !is_there(all, id));
            return Ok(gone.cloned().collect());
        }
        let doubtful = marks.doubtful(&known.marks);
        let mut gone: BTreeSet<ItemId> = doubtful.iter().cloned().collect();
        if doubtful.len() > self.server.entries_a_request() {
            let all = self.server.ids(READING_LIST, false, None)?;
            gone.retain(|id| !is_there(&all, id));
        } else if !doubtful.is_empty() {
            for item in self.server.items(&doubtful)? {
                gone.remove(&item.id);
            }
        }
        Ok(gone)
    }
}

fn hash_of(ids: &[ItemId]) -> u64 {
    identity_hash(&ids.iter().map(ItemId::long).collect::<String>())
}

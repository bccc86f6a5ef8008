//! Pulls from a server that lists which entries were added or marked since a time, and counts the entries of each feed
//! (Miniflux).

use std::collections::{BTreeMap, BTreeSet};

use super::reconcile;
use super::server::SyncFailure;
use super::session::{KnownItems, Session, check_cancelled, check_emptied};
use crate::engine::entries::account_state::FeedSync;
use backissue_core::accounts::api_call::MarkAction;
use backissue_core::accounts::marks::ServerMarks;
use backissue_core::accounts::miniflux::{
    ChangeState, Counts, EntriesPage, EntriesWanted, Listing, Pass, feed_of,
};
use backissue_core::accounts::{ItemId, Marks};
use backissue_core::history::FeedKey;

/// Maximum number of streams without a feed here that are remembered.
const IGNORED_MAX: usize = 10_000;

/// The result of a pull.
#[derive(Debug, Default)]
struct Pulled {
    /// Entries that existed here before the pull.
    known: KnownItems,
    /// Marks of listed entries on the server.
    marks: BTreeMap<ItemId, Marks>,
    /// Known entries that the server no longer has.
    gone: BTreeSet<ItemId>,
}

impl Pulled {
    /// Returns the marks of all known entries on the server. Entries that were not listed have the marks on which both sides last
    /// agreed.
    fn server_marks(&self) -> ServerMarks {
        let mut marks = ServerMarks::default();
        for (id, known) in self.known.marks.iter().filter(|(id, _)| !self.gone.contains(*id)) {
            let there = self.marks.get(id).copied().unwrap_or(known.agreed);
            if !there.is_read {
                marks.unread.insert(id.clone());
            }
            if there.is_starred {
                marks.starred.insert(id.clone());
            }
        }
        marks
    }
}

impl Session<'_> {
    /// Pulls new entries, merges marks, and sends the marks that were changed here.
    pub(super) fn sync_by_changes(&mut self) -> Result<(), SyncFailure> {
        if self.is_asked {
            self.state.changes.stamp = None;
        }
        if self.whole {
            self.state.changes.ignored.clear();
        }
        let mut pulled = Pulled { known: self.known()?, ..Pulled::default() };
        let stamp = self.pull_changes(&mut pulled)?;
        self.apply(&pulled.known, &pulled.server_marks(), &pulled.gone)?;
        // The pulled entries are written. If the rest fails, the next sync need not pull them again.
        (self.state.changes.stamp, self.state.changes.pass) = (stamp, None);
        let mut pulled = Pulled { known: self.known()?, ..Pulled::default() };
        self.correct(&mut pulled)?;
        let marks = pulled.server_marks();
        self.apply(&pulled.known, &marks, &pulled.gone)?;
        self.send(&marks)
    }

    /// Pulls the entries that were added or marked since the last sync, or all of them. Returns the time of the pull by the
    /// server's clock, in Unix seconds.
    fn pull_changes(&mut self, pulled: &mut Pulled) -> Result<Option<i64>, SyncFailure> {
        let changed_after = self.state.changes.changed_after(None);
        let mut listing = Listing::default();
        if changed_after.is_some() {
            let wanted = EntriesWanted { changed_after, ..EntriesWanted::default() };
            let is_more = self.take_page(&wanted, &mut listing, pulled)?;
            let now = self.server.miniflux.clock;
            if self.state.changes.changed_after(now).is_some() {
                if is_more {
                    self.list(&wanted, &mut listing, pulled)?;
                }
                return Ok(now.or(self.state.changes.stamp));
            }
        }
        self.pull_all(pulled)
    }

    /// Pulls all entries. If an earlier pull was interrupted, continues after its last page.
    fn pull_all(&mut self, pulled: &mut Pulled) -> Result<Option<i64>, SyncFailure> {
        let begun = self.state.changes.pass.filter(|pass| pass.before > 0);
        let mut listing = Listing { before: begun.map(|pass| pass.before), ..Listing::default() };
        let mut stamp = begun.map(|pass| pass.stamp);
        loop {
            let is_more = self.take_page(&EntriesWanted::default(), &mut listing, pulled)?;
            stamp = stamp.or(self.server.miniflux.clock);
            if !is_more {
                break;
            }
            // These entries are written. If this process dies, the next sync continues below them.
            let pass = listing.before.map(|before| Pass { stamp: stamp.unwrap_or(0), before });
            self.state.changes.pass = pass;
            self.keep_changes()?;
        }
        if begun.is_some() {
            // Also pull what was added or marked since the interrupted listing began.
            let changed = ChangeState { stamp, ..ChangeState::default() };
            let changed_after = changed.changed_after(None);
            let wanted = EntriesWanted { changed_after, ..EntriesWanted::default() };
            self.list(&wanted, &mut Listing::default(), pulled)?;
        } else {
            check_emptied(pulled.marks.is_empty(), &pulled.known)?;
            let known = pulled.known.marks.keys();
            let gone = known.filter(|id| !pulled.marks.contains_key(*id)).cloned();
            pulled.gone = gone.collect();
        }
        Ok(stamp)
    }

    /// Stores the progress of the listing of all entries.
    fn keep_changes(&self) -> Result<(), SyncFailure> {
        let (name, changes) = (self.name.clone(), self.state.changes.clone());
        Ok(self.handle.look(move |store| {
            store.change_account_state(&name, |state| {
                state.changes = changes;
                Some(())
            })
        })?)
    }

    /// Pulls the remaining pages of a list.
    fn list(
        &mut self,
        wanted: &EntriesWanted,
        listing: &mut Listing,
        pulled: &mut Pulled,
    ) -> Result<(), SyncFailure> {
        while self.take_page(wanted, listing, pulled)? {}
        Ok(())
    }

    /// Requests a page, writes the entries that are new here, and notes the marks of the other ones. Returns whether another page
    /// follows.
    fn take_page(
        &mut self,
        wanted: &EntriesWanted,
        listing: &mut Listing,
        pulled: &mut Pulled,
    ) -> Result<bool, SyncFailure> {
        check_cancelled(self.handle)?;
        let what =
            if wanted.changed_after.is_some() { "fetching changes" } else { "fetching entries" };
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        (self.progress)(what, count(listing.done), count(listing.total.unwrap_or(0)));
        let wanted = EntriesWanted { before: listing.before, ..wanted.clone() };
        let (page, skipped) = self.server.entries(&wanted)?;
        let is_more = self.server.connection.read(listing.add(&page, skipped))?;
        self.take(page, pulled)?;
        Ok(is_more)
    }

    fn take(&mut self, page: EntriesPage, pulled: &mut Pulled) -> Result<(), SyncFailure> {
        let is_unknown = |stream: &String| {
            !self.streams.contains_key(stream) && !self.state.changes.ignored.contains(stream)
        };
        if page.items.iter().any(|it| is_unknown(&it.item.stream)) {
            self.find_feeds(page.items.iter().map(|it| &it.item.stream))?;
        }
        let mut syncs: BTreeMap<FeedKey, FeedSync> = BTreeMap::new();
        for it in page.items {
            let Some(&feed) = self.streams.get(&it.item.stream) else { continue };
            let id = it.item.id;
            pulled.marks.insert(id.clone(), it.marks);
            let sync = syncs.entry(feed).or_insert_with(|| FeedSync::new(feed, self.at));
            if !pulled.known.marks.contains_key(&id) {
                sync.marks.insert(id.clone(), it.marks);
            }
            sync.arrived.push((id, it.item.entry));
        }
        self.write(syncs.into_values().collect())
    }

    /// Compares subscriptions, because one of these streams may belong to a feed that was added on the server. Streams that have
    /// no feed here afterwards are ignored.
    fn find_feeds<'i>(
        &mut self,
        streams: impl Iterator<Item = &'i String>,
    ) -> Result<(), SyncFailure> {
        if !self.whole {
            self.whole = true;
            reconcile::compare_feeds(self)?;
        }
        let unknown = streams.filter(|stream| !self.streams.contains_key(*stream));
        let ignored = &mut self.state.changes.ignored;
        ignored.extend(unknown.cloned());
        while ignored.len() > IGNORED_MAX {
            ignored.pop_first();
        }
        Ok(())
    }

    /// Compares the server's number of entries in each feed, and of starred entries, with the numbers here. Lists the feeds that
    /// differ.
    fn correct(&mut self, pulled: &mut Pulled) -> Result<(), SyncFailure> {
        let there = self.server.counters()?;
        let streams: BTreeSet<String> = self.streams.keys().cloned().collect();
        let is_new = |stream: &&String| {
            !streams.contains(*stream) && !self.state.changes.ignored.contains(*stream)
        };
        let new: Vec<String> = there.keys().filter(is_new).cloned().collect();
        let here = self.count(pulled);
        let differing = self.state.changes.to_list(&streams, &there, &here);
        let has_vanished = differing.iter().any(|stream| !there.contains_key(stream));
        if !new.is_empty() || has_vanished {
            self.find_feeds(new.iter())?;
        }
        for stream in differing.iter().chain(&new) {
            let Some(feed) = self.streams.contains_key(stream).then(|| feed_of(stream)).flatten()
            else {
                continue;
            };
            let wanted = EntriesWanted { feed: Some(feed), ..EntriesWanted::default() };
            let before = std::mem::take(&mut pulled.marks);
            self.list(&wanted, &mut Listing::default(), pulled)?;
            let feed = self.streams.get(stream);
            let of_feed = pulled.known.feeds.iter().filter(|(_, its)| Some(*its) == feed);
            let gone = of_feed.map(|(id, _)| id).filter(|id| !pulled.marks.contains_key(*id));
            pulled.gone.extend(gone.cloned());
            let listed = std::mem::replace(&mut pulled.marks, before);
            pulled.marks.extend(listed);
        }
        if !differing.is_empty() || !new.is_empty() {
            pulled.known = self.known()?;
            let here = self.count(pulled);
            for stream in differing.iter().chain(&new) {
                self.state.changes.listed(stream, &there, &here);
            }
        }
        self.correct_stars(pulled)
    }

    fn count(&self, pulled: &Pulled) -> Counts {
        let streams: BTreeMap<FeedKey, &String> =
            self.streams.iter().map(|(stream, feed)| (*feed, stream)).collect();
        let (marks, mut counts) = (pulled.server_marks(), Counts::new());
        for (id, feed) in pulled.known.feeds.iter().filter(|(id, _)| !pulled.gone.contains(*id)) {
            let Some(stream) = streams.get(feed) else { continue };
            counts.entry((*stream).clone()).or_default().count(marks.of(id).is_read);
        }
        counts
    }

    fn correct_stars(&mut self, pulled: &mut Pulled) -> Result<(), SyncFailure> {
        let there = i64::try_from(self.server.count_starred()?).unwrap_or(i64::MAX);
        let missing = |pulled: &Pulled| {
            let here = i64::try_from(pulled.server_marks().starred.len()).unwrap_or(i64::MAX);
            there.saturating_sub(here)
        };
        if missing(pulled) == self.state.changes.odd_stars {
            return Ok(());
        }
        let mut marks = std::mem::take(&mut pulled.marks);
        let wanted = EntriesWanted { starred: true, ..EntriesWanted::default() };
        self.list(&wanted, &mut Listing::default(), pulled)?;
        for (id, known) in &pulled.known.marks {
            let there = marks.get(id).copied().unwrap_or(known.agreed);
            if there.is_starred && !pulled.marks.contains_key(id) {
                marks.insert(id.clone(), Marks { is_starred: false, ..there });
            }
        }
        marks.append(&mut pulled.marks);
        (pulled.marks, pulled.known) = (marks, self.known()?);
        self.state.changes.odd_stars = missing(pulled);
        Ok(())
    }

    /// Returns the marks on the server after these changes were sent, and the known entries that the server no longer has. The
    /// server's counts show whether it made the changes.
    pub(super) fn marks_after(
        &mut self,
        before: &ServerMarks,
        changes: &BTreeMap<MarkAction, Vec<ItemId>>,
    ) -> Result<(ServerMarks, BTreeSet<ItemId>), SyncFailure> {
        let mut pulled = Pulled { known: self.known()?, ..Pulled::default() };
        let ids = pulled.known.marks.keys();
        pulled.marks = ids.map(|id| (id.clone(), before.of(id))).collect();
        for (action, ids) in changes {
            for id in ids {
                let marks = pulled.marks.entry(id.clone()).or_default();
                match action {
                    MarkAction::Read => marks.is_read = true,
                    MarkAction::Unread => marks.is_read = false,
                    MarkAction::Star => marks.is_starred = true,
                    MarkAction::Unstar => marks.is_starred = false,
                }
            }
        }
        self.correct(&mut pulled)?;
        Ok((pulled.server_marks(), pulled.gone))
    }
}

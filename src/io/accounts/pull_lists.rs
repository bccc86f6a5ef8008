//! Pulls from a server that returns entries and their marks as lists of ids: all entries, the unread ones, and the starred ones.
//!
//! Labels are merged only when everything is compared or when a label was changed here, because the server needs a request for
//! each label.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::accounts::ItemId;
use backissue_core::accounts::answers::GatheredIds;
use backissue_core::accounts::greader::{READING_LIST, STARRED, label_stream};
use backissue_core::accounts::marks::{AgreedLabel, KnownLabel, KnownMarks, ServerMarks};
use backissue_core::feed::identity::identity_hash;
use backissue_core::history::{EntryKey, FeedKey};

use super::reconcile;
use super::server::SyncFailure;
use super::session::{KnownItems, Session, check_cancelled, check_emptied};
use crate::engine::entries::account_state::FeedSync;
use crate::engine::entries::entry_filters::FILTERS_MAX;
use crate::engine::request::Request;
use crate::io::store::FeedLabels;

impl Session<'_> {
    /// Pulls new entries, merges marks, and sends the marks that were changed here.
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
            // The lists do not show which entries were edited by their publishers, so fetch the newest known entries again.
            let newest = listed.ids.iter().filter(|id| known.marks.contains_key(*id));
            let newest: Vec<ItemId> =
                newest.take(self.server.entries_a_request()).cloned().collect();
            self.fetch(&newest, &marks)?;
        }
        let gone = self.find_gone(&known, &marks, self.whole.then_some(&listed))?;
        self.apply(&known, &marks, &gone)?;
        self.send(&marks)?;
        sync_labels(self)?;
        self.state.unread_start = Some(start);
        Ok(())
    }

    /// Ends a sync in which nothing is new or has to be sent and the first of several pages of unread entries is unchanged. The
    /// other pages are compared only when everything is, so that such a sync takes few requests even if very many entries are
    /// unread.
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
        sync_labels(self)?;
        // If a starred entry does not exist here, have the next sync read all lists.
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

    /// Fetches entries and writes each batch.
    fn fetch(&mut self, new: &[ItemId], marks: &ServerMarks) -> Result<(), SyncFailure> {
        let mut done = 0;
        for batch in new.chunks(self.server.entries_a_request()) {
            check_cancelled(self.handle)?;
            (self.progress)("fetching entries", done, new.len());
            let items = self.server.items(batch)?;
            let is_unknown = |stream: &String| !self.streams.contains_key(stream);
            if !self.whole && items.iter().any(|item| is_unknown(&item.stream)) {
                // A feed was added on the server.
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

type Ids = BTreeSet<ItemId>;
type List = (fn(&AgreedLabel) -> &Ids, fn(&mut AgreedLabel) -> &mut Ids);
/// The sets of entries in a label, each with functions to read and to change it.
const LISTS: [List; 3] = [
    (|label| &label.entries, |label| &mut label.entries),
    (|label| &label.sent, |label| &mut label.sent),
    (|label| &label.held, |label| &mut label.held),
];

/// The labels of the whole account.
#[derive(Debug, Default)]
struct AccountLabels {
    entries: BTreeMap<ItemId, EntryKey>,
    labels: BTreeMap<String, KnownLabel>,
}

impl AccountLabels {
    fn add(&mut self, feed: FeedLabels) {
        self.entries.extend(feed.entries);
        for (name, label) in feed.labels {
            let all = self.labels.entry(name).or_default();
            all.local.extend(label.local);
            all.agreed.entries.extend(label.agreed.entries);
            all.agreed.sent.extend(label.agreed.sent);
            all.agreed.held.extend(label.agreed.held);
        }
    }

    fn keys<'i>(&self, ids: impl IntoIterator<Item = &'i ItemId>) -> Vec<EntryKey> {
        ids.into_iter().filter_map(|id| self.entries.get(id).copied()).collect()
    }
}

/// Merges the labels of both sides, and sends those that were changed here.
pub(super) fn sync_labels(session: &mut Session<'_>) -> Result<(), SyncFailure> {
    if !session.server.has_labels() {
        return Ok(());
    }
    let mine = read(session)?;
    let held = mine.labels.values().map(|label| label.agreed.held.len());
    session.line.held_marks = held.fold(session.line.held_marks, usize::saturating_add);
    let is_wanted =
        |known: Option<&KnownLabel>| session.whole || known.is_some_and(KnownLabel::is_changed);
    if !session.whole && !mine.labels.values().any(KnownLabel::is_changed) {
        return Ok(());
    }
    let there = session.server.tags()?;
    let names: BTreeSet<&String> = there.labels.iter().chain(mine.labels.keys()).collect();
    let names = names.into_iter().filter(|name| !there.folders.contains(*name));
    let names: Vec<&String> = names.filter(|name| is_wanted(mine.labels.get(*name))).collect();
    for (done, name) in names.iter().take(FILTERS_MAX).enumerate() {
        check_cancelled(session.handle)?;
        (session.progress)("comparing labels", done, names.len());
        let is_there = there.labels.contains(*name);
        sync_label(session, &mine, name, is_there)?;
    }
    Ok(())
}

fn sync_label(
    session: &mut Session<'_>,
    mine: &AccountLabels,
    name: &str,
    is_there: bool,
) -> Result<(), SyncFailure> {
    let known = mine.labels.get(name).cloned().unwrap_or_default();
    // Do not list a label that the server does not have, because some servers return all entries for it.
    let remote = if is_there { list(session, name)? } else { BTreeSet::new() };
    let mut merged = known.merged(&remote, |id| mine.entries.contains_key(id));
    let arrived: Vec<&ItemId> = merged.local.difference(&known.local).collect();
    let removed: Vec<&ItemId> = known.local.difference(&merged.local).collect();
    if !arrived.is_empty() || !removed.is_empty() {
        for (set, ids) in [(true, &arrived), (false, &removed)] {
            change_here(session, name, mine.keys(ids.iter().copied()), set)?;
        }
        let now = read(session)?.labels.remove(name).unwrap_or_default().local;
        // An entry that could not be labelled here, for instance because there are too many labels, must not lose its label on
        // the server.
        let missing: Vec<ItemId> =
            arrived.into_iter().filter(|id| !now.contains(*id)).cloned().collect();
        for id in missing {
            merged.agreed.entries.remove(&id);
            merged.local.remove(&id);
        }
    }
    let changes = merged.to_send();
    let all: BTreeSet<ItemId> = changes.iter().flat_map(|(_, ids)| ids).cloned().collect();
    merged.agreed.sent.clone_from(&all);
    // Write this before sending: if this process dies, the next sync knows that the server may have the change.
    agree(session, mine, name, &known.agreed, &merged.agreed)?;
    if all.is_empty() {
        return Ok(());
    }
    for (set, ids) in &changes {
        for batch in ids.chunks(session.server.marks_a_request()) {
            check_cancelled(session.handle)?;
            session.server.label(name, *set, batch)?;
            session.line.sent = session.line.sent.saturating_add(count(batch.len()));
        }
    }
    let is_there = session.server.tags()?.labels.contains(name);
    let remote = if is_there { list(session, name)? } else { BTreeSet::new() };
    let checked = merged.merged(&remote, |id| mine.entries.contains_key(id));
    let untaken =
        checked.to_send().iter().flat_map(|(_, ids)| ids).filter(|id| all.contains(*id)).count();
    session.line.untaken = session.line.untaken.saturating_add(count(untaken));
    // Changes that arrived in the meantime are left for the next sync.
    let mut agreed = AgreedLabel { sent: BTreeSet::new(), ..merged.agreed.clone() };
    for id in all.difference(&checked.to_send().into_iter().flat_map(|(_, ids)| ids).collect()) {
        if remote.contains(id) {
            agreed.entries.insert(id.clone());
        } else {
            agreed.entries.remove(id);
        }
    }
    agree(session, mine, name, &merged.agreed, &agreed)
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn list(session: &mut Session<'_>, name: &str) -> Result<BTreeSet<ItemId>, SyncFailure> {
    let listed = session.server.ids(&label_stream(name), false, None)?;
    Ok(listed.ids.into_iter().collect())
}

fn read(session: &Session<'_>) -> Result<AccountLabels, SyncFailure> {
    let feeds: Vec<FeedKey> = session.streams.values().copied().collect();
    Ok(session.handle.look(move |store| {
        let mut labels = AccountLabels::default();
        for feed in feeds {
            labels.add(store.synced_labels(feed)?);
        }
        Ok(labels)
    })?)
}

fn change_here(
    session: &mut Session<'_>,
    name: &str,
    keys: Vec<EntryKey>,
    set: bool,
) -> Result<(), SyncFailure> {
    if keys.is_empty() {
        return Ok(());
    }
    session.line.marked = session.line.marked.saturating_add(count(keys.len()));
    let request = Request::SyncLabel { name: name.to_owned(), keys, set };
    session.ask(request)?;
    Ok(session.handle.wait_until_durable()?)
}

/// Writes the state on which both sides now agree, for the feeds for which it changed.
fn agree(
    session: &mut Session<'_>,
    mine: &AccountLabels,
    name: &str,
    before: &AgreedLabel,
    now: &AgreedLabel,
) -> Result<(), SyncFailure> {
    if before == now {
        return Ok(());
    }
    let mut feeds: BTreeMap<FeedKey, AgreedLabel> = BTreeMap::new();
    let all = [before, now].into_iter();
    let all = all.flat_map(|it| it.entries.iter().chain(&it.sent).chain(&it.held));
    for key in mine.keys(all) {
        feeds.entry(key.feed).or_default();
    }
    for (ids, list) in LISTS {
        for id in ids(now) {
            if let Some(label) = mine.entries.get(id).and_then(|key| feeds.get_mut(&key.feed)) {
                list(label).insert(id.clone());
            }
        }
    }
    let at = session.at;
    let syncs = feeds.into_iter().map(|(feed, label)| FeedSync {
        labels: BTreeMap::from([(name.to_owned(), label)]),
        ..FeedSync::new(feed, at)
    });
    session.write(syncs.collect())
}

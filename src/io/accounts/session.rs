//! The state of a sync, and its steps: merging the marks of both sides, sending the marks that were changed here, and checking
//! them.
//!
//! Everything that arrives is written in batches, so that the next sync continues after an interrupted one. New entries are found
//! by comparing ids, never by times. Marks are sent only if the server does not have them, because some servers toggle marks.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::account_file::{Account, AccountFile, ApiKind};
use super::server::{FailureKind, Server, SyncFailure};
use crate::engine::entries::account_state::FeedSync;
use crate::engine::entries::account_sync::feeds_of;
use crate::engine::request::Request;
use crate::io::answers::LoopEnded;
use crate::io::clock;
use crate::io::loop_handle::{ArrivalFault, LoopHandle};
use crate::io::store::{AccountState, StoreError, SyncLine};
use backissue_core::accounts::api_call::MarkAction;
use backissue_core::accounts::marks::{KnownMarks, ServerMarks};
use backissue_core::accounts::miniflux::ChangeState;
use backissue_core::accounts::{ItemId, Marks};
use backissue_core::history::FeedKey;

/// Time after which a sync compares everything again: subscriptions, all ids, and entries that the server did not return.
const WHOLE_AFTER: TimeDelta = TimeDelta::days(1);

/// Number of times that a server may reject a mark before the mark is no longer sent.
const TRIES_MAX: u8 = 3;

impl From<LoopEnded> for SyncFailure {
    fn from(ended: LoopEnded) -> Self {
        Self { text: ended.to_string(), kind: FailureKind::Cancelled }
    }
}

impl From<StoreError> for SyncFailure {
    fn from(error: StoreError) -> Self {
        if let StoreError::Ended(ended) = error {
            ended.into()
        } else {
            Self { text: error.to_string(), kind: FailureKind::Unwritten }
        }
    }
}

/// Options of a sync.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SyncWish {
    /// Whether to compare everything, as is otherwise done once a day.
    pub whole: bool,
}

/// Function that reports the progress of a sync: a description of the step, how many items are done, and the number of all items.
pub type Progress<'p> = dyn Fn(&str, usize, usize) + 'p;

/// Entries that exist on both sides: their feeds here, and their marks.
#[derive(Debug, Default)]
pub(super) struct KnownItems {
    pub(super) feeds: BTreeMap<ItemId, FeedKey>,
    pub(super) marks: BTreeMap<ItemId, KnownMarks>,
}

/// A sync in progress.
pub(super) struct Session<'s> {
    pub(super) handle: &'s LoopHandle,
    pub(super) file: &'s AccountFile,
    pub(super) server: Server,
    pub(super) name: String,
    pub(super) at: DateTime<Utc>,
    pub(super) state: AccountState,
    pub(super) line: SyncLine,
    pub(super) whole: bool,
    /// Whether the user requested that everything is compared.
    pub(super) is_asked: bool,
    pub(super) progress: &'s Progress<'s>,
    /// The feeds here, by stream.
    pub(super) streams: BTreeMap<String, FeedKey>,
}

impl<'s> Session<'s> {
    pub(super) fn begin(
        handle: &'s LoopHandle,
        file: &'s AccountFile,
        account: Account,
        wish: SyncWish,
        progress: &'s Progress<'s>,
    ) -> Result<Self, SyncFailure> {
        let name = account.name.clone();
        let sought = name.clone();
        let (http, runtime, offline, is_new) = handle.visit(move |host| {
            let runtime = tokio::runtime::Handle::current();
            let engine = host.engine();
            let (offline, is_new) = (engine.offline, feeds_of(engine, &sought).next().is_none());
            (host.http(), runtime, offline, is_new)
        })?;
        if offline {
            return Err(SyncFailure::other("backissue was started with --offline: no sync"));
        }
        let server = Server::new(http.map_err(SyncFailure::other)?, runtime, account)?;
        let waiting = handle.clone();
        let server = server.cancelled_by(move || waiting.is_cancelled());
        // Without space on the disk, fetch nothing, because it could not be written and would be fetched again each time.
        let states = handle.look(|store| {
            store.check_room_for_texts(0)?;
            store.account_states()
        })?;
        let mut state = states.get(&name).cloned().unwrap_or_default();
        if is_new {
            // The account has no feeds yet, so this state belongs to a removed account with the same name.
            state.changes = ChangeState::default();
        }
        let at = clock::now();
        let is_due =
            state.whole_at.is_none_or(|whole| at.signed_duration_since(whole) > WHOLE_AFTER);
        let is_wrong = state.whole_at.is_some_and(|whole| whole > at);
        let (line, streams) = (SyncLine::default(), BTreeMap::new());
        let whole = wish.whole || is_due || is_wrong || is_new;
        let is_asked = wish.whole;
        Ok(Self { handle, file, server, name, at, state, line, whole, is_asked, progress, streams })
    }

    /// Returns the entries that exist on both sides, with their current marks.
    pub(super) fn known(&self) -> Result<KnownItems, SyncFailure> {
        let feeds: Vec<FeedKey> = self.streams.values().copied().collect();
        Ok(self.handle.look(move |store| {
            let mut known = KnownItems::default();
            for feed in feeds {
                for (id, marks) in store.synced(feed)?.1 {
                    known.feeds.insert(id.clone(), feed);
                    known.marks.insert(id, marks);
                }
            }
            Ok(known)
        })?)
    }

    /// Merges the marks of the server into the local marks.
    pub(super) fn apply(
        &mut self,
        known: &KnownItems,
        marks: &ServerMarks,
        gone: &BTreeSet<ItemId>,
    ) -> Result<(), SyncFailure> {
        let mut syncs: BTreeMap<FeedKey, FeedSync> = BTreeMap::new();
        for (id, before) in &known.marks {
            let Some(&feed) = known.feeds.get(id) else { continue };
            let remote = marks.of(id);
            let is_gone = gone.contains(id);
            // A mark that was changed here in the meantime is merged when it is written.
            if !is_gone && before.merged(remote) == *before {
                continue;
            }
            let sync = syncs.entry(feed).or_insert_with(|| FeedSync::new(feed, self.at));
            if is_gone {
                sync.gone.insert(id.clone());
            } else {
                sync.marks.insert(id.clone(), remote);
            }
        }
        self.write(syncs.into_values().collect())
    }

    /// Sends the marks that were changed here, and checks that the server has them.
    pub(super) fn send(&mut self, marks: &ServerMarks) -> Result<(), SyncFailure> {
        let known = self.known()?;
        let held = known.marks.values().filter(|known| known.held != Marks::default());
        self.line.held_marks = held.count();
        let changes = marks.to_send(&known.marks);
        if changes.is_empty() {
            return Ok(());
        }
        let mut syncs: BTreeMap<FeedKey, FeedSync> = BTreeMap::new();
        for (action, ids) in &changes {
            for id in ids {
                let Some(&feed) = known.feeds.get(id) else { continue };
                let sync = syncs.entry(feed).or_insert_with(|| FeedSync::new(feed, self.at));
                let sent: &mut Marks = sync.sending.entry(id.clone()).or_default();
                match action {
                    MarkAction::Read | MarkAction::Unread => sent.is_read = true,
                    MarkAction::Star | MarkAction::Unstar => sent.is_starred = true,
                }
            }
        }
        // Write this before sending the marks: if this process dies, the next sync knows that the server may have them.
        self.write(syncs.into_values().collect())?;
        let all: usize = changes.values().map(Vec::len).sum();
        let (mut done, mut refused) = (0, None);
        'sending: for (action, ids) in &changes {
            for batch in ids.chunks(self.server.marks_a_request()) {
                check_cancelled(self.handle)?;
                (self.progress)("sending marks", done, all);
                match self.send_batch(*action, batch) {
                    Ok(taken) => done = done.saturating_add(taken),
                    Err(failure) => {
                        refused = Some(failure);
                        break 'sending;
                    }
                }
            }
        }
        self.line.sent = u32::try_from(done).unwrap_or(u32::MAX);
        if let Some(failure) = refused {
            return Err(failure);
        }
        let (marks, gone) = match self.server.kind() {
            ApiKind::GoogleReader => (self.listed_marks()?, BTreeSet::new()),
            ApiKind::Miniflux => self.marks_after(marks, &changes)?,
        };
        let sent: BTreeSet<&ItemId> = changes.values().flatten().collect();
        let mut known = self.known()?;
        known.marks.retain(|id, _| sent.contains(id));
        self.apply(&known, &marks, &gone)?;
        let known = self.known()?;
        let untaken = marks.to_send(&known.marks);
        let untaken: BTreeSet<&ItemId> =
            untaken.values().flatten().filter(|id| sent.contains(id)).collect();
        self.drop_refused(&known, &untaken)
    }

    /// Sends a mark for several entries. If the server rejects it for all of them together, sends it for each entry, except for
    /// entries for which it was rejected three times. Returns the number of accepted marks. Stops with an error if the server
    /// rejects the first three, because it may be broken.
    fn send_batch(&mut self, action: MarkAction, batch: &[ItemId]) -> Result<usize, SyncFailure> {
        let failure = match self.server.mark(action, batch) {
            Ok(()) => return Ok(batch.len()),
            Err(failure) if failure.kind != FailureKind::Other => return Err(failure),
            Err(failure) => failure,
        };
        if let [id] = batch {
            let tries = self.state.refused.entry(id.clone()).or_default();
            *tries = tries.saturating_add(1);
            return if *tries < TRIES_MAX { Err(failure) } else { Ok(0) };
        }
        let (mut taken, mut failed) = (0_usize, 0_u8);
        for id in batch {
            let tries = self.state.refused.entry(id.clone()).or_default();
            if *tries >= TRIES_MAX {
                continue;
            }
            match self.server.mark(action, std::slice::from_ref(id)) {
                Ok(()) => taken = taken.saturating_add(1),
                Err(failure) if failure.kind != FailureKind::Other => return Err(failure),
                Err(_) => {
                    *tries = tries.saturating_add(1);
                    failed = failed.saturating_add(1);
                }
            }
            if taken == 0 && failed >= TRIES_MAX {
                return Err(failure);
            }
        }
        if taken > 0 { Ok(taken) } else { Err(failure) }
    }

    /// Counts the marks that the server did not set. A mark that it rejected three times is no longer sent, because the entry was
    /// probably deleted there.
    fn drop_refused(
        &mut self,
        known: &KnownItems,
        untaken: &BTreeSet<&ItemId>,
    ) -> Result<(), SyncFailure> {
        let before = std::mem::take(&mut self.state.refused);
        let mut dropped: BTreeMap<FeedKey, FeedSync> = BTreeMap::new();
        for &id in untaken {
            let tries = before.get(id).copied().unwrap_or(0).saturating_add(1);
            if tries < TRIES_MAX {
                self.state.refused.insert(id.clone(), tries);
            } else if let Some(&feed) = known.feeds.get(id) {
                let sync = dropped.entry(feed).or_insert_with(|| FeedSync::new(feed, self.at));
                sync.gone.insert(id.clone());
                self.line.dropped = self.line.dropped.saturating_add(1);
            }
        }
        self.line.untaken = u32::try_from(self.state.refused.len()).unwrap_or(u32::MAX);
        self.write(dropped.into_values().collect())
    }

    /// Sends the engine a change that was made on the server, and waits until it is durable. Fails if the engine refuses the
    /// change or if it cannot be written: a change that is not durable here must neither count as synced nor be sent.
    pub(super) fn ask(&self, request: Request) -> Result<(), SyncFailure> {
        self.handle.arrive(request).map_err(|fault| match fault {
            ArrivalFault::Ended(ended) => ended.into(),
            ArrivalFault::Refused(why) => SyncFailure::other(why),
            ArrivalFault::Unwritten(text) => SyncFailure { text, kind: FailureKind::Unwritten },
        })
    }

    /// Writes what has arrived, and waits until it is durable.
    pub(super) fn write(&mut self, syncs: Vec<FeedSync>) -> Result<(), SyncFailure> {
        if syncs.is_empty() {
            return Ok(());
        }
        let before = self.handle.visit(|host| host.engine().synced)?;
        self.ask(Request::Sync(syncs))?;
        let after = self.handle.visit(|host| host.engine().synced)?;
        let new = after.new.saturating_sub(before.new);
        self.line.new = self.line.new.saturating_add(new);
        let edited = after.edited.saturating_sub(before.edited);
        self.line.edited = self.line.edited.saturating_add(edited);
        let marked = after.marked.saturating_sub(before.marked);
        self.line.marked = self.line.marked.saturating_add(marked);
        Ok(())
    }
}

/// Minimum number of entries of an account for which a server that lists no entries at all is considered faulty.
const EMPTIED_MIN: usize = 5;

/// Returns an error if the server lists no entries although many of its entries are stored here. Such a fault must not look like
/// a sync without changes.
pub(super) fn check_emptied(lists_none: bool, known: &KnownItems) -> Result<(), SyncFailure> {
    let known = known.marks.len();
    if !lists_none || known < EMPTIED_MIN {
        return Ok(());
    }
    Err(SyncFailure::other(format!(
        "the server lists no entries, although {known} of its entries are here: they stay as they are"
    )))
}

pub(super) fn check_cancelled(handle: &LoopHandle) -> Result<(), SyncFailure> {
    if handle.is_cut_short() { Err(SyncFailure::cancelled()) } else { Ok(()) }
}

//! The state of the engine: every subscription with its sums and its plan, what is under way, and what can be undone.
//!
//! Entries are not in it: they stay in the store and are read for whoever shows them.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use super::backfill::walk_stage::Backfill;
use super::change::PendingChange;
use super::change::undo_stack::{SavedStep, UndoStack};
use super::entries::filter_work::Filters;
use super::entries::full_text::FullText;
use super::entries::notification_queue::Notifications;
use super::event::{Event, NoticeOffer};
use super::feeds::addition::{Addition, Imported, TypedLogins};
use super::feeds::subscription::{SavedSubscription, Subscription};
use super::politeness::host_queue::HostQueue;
use super::politeness::reachability::Reachability;
use super::poll::learn_queue::Learning;
use super::poll::poll_results::PollRun;
use super::poll::poll_stage::Poll;
use super::saved_searches::SavedSearch;
use super::settings::Settings;
use super::store_work::JobId;
use backissue_core::history::{Counters, EntryKey, FeedKey};
use backissue_core::schedule::Timetable;

/// The loop comes back after this time at the latest: the wall clock may jump.
const WAKE_AFTER: TimeDelta = TimeDelta::seconds(30);

/// Writes, for the most part of documents, that wait for the store at most while requests are sent.
const WRITES_WAITING_MAX: usize = 48;

/// The state of the engine. Changed by [`super::update::update`] alone.
#[derive(Debug, Clone)]
pub struct Engine {
    /// What the reader configured.
    pub settings: Settings,
    /// The reader's time zone.
    pub zone: Tz,
    /// Spreads this installation's polls (SPEC A.7).
    pub salt: u64,
    /// This program lasts, and polls what falls due ([`Self::is_polling_by_itself`]); off for commands that do one thing.
    pub polls_by_itself: bool,
    /// Nothing is asked of the network.
    pub offline: bool,
    /// A person looks on, whom the desktop can tell of new entries.
    pub attended: bool,
    /// What is known of the network.
    pub reachability: Reachability,
    /// A feed whose server wants to be left alone, and which is polled all the same if the reader asks again.
    pub confirming: Option<FeedKey>,
    /// All subscriptions.
    pub feeds: BTreeMap<FeedKey, Subscription>,
    /// Subscriptions that were given up and can be had back.
    pub ended: BTreeMap<FeedKey, Subscription>,
    /// When which feed is due.
    pub timetable: Timetable<FeedKey>,
    /// Requests that wait for their host, and those under way.
    pub host_queue: HostQueue,
    /// Polls from queued to planned anew.
    pub polls: BTreeMap<FeedKey, Poll>,
    /// Walks through archives under way.
    pub backfills: BTreeMap<FeedKey, Backfill>,
    /// The polls since the engine was last at rest.
    pub poll_run: PollRun,
    /// Addresses being subscribed to.
    pub additions: BTreeMap<u32, Addition>,
    /// The logins that stood within addresses since the start.
    pub typed_logins: TypedLogins,
    /// What came of the last import.
    pub imported: Option<Imported>,
    /// What came back from damaged files of the store, until the reader has seen it.
    pub mended: Option<String>,
    /// The disk is full: polls by themselves wait until then, and it was told.
    pub room_awaited: Option<DateTime<Utc>>,
    /// Why records could not be written, if they could not.
    pub not_saved: Option<String>,
    /// The largest number that a subscription ever had: none is given twice.
    pub last_feed: u32,
    /// Records of subscriptions handed to the store and not yet durable.
    pub unsaved: u32,
    /// What is being learned.
    pub learning: Learning,
    /// Entries whose pages wait or are asked for, with what was kept of the pages before.
    pub pages: BTreeMap<EntryKey, Option<FullText>>,
    /// New entries that somebody is to be told of.
    pub notifications: Notifications,
    /// Searches that were saved, in the order they were saved.
    pub saved_searches: Vec<SavedSearch>,
    /// The reader's filters for entries.
    pub filters: Filters,
    /// What the reader can take back.
    pub undo: UndoStack,
    /// The day for which a backup was asked for last.
    pub(super) backup_day: Option<chrono::NaiveDate>,
    /// The identity given to work for the store last.
    pub(super) last_job: u64,
    /// Changes that are shown and being written.
    pub(super) pending: BTreeMap<JobId, PendingChange>,
    /// Writes under way whose end the store tells, and the feeds that they are about.
    pub(super) writes: BTreeMap<JobId, BTreeSet<FeedKey>>,
    /// What is to be told of feeds once nothing of them is being written.
    pub(super) untold: Vec<(FeedKey, Event)>,
    /// How many of them, from the first, wait for a write that was seen.
    pub(super) untold_looked_at: usize,
    /// What is to be told after this input.
    pub(super) events: Vec<Event>,
    /// What was told since somebody beside the program looked; `None`: nobody looks on.
    pub(super) copies: Option<Vec<Event>>,
}

impl Engine {
    /// An engine that nothing is subscribed to.
    pub(super) fn empty(settings: Settings, zone: Tz, salt: u64) -> Self {
        Self {
            settings,
            zone,
            salt,
            polls_by_itself: true,
            offline: false,
            attended: false,
            reachability: Reachability::default(),
            confirming: None,
            feeds: BTreeMap::new(),
            ended: BTreeMap::new(),
            timetable: Timetable::default(),
            host_queue: HostQueue::default(),
            polls: BTreeMap::new(),
            backfills: BTreeMap::new(),
            poll_run: PollRun::default(),
            additions: BTreeMap::new(),
            typed_logins: TypedLogins::default(),
            imported: None,
            mended: None,
            room_awaited: None,
            not_saved: None,
            last_feed: 0,
            unsaved: 0,
            learning: Learning::default(),
            pages: BTreeMap::new(),
            notifications: Notifications::default(),
            saved_searches: Vec::new(),
            filters: Filters::default(),
            undo: UndoStack::default(),
            backup_day: None,
            last_job: 0,
            pending: BTreeMap::new(),
            writes: BTreeMap::new(),
            untold: Vec::new(),
            untold_looked_at: 0,
            events: Vec::new(),
            copies: None,
        }
    }

    /// Keeps a copy of what is told, or stops that.
    pub fn copies_events(&mut self, copies: bool) {
        match (&self.copies, copies) {
            (None, true) => self.copies = Some(Vec::new()),
            (Some(_), false) => self.copies = None,
            (None, false) | (Some(_), true) => {}
        }
    }

    /// Takes the copies of what was told since the last time.
    pub fn copied_events(&mut self) -> Vec<Event> {
        self.copies.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// A number for a new subscription, that no other ever had.
    pub const fn new_feed_key(&mut self) -> FeedKey {
        self.last_feed = self.last_feed.saturating_add(1);
        FeedKey(self.last_feed)
    }

    /// Whether feeds are polled when they fall due: this program does that, and the reader wants it.
    pub const fn is_polling_by_itself(&self) -> bool {
        self.polls_by_itself && self.settings.poll.automatic && !self.offline
    }

    /// When the loop must come back although nothing happens: at a deadline, or when a queue opens.
    pub fn next_wake(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        let latest = now.checked_add_signed(WAKE_AFTER).unwrap_or(now);
        let due = self.is_polling_by_itself().then(|| self.timetable.next()).flatten();
        let due = due.map(|due| self.room_awaited.map_or(due, |until| due.max(until)));
        // A store that is behind wakes the loop itself.
        let may_start = !self.is_store_behind();
        let start = may_start.then(|| self.host_queue.next_start(&self.settings.network)).flatten();
        [due, start].into_iter().flatten().fold(latest, DateTime::min)
    }

    /// Whether so much waits to be written that nothing more is asked for.
    pub fn is_store_behind(&self) -> bool {
        self.writes.len() >= WRITES_WAITING_MAX
    }

    /// Unread entries over all feeds.
    pub fn unread(&self) -> u32 {
        self.feeds.values().fold(0, |sum, feed| sum.saturating_add(feed.counters.unread))
    }

    /// Starred entries over all feeds.
    pub fn starred(&self) -> u32 {
        self.feeds.values().fold(0, |sum, feed| sum.saturating_add(feed.counters.starred))
    }

    /// What the store counts of a feed from now on; also of one that was given up meanwhile, for it may come back.
    pub fn set_counters(&mut self, feed: FeedKey, counters: Counters) {
        let known = self.feeds.get_mut(&feed).or_else(|| self.ended.get_mut(&feed));
        if let Some(subscription) = known {
            subscription.counters = counters;
        }
    }

    /// The number of the next addition.
    pub fn next_addition(&self) -> u32 {
        self.additions.keys().next_back().map_or(1, |last| last.saturating_add(1))
    }

    /// Takes the filters and saved searches that the store has at the start.
    pub fn take_saved(
        &mut self,
        searches: Vec<SavedSearch>,
        filters: Vec<backissue_core::filters::EntryFilter>,
    ) {
        self.saved_searches = searches;
        self.filters = Filters::new(filters);
    }

    /// Takes what the store kept at the start to take changes back: the steps, and the subscriptions that were given up.
    pub fn take_undo(
        &mut self,
        steps: Vec<SavedStep>,
        ended: Vec<SavedSubscription>,
        now: DateTime<Utc>,
    ) {
        let last = ended.iter().map(|saved| saved.key.0).max().unwrap_or(0);
        self.last_feed = self.last_feed.max(last);
        self.ended.extend(ended.into_iter().map(|saved| (saved.key, Subscription::saved(saved))));
        self.undo.take_saved(steps, now);
    }

    /// Whether nothing is under way.
    pub fn is_at_rest(&self) -> bool {
        self.polls.is_empty()
            && self.backfills.is_empty()
            && self.unsaved == 0
            && self.learning.is_at_rest()
            && self.notifications.is_at_rest()
            && self.additions.values().all(|addition| addition.ended.is_some())
    }

    /// Tells whoever looks on.
    pub(crate) fn tell(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Tells whoever looks on of a feed, once what was written of it is durable; if it cannot be written, nothing is told.
    pub(crate) fn tell_when_durable(&mut self, feed: FeedKey, event: Event) {
        self.untold.push((feed, event));
    }

    /// Tells the reader something.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.tell(Event::info(text));
    }

    /// Tells the reader of a change that can be taken back.
    pub(crate) fn say_undoable(&mut self, text: impl Into<String>) {
        self.tell(Event::offering(text, NoticeOffer::Undo));
    }

    /// Tells the reader of a trouble.
    pub(crate) fn complain(&mut self, text: impl Into<String>) {
        self.tell(Event::trouble(text));
    }
}

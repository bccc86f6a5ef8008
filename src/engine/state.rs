//! The state of the engine: all subscriptions with their counters and plans, the work under way, and the undo stack.
//!
//! The state does not contain entries. Entries are in the store and are read when they are shown.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use backissue_core::history::{Counters, EntryKey, FeedKey, HistoryRecord};
use backissue_core::publish::is_language;
use backissue_core::schedule::Timetable;
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use super::backfill::walk_stage::Backfill;
use super::change::undo_stack::{SavedStep, UndoStack};
use super::change::value::{Origin, SavedSearch};
use super::change::{Change, PendingChange};
use super::downloads::record::{Download, Downloads};
use super::entries::account_state::{AccountStatus, FeedSynced, SyncProgress};
use super::entries::ahead_work::PicturesAhead;
use super::entries::entry_view::{EntryView, FeedOfEntry, FullText, LoadedEntry};
use super::entries::filter_work::Filters;
use super::entries::interest::Interest;
use super::entries::notification_queue::Notifications;
use super::entries::rows::{RareTerms, Scope};
use super::feeds::addition::{Addition, Imported, TypedLogins};
use super::feeds::subscription::{SavedSubscription, Subscription, unread_of};
use super::other_reader_marks::ElsewhereNoted;
use super::politeness::host_queue::{HostQueue, Reachability};
use super::poll::poll_log::PollRun;
use super::poll::poll_stage::{Learning, Poll};
use super::request::{Effect, Event, NoticeOffer};
use super::settings::Settings;
use super::store_work::{Job, JobId};

/// How far the clock may be ahead of a server's clock to be trusted.
const CLOCK_NEAR: TimeDelta = TimeDelta::days(2);
/// How long a process runs before it trusts its clock although no server agreed.
const CLOCK_PROVEN: TimeDelta = TimeDelta::days(1);

/// Number of pending store writes, mostly of documents, at which no more requests are sent.
const WRITES_WAITING_MAX: usize = 48;

/// The state of the engine. Only [`super::update::update`] changes it.
#[derive(Debug, Clone, Default)]
pub struct Engine {
    /// Settings from the configuration.
    pub settings: Settings,
    /// The user's time zone.
    pub zone: Tz,
    /// Number that spreads the polls of different installations (SPEC A.7).
    pub salt: u64,
    /// `true` if the process keeps running and polls due feeds ([`Self::is_polling_by_itself`]), `false` for a one-shot command.
    pub polls_by_itself: bool,
    /// `true` if backissue was started without use of the network.
    pub offline: bool,
    /// `true` if a user is present who can be notified of new entries.
    pub attended: bool,
    /// State of the network.
    pub reachability: Reachability,
    /// Feed whose server asked for a wait and whose poll the user must confirm. If the user repeats the request, the feed is polled
    /// anyway.
    pub confirming: Option<FeedKey>,
    /// All subscriptions.
    pub feeds: BTreeMap<FeedKey, Subscription>,
    /// Removed subscriptions that can be restored.
    pub ended: BTreeMap<FeedKey, Subscription>,
    /// Times at which the feeds are due.
    pub timetable: Timetable<FeedKey>,
    /// Requests that wait in the queues of their sites, and requests under way.
    pub host_queue: HostQueue,
    /// Polls that are queued or under way.
    pub polls: BTreeMap<FeedKey, Poll>,
    /// Walks through archives under way.
    pub backfills: BTreeMap<FeedKey, Backfill>,
    /// Counts and results of the polls since the engine was last idle.
    pub poll_run: PollRun,
    /// Subscriptions being added, by their number.
    pub additions: BTreeMap<u32, Addition>,
    /// Logins that were found in addresses since start-up.
    pub typed_logins: TypedLogins,
    /// Result of the last import.
    pub imported: Option<Imported>,
    /// Result of the last import of what another reader knew of entries.
    pub elsewhere: ElsewhereNoted,
    /// Number of times that the user polled everything, which also syncs accounts.
    pub syncs_asked: u32,
    /// Entries and marks that syncs brought since the program started. The counters in it are not used.
    pub synced: FeedSynced,
    /// The accounts on servers, as they were seen last.
    pub accounts: Vec<AccountStatus>,
    /// Feeds that devices ask to unsubscribe from, by device, until the user answers.
    pub held_removals: BTreeMap<String, Vec<FeedKey>>,
    /// How far the present sync is; `None` if none is under way, or if it does not take long.
    pub sync_progress: Option<SyncProgress>,
    /// Report on data recovered from damaged store files, until the user has seen it.
    pub mended: Option<String>,
    /// Time until which automatic polls pause because the disk is full; set after the user was notified.
    pub room_awaited: Option<DateTime<Utc>>,
    /// Error of the last failed write of records.
    pub not_saved: Option<String>,
    /// Number of failed writes since the program started, and the error of the last one.
    pub failed_writes: (u32, String),
    /// Largest number that a subscription ever had. Numbers are not reused.
    pub last_feed: u32,
    /// Number of pending writes of subscription records.
    pub unsaved: u32,
    /// Learning runs that are waiting or under way.
    pub learning: Learning,
    /// Entries whose pages are requested or wait to be requested, with the stored text from an earlier request.
    pub pages: BTreeMap<EntryKey, Option<FullText>>,
    /// Pictures that are sought or fetched ahead.
    pub pictures_ahead: PicturesAhead,
    /// New entries to notify the user about.
    pub notifications: Notifications,
    /// Saved searches, in the order in which the user saved them.
    pub saved_searches: Vec<SavedSearch>,
    /// The user's filters for entries.
    pub filters: Filters,
    /// Downloads of attached files.
    pub downloads: Downloads,
    /// Time at which unread entries were last compared with their limits; `None` to compare them at once.
    pub unread_checked: Option<DateTime<Utc>>,
    /// Number of entries that were unread for too long and ended in the last seven days.
    pub ended_this_week: u32,
    /// What the user read, by feed and day.
    pub interest: Interest,
    /// Changes that can be undone.
    pub undo: UndoStack,
    /// From when removed feeds and undo steps are deleted because of their age; at once if `None`.
    pub(super) forgets_from: Option<DateTime<Utc>>,
    /// Day of the last requested backup.
    pub(super) backup_day: Option<chrono::NaiveDate>,
    /// Id of the last store job.
    pub(super) last_job: u64,
    /// Changes that are shown but not durable yet, by the store job that writes them.
    pub(super) pending: BTreeMap<JobId, PendingChange>,
    /// Store jobs that are pending writes, with the feeds that each of them changes.
    pub(super) writes: BTreeMap<JobId, BTreeSet<FeedKey>>,
    /// The histories that pending store jobs write.
    pub(super) histories: BTreeMap<JobId, Arc<HistoryRecord>>,
    /// Events of feeds that are emitted when all writes of the feed have ended.
    pub(super) untold: Vec<(FeedKey, Event)>,
    /// Number of events at the beginning of `untold` that were already checked and must wait for a write.
    pub(super) untold_looked_at: usize,
    /// Events to emit when the current input has been applied.
    pub(super) events: Vec<Event>,
    /// Effects of the current input, in order.
    pub(super) effects: Vec<Effect>,
    /// Copies of the events since the last call of [`Self::copied_events`]; `None` if copies are not needed.
    pub(super) copies: Option<Vec<Event>>,
    /// Numbers over all feeds since the last input.
    pub(super) sums: Sums,
}

/// Numbers over all feeds. Each is counted when it is first needed after an input that may change it, because every frame shows them.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    unread: OnceCell<u64>,
    starred: OnceCell<u32>,
    pub(super) gaps: OnceCell<u32>,
    pub(super) problems: OnceCell<u32>,
}

impl Engine {
    /// Checks whether marks that are shown are not written yet.
    pub fn has_unwritten_marks(&self) -> bool {
        let mut changes = self.pending.values().flat_map(|pending| &pending.changes);
        changes.any(|change| matches!(change, Change::Mark(_)))
    }

    /// Creates the state of an engine without subscriptions.
    pub(super) fn empty(settings: Settings, zone: Tz, salt: u64) -> Self {
        Self { settings, zone, salt, polls_by_itself: true, ..Self::default() }
    }

    /// Starts or stops keeping copies of events.
    pub fn copies_events(&mut self, copies: bool) {
        match (&self.copies, copies) {
            (None, true) => self.copies = Some(Vec::new()),
            (Some(_), false) => self.copies = None,
            (None, false) | (Some(_), true) => {}
        }
    }

    /// Returns the copies of the events since the last call.
    pub fn copied_events(&mut self) -> Vec<Event> {
        self.copies.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns an unused number for a new subscription.
    pub const fn new_feed_key(&mut self) -> FeedKey {
        self.last_feed = self.last_feed.saturating_add(1);
        FeedKey(self.last_feed)
    }

    /// Checks whether feeds are polled automatically when they are due.
    pub const fn is_polling_by_itself(&self) -> bool {
        self.polls_by_itself && self.settings.poll.automatic && !self.offline
    }

    /// Checks whether too many writes are pending to start new requests.
    pub fn is_store_behind(&self) -> bool {
        self.writes.len() >= WRITES_WAITING_MAX
    }

    /// Returns the number of unread entries in the feeds that are not quiet, as the list of all unread entries has them.
    pub fn unread(&self) -> u64 {
        let feeds = self.feeds.values();
        let feeds = feeds.map(|it| (it.record.feed_settings.quiet, it.counters.unread));
        *self.sums.unread.get_or_init(|| unread_of(feeds, false))
    }

    /// Returns the feeds that are not quiet: those in the list of all unread entries.
    pub fn loud_feeds(&self) -> Scope {
        let loud = self.feeds.values().filter(|feed| !feed.record.feed_settings.quiet);
        let loud: Vec<FeedKey> = loud.map(|feed| feed.key).collect();
        if loud.len() == self.feeds.len() { Scope::Everything } else { Scope::Feeds(loud) }
    }

    /// Returns what is known of the feeds to order entries by how rarely these publish.
    pub fn rare_terms(&self) -> RareTerms {
        let feeds = self.feeds.values();
        let quiet = self.feeds.values().filter(|feed| feed.record.feed_settings.quiet);
        RareTerms {
            frequencies: feeds.map(|feed| (feed.key, feed.frequency())).collect(),
            quiet: quiet.map(|feed| feed.key).collect(),
        }
    }

    /// Returns what is known about the feed of an entry; nothing if it was unsubscribed for good.
    pub fn feed_of_entry(&self, feed: FeedKey) -> FeedOfEntry {
        let Some(Subscription { record, state, .. }) = self.feeds.get(&feed) else {
            return FeedOfEntry::default();
        };
        let language = state.stated.language.as_ref().map(|tag| tag.replace('_', "-"));
        FeedOfEntry {
            language: language.filter(|tag| is_language(tag)),
            ..FeedOfEntry::new(record.shown_title(), &record.url, record.feed_settings.full_text)
        }
    }

    /// Adds to an entry what is known about it elsewhere.
    pub fn view_of(&self, entry: LoadedEntry) -> EntryView {
        let downloaded = self.downloads.complete_files(entry.key);
        let feed = self.feed_of_entry(entry.key.feed);
        EntryView { feed, labels: self.filters.labels(&entry.ruled), downloaded, entry }
    }

    /// Returns the number of starred entries in all feeds.
    pub fn starred(&self) -> u32 {
        let starred = self.feeds.values().map(|feed| feed.counters.starred);
        *self.sums.starred.get_or_init(|| starred.fold(0, u32::saturating_add))
    }

    /// Sets the counters of a feed or of a removed feed, because a removed feed may be restored.
    pub fn set_counters(&mut self, feed: FeedKey, counters: Counters) {
        if let Some(subscription) = self.subscription_mut(feed) {
            subscription.counters = counters;
        }
    }

    /// Returns a subscription, or a removed one that may be restored.
    pub(super) fn subscription_mut(&mut self, feed: FeedKey) -> Option<&mut Subscription> {
        self.feeds.get_mut(&feed).or_else(|| self.ended.get_mut(&feed))
    }

    /// Returns the numbers of the entries that were added last to a feed; none if it is not subscribed to.
    pub(super) fn newest_of(&self, feed: FeedKey, count: u32) -> Range<u32> {
        let end = self.feeds.get(&feed).map_or(0, |feed| feed.counters.next_seq);
        end.saturating_sub(count)..end
    }

    /// Returns the number for the next subscription being added.
    pub fn next_addition(&self) -> u32 {
        self.additions.keys().next_back().map_or(1, |last| last.saturating_add(1))
    }

    /// Sets the filters and saved searches that were loaded from the store at start-up.
    pub fn take_saved(
        &mut self,
        searches: Vec<SavedSearch>,
        filters: Vec<backissue_core::filters::EntryFilter>,
    ) {
        self.saved_searches = searches;
        self.filters = Filters::new(filters);
    }

    /// Sets the downloads that were loaded from the store at start-up.
    pub fn take_downloads(&mut self, list: Vec<Download>) {
        self.downloads = Downloads::loaded(list);
    }

    /// Sets the undo steps and the removed subscriptions that were loaded from the store at start-up.
    pub fn take_undo(
        &mut self,
        steps: Vec<SavedStep>,
        ended: Vec<SavedSubscription>,
        now: DateTime<Utc>,
    ) {
        let last = ended.iter().map(|saved| saved.key.0).max().unwrap_or(0);
        self.last_feed = self.last_feed.max(last);
        self.ended.extend(ended.into_iter().map(|saved| (saved.key, Subscription::saved(saved))));
        self.undo.take_saved(steps);
        self.forgets_from = now.checked_add_signed(CLOCK_PROVEN);
        let dates: Vec<DateTime<Utc>> = self
            .feeds
            .values()
            .filter_map(|feed| feed.state.facts.cache.and_then(|cache| cache.date))
            .collect();
        for date in dates {
            self.compare_clock(date, now);
        }
    }

    /// Trusts the clock if a server's is near.
    pub(super) fn compare_clock(&mut self, server: DateTime<Utc>, now: DateTime<Utc>) {
        if now.signed_duration_since(server) < CLOCK_NEAR {
            self.forgets_from = None;
        }
    }

    /// Returns whether what is old may be deleted. A wrong clock would make everything old at once, so this must wait until a server
    /// answers whose clock is near, or until the process has run for a day.
    pub(super) fn may_forget(&self, now: DateTime<Utc>) -> bool {
        self.forgets_from.is_none_or(|from| from <= now)
    }

    /// Checks whether no poll, archive walk, write of subscriptions, learning run, notification, or addition is under way.
    pub fn is_at_rest(&self) -> bool {
        self.polls.is_empty()
            && self.backfills.is_empty()
            && self.unsaved == 0
            && self.learning.is_at_rest()
            && self.notifications.is_at_rest()
            && self.additions.values().all(|addition| addition.ended.is_some())
    }

    /// Adds an effect that the caller of [`super::update::update`] must carry out.
    pub(crate) fn carry_out(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Sends a job to the store.
    pub(crate) fn store(&mut self, job: Job) {
        self.carry_out(Effect::store(job));
    }

    /// Writes the state of a feed.
    pub(crate) fn save_state(&mut self, feed: FeedKey) {
        let state = self.feeds.get(&feed).map(|feed| feed.state.clone());
        self.effects.extend(state.map(|state| Effect::store(Job::SaveState(feed, state))));
    }

    /// Emits an event to the observers.
    pub(crate) fn tell(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Emits an event of a feed as soon as all pending writes of the feed are durable. If one of these writes fails, the event is
    /// dropped.
    pub(crate) fn tell_when_durable(&mut self, feed: FeedKey, event: Event) {
        self.untold.push((feed, event));
    }

    /// Shows a notice to the user.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.tell(Event::info(text));
    }

    /// Shows a notice about a change, which offers the user to undo the change.
    pub(crate) fn say_undoable(&mut self, text: impl Into<String>) {
        if self.undo.origin == Origin::Arrived {
            return self.say(text);
        }
        self.tell(Event::offering(text, NoticeOffer::Undo));
    }

    /// Shows a notice about a problem to the user.
    pub(crate) fn complain(&mut self, text: impl Into<String>) {
        self.tell(Event::trouble(text));
    }
}

/// Checks whether a poll, a request for a page or for a picture ahead, a walk through archives, learning, or a write is in progress
/// for any of these feeds. Ignores all other feeds and work that concerns no feed; for the whole engine, see
/// [`Engine::is_at_rest`].
pub fn is_under_way(engine: &Engine, feeds: &BTreeSet<FeedKey>) -> bool {
    is_polling(engine, feeds) || feeds.iter().any(|feed| engine.learning.is_under_way(*feed))
}

/// Like [`is_under_way`], but ignores learning, which waits until no poll is in progress.
pub fn is_polling(engine: &Engine, feeds: &BTreeSet<FeedKey>) -> bool {
    let asked =
        |feed: &FeedKey| engine.polls.contains_key(feed) || engine.backfills.contains_key(feed);
    let paged = engine.pages.keys().any(|key| feeds.contains(&key.feed));
    paged
        || engine.pictures_ahead.are_under_way(feeds)
        || feeds.iter().any(asked)
        || engine.writes.values().any(|written| !written.is_disjoint(feeds))
}

#[cfg(test)]
mod commands_under_way_tests {
    use crate::engine::change::MarkChange;
    use chrono::{DateTime, TimeDelta, Utc};

    use super::*;
    use crate::engine::feeds::subscription::{SavedSubscription, SubscriptionRecord};
    use crate::engine::poll::poll_request::{PollKind, PollRequest};
    use crate::engine::request::{Effect, Input, Request};
    use crate::engine::settings::Settings;
    use crate::engine::store_work::{Answer, Job, Stored};
    use crate::engine::update::update;
    use backissue_core::history::{Counters, EntryKey, Flag};
    use backissue_core::schedule::Pace;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const A: FeedKey = FeedKey(1);
    const B: FeedKey = FeedKey(2);

    fn engine() -> Engine {
        let saved = [A, B].map(|key| SavedSubscription {
            key,
            record: SubscriptionRecord {
                url: format!("https://{key}.example/feed"),
                ..SubscriptionRecord::default()
            },
            state: Box::default(),
            history: Arc::default(),
            counters: Counters::default(),
        });
        let mut settings = Settings::default();
        settings.poll.learn = false;
        let mut engine = Engine::new(settings, Tz::UTC, 0, saved.to_vec(), NOW);
        engine.polls_by_itself = false;
        engine
    }

    /// Returns whether work is in progress for feed A and for feed B.
    fn under_way(engine: &Engine) -> [bool; 2] {
        [A, B].map(|feed| is_under_way(engine, &BTreeSet::from([feed])))
    }

    /// Applies a request and returns the resulting jobs for the store.
    fn ask(engine: &mut Engine, request: Request) -> Vec<(Stored, Job)> {
        let output = update(engine, NOW + TimeDelta::hours(1), Input::Request(request));
        let work = output.effects.into_iter().filter_map(|effect| {
            let Effect::Store(work) = effect else { return None };
            let (subject, result) = (work.job.subject(), Ok(Answer::RecordsSaved));
            Some((Stored { id: work.id, subject, counters: Vec::new(), result }, work.job))
        });
        work.collect()
    }

    #[test]
    fn waiting_for_a_poll_ignores_other_feeds() {
        let mut engine = engine();
        assert_eq!(under_way(&engine), [false, false]);
        assert!(!is_under_way(&engine, &BTreeSet::new()));
        let feeds = Some(vec![A]);
        let polls = PollRequest { feeds, kind: PollKind::Forced, archives: true };
        ask(&mut engine, Request::Poll(polls));
        assert_eq!(under_way(&engine), [true, false]);
        assert!(is_under_way(&engine, &BTreeSet::from([A, B])));
        engine.polls.clear();
        assert_eq!(under_way(&engine), [false, false]);
    }

    #[test]
    fn settings_and_marks_are_pending_until_written_or_failed() {
        let mut engine = engine();
        let work = ask(&mut engine, Request::SetPace(B, Pace::More));
        assert_eq!(under_way(&engine), [false, true]);
        for (stored, job) in work {
            if matches!(job, Job::SaveRecords(_)) {
                update(&mut engine, NOW, Input::Stored(Box::new(stored)));
            }
        }
        assert_eq!(under_way(&engine), [false, false]);
        let keys = vec![EntryKey { feed: A, seq: 0 }];
        let work =
            ask(&mut engine, Request::Mark(MarkChange { keys, flag: Flag::Read, value: true }));
        assert_eq!(under_way(&engine), [true, false]);
        for (stored, _) in work {
            let stored = Stored { result: Err("the disk is full".into()), ..stored };
            update(&mut engine, NOW, Input::Stored(Box::new(stored)));
        }
        assert_eq!(under_way(&engine), [false, false]);
    }
}

//! Syncs accounts one by one while a reader or `watch` runs: at the start, at an interval, after marks were changed, and when the
//! user polls all feeds. Also describes syncs in words.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use backissue_core::accounts::subscriptions::named;
use backissue_core::feed::text::counted_words;
use chrono::{DateTime, Utc};
use tokio::sync::Semaphore;

use super::account_file::{Account, AccountFile, ApiKind};
use super::reconcile;
use super::server::{FailureKind, SyncFailure};
use super::session::{Progress, Session, SyncWish, check_cancelled};
use crate::engine::entries::account_state::{AccountStatus, SyncProgress, WaitingMarks};
use crate::engine::entries::account_sync;
use crate::engine::request::{Event, MarkedBy, MarksChanged, Request};
use crate::engine::state::Engine;
use crate::io::answers::LoopEnded;
use crate::io::clock;
use crate::io::loop_handle::LoopHandle;
use crate::io::store::SyncLine;

/// Pause after a change here, such as a mark, until it is sent. Changes in the meantime are sent with it.
const AFTER_MARKS: Duration = Duration::from_secs(5);
/// Maximum pause after failures.
const PAUSE_MAX: Duration = Duration::from_hours(8);
/// Interval between checks whether an account was added.
const LOOK_EVERY: Duration = Duration::from_mins(1);

/// A reason for a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trigger {
    /// Marks or subscriptions changed here.
    Changed,
    /// The user polled everything.
    Asked,
}

/// When an account is synced next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Schedule {
    /// Time of the next sync.
    next: Instant,
    /// Number of failed syncs in a row.
    failures: u32,
    /// Whether the user requested this sync, so that a failure is shown.
    is_asked: bool,
}

impl Schedule {
    /// Applies a trigger. After a failure, only a request of the user shortens the pause.
    fn pull_in(&mut self, trigger: Trigger, now: Instant) {
        match trigger {
            Trigger::Asked => (self.next, self.is_asked) = (now, true),
            Trigger::Changed if self.failures == 0 => self.next = self.next.min(now + AFTER_MARKS),
            Trigger::Changed => {}
        }
    }

    /// Computes the time of the next sync after one has ended. `every` is the usual interval.
    fn ended(&mut self, failure: Option<FailureKind>, now: Instant, every: Duration) {
        let Some(kind) = failure else {
            *self = Self { next: now + every, failures: 0, is_asked: false };
            return;
        };
        self.is_asked = false;
        self.failures = self.failures.saturating_add(1);
        let doubled = 1_u32.checked_shl(self.failures.saturating_sub(1).min(16)).unwrap_or(1);
        let usual = every.saturating_mul(doubled).min(PAUSE_MAX.max(every));
        let pause = if kind == FailureKind::Login {
            PAUSE_MAX.max(every)
        } else {
            usual.max(kind.pause().map_or(Duration::ZERO, asked_pause))
        };
        self.next = now + pause;
    }
}

/// Returns the pause that a server asked for, at most a day.
fn asked_pause(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into()).min(PAUSE_MAX * 3)
}

/// Returns how long a server is to be left alone because of its last answer, which may have reached an earlier process.
fn pause_left(newest: Option<&SyncLine>, now: DateTime<Utc>) -> Duration {
    let asked = newest.and_then(|line| Some((line.at, asked_pause(line.pause?))));
    let left = asked.and_then(|(at, pause)| pause.checked_sub((now - at).to_std().ok()?));
    left.unwrap_or_default()
}

/// Starts the thread that syncs accounts until the main loop ends. Without accounts, it only checks from time to time whether one
/// was added.
pub fn start(handle: LoopHandle) {
    let (sender, triggers) = channel();
    watch(&handle, sender);
    let run = move || {
        let mut schedules = BTreeMap::new();
        // Once the main loop has ended, this thread also ends.
        while run_once(&handle, &triggers, &mut schedules).is_ok() {}
    };
    // If the thread cannot be started, only commands sync accounts.
    std::thread::Builder::new().name("sync".into()).spawn(run).ok();
}

/// Sends a trigger for each change that should be sent to the server.
fn watch(handle: &LoopHandle, sender: Sender<Trigger>) {
    let mut asked = None;
    handle.watch(Box::new(move |engine: &Engine, events: &[Event]| {
        let before = asked.replace(engine.syncs_asked);
        let is_asked = before.is_some_and(|before| before != engine.syncs_asked);
        let is_change = |event: &Event| {
            matches!(
                event,
                Event::MarksChanged(MarksChanged {
                    by: MarkedBy::User | MarkedBy::Undo | MarkedBy::Filter,
                    ..
                }) | Event::FiltersChanged
                    | Event::SubscriptionAdded(_)
                    | Event::FeedListChanged
                    | Event::FeedSettingsChanged(_)
            )
        };
        let trigger = if is_asked {
            Some(Trigger::Asked)
        } else {
            events.iter().any(is_change).then_some(Trigger::Changed)
        };
        trigger.is_some_and(|trigger| sender.send(trigger).is_err())
    }));
}

/// Syncs the accounts that are due, then waits for a trigger or for the next time.
fn run_once(
    handle: &LoopHandle,
    triggers: &Receiver<Trigger>,
    schedules: &mut BTreeMap<String, Schedule>,
) -> Result<(), LoopEnded> {
    let (file, every, offline) = handle.visit(|host| {
        let engine = host.engine();
        let every = Duration::from_mins(engine.settings.sync.every_minutes.into());
        (AccountFile::of(&engine.settings), every, engine.offline)
    })?;
    // The commands that need the file report that it cannot be read.
    let accounts = file.as_ref().and_then(|file| file.read().ok()).unwrap_or_default();
    let now = clock::instant();
    if let Some(file) = &file {
        show_accounts(handle, file)?;
    }
    schedules.retain(|name, _| accounts.iter().any(|account| account.name == *name));
    for account in accounts.iter().filter(|_| !offline) {
        let schedule = schedules.entry(account.name.clone()).or_insert_with(|| {
            let known = handle.look(|store| store.account_states()).unwrap_or_default();
            let newest = known.get(&account.name).and_then(|state| state.log.last());
            let pause = pause_left(newest, clock::now());
            Schedule { next: now + pause, failures: u32::from(!pause.is_zero()), is_asked: false }
        });
        if schedule.next > now {
            continue;
        }
        let Some(file) = &file else { continue };
        if !file.has(&account.name) {
            // The account was removed while another one was synced.
            continue;
        }
        let one = handle.another();
        let synced = sync(&one, file, &account.name, SyncWish::default(), &|_, _, _| {});
        let failure = synced.err();
        let kind = failure.as_ref().map(|failure| failure.kind);
        let is_asked = schedule.is_asked;
        schedule.ended(kind, clock::instant(), every);
        show_accounts(handle, file)?;
        if let Some(SyncFailure { text, .. }) =
            failure.filter(|_| is_asked || schedule.failures == 1)
        {
            handle.visit(move |host| host.complain(text))?;
        }
    }
    let due = schedules.values().map(|schedule| schedule.next).min();
    let pause = due.map_or(LOOK_EVERY, |due| due.saturating_duration_since(clock::instant()));
    match triggers.recv_timeout(pause.min(LOOK_EVERY)) {
        Ok(trigger) => {
            let now = clock::instant();
            let later: Vec<Trigger> = triggers.try_iter().collect();
            for trigger in std::iter::once(trigger).chain(later) {
                for schedule in schedules.values_mut() {
                    schedule.pull_in(trigger, now);
                }
            }
            Ok(())
        }
        Err(RecvTimeoutError::Timeout) => Ok(()),
        Err(RecvTimeoutError::Disconnected) => Err(LoopEnded),
    }
}

/// Shows the accounts with their last syncs in the reader. Reads the file again, because accounts may have been added or removed
/// during a sync.
fn show_accounts(handle: &LoopHandle, file: &AccountFile) -> Result<(), LoopEnded> {
    // The commands that need the file report that it cannot be read. If it is missing, it is not known which accounts there are.
    let Some(accounts) = file.read().ok().filter(|_| file.is_there()) else { return Ok(()) };
    let known = handle.look(|store| store.account_states()).unwrap_or_default();
    let fails = |name: &str| {
        let newest = known.get(name).and_then(|state| state.log.last());
        newest.is_some_and(|line| line.failure.is_some())
    };
    let mut unsent = BTreeMap::new();
    for name in accounts.iter().map(|account| account.name.clone()).filter(|name| fails(name)) {
        let sought = name.clone();
        let feeds = handle.visit(move |host| {
            let feeds = account_sync::feeds_of(host.engine(), &sought);
            feeds.map(|feed| feed.key).collect::<Vec<_>>()
        })?;
        unsent.insert(name, handle.look(move |store| store.unsent_marks(&feeds)).unwrap_or(0));
    }
    let status = |account: &Account| {
        let state = known.get(&account.name);
        let newest = state.and_then(|state| state.log.last());
        AccountStatus {
            name: account.name.clone(),
            place: account.place(),
            last: newest.map(|line| (line.at, words(line))),
            failure: newest.and_then(|line| line.failure.clone()),
            waits: WaitingMarks {
                feeds: state.map(|state| state.held.clone()).unwrap_or_default(),
                marks: newest.map_or(0, |line| line.held_marks),
                unsent: unsent.get(&account.name).copied().unwrap_or(0),
            },
        }
    };
    let seen: Vec<AccountStatus> = accounts.iter().map(status).collect();
    handle.visit(move |host| {
        let has_lost = account_sync::lost_feeds(host.engine(), &seen).next().is_some();
        if has_lost || host.engine().accounts != seen {
            host.ask(Request::AccountsSeen(seen), false);
        }
    })
}

/// Allows one sync at a time.
static TURN: Semaphore = Semaphore::const_new(1);
/// Interval between checks whether another sync has ended.
const TURN_LOOK: Duration = Duration::from_millis(50);

/// Syncs an account and writes a line to its log, even if the sync fails.
pub fn sync(
    handle: &LoopHandle,
    file: &AccountFile,
    name: &str,
    wish: SyncWish,
    progress: &Progress<'_>,
) -> Result<SyncLine, SyncFailure> {
    // Only one sync runs at a time. A command waits for the sync of the reader and then runs its own.
    let _turn = loop {
        if let Ok(turn) = TURN.try_acquire() {
            break turn;
        }
        check_cancelled(handle)?;
        std::thread::sleep(TURN_LOOK);
    };
    let accounts = file.read().map_err(SyncFailure::other)?;
    let account = accounts.into_iter().find(|account| account.name == name);
    let account = account.ok_or_else(|| {
        SyncFailure::other(format!("there is no account '{name}': see 'backissue account list'"))
    })?;
    let shown = |what: &str, done: usize, all: usize| {
        progress(what, done, all);
        let (account, what) = (name.to_owned(), what.to_owned());
        let shown = (all > 0).then_some(SyncProgress { account, what, done, all });
        show_progress(handle, shown);
    };
    let mut session = Session::begin(handle, file, account, wish, &shown)?;
    let started = clock::instant();
    let result = run(&mut session);
    show_progress(handle, None);
    let usage = session.server.usage();
    let line = SyncLine {
        at: clock::now(),
        ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        requests: usage.requests,
        sent_bytes: usage.sent,
        received_bytes: usage.received,
        failure: result.as_ref().err().map(|failure| failure.text.clone()),
        pause: result.as_ref().err().and_then(|failure| failure.kind.pause()),
        ..session.line
    };
    if session.server.login_changed {
        let login = session.server.account().login.clone();
        file.keep_login(name, login.as_deref()).map_err(SyncFailure::other)?;
    }
    let line = SyncLine { held: session.state.held.len(), ..line };
    let (name, kept, skipped) = (name.to_owned(), line.clone(), session.state.skipped);
    let (whole_at, unread_start) = (session.state.whole_at, session.state.unread_start);
    let (changes, held) = (session.state.changes, session.state.held);
    let refused = session.state.refused;
    let noted = handle.look(move |store| {
        store.change_account_state(&name, |state| {
            state.log.push(kept);
            (state.skipped, state.whole_at) = (skipped, whole_at);
            (state.unread_start, state.changes) = (unread_start, changes);
            (state.held, state.refused) = (held, refused);
            Some(())
        })
    });
    result.and_then(|()| Ok(noted.map(|()| line)?))
}

/// Shows the progress of a sync in the reader.
fn show_progress(handle: &LoopHandle, progress: Option<SyncProgress>) {
    handle.do_later(move |host| {
        host.ask(Request::SyncProgress(progress), false);
    });
}

/// Pulls from the server and sends changes to it.
fn run(session: &mut Session<'_>) -> Result<(), SyncFailure> {
    let changed_here = reconcile::read_streams(session)?;
    if session.whole || changed_here {
        reconcile::compare_feeds(session)?;
    }
    match session.server.kind() {
        ApiKind::GoogleReader => session.sync_by_lists()?,
        ApiKind::Miniflux => session.sync_by_changes()?,
    }
    if session.whole {
        session.state.whole_at = Some(session.at);
    }
    Ok(())
}

/// Describes the results of a sync and what it transferred.
pub fn words(line: &SyncLine) -> String {
    let mut parts = Vec::new();
    if let Some(failure) = &line.failure {
        parts.push(format!("failed: {failure}"));
    }
    if line.new > 0 {
        parts.push(format!("{} new", line.new));
    }
    if line.edited > 0 {
        parts.push(format!("{} edited", line.edited));
    }
    if line.feeds > 0 {
        let changes = counted_words(line.feeds, "change", "changes");
        parts.push(format!("{changes} of subscriptions"));
    }
    if !line.unsubscribed.is_empty() {
        let names = named(line.unsubscribed.iter().map(String::as_str));
        parts.push(format!("unsubscribed from {names} ('backissue subscribe-again' restores)"));
    }
    if !line.kept.is_empty() {
        let names = named(line.kept.iter().map(String::as_str));
        parts.push(format!("no longer there, but yours, so kept and polled here: {names}"));
    }
    if line.held > 0 {
        let feeds = counted_words(line.held, "feed", "feeds");
        parts.push(format!(
            "{feeds} that you removed here stay there until you answer: 'backissue account sync --yes' removes them, '--no' restores them here"
        ));
    }
    if line.held_marks > 0 {
        let marks = counted_words(line.held_marks, "mark", "marks");
        parts.push(format!(
            "{marks} of the restored backup differ there and wait for your answer: 'backissue account sync --yes' sends them, '--no' takes the server's"
        ));
    }
    if line.marked > 0 {
        parts.push(format!("{} changed here", counted_words(line.marked, "mark", "marks")));
    }
    if line.sent > 0 {
        parts.push(format!("{} sent", counted_words(line.sent, "mark", "marks")));
    }
    if line.untaken > 0 {
        parts.push(format!("the server did not take {}; tried again next time", line.untaken));
    }
    if line.dropped > 0 {
        let marks = counted_words(line.dropped, "mark", "marks");
        parts.push(format!(
            "{marks} dropped: the server refused them three times, perhaps because it deleted the entries"
        ));
    }
    parts.extend(line.refused.iter().cloned());
    if parts.is_empty() {
        parts.push("nothing new".to_owned());
    }
    let requests = counted_words(line.requests, "request", "requests");
    let (kilobytes, seconds) = (line.received_bytes / 1000, line.ms / 1000);
    let tenths = line.ms % 1000 / 100;
    format!("{} ({requests}, {kilobytes} kB, {seconds}.{tenths} s)", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_followed_by_longer_pauses() {
        let (now, every) = (clock::instant(), Duration::from_mins(10));
        let fresh = Schedule { next: now, failures: 0, is_asked: false };
        let after = |kinds: &[Option<FailureKind>]| {
            let mut schedule = fresh;
            for kind in kinds {
                schedule.ended(*kind, now, every);
            }
            (schedule.next - now).as_secs() / 60
        };
        let other = Some(FailureKind::Other);
        assert_eq!(after(&[None]), 10);
        assert_eq!(after(&[other]), 10);
        assert_eq!(after(&[other, other, other]), 40);
        assert_eq!(after(&[other; 30]), 480);
        assert_eq!(after(&[other, other, None]), 10);
        assert_eq!(after(&[Some(FailureKind::Login)]), 480);
        assert_eq!(after(&[Some(FailureKind::Pause(Some(3_600)))]), 60);
        assert_eq!(after(&[Some(FailureKind::Pause(Some(u32::MAX)))]), 1_440);
    }

    #[test]
    fn a_pause_that_a_server_asked_for_outlives_the_process() {
        let at = DateTime::UNIX_EPOCH;
        let left = |pause, after| {
            let line = SyncLine { at, pause, ..SyncLine::default() };
            pause_left(Some(&line), at + chrono::TimeDelta::seconds(after)).as_secs()
        };
        assert_eq!((left(Some(3_600), 600), left(Some(3_600), 4_000)), (3_000, 0));
        assert_eq!((left(None, 0), left(Some(3_600), -5)), (0, 0), "the clock was set back");
        assert_eq!(left(Some(u32::MAX), 0), 86_400);
    }

    #[test]
    fn marks_do_not_shorten_the_pause_after_a_failure() {
        let (now, every) = (clock::instant(), Duration::from_mins(10));
        let mut schedule = Schedule { next: now + every, failures: 0, is_asked: false };
        schedule.pull_in(Trigger::Changed, now);
        assert_eq!(schedule.next, now + AFTER_MARKS);
        schedule.ended(Some(FailureKind::Other), now, every);
        schedule.pull_in(Trigger::Changed, now);
        assert_eq!(schedule.next, now + every);
        schedule.pull_in(Trigger::Asked, now);
        assert_eq!(schedule.next, now);
    }
}

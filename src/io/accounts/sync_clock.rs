//! Syncs accounts while a reader or `watch` runs: at the start, at an interval, after marks, and when the user polls everything.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::account_file::{Account, AccountFile};
use super::connection::{FailureKind, SyncFailure};
use super::session::SyncWish;
use super::sync_account::sync;
use super::sync_words::words;
use crate::engine::entries::account_state::{AccountStatus, WaitingMarks};
use crate::engine::entries::account_sync;
use crate::engine::event::Event;
use crate::engine::request::Request;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::loop_ended::LoopEnded;
use crate::io::loop_handle::LoopHandle;

/// Pause from the last of several marks to the sync that sends them.
const AFTER_MARKS: Duration = Duration::from_secs(5);
/// Longest pause after failures.
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
    /// `true` if the user asked for the sync and hears why it fails.
    is_asked: bool,
}

impl Schedule {
    /// Applies a reason for a sync. After a failure, only the user makes the pause shorter.
    fn pull_in(&mut self, trigger: Trigger, now: Instant) {
        match trigger {
            Trigger::Asked => (self.next, self.is_asked) = (now, true),
            Trigger::Changed if self.failures == 0 => self.next = self.next.min(now + AFTER_MARKS),
            Trigger::Changed => {}
        }
    }

    /// Notes the end of a sync. `every` is the usual interval.
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
        } else if let FailureKind::Pause(Some(seconds)) = kind {
            usual.max(Duration::from_secs(seconds.into()).min(PAUSE_MAX * 3))
        } else {
            usual
        };
        self.next = now + pause;
    }
}

/// Starts the thread that syncs accounts until the loop ends. Without accounts it only looks now and then whether there is one.
pub fn start(hand: LoopHandle) {
    let (sender, triggers) = channel();
    watch(&hand, sender);
    let run = move || {
        let mut schedules = BTreeMap::new();
        // The loop has ended, which ends this thread, too.
        while run_once(&hand, &triggers, &mut schedules).is_ok() {}
    };
    // Without this thread, accounts are synced by commands only.
    std::thread::Builder::new().name("sync".into()).spawn(run).ok();
}

/// Sends a trigger for each change that the server should know.
fn watch(hand: &LoopHandle, sender: Sender<Trigger>) {
    let mut asked = None;
    hand.watch(Box::new(move |engine: &Engine, events: &[Event]| {
        let before = asked.replace(engine.syncs_asked);
        let is_asked = before.is_some_and(|before| before != engine.syncs_asked);
        let is_change = |event: &Event| {
            matches!(
                event,
                Event::MarksChanged(_)
                    | Event::FiltersChanged
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

/// Syncs the accounts that are due, and waits for the next trigger or time.
fn run_once(
    hand: &LoopHandle,
    triggers: &Receiver<Trigger>,
    schedules: &mut BTreeMap<String, Schedule>,
) -> Result<(), LoopEnded> {
    let (file, every, offline) = hand.visit(|host| {
        let engine = host.engine();
        let every = Duration::from_mins(engine.settings.sync.every_minutes.into());
        (AccountFile::of(&engine.settings), every, engine.offline)
    })?;
    // An unreadable file is reported by the commands that need it.
    let accounts = file.as_ref().and_then(|file| file.read().ok()).unwrap_or_default();
    let now = clock::instant();
    if let Some(file) = &file {
        show_accounts(hand, file)?;
    }
    schedules.retain(|name, _| accounts.iter().any(|account| account.name == *name));
    for account in accounts.iter().filter(|_| !offline) {
        let schedule = schedules.entry(account.name.clone());
        let schedule = schedule.or_insert(Schedule { next: now, failures: 0, is_asked: false });
        if schedule.next > now {
            continue;
        }
        let Some(file) = &file else { continue };
        if !file.has(&account.name) {
            // It was removed while another account was synced.
            continue;
        }
        let one = hand.another();
        let synced = sync(&one, file, &account.name, SyncWish::default(), &|_, _, _| {});
        let failure = synced.err();
        let kind = failure.as_ref().map(|failure| failure.kind);
        let is_asked = schedule.is_asked;
        schedule.ended(kind, clock::instant(), every);
        show_accounts(hand, file)?;
        if let Some(SyncFailure { text, .. }) =
            failure.filter(|_| is_asked || schedule.failures == 1)
        {
            hand.visit(move |host| host.complain(text))?;
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

/// Lists the accounts in the reader, with their last syncs. The file is read again, because accounts can be added and removed during
/// a sync.
fn show_accounts(hand: &LoopHandle, file: &AccountFile) -> Result<(), LoopEnded> {
    // What cannot be read is reported by the commands that need it. Without a file, it is unknown which accounts there are.
    let Some(accounts) = file.read().ok().filter(|_| file.is_there()) else { return Ok(()) };
    let known = hand.look(|store| store.account_states()).unwrap_or_default();
    let fails = |name: &str| {
        let newest = known.get(name).and_then(|state| state.log.last());
        newest.is_some_and(|line| line.failure.is_some())
    };
    let mut unsent = BTreeMap::new();
    for name in accounts.iter().map(|account| account.name.clone()).filter(|name| fails(name)) {
        let sought = name.clone();
        let feeds = hand.visit(move |host| {
            let feeds = account_sync::feeds_of(host.engine(), &sought);
            feeds.map(|feed| feed.key).collect::<Vec<_>>()
        })?;
        unsent.insert(name, hand.look(move |store| store.unsent_marks(&feeds)).unwrap_or(0));
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
    hand.visit(move |host| {
        let has_lost = account_sync::lost_feeds(host.engine(), &seen).next().is_some();
        if has_lost || host.engine().accounts != seen {
            host.ask(Request::AccountsSeen(seen), false);
        }
    })
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

//! Problems of feeds: a sentence that describes each problem, and the remedies that the user can choose.

use std::fmt::Write as _;

use backissue_core::feed::text::counted_words;
use backissue_core::words::byte_words;
use backissue_core::{InputFlaw, flaw};
use chrono::{DateTime, Datelike, TimeDelta, Utc};

use super::addresses::subscribed_as;
use super::subscription::{Obstacle, ProposedFor, Subscription};
use super::{feed_moves, unsubscribe};
use crate::engine::change::undo_stack::Step;
use crate::engine::change::value::FeedParts;
use crate::engine::poll::classify_response::status_words;
use crate::engine::poll::manual_poll;
use crate::engine::poll::poll_request::names_another_session;
use crate::engine::request::{Event, TroubleAnswer};
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::engine::wording::sentence;
use backissue_core::history::{FeedKey, HistoryStatus};
use backissue_core::schedule::FeedStatus;

/// Time for which a move of a feed is listed as a problem.
const MOVE_TOLD: TimeDelta = TimeDelta::days(30);

/// What the user can do about a bot wall.
const PAST_WALLS: &str = "backissue does not try to get past that: ask the publisher to let feed readers in, or give the feed \
                          another address.";

/// Key that marks a concern about the store instead of a feed. No feed has this number.
pub const STORE: FeedKey = FeedKey(0);

/// A problem of a feed or of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concern {
    /// Feed with the problem; [`STORE`] for a problem of the store or of an account.
    pub feed: FeedKey,
    /// Name of the account with the problem, or of the device that asks for something.
    pub account: Option<String>,
    /// State of the feed in one or two words, as in `backissue feeds --json`: `moved`, `gone`, `failing`, ...
    pub state: &'static str,
    /// Description of the problem, as a sentence.
    pub sentence: String,
    /// Remedy that the user can apply.
    pub remedy: Remedy,
    /// Start of the problem. If the user dismissed it after this time, the problem is hidden.
    since: DateTime<Utc>,
}

/// A remedy that the user can apply at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Use the new address from now on.
    AcceptMove,
    /// Merge the feed with the subscription that already has the new address.
    Merge,
    /// Resume scheduled polls.
    Resume,
    /// Follow the redirect from https to http.
    AllowInsecure,
    /// Poll the feed again now.
    Retry,
    /// Return to the former address.
    UndoMove,
    /// Sync the account now.
    Sync,
    /// Answer what the account waits for.
    Answer,
    /// Answer what the device asks for.
    AnswerDevice,
    /// No remedy is possible; the user can only dismiss the problem.
    Know,
}

impl Remedy {
    /// Returns the label of the remedy.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AcceptMove => "accept the move",
            Self::Merge => "merge into the other feed",
            Self::Resume => "resume",
            Self::AllowInsecure => "allow http for this feed",
            Self::Retry => "retry now",
            Self::UndoMove => "undo the move",
            Self::Sync => "sync now",
            Self::Answer | Self::AnswerDevice => "answer",
            Self::Know => "noted",
        }
    }

    /// Returns the label of the action that dismisses the problem instead of applying the remedy.
    pub const fn noting(self) -> &'static str {
        if matches!(self, Self::AcceptMove | Self::Merge) {
            "stay"
        } else if matches!(self, Self::UndoMove) {
            "fine"
        } else {
            "noted"
        }
    }
}

/// Returns the symbol of a feed in the subscriptions: `†` ended, `!` needs the user's attention or has failed for long (six times
/// or seven days, SPEC D.2), `→` moved, `·` failed recently, `┄` gaps in its history, `…` paged, a blank if all is well.
pub fn mark(engine: &Engine, feed: &Subscription, now: DateTime<Utc>) -> &'static str {
    let long = feed.state.facts.failures >= 6
        || feed.state.failing_since.is_some_and(|since| now - since >= TimeDelta::days(7));
    match untold(engine, feed, now).map(|concern| concern.state) {
        _ if feed.is_gone() => "†",
        None if long => "!",
        None | Some("silent") => history_mark(engine, feed),
        Some("dead" | "finished") => "†",
        Some("moved") => "→",
        Some("failing" | "captive portal") if !long => "·",
        Some(_) => "!",
    }
}

/// Returns the symbol for the state of a feed's history: `┄` if it has gaps or archives remain to be fetched, `…` if the feed is
/// paged, or else a blank. A feed whose archives are being fetched gets no `┄` for the remaining archives.
fn history_mark(engine: &Engine, feed: &Subscription) -> &'static str {
    let record = &feed.history;
    let is_missing = record.gaps.values().any(|gap| gap.counts() && gap.is_shown());
    let rests = record.has_work() && !engine.backfills.contains_key(&feed.key);
    if is_missing || rests {
        "┄"
    } else if record.status() == HistoryStatus::Paged {
        "…"
    } else {
        " "
    }
}

/// Returns all problems that the user has not dismissed, in the order of their remedies: the problems that need a decision come
/// first.
pub fn concerns(engine: &Engine, now: DateTime<Utc>) -> Vec<Concern> {
    let mut list: Vec<Concern> =
        engine.feeds.values().filter_map(|feed| untold(engine, feed, now)).collect();
    list.sort_by_key(|concern| concern.remedy);
    list.extend(of_devices(engine, now).chain(of_accounts(engine, now)));
    list.extend(engine.mended.iter().map(|told| Concern {
        feed: STORE,
        account: None,
        state: "mended",
        sentence: told.clone(),
        remedy: Remedy::Know,
        since: now,
    }));
    list
}

/// Returns the number of problems that the user has not dismissed.
pub fn count(engine: &Engine, now: DateTime<Utc>) -> u32 {
    let in_trouble = engine.feeds.values().filter(|feed| untold(engine, feed, now).is_some());
    let stores = usize::from(engine.mended.is_some());
    let others = of_accounts(engine, now).chain(of_devices(engine, now)).count();
    let others = others.saturating_add(stores);
    let sum = || u32::try_from(in_trouble.count().saturating_add(others)).unwrap_or(u32::MAX);
    *engine.sums.problems.get_or_init(sum)
}

/// Returns what devices ask for.
fn of_devices(engine: &Engine, now: DateTime<Utc>) -> impl Iterator<Item = Concern> {
    engine.held_removals.keys().filter_map(move |device| {
        let what = unsubscribe::removals_held(engine, device)?;
        Some(Concern {
            feed: STORE,
            account: Some(device.clone()),
            state: "waits",
            sentence: format!("It asks to {what}."),
            remedy: Remedy::AnswerDevice,
            since: now,
        })
    })
}

/// Returns the problems of accounts: what waits for an answer, and syncs that failed.
fn of_accounts(engine: &Engine, now: DateTime<Utc>) -> impl Iterator<Item = Concern> {
    let concern = move |name: &str, state, sentence, remedy| Concern {
        feed: STORE,
        account: Some(name.to_owned()),
        state,
        sentence,
        remedy,
        since: now,
    };
    engine.accounts.iter().flat_map(move |account| {
        let waits = account.waits.words().map(|what| {
            let text = format!("It waits for your answer before it would {what}.");
            concern(&account.name, "waits", text, Remedy::Answer)
        });
        let fails = account.failure.as_ref().map(|why| {
            let at = account.last.as_ref().map(|(at, _)| at.with_timezone(&engine.zone));
            let at = at.map(|at| at.format(" on %-d %B, %H:%M").to_string()).unwrap_or_default();
            let text = format!(
                "The last sync failed{at}: {why}. If the login changed, ':account-add' takes another one."
            );
            concern(&account.name, "failing", text, Remedy::Sync)
        });
        waits.into_iter().chain(fails)
    })
}

fn untold(engine: &Engine, feed: &Subscription, now: DateTime<Utc>) -> Option<Concern> {
    if is_well(feed) {
        return None;
    }
    let concern = concern(engine, feed, now)?;
    feed.state.noted.is_none_or(|noted| noted < concern.since).then_some(concern)
}

/// Quickly checks that a feed has no problem, which is true for most feeds.
fn is_well(feed: &Subscription) -> bool {
    let state = &feed.state;
    matches!(state.facts.standing, FeedStatus::Active)
        && state.facts.failures == 0
        && state.proposed.is_none()
        && state.obstacle.is_none()
        && state.archive.is_none()
        && feed.record.former.is_empty()
        && !state.facts.hints.expired
        && silent_from(feed).is_none()
}

/// Returns the problem of a feed, if it has one.
pub fn concern(engine: &Engine, feed: &Subscription, now: DateTime<Utc>) -> Option<Concern> {
    let day = |at: DateTime<Utc>| at.with_timezone(&engine.zone).format("%-d %B %Y").to_string();
    proposed(engine, feed)
        .or_else(|| ended(feed, &day))
        .or_else(|| hindered(feed))
        .or_else(|| failing(feed, &day))
        .or_else(|| of_archive(feed))
        .or_else(|| moved(feed, now, &day))
        .or_else(|| silent(engine, feed, now))
}

/// A function that formats the day of a time.
type Day<'a> = &'a dyn Fn(DateTime<Utc>) -> String;

fn describe(
    feed: &Subscription,
    state: &'static str,
    remedy: Remedy,
    since: DateTime<Utc>,
    sentence: String,
) -> Concern {
    Concern { feed: feed.key, account: None, state, sentence, remedy, since }
}

fn last_try(feed: &Subscription) -> DateTime<Utc> {
    feed.state.facts.last_try.unwrap_or(feed.record.added)
}

fn failing_since(feed: &Subscription) -> DateTime<Utc> {
    feed.state.failing_since.unwrap_or_else(|| last_try(feed))
}

fn why(feed: &Subscription) -> &str {
    feed.state.trouble.as_deref().unwrap_or("it could not be read")
}

/// Returns the problem of a feed with a proposed address that the user must accept or decline.
fn proposed(engine: &Engine, feed: &Subscription) -> Option<Concern> {
    let proposed = feed.state.proposed.as_ref()?;
    let other = subscribed_as(engine, &proposed.to).and_then(|key| engine.feeds.get(&key));
    let (remedy, reason) = match other.filter(|other| other.key != feed.key) {
        Some(other) => (
            Remedy::Merge,
            format!("which is already subscribed as '{}'", other.record.shown_title()),
        ),
        None if proposed.because == ProposedFor::LaterPage => {
            (Remedy::AcceptMove, "which has the newer entries".to_owned())
        }
        None => {
            (Remedy::AcceptMove, "but nothing there proves that it is the same feed".to_owned())
        }
    };
    let says = match proposed.because {
        ProposedFor::Move => "Its server says that it moved to",
        ProposedFor::Redirect => "Its server redirects to",
        ProposedFor::Archive => "It is an archive; its feed is",
        ProposedFor::LaterPage => "It is a later page; its first page is",
    };
    let text = format!("{says} {}, {reason}.", proposed.to);
    Some(describe(feed, "move proposed", remedy, proposed.since, text))
}

/// Returns the problem of a feed that ended or is polled only rarely.
fn ended(feed: &Subscription, day: Day<'_>) -> Option<Concern> {
    let facts = &feed.state.facts;
    match facts.standing {
        FeedStatus::Gone | FeedStatus::Stopped => {
            let at = last_try(feed);
            let counters = &feed.counters;
            let has_entries = counters.next_seq.max(counters.total).max(counters.unread) > 0;
            let stay = if has_entries { "; its entries stay" } else { "" };
            let text = format!("The publisher ended this feed on {}{stay}.", day(at));
            return Some(describe(feed, "gone", Remedy::Resume, at, text));
        }
        FeedStatus::Dead => {
            let since = feed.state.habits.not_found_since.unwrap_or_else(|| failing_since(feed));
            let text =
                format!("It has answered only 404 since {}: it is polled once a week.", day(since));
            return Some(describe(feed, "dead", Remedy::Retry, since, text));
        }
        FeedStatus::Active | FeedStatus::Archive | FeedStatus::Paused => {}
    }
    let finished = facts.hints.expired && !feed.record.feed_settings.ignore_expired;
    let text = "The publisher says that no more entries will come; it is not polled.".to_owned();
    finished.then(|| describe(feed, "finished", Remedy::Resume, last_try(feed), text))
}

/// Returns the problem of a feed with an obstacle that has a specific remedy.
fn hindered(feed: &Subscription) -> Option<Concern> {
    let (state, remedy, since) = match feed.state.obstacle? {
        Obstacle::Insecure => ("insecure redirect", Remedy::AllowInsecure, failing_since(feed)),
        Obstacle::Blocked => ("blocked", Remedy::Retry, failing_since(feed)),
        Obstacle::LoginPage => ("captive portal", Remedy::Retry, last_try(feed)),
        Obstacle::BotWall => {
            let text = format!("{} {PAST_WALLS}", sentence(why(feed)));
            return Some(describe(feed, "bot wall", Remedy::Retry, failing_since(feed), text));
        }
    };
    Some(describe(feed, state, remedy, since, sentence(why(feed))))
}

fn failing(feed: &Subscription, day: Day<'_>) -> Option<Concern> {
    let since = failing_since(feed);
    if !feed.is_failing() {
        return None;
    }
    let status = feed.state.status.filter(|status| matches!(status, 401 | 407));
    let lacks_login = status.map(|status| format!("answered {}", status_words(status)));
    Some(if lacks_login.is_some_and(|usual| usual == why(feed)) {
        let text = format!(
            "It has needed credentials since {}: add them to config.toml under [[network.credentials]].",
            day(since)
        );
        describe(feed, "needs credentials", Remedy::Retry, since, text)
    } else {
        let text = format!("Failing since {}: {}.", day(since), why(feed));
        describe(feed, "failing", Remedy::Retry, since, text)
    })
}

/// Returns the problem of a subscription to an archive, which gets no new entries (SPEC C.2 rule 3). Returns `None` if the user
/// chose to keep the archive's address.
fn of_archive(feed: &Subscription) -> Option<Concern> {
    let archive = feed.state.archive.as_ref()?;
    let (remedy, text) = match &archive.current {
        None => (
            Remedy::Retry,
            "Its address is an archive, which gets no new entries and does not name its feed: subscribe to the \
             feed itself."
                .to_owned(),
        ),
        Some(current) if feed.record.declined.as_ref() == Some(current) => return None,
        Some(current) => (
            if archive.insecure { Remedy::AllowInsecure } else { Remedy::Retry },
            format!(
                "Its address is an archive, which gets no new entries; backissue did not switch to its feed {current}: {}.",
                archive.why
            ),
        ),
    };
    Some(describe(feed, "archive", remedy, archive.since, text))
}

fn moved(feed: &Subscription, now: DateTime<Utc>, day: Day<'_>) -> Option<Concern> {
    let former = feed.record.former.last().filter(|former| !former.by_user)?;
    let recent = now.signed_duration_since(former.until) < MOVE_TOLD;
    let url = &feed.record.url;
    let (remedy, text) = if names_another_session(&feed.record, url) {
        let text = format!(
            "Its server moves it to another session of the same address each time: it stays at {url}."
        );
        (Remedy::Know, text)
    } else {
        let text = format!("It moved on {} from {} to {url}.", day(former.until), former.url);
        (Remedy::UndoMove, text)
    };
    recent.then(|| describe(feed, "moved", remedy, former.until, text))
}

/// Returns the time since which a feed counts as silent, because it usually publishes much more often.
fn silent_from(feed: &Subscription) -> Option<DateTime<Utc>> {
    feed.state.usual_gap?.silent_from(feed.state.facts.last_ok?)
}

/// Returns the problem of a feed that can be read but has published nothing for much longer than usual.
fn silent(engine: &Engine, feed: &Subscription, now: DateTime<Utc>) -> Option<Concern> {
    let (from, gap) = (silent_from(feed)?, feed.state.usual_gap?);
    let [last, now] = [gap.last(), now].map(|at| at.with_timezone(&engine.zone));
    let month = last.format(if last.year() == now.year() { "%B" } else { "%B %Y" });
    let mut text = format!("It usually posts {}, but has been silent since {month}.", gap.words());
    if !engine.interest.is_empty() {
        let opened = engine.interest.of(feed.key, now.num_days_from_ce()).opened;
        let opened = counted_words(opened as usize, "entry", "entries");
        let (requests, bytes) = feed.cost_a_week(now.to_utc());
        let bytes = byte_words(bytes);
        write!(
            text,
            " You opened {opened} in eight weeks; it takes about {requests} requests and {bytes} a week."
        )
        .ok();
    }
    Some(describe(feed, "silent", Remedy::Know, from, text))
}

/// Returns the user's answer that applies a remedy.
pub const fn answer(remedy: Remedy) -> TroubleAnswer {
    match remedy {
        Remedy::AcceptMove | Remedy::Merge => TroubleAnswer::AcceptMove,
        Remedy::UndoMove => TroubleAnswer::UndoMove,
        Remedy::Retry => TroubleAnswer::Retry,
        Remedy::Resume => TroubleAnswer::Resume,
        Remedy::AllowInsecure => TroubleAnswer::AllowInsecure,
        Remedy::Sync | Remedy::Answer | Remedy::AnswerDevice | Remedy::Know => TroubleAnswer::Note,
    }
}

/// Applies the user's answer to a problem of a feed. The error is a sentence with the reason that the answer does not apply.
pub fn apply_answer(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    answer: TroubleAnswer,
) -> Result<(), InputFlaw> {
    if feed == STORE && engine.mended.take().is_some() {
        engine.tell(Event::FeedsChanged);
        engine.store(Job::NoteMended);
        return Ok(());
    }
    let Some(subscription) = engine.feeds.get(&feed) else {
        return Err("that subscription no longer exists".into());
    };
    let Subscription { record, state, .. } = subscription;
    let standing = state.facts.standing;
    let has_ended = subscription.is_gone() || standing == FeedStatus::Dead;
    let former = record.former.last().and_then(|former| subscribed_as(engine, &former.url));
    let refuse = |why: &str| Err(flaw!("'{}' {why}", record.shown_title()));
    match answer {
        TroubleAnswer::AcceptMove | TroubleAnswer::DeclineMove if state.proposed.is_none() => {
            return refuse(
                "has no proposed address to accept or refuse; to read it from another address, name that address",
            );
        }
        TroubleAnswer::UndoMove if record.former.is_empty() => return refuse("has not moved"),
        TroubleAnswer::UndoMove if former.is_some_and(|other| other != feed) => {
            return refuse("cannot go back: another subscription has its former address");
        }
        TroubleAnswer::Resume if !has_ended && !state.facts.hints.expired => {
            return refuse("has not ended: it is polled as planned");
        }
        TroubleAnswer::AcceptMove => feed_moves::accept_move(engine, now, feed),
        TroubleAnswer::DeclineMove => feed_moves::decline_move(engine, now, feed),
        TroubleAnswer::UndoMove => feed_moves::undo_move(engine, now, feed),
        TroubleAnswer::Resume => resume(engine, now, feed),
        TroubleAnswer::AllowInsecure => allow_insecure(engine, now, feed),
        TroubleAnswer::Retry => manual_poll::poll_now(engine, now, feed),
        TroubleAnswer::Note => note(engine, now, feed),
    }
    Ok(())
}

/// Allows a feed to redirect from https to http, and polls the feed now.
fn allow_insecure(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    feed_moves::changed(engine, now, feed, |subscription| {
        subscription.record.feed_settings.allow_insecure = true;
        format!("'{}' may now redirect to http", subscription.record.shown_title())
    });
    manual_poll::poll_now(engine, now, feed);
}

/// Resumes scheduled polls of a feed that ended, and polls the feed now.
fn resume(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let before = FeedParts::of(subscription);
    let Subscription { record, state, .. } = subscription;
    record.feed_settings.ignore_expired |= state.facts.hints.expired;
    feed_moves::start_afresh(state);
    let text = format!("'{}' is polled again", record.shown_title());
    engine.say(text);
    feed_moves::save_and_show(engine, now, feed, &before, None);
    manual_poll::poll_now(engine, now, feed);
}

/// Dismisses the problem of a feed: declines a proposed move, or hides any other problem until it changes.
fn note(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    let concern = engine.feeds.get(&feed).and_then(|feed| concern(engine, feed, now));
    let proposed = |concern: &Concern| matches!(concern.remedy, Remedy::AcceptMove | Remedy::Merge);
    if concern.as_ref().is_some_and(proposed) {
        return feed_moves::decline_move(engine, now, feed);
    }
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let text =
        format!("'{}' is hidden until its status changes", subscription.record.shown_title());
    let before = subscription.state.noted;
    engine.undo.push(Step::Noted { feed, noted: before });
    set_noted(engine, feed, Some(now));
    engine.say_undoable(text);
}

/// Sets when the user dismissed the problem of a feed. Returns the time before.
pub fn set_noted(
    engine: &mut Engine,
    feed: FeedKey,
    noted: Option<DateTime<Utc>>,
) -> Option<DateTime<Utc>> {
    let subscription = engine.feeds.get_mut(&feed)?;
    let before = std::mem::replace(&mut subscription.state.noted, noted);
    engine.tell(Event::PlansChanged);
    engine.save_state(feed);
    before
}

//! Entry point of the engine: takes an input and the time, and returns events and effects. At the start, the stored subscriptions
//! are loaded and every feed is planned; the configuration or the time zone may change later.

use std::collections::BTreeSet;

use backissue_core::InputFlaw;
use backissue_core::feed::dates::calendar::day_of;
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use super::backfill::{copies, elsewhere, history_requests, walks};
use super::change::undo_stack::{StepChanges, TakenStep};
use super::change::value::Origin;
use super::change::{self, questions, undo};
use super::downloads::{actions, progress};
use super::entries::{
    account_sync, entry_filters, marks, notifications, page_fetches, unread_limits,
};
use super::external_run::RunPurpose;
use super::feeds::subscription::{SavedSubscription, Subscription};
use super::feeds::{
    addresses, change_settings, feed_moves, feed_preview, import, subscribe, trouble, unsubscribe,
};
use super::politeness::rate_limits;
use super::poll::fetch::{FetchId, Fetched, Purpose};
use super::poll::{learn, manual_poll, polling, start_fetches};
use super::request::{Effect, Event, Input, Request};
use super::settings::Settings;
use super::state::{Engine, Sums};
use super::store_results::{self, stored_or_failed};
use super::store_work::{Beside, Job};
use super::{move_in, search_query, start_external};

/// Maximum time between two iterations of the main loop, so that the engine notices a change of the clock.
const WAKE_AFTER: TimeDelta = TimeDelta::seconds(30);

/// Result of applying an input to the engine.
#[derive(Debug, Default)]
pub struct Output {
    /// Events for observers, in order.
    pub events: Vec<Event>,
    /// Effects that the caller must carry out, in order.
    pub effects: Vec<Effect>,
}

/// Applies an input to the engine at the time `now`.
pub fn update(engine: &mut Engine, now: DateTime<Utc>, input: Input) -> Output {
    // A mark changes none of the numbers over all feeds before it is written.
    let is_mark = matches!(input, Input::Request(Request::Mark(_)));
    happened(engine, now, input);
    undo::undo_wanted(engine, now);
    learn::start_waiting(engine);
    progress::start_waiting(engine, now);
    let mut effects = std::mem::take(&mut engine.effects);
    change::join_writes(engine, &mut effects);
    let taken = engine.undo.taken.take();
    if let Some(steps) = engine.undo.changes(now) {
        write_steps(&mut effects, steps, taken);
    }
    store_results::register_work(engine, &mut effects);
    store_results::tell_durable(engine, &BTreeSet::new());
    if !is_mark {
        engine.sums = Sums::default();
    }
    let events = std::mem::take(&mut engine.events);
    if let Some(copies) = &mut engine.copies {
        // Do not copy the events with pictures, because pictures are sent only to the screen that requested them.
        let is_told = |event: &&Event| !matches!(event, Event::PictureFetched(..));
        copies.extend(events.iter().filter(is_told).cloned());
    }
    Output { events, effects }
}

/// Writes undo steps in the same frame as the last change, or after the others if there is none. A step that was `taken` is put back
/// if that frame cannot be written.
fn write_steps(effects: &mut Vec<Effect>, steps: StepChanges, taken: Option<Box<TakenStep>>) {
    let is_taken = taken.is_some();
    for effect in effects.iter_mut().rev() {
        if let Effect::Store(work) = effect
            && work.beside.is_none()
            && (work.change.is_some() || (is_taken && !work.job.only_reads()))
        {
            work.beside = Some(Beside::Steps(steps));
            work.change.get_or_insert_default().taken = taken;
            return;
        }
    }
    effects.push(Effect::store(Job::SaveSteps(steps)));
}

/// Returns the time at which the main loop must run again if there is no input before: when something is due, or when a request
/// may start.
pub fn next_wake(engine: &Engine, now: DateTime<Utc>) -> DateTime<Utc> {
    let latest = now.checked_add_signed(WAKE_AFTER).unwrap_or(now);
    let due = engine.is_polling_by_itself().then(|| engine.timetable.next()).flatten();
    let due = due.map(|due| engine.room_awaited.map_or(due, |until| due.max(until)));
    // If too many writes are pending, no request may start. The result of a write then wakes the main loop.
    let may_start = !engine.is_store_behind();
    let start = may_start.then(|| engine.host_queue.next_start(&engine.settings.network)).flatten();
    [due, start, progress::next_start(engine, now)]
        .into_iter()
        .flatten()
        .fold(latest, DateTime::min)
}

fn happened(engine: &mut Engine, now: DateTime<Utc>, input: Input) {
    match input {
        Input::Tick => ticked(engine, now),
        Input::Woke => {
            rate_limits::woke(engine, now);
            ticked(engine, now);
        }
        Input::Request(request) => {
            if let Err(why) = requested(engine, now, request) {
                engine.tell(Event::Refused(why.into()));
            }
        }
        Input::Fetched(id, fetched) => arrived(engine, now, id, *fetched),
        Input::Download(id, news) => progress::news(engine, now, id, news),
        Input::Playing(id, news) => actions::news(engine, now, id, news),
        Input::Stored(stored) => {
            let was_behind = engine.is_store_behind();
            stored_or_failed(engine, now, *stored);
            if was_behind {
                start_fetches::start(engine, now);
            }
        }
        Input::Learned(feed, plan) => learn::learned(engine, now, feed, plan),
        Input::FilterHits(filter, Ok(hits)) => entry_filters::found(engine, filter, hits),
        Input::FilterHits(filter, Err(why)) => {
            engine.complain(why);
            if let Some(id) = entry_filters::failed(engine, filter) {
                undo::undo_this(engine, now, id);
            }
        }
        Input::PictureTaskDone(done) => page_fetches::task_done(engine, now, done),
        Input::Ran(purpose, ended) => {
            start_external::tell_end(engine, purpose, ended);
            match purpose {
                RunPurpose::News => notifications::command_ended(engine, now),
                RunPurpose::Play(id) => actions::ended(engine, id),
                RunPurpose::Show | RunPurpose::Pipe | RunPurpose::Step(_) => {}
            }
        }
        Input::TryNext(run) => engine.carry_out(Effect::Run(run)),
        Input::LoginKept(login, result) => addresses::kept(engine, *login, result),
        Input::ZoneChanged(zone) => change_zone(engine, now, zone),
        Input::Reconfigured(settings) => reconfigured(engine, now, *settings),
        Input::Indexed { missing } => engine.tell(Event::Indexed { missing }),
        Input::Trouble(why) => engine.complain(why),
    }
}

/// Carries out a request of the user. The error is a sentence with the reason that the request is not allowed.
fn requested(engine: &mut Engine, now: DateTime<Utc>, request: Request) -> Result<(), InputFlaw> {
    if engine.undo.origin == Origin::User && questions::asks(engine, now, &request) {
        return Ok(());
    }
    match request {
        Request::Poll(request) => manual_poll::ask(engine, now, &request),
        Request::StopPolls(feeds) => manual_poll::stop(engine, now, feeds),
        Request::Subscribe(wanted) => subscribe::add(engine, now, *wanted),
        Request::Import(wanted) => import::import(engine, now, wanted),
        Request::MoveIn(moved) => move_in::move_in(engine, now, *moved),
        Request::Sync(syncs) => account_sync::write(engine, syncs),
        Request::SyncProgress(progress) => account_sync::progress(engine, progress),
        Request::AccountsSeen(accounts) => account_sync::accounts_seen(engine, now, accounts),
        Request::HistoryThere(histories) => account_sync::note_histories(engine, histories),
        Request::HoldRemoval(device, feed) => unsubscribe::hold_removal(engine, &device, feed),
        Request::AnswerDevice(device, yes) => answer_device(engine, now, device, yes)?,
        Request::LetLeave(feeds) => account_sync::let_leave(engine, &feeds),
        Request::SyncAccounts => account_sync::ask(engine),
        Request::CountReading(readings) => marks::count_reading(engine, now, readings),
        Request::SyncLabel { name, keys, set } => {
            entry_filters::label_synced(engine, &name, keys, set);
        }
        Request::ImportFile(path) => engine.carry_out(Effect::ReadImport(path)),
        Request::Preview { addition, url } => feed_preview::select(engine, now, addition, url),
        Request::Choose { addition, url } => subscribe::choose(engine, now, addition, url),
        Request::TakeFirstFeed(addition) => subscribe::take_first(engine, now, addition),
        Request::Unsubscribe(feed) if !engine.feeds.contains_key(&feed) => {
            return Err("that subscription no longer exists".into());
        }
        Request::Unsubscribe(feed) => unsubscribe::unsubscribe(engine, now, feed),
        Request::FollowAccount(feed, to) => feed_moves::follow_account(engine, now, feed, to),
        Request::SubscribeAgain(feed) => unsubscribe::subscribe_again(engine, now, feed),
        Request::SetPace(feed, pace) => change_settings::set_pace(engine, now, feed, pace),
        Request::Set(feed, chosen) => change_settings::change(engine, now, feed, *chosen)?,
        Request::RenameTag { tag, name } => change_settings::rename(engine, &tag, &name),
        Request::Trouble(feed, answer) => trouble::apply_answer(engine, now, feed, answer)?,
        Request::History(feed, action) => history_requests::begin(engine, now, feed, action),
        Request::MoreHistory(feed, gap) => history_requests::more(engine, now, feed, gap),
        Request::ReadElsewhere(feed, adaptor) => elsewhere::read(engine, now, feed, adaptor)?,
        Request::ReadCopy(feed, url) => elsewhere::read_copy(engine, now, feed, &url)?,
        Request::ForgetCopy(feed, name) => copies::forget(engine, feed, &name)?,
        Request::RestoreWithdrawn(feed) => marks::restore_last(engine, feed),
        Request::DismissGap(feed, gap) => history_requests::dismiss(engine, feed, gap),
        Request::Mark(mark) => marks::set(engine, mark),
        Request::MarkAllRead(entries) => marks::mark_all_read(engine, now, entries),
        Request::SaveFilter(filter) => entry_filters::save(engine, now, *filter)?,
        Request::Label { name, keys, set } => entry_filters::label(engine, now, &name, keys, set)?,
        Request::RemoveFilter(id) => entry_filters::remove(engine, now, id),
        Request::SaveSearches(list) => search_query::save(engine, list),
        Request::FetchPage { key, url, kept } => {
            page_fetches::fetch_page(engine, now, key, url, kept)?;
        }
        Request::FetchPicture { key, url } => page_fetches::fetch(engine, now, key, url)?,
        Request::FetchAhead(feed, part, of) => page_fetches::request(engine, now, feed, part, of),
        Request::DropPictures => page_fetches::drop_waiting(engine),
        Request::Learn(feed) => learn::ask(engine, feed),
        Request::Open { link, attached: None } => {
            engine.carry_out(start_external::show(engine, link));
        }
        Request::Open { link, attached: Some(media_type) } => {
            actions::play_attached(engine, now, link, &media_type)?;
        }
        Request::Download(request) => actions::requested(engine, now, request)?,
        Request::Together(requests) => together(engine, now, requests),
        Request::Arrived(request) => by(engine, now, Origin::Arrived, *request)?,
        Request::Answered(request, step) => by(engine, now, Origin::Answered(step), *request)?,
        Request::Undo => undo::undo(engine, now),
        Request::Redo => undo::redo(engine, now),
        Request::Stop => engine.carry_out(Effect::Stop),
    }
    Ok(())
}

/// Carries out a request with another origin than the user.
fn by(
    engine: &mut Engine,
    now: DateTime<Utc>,
    origin: Origin,
    request: Request,
) -> Result<(), InputFlaw> {
    engine.undo.origin = origin;
    let done = requested(engine, now, request);
    engine.undo.origin = Origin::User;
    done
}

/// Carries out the user's answer to what a device asks for.
fn answer_device(
    engine: &mut Engine,
    now: DateTime<Utc>,
    device: String,
    yes: bool,
) -> Result<(), InputFlaw> {
    if let Some(removing) = unsubscribe::answer_held(engine, &device, yes) {
        by(engine, now, Origin::Answered(None), removing)?;
    }
    // If the program is killed in between, the user is asked again.
    engine.store(Job::SaveHeld(device, Vec::new()));
    Ok(())
}

/// Carries out several requests as one change. If a request is not allowed, shows the reason and carries out the other requests.
fn together(engine: &mut Engine, now: DateTime<Utc>, requests: Vec<Request>) {
    engine.undo.begin_together();
    let mut refused = None;
    for request in requests {
        if let Err(why) = requested(engine, now, request) {
            refused = Some(why);
        }
    }
    let count = engine.undo.end_together();
    if count > 0 {
        engine.say_undoable(counted_words(count, "change", "changes"));
    }
    if let Some(why) = refused {
        engine.complain(why);
    }
}

/// Carries out what is due at `now`: polls, notifications, and the daily backup.
fn ticked(engine: &mut Engine, now: DateTime<Utc>) {
    polling::tick(engine, now);
    if engine.may_forget(now) {
        engine.undo.forget_old(now);
        unsubscribe::forget_ended(engine, now);
        unread_limits::check(engine, now);
        unread_limits::drip(engine, now);
    }
    notifications::notify(engine, now);
    if engine.may_forget(now) && (engine.attended || engine.polls_by_itself) {
        actions::delete_played(engine, now);
    }
    // Make the daily backup only in a process that keeps running. A one-shot command makes its backup when it ends.
    let lasts = engine.attended || engine.polls_by_itself;
    let today = Some(day_of(now, engine.zone));
    if lasts && engine.backup_day != today {
        engine.backup_day = today;
        engine.effects.extend(today.map(|today| Effect::store(Job::BackUp(today))));
    }
}

fn arrived(engine: &mut Engine, now: DateTime<Utc>, id: FetchId, fetched: Fetched) {
    let Some(ended) = engine.host_queue.end(id, now, &engine.settings.network) else {
        return;
    };
    match ended.waiting.purpose {
        Purpose::Poll(feed) => polling::fetched(engine, now, id, &ended.waiting, feed, fetched),
        Purpose::Archive(feed) => walks::fetched(engine, now, id, &ended.waiting, feed, fetched),
        Purpose::FullText(key) => {
            page_fetches::page_fetched(engine, now, key, &ended.waiting, fetched);
        }
        Purpose::Picture(key) => {
            page_fetches::picture_fetched(engine, now, key, ended.waiting, fetched);
        }
        Purpose::Discover(addition) => {
            subscribe::fetched(engine, now, addition, &ended.waiting.url, fetched);
        }
    }
}

/// If a site was requested less than this time before start-up, the pause after that request is kept.
const ASKED_RECENTLY: TimeDelta = TimeDelta::seconds(10);

impl Engine {
    /// Creates an engine with the stored subscriptions and plans every feed.
    pub fn new(
        settings: Settings,
        zone: Tz,
        salt: u64,
        saved: Vec<SavedSubscription>,
        now: DateTime<Utc>,
    ) -> Self {
        let mut engine = Self::empty(settings, zone, salt);
        // Collect the whole map at once, which leaves no unused capacity in its nodes.
        engine.feeds =
            saved.into_iter().map(|saved| (saved.key, Subscription::saved(saved))).collect();
        engine.last_feed = engine.feeds.keys().next_back().map_or(0, |key| key.0);
        let keys: Vec<FeedKey> = engine.feeds.keys().copied().collect();
        for key in keys {
            learn::replan(&mut engine, key, now);
        }
        engine.keep_pauses(now);
        let spread = u64::from(engine.settings.poll.start_spread_seconds).saturating_mul(1000);
        let delay = salt.checked_rem(spread.saturating_add(1)).unwrap_or(0);
        engine.host_queue.not_before =
            now.checked_add_signed(TimeDelta::milliseconds(i64::try_from(delay).unwrap_or(0)));
        engine.events.clear();
        engine
    }

    /// Keeps the pause after requests that were sent just before start-up. The time of the response is unknown, so the pause starts
    /// at `now`.
    fn keep_pauses(&mut self, now: DateTime<Utc>) {
        for feed in self.feeds.values() {
            let last_try = feed.state.facts.last_try;
            if last_try.is_some_and(|at| now.signed_duration_since(at) < ASKED_RECENTLY) {
                self.host_queue.asked_before(&feed.record.url, now, &self.settings.network);
            }
        }
    }
}

/// Applies a reloaded configuration, and updates the plans of all feeds if the poll or network settings changed.
pub fn reconfigured(engine: &mut Engine, now: DateTime<Utc>, settings: Settings) {
    let before = std::mem::replace(&mut engine.settings, settings);
    engine.unread_checked = None;
    let network = before.network != engine.settings.network;
    if before.poll != engine.settings.poll || network {
        replan_all(engine, now);
    }
    if network {
        engine.carry_out(Effect::Reconnect(Box::new(engine.settings.network.clone())));
    }
}

/// Changes the user's time zone, in which times are shown and learned plans are computed.
pub fn change_zone(engine: &mut Engine, now: DateTime<Utc>, zone: Tz) {
    engine.zone = zone;
    replan_all(engine, now);
}

fn replan_all(engine: &mut Engine, now: DateTime<Utc>) {
    let keys: Vec<FeedKey> = engine.feeds.keys().copied().collect();
    for key in keys {
        learn::replan(engine, key, now);
        start_fetches::withdraw_early(engine, now, key);
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::subscription::{FeedState, SubscriptionRecord};
    use crate::engine::poll::poll_log::PollCause;
    use crate::engine::poll::start_fetches;
    use crate::engine::update::*;

    /// Returns whether a feed is polled at start-up, and whether it is polled a second later. The last request for the feed was
    /// sent `seconds_before` start-up.
    fn is_asked(seconds_before: i64) -> [bool; 2] {
        let now = DateTime::UNIX_EPOCH + TimeDelta::days(20_000);
        let url = "https://a.example/feed".to_owned();
        let mut state = Box::<FeedState>::default();
        state.facts.last_try = Some(now - TimeDelta::seconds(seconds_before));
        let saved = SavedSubscription {
            key: FeedKey(1),
            record: SubscriptionRecord { url, ..SubscriptionRecord::default() },
            state,
            history: std::sync::Arc::default(),
            counters: backissue_core::history::Counters::default(),
        };
        let mut engine = Engine::new(Settings::default(), Tz::UTC, 0, vec![saved], now);
        engine.host_queue.not_before = None;
        start_fetches::enqueue(&mut engine, now, FeedKey(1), PollCause::Asked);
        [0, 1].map(|second| {
            start_fetches::start(&mut engine, now + TimeDelta::seconds(second));
            !std::mem::take(&mut engine.effects).is_empty()
        })
    }

    #[test]
    fn site_polled_just_before_start_keeps_its_pause() {
        assert_eq!(is_asked(1), [false, true]);
        assert_eq!(is_asked(60), [true, false], "it is asked once, and at once");
    }
}

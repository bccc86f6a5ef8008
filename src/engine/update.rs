//! The one way into the engine: an input and the time in, events and effects out.

use chrono::{DateTime, Utc};

use super::backfill::{history_actions, walks};
use super::calendar::day_of;
use super::effect::Effect;
use super::entries::{entry_filters, full_text, marks, notifications, picture_fetches, withdrawn};
use super::event::Event;
use super::feeds::{feed_preview, feed_settings, import, subscribe, tags, trouble, unsubscribe};
use super::input::Input;
use super::politeness::rate_limits;
use super::poll::fetch::{FetchId, Fetched, Purpose};
use super::poll::polling::{self, News, Poll};
use super::poll::{learn, manual_poll, redirects};
use super::request::{Request, TroubleAnswer};
use super::state::Engine;
use super::store_work::{Answer, Job, JobSubject, Stored};
use super::{reconfigure, rollback, run_external, saved_searches, undo};
use crate::history::{Counters, FeedKey};

/// What an input leads to.
#[derive(Debug, Default)]
pub struct Output {
    /// What those who look on are told, in order.
    pub events: Vec<Event>,
    /// What the world is asked for, in order.
    pub effects: Vec<Effect>,
}

/// Changes the engine by what happened.
pub fn update(engine: &mut Engine, now: DateTime<Utc>, input: Input) -> Output {
    let mut effects = happened(engine, now, input);
    rollback::register(engine, &mut effects);
    Output { events: std::mem::take(&mut engine.events), effects }
}

fn happened(engine: &mut Engine, now: DateTime<Utc>, input: Input) -> Vec<Effect> {
    match input {
        Input::Tick => ticked(engine, now),
        Input::Woke => {
            rate_limits::woke(engine, now);
            ticked(engine, now)
        }
        Input::Request(request) => requested(engine, now, request).unwrap_or_else(|why| {
            engine.tell(Event::Refused(why));
            Vec::new()
        }),
        Input::Fetched(id, fetched) => arrived(engine, now, id, *fetched),
        Input::Stored(stored) => stored_or_failed(engine, now, *stored),
        Input::Learned(feed, plan) => learn::learned(engine, now, feed, plan),
        Input::FilterHits(filter, Ok(hits)) => entry_filters::found(engine, filter, hits),
        Input::FilterHits(filter, Err(why)) => {
            entry_filters::failed(engine, filter);
            complained(engine, why)
        }
        Input::Ran(purpose, ended) => run_external::ran(engine, now, purpose, ended),
        Input::Reconfigured(settings) => reconfigure::reconfigured(engine, now, *settings),
        Input::Trouble(why) => complained(engine, why),
    }
}

/// Does what is asked for; an error is a sentence that says why it is refused.
fn requested(
    engine: &mut Engine,
    now: DateTime<Utc>,
    request: Request,
) -> Result<Vec<Effect>, String> {
    Ok(match request {
        Request::Poll(request) => manual_poll::ask(engine, now, &request),
        Request::Subscribe(wanted) => subscribe::add(engine, now, *wanted),
        Request::Import(wanted) => import::import(engine, now, wanted),
        Request::ImportFile(path) => vec![Effect::ReadImport(path)],
        Request::Preview { addition, url } => feed_preview::select(engine, now, addition, url),
        Request::Choose { addition, url } => feed_preview::choose(engine, now, addition, url),
        Request::Unsubscribe(feed) => unsubscribe::unsubscribe(engine, now, feed),
        Request::SetPace(feed, pace) => feed_settings::set_pace(engine, now, feed, pace),
        Request::Set(feed, chosen) => feed_settings::change(engine, now, feed, *chosen)?,
        Request::RenameTag { tag, name } => tags::rename(engine, &tag, &name),
        Request::Trouble(feed, answer) => match answer {
            TroubleAnswer::AcceptMove => redirects::accept_move(engine, now, feed),
            TroubleAnswer::DeclineMove => redirects::decline_move(engine, now, feed),
            TroubleAnswer::UndoMove => redirects::undo_move(engine, now, feed),
            TroubleAnswer::Resume => trouble::resume(engine, now, feed),
            TroubleAnswer::AllowInsecure => trouble::allow_insecure(engine, now, feed),
            TroubleAnswer::Retry => redirects::poll_now(engine, now, feed),
            TroubleAnswer::Note => trouble::note(engine, now, feed),
        },
        Request::History(feed, action) => history_actions::begin(engine, now, feed, action),
        Request::MoreHistory(feed, gap) => history_actions::more(engine, now, feed, gap),
        Request::DismissGap(feed, gap) => history_actions::dismiss(engine, feed, gap),
        Request::Mark { keys, flag, value } => marks::set(engine, keys, flag, value),
        Request::MarkListRead(list) => marks::mark_list_read(engine, list),
        Request::SaveFilter(filter) => entry_filters::save(engine, *filter)?,
        Request::RemoveFilter(id) => entry_filters::remove(engine, id),
        Request::SaveSearches(list) => saved_searches::save(engine, list),
        Request::FetchPage { key, url, kept } => {
            full_text::fetch_page(engine, now, key, url, kept)?
        }
        Request::FetchPicture { key, url } => picture_fetches::fetch(engine, now, key, url)?,
        Request::DropPictures => picture_fetches::drop_waiting(engine),
        Request::Learn(feed) => learn::ask(engine, feed),
        Request::Open { link, attached: false } => vec![run_external::show(engine, link)],
        Request::Open { link, attached: true } => vec![run_external::play(engine, link)],
        Request::Undo => undo::undo(engine, now),
        Request::Redo => undo::redo(engine, now),
        Request::Stop => vec![Effect::Stop],
    })
}

fn complained(engine: &mut Engine, why: String) -> Vec<Effect> {
    engine.complain(why);
    Vec::new()
}

/// Time passed: polls fall due, and a new day begins at midnight.
fn ticked(engine: &mut Engine, now: DateTime<Utc>) -> Vec<Effect> {
    let mut effects = polling::tick(engine, now);
    effects.extend(notifications::notify(engine, now));
    // A command that polls once is over before a backup is made: it makes one at its end.
    let lasts = engine.attended || engine.polls_by_itself;
    let today = Some(day_of(now, engine.zone));
    if lasts && engine.backup_day != today {
        engine.backup_day = today;
        effects.extend(today.map(|today| Effect::store(Job::BackUp(today))));
    }
    effects
}

fn arrived(engine: &mut Engine, now: DateTime<Utc>, id: FetchId, fetched: Fetched) -> Vec<Effect> {
    let Some(ended) = engine.host_queue.end(id, now, &engine.settings.network) else {
        return Vec::new();
    };
    match ended.waiting.purpose {
        Purpose::Poll(feed) => polling::fetched(engine, now, id, &ended.waiting, feed, fetched),
        Purpose::Archive(feed) => walks::fetched(engine, now, id, &ended.waiting, feed, fetched),
        Purpose::FullText(key) => full_text::fetched(engine, now, key, &ended.waiting.url, fetched),
        Purpose::Picture(_) => picture_fetches::fetched(engine, now, ended.waiting.url, fetched),
        Purpose::Discover(addition) => {
            subscribe::fetched(engine, now, addition, &ended.waiting.url, fetched)
        }
    }
}

/// The store did its work, or could not.
fn stored_or_failed(engine: &mut Engine, now: DateTime<Utc>, stored: Stored) -> Vec<Effect> {
    match stored.result {
        Ok(answer) => {
            rollback::done(engine, stored.id);
            answered(engine, now, answer)
        }
        Err(ref why) => {
            let why = why.clone();
            let mut effects = rollback::failed(engine, now, &stored);
            effects.extend(failed(engine, now, stored.subject, why));
            effects
        }
    }
}

/// Work of the store failed: whoever waits for it must not wait for ever.
fn failed(
    engine: &mut Engine,
    now: DateTime<Utc>,
    subject: JobSubject,
    why: String,
) -> Vec<Effect> {
    match subject {
        JobSubject::Poll(feed) => polling::commit_failed(engine, now, feed, &why),
        JobSubject::History(feed) => {
            walks::not_kept(engine, feed, why);
            return Vec::new();
        }
        JobSubject::Records => {
            engine.unsaved = engine.unsaved.saturating_sub(1);
            engine.not_saved = Some(why.clone());
        }
        // Nothing is lost but what could be learned.
        JobSubject::Publications(feed) => return learn::loaded(engine, now, feed, None),
        JobSubject::NewEntries => {
            engine.complain(why);
            return notifications::entries_read(engine, now, Vec::new());
        }
        JobSubject::Rows(_)
        | JobSubject::Entry(_)
        | JobSubject::ListMark
        | JobSubject::Filter(_)
        | JobSubject::Change
        | JobSubject::Keeping
        | JobSubject::Display => {}
    }
    complained(engine, why)
}

fn answered(engine: &mut Engine, now: DateTime<Utc>, answer: Answer) -> Vec<Effect> {
    match answer {
        Answer::Committed { feed, counters, new, edited, known, withdrawn } => {
            let news = News { new, edited, known };
            committed(engine, now, feed, counters, news, withdrawn)
        }
        Answer::HistoryKept { feed, counters, new, edited } => {
            let effects = walks::kept(engine, now, feed, counters, new);
            updated(engine, feed, new > 0 || edited > 0, false);
            effects
        }
        Answer::Nodes(feed, nodes) => walks::nodes_loaded(engine, now, feed, *nodes),
        Answer::Restored(feed, marked) => {
            withdrawn::restored(engine, &marked);
            updated(engine, feed, true, false);
            Vec::new()
        }
        Answer::Absorbed { into, counters } => {
            if let Some(subscription) = engine.feeds.get_mut(&into) {
                subscription.counters = counters;
            }
            updated(engine, into, true, false);
            Vec::new()
        }
        Answer::RecordsSaved => {
            engine.unsaved = engine.unsaved.saturating_sub(1);
            Vec::new()
        }
        Answer::Marked { flag, value, whole_list, marked } => {
            marks::marked(engine, now, flag, value, whole_list, marked)
        }
        Answer::NewEntries(entries) => notifications::entries_read(engine, now, entries),
        Answer::Publications(feed, publications) => {
            learn::loaded(engine, now, feed, Some(publications))
        }
        Answer::FiltersSaved => {
            engine.tell(Event::FiltersChanged);
            entry_filters::saved(engine)
        }
        Answer::Filtered(filtered) => entry_filters::filtered(engine, now, *filtered),
        Answer::FiltersCounted(counts) => {
            engine.filters.counts = counts;
            Vec::new()
        }
        // Whoever shows them has asked for them.
        Answer::SearchesSaved
        | Answer::Rows(_)
        | Answer::Entry(_)
        | Answer::Polls(..)
        | Answer::TodayCounted(_)
        | Answer::SearchesCounted(_) => Vec::new(),
    }
}

/// A poll's result is durable.
fn committed(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    counters: Counters,
    news: News,
    withdrawn: Vec<u32>,
) -> Vec<Effect> {
    let first = engine.polls.get(&feed).is_some_and(Poll::is_first);
    notifications::note_new_entries(engine, now, feed, counters, news, first);
    let changed = news.new > 0 || news.edited > 0 || !withdrawn.is_empty();
    withdrawn::withdrawn(engine, feed, withdrawn);
    let mut effects = polling::committed(engine, now, feed, counters, news);
    effects.extend(learn::polled(engine, now, feed, news));
    effects.extend(notifications::notify(engine, now));
    updated(engine, feed, changed, true);
    effects
}

fn updated(engine: &mut Engine, feed: FeedKey, entries: bool, poll: bool) {
    engine.tell(Event::Updated { feed, entries, poll });
}

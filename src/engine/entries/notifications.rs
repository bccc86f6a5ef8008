//! Notifications about new entries, sent to the user's command and to the desktop.
//!
//! Notifications are about new unread entries from polls. They are sent when the polls in progress have ended, a minute after the
//! first new entry arrived, or when [`TOLD_AT_ONCE`] entries wait. There are none for entries from archives, for edited entries, or
//! for the first document of a new subscription, whose entries existed before the user subscribed.

use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};

use super::entry_view::LoadedEntry;
use crate::engine::external_run::{ExternalRun, RunInput, RunPurpose};
use crate::engine::poll::poll_stage::News;
use crate::engine::request::Effect;
use crate::engine::settings::DesktopNotes;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::feed::text::one_line;
use backissue_core::history::FeedKey;
use backissue_core::search::{EntryTexts, Subject, parse};

/// Maximum number of new entries in one JSON document for the user's command. Further entries follow in another document.
const TOLD_AT_ONCE: u32 = 500;

/// Maximum time that new entries wait for other polls to end, and minimum time between two desktop notifications.
const PATIENCE: TimeDelta = TimeDelta::seconds(60);

/// Maximum number of characters of a title in a desktop notification.
const TITLE_CHARS_MAX: usize = 80;

/// Queues the new entries of a poll for notification. `first` is `true` if the poll read the feed's first document.
pub fn note_new_entries(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    news: News,
    first: bool,
) {
    if news.new == 0 || first || !anybody_cares(engine) {
        return;
    }
    let Range { start: mut from, end } = engine.newest_of(feed, news.new);
    let announcements = &mut engine.notifications;
    announcements.since.get_or_insert(now);
    while from < end {
        let to = from.saturating_add(TOLD_AT_ONCE).min(end);
        announcements.waiting.push((feed, from..to));
        from = to;
    }
}

fn anybody_cares(engine: &Engine) -> bool {
    engine.settings.commands.on_new.is_some() || desktop_cares(engine)
}

fn desktop_cares(engine: &Engine) -> bool {
    let notify = &engine.settings.notify;
    engine.attended && (notify.desktop != DesktopNotes::Off || notify.bell)
}

/// Sends the notifications that are due.
pub fn notify(engine: &mut Engine, now: DateTime<Utc>) {
    note(engine, now);
    let polls_ended = engine.polls.is_empty();
    let announcements = &mut engine.notifications;
    let waits =
        announcements.since.is_some_and(|since| now.signed_duration_since(since) < PATIENCE);
    let many: u32 =
        announcements.waiting.iter().map(|(_, range)| range.end.saturating_sub(range.start)).sum();
    if announcements.waiting.is_empty()
        || announcements.under_way
        || (waits && !polls_ended && many < TOLD_AT_ONCE)
    {
        return;
    }
    let mut count = 0_u32;
    let mut taken = Vec::new();
    while let Some((feed, range)) = announcements.waiting.first().cloned() {
        count = count.saturating_add(range.end.saturating_sub(range.start));
        if count > TOLD_AT_ONCE && !taken.is_empty() {
            break;
        }
        announcements.waiting.remove(0);
        taken.push((feed, range));
    }
    announcements.since = (!announcements.waiting.is_empty()).then_some(now);
    announcements.under_way = true;
    engine.store(Job::ReadNewEntries(taken));
}

/// Starts the user's command with the new entries that the store loaded and that are still unread.
pub fn entries_read(engine: &mut Engine, now: DateTime<Utc>, mut entries: Vec<LoadedEntry>) {
    engine.notifications.under_way = false;
    entries.retain(|entry| entry.flags.is_unread() && engine.feeds.contains_key(&entry.key.feed));
    let quiet = engine.settings.notify.quiet;
    if desktop_cares(engine) && !quiet.is_some_and(|hours| hours.contain(now, engine.zone)) {
        for entry in &entries {
            if !is_wanted(engine, now, entry) {
                continue;
            }
            let count = engine.notifications.noted.entry(entry.key.feed).or_default();
            *count = count.saturating_add(1);
            engine.notifications.last_title = one_line(entry.kept.shown_title(), TITLE_CHARS_MAX);
        }
    }
    if let (Some(command), false) = (engine.settings.commands.on_new.clone(), entries.is_empty()) {
        let entries = entries.into_iter().map(|entry| engine.view_of(entry)).collect();
        let (purpose, input) = (RunPurpose::News, RunInput::News(entries));
        engine.carry_out(Effect::Run(Box::new(ExternalRun::new(purpose, command, input))));
        engine.notifications.under_way = true;
    }
    notify(engine, now);
}

/// Checks whether the query in the settings finds an entry. The setting may also be the name of a saved search. The query was
/// checked when the settings were read.
fn is_wanted(engine: &Engine, now: DateTime<Utc>, entry: &LoadedEntry) -> bool {
    let only = engine.settings.notify.only.trim();
    let named = engine.saved_searches.iter().find(|saved| saved.name == only);
    let only = named.map_or(only, |saved| &saved.text);
    let Ok(query) = parse(only, false, engine.zone) else { return false };
    let Some(feed) = engine.feeds.get(&entry.key.feed) else { return false };
    let labels = engine.filters.labels(&entry.ruled);
    query.condition.holds(&Subject {
        feed: feed.queried(),
        flags: entry.flags,
        listed: entry.kept.listed().timestamp(),
        labels: &labels,
        texts: &EntryTexts::new(&entry.kept, entry.body.as_ref()),
        now,
    })
}

/// Handles the end of the user's command, and sends the notifications that are due.
pub fn command_ended(engine: &mut Engine, now: DateTime<Utc>) {
    engine.notifications.under_way = false;
    notify(engine, now);
}

/// Sends a desktop notification about the new entries since the last one, unless the last one was less than [`PATIENCE`] ago.
fn note(engine: &mut Engine, now: DateTime<Utc>) {
    let announcements = &mut engine.notifications;
    let recent = announcements.noted_at.is_some_and(|at| now.signed_duration_since(at) < PATIENCE);
    if announcements.noted.is_empty() || recent {
        return;
    }
    announcements.noted_at = Some(now);
    let noted = std::mem::take(&mut announcements.noted);
    let count = noted.values().fold(0_u32, |sum, count| sum.saturating_add(*count));
    let only = noted.keys().next().and_then(|feed| engine.feeds.get(feed));
    let only = only.map_or("", |feed| feed.record.shown_title());
    let only = one_line(only, TITLE_CHARS_MAX);
    let text = match (count, noted.len()) {
        (1, _) => format!("{only}: {}", announcements.last_title),
        (count, 1) => format!("{count} new in {only}"),
        (count, feeds) => format!("{count} new in {feeds} feeds"),
    };
    engine.carry_out(Effect::Notify(text, engine.settings.notify.clone()));
}

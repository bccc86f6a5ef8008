//! Telling of new entries: to the reader's own command, and to the desktop.
//!
//! What is told of: entries that a poll brought and nobody has read yet, once the polls under way have ended, or a
//! minute after the first of them. What is not: history, edited entries, and all that the first document of a new
//! subscription holds, which was there before anybody followed it.

use std::collections::BTreeMap;
use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};

use super::effect::Effect;
use super::model::Model;
use super::msg::LoadedEntry;
use super::poll::polling::News;
use super::run_external::Errand;
use super::run_external::ErrandInput;
use super::run_external::ErrandPurpose;
use super::run_external::told as told_of;
use super::settings::DesktopNotes;
use crate::feed::text::one_line;
use crate::history::{Counters, FeedKey};

/// New entries of one document at most; more of them make several documents.
const TOLD_AT_ONCE: u32 = 500;
/// New entries wait so long for the other polls to end, and two notes for the desktop are so far apart.
const PATIENCE: TimeDelta = TimeDelta::seconds(60);
/// Characters of a title in a note.
const TITLE_CHARS_MAX: usize = 80;

/// New entries that somebody is to be told of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Announcements {
    /// Their numbers, feed by feed, as they came.
    waiting: Vec<(FeedKey, Range<u32>)>,
    /// When the first of them came.
    since: Option<DateTime<Utc>>,
    /// They are being read from the store, or the command is at work.
    under_way: bool,
    /// For the desktop: how many of which feeds, and the title of the last one.
    noted: BTreeMap<FeedKey, u32>,
    last_title: String,
    /// When the desktop was told last.
    noted_at: Option<DateTime<Utc>>,
}

impl Announcements {
    /// Nothing waits and no command is at work.
    pub const fn is_at_rest(&self) -> bool {
        self.waiting.is_empty() && !self.under_way
    }
}

/// A poll brought new entries; `first` says that no document of the feed was read before.
pub fn arrived(
    model: &mut Model,
    now: DateTime<Utc>,
    feed: FeedKey,
    counters: Counters,
    news: News,
    first: bool,
) {
    if news.new == 0 || first || !anybody_cares(model) {
        return;
    }
    let announcements = &mut model.announcements;
    announcements.since.get_or_insert(now);
    let mut from = counters.next_seq.saturating_sub(news.new);
    while from < counters.next_seq {
        let to = from.saturating_add(TOLD_AT_ONCE).min(counters.next_seq);
        announcements.waiting.push((feed, from..to));
        from = to;
    }
}

fn anybody_cares(model: &Model) -> bool {
    model.settings.commands.on_new.is_some() || desktop_cares(model)
}

fn desktop_cares(model: &Model) -> bool {
    let notify = &model.settings.notify;
    model.screen.is_on() && (notify.desktop != DesktopNotes::Off || notify.bell)
}

/// Tells what is ready to be told.
pub fn tell(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let mut effects: Vec<Effect> = note(model, now).into_iter().collect();
    let polls_ended = model.busy.is_empty();
    let announcements = &mut model.announcements;
    let waits =
        announcements.since.is_some_and(|since| now.signed_duration_since(since) < PATIENCE);
    let many: u32 =
        announcements.waiting.iter().map(|(_, range)| range.end.saturating_sub(range.start)).sum();
    if announcements.waiting.is_empty()
        || announcements.under_way
        || (waits && !polls_ended && many < TOLD_AT_ONCE)
    {
        return effects;
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
    effects.push(Effect::ReadNews(taken));
    effects
}

/// The new entries have been read: those that nobody has read are told of.
pub fn read(model: &mut Model, now: DateTime<Utc>, mut entries: Vec<LoadedEntry>) -> Vec<Effect> {
    model.announcements.under_way = false;
    entries.retain(|entry| entry.flags.is_unread() && model.feeds.contains_key(&entry.key.feed));
    if desktop_cares(model) {
        for entry in &entries {
            let count = model.announcements.noted.entry(entry.key.feed).or_default();
            *count = count.saturating_add(1);
        }
        if let Some(last) = entries.last() {
            model.announcements.last_title = one_line(last.kept.shown_title(), TITLE_CHARS_MAX);
        }
    }
    let mut effects = Vec::new();
    if let (Some(command), false) = (model.settings.commands.on_new.clone(), entries.is_empty()) {
        let entries = entries.into_iter().map(|entry| told_of(model, entry)).collect();
        let (purpose, input) = (ErrandPurpose::News, ErrandInput::News(entries));
        effects.push(Effect::Run(Box::new(Errand { purpose, command, input })));
        model.announcements.under_way = true;
    }
    effects.extend(tell(model, now));
    effects
}

/// The command has been told: what came meanwhile is next.
pub fn told(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    model.announcements.under_way = false;
    tell(model, now)
}

/// The note for the desktop, unless the last one was a moment ago.
fn note(model: &mut Model, now: DateTime<Utc>) -> Option<Effect> {
    let announcements = &mut model.announcements;
    let recent = announcements.noted_at.is_some_and(|at| now.signed_duration_since(at) < PATIENCE);
    if announcements.noted.is_empty() || recent {
        return None;
    }
    announcements.noted_at = Some(now);
    let noted = std::mem::take(&mut announcements.noted);
    let count = noted.values().fold(0_u32, |sum, count| sum.saturating_add(*count));
    let only = noted.keys().next().and_then(|feed| model.feeds.get(feed));
    let only = only.map_or("", |feed| feed.record.shown_title());
    let only = one_line(only, TITLE_CHARS_MAX);
    let text = match (count, noted.len()) {
        (1, _) => format!("{only}: {}", announcements.last_title),
        (count, 1) => format!("{count} new in {only}"),
        (count, feeds) => format!("{count} new in {feeds} feeds"),
    };
    Some(Effect::Notify(text, model.settings.notify.clone()))
}

//! Gaps as rows of the entry list: which the open list holds, where they stand, and what they say (SPEC C.8).

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::entry_list::ListQuery;
use super::entry_list::Scope;
use super::entry_list::Show;
use super::feeds_pane;
use super::feeds_pane::FeedsRow;
use super::navigation;
use crate::engine::effect::Effect;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::model::Model;
use crate::history::address::host;
use crate::history::{FeedKey, Gap, GapKey, GapKind, HistoryRecord, HistoryStatus, Limit, Reason};

/// A gap as a row of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GapMark {
    /// Its feed.
    pub feed: FeedKey,
    /// Its name.
    pub gap: GapKey,
    /// The date it is listed under: after all entries of that date.
    pub listed: DateTime<Utc>,
}

/// The gaps of a feed as a list shows them.
pub fn of_feed(model: &Model, feed: &Subscription, now: DateTime<Utc>) -> Vec<(GapMark, Gap)> {
    marked(feed, model.backfills.contains_key(&feed.key), now)
}

/// The same, of a feed whose archives are being walked or not.
pub fn marked(feed: &Subscription, walking: bool, now: DateTime<Utc>) -> Vec<(GapMark, Gap)> {
    // A walk that rests at a document without dates stands where that document was read.
    let noticed = feed.state.facts.last_ok.unwrap_or(feed.record.added);
    let shown = feed.history.shown_gaps(walking, now).into_iter();
    let mark = |(key, mut gap): (GapKey, Gap)| {
        if gap.kind() == GapKind::Interrupted {
            gap.first_seen = noticed;
        }
        (GapMark { feed: feed.key, gap: key, listed: gap.listed() }, gap)
    };
    shown.map(mark).collect()
}

/// The gaps that stand in a list of these entries. One of unread or starred entries holds none.
pub fn in_query(model: &Model, query: &ListQuery, now: DateTime<Utc>) -> Vec<GapMark> {
    if query.show != Show::All {
        return Vec::new();
    }
    let in_scope = |feed: &&Subscription| match &query.scope {
        Scope::Everything => true,
        Scope::Feeds(feeds) => feeds.contains(&feed.key),
        Scope::Found(matching) => matching.wants_gaps() && matching.feeds.contains(&feed.key),
    };
    let young = |mark: &GapMark| match &query.scope {
        Scope::Found(matching) => matching.fits_date(mark.listed.timestamp()),
        Scope::Everything | Scope::Feeds(_) => query.since.is_none_or(|since| mark.listed >= since),
    };
    let feeds = model.feeds.values().filter(in_scope);
    let marks = feeds.flat_map(|feed| of_feed(model, feed, now)).map(|(mark, _)| mark);
    marks.filter(young).collect()
}

/// Everything that is missing, of all feeds; the lasting mark of a paged feed is none of it.
pub fn everywhere(model: &Model, now: DateTime<Utc>) -> Vec<GapMark> {
    let marks = model.feeds.values().flat_map(|feed| of_feed(model, feed, now));
    marks.filter(|(_, gap)| gap.counts()).map(|(mark, _)| mark).collect()
}

/// How many that are.
pub fn count(model: &Model, now: DateTime<Utc>) -> u32 {
    let has_any =
        |feed: &&Subscription| !feed.history.gaps.is_empty() || !feed.history.frontiers.is_empty();
    let feeds = model.feeds.values().filter(has_any);
    let counts =
        feeds.map(|feed| of_feed(model, feed, now).iter().filter(|(_, gap)| gap.counts()).count());
    u32::try_from(counts.sum::<usize>()).unwrap_or(u32::MAX)
}

/// Builds the open list anew if gaps came or went.
pub fn follow(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if !model.screen.is_on() || model.screen.list.waiting || model.screen.search.is_some() {
        return Vec::new();
    }
    if feeds_pane::query(model, now).gaps == model.screen.list.gaps {
        return Vec::new();
    }
    navigation::refresh_list(model, now)
}

/// A gap as it is now; `None`: it was filled, or is being filled.
pub fn shown(model: &Model, feed: FeedKey, key: GapKey, now: DateTime<Utc>) -> Option<Gap> {
    let marks = of_feed(model, model.feeds.get(&feed)?, now).into_iter();
    marks.into_iter().find_map(|(mark, gap)| (mark.gap == key).then_some(gap))
}

/// The lines of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapLines {
    /// What is missing.
    pub what: &'static str,
    /// Why.
    pub why: String,
    /// What happens next.
    pub next: String,
    /// What Enter does, if anything.
    pub enter: &'static str,
}

impl GapLines {
    /// What stands in the place of a gap that is being filled, until its entries do.
    pub fn being_fetched() -> Self {
        let (why, next) = ("its archive is being fetched".to_owned(), String::new());
        Self { what: "older entries", why, next, enter: "" }
    }
}

/// What a row says of a gap.
pub fn lines(gap: &Gap, now: DateTime<Utc>, zone: Tz) -> GapLines {
    let (next, enter) = next(gap, now, zone);
    GapLines { what: what(gap), why: why(gap), next, enter }
}

/// What a walk that brought nothing leaves to be said: why the part asked for last is still missing.
pub fn still_missing(record: &HistoryRecord) -> Option<String> {
    let gaps = record.gaps.values().filter(|gap| gap.counts());
    let last = gaps.max_by_key(|gap| gap.last_try)?;
    Some(format!("nothing came: {}", why(last)))
}

fn what(gap: &Gap) -> &'static str {
    match gap.kind() {
        GapKind::Unavailable | GapKind::Unreadable | GapKind::Loop => "older entries missing",
        GapKind::Limit => "older archives exist",
        GapKind::Overrun => "entries may have been missed",
        GapKind::Paged => "older pages may exist",
        GapKind::Interrupted => "fetching history paused",
    }
}

fn why(gap: &Gap) -> String {
    let archive = format!("archive {}", name(&gap.edge.url));
    let day = |date: DateTime<Utc>| date.format("%Y-%m-%d").to_string();
    match &gap.reason {
        Reason::Status(status) => format!("{archive} answered {status}"),
        Reason::Unanswered(why) => format!("{archive} did not answer: {why}"),
        Reason::Blocked(why) => format!("{archive} was not asked: {why}"),
        Reason::TooLarge(why) => format!("{archive} is too large: {why}"),
        Reason::Unreadable(why) => format!("{archive} could not be read: {why}"),
        Reason::Loop => format!("the chain of archives loops at {}", name(&gap.edge.url)),
        Reason::Limit { limit, fetched } => match limit {
            Limit::Documents | Limit::Entries | Limit::Bytes => format!("{fetched} fetched"),
            Limit::Day => format!("{fetched} fetched; enough for today"),
            Limit::NothingNew => {
                format!("{fetched} fetched; the last three brought nothing new")
            }
            Limit::Kept => "no more than are known of this feed are kept".to_owned(),
            Limit::Consent => format!("at {}", host(&gap.edge.url).unwrap_or_default()),
            Limit::OldForm => "this feed uses an old form of history".to_owned(),
            Limit::Off => "history is off for this feed".to_owned(),
            Limit::Stopped => format!("{fetched} fetched; stopped"),
        },
        Reason::Overrun { .. } => match (gap.older.map(day), gap.edge.newer.oldest.map(day)) {
            (Some(from), Some(until)) => format!("between {from} and {until}"),
            (None, Some(until)) => format!("before {until}"),
            (_, None) => "here".to_owned(),
        },
        Reason::Paged => "what is shown may be incomplete".to_owned(),
        Reason::Interrupted => format!("{archive} comes next"),
    }
}

/// The last part of an address, which tells archives of one feed apart.
fn name(url: &str) -> &str {
    let end = url.trim_end_matches('/');
    end.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(end)
}

/// What happens next, and what Enter does.
fn next(gap: &Gap, now: DateTime<Utc>, zone: Tz) -> (String, &'static str) {
    let (next, enter) = match (gap.kind(), gap.retry_at) {
        (GapKind::Unavailable | GapKind::Unreadable, Some(at)) => {
            return (format!("again {}", day_and_time(at, now, zone)), "asks now");
        }
        (GapKind::Unavailable | GapKind::Unreadable, None) => ("again only by hand", "asks now"),
        (GapKind::Limit, _) if needs_consent(&gap.reason) => ("by hand", "fetches them"),
        (GapKind::Limit, _) => ("more only by hand", "continues"),
        (GapKind::Loop, _) => ("the publisher's mistake", "reads it again"),
        (GapKind::Overrun, _) => {
            return (gap.advice().unwrap_or_else(|| "it cannot be asked for".to_owned()), "");
        }
        (GapKind::Paged, _) if gap.edge.url.is_empty() => ("none is known", "looks again"),
        (GapKind::Paged, _) => ("one at a time", "loads one"),
        (GapKind::Interrupted, _) => ("after the next check", "goes on now"),
    };
    (next.to_owned(), enter)
}

const fn needs_consent(reason: &Reason) -> bool {
    matches!(reason, Reason::Limit { limit: Limit::Consent | Limit::OldForm | Limit::Off, .. })
}

/// A time to come: `today 18:00`, `tomorrow 18:00`, `on 4 March 18:00`; one that has come: `after the next check`.
fn day_and_time(at: DateTime<Utc>, now: DateTime<Utc>, zone: Tz) -> String {
    if at <= now {
        return "after the next check".to_owned();
    }
    let (then, today) = (at.with_timezone(&zone), now.with_timezone(&zone).date_naive());
    let time = then.format("%H:%M");
    match then.date_naive().signed_duration_since(today).num_days() {
        0 => format!("today {time}"),
        1 => format!("tomorrow {time}"),
        _ => format!("on {} {time}", then.format("%-d %B")),
    }
}

/// The header line of a feed's list: how far a walk under way is, else the state of its history.
pub fn standing(model: &Model, feed: &Subscription) -> Option<String> {
    stated(model, feed, HistoryStatus::text)
}

/// The same where there is little room.
pub fn brief_standing(model: &Model, feed: &Subscription) -> Option<String> {
    stated(model, feed, HistoryStatus::brief)
}

fn stated(
    model: &Model,
    feed: &Subscription,
    words: fn(HistoryStatus) -> String,
) -> Option<String> {
    feed.state.facts.last_ok?;
    let walking = crate::engine::backfill::walks::progress(model, feed);
    Some(walking.unwrap_or_else(|| words(feed.history.status())))
}

/// Whether the list of all gaps is open.
pub fn is_open(model: &Model) -> bool {
    matches!(model.screen.feeds.selected_row(), Some(FeedsRow::Gaps))
}

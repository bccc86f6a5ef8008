//! Gaps as rows of the entry list: their selection, position, and text (SPEC C.8).

use chrono::{DateTime, Utc};

use crate::engine::entries::rows::{GapMark, ListQuery, Scope, Show};
use crate::engine::event::Event;
use crate::engine::feeds::subscription::{Subscription, missing_in};
use crate::engine::state::Engine;
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::history::{FeedKey, Gap, GapKey, GapKind, HistoryStatus};

/// Returns the gaps of a feed that an entry list shows, each with its row.
pub fn of_feed(engine: &Engine, feed: &Subscription, now: DateTime<Utc>) -> Vec<(GapMark, Gap)> {
    marked(feed, engine.backfills.contains_key(&feed.key), now)
}

/// Returns the gaps of a feed that an entry list shows, each with its row. `walking` is `true` while the feed's archives are being
/// fetched.
pub fn marked(feed: &Subscription, walking: bool, now: DateTime<Utc>) -> Vec<(GapMark, Gap)> {
    // If the document at which a walk was interrupted has no dates, list the gap under the time of the last successful poll.
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

/// Returns the gaps to show in the list that a query selects. Only a list of all entries shows gaps.
pub fn in_query(engine: &Engine, query: &ListQuery, now: DateTime<Utc>) -> Vec<GapMark> {
    if query.show != Show::All {
        return Vec::new();
    }
    let in_scope = |feed: &&Subscription| match &query.scope {
        Scope::Everything => true,
        Scope::Feeds(feeds) => feeds.contains(&feed.key),
        Scope::Found(matching) => matching.wants_gaps(),
    };
    let young = |mark: &GapMark| match &query.scope {
        Scope::Found(matching) => matching.fits_gap(mark.feed, mark.listed),
        Scope::Everything | Scope::Feeds(_) => query.since.is_none_or(|since| mark.listed >= since),
    };
    let feeds = engine.feeds.values().filter(in_scope);
    let marks = feeds.flat_map(|feed| of_feed(engine, feed, now)).map(|(mark, _)| mark);
    marks.filter(young).collect()
}

/// Returns the gaps of all feeds for which [`Gap::counts`] is true, which excludes the marker of a paged feed.
pub fn everywhere(engine: &Engine, now: DateTime<Utc>) -> Vec<GapMark> {
    let marks = engine.feeds.values().flat_map(|feed| of_feed(engine, feed, now));
    marks.filter(|(_, gap)| gap.counts()).map(|(mark, _)| mark).collect()
}

/// Returns the number of gaps that [`everywhere`] returns.
pub fn count(engine: &Engine, now: DateTime<Utc>) -> u32 {
    let has_any =
        |feed: &&Subscription| !feed.history.gaps.is_empty() || !feed.history.frontiers.is_empty();
    let feeds = engine.feeds.values().filter(has_any);
    let counts =
        feeds.map(|feed| of_feed(engine, feed, now).iter().filter(|(_, gap)| gap.counts()).count());
    u32::try_from(counts.sum::<usize>()).unwrap_or(u32::MAX)
}

/// Returns the gap with this key, or `None` if the gap was filled or is being filled.
pub fn shown(engine: &Engine, feed: FeedKey, key: GapKey, now: DateTime<Utc>) -> Option<Gap> {
    let marks = of_feed(engine, engine.feeds.get(&feed)?, now).into_iter();
    marks.into_iter().find_map(|(mark, gap)| (mark.gap == key).then_some(gap))
}

/// Returns the header line of a feed's entry list: the progress of the archive walk under way, or else the state of the feed's
/// history.
pub fn standing(engine: &Engine, feed: &Subscription) -> Option<String> {
    let of_account = |name: &str| format!("as the account '{name}' has it: may be incomplete");
    stated(engine, feed, HistoryStatus::text, of_account)
}

/// Returns the text of [`standing`] in a short form for narrow screens.
pub fn brief_standing(engine: &Engine, feed: &Subscription) -> Option<String> {
    stated(engine, feed, HistoryStatus::brief, |_| "as its account has it".to_owned())
}

fn stated(
    engine: &Engine,
    feed: &Subscription,
    words: fn(HistoryStatus) -> String,
    of_account: impl Fn(&str) -> String,
) -> Option<String> {
    if let Some(why) = FeedSource::of(&feed.record.url).without_history() {
        return Some(why.to_owned());
    }
    if let Some(name) = history_account(feed) {
        return Some(of_account(name));
    }
    feed.state.facts.last_ok?;
    let walking = crate::engine::backfill::walks::progress(engine, feed);
    Some(walking.unwrap_or_else(|| words(feed.history.status())))
}

/// Returns the account from which the older entries of a feed come: its server polls the feed, or the publisher offers none. Nobody
/// knows whether a server has all entries that the publisher had.
pub fn history_account(feed: &Subscription) -> Option<&str> {
    let settings = &feed.record.feed_settings;
    let is_only_way = settings.is_polled_by_server()
        || feed.state.facts.last_ok.is_none()
        || feed.history.status() == HistoryStatus::NotOffered;
    settings.account.as_deref().filter(|_| is_only_way)
}

/// Emits an event for each gap of a feed that appeared or was closed since the last call.
pub fn tell_changes(engine: &mut Engine, feed: FeedKey) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let now = missing_in(&subscription.history);
    let before = std::mem::replace(&mut subscription.told_gaps, now);
    let (now, gaps) = (&subscription.told_gaps, &subscription.history.gaps);
    let mut events = Vec::new();
    for (&gap, missing) in now.iter().filter(|(gap, _)| !before.contains_key(gap)) {
        let text = gaps.get(&gap).map(Gap::text).unwrap_or_default();
        events.push(Event::GapOpened { feed, gap, text, missing: missing.clone() });
    }
    for (&gap, missing) in before.iter().filter(|(gap, _)| !now.contains_key(gap)) {
        events.push(Event::GapClosed { feed, gap, missing: missing.clone() });
    }
    for event in events {
        engine.tell_when_durable(feed, event);
    }
}

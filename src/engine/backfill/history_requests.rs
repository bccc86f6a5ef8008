//! The user's requests for older entries of a feed, and gaps as rows of the entry list: their selection, position, and text (SPEC
//! C.8). Gaps can be hidden.

use std::sync::Arc;

use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::history::{
    DocumentKind, FeedKey, Gap, GapKey, GapKind, GapState, HistoryStatus,
};
use chrono::{DateTime, Utc};

use super::walk_stage::HistoryAction;
use super::{archive_response, brought, walks};
use crate::engine::change::undo_stack::Step;
use crate::engine::change::{self, Change, ChangeId};
use crate::engine::entries::rows::{GapMark, ListQuery, Scope, Show};
use crate::engine::feeds::subscription::{Subscription, missing_in};
use crate::engine::politeness::rate_limits;
use crate::engine::poll::manual_poll;
use crate::engine::request::Event;
use crate::engine::state::Engine;

/// Requests older entries of a feed, at one gap or at all gaps. A request for all gaps stops the feed's archive walk if one is
/// under way.
pub fn more(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, gap: Option<GapKey>) {
    let Some(subscription) = engine.feeds.get(&feed) else { return };
    let title = subscription.record.shown_title().to_owned();
    if engine.offline {
        return engine.say("backissue was started with --offline");
    }
    if gap.is_none() && engine.backfills.contains_key(&feed) {
        return walks::stop(engine, now, feed);
    }
    if let Some(why) = FeedSource::of(&subscription.record.url).without_history() {
        return engine.say(format!("{title}: {why}"));
    }
    let settings = &subscription.record.feed_settings;
    if settings.is_polled_by_server() && subscription.state.facts.last_ok.is_none() {
        // Only the document of the publisher names its archives.
        manual_poll::poll_now(engine, now, feed);
        return engine.say(format!(
            "{title}: reading the publisher's archives once; --poll-here on (e) polls it here, too"
        ));
    }
    let record = &subscription.history;
    let action = match gap {
        Some(key) => HistoryAction::GoOn(key),
        None if record.kind == DocumentKind::Paged && !record.archived => HistoryAction::Page,
        None if !brought::hidden(subscription).is_empty() => {
            let entries = brought::hidden(subscription).to_vec();
            return brought::show(engine, feed, &entries, true, false);
        }
        None if record.missing() == 0 => {
            let text = format!("{title}: {}", record.status().text());
            return engine.say(text);
        }
        None => HistoryAction::Everywhere,
    };
    engine.say(format!("{title}: requesting older entries"));
    // Start-up delays do not apply to a manual request.
    engine.host_queue.not_before = None;
    walks::begin(engine, now, feed, Some(action));
}

/// Starts an action on a feed's history, unless backissue is offline.
pub fn begin(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, action: HistoryAction) {
    if engine.feeds.contains_key(&feed) && !engine.offline {
        engine.host_queue.not_before = None;
        walks::begin(engine, now, feed, Some(action));
    }
}

/// Hides a gap in the entry lists and adds an undo step.
pub fn dismiss(engine: &mut Engine, feed: FeedKey, gap: GapKey) {
    let known = engine.feeds.get(&feed).and_then(|feed| feed.history.gaps.get(&gap));
    let Some(known) = known else {
        return engine.say("this line disappears when the history has been fetched");
    };
    if !known.is_shown() {
        // The gap does not change, so there is nothing to undo.
        return engine.say("this gap is already hidden");
    }
    let step = engine.undo.push(Step::Dismissed { feed, gap });
    engine.say_undoable("gap hidden");
    set_gap(engine, feed, gap, GapState::Dismissed, step);
}

/// Hides a gap or shows it again, if it is there and in another state.
pub fn set_gap(
    engine: &mut Engine,
    feed: FeedKey,
    gap: GapKey,
    state: GapState,
    step: Option<ChangeId>,
) {
    if replace_state(engine, feed, gap, state).is_none() {
        return;
    }
    engine.tell(Event::ListsChanged);
    if let Some(commit) = brought::commit_of_record(engine, feed) {
        change::write(engine, Change::Gap(commit), step);
    }
}

/// Sets the state of a gap. Returns `None` if there is nothing to change.
fn replace_state(engine: &mut Engine, feed: FeedKey, gap: GapKey, state: GapState) -> Option<()> {
    let subscription = engine.feeds.get_mut(&feed)?;
    let before = subscription.history.gaps.get(&gap)?.state;
    if before == state || (state == GapState::Open && before != GapState::Dismissed) {
        return None;
    }
    Arc::make_mut(&mut subscription.history).gaps.get_mut(&gap)?.state = state;
    Some(())
}

/// Applies the user's choice of an external archive, or of no external archive, to the history of a feed. Cancels the feed's
/// archive walk; archives are requested again after the feed's next successful poll.
pub fn adapt(engine: &mut Engine, feed: FeedKey) {
    rate_limits::drop_walk(engine, feed);
    let way = archive_response::way(engine, feed);
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    if subscription.state.facts.last_ok.is_none() {
        return;
    }
    Arc::make_mut(&mut subscription.history).adapt(way.as_ref());
    brought::write_record(engine, feed);
    engine.tell(Event::ListsChanged);
}

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
        Scope::Portion(_) => false,
        Scope::Feeds(feeds) => feeds.contains(&feed.key),
        Scope::Found(matching) => matching.wants_gaps(),
    };
    let young = |mark: &GapMark| match &query.scope {
        Scope::Found(matching) => matching.fits_gap(mark.feed, mark.listed),
        Scope::Everything | Scope::Feeds(_) | Scope::Portion(_) => {
            query.since.is_none_or(|since| mark.listed >= since)
        }
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
    let sum = || u32::try_from(counts.sum::<usize>()).unwrap_or(u32::MAX);
    *engine.sums.gaps.get_or_init(sum)
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
        let there = feed.state.history_there.as_ref();
        return Some(there.map_or_else(|| of_account(name), |there| there.text.clone()));
    }
    feed.state.facts.last_ok?;
    let walking = walks::progress(engine, feed);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::feeds::subscription::{Subscription, SubscriptionRecord};
    use crate::engine::request::{Input, Request};
    use crate::engine::settings::Settings;
    use crate::engine::update::update;

    #[test]
    fn archives_of_a_feed_that_only_its_server_polls_are_read_once() {
        let now = DateTime::UNIX_EPOCH;
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, Vec::new(), now);
        let url = "https://a.example/feed".to_owned();
        let mut record = SubscriptionRecord { url, ..SubscriptionRecord::default() };
        record.feed_settings.account = Some("home".into());
        let feed = FeedKey(1);
        engine.feeds.insert(feed, Subscription::new(feed, record));
        let output = update(&mut engine, now, Input::Request(Request::MoreHistory(feed, None)));
        assert!(engine.polls.contains_key(&feed), "{output:?}");
        let told = format!("{:?}", output.events);
        assert!(told.contains("archives once") && !told.contains("no older entries"), "{told}");
    }
}

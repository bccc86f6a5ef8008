//! The user's requests for older entries of a feed, and hiding of gaps.

use std::sync::Arc;

use crate::engine::politeness::drop_fetches;
use chrono::{DateTime, Utc};

use super::history_actions::HistoryAction;
use super::{walk_policy, walks};
use crate::engine::change::step::Step;
use crate::engine::change::{self, Change, ChangeId};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::feeds::subscription::HistoryCommit;
use crate::engine::poll::manual_poll;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::history::{DocumentKind, FeedKey, GapKey, GapState};

/// Requests older entries of a feed, at one gap or at all gaps. A request for all gaps stops the feed's archive walk if one is
/// under way.
pub fn more(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    gap: Option<GapKey>,
) -> Vec<Effect> {
    let Some(subscription) = engine.feeds.get(&feed) else { return Vec::new() };
    let title = subscription.record.shown_title().to_owned();
    if engine.offline {
        engine.say("backissue was started with --offline");
        return Vec::new();
    }
    if gap.is_none() && engine.backfills.contains_key(&feed) {
        return walks::stop(engine, now, feed);
    }
    if let Some(why) = FeedSource::of(&subscription.record.url).without_history() {
        engine.say(format!("{title}: {why}"));
        return Vec::new();
    }
    let settings = &subscription.record.feed_settings;
    if settings.is_polled_by_server() && subscription.state.facts.last_ok.is_none() {
        // Only the document of the publisher names its archives.
        let effects = manual_poll::poll_now(engine, now, feed);
        engine.say(format!(
            "{title}: reading the publisher's archives once; --poll-here on (e) polls it here, too"
        ));
        return effects;
    }
    let record = &subscription.history;
    let action = match gap {
        Some(key) => HistoryAction::GoOn(key),
        None if record.kind == DocumentKind::Paged && !record.archived => HistoryAction::Page,
        None if record.missing() == 0 => {
            let text = format!("{title}: {}", record.status().text());
            engine.say(text);
            return Vec::new();
        }
        None => HistoryAction::Everywhere,
    };
    engine.say(format!("{title}: requesting older entries"));
    // Start-up delays do not apply to a manual request.
    engine.host_queue.not_before = None;
    walks::begin(engine, now, feed, Some(action))
}

/// Starts an action on a feed's history, unless backissue is offline.
pub fn begin(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    action: HistoryAction,
) -> Vec<Effect> {
    if engine.feeds.contains_key(&feed) && !engine.offline {
        engine.host_queue.not_before = None;
        walks::begin(engine, now, feed, Some(action))
    } else {
        Vec::new()
    }
}

/// Hides a gap in the entry lists and adds an undo step.
pub fn dismiss(engine: &mut Engine, feed: FeedKey, gap: GapKey) -> Vec<Effect> {
    let known = engine.feeds.get(&feed).and_then(|feed| feed.history.gaps.get(&gap));
    let Some(known) = known else {
        engine.say("this line disappears when the history has been fetched");
        return Vec::new();
    };
    if !known.is_shown() {
        // The gap does not change, so there is nothing to undo.
        engine.say("this gap is already hidden");
        return Vec::new();
    }
    let step = engine.undo.push(Step::Dismissed { feed, gap });
    engine.say_undoable("gap hidden");
    set_gap(engine, feed, gap, GapState::Dismissed, step)
}

/// Hides a gap or shows it again, if it is there and in another state.
pub fn set_gap(
    engine: &mut Engine,
    feed: FeedKey,
    gap: GapKey,
    state: GapState,
    step: Option<ChangeId>,
) -> Vec<Effect> {
    let Some(before) = replace_state(engine, feed, gap, state) else { return Vec::new() };
    engine.tell(Event::ListsChanged);
    let commit = commit_of_record(engine, feed);
    let written = commit.map(|it| change::write(engine, Change::Gap(it, gap, before), step));
    Vec::from_iter(written)
}

/// Sets the state of a gap, and returns the state before if it was another one.
fn replace_state(
    engine: &mut Engine,
    feed: FeedKey,
    gap: GapKey,
    state: GapState,
) -> Option<GapState> {
    let subscription = engine.feeds.get_mut(&feed)?;
    let before = subscription.history.gaps.get(&gap)?.state;
    if before == state || (state == GapState::Open && before != GapState::Dismissed) {
        return None;
    }
    Arc::make_mut(&mut subscription.history).gaps.get_mut(&gap)?.state = state;
    Some(before)
}

/// Shows a gap as it was before a change that could not be written. A later write contains the failed change: the record is written
/// again then.
pub fn put_back(
    engine: &mut Engine,
    feed: FeedKey,
    (gap, before): (GapKey, GapState),
    is_in_later: bool,
) -> Vec<Effect> {
    replace_state(engine, feed, gap, before);
    engine.tell(Event::ListsChanged);
    Vec::from_iter(is_in_later.then(|| write_record(engine, feed)).flatten())
}

/// Applies the user's choice of an external archive, or of no external archive, to the history of a feed. Cancels the feed's
/// archive walk; archives are requested again after the feed's next successful poll.
pub fn adapt(engine: &mut Engine, feed: FeedKey) -> Vec<Effect> {
    let mut effects = Vec::from_iter(drop_fetches::drop_walk(engine, feed));
    let way = walk_policy::way(engine, feed);
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return effects };
    if subscription.state.facts.last_ok.is_none() {
        return effects;
    }
    Arc::make_mut(&mut subscription.history).adapt(way.as_ref());
    effects.extend(write_record(engine, feed));
    engine.tell(Event::ListsChanged);
    effects
}

/// Returns a feed's history record to be written. During an archive walk of the feed there is nothing to write, because the walk writes
/// the record with its next archive.
fn commit_of_record(engine: &Engine, feed: FeedKey) -> Option<Box<HistoryCommit>> {
    let record = engine.feeds.get(&feed)?.history.clone();
    let is_walked = engine.backfills.contains_key(&feed);
    let commit = HistoryCommit { feed, record, nodes: Vec::new(), document: None };
    (!is_walked).then(|| Box::new(commit))
}

/// Returns the effect that writes a feed's history record after a change.
pub fn write_record(engine: &Engine, feed: FeedKey) -> Option<Effect> {
    Some(Effect::store(Job::KeepHistory(commit_of_record(engine, feed)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::feeds::subscription::{Subscription, SubscriptionRecord};
    use crate::engine::input::Input;
    use crate::engine::request::Request;
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

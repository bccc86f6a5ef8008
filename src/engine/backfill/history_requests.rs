//! The reader asks for more of a feed's history, or does not want to see a gap.

use crate::engine::politeness::drop_fetches;
use chrono::{DateTime, Utc};

use super::history_actions::HistoryAction;
use super::{walk_policy, walks};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::feeds::subscription::HistoryCommit;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::engine::undo::undo_stack::Step;
use backissue_core::history::{DocumentKind, FeedKey, GapKey};

/// Asks for more of a feed's history: at one gap, or wherever something is missing. A walk under way is stopped.
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
    engine.say(format!("{title}: asking for older entries"));
    // Who asks by hand is not kept waiting by the spread at start-up.
    engine.host_queue.not_before = None;
    walks::begin(engine, now, feed, Some(action))
}

/// Does one thing with a feed's history.
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

/// Hides a gap; that can be undone.
pub fn dismiss(engine: &mut Engine, feed: FeedKey, gap: GapKey) -> Vec<Effect> {
    if is_dismissed(engine, feed, gap) {
        // Nothing changes, so there is nothing to take back either.
        engine.say("this gap is hidden already");
        return Vec::new();
    }
    let Some(effects) = hide(engine, feed, gap) else {
        engine.say("it goes away by itself when the history has been fetched");
        return Vec::new();
    };
    engine.undo.push(Step::Dismissed { feed, gap });
    engine.say_undoable("this gap is hidden");
    effects
}

fn is_dismissed(engine: &Engine, feed: FeedKey, gap: GapKey) -> bool {
    let gap = engine.feeds.get(&feed).and_then(|feed| feed.history.gaps.get(&gap));
    gap.is_some_and(|gap| !gap.is_shown())
}

/// Hides a gap, if there is such a one.
pub fn hide(engine: &mut Engine, feed: FeedKey, gap: GapKey) -> Option<Vec<Effect>> {
    let subscription = engine.feeds.get_mut(&feed)?;
    subscription.history.dismiss(gap).then(|| changed(engine, feed))
}

/// Shows a gap again that was hidden.
pub fn show_again(engine: &mut Engine, feed: FeedKey, gap: GapKey) -> Vec<Effect> {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return Vec::new() };
    subscription.history.show_again(gap);
    changed(engine, feed)
}

/// The reader chose where older entries are looked for that the publisher does not offer, or nowhere: what was under way is
/// dropped. What is to be asked for is asked for after the feed's next good check.
pub fn adapt(engine: &mut Engine, feed: FeedKey) -> Vec<Effect> {
    let mut effects = Vec::from_iter(drop_fetches::drop_walk(engine, feed));
    let way = walk_policy::way(engine, feed);
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return effects };
    if subscription.state.facts.last_ok.is_none() {
        return effects;
    }
    subscription.history.adapt(way.as_ref());
    effects.extend(changed(engine, feed));
    effects
}

/// Writes what is known of a feed's history. No walk of it may be under way: what that knows of archives is written with it.
pub fn write_record(engine: &Engine, feed: FeedKey) -> Option<Effect> {
    let record = engine.feeds.get(&feed)?.history.clone();
    let commit = HistoryCommit { feed, record, nodes: Vec::new(), document: None };
    Some(Effect::store(Job::KeepHistory(Box::new(commit))))
}

/// A gap was hidden or shown: the record is written now, or with the archive that is under way.
fn changed(engine: &mut Engine, feed: FeedKey) -> Vec<Effect> {
    let is_walked = engine.backfills.contains_key(&feed);
    let written = if is_walked { None } else { write_record(engine, feed) };
    let effects = Vec::from_iter(written);
    engine.tell(Event::ListsChanged);
    effects
}

//! Moves of feeds to another address, which the user accepts, declines or undoes, and merges of two feeds (SPEC D.3).

use backissue_core::{InputFlaw, flaw};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::addresses::{comparable, subscribed_as};
use super::subscription::{
    FeedState, GivenBy, NamedBy, ProposedMove, Subscription, SubscriptionRecord,
};
use super::unsubscribe::{also_there, removed_there};
use super::{change_settings, unsubscribe};
use crate::engine::backfill::brought::write_record;
use crate::engine::change::undo_stack::Step;
use crate::engine::change::value::{ChangeId, Direction, FeedChange, FeedParts, ListChange};
use crate::engine::change::{self, Change, MarkChange};
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits;
use crate::engine::poll::fetch::Purpose;
use crate::engine::poll::poll_request::replace_address;
use crate::engine::poll::{learn, manual_poll};
use crate::engine::request::{Effect, Event};
use crate::engine::state::Engine;
use crate::engine::store_work::AbsorbedEntries;
use backissue_core::accounts::subscriptions::Leaving;
use backissue_core::feed::FeedDocument;
use backissue_core::filters::FilterScope;
use backissue_core::history::{FeedKey, Flag};
use backissue_core::schedule::FeedStatus;

/// Returns the subscription into which a feed is merged if the user accepts its proposed move.
pub fn merged_into(engine: &Engine, feed: FeedKey) -> Option<FeedKey> {
    let proposed = engine.feeds.get(&feed)?.state.proposed.as_ref()?;
    subscribed_as(engine, &proposed.to).filter(|&other| other != feed)
}

/// Accepts a proposed move: stores the new address and polls it, or merges the feed with the subscription that already has that
/// address.
pub fn accept_move(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    let Some(proposed) = engine.feeds.get(&feed).and_then(|feed| feed.state.proposed.clone())
    else {
        return;
    };
    if let Some(into) = merged_into(engine, feed) {
        return merge(engine, now, feed, into);
    }
    change_address(engine, now, feed, |subscription| {
        let Subscription { record, state, .. } = subscription;
        replace_address(record, state, now, proposed.to.clone(), proposed.public);
        if state.facts.standing == FeedStatus::Archive {
            state.facts.standing = FeedStatus::Active;
        }
        format!("'{}' is now read from {}", record.shown_title(), record.url)
    });
    // Poll now, because nothing has been read from the new address yet.
    manual_poll::poll_now(engine, now, feed);
}

/// Changes the address of a feed to `to`, which the user chose. `document` is the feed at that address, and `named_by` the document
/// that named the address. Entries, marks and settings stay. Returns a sentence about the change. The error is a sentence with the
/// reason that the address is not used.
pub(super) fn move_to(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    (to, named_by): (&str, Option<NamedBy>),
    document: &FeedDocument,
) -> Result<String, InputFlaw> {
    manual_poll::stop(engine, now, vec![feed]);
    let subscription = engine.feeds.get(&feed).ok_or("that subscription no longer exists")?;
    let title = subscription.record.shown_title();
    match subscribed_as(engine, to).and_then(|key| engine.feeds.get(&key)) {
        Some(other) if other.key == feed => {
            return Err(flaw!("'{title}' already has the address {to}"));
        }
        Some(other) => {
            let other = other.record.shown_title();
            return Err(flaw!(
                "'{other}' already has the address {to}: unsubscribe from one of the two feeds"
            ));
        }
        None if engine.polls.contains_key(&feed) => {
            return Err(flaw!("'{title}' is being polled: try again in a moment"));
        }
        None => {}
    }
    let is_other = !subscription.history.windows.shares(document)
        && subscription.state.facts.last_ok.is_some();
    let doubt = if is_other { "; it has none of the newest entries that you have" } else { "" };
    let text = format!("'{title}' is now read from {to}{doubt}");
    change_address(engine, now, feed, |subscription| {
        let Subscription { record, state, .. } = subscription;
        replace_address(record, state, now, to.to_owned(), false);
        if let Some(former) = record.former.last_mut() {
            former.by_user = true;
        }
        (record.named_by, record.given_by) = (named_by, Some(GivenBy::User));
        start_afresh(state);
        text.clone()
    });
    Ok(text)
}

/// Changes the address of a feed of an account, unless the user chose it or the feed moved on from there.
pub fn follow_account(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, to: String) {
    let is_free = subscribed_as(engine, &to).is_none() && !engine.polls.contains_key(&feed);
    let Some(subscription) = engine.feeds.get_mut(&feed).filter(|_| is_free) else {
        return;
    };
    let before = FeedParts::of(subscription);
    let Subscription { record, state, history, .. } = subscription;
    let was_here = record.former.iter().any(|former| comparable(&former.url) == to);
    if was_here || record.given_by != Some(GivenBy::Account) {
        return;
    }
    replace_address(record, state, now, to, true);
    start_afresh(state);
    Arc::make_mut(history).read_elsewhere();
    let from = before.record.url.clone();
    tell_move(engine, feed, from);
    save_and_show(engine, now, feed, &before, None);
}

/// Changes the address of a feed and ends the walk through the archives at its former address.
fn change_address(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    change: impl FnOnce(&mut Subscription) -> String,
) {
    changed(engine, now, feed, |subscription| {
        let text = change(subscription);
        subscription.state.archive = None;
        // The document at the new address may not continue where the document at the former address ended.
        Arc::make_mut(&mut subscription.history).read_elsewhere();
        text
    });
    if !rate_limits::drop_walk(engine, feed) {
        write_record(engine, feed);
    }
}

/// Removes the failures of a feed from its state, and that it ended.
pub(super) fn start_afresh(state: &mut FeedState) {
    let facts = &mut state.facts;
    (facts.standing, facts.failures, facts.failure) = (FeedStatus::Active, 0, None);
    (state.failing_since, state.trouble, state.obstacle) = (None, None, None);
}

/// Merges the subscription `from` into the subscription `into`, which already has the new address, and removes `from`.
fn merge(engine: &mut Engine, now: DateTime<Utc>, from: FeedKey, into: FeedKey) {
    if engine.polls.contains_key(&from) || engine.polls.contains_key(&into) {
        return engine.say("one of the two feeds is being polled: try again in a moment");
    }
    let there = also_there(&removed_there(engine, &[from]));
    let Some((mut given_up, walk)) = unsubscribe::leave(engine, from) else { return };
    let mut steps = vec![Step::Unsubscribed(from)];
    (given_up.record.ended, given_up.record.leaving) = (Some(now), Leaving::Removed);
    let mut changed = FeedChange::default();
    if let Some(kept) = engine.feeds.get_mut(&into) {
        let before = FeedParts::of(kept);
        let tags = given_up.record.tags.iter().filter(|tag| !before.record.tags.contains(tag));
        kept.record.tags.extend(tags.cloned());
        changed = FeedChange::since(&before, kept);
        if kept.record.tags != before.record.tags {
            steps.push(Step::changed(into, before.record.chosen(), kept.record.chosen()));
        }
        let text = format!(
            "'{}' was merged into '{}'",
            given_up.record.shown_title(),
            kept.record.shown_title()
        );
        let left = if there.is_empty() { "" } else { "; it is unsubscribed" };
        engine.say_undoable(format!("{text}{left}{there}"));
    }
    engine.ended.insert(from, given_up);
    engine.tell_when_durable(from, Event::SubscriptionEnded(from));
    let step = engine.undo.push(Step::Together(steps));
    // The store knows what changes in the other feed.
    engine.undo.step_begins();
    engine.tell(Event::FeedsChanged);
    engine.effects.extend(walk.map(Effect::store));
    change::write(engine, Change::Merged { from, into: (into, Box::new(changed)) }, step);
}

/// Handles the answer of the store that two feeds were merged: filters for the removed feed apply to the other one, and the undo step
/// gets what changed there.
pub fn merged(
    engine: &mut Engine,
    (from, into): (FeedKey, FeedKey),
    changes: AbsorbedEntries,
    step: Option<ChangeId>,
) {
    let filters = engine.filters.list.clone();
    for filter in &mut engine.filters.list {
        if filter.scope == FilterScope::Feed(from) {
            filter.scope = FilterScope::Feed(into);
        }
    }
    let change = ListChange::new(filters.clone(), &engine.filters.list);
    if !change.is_empty() {
        change::write(engine, Change::Filters(change), None);
    }
    let AbsorbedEntries { read, starred, added, filters: hits } = changes;
    let marks = [(Flag::Read, read), (Flag::Starred, starred)];
    let marks = marks.into_iter().filter(|(_, keys)| !keys.is_empty());
    let marks = marks.map(|(flag, keys)| Step::Marked(MarkChange { flag, value: true, keys }));
    let added =
        (!added.is_empty()).then_some(Step::Absorbed { feed: into, entries: added, again: false });
    let hits = hits.into_iter().map(|changes| Step::of_filter(filters.clone(), changes));
    engine.undo.extend(step, marks.chain(added).chain(hits).collect());
    engine.undo.step_is_known();
}

/// Reverts a move of a feed: restores the former address and records that the user declined the newer address.
pub fn undo_move(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    changed(engine, now, feed, |subscription| {
        let record = &mut subscription.record;
        if let Some(former) = record.former.pop() {
            record.declined = Some(std::mem::replace(&mut record.url, former.url));
        }
        format!("'{}' is read from {} again", record.shown_title(), record.url)
    });
}

/// Declines a proposed move and keeps the present address.
pub fn decline_move(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    changed(engine, now, feed, |subscription| {
        let proposed = subscription.state.proposed.take();
        subscription.record.declined = proposed.map(|proposed| proposed.to);
        format!("'{}' stays at {}", subscription.record.shown_title(), subscription.record.url)
    });
}

/// Restores the earlier addresses of a subscription, its permission to redirect to http, and its proposed move, for an undo or a
/// redo. The other parts of the record stay as they are.
pub fn put_back(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    before: SubscriptionRecord,
    proposed: Option<ProposedMove>,
) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let until_now = FeedParts::of(subscription);
    let SubscriptionRecord { url, former, declined, named_by, feed_settings, .. } = before;
    let record = &mut subscription.record;
    let from = std::mem::replace(&mut record.url, url);
    (record.former, record.declined, record.named_by) = (former, declined, named_by);
    record.feed_settings.allow_insecure = feed_settings.allow_insecure;
    subscription.state.proposed = proposed;
    tell_move(engine, feed, from);
    save_and_show(engine, now, feed, &until_now, None);
}

/// Reverts a change of a feed whose write failed, updates the plan, and emits events so that observers show the earlier values.
pub fn show_reverted(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, changed: &FeedChange) {
    if let Some(removed) = engine.ended.get_mut(&feed) {
        // The feed was removed later. If the write of the removal fails too, the feed is restored, so revert the change there as
        // well.
        changed.revert(removed);
    }
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let from = subscription.record.url.clone();
    changed.revert(subscription);
    follow_answer(engine, feed, changed, Direction::Revert);
    move_waiting(engine, feed, &from);
    rate_limits::heed_host(engine, now, feed);
    change_settings::show_change(engine, now, feed, true);
    // The state of the feed is written separately from its record, and may have been written although the write of the record
    // failed.
    if changed.sets_state() {
        engine.save_state(feed);
    }
    if changed.sets_windows() && !engine.backfills.contains_key(&feed) {
        write_record(engine, feed);
    }
}

/// Applies a change by the user to the saved earlier states of a feed, which are restored if a poll under way or an unreachable
/// host does not count.
fn follow_answer(engine: &mut Engine, feed: FeedKey, changed: &FeedChange, direction: Direction) {
    if let Some(poll) = engine.polls.get_mut(&feed) {
        poll.follow_answer(changed, direction);
    }
    engine.reachability.follow_answer(feed, changed, direction);
}

/// Applies `change` to a subscription at the user's request, shows the returned notice, and adds an undo step.
pub fn changed(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    change: impl FnOnce(&mut Subscription) -> String,
) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let before = FeedParts::of(subscription);
    let step = Step::Readdressed {
        feed,
        before: Box::new(subscription.record.clone()),
        proposed: subscription.state.proposed.clone(),
    };
    let from = subscription.record.url.clone();
    let text = change(subscription);
    let step = engine.undo.push(step);
    engine.say_undoable(text);
    tell_move(engine, feed, from);
    save_and_show(engine, now, feed, &before, step);
}

/// Moves waiting polls and emits an event if the address of a feed is no longer `from`.
fn tell_move(engine: &mut Engine, feed: FeedKey, from: String) {
    if let Some(to) = move_waiting(engine, feed, &from) {
        engine.tell_when_durable(feed, Event::Moved { feed, from, to });
    }
}

/// Moves waiting polls from a feed's former address `from` to the queue of its present address. Returns the present address, or
/// `None` if it is still `from`.
fn move_waiting(engine: &mut Engine, feed: FeedKey, from: &str) -> Option<String> {
    let to = engine.feeds.get(&feed).map(|feed| feed.record.url.clone()).filter(|to| to != from)?;
    let is_former =
        |waiting: &Waiting| waiting.purpose == Purpose::Poll(feed) && waiting.url == from;
    for waiting in engine.host_queue.take_waiting(is_former) {
        let waiting = Waiting { url: to.clone(), ..waiting };
        engine.host_queue.enqueue(waiting, &engine.settings.network);
    }
    Some(to)
}

/// Writes and shows a changed subscription and updates its plan. If the write fails, the subscription is reverted to `before`, and
/// the undo `step` is dropped.
pub fn save_and_show(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    before: &FeedParts,
    step: Option<ChangeId>,
) {
    rate_limits::heed_host(engine, now, feed);
    learn::replan(engine, feed, now);
    engine.tell(Event::FeedsChanged);
    let Some(subscription) = engine.feeds.get(&feed) else { return };
    let changed = FeedChange::since(before, subscription);
    follow_answer(engine, feed, &changed, Direction::Apply);
    change::write(engine, Change::Feeds(vec![(feed, changed)]), step);
    engine.save_state(feed);
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::addresses::by_address;
    use crate::engine::feeds::feed_moves::*;
    use crate::engine::feeds::subscription::{FormerAddress, SavedSubscription};
    use crate::engine::feeds::trouble::apply_answer;
    use crate::engine::poll::poll_log::PollCause;
    use crate::engine::poll::start_fetches::enqueue;
    use crate::engine::request::TroubleAnswer;
    use crate::engine::settings::Settings;
    use backissue_core::history::Counters;

    fn saved(feed: u32, url: &str, former: Option<&str>) -> SavedSubscription {
        let until = DateTime::UNIX_EPOCH;
        let former = former.map(|url| FormerAddress {
            url: url.into(),
            until,
            public: true,
            by_user: false,
        });
        let former = former.into_iter().collect();
        SavedSubscription {
            key: FeedKey(feed),
            record: SubscriptionRecord { url: url.into(), former, ..Default::default() },
            state: Box::default(),
            history: Arc::default(),
            counters: Counters::default(),
        }
    }

    #[test]
    fn a_feed_is_known_by_the_address_that_it_moved_from() {
        let now = DateTime::UNIX_EPOCH + chrono::TimeDelta::days(20_000);
        let (old, new) = ("https://a.example/old", "https://a.example/new");
        for (by_user, known) in [(false, Some(&FeedKey(1))), (true, None)] {
            let mut feed = saved(1, new, Some(old));
            feed.record.former[0].by_user = by_user;
            let engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, vec![feed], now);
            let by_address = by_address(&engine);
            assert_eq!(by_address.get(old), known);
            assert_eq!(by_address.get(new), Some(&FeedKey(1)));
        }
    }

    #[test]
    fn moves_never_give_two_feeds_one_address() {
        let now = DateTime::UNIX_EPOCH + chrono::TimeDelta::days(20_000);
        let (one, two, three) =
            ("https://a.example/one", "https://a.example/two", "https://a.example/three");
        let feeds = vec![saved(1, one, None), saved(2, two, None), saved(3, three, Some(one))];
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, feeds, now);
        let told = apply_answer(&mut engine, now, FeedKey(3), TroubleAnswer::UndoMove);
        assert!(told.unwrap_err().contains("another subscription has its former address"));
        assert_eq!(engine.feeds[&FeedKey(3)].record.url, three);
    }

    #[test]
    fn a_refused_move_sends_the_requests_that_it_started() {
        let now = DateTime::UNIX_EPOCH + chrono::TimeDelta::days(20_000);
        let (one, two) = ("https://a.example/one", "https://b.example/two");
        let feeds = vec![saved(1, one, None), saved(2, two, None)];
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, feeds, now);
        engine.host_queue.not_before = None;
        enqueue(&mut engine, now, FeedKey(1), PollCause::Asked);
        let document = FeedDocument::default();
        move_to(&mut engine, now, FeedKey(2), (one, None), &document).unwrap_err();
        let is_sent = |effect: &Effect| matches!(effect, Effect::Fetch(it) if it.url == one);
        assert!(engine.effects.iter().any(is_sent), "it counts as under way");
    }

    #[test]
    fn queued_poll_of_a_moved_feed_waits_for_the_new_site() {
        let now = DateTime::UNIX_EPOCH + chrono::TimeDelta::days(20_000);
        let feeds = vec![
            saved(1, "https://a.example/one", None),
            saved(2, "https://b.example/two", Some("https://a.example/two")),
        ];
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, feeds, now);
        engine.host_queue.not_before = None;
        enqueue(&mut engine, now, FeedKey(1), PollCause::Asked);
        let network = engine.settings.network.clone();
        let (first, _) = engine.host_queue.start(now, &network).remove(0);
        enqueue(&mut engine, now, FeedKey(2), PollCause::Asked);
        undo_move(&mut engine, now, FeedKey(2));
        assert_eq!(engine.host_queue.start(now, &network), []);
        engine.host_queue.end(first, now, &network);
        let later = now + chrono::TimeDelta::seconds(1);
        let (_, waiting) = engine.host_queue.start(later, &network).remove(0);
        assert_eq!(waiting.url, "https://a.example/two");
    }
}

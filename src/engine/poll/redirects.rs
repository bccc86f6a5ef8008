//! Feeds that move: which address is stored after a redirect, what the reader is asked, and taking it back (SPEC D.3).

use chrono::{DateTime, Utc};

use super::apply_response::PendingMove;
use super::fetch::Hop;
use super::manual_poll::{self, PollKind, PollRequest};
use super::plans;
use crate::engine::backfill::walks;
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::feeds::subscribe::subscribed_as;
use crate::engine::feeds::subscription::{
    FORMER_MAX, FeedState, FormerAddress, ProposedMove, Subscription, SubscriptionRecord,
};
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::engine::undo::Step;
use crate::feed::FeedDocument;
use crate::history::FeedKey;

/// The address reached by the leading run of permanent redirects: the only one that may replace the stored one.
pub fn permanent(hops: &[Hop]) -> Option<&str> {
    let run = hops.iter().take_while(|hop| matches!(hop.status, 301 | 308));
    run.last().map(|hop| hop.to.as_str())
}

/// What to do about a permanent redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moving {
    /// Store the new address.
    Now(String),
    /// Store it if the document shares an entry with what is kept; else ask the reader.
    IfShared(String),
    /// Ask the reader.
    Ask(String),
}

/// Judges a permanent redirect by the document at its end, before the document is merged. `taken`: another
/// subscription has that address already.
pub fn judge(
    subscription: &Subscription,
    to: &str,
    document: &FeedDocument,
    taken: bool,
) -> Option<Moving> {
    let record = &subscription.record;
    let holds_something = !document.entries.is_empty() || document.history.complete;
    if to == record.url || record.declined.as_deref() == Some(to) || !holds_something {
        return None;
    }
    let same_id = document.head.id.is_some() && document.head.id == subscription.state.feed_id;
    let to = to.to_owned();
    Some(if taken {
        Moving::Ask(to)
    } else if same_id || same_host(&record.url, &to) {
        Moving::Now(to)
    } else {
        Moving::IfShared(to)
    })
}

/// Judges a permanent redirect that ends in a 304: the validators were those of its end, so what it would send
/// is what is kept (SPEC D.3, last row).
pub fn judge_unchanged(
    subscription: &Subscription,
    to: &str,
    answered: &str,
    taken: bool,
) -> Option<Moving> {
    let (record, state) = (&subscription.record, &subscription.state);
    let asked = state.proposed.as_ref().is_some_and(|proposed| proposed.to == to);
    let declined = record.declined.as_deref() == Some(to);
    let known = state.validators.url == answered && to == answered;
    (to != record.url && known && !asked && !declined && !taken).then(|| Moving::Now(to.to_owned()))
}

fn same_host(a: &str, b: &str) -> bool {
    let host = |text: &str| url::Url::parse(text).ok()?.host_str().map(str::to_owned);
    host(a).is_some() && host(a) == host(b)
}

/// Puts the new address in the place of the stored one.
pub fn replace_address(
    record: &mut SubscriptionRecord,
    state: &mut FeedState,
    now: DateTime<Utc>,
    to: String,
    public: bool,
) {
    let from = std::mem::replace(&mut record.url, to);
    if record.former.len() >= FORMER_MAX {
        record.former.remove(0);
    }
    record.former.push(FormerAddress { url: from, until: now, public });
    (record.declined, state.proposed) = (None, None);
}

/// Asks the reader about a move.
pub fn propose(state: &mut FeedState, now: DateTime<Utc>, to: String, public: bool) {
    if state.proposed.as_ref().is_none_or(|proposed| proposed.to != to) {
        state.proposed = Some(ProposedMove { to, public, since: now });
    }
}

/// The document at the end of a permanent redirect is merged: it shares an entry with what was kept, or it does not.
pub fn after_merge(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    pending: PendingMove,
    shared: bool,
) -> Vec<Effect> {
    let Some(Subscription { record, state, .. }) = engine.feeds.get_mut(&feed) else {
        return Vec::new();
    };
    let PendingMove { to, public } = pending;
    if !shared {
        propose(state, now, to, public);
        let effect = Effect::store(Job::SaveState(feed, Box::new(state.clone())));
        let text = format!("'{}' says that it moved · Attention asks", record.shown_title());
        engine.say(text);
        return vec![effect];
    }
    replace_address(record, state, now, to, public);
    let text = format!("'{}' moved to {}", record.shown_title(), record.url);
    let saved = (record.clone(), state.clone());
    engine.say(text);
    save_and_show(engine, now, feed, saved)
}

/// The reader accepts a move that was proposed.
pub fn accept_move(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) -> Vec<Effect> {
    let Some(proposed) = engine.feeds.get(&feed).and_then(|feed| feed.state.proposed.clone())
    else {
        return Vec::new();
    };
    let into = subscribed_as(engine, &proposed.to).filter(|&other| other != feed);
    if let Some(into) = into {
        return merge(engine, now, feed, into);
    }
    changed(engine, now, feed, |subscription| {
        let Subscription { record, state, history, .. } = subscription;
        replace_address(record, state, now, proposed.to.clone(), proposed.public);
        // What is published there need not go on where the former address ended.
        history.forget_windows();
        format!("'{}' is now read from {}", record.shown_title(), record.url)
    })
}

/// Hands everything kept of one subscription to another that has the address it moved to, and gives the first up.
fn merge(engine: &mut Engine, now: DateTime<Utc>, from: FeedKey, into: FeedKey) -> Vec<Effect> {
    if engine.polls.contains_key(&from) || engine.polls.contains_key(&into) {
        engine.say("it is being polled: try again in a moment");
        return Vec::new();
    }
    let Some(mut given_up) = engine.feeds.remove(&from) else { return Vec::new() };
    engine.timetable.remove(&from);
    walks::drop_walk(engine, from);
    given_up.history.asking = None;
    given_up.record.ended = Some(now);
    let mut records = vec![(from, given_up.record.clone())];
    if let Some(kept) = engine.feeds.get_mut(&into) {
        let tags = given_up.record.tags.iter().filter(|tag| !kept.record.tags.contains(tag));
        let tags: Vec<String> = tags.cloned().collect();
        kept.record.tags.extend(tags);
        records.push((into, kept.record.clone()));
        let text = format!(
            "'{}' goes on as '{}' · u undo",
            given_up.record.shown_title(),
            kept.record.shown_title()
        );
        engine.say(text);
    }
    engine.undo.push(Step::Unsubscribed(Box::new(given_up)));
    engine.unsaved = engine.unsaved.saturating_add(1);
    engine.tell(Event::FeedsChanged);
    vec![Effect::store(Job::Absorb { from, into }), Effect::store(Job::SaveRecords(records))]
}

/// The reader takes a move back: the former address is stored again, and the new one is not taken any more.
pub fn undo_move(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) -> Vec<Effect> {
    changed(engine, now, feed, |subscription| {
        let record = &mut subscription.record;
        if let Some(former) = record.former.pop() {
            record.declined = Some(std::mem::replace(&mut record.url, former.url));
        }
        format!("'{}' is read from {} again", record.shown_title(), record.url)
    })
}

/// The reader does not want a move that was proposed.
pub fn decline_move(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) -> Vec<Effect> {
    changed(engine, now, feed, |subscription| {
        let proposed = subscription.state.proposed.take();
        subscription.record.declined = proposed.map(|proposed| proposed.to);
        format!("'{}' stays at {}", subscription.record.shown_title(), subscription.record.url)
    })
}

/// Takes back what was decided about a subscription.
pub fn put_back(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    before: SubscriptionRecord,
    proposed: Option<ProposedMove>,
) -> Vec<Effect> {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return Vec::new() };
    let SubscriptionRecord { url, former, declined, feed_settings, .. } = before;
    let record = &mut subscription.record;
    (record.url, record.former, record.declined) = (url, former, declined);
    record.feed_settings.allow_insecure = feed_settings.allow_insecure;
    subscription.state.proposed = proposed;
    let saved = (subscription.record.clone(), subscription.state.clone());
    save_and_show(engine, now, feed, saved)
}

/// Changes a subscription by the reader's wish; it can be taken back.
pub fn changed(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    change: impl FnOnce(&mut Subscription) -> String,
) -> Vec<Effect> {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return Vec::new() };
    let before = Step::Readdressed {
        feed,
        before: Box::new(subscription.record.clone()),
        proposed: subscription.state.proposed.clone(),
    };
    let text = change(subscription);
    let saved = (subscription.record.clone(), subscription.state.clone());
    engine.undo.push(before);
    engine.say(format!("{text} · u undo"));
    save_and_show(engine, now, feed, saved)
}

/// Writes a changed subscription, and plans and shows it anew.
pub fn save_and_show(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    (record, state): (SubscriptionRecord, FeedState),
) -> Vec<Effect> {
    engine.unsaved = engine.unsaved.saturating_add(1);
    plans::replan(engine, feed, now);
    engine.tell(Event::FeedsChanged);
    vec![
        Effect::store(Job::SaveRecords(vec![(feed, record)])),
        Effect::store(Job::SaveState(feed, Box::new(state))),
    ]
}

/// Polls a feed because something about it was just decided.
pub fn poll_now(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) -> Vec<Effect> {
    manual_poll::ask(engine, now, &PollRequest { feeds: Some(vec![feed]), kind: PollKind::Allowed })
}

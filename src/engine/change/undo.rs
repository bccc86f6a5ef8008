//! Undoes and redoes the user's changes.

use chrono::{DateTime, Utc};

use super::change_id::ChangeId;
use super::feed_change::{Direction, FeedChange, FeedParts};
use super::questions;
use super::step::{Step, words_of_import, words_together};
use super::undo_stack::{TakenStep, is_over};
use super::value::Origin;
use crate::engine::backfill::history_requests;
use crate::engine::effect::Effect;
use crate::engine::entries::marks::{self, words};
use crate::engine::entries::{entry_filters, withdrawn};
use crate::engine::event::{Event, NoticeOffer};
use crate::engine::feeds::chosen_settings::Chosen;
use crate::engine::feeds::subscription::{ProposedMove, Subscription, SubscriptionRecord};
use crate::engine::feeds::{feed_moves, feed_settings, tags, unsubscribe};
use crate::engine::request::Request;
use crate::engine::save_searches;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{FeedKey, GapState};

/// Undoes the last change.
pub fn undo(engine: &mut Engine, now: DateTime<Utc>) -> Vec<Effect> {
    if engine.undo.under_way > 0 {
        engine.undo.wanted = Some(engine.undo.origin);
        return Vec::new();
    }
    if engine.may_forget(now) {
        engine.undo.forget_old(now);
    }
    // An older step stays until it may be deleted: the clock may be wrong.
    let last =
        engine.undo.steps.back().filter(|known| !known.at.is_some_and(|at| is_over(at, now)));
    let last = last.map(|known| known.id);
    if is_other(engine, last) {
        return Vec::new();
    }
    let Some(known) = last.and_then(|_| engine.undo.pop()) else {
        engine.say("nothing to undo");
        return Vec::new();
    };
    engine.undo.is_refused = false;
    let (effects, inverse) = take_back(engine, now, known.step.clone(), "undone");
    let inverse = inverse.map(|inverse| engine.undo.keep_undone(inverse));
    engine.undo.taken = Some(Box::new(TakenStep { known, inverse, is_redone: false }));
    effects
}

/// Undoes a change if it is the last one.
pub fn undo_this(engine: &mut Engine, now: DateTime<Utc>, id: ChangeId) -> Vec<Effect> {
    let origin = std::mem::replace(&mut engine.undo.origin, Origin::Answered(Some(id)));
    let effects = undo(engine, now);
    engine.undo.origin = origin;
    effects
}

/// Undoes the change under way whose step is known now, as the user asked before.
pub fn undo_wanted(engine: &mut Engine, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(origin) = engine.undo.wanted.take() else { return Vec::new() };
    if origin == Origin::User && questions::asks(engine, now, &Request::Undo) {
        return Vec::new();
    }
    undo(engine, now)
}

/// Redoes the change that was undone last.
pub fn redo(engine: &mut Engine, now: DateTime<Utc>) -> Vec<Effect> {
    let last = engine.undo.undone.back().map(|known| known.id);
    if is_other(engine, last) {
        return Vec::new();
    }
    let known = if engine.undo.under_way > 0 { None } else { engine.undo.pop_undone() };
    let Some(known) = known else {
        engine.say("nothing to redo");
        return Vec::new();
    };
    let (effects, inverse) = take_back(engine, now, known.step.clone(), "redone");
    let inverse = inverse.map(|inverse| engine.undo.keep(inverse));
    engine.undo.taken = Some(Box::new(TakenStep { known, inverse, is_redone: true }));
    effects
}

/// Checks whether the user was asked about another step than the last one.
fn is_other(engine: &mut Engine, last: Option<ChangeId>) -> bool {
    let Origin::Answered(Some(asked)) = engine.undo.origin else { return false };
    let is_other = last != Some(asked);
    if is_other {
        engine.complain("something else was changed in the meantime: nothing was undone");
    }
    is_other
}

/// Undoes a step. Returns the step that would redo the change, if there is one.
fn take_back(
    engine: &mut Engine,
    now: DateTime<Utc>,
    step: Step,
    done: &str,
) -> (Vec<Effect>, Option<Step>) {
    match step {
        Step::Marked(mark) => {
            // When undoing, name the mark that is undone; when redoing, the mark that is set.
            let shown = if done == "undone" { mark.value } else { !mark.value };
            engine.say(format!("{done}: {}", words(mark.flag, shown, mark.keys.len())));
            let inverse = mark.reversed();
            (marks::set_back(engine, inverse.clone()), Some(Step::Marked(inverse)))
        }
        Step::Together(steps) => {
            let text = format!("{done}: {}", words_together(&steps));
            let (effects, inverses) = take_all_back(engine, now, steps, done, text);
            (effects, inverses.map(Step::Together))
        }
        Step::Imported(steps) => {
            let text = format!("import {done}: {}", words_of_import(&steps));
            let (effects, inverses) = take_all_back(engine, now, steps, done, text);
            (effects, inverses.map(Step::Imported))
        }
        Step::Unsubscribed(feed) => subscribe_again(engine, now, feed),
        Step::Resubscribed(feed) => give_up(engine, now, feed, done),
        Step::Readdressed { feed, before, proposed } => {
            readdress(engine, now, (feed, *before, proposed), done)
        }
        Step::Changed { feed, before, after } => {
            choose(engine, now, feed, (*before, after.map(|after| *after)), done)
        }
        Step::Searches { before } => {
            let inverse = Step::Searches { before: engine.saved_searches.clone() };
            engine.say(format!("{done}: saved searches"));
            (save_searches::put(engine, before), Some(inverse))
        }
        Step::Retagged { tags, filters, after } => {
            let feeds = counted_words(tags.len(), "feed", "feeds");
            let text = format!("{done}: tags of {feeds}");
            let (effects, inverse) = tags::take_back(engine, tags, filters, after);
            engine.say(text);
            (effects, Some(inverse))
        }
        Step::Filters { before, changes, forward } => {
            engine.say(format!(
                "{done}: filters · {}",
                counted_words(changes.entries(), "entry", "entries")
            ));
            let (effects, inverse) = entry_filters::take_back(engine, before, changes, forward);
            (effects, Some(inverse))
        }
        Step::Awaited { feed, since, again } => {
            let job = Job::AwaitElsewhere { feed, since, waits: again };
            (vec![Effect::store(job)], Some(Step::Awaited { feed, since, again: !again }))
        }
        Step::Withdrawn { feed, withdrawn } => {
            (withdrawn::bring_back(engine, feed, withdrawn), None)
        }
        Step::Dismissed { feed, gap } => {
            engine.say(format!("{done}: gap shown again"));
            let effects = history_requests::set_gap(engine, feed, gap, GapState::Open, None);
            (effects, Some(Step::ShownAgain { feed, gap }))
        }
        Step::ShownAgain { feed, gap } => {
            engine.say(format!("{done}: gap hidden"));
            let effects = history_requests::set_gap(engine, feed, gap, GapState::Dismissed, None);
            (effects, Some(Step::Dismissed { feed, gap }))
        }
    }
}

/// Undoes the changes of a combined step in reverse order, with one notice.
fn take_all_back(
    engine: &mut Engine,
    now: DateTime<Utc>,
    steps: Vec<Step>,
    done: &str,
    text: String,
) -> (Vec<Effect>, Option<Vec<Step>>) {
    let removed = steps.iter().map(|step| step.removed_feeds().len()).sum();
    let (mut effects, mut inverses) = (Vec::new(), Vec::new());
    for step in steps.into_iter().rev() {
        let told = engine.events.len();
        let (taken, inverse) = take_back(engine, now, step, done);
        if inverse.is_some() {
            // Drop the notices of the single steps, because one notice for the combined step follows.
            let said = engine.events.split_off(told);
            let kept = said.into_iter().filter(|event| !matches!(event, Event::Notice { .. }));
            engine.events.extend(kept);
        }
        effects.extend(taken);
        inverses.extend(inverse);
    }
    if removed > 0 {
        engine.tell(Event::offering(text, offer(removed, done)));
    } else {
        engine.say(text);
    }
    (effects, Some(inverses).filter(|inverses| !inverses.is_empty()))
}

/// What a notice offers after subscriptions were removed by an undo or a redo.
fn offer(removed: usize, done: &str) -> NoticeOffer {
    if done == "undone" { NoticeOffer::Redo(removed) } else { NoticeOffer::Undo }
}

fn readdress(
    engine: &mut Engine,
    now: DateTime<Utc>,
    (feed, before, proposed): (FeedKey, SubscriptionRecord, Option<ProposedMove>),
    done: &str,
) -> (Vec<Effect>, Option<Step>) {
    let Some(subscription) = engine.feeds.get(&feed) else {
        return not_subscribed(engine);
    };
    let text = format!("{done}: address of '{}'", subscription.record.shown_title());
    let inverse = Step::Readdressed {
        feed,
        before: Box::new(subscription.record.clone()),
        proposed: subscription.state.proposed.clone(),
    };
    engine.say(text);
    (feed_moves::put_back(engine, now, feed, before, proposed), Some(inverse))
}

fn choose(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    (before, after): (Chosen, Option<Chosen>),
    done: &str,
) -> (Vec<Effect>, Option<Step>) {
    let Some(subscription) = engine.feeds.get(&feed) else {
        return not_subscribed(engine);
    };
    let present = subscription.record.chosen();
    let mut chosen = match after {
        Some(after) => without_change(subscription, before, after),
        None => before,
    };
    if chosen.feed_settings.account != present.feed_settings.account {
        // Only a sync connects a feed with an account: that account may have been removed.
        chosen.feed_settings.account.clone_from(&present.feed_settings.account);
        chosen.feed_settings.polled_here = present.feed_settings.polled_here;
    }
    let text = format!("{done}: settings of '{}'", subscription.record.shown_title());
    let inverse = Step::changed(feed, present, chosen.clone());
    let effects = feed_settings::replace(engine, now, feed, chosen, None);
    engine.say(text);
    (effects, Some(inverse))
}

/// Returns the present settings of a feed without a change of the user. Fields that something else changed since then stay.
fn without_change(subscription: &Subscription, before: Chosen, after: Chosen) -> Chosen {
    let mut present = subscription.record.clone();
    let tags = tags::without_change(&present.tags, &before.tags, &after.tags);
    let (mut was, mut became) = (subscription.clone(), subscription.clone());
    was.record.choose(before);
    became.record.choose(after);
    FeedChange::since(&FeedParts::of(&was), &became).set_record(&mut present, Direction::Revert);
    Chosen { tags, ..present.chosen() }
}

fn subscribe_again(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
) -> (Vec<Effect>, Option<Step>) {
    match unsubscribe::take_back(engine, now, feed, false) {
        Ok(effects) => (effects, Some(Step::Resubscribed(feed))),
        Err(why) => {
            engine.say(why);
            (Vec::new(), None)
        }
    }
}

fn give_up(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    done: &str,
) -> (Vec<Effect>, Option<Step>) {
    let Some((text, effects)) = unsubscribe::give_up(engine, now, feed, None) else {
        return not_subscribed(engine);
    };
    engine.tell(Event::offering(text, offer(1, done)));
    (effects, Some(Step::Unsubscribed(feed)))
}

fn not_subscribed(engine: &mut Engine) -> (Vec<Effect>, Option<Step>) {
    engine.say("you are no longer subscribed to the changed feed");
    (Vec::new(), None)
}

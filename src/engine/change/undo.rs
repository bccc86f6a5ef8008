//! Undoes and redoes the user's changes.

use chrono::{DateTime, Utc};

use super::undo_stack::{Step, is_over};
use crate::engine::backfill::history_requests;
use crate::engine::effect::Effect;
use crate::engine::entries::marks::{self, words};
use crate::engine::entries::{entry_filters, withdrawn};
use crate::engine::event::Event;
use crate::engine::feeds::chosen_settings::Chosen;
use crate::engine::feeds::subscription::{ProposedMove, SubscriptionRecord};
use crate::engine::feeds::{feed_moves, feed_settings, tags, unsubscribe};
use crate::engine::save_searches;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;

/// Undoes the last change.
pub fn undo(engine: &mut Engine, now: DateTime<Utc>) -> Vec<Effect> {
    if engine.undo.under_way > 0 {
        engine.undo.wanted = true;
        return Vec::new();
    }
    if engine.may_forget(now) {
        engine.undo.forget_old(now);
    }
    // An older step stays until it may be deleted: the clock may be wrong.
    let last = engine.undo.steps.back().and_then(|known| known.at);
    let is_outdated = last.is_some_and(|at| is_over(at, now));
    let Some(step) = (!is_outdated).then(|| engine.undo.pop()).flatten() else {
        engine.say("nothing to undo");
        return Vec::new();
    };
    let (effects, inverse) = take_back(engine, now, step, "undone");
    engine.undo.undone.extend(inverse);
    effects
}

/// Redoes the change that was undone last.
pub fn redo(engine: &mut Engine, now: DateTime<Utc>) -> Vec<Effect> {
    let step = if engine.undo.under_way > 0 { None } else { engine.undo.undone.pop() };
    let Some(step) = step else {
        engine.say("nothing to redo");
        return Vec::new();
    };
    let (effects, inverse) = take_back(engine, now, step, "redone");
    if let Some(inverse) = inverse {
        engine.undo.keep(inverse);
    }
    effects
}

/// Forgets the changes that can be redone, after a change without a step that they do not expect.
pub fn forget_undone(engine: &mut Engine) {
    engine.undo.undone.clear();
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
        Step::Together(steps) => take_all_back(engine, now, steps, done),
        Step::Unsubscribed(feed) => subscribe_again(engine, now, feed),
        Step::Resubscribed(feed) => match unsubscribe::give_up(engine, now, feed, None) {
            Some(effects) => (effects, Some(Step::Unsubscribed(feed))),
            None => not_subscribed(engine),
        },
        Step::Readdressed { feed, before, proposed } => {
            readdress(engine, now, (feed, *before, proposed), done)
        }
        Step::Changed { feed, before } => choose(engine, now, feed, *before, done),
        Step::Searches { before } => {
            let inverse = Step::Searches { before: engine.saved_searches.clone() };
            engine.say(format!("{done}: saved searches"));
            (save_searches::put(engine, before), Some(inverse))
        }
        Step::Retagged { tags, filters } => {
            let feeds = counted_words(tags.len(), "feed", "feeds");
            let text = format!("{done}: tags of {feeds}");
            let (effects, inverse) = tags::put(engine, tags, filters, false);
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
            (history_requests::show_again(engine, feed, gap), Some(Step::ShownAgain { feed, gap }))
        }
        Step::ShownAgain { feed, gap } => {
            engine.say(format!("{done}: gap hidden"));
            let effects = history_requests::hide(engine, feed, gap);
            (effects.unwrap_or_default(), Some(Step::Dismissed { feed, gap }))
        }
    }
}

/// Undoes the changes of a combined step in reverse order.
fn take_all_back(
    engine: &mut Engine,
    now: DateTime<Utc>,
    steps: Vec<Step>,
    done: &str,
) -> (Vec<Effect>, Option<Step>) {
    let words = words_together(&steps);
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
    engine.say(format!("{done}: {words}"));
    (effects, (!inverses.is_empty()).then_some(Step::Together(inverses)))
}

/// Describes the changes that undoing a combined step makes, for a notice.
fn words_together(steps: &[Step]) -> String {
    let count = |is: fn(&Step) -> bool| steps.iter().filter(|step| is(step)).count();
    let removed = count(|step| matches!(step, Step::Resubscribed(_)));
    let brought_back = count(|step| matches!(step, Step::Unsubscribed(_)));
    let awaited = count(|step| matches!(step, Step::Awaited { .. }));
    let shown = steps.len().saturating_sub(awaited);
    let others = shown.saturating_sub(removed).saturating_sub(brought_back);
    let parts = [
        (removed, "unsubscribed from ", "feed", "feeds"),
        (brought_back, "subscribed again to ", "feed", "feeds"),
        (others, "", "change", "changes"),
        (if shown == 0 { awaited } else { 0 }, "entries that were awaited for ", "feed", "feeds"),
    ];
    let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
    let parts =
        parts.map(|(count, what, one, more)| format!("{what}{}", counted_words(count, one, more)));
    parts.collect::<Vec<_>>().join(", ")
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
    mut before: Chosen,
    done: &str,
) -> (Vec<Effect>, Option<Step>) {
    let Some(subscription) = engine.feeds.get(&feed) else {
        return not_subscribed(engine);
    };
    let present = &subscription.record.feed_settings;
    if before.feed_settings.account != present.account {
        // Only a sync connects a feed with an account: that account may have been removed.
        before.feed_settings.account.clone_from(&present.account);
        before.feed_settings.polled_here = present.polled_here;
    }
    let text = format!("{done}: settings of '{}'", subscription.record.shown_title());
    let inverse = Step::Changed { feed, before: Box::new(subscription.record.chosen()) };
    let effects = feed_settings::replace(engine, now, feed, before, None);
    engine.say(text);
    (effects, Some(inverse))
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

fn not_subscribed(engine: &mut Engine) -> (Vec<Effect>, Option<Step>) {
    engine.say("you are no longer subscribed to the changed feed");
    (Vec::new(), None)
}

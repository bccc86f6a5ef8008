//! Giving up a subscription, and taking that back.
//!
//! The entries stay in the store until the program starts the next time: until then the feed can be had back
//! as it was, with every mark.

use chrono::{DateTime, Utc};

use super::subscription::Subscription;
use crate::engine::backfill::walks;
use crate::engine::effect::Effect;
use crate::engine::entries::full_text;
use crate::engine::entries::marks;
use crate::engine::model::Model;
use crate::engine::poll::fetch::Purpose;
use crate::engine::poll::plans;
use crate::engine::undo::Step;
use crate::history::FeedKey;
use crate::ui::panes::attention;
use crate::ui::panes::feeds_pane;
use crate::ui::panes::feeds_pane::FeedsRow;
use crate::ui::panes::navigation;

/// Gives up the selected subscription.
pub fn unsubscribe(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let concerned = attention::selected(model, now).map(|concern| concern.feed);
    let selected = match model.screen.feeds.selected_row() {
        Some(FeedsRow::Feed(feed, _)) => Some(*feed),
        Some(_) | None => concerned,
    };
    let Some(feed) = selected else {
        model.screen.say(now, "select the feed to unsubscribe from");
        return Vec::new();
    };
    let Some((given_up, effects)) = give_up(model, now, feed) else { return Vec::new() };
    model.undo.push(Step::Unsubscribed(Box::new(given_up)));
    effects
}

/// Gives up a subscription; answers with it, to have it back.
pub fn give_up(
    model: &mut Model,
    now: DateTime<Utc>,
    feed: FeedKey,
) -> Option<(Subscription, Vec<Effect>)> {
    let mut subscription = model.feeds.remove(&feed)?;
    model.timetable.remove(&feed);
    model.busy.remove(&feed);
    let dropped = model.traffic.take_waiting(|waiting| match waiting.purpose {
        Purpose::Poll(polled) => polled == feed,
        Purpose::FullText(key) => key.feed == feed,
        Purpose::Archive(_) | Purpose::Picture(_) | Purpose::Discover(_) => false,
    });
    for waiting in dropped {
        if let Purpose::FullText(key) = waiting.purpose {
            full_text::dropped(model, now, key, "its feed was given up");
        }
    }
    walks::drop_walk(model, feed);
    subscription.history.asking = None;
    subscription.record.ended = Some(now);
    let text = format!("unsubscribed from '{}' · u undo", subscription.record.shown_title());
    model.screen.say(now, text);
    let effect = Effect::SaveRecords(vec![(feed, subscription.record.clone())]);
    model.unsaved = model.unsaved.saturating_add(1);
    Some((subscription, shown_anew(model, now, effect)))
}

/// Takes a subscription back, with everything that was kept of it.
pub fn take_back(
    model: &mut Model,
    now: DateTime<Utc>,
    mut subscription: Subscription,
) -> Vec<Effect> {
    let feed = subscription.key;
    subscription.record.ended = None;
    model.screen.say(now, format!("subscribed again to '{}'", subscription.record.shown_title()));
    let effect = Effect::SaveRecords(vec![(feed, subscription.record.clone())]);
    model.unsaved = model.unsaved.saturating_add(1);
    model.feeds.insert(feed, subscription);
    plans::replan(model, feed, now);
    shown_anew(model, now, effect)
}

fn shown_anew(model: &mut Model, now: DateTime<Utc>, effect: Effect) -> Vec<Effect> {
    feeds_pane::rebuild(model);
    let mut effects = vec![effect];
    effects.extend(navigation::open_list(model, now));
    effects.extend(marks::counting(model, now));
    effects
}

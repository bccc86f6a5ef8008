//! The reader's wishes for a feed: more often, less often, bounds, title, tags; each change planned at once.

use chrono::{DateTime, Utc};

use super::subscription::Chosen;
use super::subscription::Subscription;
use super::subscription::Wishes;
use crate::engine::backfill::history_actions;
use crate::engine::durations::interval_text;
use crate::engine::effect::Effect;
use crate::engine::learn;
use crate::engine::model::Model;
use crate::engine::poll::plans;
use crate::engine::settings::PollSettings;
use crate::engine::undo::Step;
use crate::history::FeedKey;
use crate::schedule::{Pace, PlanStage};
use crate::ui::overlays::timetable_pane;
use crate::ui::panes::feeds_pane;
use crate::ui::panes::navigation;

/// Sets the pace of the selected feed and says what that does.
pub fn pace(model: &mut Model, now: DateTime<Utc>, pace: Pace) -> Vec<Effect> {
    let Some(feed) = feeds_pane::selected_feed(model, now) else {
        model.screen.say(now, "select a feed first: the pace belongs to one feed");
        return Vec::new();
    };
    let Some(subscription) = model.feeds.get(&feed) else { return Vec::new() };
    let before = subscription.clone();
    let mut chosen = subscription.record.chosen();
    chosen.wishes.pace = Some(pace);
    // A bound may be wrong already; the pace does not make it worse.
    let effects = put(model, now, feed, chosen);
    if let Some(after) = model.feeds.get(&feed) {
        let text = pace_sentence(model, &before, after, now);
        model.screen.say(now, text);
    }
    effects
}

/// Changes what the reader chose for a feed, as one step that can be undone. The error is a sentence that says why
/// it is refused.
pub fn change(
    model: &mut Model,
    now: DateTime<Utc>,
    feed: FeedKey,
    chosen: Chosen,
) -> Result<Vec<Effect>, String> {
    match clash(&chosen.wishes, &model.settings.poll) {
        Some(why) => Err(why),
        None => Ok(put(model, now, feed, chosen)),
    }
}

/// Why bounds cannot be (SPEC A.8: MIN over MAX is refused), as a sentence; `None`: they can.
pub fn clash(wishes: &Wishes, settings: &PollSettings) -> Option<String> {
    let min = wishes.min_minutes.unwrap_or(settings.min_minutes);
    let max = wishes.max_minutes.unwrap_or(settings.max_minutes);
    let stated = |own: Option<u32>, minutes| {
        let whose = if own.is_some() { "" } else { ", as configured" };
        format!("{}{whose}", interval_text(minutes))
    };
    (min > max).then(|| {
        format!(
            "the shortest interval ({}) would be longer than the longest ({}): nothing was changed",
            stated(wishes.min_minutes, min),
            stated(wishes.max_minutes, max)
        )
    })
}

fn put(model: &mut Model, now: DateTime<Utc>, feed: FeedKey, chosen: Chosen) -> Vec<Effect> {
    let Some(subscription) = model.feeds.get(&feed) else { return Vec::new() };
    let before = subscription.record.chosen();
    if before == chosen {
        return Vec::new();
    }
    model.undo.push(Step::Changed { feed, before: Box::new(before) });
    replaced(model, now, feed, chosen)
}

/// Puts what was chosen for a feed in place of what is: planned, saved and shown.
pub fn replaced(
    model: &mut Model,
    now: DateTime<Utc>,
    feed: FeedKey,
    chosen: Chosen,
) -> Vec<Effect> {
    let Some(subscription) = model.feeds.get_mut(&feed) else { return Vec::new() };
    let before = subscription.record.chosen();
    subscription.record.choose(chosen);
    let record = subscription.record.clone();
    let moved = (&before.own_title, &before.tags) != (&record.own_title, &record.tags);
    let moved_elsewhere = before.wishes.archives != record.wishes.archives;
    plans::replan(model, feed, now);
    model.unsaved = model.unsaved.saturating_add(1);
    let mut effects = vec![Effect::SaveRecords(vec![(feed, record)])];
    effects.extend(learn::changed(model, now, feed));
    timetable_pane::unsettle(model);
    if moved_elsewhere {
        effects.extend(history_actions::adapt(model, now, feed));
    }
    if moved {
        feeds_pane::rebuild(model);
        effects.extend(navigation::refresh_list(model, now));
    }
    effects
}

/// What a pace does to a feed, in words.
fn pace_sentence(
    model: &Model,
    before: &Subscription,
    after: &Subscription,
    now: DateTime<Utc>,
) -> String {
    let pace = after.state.facts.settings.pace;
    let name = match pace {
        Pace::More => "more often",
        Pace::Normal => "as often as recommended",
        Pace::Less => "less often",
    };
    if before.record.wishes.pace == Some(pace) {
        return format!("{name} already");
    }
    let what = plans::explained(model, after.key, now).and_then(|plan| {
        let telling = |stage| plan.steps.iter().find(|step| step.stage == stage);
        let step = telling(PlanStage::Standing).or_else(|| telling(PlanStage::Pace));
        step.map(|step| step.reason.clone())
    });
    let fixed = after.record.wishes.fixed_minutes;
    let what = match (what, fixed) {
        (Some(what), _) => format!(": {what}"),
        (None, Some(minutes)) => {
            format!(": the setting has no effect beside your fixed {}", interval_text(minutes))
        }
        (None, None) => String::new(),
    };
    let next = match after.plan.next_poll {
        None => String::new(),
        Some(at) if before.plan.next_poll == Some(at) && at > now => format!(
            " · next poll stays {} ({})",
            plans::wait_words(at, now),
            plans::settled_words(after.plan.settled_by)
        ),
        Some(at) => format!(" · next poll {}", plans::wait_words(at, now)),
    };
    format!("{name}{what}{next} · u undo")
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::feed_settings::*;
    use crate::engine::settings::Settings;

    #[test]
    fn a_shortest_interval_over_the_longest_is_refused_in_words() {
        let settings = Settings::default().poll;
        let wishes = |min, max| Wishes { min_minutes: min, max_minutes: max, ..Wishes::default() };
        assert_eq!(clash(&wishes(None, None), &settings), None);
        assert_eq!(clash(&wishes(Some(30), Some(30)), &settings), None);
        let why = clash(&wishes(Some(120), Some(60)), &settings).unwrap();
        assert!(why.starts_with("the shortest interval (2h) would be longer"), "{why}");
        let why = clash(&wishes(None, Some(10)), &settings).unwrap();
        assert!(why.contains("(15m, as configured)") && why.contains("(10m)"), "{why}");
    }
}

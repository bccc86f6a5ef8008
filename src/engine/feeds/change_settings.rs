//! Changes the user's settings for a feed, such as pace, interval bounds, title, and tags, and updates its plan at once. Renames
//! tags of feeds.

use backissue_core::InputFlaw;
use backissue_core::feed::opml::subscription_list::normal_tags;
use backissue_core::feed::text::counted_words;
use backissue_core::filters::{EntryFilter, FilterScope};
use backissue_core::history::FeedKey;
use backissue_core::schedule::limits::HARD_MIN_SECONDS;
use backissue_core::schedule::{Pace, PlanStage};
use backissue_core::search::with_renamed_tags;
use backissue_core::words::{interval_text, until_words};
use chrono::{DateTime, Utc};

use super::setting_row::{Chosen, FeedSettings};
use super::subscription::Subscription;
use crate::engine::backfill::history_requests;
use crate::engine::change::undo_stack::Step;
use crate::engine::change::value::{ChangeId, FeedChange, FeedParts, ListChange};
use crate::engine::change::{self, Change};
use crate::engine::entries::ahead_work::AheadPart;
use crate::engine::entries::page_fetches;
use crate::engine::poll::{learn, start_fetches};
use crate::engine::request::{Event, NoticeOffer};
use crate::engine::search_query;
use crate::engine::settings::PollSettings;
use crate::engine::state::Engine;

/// Sets the pace of a feed's polls, and shows a notice about the effect on the next polls.
pub fn set_pace(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, pace: Pace) {
    let Some(subscription) = engine.feeds.get(&feed) else { return };
    let before = subscription.clone();
    let mut chosen = subscription.record.chosen();
    chosen.feed_settings.pace = Some(pace);
    // Do not check the interval bounds, because a new pace does not change them.
    put(engine, now, feed, chosen);
    if let Some(after) = engine.feeds.get(&feed) {
        let notice = pace_notice(engine, &before, after, now);
        engine.tell(notice);
    }
}

/// Changes the settings of a feed and adds an undo step. The error is a sentence with the reason that the settings are not allowed.
pub fn change(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    chosen: Chosen,
) -> Result<(), InputFlaw> {
    let wanted = &chosen.feed_settings;
    let below_bound = engine.feeds.get(&feed).and_then(|subscription| {
        let before = &subscription.record.feed_settings;
        too_short(wanted, before, subscription.state.facts.loopback)
    });
    let is_sent = wanted.drip_minutes.is_some() && wanted.account.is_some();
    let is_sent = is_sent.then(|| {
        "its account would mark old entries unread on the server, too: nothing was changed"
            .to_owned()
    });
    if let Some(why) = below_bound.or(is_sent).or_else(|| clash(wanted, &engine.settings.poll)) {
        return Err(why.into());
    }
    put(engine, now, feed, chosen);
    Ok(())
}

/// Returns an error as a sentence if a changed interval is shorter than the minimum for automatic polls (`HARD_MIN`, SPEC 0). For a
/// server on this machine, there is no minimum.
fn too_short(wanted: &FeedSettings, before: &FeedSettings, loopback: bool) -> Option<String> {
    let shortest = u32::try_from(HARD_MIN_SECONDS / 60).unwrap_or(0);
    let shortest_rule =
        |settings: &FeedSettings| settings.rules.iter().map(|rule| rule.minutes).min();
    let intervals = [
        ("the shortest interval", wanted.min_minutes, before.min_minutes),
        ("the fixed interval", wanted.fixed_minutes, before.fixed_minutes),
        ("a rule's interval", shortest_rule(wanted), shortest_rule(before)),
    ];
    let set_anew = intervals.into_iter().filter(|(_, minutes, before)| minutes != before);
    let mut too_short = set_anew.filter_map(|(name, minutes, _)| Some((name, minutes?)));
    let (name, minutes) = too_short.find(|(_, minutes)| *minutes < shortest && !loopback)?;
    Some(format!(
        "{name} would be {}, but no feed is polled automatically more often than every {}: nothing was changed",
        interval_text(minutes),
        interval_text(shortest)
    ))
}

/// Returns an error as a sentence if the minimum interval is longer than the maximum interval, which is not allowed (SPEC A.8).
pub fn clash(feed_settings: &FeedSettings, settings: &PollSettings) -> Option<String> {
    let min = feed_settings.min_minutes.unwrap_or(settings.min_minutes);
    let max = feed_settings.max_minutes.unwrap_or(settings.max_minutes);
    let stated = |own: Option<u32>, minutes| {
        let whose = if own.is_some() { "" } else { ", as configured" };
        format!("{}{whose}", interval_text(minutes))
    };
    (min > max).then(|| {
        format!(
            "the shortest interval ({}) would be longer than the longest ({}): nothing was changed",
            stated(feed_settings.min_minutes, min),
            stated(feed_settings.max_minutes, max)
        )
    })
}

fn put(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, chosen: Chosen) {
    let Some(subscription) = engine.feeds.get(&feed) else { return };
    let before = subscription.record.chosen();
    if before != chosen {
        let step = engine.undo.push(Step::changed(feed, before, chosen.clone()));
        replace(engine, now, feed, chosen, step);
    }
}

/// Replaces the user's settings for a feed, updates its plan, and shows and writes the change.
pub fn replace(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    chosen: Chosen,
    step: Option<ChangeId>,
) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let before = FeedParts::of(subscription);
    let former_archives = before.record.feed_settings.archives;
    subscription.record.choose(chosen);
    engine.unread_checked = None;
    let moved_elsewhere = former_archives != subscription.record.feed_settings.archives;
    let changed = FeedChange::since(&before, subscription);
    let renamed = changed.renames();
    change::write(engine, Change::Feeds(vec![(feed, changed)]), step);
    show_change(engine, now, feed, renamed);
    learn::changed(engine, now, feed);
    if moved_elsewhere {
        history_requests::adapt(engine, feed);
    }
    drop_unwanted(engine, feed);
}

/// Updates the plan of a feed after a change of its settings, and emits the events for observers. `renamed` is `true` if the title
/// or the tags changed.
pub fn show_change(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey, renamed: bool) {
    learn::replan(engine, feed, now);
    start_fetches::withdraw_early(engine, now, feed);
    engine.tell(Event::FeedSettingsChanged(feed));
    if renamed {
        engine.tell(Event::FeedsChanged);
        engine.tell(Event::ListsChanged);
    }
}

/// Returns a notice that describes the effect of a pace on a feed.
fn pace_notice(
    engine: &Engine,
    before: &Subscription,
    after: &Subscription,
    now: DateTime<Utc>,
) -> Event {
    let pace = after.state.facts.settings.pace;
    let name = match pace {
        Pace::More => "more often",
        Pace::Normal => "as often as recommended",
        Pace::Less => "less often",
    };
    if before.record.feed_settings.pace == Some(pace) {
        return Event::info(format!("already {name}"));
    }
    let what = learn::explained(engine, after.key, now).and_then(|plan| {
        let telling = |stage| plan.steps.iter().find(|step| step.stage == stage);
        let step = telling(PlanStage::Standing).or_else(|| telling(PlanStage::Pace));
        step.map(|step| step.reason.clone())
    });
    let fixed = after.record.feed_settings.fixed_minutes;
    let what = match (what, fixed) {
        (Some(what), _) => format!(": {what}"),
        (None, Some(minutes)) => {
            format!(": no effect, because the interval is fixed at {}", interval_text(minutes))
        }
        (None, None) => String::new(),
    };
    let next = match after.plan.next_poll {
        None => String::new(),
        Some(at) if before.plan.next_poll == Some(at) && at > now => format!(
            " · next check still {} ({})",
            until_words(at, now),
            after.plan.settled_by.in_words()
        ),
        Some(at) => format!(" · next check {}", until_words(at, now)),
    };
    Event::offering(format!("{name}{what}{next}"), NoticeOffer::Undo)
}

/// Drops the waiting requests for pages and pictures of a feed whose user does not want them ahead.
fn drop_unwanted(engine: &mut Engine, feed: FeedKey) {
    let Some(subscription) = engine.feeds.get(&feed) else { return };
    let [texts, pictures, _] =
        AheadPart::ALL.map(|part| subscription.record.feed_settings.wants_ahead(part));
    if !texts {
        page_fetches::drop_ahead(engine, feed);
    }
    if !pictures {
        page_fetches::drop_pictures_ahead(engine, feed);
    }
}

/// Tags of feeds.
type FeedTags = Vec<(FeedKey, Vec<String>)>;

/// Returns the new name of `tag` if the tag `from` is renamed to `to`. Returns `None` if `tag` is neither `from` nor nested in it.
pub fn renamed(tag: &str, from: &str, to: &str) -> Option<String> {
    let rest = tag.strip_prefix(from)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
}

/// Renames a tag and its nested tags in all feeds, filters and saved searches.
pub fn rename(engine: &mut Engine, from: &str, to: &str) {
    let moved = |tag: &str| renamed(tag, from, to);
    let mut tags = Vec::new();
    for feed in engine.feeds.values() {
        if feed.record.tags.iter().any(|other| moved(other).is_some()) {
            let names =
                feed.record.tags.iter().map(|tag| moved(tag).unwrap_or_else(|| tag.clone()));
            let names: Vec<String> = names.collect();
            tags.push((feed.key, normal_tags(names.iter().map(String::as_str))));
        }
    }
    let mut filters = engine.filters.list.clone();
    for filter in &mut filters {
        if let FilterScope::Tag(reached) = &mut filter.scope
            && let Some(renamed) = moved(reached)
        {
            *reached = renamed;
        }
    }
    let (old, zone) = (from.to_lowercase(), engine.zone);
    let in_query = |query: &str| with_renamed_tags(query, zone, |tag| renamed(tag, &old, to));
    let mut searches = engine.saved_searches.clone();
    let queries = filters.iter_mut().map(|filter| &mut filter.query);
    for query in queries.chain(searches.iter_mut().map(|search| &mut search.text)) {
        if let Some(renamed) = in_query(query) {
            *query = renamed;
        }
    }
    let text = format!("'{from}' is now '{to}' for {}", counted_words(tags.len(), "feed", "feeds"));
    if searches == engine.saved_searches {
        put_tags(engine, tags, filters, true);
    } else {
        engine.undo.begin_together();
        put_tags(engine, tags, filters, true);
        search_query::save(engine, searches);
        engine.undo.end_together();
    }
    engine.say_undoable(text);
}

/// Undoes or redoes the renaming of a tag. Tags and filters that something else changed since then stay.
pub fn take_back(
    engine: &mut Engine,
    tags: FeedTags,
    filters: Vec<EntryFilter>,
    (tags_after, filters_after): (FeedTags, Vec<EntryFilter>),
) -> Step {
    if tags_after.is_empty() {
        // An earlier version did not note what the change made.
        return put_tags(engine, tags, filters, false);
    }
    let mut back = FeedTags::new();
    for ((feed, before), (_, after)) in tags.into_iter().zip(&tags_after) {
        if let Some(known) = engine.feeds.get(&feed) {
            back.push((feed, without_change(&known.record.tags, &before, after)));
        }
    }
    let mut list = engine.filters.list.clone();
    ListChange::new(filters, &filters_after).revert(&mut list);
    put_tags(engine, back, list, false)
}

/// Returns the present tags of a feed without a change of the user.
pub fn without_change(present: &[String], before: &[String], after: &[String]) -> Vec<String> {
    if present == after {
        return before.to_vec();
    }
    let is_kept = |tag: &&String| before.contains(tag) || !after.contains(tag);
    let kept = present.iter().filter(is_kept);
    let back = before.iter().filter(|tag| !after.contains(tag) && !present.contains(tag));
    kept.chain(back).cloned().collect()
}

/// Sets the tags of feeds and replaces the filters. Returns the step that undoes this; `undoable` adds it to the undo steps.
pub fn put_tags(
    engine: &mut Engine,
    tags: FeedTags,
    filters: Vec<EntryFilter>,
    undoable: bool,
) -> Step {
    let (mut before, mut after, mut changes) = (Vec::new(), Vec::new(), Vec::new());
    for (key, tags) in tags {
        let Some(feed) = engine.feeds.get_mut(&key) else { continue };
        let parts = FeedParts::of(feed);
        after.push((key, tags.clone()));
        before.push((key, std::mem::replace(&mut feed.record.tags, tags)));
        changes.push((key, FeedChange::since(&parts, feed)));
    }
    let former = std::mem::replace(&mut engine.filters.list, filters);
    let filters = ListChange::new(former.clone(), &engine.filters.list);
    let inverse = Step::Retagged {
        tags: before,
        filters: former,
        after: (after, engine.filters.list.clone()),
    };
    let step = undoable.then(|| engine.undo.push(inverse.clone())).flatten();
    change::write(engine, Change::Feeds(changes), step);
    if !filters.is_empty() {
        change::write(engine, Change::Filters(filters), step);
    }
    engine.tell(Event::FeedsChanged);
    engine.tell(Event::ListsChanged);
    inverse
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::change_settings::*;
    use crate::engine::settings::Settings;

    #[test]
    fn interval_below_the_minimum_is_refused_with_the_bound() {
        let none = FeedSettings::default();
        let wanted = FeedSettings { fixed_minutes: Some(4), ..FeedSettings::default() };
        let why = too_short(&wanted, &none, false).unwrap();
        assert!(
            why.contains("the fixed interval would be 4m") && why.contains("every 5m"),
            "{why}"
        );
        let minimum = FeedSettings { min_minutes: Some(1), ..FeedSettings::default() };
        assert!(too_short(&minimum, &none, false).is_some());
        assert_eq!(too_short(&wanted, &none, true), None, "on this machine");
        assert_eq!(too_short(&wanted, &wanted, false), None, "was so before");
        let allowed = FeedSettings { fixed_minutes: Some(5), ..FeedSettings::default() };
        assert_eq!(too_short(&allowed, &none, false), None);
    }

    #[test]
    fn minimum_above_maximum_is_refused_in_words() {
        let settings = Settings::default().poll;
        let feed_settings = |min, max| FeedSettings {
            min_minutes: min,
            max_minutes: max,
            ..FeedSettings::default()
        };
        assert_eq!(clash(&feed_settings(None, None), &settings), None);
        assert_eq!(clash(&feed_settings(Some(30), Some(30)), &settings), None);
        let why = clash(&feed_settings(Some(120), Some(60)), &settings).unwrap();
        assert!(why.starts_with("the shortest interval (2h) would be longer"), "{why}");
        let why = clash(&feed_settings(None, Some(10)), &settings).unwrap();
        assert!(why.contains("(15m, as configured)") && why.contains("(10m)"), "{why}");
    }
}

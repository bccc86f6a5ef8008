//! Unread entries that end automatically: after the time that the user sets for a feed, a tag or all feeds, they count as read.

use backissue_core::feed::text::counted_words;
use backissue_core::history::{EntryKey, FeedKey, Flag};
use backissue_core::words::interval_text;
use chrono::{DateTime, TimeDelta, Utc};

use crate::engine::change::MarkChange;
use crate::engine::entries::marks;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::request::{Effect, Event, MarkedBy};
use crate::engine::settings::Settings;
use crate::engine::state::Engine;
use crate::engine::store_work::{Job, UnreadLimit};

/// Time between two checks of entries against their limits.
const CHECK_EVERY: TimeDelta = TimeDelta::hours(1);

/// Ends the unread entries whose time is over, unless the last check was less than [`CHECK_EVERY`] ago.
pub fn check(engine: &mut Engine, now: DateTime<Utc>) {
    let next = engine.unread_checked.and_then(|at| at.checked_add_signed(CHECK_EVERY));
    if next.is_some_and(|next| now < next) {
        return;
    }
    engine.unread_checked = Some(now);
    let settings = &engine.settings;
    let limits = engine.feeds.iter().filter_map(|(&feed, subscription)| {
        let minutes = minutes_of(settings, &subscription.record)?;
        let is_account = subscription.record.feed_settings.account.is_some();
        Some(UnreadLimit { feed, minutes, is_sent: is_account && settings.sync.send_ended })
    });
    let limits: Vec<UnreadLimit> = limits.collect();
    if !limits.is_empty() || engine.ended_this_week > 0 {
        engine.store(Job::EndUnread(limits, now));
    }
}

/// Returns the limit of a feed in minutes: its own limit, otherwise the shortest limit of its tags, otherwise the limit for all
/// feeds. Returns `None` if its entries do not end.
fn minutes_of(settings: &Settings, record: &SubscriptionRecord) -> Option<u32> {
    if let Some(own) = record.feed_settings.unread_minutes {
        return (own > 0).then_some(own);
    }
    let history = &settings.history;
    let tagged = record.tags.iter().filter_map(|tag| history.unread_for_tags.get(tag));
    // A tag whose entries never end also overrides the limit for all feeds.
    let shortest = tagged.map(|limit| limit.0).min_by_key(|limit| limit.unwrap_or(u32::MAX));
    shortest.unwrap_or(history.unread_for.0)
}

/// Shows the entries that ended now, and the number of entries that ended in the last seven days.
pub fn ended(engine: &mut Engine, ended: Vec<EntryKey>, this_week: u32) {
    let was_shown = engine.ended_this_week > 0;
    engine.ended_this_week = this_week;
    if was_shown != (this_week > 0) {
        engine.tell(Event::FeedListChanged);
    }
    if ended.is_empty() {
        return;
    }
    let count = counted_words(ended.len(), "unread entry", "unread entries");
    let mark = MarkChange { flag: Flag::Ended, value: true, keys: ended };
    marks::show(engine, mark, MarkedBy::User);
    engine.tell(Event::CountersChanged);
    engine.say(format!("{count} reached your time limit and ended: see 'Ended this week'"));
}

/// Makes an old entry of each feed unread whose user wants that now. Feeds of accounts are left out, because their servers would learn
/// of it.
pub fn drip(engine: &mut Engine, now: DateTime<Utc>) {
    for (&feed, subscription) in &mut engine.feeds {
        let settings = &subscription.record.feed_settings;
        let Some(minutes) = settings.drip_minutes.filter(|_| settings.account.is_none()) else {
            continue;
        };
        let last = subscription.state.dripped.filter(|at| *at <= now);
        let next = last.map(|at| at + TimeDelta::minutes(minutes.into()));
        if next.is_none_or(|next| next <= now) {
            subscription.state.dripped = Some(now);
            let saved = Job::SaveState(feed, subscription.state.clone());
            engine.effects.extend([saved, Job::Drip(feed)].map(Effect::store));
        }
    }
}

/// Shows an old entry that became unread.
pub fn dripped(engine: &mut Engine, feed: FeedKey, keys: Vec<EntryKey>) {
    let Some(subscription) = engine.feeds.get(&feed).filter(|_| !keys.is_empty()) else {
        return;
    };
    let every = subscription.record.feed_settings.drip_minutes.map(interval_text);
    let title = subscription.record.shown_title();
    let every = every.unwrap_or_default();
    engine.say(format!("{title}: an old entry is unread, as every {every} (drip)"));
    marks::show(engine, MarkChange { flag: Flag::FromHistory, value: false, keys }, MarkedBy::User);
    engine.tell(Event::CountersChanged);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::wording::Lasting;

    #[test]
    fn own_limit_comes_before_those_of_tags_and_of_all_feeds() {
        let days = |days: u32| Lasting(Some(days * 1440));
        let mut settings = Settings::default();
        let history = &mut settings.history;
        history.unread_for = days(14);
        history.unread_for_tags =
            [("news", days(3)), ("daily", days(1)), ("papers", Lasting(None))]
                .map(|(tag, limit)| (tag.to_owned(), limit))
                .into();
        for (own, tags, expected) in [
            (None, &[][..], Some(14)),
            (None, &["other"], Some(14)),
            (None, &["news"], Some(3)),
            (None, &["news", "daily"], Some(1)),
            (None, &["papers"], None),
            (None, &["papers", "news"], Some(3)),
            (Some(2), &["daily"], Some(2)),
            (Some(0), &["daily"], None),
        ] {
            let mut record = SubscriptionRecord {
                tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
                ..SubscriptionRecord::default()
            };
            record.feed_settings.unread_minutes = own.map(|days| days * 1440);
            let minutes = minutes_of(&settings, &record);
            assert_eq!(minutes.map(|minutes| minutes / 1440), expected, "{own:?} {tags:?}");
        }
    }
}

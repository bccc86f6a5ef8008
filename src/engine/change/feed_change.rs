//! A change of one subscription, with the values before and after the change. Reverting the change keeps values that polls or other
//! changes have replaced in the meantime.

use std::sync::Arc;

use crate::engine::feeds::chosen_settings::FeedSettings;
use crate::engine::feeds::subscription::{FeedState, Subscription, SubscriptionRecord};
use backissue_core::history::HistoryRecord;

/// Copies of the stored parts of a subscription at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedParts {
    /// The user's settings and the address of the feed.
    pub record: SubscriptionRecord,
    /// State of the feed after its last poll.
    pub state: Box<FeedState>,
    /// State of the feed's history.
    pub history: Arc<HistoryRecord>,
}

impl FeedParts {
    /// Copies the parts of a subscription.
    pub fn of(subscription: &Subscription) -> Self {
        let Subscription { record, state, history, .. } = subscription;
        Self { record: record.clone(), state: state.clone(), history: Arc::clone(history) }
    }
}

/// A change of a subscription's settings, address or status.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedChange {
    before: FeedParts,
    after: FeedParts,
}

/// Resets fields to their values before a change, except fields that were changed again after that change.
macro_rules! revert {
    ($now:expr, $before:expr, $after:expr; $($($field:ident).+),+ $(,)?) => {
        $(if $before.$($field).+ != $after.$($field).+ && $now.$($field).+ == $after.$($field).+ {
            $now.$($field).+.clone_from(&$before.$($field).+);
        })+
    };
}

impl FeedChange {
    /// Returns the change from `before` to the current subscription.
    pub fn since(before: FeedParts, subscription: &Subscription) -> Self {
        Self { before, after: FeedParts::of(subscription) }
    }

    /// Returns the change with the values before and after swapped.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { before: self.after.clone(), after: self.before.clone() }
    }

    /// Checks whether the change affects the title or the tags.
    pub fn renames(&self) -> bool {
        let name = |parts: &FeedParts| (parts.record.own_title.clone(), parts.record.tags.clone());
        name(&self.before) != name(&self.after)
    }

    /// Checks whether the change affects only the title, the tags and the user's settings for the feed.
    pub fn is_choice(&self) -> bool {
        let mut record = self.before.record.clone();
        record.choose(self.after.record.chosen());
        record == self.after.record && self.before.state == self.after.state
    }

    /// Reverts the change in a subscription.
    pub fn revert(&self, subscription: &mut Subscription) {
        self.revert_record(&mut subscription.record);
        self.revert_state(&mut subscription.state);
        let (before, after) = (&self.before.history.windows, &self.after.history.windows);
        if before != after && subscription.history.windows == *after {
            Arc::make_mut(&mut subscription.history).windows.clone_from(before);
        }
    }

    /// Reverts the change in a copy of the record.
    pub fn revert_record(&self, record: &mut SubscriptionRecord) {
        let (before, after) = (&self.before.record, &self.after.record);
        revert!(record, before, after; url, former, declined, own_title, tags);
        let settings = &mut record.feed_settings;
        let (before, after) = (&before.feed_settings, &after.feed_settings);
        // The pattern has no `..`, so that a new setting does not compile until it is added here and to the list below.
        let FeedSettings {
            pace: _,
            min_minutes: _,
            max_minutes: _,
            fixed_minutes: _,
            allow_insecure: _,
            ignore_expired: _,
            history: _,
            learn: _,
            rules: _,
            archives: _,
            full_text: _,
            ignore_cache_lifetime: _,
            ignore_skips: _,
        } = before;
        revert!(settings, before, after;
            pace, min_minutes, max_minutes, fixed_minutes, allow_insecure, ignore_expired, history, learn, rules, archives,
            full_text, ignore_cache_lifetime, ignore_skips);
    }

    /// Reverts the change in a copy of the state.
    pub fn revert_state(&self, state: &mut FeedState) {
        let (before, after) = (&self.before.state, &self.after.state);
        revert!(state, before, after;
            proposed, archive, failing_since, trouble, obstacle, facts.standing, facts.host_wait, facts.failures,
            facts.failure);
    }

    /// Reverts the change in the earlier values of a later change, so that reverting the later change does not restore this change.
    pub fn revert_before(&self, later: &mut Self) {
        self.revert_record(&mut later.before.record);
        self.revert_state(&mut later.before.state);
        let (before, after) = (&self.before.history, &self.after.history);
        if before.windows != after.windows && later.before.history.windows == after.windows {
            Arc::make_mut(&mut later.before.history).windows.clone_from(&before.windows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backissue_core::history::FeedKey;
    use backissue_core::schedule::FeedStatus;

    fn subscription(url: &str) -> Subscription {
        let record = SubscriptionRecord { url: url.into(), ..SubscriptionRecord::default() };
        Subscription::new(FeedKey(1), record)
    }

    fn change(subscription: &mut Subscription, how: impl FnOnce(&mut Subscription)) -> FeedChange {
        let before = FeedParts::of(subscription);
        how(subscription);
        FeedChange::since(before, subscription)
    }

    #[test]
    fn reverting_a_change_keeps_what_others_changed_meanwhile() {
        let mut feed = subscription("one");
        let answer = change(&mut feed, |feed| {
            feed.record.url = "two".into();
            feed.state.facts.standing = FeedStatus::Stopped;
        });
        feed.record.url = "three".into();
        feed.state.trouble = Some("it is away".into());
        answer.revert(&mut feed);
        assert_eq!(feed.record.url, "three", "a poll was led there");
        assert_eq!(feed.state.facts.standing, FeedStatus::Active);
        assert_eq!(feed.state.trouble.as_deref(), Some("it is away"));
    }

    #[test]
    fn reverting_two_changes_in_their_order_leaves_the_first_values() {
        let mut feed = subscription("one");
        let before = feed.clone();
        let first = change(&mut feed, |feed| feed.record.url = "two".into());
        let mut second = change(&mut feed, |feed| {
            feed.record.url = "three".into();
            feed.record.feed_settings.allow_insecure = true;
        });
        first.revert(&mut feed);
        first.revert_before(&mut second);
        assert_eq!(feed.record.url, "three");
        second.revert(&mut feed);
        assert_eq!(feed, before);
    }

    #[test]
    fn a_reversed_change_is_applied_by_reverting_it() {
        let mut feed = subscription("one");
        let mut kept = feed.record.clone();
        let answer = change(&mut feed, |feed| feed.record.url = "two".into());
        answer.reversed().revert_record(&mut kept);
        assert_eq!(kept.url, "two");
        answer.revert_record(&mut kept);
        assert_eq!(kept.url, "one");
    }
}

//! A change of one subscription, field by field. Reverting it keeps what polls and later changes have set.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::engine::entries::ahead_work::Ahead;
use crate::engine::feeds::chosen_settings::FeedSettings;
use crate::engine::feeds::subscription::{
    ArchiveAddress, FeedState, FormerAddress, GivenBy, NamedBy, Obstacle, ProposedMove,
    Subscription, SubscriptionRecord,
};
use crate::engine::settings::HistoryMode;
use backissue_core::feed::IntervalRule;
use backissue_core::history::windows::Windows;
use backissue_core::history::{Adaptor, HistoryRecord};
use backissue_core::schedule::{FeedStatus, Pace, PollFailure, Wait};

/// The durable parts of a subscription at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedParts {
    /// The record of the subscription.
    pub record: SubscriptionRecord,
    /// The results of its polls.
    pub state: Box<FeedState>,
    /// The known history of the feed.
    pub history: Arc<HistoryRecord>,
}

impl FeedParts {
    /// Copies the parts of a subscription.
    pub fn of(subscription: &Subscription) -> Self {
        let Subscription { record, state, history, .. } = subscription;
        Self { record: record.clone(), state: state.clone(), history: Arc::clone(history) }
    }
}

/// The values of a field before and after a change; `None` if the change does not set the field.
type Field<T> = Option<Box<(T, T)>>;

/// Whether a change is applied to a copy of a subscription's parts, or reverted in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Fields with the value before the change get the value after it.
    Apply,
    /// Fields with the value after the change get the value before it.
    Revert,
}

fn field<T: PartialEq + Clone>(before: &T, after: &T) -> Field<T> {
    (before != after).then(|| Box::new((before.clone(), after.clone())))
}

/// Sets a field that has the value of the other side. Another value was set by something else and stays.
fn set<T: PartialEq + Clone>(field: Option<&(T, T)>, now: &mut T, direction: Direction) {
    let Some((before, after)) = field else { return };
    let (from, to) = match direction {
        Direction::Revert => (after, before),
        Direction::Apply => (before, after),
    };
    if now == from {
        now.clone_from(to);
    }
}

/// Makes a later change that sets the field responsible for restoring its first value.
fn hand_over<T>(field: &mut Field<T>, later: &mut Field<T>) {
    if let Some(later) = later
        && let Some(field) = field.take()
    {
        later.0 = field.0;
    }
}

macro_rules! feed_change {
    (
        record { $($record:ident: $record_type:ty,)+ }
        settings { $($setting:ident: $setting_type:ty,)+ }
        state { $($state:ident: $state_type:ty,)+ }
        facts { $($fact:ident: $fact_type:ty,)+ }
    ) => {
        /// A change of a subscription's settings, address or status.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct FeedChange {
            $($record: Field<$record_type>,)+
            $($setting: Field<$setting_type>,)+
            $($state: Field<$state_type>,)+
            $($fact: Field<$fact_type>,)+
            windows: Field<Windows>,
        }

        impl FeedChange {
            /// The change from `before` to the present subscription.
            pub fn since(before: &FeedParts, now: &Subscription) -> Self {
                // Without `..`, so that a new setting does not compile until it is listed here.
                let FeedSettings { $($setting: _,)+ } = &now.record.feed_settings;
                let (facts_before, facts) = (&before.state.facts, &now.state.facts);
                let (settings_before, settings) =
                    (&before.record.feed_settings, &now.record.feed_settings);
                Self {
                    $($record: field(&before.record.$record, &now.record.$record),)+
                    $($setting: field(&settings_before.$setting, &settings.$setting),)+
                    $($state: field(&before.state.$state, &now.state.$state),)+
                    $($fact: field(&facts_before.$fact, &facts.$fact),)+
                    windows: field(&before.history.windows, &now.history.windows),
                }
            }

            /// Hands the fields that a later change of the same feed also sets over to that change: it restores their first
            /// value if it fails as well, and this change no longer reverts them.
            pub fn hand_over(&mut self, later: &mut Self) {
                $(hand_over(&mut self.$record, &mut later.$record);)+
                $(hand_over(&mut self.$setting, &mut later.$setting);)+
                $(hand_over(&mut self.$state, &mut later.$state);)+
                $(hand_over(&mut self.$fact, &mut later.$fact);)+
                hand_over(&mut self.windows, &mut later.windows);
            }

            /// Returns whether the change sets fields of the state, which is stored apart from the record.
            pub const fn sets_state(&self) -> bool {
                $(self.$state.is_some() ||)+ $(self.$fact.is_some() ||)+ false
            }

            /// Applies the change to a record, or reverts it there.
            pub fn set_record(&self, record: &mut SubscriptionRecord, direction: Direction) {
                $(set(self.$record.as_deref(), &mut record.$record, direction);)+
                $(set(self.$setting.as_deref(), &mut record.feed_settings.$setting, direction);)+
            }

            /// Applies the change to a state, or reverts it there.
            pub fn set_state(&self, state: &mut FeedState, direction: Direction) {
                $(set(self.$state.as_deref(), &mut state.$state, direction);)+
                $(set(self.$fact.as_deref(), &mut state.facts.$fact, direction);)+
            }
        }
    };
}

feed_change! {
    record {
        url: String,
        former: Vec<FormerAddress>,
        named_by: Option<NamedBy>,
        given_by: Option<GivenBy>,
        declined: Option<String>,
        own_title: Option<String>,
        tags: Vec<String>,
    }
    settings {
        pace: Option<Pace>,
        min_minutes: Option<u32>,
        max_minutes: Option<u32>,
        fixed_minutes: Option<u32>,
        allow_insecure: bool,
        ignore_expired: bool,
        history: Option<HistoryMode>,
        learn: Option<bool>,
        rules: Vec<IntervalRule>,
        archives: Option<Adaptor>,
        full_text: bool,
        text_ahead: bool,
        ahead: Option<Ahead>,
        quiet: bool,
        ignore_cache_lifetime: bool,
        ignore_skips: bool,
        account: Option<String>,
        polled_here: bool,
    }
    state {
        proposed: Option<ProposedMove>,
        archive: Option<ArchiveAddress>,
        failing_since: Option<DateTime<Utc>>,
        trouble: Option<String>,
        obstacle: Option<Obstacle>,
    }
    facts {
        standing: FeedStatus,
        host_wait: Option<Wait>,
        failures: u32,
        failure: Option<PollFailure>,
    }
}

impl FeedChange {
    /// Returns whether it changes the title or the tags.
    pub const fn renames(&self) -> bool {
        self.own_title.is_some() || self.tags.is_some()
    }

    /// Returns whether it changes the known windows of the history.
    pub const fn sets_windows(&self) -> bool {
        self.windows.is_some()
    }

    /// Reverts the change in a subscription.
    pub fn revert(&self, subscription: &mut Subscription) {
        self.set_record(&mut subscription.record, Direction::Revert);
        self.set_state(&mut subscription.state, Direction::Revert);
        if self.windows.is_some() {
            let windows = &mut Arc::make_mut(&mut subscription.history).windows;
            set(self.windows.as_deref(), windows, Direction::Revert);
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
        FeedChange::since(&before, subscription)
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
    fn a_failed_change_leaves_later_changes_of_the_same_field() {
        let mut feed = subscription("one");
        let before = feed.clone();
        let mut set = |pace| change(&mut feed, |feed| feed.record.feed_settings.pace = Some(pace));
        let [mut first, mut second, mut third] = [Pace::More, Pace::Less, Pace::More].map(&mut set);
        first.hand_over(&mut second);
        first.revert(&mut feed);
        assert_eq!(feed.record.feed_settings.pace, Some(Pace::More), "the last one set it again");
        second.hand_over(&mut third);
        second.revert(&mut feed);
        third.revert(&mut feed);
        assert_eq!(feed, before);
    }

    #[test]
    fn a_later_change_reverts_only_the_fields_that_it_set() {
        let mut feed = subscription("one");
        let mut resumed = change(&mut feed, |feed| feed.state.facts.standing = FeedStatus::Stopped);
        let mut paced = change(&mut feed, |feed| feed.record.feed_settings.pace = Some(Pace::Less));
        resumed.hand_over(&mut paced);
        resumed.revert(&mut feed);
        feed.state.facts.standing = FeedStatus::Stopped;
        paced.revert(&mut feed);
        assert_eq!(feed.state.facts.standing, FeedStatus::Stopped, "a poll set it");
        assert_eq!(feed.record.feed_settings.pace, None);
    }

    #[test]
    fn a_change_is_applied_to_a_copy_and_reverted_in_it() {
        let mut feed = subscription("one");
        let mut kept = feed.record.clone();
        let answer = change(&mut feed, |feed| feed.record.url = "two".into());
        answer.set_record(&mut kept, Direction::Apply);
        assert_eq!(kept.url, "two");
        answer.set_record(&mut kept, Direction::Revert);
        assert_eq!(kept.url, "one");
    }
}

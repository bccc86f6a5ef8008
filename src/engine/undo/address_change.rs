//! What a change of an address, or an answer about the standing of a feed, changes of a subscription, and how exactly that is taken
//! back: what polls or other changes did meanwhile stays.

use chrono::{DateTime, Utc};

use crate::engine::feeds::chosen_settings::FeedSettings;
use crate::engine::feeds::subscription::{
    ArchiveAddress, FeedState, FormerAddress, Obstacle, ProposedMove, Subscription,
    SubscriptionRecord,
};
use backissue_core::history::HistoryRecord;
use backissue_core::history::windows::Windows;
use backissue_core::schedule::{FeedStatus, PollFailure, Wait};

/// What of a subscription such a change may change.
#[derive(Debug, Clone, PartialEq)]
pub struct AddressParts {
    record: RecordParts,
    state: StateParts,
    windows: Windows,
}

/// Of its lasting part.
#[derive(Debug, Clone, PartialEq)]
struct RecordParts {
    url: String,
    former: Vec<FormerAddress>,
    declined: Option<String>,
    allow_insecure: bool,
    ignore_expired: bool,
}

/// Of what polls taught us.
#[derive(Debug, Clone, PartialEq)]
struct StateParts {
    proposed: Option<ProposedMove>,
    archive: Option<ArchiveAddress>,
    standing: FeedStatus,
    host_wait: Option<Wait>,
    failures: u32,
    failure: Option<PollFailure>,
    failing_since: Option<DateTime<Utc>>,
    trouble: Option<String>,
    obstacle: Option<Obstacle>,
}

impl AddressParts {
    /// Those of a subscription as it is.
    pub fn of(subscription: &Subscription) -> Self {
        let Subscription { record, state, history, .. } = subscription;
        Self {
            record: RecordParts::of(record),
            state: StateParts::of(state),
            windows: history.windows.clone(),
        }
    }
}

impl RecordParts {
    fn of(record: &SubscriptionRecord) -> Self {
        Self {
            url: record.url.clone(),
            former: record.former.clone(),
            declined: record.declined.clone(),
            allow_insecure: record.feed_settings.allow_insecure,
            ignore_expired: record.feed_settings.ignore_expired,
        }
    }

    fn put_into(self, record: &mut SubscriptionRecord) {
        let Self { url, former, declined, allow_insecure, ignore_expired } = self;
        (record.url, record.former, record.declined) = (url, former, declined);
        let settings = &mut record.feed_settings;
        (settings.allow_insecure, settings.ignore_expired) = (allow_insecure, ignore_expired);
    }

    fn take_back(&mut self, before: &Self, after: &Self) {
        take_back(&mut self.url, &before.url, &after.url);
        take_back(&mut self.former, &before.former, &after.former);
        take_back(&mut self.declined, &before.declined, &after.declined);
        take_back(&mut self.allow_insecure, &before.allow_insecure, &after.allow_insecure);
        take_back(&mut self.ignore_expired, &before.ignore_expired, &after.ignore_expired);
    }
}

impl StateParts {
    fn of(state: &FeedState) -> Self {
        let facts = &state.facts;
        Self {
            proposed: state.proposed.clone(),
            archive: state.archive.clone(),
            standing: facts.standing,
            host_wait: facts.host_wait,
            failures: facts.failures,
            failure: facts.failure,
            failing_since: state.failing_since,
            trouble: state.trouble.clone(),
            obstacle: state.obstacle,
        }
    }

    fn put_into(self, state: &mut FeedState) {
        let facts = &mut state.facts;
        (facts.standing, facts.host_wait) = (self.standing, self.host_wait);
        (facts.failures, facts.failure) = (self.failures, self.failure);
        (state.proposed, state.archive) = (self.proposed, self.archive);
        (state.failing_since, state.trouble) = (self.failing_since, self.trouble);
        state.obstacle = self.obstacle;
    }

    fn take_back(&mut self, before: &Self, after: &Self) {
        take_back(&mut self.proposed, &before.proposed, &after.proposed);
        take_back(&mut self.archive, &before.archive, &after.archive);
        take_back(&mut self.standing, &before.standing, &after.standing);
        take_back(&mut self.host_wait, &before.host_wait, &after.host_wait);
        take_back(&mut self.failures, &before.failures, &after.failures);
        take_back(&mut self.failure, &before.failure, &after.failure);
        take_back(&mut self.failing_since, &before.failing_since, &after.failing_since);
        take_back(&mut self.trouble, &before.trouble, &after.trouble);
        take_back(&mut self.obstacle, &before.obstacle, &after.obstacle);
    }
}

/// Puts back what was there before, unless something else was put there meanwhile.
fn take_back<T: PartialEq + Clone>(now: &mut T, before: &T, after: &T) {
    if before != after && now == after {
        now.clone_from(before);
    }
}

/// A change of a subscription's address or standing.
#[derive(Debug, Clone, PartialEq)]
pub struct AddressChange {
    before: AddressParts,
    after: AddressParts,
}

impl AddressChange {
    /// What made of the parts before a subscription as it is.
    pub fn since(before: AddressParts, subscription: &Subscription) -> Self {
        Self { before, after: AddressParts::of(subscription) }
    }

    /// The change that takes this one back.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { before: self.after.clone(), after: self.before.clone() }
    }

    /// Takes the change back; returns the address that the subscription had until now.
    pub fn take_back(&self, subscription: &mut Subscription) -> String {
        let from = subscription.record.url.clone();
        self.take_back_in_record(&mut subscription.record);
        self.take_back_in_state(&mut subscription.state);
        let HistoryRecord { windows, .. } = &mut *subscription.history;
        take_back(windows, &self.before.windows, &self.after.windows);
        from
    }

    /// Takes it back in a record that somebody else keeps of the subscription.
    pub fn take_back_in_record(&self, record: &mut SubscriptionRecord) {
        let mut parts = RecordParts::of(record);
        parts.take_back(&self.before.record, &self.after.record);
        parts.put_into(record);
    }

    /// Takes it back in settings that somebody else keeps of the subscription.
    pub fn take_back_in_settings(&self, settings: &mut FeedSettings) {
        let (before, after) = (&self.before.record, &self.after.record);
        take_back(&mut settings.allow_insecure, &before.allow_insecure, &after.allow_insecure);
        take_back(&mut settings.ignore_expired, &before.ignore_expired, &after.ignore_expired);
    }

    /// Takes it back in a state that somebody else keeps of the subscription.
    pub fn take_back_in_state(&self, state: &mut FeedState) {
        let mut parts = StateParts::of(state);
        parts.take_back(&self.before.state, &self.after.state);
        parts.put_into(state);
    }

    /// Takes it back in what a later change would put back.
    pub fn take_back_before(&self, later: &mut Self) {
        let before = &mut later.before;
        before.record.take_back(&self.before.record, &self.after.record);
        before.state.take_back(&self.before.state, &self.after.state);
        take_back(&mut before.windows, &self.before.windows, &self.after.windows);
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::undo::address_change::*;
    use backissue_core::history::FeedKey;

    fn subscription(url: &str) -> Subscription {
        let record = SubscriptionRecord { url: url.into(), ..SubscriptionRecord::default() };
        Subscription::new(FeedKey(1), record)
    }

    fn change(
        subscription: &mut Subscription,
        how: impl FnOnce(&mut Subscription),
    ) -> AddressChange {
        let before = AddressParts::of(subscription);
        how(subscription);
        AddressChange::since(before, subscription)
    }

    #[test]
    fn what_is_taken_back_leaves_what_others_changed_meanwhile() {
        let mut feed = subscription("one");
        let answer = change(&mut feed, |feed| {
            feed.record.url = "two".into();
            feed.state.facts.standing = FeedStatus::Stopped;
        });
        feed.record.url = "three".into();
        feed.state.trouble = Some("it is away".into());
        assert_eq!(answer.take_back(&mut feed), "three");
        assert_eq!(feed.record.url, "three", "a poll was led there");
        assert_eq!(feed.state.facts.standing, FeedStatus::Active);
        assert_eq!(feed.state.trouble.as_deref(), Some("it is away"));
    }

    #[test]
    fn of_two_changes_that_fail_one_after_the_other_nothing_is_left() {
        let mut feed = subscription("one");
        let before = feed.clone();
        let first = change(&mut feed, |feed| feed.record.url = "two".into());
        let mut second = change(&mut feed, |feed| feed.record.feed_settings.allow_insecure = true);
        first.take_back_before(&mut second);
        second.take_back(&mut feed);
        assert_eq!(feed, before);
    }

    #[test]
    fn what_others_keep_of_a_feed_follows_a_change_and_its_end() {
        let mut feed = subscription("one");
        let mut kept = feed.record.clone();
        let answer = change(&mut feed, |feed| feed.record.url = "two".into());
        answer.reversed().take_back_in_record(&mut kept);
        assert_eq!(kept.url, "two");
        answer.take_back_in_record(&mut kept);
        assert_eq!(kept.url, "one");
    }
}

//! Changes that are shown before they are written, with the values needed to revert them. A change of a subscription has the values
//! of each changed field, so that values from polls and later changes are kept. Filters and saved searches are lists that are
//! written as a whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use backissue_core::feed::IntervalRule;
use backissue_core::filters::EntryFilter;
use backissue_core::history::windows::Windows;
use backissue_core::history::{Adaptor, EntryKey, FeedKey, Flag, HistoryRecord};
use backissue_core::schedule::{FeedStatus, Pace, PollFailure, Wait};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::key_runs;
use crate::engine::entries::ahead_work::Ahead;
use crate::engine::feeds::setting_row::FeedSettings;
use crate::engine::feeds::subscription::{
    ArchiveAddress, FeedState, FormerAddress, GivenBy, HistoryCommit, NamedBy, Obstacle,
    ProposedMove, Subscription, SubscriptionRecord,
};
use crate::engine::settings::HistoryMode;

/// Who makes a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
    /// The user.
    #[default]
    User,
    /// The user, after answering yes to a question about the change. If the change undoes or redoes a step, this is the id of the
    /// step.
    Answered(Option<ChangeId>),
    /// A server or a publisher. The user cannot undo the change.
    Arrived,
}

/// A change that is shown before it is written.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A mark was set or cleared on entries.
    Mark(MarkChange),
    /// Settings, addresses or the status of existing feeds were changed.
    Feeds(Vec<(FeedKey, FeedChange)>),
    /// Subscriptions were added (first list), and existing subscriptions were changed (second list).
    Subscribed(Vec<FeedKey>, Vec<(FeedKey, FeedChange)>),
    /// A subscription was removed.
    Unsubscribed(FeedKey),
    /// A removed subscription was restored.
    Resubscribed(FeedKey),
    /// A subscription was merged into another subscription.
    Merged {
        /// The removed subscription.
        from: FeedKey,
        /// The remaining subscription, and the change of its tags.
        into: (FeedKey, Box<FeedChange>),
    },
    /// A gap was hidden or shown again. Contains the history to write.
    Gap(Box<HistoryCommit>),
    /// Filters were added, changed or removed.
    Filters(ListChange<EntryFilter>),
    /// Saved searches were added, changed or removed.
    Searches(ListChange<SavedSearch>),
}

impl Change {
    /// Returns the change of the filters, if it is one.
    pub const fn filters(&mut self) -> Option<&mut ListChange<EntryFilter>> {
        if let Self::Filters(change) = self { Some(change) } else { None }
    }

    /// Returns the change of the saved searches, if it is one.
    pub const fn searches(&mut self) -> Option<&mut ListChange<SavedSearch>> {
        if let Self::Searches(change) = self { Some(change) } else { None }
    }
}

/// A mark that is set or cleared on entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkChange {
    /// The mark.
    pub flag: Flag,
    /// `true` to set the mark, `false` to clear it.
    pub value: bool,
    /// The entries. Each entry is expected to have the opposite value before the change; the store reports which entries were
    /// changed.
    #[serde(with = "key_runs")]
    pub keys: Vec<EntryKey>,
}

impl MarkChange {
    /// Returns the change that sets the opposite value on the same entries.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { value: !self.value, ..self }
    }
}

/// Id of a change, used to drop its undo step if the write fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChangeId(pub u64);

/// An undo step that the store completes, because the affected entries are known only when the change is written.
#[derive(Debug, Clone, PartialEq)]
pub struct LaterStep {
    /// Id of the change.
    pub id: ChangeId,
    /// Time of the change.
    pub at: DateTime<Utc>,
    /// The filters before the change, if the change is one of a filter.
    pub filters: Vec<EntryFilter>,
    /// `true` if this is a part of the step of an import, which has the id `id`.
    pub joins: bool,
}

/// An item of a list, with a number that no other item has.
pub trait Numbered: Clone + PartialEq {
    /// The number.
    fn number(&self) -> u32;
}

impl Numbered for EntryFilter {
    fn number(&self) -> u32 {
        self.id
    }
}

impl Numbered for SavedSearch {
    fn number(&self) -> u32 {
        self.id
    }
}

/// A change of a list: the numbers of the items that it set, and the list before the change, which has their values and positions.
#[derive(Debug, Clone, PartialEq)]
pub struct ListChange<T> {
    /// The list before the change.
    before: Vec<T>,
    /// The numbers of the items that it added, changed or removed.
    items: BTreeSet<u32>,
}

fn find<T: Numbered>(list: &[T], number: u32) -> Option<&T> {
    list.iter().find(|item| item.number() == number)
}

impl<T: Numbered> ListChange<T> {
    /// Returns the change from one list to another.
    pub fn new(before: Vec<T>, after: &[T]) -> Self {
        let numbers = before.iter().chain(after).map(T::number);
        let is_changed = |number: &u32| find(&before, *number) != find(after, *number);
        let items = numbers.filter(is_changed).collect();
        Self { before, items }
    }

    /// Returns the change of one item.
    pub fn of(before: Vec<T>, number: u32) -> Self {
        Self { before, items: BTreeSet::from([number]) }
    }

    /// Returns whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Leaves the items that a later change also sets to that change. If it fails too, it restores the values before this change.
    pub fn hand_over(&mut self, later: &mut Self) {
        self.items.retain(|&number| {
            let is_later = later.items.contains(&number);
            restore(&mut later.before, &self.before, number);
            !is_later
        });
    }

    /// Restores the changed items in the present list. Returns their numbers.
    pub fn revert(self, list: &mut Vec<T>) -> BTreeSet<u32> {
        for &number in &self.items {
            restore(list, &self.before, number);
        }
        self.items
    }
}

/// Gives an item the value that it has in the list `before`. Removes it if that list does not contain it.
fn restore<T: Numbered>(list: &mut Vec<T>, before: &[T], number: u32) {
    let place = list.iter().position(|item| item.number() == number);
    let former = before.iter().enumerate().find(|(_, item)| item.number() == number);
    match (place.and_then(|place| list.get_mut(place)), former) {
        (Some(item), Some((_, former))) => item.clone_from(former),
        (None, Some((place, former))) => list.insert(place.min(list.len()), former.clone()),
        (_, None) => list.retain(|item| item.number() != number),
    }
}

/// The stored parts of a subscription at one moment.
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

/// Applies or reverts a change of a field. If the field has neither expected value, something else has set it, and it is not
/// changed.
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

/// If a later change also sets the field, leaves it to that change to restore the value before both changes.
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
            /// Returns the change from `before` to the present subscription.
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

            /// Leaves the fields that a later change of the same feed also sets to that change. If it fails too, it restores the
            /// values before both changes; this change no longer reverts them.
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
        unread_minutes: Option<u32>,
        drip_minutes: Option<u32>,
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

/// A search that the user saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSearch {
    /// Unique number of the search.
    pub id: u32,
    /// Name of the search.
    pub name: String,
    /// Text of the query.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use backissue_core::history::FeedKey;
    use backissue_core::schedule::FeedStatus;

    use super::*;

    fn list(names: &[(u32, &str)]) -> Vec<SavedSearch> {
        let search =
            |&(id, name): &(u32, &str)| SavedSearch { id, name: name.into(), text: String::new() };
        names.iter().map(search).collect()
    }

    #[test]
    fn a_failed_change_restores_its_items_and_keeps_others() {
        let first = list(&[(1, "a"), (2, "b")]);
        let second = list(&[(2, "b")]);
        let third = list(&[(2, "c"), (3, "d")]);
        let mut removed = ListChange::new(first.clone(), &second);
        let mut changed = ListChange::new(second, &third);
        let mut shown = third;
        removed.hand_over(&mut changed);
        removed.revert(&mut shown);
        assert_eq!(shown, list(&[(1, "a"), (2, "c"), (3, "d")]));
        changed.revert(&mut shown);
        assert_eq!(shown, first);
    }

    #[test]
    fn an_item_that_a_later_change_sets_is_restored_by_that_change() {
        let before = list(&[(1, "a")]);
        let (once, twice) = (list(&[(1, "b")]), list(&[(1, "c")]));
        let mut first = ListChange::new(before.clone(), &once);
        let mut second = ListChange::new(once, &twice);
        let mut shown = twice.clone();
        first.hand_over(&mut second);
        first.revert(&mut shown);
        assert_eq!(shown, twice);
        second.revert(&mut shown);
        assert_eq!(shown, before);
    }

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

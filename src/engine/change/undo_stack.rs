//! The undo stack: the steps in memory, and the changes to the steps in the store.
//!
//! The store writes a step after its change, and removes the step after the write that undoes the change, in the same thread and
//! usually in the same sync. The store's log is read up to its first damaged part, so a step is recovered only together with its
//! change. If the program is killed between the two writes, either the change has no step and cannot be undone, or a step remains
//! although its change was already undone. Undoing such a step again changes nothing, because the step contains the earlier values.

use std::collections::{BTreeSet, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::value::{ChangeId, MarkChange};
use crate::engine::entries::filter_work::FilterChanges;
use crate::engine::feeds::chosen_settings::Chosen;
use crate::engine::feeds::subscription::{ProposedMove, SubscriptionRecord};
use crate::engine::saved_searches::SavedSearch;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flag, GapKey};

/// Maximum number of steps that can be undone.
const UNDO_STEPS: usize = 200;

/// Time for which a change can be undone and a removed subscription is kept.
pub const UNDO_KEPT: TimeDelta = TimeDelta::days(7);

/// Maximum number of entries in a stored step. Such a step takes at most 2 MB, because an entry that is not adjacent to another
/// takes 8 bytes.
const SAVED_ENTRIES_MAX: usize = 250_000;

/// The changes that can be undone or redone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UndoStack {
    pub(super) steps: VecDeque<KnownStep>,
    /// Undone steps that can be redone, oldest first.
    pub(super) undone: Vec<Step>,
    /// Id of the last change.
    pub(super) last: ChangeId,
    /// Number of changes under way whose steps depend on the store's result: marking a whole list, applying a filter.
    pub(super) under_way: u32,
    /// `true` to undo the last change under way as soon as its step is known.
    pub(super) wanted: bool,
    /// Steps to remove from the store.
    gone: Vec<ChangeId>,
    /// Changed steps to store again.
    renewed: Vec<ChangeId>,
    /// Steps collected so far for a combined step; `None` if no combined step was started.
    together: Option<Vec<Step>>,
    /// Id of the combined step that [`UndoStack::join`] adds to.
    joined: Option<ChangeId>,
}

/// A step that can be undone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KnownStep {
    id: ChangeId,
    /// Time of the change; `None` until the step is passed to the store.
    pub(super) at: Option<DateTime<Utc>>,
    pub(super) step: Step,
}

/// A step as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedStep {
    /// Id of the change; later changes have larger ids.
    pub id: ChangeId,
    /// Time of the change.
    pub at: DateTime<Utc>,
    /// The data needed to undo the change.
    pub step: Step,
}

/// Changes to make to the steps in the store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepChanges {
    /// Steps to write to the store.
    pub kept: Vec<SavedStep>,
    /// Steps to remove from the store.
    pub gone: Vec<ChangeId>,
}

/// The data needed to undo one change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// A mark was set or cleared on these entries.
    Marked(MarkChange),
    /// A subscription was removed; it is in [`crate::engine::state::Engine::ended`].
    Unsubscribed(FeedKey),
    /// A removed subscription was restored.
    Resubscribed(FeedKey),
    /// The address of a subscription was changed, or a proposed or insecure address was accepted or declined.
    Readdressed {
        /// The subscription.
        feed: FeedKey,
        /// Record of the subscription before the change.
        before: Box<SubscriptionRecord>,
        /// The proposed move before the change.
        proposed: Option<ProposedMove>,
    },
    /// A complete feed withdrew entries.
    Withdrawn {
        /// The feed.
        feed: FeedKey,
        /// Numbers of the withdrawn entries.
        withdrawn: Vec<u32>,
    },
    /// The user hid a gap.
    Dismissed {
        /// The feed.
        feed: FeedKey,
        /// The gap.
        gap: GapKey,
    },
    /// A hidden gap was shown again.
    ShownAgain {
        /// The feed.
        feed: FeedKey,
        /// The gap.
        gap: GapKey,
    },
    /// A search was saved, renamed or removed.
    Searches {
        /// The saved searches before the change.
        before: Vec<SavedSearch>,
    },
    /// A filter was added, changed or removed.
    Filters {
        /// The filters before the change.
        before: Vec<EntryFilter>,
        /// Changes that the new filters made to entries.
        changes: Box<FilterChanges>,
        /// `true` if the step redoes the change, `false` if it undoes the change.
        forward: bool,
    },
    /// A tag was renamed.
    Retagged {
        /// Tags of the affected feeds before the change.
        tags: Vec<(FeedKey, Vec<String>)>,
        /// Filters before the change, because filters may name the tag.
        filters: Vec<EntryFilter>,
    },
    /// Entries of a feed that another reader knew are waited for, or no longer.
    Awaited {
        /// The feed.
        feed: FeedKey,
        /// Time of the import.
        since: DateTime<Utc>,
        /// `true` if undoing the step waits for the entries again, `false` if it stops waiting.
        again: bool,
    },
    /// Steps of changes that are undone together, in the order of the changes.
    Together(Vec<Self>),
    /// The user changed the settings of a subscription.
    Changed {
        /// The subscription.
        feed: FeedKey,
        /// The settings before the change.
        before: Box<Chosen>,
    },
}

impl UndoStack {
    /// Records that a change under way failed, so that no step follows.
    pub const fn step_fails(&mut self) {
        self.step_is_known();
    }

    /// Records the start of a change whose step is known only when the store reports the result.
    pub const fn step_begins(&mut self) {
        self.under_way = self.under_way.saturating_add(1);
    }

    /// Records that the step of a change under way is known. Returns `true` if the user already asked to undo the change.
    pub const fn step_is_known(&mut self) -> bool {
        self.under_way = self.under_way.saturating_sub(1);
        let wanted = self.wanted && self.under_way == 0;
        if wanted {
            self.wanted = false;
        }
        wanted
    }

    /// Checks whether a change can be undone or is still under way.
    pub fn can_undo(&self) -> bool {
        !self.steps.is_empty() || self.under_way > 0
    }

    /// Checks whether the user asked to undo the change under way as soon as possible.
    pub const fn is_undo_wanted(&self) -> bool {
        self.wanted
    }

    /// Checks whether there is a change that can be redone.
    pub const fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }

    /// Adds the step of a new change, and returns its id or the future id of the combined step. Undone steps cannot be redone then.
    pub fn push(&mut self, step: Step) -> ChangeId {
        self.undone.clear();
        if let Some(together) = &mut self.together {
            together.push(step);
            return ChangeId(self.last.0.saturating_add(1));
        }
        self.keep(step)
    }

    /// Starts a combined step, which collects the steps of all following changes until [`Self::end_together`].
    pub fn begin_together(&mut self) {
        self.together = Some(Vec::new());
    }

    /// Adds the combined step. Returns the number of changes in the step.
    pub fn end_together(&mut self) -> usize {
        let steps = self.together.take().unwrap_or_default();
        let count = steps.len();
        if count > 0 {
            self.keep(Step::Together(steps));
        }
        count
    }

    /// Adds the combined step, if there is one, and lets [`Self::join`] add to it what becomes known later.
    pub fn end_together_open(&mut self) {
        let steps = self.together.take().unwrap_or_default();
        let single = |step| if let Step::Together(steps) = step { steps } else { vec![step] };
        let steps: Vec<Step> = steps.into_iter().flat_map(single).collect();
        self.joined = (!steps.is_empty()).then(|| self.keep(Step::Together(steps)));
    }

    /// Adds a step to the combined step that was ended with [`Self::end_together_open`].
    pub fn join(&mut self, step: Step) {
        let open = self.steps.iter_mut().find(|known| Some(known.id) == self.joined);
        if let Some(KnownStep { id, at, step: Step::Together(steps) }) = open {
            steps.push(step);
            if at.is_some() {
                self.renewed.push(*id);
            }
        } else {
            self.undone.clear();
            self.joined = Some(self.keep(Step::Together(vec![step])));
        }
    }

    /// Drops the step of a change whose write failed.
    pub fn forget(&mut self, change: Option<ChangeId>) {
        let gone = self.steps.iter().filter(|known| Some(known.id) == change && known.at.is_some());
        self.gone.extend(gone.map(|known| known.id));
        self.steps.retain(|known| Some(known.id) != change);
    }

    /// Removes from a step the entries that already had the mark before, so that undo does not clear their mark. Drops a step that
    /// has no entries left.
    pub fn leave_out(&mut self, change: ChangeId, mark: (Flag, bool), had_it: &BTreeSet<EntryKey>) {
        let known = self.steps.iter_mut().find(|known| known.id == change);
        let Some(known) = known.filter(|_| !had_it.is_empty()) else { return };
        known.step.leave_out(mark, had_it);
        if known.step.is_nothing() {
            self.forget(Some(change));
        } else if known.at.is_some() {
            self.renewed.push(change);
        }
    }

    /// Drops the steps of changes made [`UNDO_KEPT`] ago or earlier.
    pub fn forget_old(&mut self, now: DateTime<Utc>) {
        while self.steps.front().is_some_and(|known| known.at.is_some_and(|at| is_over(at, now))) {
            self.drop_oldest();
        }
    }

    /// Takes over the stored steps, oldest first.
    pub fn take_saved(&mut self, saved: Vec<SavedStep>) {
        for SavedStep { id, at, step } in saved {
            self.last = self.last.max(id);
            self.steps.push_back(KnownStep { id, at: Some(at), step });
        }
        while self.steps.len() > UNDO_STEPS {
            self.drop_oldest();
        }
    }

    /// Returns the changes to make to the stored steps since the last call, if any. Sets the time of new steps to `now`.
    pub fn changes(&mut self, now: DateTime<Utc>) -> Option<StepChanges> {
        let fresh = self.steps.iter().rev().take_while(|known| known.at.is_none()).count();
        let old = self.steps.len().saturating_sub(fresh);
        let mut changes = StepChanges { kept: Vec::new(), gone: std::mem::take(&mut self.gone) };
        for renewed in std::mem::take(&mut self.renewed) {
            let Some(known) = self.steps.iter().find(|known| known.id == renewed) else { continue };
            let (id, step) = (renewed, &known.step);
            match known.at.filter(|_| step.entries() <= SAVED_ENTRIES_MAX) {
                None => changes.gone.push(id),
                Some(at) => changes.kept.push(SavedStep { id, at, step: step.clone() }),
            }
        }
        for place in old..self.steps.len() {
            let earlier = self.steps.iter().take(place).map(|known| known.id);
            let earlier: Vec<ChangeId> = earlier.collect();
            let Some(known) = self.steps.get_mut(place) else { break };
            known.at = Some(now);
            if known.step.entries() > SAVED_ENTRIES_MAX {
                // A very large step stays in memory only. Without it, earlier ones could not be undone: they leave the store.
                changes.kept.clear();
                changes.gone.extend(earlier);
            } else {
                let KnownStep { id, step, .. } = known.clone();
                changes.kept.push(SavedStep { id, at: now, step });
            }
        }
        (!changes.kept.is_empty() || !changes.gone.is_empty()).then_some(changes)
    }

    /// Removes and returns the last step.
    pub(super) fn pop(&mut self) -> Option<Step> {
        let known = self.steps.pop_back()?;
        if known.at.is_some() {
            self.gone.push(known.id);
        }
        Some(known.step)
    }

    /// Adds a step, and drops the oldest if there are more than [`UNDO_STEPS`].
    pub(super) fn keep(&mut self, step: Step) -> ChangeId {
        if self.steps.len() >= UNDO_STEPS {
            self.drop_oldest();
        }
        self.last = ChangeId(self.last.0.saturating_add(1));
        self.steps.push_back(KnownStep { id: self.last, at: None, step });
        self.last
    }

    fn drop_oldest(&mut self) {
        let dropped = self.steps.pop_front().filter(|known| known.at.is_some());
        self.gone.extend(dropped.map(|known| known.id));
    }
}

impl Step {
    fn leave_out(&mut self, mark: (Flag, bool), had_it: &BTreeSet<EntryKey>) {
        if let Self::Together(steps) = self {
            for step in steps {
                step.leave_out(mark, had_it);
            }
        } else if let Self::Marked(change) = self
            && (change.flag, change.value) == mark
        {
            change.keys.retain(|key| !had_it.contains(key));
        }
    }

    /// Checks whether the step has no effect because it consists only of marks without entries.
    fn is_nothing(&self) -> bool {
        if let Self::Together(steps) = self {
            return steps.iter().all(Self::is_nothing);
        }
        matches!(self, Self::Marked(mark) if mark.keys.is_empty())
    }

    /// Returns the number of entries in the step.
    fn entries(&self) -> usize {
        match self {
            Self::Marked(mark) => mark.keys.len(),
            Self::Withdrawn { withdrawn, .. } => withdrawn.len(),
            Self::Filters { changes, .. } => {
                let hits = changes.before.len().saturating_add(changes.after.len());
                hits.saturating_add(changes.flags.len())
            }
            Self::Together(steps) => steps.iter().map(Self::entries).sum(),
            Self::Unsubscribed(_)
            | Self::Resubscribed(_)
            | Self::Readdressed { .. }
            | Self::Dismissed { .. }
            | Self::ShownAgain { .. }
            | Self::Searches { .. }
            | Self::Retagged { .. }
            | Self::Awaited { .. }
            | Self::Changed { .. } => 0,
        }
    }
}

/// Checks whether a change made at `at` is too old to be undone.
pub fn is_over(at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    now.signed_duration_since(at) >= UNDO_KEPT
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn marked(count: u32) -> Step {
        let keys = (0..count).map(|seq| EntryKey { feed: FeedKey(1), seq }).collect();
        Step::Marked(MarkChange { flag: Flag::Read, value: true, keys })
    }

    fn ids(changes: &StepChanges) -> (Vec<u64>, Vec<u64>) {
        let kept = changes.kept.iter().map(|saved| saved.id.0).collect();
        (kept, changes.gone.iter().map(|id| id.0).collect())
    }

    #[test]
    fn step_is_stored_once_and_removed_when_undone() {
        let mut stack = UndoStack::default();
        stack.push(marked(1));
        stack.push(marked(2));
        assert_eq!(ids(&stack.changes(NOW).unwrap()), (vec![1, 2], vec![]));
        assert_eq!(stack.changes(NOW), None);
        assert_eq!(stack.pop(), Some(marked(2)));
        assert_eq!(ids(&stack.changes(NOW).unwrap()), (vec![], vec![2]));
        stack.push(marked(3));
        stack.forget(Some(ChangeId(3)));
        assert_eq!(stack.changes(NOW), None, "the store never had it");
    }

    #[test]
    fn oversized_step_drops_earlier_stored_steps() {
        let mut stack = UndoStack::default();
        stack.push(marked(1));
        stack.changes(NOW).unwrap();
        stack.push(marked(2));
        stack.push(marked(250_001));
        stack.push(marked(4));
        assert_eq!(ids(&stack.changes(NOW).unwrap()), (vec![4], vec![1, 2]));
        assert_eq!(stack.steps.len(), 4, "in memory all of them stay");
    }

    #[test]
    fn steps_expire_after_a_week_or_beyond_two_hundred() {
        let mut stack = UndoStack::default();
        let saved = |id: u64, at| SavedStep { id: ChangeId(id), at, step: marked(1) };
        let later = NOW + UNDO_KEPT;
        stack.take_saved(vec![saved(4, NOW), saved(7, later)]);
        stack.forget_old(later);
        assert_eq!(ids(&stack.changes(later).unwrap()), (vec![], vec![4]));
        for _ in 0..UNDO_STEPS {
            stack.push(marked(1));
        }
        let (kept, gone) = ids(&stack.changes(later).unwrap());
        assert_eq!((kept.first(), kept.len(), gone), (Some(&8), UNDO_STEPS, vec![7]));
        stack.forget_old(later + UNDO_KEPT);
        assert_eq!(stack.pop(), None);
    }
}

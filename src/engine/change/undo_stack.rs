//! What the reader can take back: the steps, their order, and which of them the store keeps.
//!
//! A step is written behind its change and removed behind what takes the change back, each by the same thread and mostly in the
//! same sync. The log of the store is read up to where it is whole: a step that is found again has its change before it. Where
//! the program is killed between the two, a change cannot be taken back, or a step is found whose change was taken back: every
//! step says how things were before, so that doing it once more changes nothing.

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

/// Steps that can be taken back.
const UNDO_STEPS: usize = 200;

/// A change can be taken back for so long, and a subscription that was given up is kept for so long.
pub const UNDO_KEPT: TimeDelta = TimeDelta::days(7);

/// Entries that a step in the store names at most: under 2 MB even if no two of them stand side by side (8 bytes each).
const SAVED_ENTRIES_MAX: usize = 250_000;

/// What the reader can take back, oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UndoStack {
    pub(super) steps: VecDeque<KnownStep>,
    /// What was taken back and can be made again, oldest first.
    pub(super) undone: Vec<Step>,
    /// The name given to a change last.
    pub(super) last: ChangeId,
    /// Changes under way whose steps are known when the store has answered: a whole list is marked, a rule applied.
    pub(super) under_way: u32,
    /// The reader wants the last of them taken back as soon as it is known.
    pub(super) wanted: bool,
    /// Steps that the store is to forget.
    gone: Vec<ChangeId>,
    /// Steps that the store is to keep anew.
    renewed: Vec<ChangeId>,
    /// Changes that are being made together, as one step.
    together: Option<Vec<Step>>,
}

/// A step that can be taken back.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KnownStep {
    id: ChangeId,
    /// When the change was made; `None`: a moment ago, and the step was not handed to the store yet.
    at: Option<DateTime<Utc>>,
    pub(super) step: Step,
}

/// A step as the store keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedStep {
    /// Names the change; later changes have larger numbers.
    pub id: ChangeId,
    /// When the change was made.
    pub at: DateTime<Utc>,
    /// What takes it back.
    pub step: Step,
}

/// What is to be changed of the steps in the store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepChanges {
    /// Steps to keep.
    pub kept: Vec<SavedStep>,
    /// Steps to forget.
    pub gone: Vec<ChangeId>,
}

/// One change, as what is needed to take it back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// Marks on entries that did not have them so before.
    Marked(MarkChange),
    /// A subscription was given up: [`crate::engine::state::Engine::ended`] has it.
    Unsubscribed(FeedKey),
    /// That was taken back.
    Resubscribed(FeedKey),
    /// The address of a subscription was decided on, or where it may lead.
    Readdressed {
        /// The subscription.
        feed: FeedKey,
        /// How it was before.
        before: Box<SubscriptionRecord>,
        /// The move that was proposed.
        proposed: Option<ProposedMove>,
    },
    /// A complete feed withdrew entries.
    Withdrawn {
        /// The feed.
        feed: FeedKey,
        /// The entries.
        withdrawn: Vec<u32>,
    },
    /// The reader hid a gap.
    Dismissed {
        /// The feed.
        feed: FeedKey,
        /// The gap.
        gap: GapKey,
    },
    /// That was taken back.
    ShownAgain {
        /// The feed.
        feed: FeedKey,
        /// The gap.
        gap: GapKey,
    },
    /// A search was saved, renamed or given up.
    Searches {
        /// The saved searches before.
        before: Vec<SavedSearch>,
    },
    /// A filter was made, changed or given up.
    Filters {
        /// The filters before.
        before: Vec<EntryFilter>,
        /// What that did to entries.
        changes: Box<FilterChanges>,
        /// It was taken back: its step makes it again.
        forward: bool,
    },
    /// A tag of several feeds has another name.
    Retagged {
        /// The tags of those feeds before.
        tags: Vec<(FeedKey, Vec<String>)>,
        /// The filters before, which may name it.
        filters: Vec<EntryFilter>,
    },
    /// Changes that were made together, in their order.
    Together(Vec<Self>),
    /// The reader changed what was chosen for a subscription.
    Changed {
        /// The subscription.
        feed: FeedKey,
        /// What was chosen before.
        before: Box<Chosen>,
    },
}

impl UndoStack {
    /// A change that had begun failed: nothing can be taken back of it.
    pub const fn step_fails(&mut self) {
        self.step_is_known();
    }

    /// A change begins whose step the store's answer will say.
    pub const fn step_begins(&mut self) {
        self.under_way = self.under_way.saturating_add(1);
    }

    /// Its step is known; says whether the reader wants it taken back already.
    pub const fn step_is_known(&mut self) -> bool {
        self.under_way = self.under_way.saturating_sub(1);
        let wanted = self.wanted && self.under_way == 0;
        if wanted {
            self.wanted = false;
        }
        wanted
    }

    /// Whether there is a change that can be taken back, or one under way.
    pub fn can_undo(&self) -> bool {
        !self.steps.is_empty() || self.under_way > 0
    }

    /// Whether the last change is to be taken back as soon as it is done.
    pub const fn is_undo_wanted(&self) -> bool {
        self.wanted
    }

    /// Whether something was taken back and can be done again.
    pub const fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }

    /// Remembers a change; what was taken back before cannot be made again then.
    pub fn push(&mut self, step: Step) -> ChangeId {
        self.undone.clear();
        if let Some(together) = &mut self.together {
            together.push(step);
            // The one that the step of all of them will have.
            return ChangeId(self.last.0.saturating_add(1));
        }
        self.keep(step)
    }

    /// The changes from now on are made together, and are one step.
    pub fn begin_together(&mut self) {
        self.together = Some(Vec::new());
    }

    /// They have been made; answers how many there were.
    pub fn end_together(&mut self) -> usize {
        let steps = self.together.take().unwrap_or_default();
        let count = steps.len();
        if count > 0 {
            self.keep(Step::Together(steps));
        }
        count
    }

    /// Forgets a change that could not be written.
    pub fn forget(&mut self, change: Option<ChangeId>) {
        let gone = self.steps.iter().filter(|known| Some(known.id) == change && known.at.is_some());
        self.gone.extend(gone.map(|known| known.id));
        self.steps.retain(|known| Some(known.id) != change);
    }

    /// Entries that were given a mark had it before: whoever takes the change back leaves them alone. A change that changed
    /// nothing is forgotten.
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

    /// Forgets the changes that were made [`UNDO_KEPT`] ago or earlier.
    pub fn forget_old(&mut self, now: DateTime<Utc>) {
        while self.steps.front().is_some_and(|known| known.at.is_some_and(|at| is_over(at, now))) {
            self.drop_oldest();
        }
    }

    /// Takes back the steps that the store kept, oldest first; those that are too old are forgotten there too.
    pub fn take_saved(&mut self, saved: Vec<SavedStep>, now: DateTime<Utc>) {
        for SavedStep { id, at, step } in saved {
            self.last = self.last.max(id);
            self.steps.push_back(KnownStep { id, at: Some(at), step });
        }
        self.forget_old(now);
        while self.steps.len() > UNDO_STEPS {
            self.drop_oldest();
        }
    }

    /// What the store is to keep and to forget since this was asked last. The steps get their time.
    pub fn changes(&mut self, now: DateTime<Utc>) -> Option<StepChanges> {
        let fresh = self.steps.iter().rev().take_while(|known| known.at.is_none()).count();
        let old = self.steps.len().saturating_sub(fresh);
        let mut changes = StepChanges { kept: Vec::new(), gone: std::mem::take(&mut self.gone) };
        for renewed in std::mem::take(&mut self.renewed) {
            let Some(known) = self.steps.iter().find(|known| known.id == renewed) else { continue };
            let Some(at) = known.at.filter(|_| known.step.entries() <= SAVED_ENTRIES_MAX) else {
                continue;
            };
            changes.kept.push(SavedStep { id: renewed, at, step: known.step.clone() });
        }
        for place in old..self.steps.len() {
            let earlier = self.steps.iter().take(place).map(|known| known.id);
            let earlier: Vec<ChangeId> = earlier.collect();
            let Some(known) = self.steps.get_mut(place) else { break };
            known.at = Some(now);
            if known.step.entries() > SAVED_ENTRIES_MAX {
                // It lives in memory only. Changes are taken back in their order, the last one first: without it those
                // before it may not be taken back either.
                changes.kept.clear();
                changes.gone.extend(earlier);
            } else {
                let KnownStep { id, step, .. } = known.clone();
                changes.kept.push(SavedStep { id, at: now, step });
            }
        }
        (!changes.kept.is_empty() || !changes.gone.is_empty()).then_some(changes)
    }

    /// Takes the last step, to take its change back.
    pub(super) fn pop(&mut self) -> Option<Step> {
        let known = self.steps.pop_back()?;
        if known.at.is_some() {
            self.gone.push(known.id);
        }
        Some(known.step)
    }

    /// Beyond [`UNDO_STEPS`] the oldest is forgotten.
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

    /// Whether it is a mark, or some, of no entry.
    fn is_nothing(&self) -> bool {
        if let Self::Together(steps) = self {
            return steps.iter().all(Self::is_nothing);
        }
        matches!(self, Self::Marked(mark) if mark.keys.is_empty())
    }

    /// How many entries it names.
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
            | Self::Changed { .. } => 0,
        }
    }
}

/// Whether what was done at that time cannot be taken back any more.
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
        stack.take_saved(vec![saved(4, NOW), saved(7, later)], later);
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

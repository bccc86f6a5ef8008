//! The undo stack: the steps in memory, and the changes to the steps in the store.
//!
//! The store writes a step in the same frame as its change, and removes the step in the same frame as the write that undoes the
//! change, so that one is never there without the other. A new filter and its effects on entries are two frames, each with the step
//! that undoes it.

use std::collections::{BTreeSet, VecDeque};

use backissue_core::feed::hints::is_default;
use backissue_core::feed::text::counted_words;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flag, GapKey};
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::value::{Change, ChangeId, LaterStep, MarkChange, Origin};
use crate::engine::change::value::SavedSearch;
use crate::engine::entries::filter_work::FilterChanges;
use crate::engine::feeds::setting_row::Chosen;
use crate::engine::feeds::subscription::{ProposedMove, SubscriptionRecord};

/// Maximum number of entries in a stored step. Such a step takes at most 2 MB, because an entry that is not adjacent to another
/// takes 8 bytes.
const SAVED_ENTRIES_MAX: usize = 250_000;

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
    /// A walk through another source than the publisher's archives brought entries.
    Brought {
        /// The feed.
        feed: FeedKey,
        /// Numbers of the entries.
        entries: Vec<u32>,
        /// `true` if undoing the step shows the entries again, `false` if it hides them.
        again: bool,
        /// `true` if a copy by another reader supplied them.
        of_copy: bool,
    },
    /// A merge added entries of another feed.
    Absorbed {
        /// The feed.
        feed: FeedKey,
        /// Numbers of the entries.
        entries: Vec<u32>,
        /// `true` if undoing the step shows the entries again, `false` if it hides them.
        again: bool,
    },
    /// The user dismissed the problem of a feed.
    Noted {
        /// The feed.
        feed: FeedKey,
        /// When the user dismissed one before.
        noted: Option<DateTime<Utc>>,
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
        /// Tags and filters after the change; empty in steps of earlier versions.
        #[serde(default)]
        after: (Vec<(FeedKey, Vec<String>)>, Vec<EntryFilter>),
    },
    /// The program started or stopped waiting for entries of a feed that another reader knew.
    Awaited {
        /// The feed.
        feed: FeedKey,
        /// Time of the import that noted the entries.
        since: DateTime<Utc>,
        /// `true` if undoing the step waits for the entries again, `false` if it stops waiting for them.
        again: bool,
    },
    /// Steps of changes that are undone together, in the order of the changes.
    Together(Vec<Self>),
    /// Steps of an import, which are undone together.
    Imported(Vec<Self>),
    /// The user changed the settings of a subscription.
    Changed {
        /// The subscription.
        feed: FeedKey,
        /// The settings before the change.
        before: Box<Chosen>,
        /// The settings after the change; `None` in steps of earlier versions.
        #[serde(default)]
        after: Option<Box<Chosen>>,
    },
}

impl Step {
    /// Creates the step of changed settings.
    pub fn changed(feed: FeedKey, before: Chosen, after: Chosen) -> Self {
        Self::Changed { feed, before: Box::new(before), after: Some(Box::new(after)) }
    }

    /// Creates the step of a change of the filters, with the filters before it.
    pub fn of_filter(before: Vec<EntryFilter>, changes: FilterChanges) -> Self {
        Self::Filters { before, changes: Box::new(changes), forward: false }
    }

    /// Returns the single steps of the step, in the order of the changes.
    pub fn parts(&self) -> Vec<&Self> {
        if let Self::Together(steps) | Self::Imported(steps) = self {
            steps.iter().flat_map(Self::parts).collect()
        } else {
            vec![self]
        }
    }

    /// Adds a part to the step of an import. A part with the effects of a filter on entries completes the earlier part of that
    /// filter.
    pub fn join(&mut self, part: Self) {
        let Self::Imported(parts) = self else { return };
        if let Self::Filters { changes: done, .. } = &part {
            let is_of_filter = |known: &&mut Self| {
                let Self::Filters { changes, .. } = known else { return false };
                **changes == FilterChanges::none(done.filter)
            };
            if let Some(Self::Filters { changes, .. }) = parts.iter_mut().find(is_of_filter) {
                changes.clone_from(done);
                return;
            }
        }
        parts.push(part);
    }

    /// Returns the subscriptions that undoing the step removes.
    pub fn removed_feeds(&self) -> Vec<FeedKey> {
        let removed =
            |step: &Self| if let Self::Resubscribed(feed) = step { Some(*feed) } else { None };
        self.parts().into_iter().filter_map(removed).collect()
    }

    /// Returns the largest number of a filter that the step names.
    pub(super) fn last_filter(&self) -> Option<u32> {
        let filter = |step: &Self| {
            if let Self::Filters { changes, .. } = step { Some(changes.filter) } else { None }
        };
        self.parts().into_iter().filter_map(filter).max()
    }

    /// Checks whether the step is small enough to be stored.
    pub fn is_saved(&self) -> bool {
        self.entries() <= SAVED_ENTRIES_MAX
    }

    pub(super) fn leave_out(&mut self, mark: (Flag, bool), had_it: &BTreeSet<EntryKey>) {
        if let Self::Together(steps) | Self::Imported(steps) = self {
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
    pub fn is_nothing(&self) -> bool {
        let is_empty = |step: &Self| matches!(step, Self::Marked(mark) if mark.keys.is_empty());
        self.parts().into_iter().all(is_empty)
    }

    /// Returns the number of entries in the step.
    fn entries(&self) -> usize {
        let count = |step: &Self| {
            if let Self::Marked(mark) = step {
                mark.keys.len()
            } else if let Self::Withdrawn { withdrawn: entries, .. }
            | Self::Brought { entries, .. }
            | Self::Absorbed { entries, .. } = step
            {
                entries.len()
            } else if let Self::Filters { changes, .. } = step {
                [changes.before.len(), changes.after.len(), changes.flags.len()].iter().sum()
            } else {
                0
            }
        };
        self.parts().into_iter().map(count).sum()
    }
}

/// Describes an import that is undone or redone.
pub fn words_of_import(steps: &[Step]) -> String {
    let is_feed = |step: &&Step| matches!(step, Step::Resubscribed(_) | Step::Unsubscribed(_));
    let feeds = steps.iter().filter(is_feed).count();
    if feeds == 0 { words_together(steps) } else { counted_words(feeds, "feed", "feeds") }
}

/// Describes the changes that undoing a combined step makes, for a notice.
pub fn words_together(steps: &[Step]) -> String {
    let count = |is: fn(&Step) -> bool| steps.iter().filter(|step| is(step)).count();
    let removed = count(|step| matches!(step, Step::Resubscribed(_)));
    let brought_back = count(|step| matches!(step, Step::Unsubscribed(_)));
    let awaited = count(|step| matches!(step, Step::Awaited { .. }));
    let shown = steps.len().saturating_sub(awaited);
    let others = shown.saturating_sub(removed).saturating_sub(brought_back);
    let parts = [
        (removed, "unsubscribed from ", "feed", "feeds"),
        (brought_back, "subscribed again to ", "feed", "feeds"),
        (others, "", "change", "changes"),
        (if shown == 0 { awaited } else { 0 }, "entries that were awaited for ", "feed", "feeds"),
    ];
    let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
    let parts =
        parts.map(|(count, what, one, more)| format!("{what}{}", counted_words(count, one, more)));
    parts.collect::<Vec<_>>().join(", ")
}

/// Maximum number of steps that can be undone.
const UNDO_STEPS: usize = 200;

/// Time for which a change can be undone and a removed subscription is kept.
pub const UNDO_KEPT: TimeDelta = TimeDelta::days(7);

/// The changes that can be undone or redone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UndoStack {
    pub(super) steps: VecDeque<KnownStep>,
    /// Undone steps that can be redone, oldest first.
    pub(super) undone: VecDeque<KnownStep>,
    /// Who makes the change that the engine carries out.
    pub(in crate::engine) origin: Origin,
    /// Id of the last change.
    pub(super) last: ChangeId,
    /// Number of changes under way whose steps depend on the store's result: marking a whole list, applying a filter.
    pub(crate) under_way: u32,
    /// The origin of a request to undo the last change under way as soon as its step is known, if there was such a request.
    pub(super) wanted: Option<Origin>,
    /// Steps to remove from the store.
    gone: Vec<ChangeId>,
    /// Changed steps to store again.
    renewed: Vec<ChangeId>,
    /// `true` if the last change of the user could not be written. An undo would then revert the change before it, so it asks
    /// first.
    pub(super) is_refused: bool,
    /// The step that is being undone or redone.
    pub(in crate::engine) taken: Option<Box<TakenStep>>,
    /// Steps collected so far for a combined step; `None` if no combined step was started.
    together: Option<Vec<Step>>,
    /// Id and time of the combined step that [`UndoStack::join`] adds to.
    joined: Option<(ChangeId, DateTime<Utc>)>,
}

/// A step that can be undone.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownStep {
    pub(super) id: ChangeId,
    /// Time of the change. `None` until the step is passed to the store.
    pub(super) at: Option<DateTime<Utc>>,
    /// `true` if the change was made before the program started.
    pub(super) is_earlier: bool,
    pub(super) step: Step,
}

/// A step that was undone or redone.
#[derive(Debug, Clone, PartialEq)]
pub struct TakenStep {
    pub(super) known: KnownStep,
    /// Id of the step that does the opposite, if there is one.
    pub(super) inverse: Option<ChangeId>,
    /// `true` if the step was redone, `false` if it was undone.
    pub(super) is_redone: bool,
}

/// Changes that are being written to the store in one job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PendingChange {
    /// The changes, in the order in which they were made.
    pub changes: Vec<Change>,
    /// Id of the undo step for the changes.
    pub step: Option<ChangeId>,
    /// The step that the changes undo or redo. It is put back if they cannot be written.
    pub taken: Option<Box<TakenStep>>,
}

impl PendingChange {
    /// Creates the pending state of a single change.
    pub fn new(change: Change, step: Option<ChangeId>) -> Self {
        Self { changes: vec![change], step, taken: None }
    }
}

/// A step as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedStep {
    /// Id of the change; later changes have larger ids.
    pub id: ChangeId,
    /// Time of the change.
    pub at: DateTime<Utc>,
    /// The data needed to undo the change, or to redo it.
    pub step: Step,
    /// `true` if the change was undone, so that the step redoes it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub undone: bool,
}

/// Changes to make to the steps in the store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepChanges {
    /// Steps to write to the store.
    pub kept: Vec<SavedStep>,
    /// Steps to remove from the store.
    pub gone: Vec<ChangeId>,
}

impl UndoStack {
    /// Records that a change under way failed, so that no step follows.
    pub const fn step_fails(&mut self) {
        self.step_is_missing();
        self.is_refused = true;
    }

    /// Records that a change under way changed nothing. An undo of it must not undo another change.
    pub const fn step_is_missing(&mut self) {
        self.step_is_known();
        if self.under_way == 0 {
            self.wanted = None;
        }
    }

    /// Records the start of a change whose step is known only when the store reports the result.
    pub const fn step_begins(&mut self) {
        self.under_way = self.under_way.saturating_add(1);
    }

    /// Records that the step of a change under way is known.
    pub const fn step_is_known(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// Checks whether a change can be undone or is still under way.
    pub fn can_undo(&self) -> bool {
        !self.steps.is_empty() || self.under_way > 0
    }

    /// Checks whether the user asked to undo the change under way as soon as possible.
    pub const fn is_undo_wanted(&self) -> bool {
        self.wanted.is_some()
    }

    /// Checks whether there is a change that can be redone.
    pub fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }

    /// Returns the largest number of a filter that a step names.
    pub(in crate::engine) fn last_filter(&self) -> Option<u32> {
        self.steps.iter().chain(&self.undone).filter_map(|known| known.step.last_filter()).max()
    }

    /// Adds the step of a new change. Steps that were undone can then no longer be redone. Returns the id of the step or, while a
    /// combined step is being collected, the future id of that step. Changes that came from a server or a publisher get no step.
    pub fn push(&mut self, step: Step) -> Option<ChangeId> {
        if self.origin == Origin::Arrived {
            return None;
        }
        self.forget_undone();
        if let Some(together) = &mut self.together {
            together.push(step);
            return Some(self.collected());
        }
        Some(self.keep(step))
    }

    fn reserve(&mut self) -> ChangeId {
        self.last = ChangeId(self.last.0.saturating_add(1));
        self.last
    }

    /// Begins a change whose step the store writes, because the store finds the affected entries.
    pub(in crate::engine) fn later(
        &mut self,
        at: DateTime<Utc>,
        filters: Vec<EntryFilter>,
    ) -> LaterStep {
        self.step_begins();
        LaterStep { id: self.reserve(), at, filters, joins: false }
    }

    /// Begins a change whose step the store adds to the combined step that is being collected.
    pub(in crate::engine) const fn later_joined(&mut self, at: DateTime<Utc>) -> LaterStep {
        self.step_begins();
        LaterStep { id: self.collected(), at, filters: Vec::new(), joins: true }
    }

    /// Returns the id that the combined step will get.
    const fn collected(&self) -> ChangeId {
        ChangeId(self.last.0.saturating_add(1))
    }

    /// Adds the step of a change. If the store has already written the step, it is inserted by its id and keeps its time.
    pub(in crate::engine) fn push_stored(&mut self, step: Step, stored: Option<LaterStep>) {
        self.forget_undone();
        let Some(LaterStep { id, at, .. }) = stored.filter(|_| step.is_saved()) else {
            self.keep(step);
            return;
        };
        let place = self.steps.partition_point(|known| known.id < id);
        self.steps.insert(place, KnownStep { id, at: Some(at), is_earlier: false, step });
        if self.steps.len() > UNDO_STEPS {
            self.drop_oldest();
        }
    }

    /// Drops the steps that can be redone, and notes that the last change was not refused.
    fn forget_undone(&mut self) {
        self.is_refused = false;
        let stored = self.undone.drain(..).filter(|known| known.at.is_some());
        self.gone.extend(stored.map(|known| known.id));
    }

    /// Starts a combined step. It collects the steps of all following changes until [`Self::end_together`] or
    /// [`Self::end_together_open`].
    pub fn begin_together(&mut self) {
        self.together = Some(Vec::new());
    }

    /// Adds the combined step, unless it is empty. Returns the number of changes in the step.
    pub fn end_together(&mut self) -> usize {
        let steps = self.together.take().unwrap_or_default();
        let count = steps.len();
        if count > 0 {
            self.keep(Step::Together(steps));
        }
        count
    }

    /// Adds the combined step as the step of an import, unless it is empty. [`Self::join`] can add parts to it that become known
    /// later.
    pub fn end_together_open(&mut self, now: DateTime<Utc>) {
        let steps = self.together.take().unwrap_or_default();
        let single = |step| {
            if let Step::Together(steps) | Step::Imported(steps) = step {
                steps
            } else {
                vec![step]
            }
        };
        let steps: Vec<Step> = steps.into_iter().flat_map(single).collect();
        let id = if steps.is_empty() { self.reserve() } else { self.keep(Step::Imported(steps)) };
        self.joined = Some((id, now));
    }

    /// Adds a part to the combined step that was ended with [`Self::end_together_open`]. The store has already added the part.
    pub fn join(&mut self, part: Step) {
        let Some((id, at)) = self.joined else { return };
        if let Some(known) = self.steps.iter_mut().find(|known| known.id == id) {
            known.step.join(part);
        } else {
            let stored = LaterStep { id, at, filters: Vec::new(), joins: true };
            self.push_stored(Step::Imported(vec![part]), Some(stored));
        }
    }

    /// Adds parts that became known later to the combined step of a change.
    pub fn extend(&mut self, change: Option<ChangeId>, parts: Vec<Step>) {
        let known = self.steps.iter_mut().find(|known| Some(known.id) == change);
        if let Some(KnownStep { id, at, step: Step::Together(steps), .. }) = known {
            steps.extend(parts);
            self.renewed.extend(at.map(|_| *id));
        }
    }

    /// Drops the step of a change whose write failed.
    pub fn forget(&mut self, change: Option<ChangeId>) {
        let gone = self.steps.iter().filter(|known| Some(known.id) == change && known.at.is_some());
        self.gone.extend(gone.map(|known| known.id));
        self.steps.retain(|known| Some(known.id) != change);
    }

    /// Drops the step of changes that could not be written. If these changes undid or redid a step, that step is put back, because
    /// the store still has it.
    pub(super) fn refused(&mut self, step: Option<ChangeId>, taken: Option<Box<TakenStep>>) {
        self.forget(step);
        self.is_refused |= step.is_some();
        let Some(taken) = taken else { return };
        let TakenStep { known, inverse, is_redone } = *taken;
        let (to, from) = if is_redone {
            (&mut self.undone, &mut self.steps)
        } else {
            (&mut self.steps, &mut self.undone)
        };
        from.retain(|known| Some(known.id) != inverse);
        let place = if is_redone { to.len() } else { to.partition_point(|it| it.id < known.id) };
        to.insert(place, known);
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
        let is_old = |known: &KnownStep| known.at.is_some_and(|at| is_over(at, now));
        while self.steps.front().is_some_and(is_old) {
            self.drop_oldest();
        }
        while let Some(old) = self.undone.pop_front_if(|known| is_old(known)) {
            self.gone.push(old.id);
        }
    }

    /// Adds the steps that were loaded from the store, oldest first.
    pub fn take_saved(&mut self, saved: Vec<SavedStep>) {
        for SavedStep { id, at, step, undone } in saved {
            self.last = self.last.max(id);
            if step.is_nothing() {
                // This is the step of an import, which became too large.
                continue;
            }
            let list = if undone { &mut self.undone } else { &mut self.steps };
            list.push_back(KnownStep { id, at: Some(at), is_earlier: true, step });
        }
        while self.steps.len() > UNDO_STEPS {
            self.drop_oldest();
        }
    }

    /// Returns the changes to make to the stored steps since the last call, if any. Sets the time of new steps to `now`.
    pub fn changes(&mut self, now: DateTime<Utc>) -> Option<StepChanges> {
        let mut changes = StepChanges { kept: Vec::new(), gone: std::mem::take(&mut self.gone) };
        for id in std::mem::take(&mut self.renewed) {
            let Some(known) = self.steps.iter().find(|known| known.id == id) else { continue };
            let step = &known.step;
            match known.at.filter(|_| step.is_saved()) {
                // As in [`store_fresh`], earlier steps cannot be undone without it after a restart.
                None => {
                    let known = self.steps.iter().filter(|known| known.id <= id);
                    let stored = known.filter(|known| known.at.is_some());
                    changes.gone.extend(stored.map(|known| known.id));
                }
                Some(at) => {
                    changes.kept.push(SavedStep { id, at, step: step.clone(), undone: false });
                }
            }
        }
        for (list, undone) in [(&mut self.steps, false), (&mut self.undone, true)] {
            let (mut kept, gone) = store_fresh(list, undone, now);
            changes.kept.retain(|saved| !gone.contains(&saved.id));
            changes.kept.append(&mut kept);
            changes.gone.extend(gone);
        }
        (!changes.kept.is_empty() || !changes.gone.is_empty()).then_some(changes)
    }

    /// Removes and returns the last step.
    pub(super) fn pop(&mut self) -> Option<KnownStep> {
        let known = self.steps.pop_back()?;
        self.taken(known)
    }

    /// Removes and returns the step that was undone last.
    pub(super) fn pop_undone(&mut self) -> Option<KnownStep> {
        let known = self.undone.pop_back()?;
        self.taken(known)
    }

    fn taken(&mut self, known: KnownStep) -> Option<KnownStep> {
        self.gone.extend(known.at.map(|_| known.id));
        Some(known)
    }

    /// Adds a step, and drops the oldest if there are more than [`UNDO_STEPS`].
    pub(super) fn keep(&mut self, step: Step) -> ChangeId {
        if self.steps.len() >= UNDO_STEPS {
            self.drop_oldest();
        }
        let known = self.fresh(step);
        self.steps.push_back(known);
        self.last
    }

    /// Adds a step that redoes a change.
    pub(super) fn keep_undone(&mut self, step: Step) -> ChangeId {
        let known = self.fresh(step);
        self.undone.push_back(known);
        self.last
    }

    fn fresh(&mut self, step: Step) -> KnownStep {
        KnownStep { id: self.reserve(), at: None, is_earlier: false, step }
    }

    fn drop_oldest(&mut self) {
        let dropped = self.steps.pop_front().filter(|known| known.at.is_some());
        self.gone.extend(dropped.map(|known| known.id));
    }
}

/// Returns the new steps of a list that must be stored, and the steps that must be removed from the store.
fn store_fresh(
    list: &mut VecDeque<KnownStep>,
    undone: bool,
    now: DateTime<Utc>,
) -> (Vec<SavedStep>, Vec<ChangeId>) {
    let (mut kept, mut gone): (Vec<SavedStep>, Vec<ChangeId>) = (Vec::new(), Vec::new());
    let mut earlier: Vec<ChangeId> = Vec::new();
    if list.back().is_none_or(|known| known.at.is_some()) {
        return (kept, gone);
    }
    for known in list.iter_mut() {
        if known.at.is_none() {
            known.at = Some(now);
            if known.step.is_saved() {
                let KnownStep { id, step, .. } = known.clone();
                kept.push(SavedStep { id, at: now, step, undone });
            } else {
                // A very large step stays in memory only. After a restart, earlier steps could not be undone without it, so remove
                // them from the store.
                kept.clear();
                gone.clone_from(&earlier);
            }
        }
        earlier.push(known.id);
    }
    (kept, gone)
}

/// Checks whether a change made at `at` is too old to be undone.
pub fn is_over(at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    now.signed_duration_since(at) >= UNDO_KEPT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::change::MarkChange;
    use backissue_core::history::FeedKey;

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
        assert_eq!(stack.pop().map(|known| known.step), Some(marked(2)));
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
        let saved =
            |id: u64, at| SavedStep { id: ChangeId(id), at, step: marked(1), undone: false };
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

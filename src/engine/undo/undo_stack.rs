//! What the reader can take back: the steps, and their order.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::engine::entries::filter_work::FilterChanges;
use crate::engine::feeds::chosen_settings::Chosen;
use crate::engine::feeds::subscription::{ProposedMove, Subscription, SubscriptionRecord};
use crate::engine::saved_searches::SavedSearch;
use crate::filters::EntryFilter;
use crate::history::{EntryKey, FeedKey, Flag, GapKey};

/// Steps that can be taken back.
const UNDO_STEPS: usize = 200;

/// What the reader can take back, oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UndoStack {
    pub(super) steps: VecDeque<(ChangeId, Step)>,
    /// What was taken back and can be made again, oldest first.
    pub(super) undone: Vec<Step>,
    /// The name given to a change last.
    pub(super) last: ChangeId,
    /// Changes under way whose steps are known when the store has answered: a whole list is marked, a rule applied.
    pub(super) under_way: u32,
    /// The reader wants the last of them taken back as soon as it is known.
    pub(super) wanted: bool,
}

/// Names a change, so that one that could not be written is forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeId(u64);

/// One change, as what is needed to take it back.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Marks on entries.
    Marked {
        /// Which mark.
        flag: Flag,
        /// Set or cleared.
        value: bool,
        /// The entries that did not have it so before.
        keys: Vec<EntryKey>,
    },
    /// A subscription was given up.
    Unsubscribed(Box<Subscription>),
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

    /// Whether something was taken back and can be done again.
    pub const fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }

    /// Remembers a change; what was taken back before cannot be made again then.
    pub fn push(&mut self, step: Step) -> ChangeId {
        self.undone.clear();
        self.keep(step)
    }

    /// Forgets a change that could not be written.
    pub fn forget(&mut self, change: Option<ChangeId>) {
        self.steps.retain(|(id, _)| Some(*id) != change);
    }

    /// Beyond [`UNDO_STEPS`] the oldest is forgotten.
    pub(super) fn keep(&mut self, step: Step) -> ChangeId {
        if self.steps.len() >= UNDO_STEPS {
            self.steps.pop_front();
        }
        self.last = ChangeId(self.last.0.saturating_add(1));
        self.steps.push_back((self.last, step));
        self.last
    }
}

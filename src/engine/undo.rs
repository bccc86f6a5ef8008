//! Taking changes back, and doing them again.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::backfill::history_actions;
use super::effect::Effect;
use super::entries::entry_filters::{self, FilterChanges};
use super::entries::marks::{self, words};
use super::entries::withdrawn;
use super::feeds::setting_table::Chosen;
use super::feeds::subscription::{ProposedMove, Subscription, SubscriptionRecord};
use super::feeds::{feed_settings, tags, unsubscribe};
use super::poll::redirects;
use super::saved_searches::{self, SavedSearch};
use super::state::Engine;
use super::wording::entries;
use crate::filters::EntryFilter;
use crate::history::{EntryKey, FeedKey, Flag, GapKey};

/// Steps that can be taken back.
const UNDO_STEPS: usize = 200;

/// What the reader can take back, oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UndoStack {
    steps: VecDeque<(ChangeId, Step)>,
    /// What was taken back and can be made again, oldest first.
    undone: Vec<Step>,
    /// The name given to a change last.
    last: ChangeId,
    /// Changes under way whose steps are known when the store has answered: a whole list is marked, a rule applied.
    under_way: u32,
    /// The reader wants the last of them taken back as soon as it is known.
    wanted: bool,
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
    fn keep(&mut self, step: Step) -> ChangeId {
        if self.steps.len() >= UNDO_STEPS {
            self.steps.pop_front();
        }
        self.last = ChangeId(self.last.0.saturating_add(1));
        self.steps.push_back((self.last, step));
        self.last
    }
}

/// Takes the last change back.
pub fn undo(engine: &mut Engine, now: DateTime<Utc>) -> Vec<Effect> {
    if engine.undo.under_way > 0 {
        engine.undo.wanted = true;
        return Vec::new();
    }
    let Some((_, step)) = engine.undo.steps.pop_back() else {
        engine.say("nothing to undo");
        return Vec::new();
    };
    let (effects, inverse) = take_back(engine, now, step, "undone");
    engine.undo.undone.extend(inverse);
    effects
}

/// Does again what was taken back last.
pub fn redo(engine: &mut Engine, now: DateTime<Utc>) -> Vec<Effect> {
    let step = if engine.undo.under_way > 0 { None } else { engine.undo.undone.pop() };
    let Some(step) = step else {
        engine.say("nothing to do again");
        return Vec::new();
    };
    let (effects, inverse) = take_back(engine, now, step, "done again");
    if let Some(inverse) = inverse {
        engine.undo.keep(inverse);
    }
    effects
}

/// Takes a step back; answers with the step that takes that back again, if there is one.
fn take_back(
    engine: &mut Engine,
    now: DateTime<Utc>,
    step: Step,
    done: &str,
) -> (Vec<Effect>, Option<Step>) {
    match step {
        Step::Marked { flag, value, keys } => {
            // Undone is what was done; done again is what it becomes.
            let told = if done == "undone" { value } else { !value };
            engine.say(format!("{done}: {}", words(flag, told, keys.len())));
            let inverse = Step::Marked { flag, value: !value, keys: keys.clone() };
            (marks::set_back(engine, keys, flag, !value), Some(inverse))
        }
        Step::Unsubscribed(subscription) => {
            let inverse = Step::Resubscribed(subscription.key);
            (unsubscribe::take_back(engine, now, *subscription), Some(inverse))
        }
        Step::Resubscribed(feed) => match unsubscribe::give_up(engine, now, feed) {
            Some((given_up, effects)) => (effects, Some(Step::Unsubscribed(Box::new(given_up)))),
            None => not_subscribed(engine),
        },
        Step::Readdressed { feed, before, proposed } => {
            let Some(subscription) = engine.feeds.get(&feed) else {
                return not_subscribed(engine);
            };
            let text = format!("{done}: the address of '{}'", subscription.record.shown_title());
            let inverse = Step::Readdressed {
                feed,
                before: Box::new(subscription.record.clone()),
                proposed: subscription.state.proposed.clone(),
            };
            engine.say(text);
            (redirects::put_back(engine, now, feed, *before, proposed), Some(inverse))
        }
        Step::Changed { feed, before } => {
            let Some(subscription) = engine.feeds.get(&feed) else {
                return not_subscribed(engine);
            };
            let text = format!("{done}: the settings of '{}'", subscription.record.shown_title());
            let inverse = Step::Changed { feed, before: Box::new(subscription.record.chosen()) };
            let effects = feed_settings::replace(engine, now, feed, *before, None);
            engine.say(text);
            (effects, Some(inverse))
        }
        Step::Searches { before } => {
            let inverse = Step::Searches { before: engine.saved_searches.clone() };
            engine.say(format!("{done}: the lists of searches"));
            (saved_searches::put(engine, before, None), Some(inverse))
        }
        Step::Retagged { tags, filters } => {
            let text = format!("{done}: the tags of {} feeds", tags.len());
            let (effects, inverse) = tags::put(engine, tags, filters);
            engine.say(text);
            (effects, Some(inverse))
        }
        Step::Filters { before, changes, forward } => {
            engine.say(format!("{done}: the filters · {}", entries(changes.entries())));
            let (effects, inverse) = entry_filters::take_back(engine, before, changes, forward);
            (effects, Some(inverse))
        }
        Step::Withdrawn { feed, withdrawn } => {
            (withdrawn::bring_back(engine, feed, withdrawn), None)
        }
        Step::Dismissed { feed, gap } => {
            engine.say(format!("{done}: the gap is shown again"));
            (history_actions::show_again(engine, feed, gap), Some(Step::ShownAgain { feed, gap }))
        }
        Step::ShownAgain { feed, gap } => {
            engine.say(format!("{done}: the gap is not shown any more"));
            let effects = history_actions::hide(engine, feed, gap);
            (effects.unwrap_or_default(), Some(Step::Dismissed { feed, gap }))
        }
    }
}

fn not_subscribed(engine: &mut Engine) -> (Vec<Effect>, Option<Step>) {
    engine.say("the feed that was changed is not subscribed to any more");
    (Vec::new(), None)
}

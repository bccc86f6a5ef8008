//! Taking changes back, and doing them again.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::backfill::history_actions;
use super::effect::Effect;
use super::entries::entry_filters;
use super::entries::entry_filters::RuleChanges;
use super::entries::marks;
use super::entries::marks::words;
use super::entries::withdrawn;
use super::feeds::feed_settings;
use super::feeds::subscription::Chosen;
use super::feeds::subscription::ProposedMove;
use super::feeds::subscription::Subscription;
use super::feeds::subscription::SubscriptionRecord;
use super::feeds::unsubscribe;
use super::model::Model;
use super::poll::redirects;
use super::wording::entries;
use crate::filters::EntryFilter;
use crate::history::{EntryKey, FeedKey, Flag, GapKey};
use crate::ui::overlays::tag_dialog;
use crate::ui::panes::saved_searches;
use crate::ui::panes::saved_searches::SavedSearch;

/// Steps that can be taken back.
const UNDO_STEPS: usize = 200;

/// What the reader can take back, oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UndoStack {
    steps: VecDeque<Step>,
    /// What was taken back and can be done again, oldest first.
    undone: Vec<Step>,
    /// Changes under way whose steps are known when the store has answered: a whole list is marked, a rule applied.
    under_way: u32,
    /// The reader wants the last of them taken back as soon as it is known.
    wanted: bool,
}

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
    /// A rule was made, changed or given up.
    Rules {
        /// The rules before.
        before: Vec<EntryFilter>,
        /// What that did to entries.
        changes: Box<RuleChanges>,
        /// It was taken back: its step makes it again.
        forward: bool,
    },
    /// A tag of several feeds has another name.
    Retagged {
        /// The tags of those feeds before.
        tags: Vec<(FeedKey, Vec<String>)>,
        /// The rules before, which may name it.
        rules: Vec<EntryFilter>,
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
    /// Nothing is waited for any longer: the store could not do it.
    pub const fn give_up(&mut self) {
        (self.under_way, self.wanted) = (0, false);
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

    /// Remembers a change; what was taken back before cannot be done again then.
    pub fn push(&mut self, step: Step) {
        self.undone.clear();
        self.keep(step);
    }

    /// Beyond [`UNDO_STEPS`] the oldest is forgotten.
    fn keep(&mut self, step: Step) {
        if self.steps.len() >= UNDO_STEPS {
            self.steps.pop_front();
        }
        self.steps.push_back(step);
    }
}

/// Takes the last change back.
pub fn undo(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if model.undo.under_way > 0 {
        model.undo.wanted = true;
        return Vec::new();
    }
    let Some(step) = model.undo.steps.pop_back() else {
        model.screen.say(now, "nothing to undo");
        return Vec::new();
    };
    let (effects, inverse) = take_back(model, now, step, "undone");
    model.undo.undone.extend(inverse);
    effects
}

/// Does again what was taken back last.
pub fn redo(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let step = if model.undo.under_way > 0 { None } else { model.undo.undone.pop() };
    let Some(step) = step else {
        model.screen.say(now, "nothing to do again");
        return Vec::new();
    };
    let (effects, inverse) = take_back(model, now, step, "done again");
    if let Some(inverse) = inverse {
        model.undo.keep(inverse);
    }
    effects
}

/// Takes a step back; answers with the step that takes that back again, if there is one.
fn take_back(
    model: &mut Model,
    now: DateTime<Utc>,
    step: Step,
    done: &str,
) -> (Vec<Effect>, Option<Step>) {
    match step {
        Step::Marked { flag, value, keys } => {
            // Undone is what was done; done again is what it becomes.
            let told = if done == "undone" { value } else { !value };
            model.screen.say(now, format!("{done}: {}", words(flag, told, keys.len())));
            let inverse = Step::Marked { flag, value: !value, keys: keys.clone() };
            (marks::set_back(model, keys, flag, !value), Some(inverse))
        }
        Step::Unsubscribed(subscription) => {
            let inverse = Step::Resubscribed(subscription.key);
            (unsubscribe::take_back(model, now, *subscription), Some(inverse))
        }
        Step::Resubscribed(feed) => match unsubscribe::give_up(model, now, feed) {
            Some((given_up, effects)) => (effects, Some(Step::Unsubscribed(Box::new(given_up)))),
            None => not_subscribed(model, now),
        },
        Step::Readdressed { feed, before, proposed } => {
            let Some(subscription) = model.feeds.get(&feed) else {
                return not_subscribed(model, now);
            };
            let text = format!("{done}: the address of '{}'", subscription.record.shown_title());
            model.screen.say(now, text);
            let inverse = Step::Readdressed {
                feed,
                before: Box::new(subscription.record.clone()),
                proposed: subscription.state.proposed.clone(),
            };
            (redirects::put_back(model, now, feed, *before, proposed), Some(inverse))
        }
        Step::Changed { feed, before } => {
            let Some(subscription) = model.feeds.get(&feed) else {
                return not_subscribed(model, now);
            };
            let text = format!("{done}: the settings of '{}'", subscription.record.shown_title());
            let inverse = Step::Changed { feed, before: Box::new(subscription.record.chosen()) };
            let effects = feed_settings::replaced(model, now, feed, *before);
            model.screen.say(now, text);
            (effects, Some(inverse))
        }
        Step::Searches { before } => {
            let inverse = Step::Searches { before: model.searches.list.clone() };
            model.screen.say(now, format!("{done}: the lists of searches"));
            (saved_searches::take_back(model, now, before), Some(inverse))
        }
        Step::Retagged { tags, rules } => {
            let text = format!("{done}: the tags of {} feeds", tags.len());
            let (effects, inverse) = tag_dialog::put(model, now, tags, rules);
            model.screen.say(now, text);
            (effects, Some(inverse))
        }
        Step::Rules { before, changes, forward } => {
            model.screen.say(now, format!("{done}: the rules · {}", entries(changes.entries())));
            let (effects, inverse) = entry_filters::take_back(model, before, changes, forward);
            (effects, Some(inverse))
        }
        Step::Withdrawn { feed, withdrawn } => {
            (withdrawn::bring_back(model, now, feed, withdrawn), None)
        }
        Step::Dismissed { feed, gap } => {
            model.screen.say(now, format!("{done}: the gap is shown again"));
            (
                history_actions::show_again(model, now, feed, gap),
                Some(Step::ShownAgain { feed, gap }),
            )
        }
        Step::ShownAgain { feed, gap } => {
            model.screen.say(now, format!("{done}: the gap is not shown any more"));
            let effects = history_actions::hide(model, now, feed, gap);
            (effects.unwrap_or_default(), Some(Step::Dismissed { feed, gap }))
        }
    }
}

fn not_subscribed(model: &mut Model, now: DateTime<Utc>) -> (Vec<Effect>, Option<Step>) {
    model.screen.say(now, "the feed that was changed is not subscribed to any more");
    (Vec::new(), None)
}

//! Marks and taking them back: read, star, mark-all.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};

use super::effect::Effect;
use super::feeds_pane;
use super::model::Model;
use super::moving;
use super::msg::Marked;
use super::saving::{self, SavedSearch};
use super::subscription::{Chosen, ProposedMove, Subscription, SubscriptionRecord};
use super::{preferring, recalling, unsubscribing, wishing};
use crate::history::{EntryKey, FeedKey, Flag, GapKey};

/// Steps that can be taken back.
const UNDO_STEPS: usize = 200;

/// What the reader can take back, oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UndoStack {
    steps: VecDeque<Step>,
    /// A whole list is being marked; its step is known when the store has answered.
    marking_list: bool,
    /// The reader wants it taken back as soon as it is known.
    wanted: bool,
}

/// One change.
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
    /// A search was saved, renamed or given up.
    Searches {
        /// The saved searches before.
        before: Vec<SavedSearch>,
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
        (self.marking_list, self.wanted) = (false, false);
    }

    /// Remembers a change; beyond [`UNDO_STEPS`] the oldest is forgotten.
    pub fn push(&mut self, step: Step) {
        if self.steps.len() >= UNDO_STEPS {
            self.steps.pop_front();
        }
        self.steps.push_back(step);
    }
}

/// Sets a mark on the selected entry, or clears it; it is on the screen at once.
pub fn toggle(model: &mut Model, flag: Flag) -> Vec<Effect> {
    let list = &model.screen.list;
    let Some(row) = list.selected_row() else { return Vec::new() };
    let Some(key) = row.key.entry() else { return Vec::new() };
    let value = !row.flags.get(flag);
    set(model, key, flag, value)
}

/// Sets a mark on one entry that does not have it so; it can be taken back from this moment on.
pub fn set(model: &mut Model, key: EntryKey, flag: Flag, value: bool) -> Vec<Effect> {
    show(model, &[key], flag, value);
    model.undo.push(Step::Marked { flag, value, keys: vec![key] });
    vec![Effect::Mark { keys: vec![key], flag, value }]
}

/// Marks the open list read: what it holds now, not what may arrive while the mark is written.
pub fn mark_all(model: &mut Model) -> Vec<Effect> {
    let list = model.screen.list.number;
    model.undo.marking_list = true;
    model.screen.list.keep.extend(model.screen.list.rows.iter().filter_map(|row| row.key.entry()));
    vec![Effect::MarkList { list, flag: Flag::Read, value: true }]
}

/// Takes the last change back.
pub fn undo(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if model.undo.marking_list {
        model.undo.wanted = true;
        return Vec::new();
    }
    let Some(step) = model.undo.steps.pop_back() else {
        model.screen.say(now, "nothing to undo");
        return Vec::new();
    };
    match step {
        Step::Marked { flag, value, keys } => {
            show(model, &keys, flag, !value);
            if flag == Flag::Opened {
                let opened = &mut model.screen.list.opened;
                *opened = opened.saturating_sub(keys.len());
            }
            model.screen.say(now, format!("undone: {}", words(flag, value, keys.len())));
            vec![Effect::Mark { keys, flag, value: !value }]
        }
        Step::Unsubscribed(subscription) => unsubscribing::take_back(model, now, *subscription),
        Step::Readdressed { feed, before, proposed } => {
            moving::put_back(model, now, feed, *before, proposed)
        }
        Step::Changed { feed, before } => preferring::take_back(model, now, feed, *before),
        Step::Searches { before } => saving::take_back(model, now, before),
        Step::Withdrawn { feed, withdrawn } => recalling::bring_back(model, now, feed, withdrawn),
        Step::Dismissed { feed, gap } => wishing::show_again(model, now, feed, gap),
    }
}

/// Marks are durable: sums follow, and what the reader asked for can be taken back.
pub fn marked(
    model: &mut Model,
    now: DateTime<Utc>,
    flag: Flag,
    value: bool,
    whole_list: bool,
    marked: Marked,
) -> Vec<Effect> {
    for (feed, counters) in marked.counters {
        if let Some(subscription) = model.feeds.get_mut(&feed) {
            subscription.counters = counters;
        }
    }
    show(model, &marked.changed, flag, value);
    if whole_list {
        let text = words(flag, value, marked.changed.len());
        let hint = if marked.changed.is_empty() { "" } else { " · u undo" };
        model.screen.say(now, format!("{text}{hint}"));
    }
    let mut effects = counting(model, now);
    effects.extend(saving::counting(model, now));
    if whole_list {
        let wanted = model.undo.wanted && !marked.changed.is_empty();
        model.undo.give_up();
        if !marked.changed.is_empty() {
            model.undo.push(Step::Marked { flag, value, keys: marked.changed });
        }
        if wanted {
            effects.extend(undo(model, now));
        }
    }
    effects
}

/// Asks how much is unread today, unless the answer to an earlier question is still on its way.
pub fn counting(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    if std::mem::replace(&mut model.screen.counting, true) {
        model.screen.count_again = true;
        return Vec::new();
    }
    vec![Effect::CountToday(feeds_pane::day_start(now, model.zone))]
}

/// The answer to that.
pub fn counted(model: &mut Model, now: DateTime<Utc>, count: u32) -> Vec<Effect> {
    model.screen.today = count;
    model.screen.counting = false;
    if std::mem::take(&mut model.screen.count_again) { counting(model, now) } else { Vec::new() }
}

/// Shows a mark on the rows in memory and on the entry being read; they stay in the list until it is opened anew.
fn show(model: &mut Model, keys: &[EntryKey], flag: Flag, value: bool) {
    let wanted: std::collections::BTreeSet<&EntryKey> = keys.iter().collect();
    for row in &mut model.screen.list.rows {
        if let Some(key) = row.key.entry().filter(|key| wanted.contains(key)) {
            row.flags = row.flags.with(flag, value);
            model.screen.list.keep.insert(key);
        }
    }
    if let Some(reader) = &mut model.screen.reader
        && wanted.contains(&reader.entry.key)
    {
        reader.entry.flags = reader.entry.flags.with(flag, value);
    }
}

/// What a change did, in words.
fn words(flag: Flag, value: bool, count: usize) -> String {
    let what = match (flag, value) {
        (Flag::Read, true) => "marked read",
        (Flag::Read, false) => "marked unread",
        (Flag::Opened, true) => "read",
        (Flag::Opened, false) => "not read yet",
        (Flag::Starred, true) => "starred",
        (Flag::Starred, false) => "unstarred",
    };
    format!("{count} {what}")
}

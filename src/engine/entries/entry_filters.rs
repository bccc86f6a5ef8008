//! The reader's rules about entries: kept, applied to what is stored already, taken back, counted.
//!
//! A rule that was saved is durable before the store is looked through for what it hits; what arrives meanwhile is
//! judged by it on arrival.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::marks;
use crate::engine::effect::Effect;
use crate::engine::model::Model;
use crate::engine::msg::LoadedEntry;
use crate::engine::undo;
use crate::engine::undo::Step;
use crate::engine::wording::entries;
use crate::filters::{Action, EntryFilter, FilterScope};
use crate::history::{Counters, EntryKey, FeedKey, Flag};
use crate::ui::panes::navigation;
use crate::ui::panes::saved_searches;

/// Rules at most.
pub const RULES_MAX: usize = 200;
/// Titles that a preview shows.
pub const PREVIEW_TITLES: usize = 12;

/// The rules as the model holds them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules {
    /// In the order they were made.
    pub list: Vec<EntryFilter>,
    /// What each hit.
    pub counts: BTreeMap<u32, RuleCount>,
    /// Changes under way, oldest first.
    pending: Vec<Pending>,
    /// Numbers the previews.
    pub previews: u64,
}

/// What a rule hit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RuleCount {
    /// Entries.
    pub hits: u32,
    /// Of them, those that are hidden.
    pub hidden: u32,
}

/// A change of the rules that the store has not finished.
#[derive(Debug, Clone, PartialEq)]
struct Pending {
    rule: u32,
    before: Vec<EntryFilter>,
    /// The rule to look through the store for, once it is durable.
    look_for: Option<EntryFilter>,
}

/// What a rule would hit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RulePreview {
    /// Entries.
    pub hits: u32,
    /// Of them, unread ones.
    pub unread: u32,
    /// Entries that were looked at.
    pub of: u32,
    /// The newest of the hits, newest first.
    pub newest: Vec<PreviewTitle>,
}

/// An entry that a rule would hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewTitle {
    /// Its feed.
    pub feed: FeedKey,
    /// The date it is listed under.
    pub listed: DateTime<Utc>,
    /// Its title.
    pub title: String,
}

impl RulePreview {
    /// Puts the newest first and keeps [`PREVIEW_TITLES`] of them.
    pub fn sort(&mut self) {
        self.newest.sort_by_key(|title| std::cmp::Reverse(title.listed));
        self.newest.truncate(PREVIEW_TITLES);
    }
}

/// What is to be done with the entries of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleWish {
    /// It hits these entries now and no others: its action is done to them, and what it hid of others is shown.
    Apply {
        /// The rule's number.
        rule: u32,
        /// What is done to the entries.
        action: Action,
        /// The entries.
        hits: Vec<EntryKey>,
    },
    /// Changes are taken back, or made again.
    Replay {
        /// The changes.
        changes: Box<RuleChanges>,
        /// Made again.
        forward: bool,
    },
}

impl RuleWish {
    /// The rule's number.
    pub const fn rule(&self) -> u32 {
        match self {
            Self::Apply { rule, .. } => *rule,
            Self::Replay { changes, .. } => changes.rule,
        }
    }
}

/// What a change of a rule did to entries; both lists in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleChanges {
    /// The rule's number.
    pub rule: u32,
    /// The entries it had hit before.
    pub before: Vec<EntryKey>,
    /// The entries it hits now.
    pub after: Vec<EntryKey>,
    /// The marks that changed, and what they are now.
    pub flags: Vec<(EntryKey, Flag, bool)>,
}

impl RuleChanges {
    /// How many entries changed, or were hit or left.
    pub fn entries(&self) -> usize {
        let marked = self.flags.iter().map(|(key, _, _)| *key);
        let left = self.before.iter().filter(|key| self.after.binary_search(key).is_err());
        let hit = self.after.iter().filter(|key| self.before.binary_search(key).is_err());
        marked.chain(left.chain(hit).copied()).collect::<std::collections::BTreeSet<_>>().len()
    }
}

/// The answer of the store to a [`RuleWish`].
#[derive(Debug, Clone, PartialEq)]
pub struct Ruled {
    /// What changed.
    pub changes: RuleChanges,
    /// The sums of the feeds afterwards.
    pub counters: Vec<(FeedKey, Counters)>,
}

impl Rules {
    /// One of them.
    pub fn get(&self, id: u32) -> Option<&EntryFilter> {
        self.list.iter().find(|rule| rule.id == id)
    }
}

/// Takes what the store has at the start.
pub fn take(model: &mut Model, list: Vec<EntryFilter>) {
    model.rules = Rules { list, ..Rules::default() };
}

/// What a rule looks for, in a few words.
pub fn about(model: &Model, rule: &EntryFilter) -> String {
    let feed = match rule.scope {
        FilterScope::Feed(feed) => model.feeds.get(&feed),
        FilterScope::Everywhere | FilterScope::Tag(_) => None,
    };
    rule.describe(feed.map(|feed| feed.record.shown_title()))
}

/// Why an entry is as it is, where a rule made it so: `marked read by rule 'title ~ sponsored'`.
pub fn reasons(model: &Model, entry: &LoadedEntry) -> Vec<String> {
    let holds = |action: &Action| match action {
        Action::Hide => entry.flags.is_hidden(),
        Action::Read => entry.flags.is_read(),
        Action::Star => entry.flags.is_starred(),
        Action::Label(_) => true,
    };
    let rules = entry.ruled.iter().filter_map(|&id| model.rules.get(id));
    let done = rules.filter(|rule| holds(&rule.action));
    done.map(|rule| format!("{} by rule '{}'", rule.action.done_words(), about(model, rule)))
        .collect()
}

/// The labels that rules gave an entry.
pub fn labels<'m>(model: &'m Model, ruled: &'m [u32]) -> impl Iterator<Item = &'m str> {
    ruled.iter().filter_map(|&id| model.rules.get(id)?.action.label())
}

/// Saves a rule, a new one or in place of the one with its number, and applies it. The error is a sentence.
pub fn save(
    model: &mut Model,
    now: DateTime<Utc>,
    mut rule: EntryFilter,
) -> Result<Vec<Effect>, String> {
    rule.check().map_err(|flaw| flaw.to_string())?;
    let mut list = model.rules.list.clone();
    if let Some(known) = list.iter_mut().find(|known| known.id == rule.id) {
        if *known == rule {
            model.screen.say(now, "nothing was changed");
            return Ok(Vec::new());
        }
        known.clone_from(&rule);
    } else {
        if list.len() >= RULES_MAX {
            return Err(format!("{RULES_MAX} rules are kept: give one up first"));
        }
        rule.id = list.iter().map(|rule| rule.id).max().unwrap_or(0).saturating_add(1);
        list.push(rule.clone());
    }
    let before = std::mem::replace(&mut model.rules.list, list.clone());
    model.rules.pending.push(Pending { rule: rule.id, before, look_for: Some(rule) });
    model.undo.step_begins();
    model.screen.say(now, "looking for what the rule hits …");
    Ok(vec![Effect::SaveRules(list)])
}

/// Gives a rule up; what it hid is shown again.
pub fn give_up(model: &mut Model, id: u32) -> Vec<Effect> {
    let Some(rule) = model.rules.get(id).cloned() else { return Vec::new() };
    let mut list = model.rules.list.clone();
    list.retain(|rule| rule.id != id);
    let before = std::mem::replace(&mut model.rules.list, list.clone());
    model.rules.pending.push(Pending { rule: id, before, look_for: None });
    model.undo.step_begins();
    let wish = RuleWish::Apply { rule: id, action: rule.action, hits: Vec::new() };
    vec![Effect::SaveRules(list), Effect::Rule(Box::new(wish))]
}

/// The rules are durable: the store is looked through for what new ones hit.
pub fn saved(model: &mut Model) -> Vec<Effect> {
    let looked_for = model.rules.pending.iter_mut().filter_map(|pending| pending.look_for.take());
    looked_for.map(|rule| Effect::FindHits(Box::new(rule))).collect()
}

/// What a rule hits is known.
pub fn found(model: &Model, rule: u32, hits: Vec<EntryKey>) -> Vec<Effect> {
    let (action, hits) = match model.rules.get(rule) {
        // A rule that was given up meanwhile does nothing any more.
        None => (Action::default(), Vec::new()),
        Some(rule) => (rule.action.clone(), hits),
    };
    vec![Effect::Rule(Box::new(RuleWish::Apply { rule, action, hits }))]
}

/// The store could not do it: nothing is waited for any longer.
pub fn failed(model: &mut Model) {
    model.rules.pending.clear();
}

/// Entries were changed by a rule; that can be taken back.
pub fn ruled(model: &mut Model, now: DateTime<Utc>, ruled: Ruled) -> Vec<Effect> {
    let Ruled { changes, counters } = ruled;
    for (feed, counters) in counters {
        if let Some(subscription) = model.feeds.get_mut(&feed) {
            subscription.counters = counters;
        }
    }
    for (key, flag, value) in &changes.flags {
        marks::show_one(model, *key, *flag, *value);
        model.screen.list.keep.remove(key);
    }
    let place = model.rules.pending.iter().position(|pending| pending.rule == changes.rule);
    let mut wanted = false;
    if let Some(place) = place {
        let pending = model.rules.pending.remove(place);
        let text = words(model, &pending, &changes);
        model.screen.say(now, text);
        let changes = Box::new(changes);
        model.undo.push(Step::Rules { before: pending.before, changes, forward: false });
        wanted = model.undo.step_is_known();
    }
    let mut effects = vec![Effect::CountRuled];
    effects.extend(marks::counting(model, now));
    effects.extend(saved_searches::counting(model, now));
    effects.extend(navigation::refresh_list(model, now));
    effects.extend(wanted.then(|| undo::undo(model, now)).into_iter().flatten());
    effects
}

/// What a change of the rules did, in words.
fn words(model: &Model, pending: &Pending, changes: &RuleChanges) -> String {
    let count = |wanted: Flag, value: bool| {
        let hit = |(_, flag, now): &&(EntryKey, Flag, bool)| (*flag, *now) == (wanted, value);
        changes.flags.iter().filter(hit).count()
    };
    let shown = count(Flag::Hidden, false);
    let Some(rule) = model.rules.get(pending.rule) else {
        return match shown {
            0 => "the rule is given up · u undo".to_owned(),
            shown => format!("the rule is given up: {} shown again · u undo", entries(shown)),
        };
    };
    let done = match rule.action {
        Action::Hide => count(Flag::Hidden, true),
        Action::Read => count(Flag::Read, true),
        Action::Star => count(Flag::Starred, true),
        Action::Label(_) => changes.after.len(),
    };
    let done = format!("{} {}", entries(done), rule.action.done_words());
    let shown = if shown > 0 { format!(", {} shown again", entries(shown)) } else { String::new() };
    format!("rule saved: {done}{shown} · u undo")
}

/// Takes a change of the rules back, or makes it again; answers with what takes that back.
pub fn take_back(
    model: &mut Model,
    before: Vec<EntryFilter>,
    changes: Box<RuleChanges>,
    forward: bool,
) -> (Vec<Effect>, Step) {
    let now_list = std::mem::replace(&mut model.rules.list, before.clone());
    let inverse = Step::Rules { before: now_list, changes: changes.clone(), forward: !forward };
    let wish = RuleWish::Replay { changes, forward };
    (vec![Effect::SaveRules(before), Effect::Rule(Box::new(wish))], inverse)
}

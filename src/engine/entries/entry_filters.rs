//! The user's entry filters: saving and removing filters, applying them to stored entries, and undoing their changes.
//!
//! A new filter is first written, and then applied to the stored entries that match it. Entries that arrive in the meantime are
//! filtered on arrival.

use backissue_core::{InputFlaw, flaw};
use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::entry_view::LoadedEntry;
use super::filter_work::{FilterChanges, FilterWork, Pending};
use crate::engine::change::undo_stack::{SavedStep, Step, StepChanges};
use crate::engine::change::value::{LaterStep, ListChange};
use crate::engine::change::{self, Change, ChangeId, MarkChange, PendingChange};
use crate::engine::request::{Effect, Event, MarkedBy, MarksChanged};
use crate::engine::state::Engine;
use crate::engine::store_work::{Beside, Job, JobId, StoreWork};
use backissue_core::feed::text::counted_words;
use backissue_core::filters::{Action, EntryFilter, FilterScope};
use backissue_core::history::{EntryKey, Flag};

/// Maximum number of filters.
pub const FILTERS_MAX: usize = 200;

/// Describes the conditions of a filter, including the title of its feed if the filter applies to one feed.
pub fn about(engine: &Engine, filter: &EntryFilter) -> String {
    let feed = match filter.scope {
        FilterScope::Feed(feed) => engine.feeds.get(&feed),
        FilterScope::Everywhere | FilterScope::Tag(_) | FilterScope::ByHand => None,
    };
    filter.describe(feed.map(|feed| feed.record.shown_title()))
}

/// Describes the effects of filters on an entry, such as `marked read by filter 'title ~ sponsored'`. Labels that the user set by
/// hand are left out.
pub fn reasons(engine: &Engine, entry: &LoadedEntry) -> Vec<String> {
    let holds = |action: &Action| match action {
        Action::Hide => entry.flags.is_hidden(),
        Action::Read => entry.flags.is_read(),
        Action::Star => entry.flags.is_starred(),
        Action::Label(_) => true,
        Action::Download => false,
    };
    let filters = entry.ruled.iter().filter_map(|&id| engine.filters.get(id));
    let done =
        filters.filter(|filter| filter.scope != FilterScope::ByHand && holds(&filter.action));
    done.map(|filter| {
        format!("{} by filter '{}'", filter.action.done_words(), about(engine, filter))
    })
    .collect()
}

/// Returns the labels of an entry that the user set by hand.
pub fn labels_by_hand<'m>(engine: &'m Engine, ruled: &'m [u32]) -> impl Iterator<Item = &'m str> {
    let filters = ruled.iter().filter_map(|&id| engine.filters.get(id));
    filters.filter(|filter| filter.scope == FilterScope::ByHand).filter_map(|it| it.action.label())
}

/// Saves a filter and applies it to stored entries. A filter with the number of a saved filter replaces that filter. The error is a
/// sentence.
pub fn save(
    engine: &mut Engine,
    now: DateTime<Utc>,
    mut filter: EntryFilter,
) -> Result<(), InputFlaw> {
    filter.check().map_err(|flaw| flaw.to_string())?;
    let mut list = engine.filters.list.clone();
    if let Some(kept) = list.iter_mut().find(|kept| kept.id == filter.id) {
        if *kept == filter {
            engine.say("nothing was changed");
            return Ok(());
        }
        kept.clone_from(&filter);
    } else {
        filter.id = free_number(engine)?;
        list.push(filter.clone());
    }
    let before = std::mem::replace(&mut engine.filters.list, list);
    let change = ListChange::new(before.clone(), &engine.filters.list);
    let step = engine.undo.later(now, before);
    // Until the matching entries are known, the undo step restores only the filters.
    let (id, at) = (step.id, step.at);
    let undo = Step::of_filter(step.filters.clone(), FilterChanges::none(filter.id));
    let kept = vec![SavedStep { id, at, step: undo, undone: false }];
    begin(engine, filter.id, step, Some(filter));
    engine.say("looking for matching entries …");
    change::write(engine, Change::Filters(change), None);
    if let Some(Effect::Store(work)) = engine.effects.last_mut() {
        work.beside = Some(Beside::Steps(StepChanges { kept, gone: Vec::new() }));
    }
    Ok(())
}

/// Notes a change of a filter whose effects on entries are not written yet.
fn begin(engine: &mut Engine, filter: u32, step: LaterStep, look_for: Option<EntryFilter>) {
    let pending = Pending { filter, step, look_for, is_saved: false, is_sent: false };
    engine.filters.pending.push(pending);
}

/// Writes the effects of a filter on entries and, if it `changed`, the list of filters, as one frame.
fn apply(
    engine: &mut Engine,
    changed: Option<ListChange<EntryFilter>>,
    work: FilterWork,
    step: Option<LaterStep>,
) {
    let list = changed.is_some().then(|| engine.filters.list.clone());
    let change = changed.map(|change| PendingChange::new(Change::Filters(change), None));
    let job = Job::Filter { work: Box::new(work), list };
    let beside = step.map(Beside::Later);
    let id = JobId::default();
    engine.carry_out(Effect::Store(Box::new(StoreWork { id, job, change, beside, failures: 0 })));
}

/// Saves the filters of another reader and applies them to stored entries. Filters beyond the maximum are left out.
pub fn save_moved(engine: &mut Engine, now: DateTime<Utc>, filters: Vec<EntryFilter>) {
    let (before, mut step) = (engine.filters.list.clone(), None);
    for mut filter in filters {
        let Ok(id) = free_number(engine) else { break };
        filter.id = id;
        engine.filters.list.push(filter.clone());
        let later = engine.undo.later_joined(now);
        // Until the matching entries are known, the undo step restores only the filters.
        step = engine.undo.push(Step::of_filter(before.clone(), FilterChanges::none(id)));
        begin(engine, id, LaterStep { filters: before.clone(), ..later }, Some(filter));
    }
    if engine.filters.list.len() == before.len() {
        return;
    }
    let change = ListChange::new(before, &engine.filters.list);
    change::write(engine, Change::Filters(change), step);
}

/// Checks whether a filter is the label with this name that users set by hand.
fn is_hand_label(filter: &EntryFilter, name: &str) -> bool {
    filter.scope == FilterScope::ByHand && filter.action.label() == Some(name)
}

fn hand_label(id: u32, name: &str) -> EntryFilter {
    let action = Action::Label(name.to_owned());
    EntryFilter { id, action, scope: FilterScope::ByHand, ..EntryFilter::default() }
}

/// Returns how many of these labels are new and exceed the maximum number of filters.
pub fn labels_without_room(engine: &Engine, names: &BTreeSet<&str>) -> usize {
    let list = &engine.filters.list;
    let new = names.iter().filter(|name| !list.iter().any(|filter| is_hand_label(filter, name)));
    new.count().saturating_sub(FILTERS_MAX.saturating_sub(list.len()))
}

/// Saves the labels of another reader without adding them to entries yet. Labels beyond the maximum number of filters are left out.
pub fn save_labels(engine: &mut Engine, names: BTreeSet<String>) {
    let (before, mut step) = (engine.filters.list.clone(), None);
    for name in names {
        let is_known = engine.filters.list.iter().any(|filter| is_hand_label(filter, &name));
        let Ok(id) = free_number(engine) else { break };
        let filter = hand_label(id, &name);
        if is_known || filter.check().is_err() {
            continue;
        }
        engine.filters.list.push(filter);
        step = engine.undo.push(Step::of_filter(before.clone(), FilterChanges::none(id)));
    }
    if engine.filters.list.len() == before.len() {
        return;
    }
    let change = ListChange::new(before, &engine.filters.list);
    change::write(engine, Change::Filters(change), step);
}

/// Sets a label on entries by hand, or removes it. A new label is a filter that matches only the entries that the user chooses. The
/// error is a sentence.
pub fn label(
    engine: &mut Engine,
    now: DateTime<Utc>,
    name: &str,
    keys: Vec<EntryKey>,
    set: bool,
) -> Result<(), InputFlaw> {
    let before = engine.filters.list.clone();
    let name = known_label(engine, name.trim()).unwrap_or_else(|| name.trim().to_owned());
    if !set && !before.iter().any(|filter| is_hand_label(filter, &name)) {
        return Err(flaw!("there is no label '{name}'"));
    }
    let (filter, changed) = number_of(engine, &name)?;
    let step = engine.undo.later(now, before);
    begin(engine, filter, step.clone(), None);
    apply(engine, changed, FilterWork::Label { filter, keys, set }, Some(step));
    Ok(())
}

/// Returns the label with this name, in any case: queries do not distinguish them.
fn known_label(engine: &Engine, name: &str) -> Option<String> {
    let hand = engine.filters.list.iter().filter(|filter| filter.scope == FilterScope::ByHand);
    let labels = || hand.clone().filter_map(|filter| filter.action.label());
    let is_same = |label: &&str| label.to_lowercase() == name.to_lowercase();
    labels().find(|label| *label == name).or_else(|| labels().find(is_same)).map(str::to_owned)
}

/// Returns the number of a label that is set by hand. If there is none yet, adds it and returns the change of the filters. The error
/// is a sentence.
fn number_of(
    engine: &mut Engine,
    name: &str,
) -> Result<(u32, Option<ListChange<EntryFilter>>), String> {
    let mut list = engine.filters.list.iter();
    if let Some(known) = list.find(|filter| is_hand_label(filter, name)) {
        return Ok((known.id, None));
    }
    let filter = hand_label(free_number(engine)?, name);
    filter.check().map_err(|flaw| flaw.to_string())?;
    let (id, before) = (filter.id, engine.filters.list.clone());
    engine.filters.list.push(filter);
    Ok((id, Some(ListChange::new(before, &engine.filters.list))))
}

/// Sets or removes a label on entries as on the server, without an undo step. A new label is left out if there are too many
/// filters.
pub fn label_synced(engine: &mut Engine, name: &str, keys: Vec<EntryKey>, set: bool) {
    let is_known = engine.filters.list.iter().any(|filter| is_hand_label(filter, name));
    if !set && !is_known {
        return;
    }
    let Ok((filter, changed)) = number_of(engine, name) else { return };
    apply(engine, changed, FilterWork::Label { filter, keys, set }, None);
}

/// Returns a number for a new filter. The error is a sentence.
fn free_number(engine: &Engine) -> Result<u32, InputFlaw> {
    let list = &engine.filters.list;
    if list.len() >= FILTERS_MAX {
        return Err(flaw!("{FILTERS_MAX} filters are already saved: remove one first"));
    }
    // If the removal of a filter is not written yet, the filter may be restored, so its number is still in use.
    let leaving = engine.filters.pending.iter().map(|pending| pending.filter);
    // Likewise if the user can undo or redo a change of the filter.
    let steps = engine.undo.last_filter();
    let taken = list.iter().map(|filter| filter.id).chain(leaving).chain(steps).max();
    Ok(taken.unwrap_or(0).saturating_add(1))
}

/// Removes a filter and shows the entries that it hid.
pub fn remove(engine: &mut Engine, now: DateTime<Utc>, id: u32) {
    let Some(filter) = engine.filters.get(id).cloned() else { return };
    let mut list = engine.filters.list.clone();
    list.retain(|filter| filter.id != id);
    let before = std::mem::replace(&mut engine.filters.list, list);
    let change = ListChange::new(before.clone(), &engine.filters.list);
    let step = engine.undo.later(now, before);
    begin(engine, id, step.clone(), None);
    let work = FilterWork::Apply { filter: id, action: filter.action, hits: Vec::new() };
    apply(engine, Some(change), work, Some(step));
}

/// Called after the filters were written. Searches the store for entries that match the new filters.
pub fn saved(engine: &mut Engine) {
    for pending in &mut engine.filters.pending {
        if let Some(filter) = pending.look_for.take() {
            pending.is_saved = true;
            engine.effects.push(Effect::FindFilterHits(Box::new(filter)));
        }
    }
}

/// Applies a filter to the matching entries that were found.
pub fn found(engine: &mut Engine, filter: u32, hits: Vec<EntryKey>) {
    let (action, hits) = match engine.filters.get(filter) {
        // A filter that was removed in the meantime has no effect.
        None => (Action::default(), Vec::new()),
        Some(filter) => (filter.action.clone(), hits),
    };
    let mut pending = engine.filters.pending.iter_mut();
    let next = pending.find(|pending| pending.filter == filter && !pending.is_sent);
    let step = next.map(|pending| {
        pending.is_sent = true;
        pending.step.clone()
    });
    apply(engine, None, FilterWork::Apply { filter, action, hits }, step);
}

/// Drops the pending changes of a filter after one of its store jobs failed. If the filter was written but not applied to entries,
/// returns the id of its change, which must be undone.
pub fn failed(engine: &mut Engine, filter: u32) -> Option<ChangeId> {
    let all = std::mem::take(&mut engine.filters.pending);
    let (failed, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it.filter == filter);
    engine.filters.pending = rest;
    let mut saved = None;
    for Pending { step, is_saved, .. } in failed {
        engine.undo.step_fails();
        if is_saved && !step.joins {
            saved = Some(step.id);
            let undo = Step::of_filter(step.filters.clone(), FilterChanges::none(filter));
            engine.undo.push_stored(undo, Some(step));
        }
    }
    saved
}

/// Handles the changes that a filter made to entries, and adds the undo `step` for a change by the user.
pub fn filtered(engine: &mut Engine, changes: FilterChanges, step: Option<ChangeId>) {
    for &(key, flag, value) in &changes.flags {
        let mark = MarkChange { flag, value, keys: vec![key] };
        engine.tell(Event::MarksChanged(MarksChanged { mark, by: MarkedBy::Filter }));
    }
    // A server may change the same label at the same time.
    let is_it = |it: &Pending| it.filter == changes.filter && Some(it.step.id) == step;
    let place = engine.filters.pending.iter().position(is_it);
    if let Some(place) = place {
        let pending = engine.filters.pending.remove(place);
        let text = words(engine, &pending, &changes);
        let step = Step::of_filter(pending.step.filters.clone(), changes);
        if pending.step.joins {
            engine.undo.join(step);
        } else {
            engine.say_undoable(text);
            engine.undo.push_stored(step, Some(pending.step));
        }
        engine.undo.step_is_known();
    }
    engine.tell(Event::CountersChanged);
    engine.tell(Event::FiltersChanged);
    engine.tell(Event::ListsChanged);
    engine.store(Job::CountFilters);
}

/// Describes what saving or removing a filter changed, for a notice.
fn words(engine: &Engine, pending: &Pending, changes: &FilterChanges) -> String {
    let count = |wanted: Flag, value: bool| {
        let hit = |(_, flag, now): &&(EntryKey, Flag, bool)| (*flag, *now) == (wanted, value);
        changes.flags.iter().filter(hit).count()
    };
    let shown = count(Flag::Hidden, false);
    let Some(filter) = engine.filters.get(pending.filter) else {
        return match shown {
            0 => "the filter was removed".to_owned(),
            shown => format!(
                "the filter was removed: {} shown again",
                counted_words(shown, "entry", "entries")
            ),
        };
    };
    if let (FilterScope::ByHand, Some(label)) = (&filter.scope, filter.action.label()) {
        let (before, after) = (changes.before.len(), changes.after.len());
        let what = if after < before { "removed from" } else { "set on" };
        let entries = counted_words(before.abs_diff(after), "entry", "entries");
        return format!("#{label} {what} {entries}");
    }
    let done = match filter.action {
        Action::Hide => count(Flag::Hidden, true),
        Action::Read => count(Flag::Read, true),
        Action::Star => count(Flag::Starred, true),
        Action::Label(_) => changes.after.len(),
        Action::Download => {
            let count = counted_words(changes.after.len(), "entry", "entries");
            return format!(
                "filter saved: it matches {count}; files of new ones will be downloaded"
            );
        }
    };
    let done =
        format!("{} {}", counted_words(done, "entry", "entries"), filter.action.done_words());
    let shown = if shown > 0 {
        format!(", {} shown again", counted_words(shown, "entry", "entries"))
    } else {
        String::new()
    };
    format!("filter saved: {done}{shown}")
}

/// Undoes or redoes a change of the filters. Returns the step that does the opposite.
pub fn take_back(
    engine: &mut Engine,
    before: Vec<EntryFilter>,
    changes: Box<FilterChanges>,
    forward: bool,
) -> Step {
    let list = engine.filters.list.clone();
    // Keep the other filters, because a server may have added labels since the change.
    ListChange::of(before, changes.filter).revert(&mut engine.filters.list);
    let inverse =
        Step::Filters { before: list.clone(), changes: changes.clone(), forward: !forward };
    let work = FilterWork::Replay { changes, forward };
    let change = ListChange::new(list, &engine.filters.list);
    apply(engine, Some(change), work, None);
    inverse
}

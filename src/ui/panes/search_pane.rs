//! Searching: a query read and resolved against the subscriptions, and the list that follows it as it is typed.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::entry_list::ListQuery;
use super::entry_list::Listing;
use super::entry_list::RowOrder;
use super::entry_list::RowsWanted;
use super::entry_list::Scope;
use super::entry_list::Show;
use super::entry_list::sight_rows;
use super::feeds_pane::FeedsRow;
use super::gap_rows;
use super::navigation;
use super::navigation::Distance;
use super::saved_searches;
use crate::engine::effect::Effect;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::model::Model;
use crate::history::FeedKey;
use crate::search::{Labels, Marks, Matching, Named, Query, QueryFlaw, parse};
use crate::ui::keys::key::Code;
use crate::ui::keys::key::Key;
use crate::ui::overlays::prompt::Prompt;
use crate::ui::overlays::prompt::PromptPurpose;
use crate::ui::screen::Overlay;
use crate::ui::screen::Pane;
use crate::ui::screen::Reader;

/// A search that is open.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// What was typed.
    pub text: String,
    /// What is looked for; `None`: nothing was typed yet.
    pub matching: Option<Matching>,
    /// Why the text cannot be read, as a sentence; the list is that of the text before.
    pub flaw: Option<String>,
    /// Where the reader was.
    before: Before,
}

/// Where the reader was when a search was opened.
#[derive(Debug, Clone, PartialEq)]
struct Before {
    focus: Pane,
    list: Listing,
    reader: Option<Reader>,
    marks: Marks,
}

/// Reads a query and resolves its names. `typing`: its last word may go on.
pub fn read(
    model: &Model,
    now: DateTime<Utc>,
    text: &str,
    typing: bool,
) -> Result<Matching, QueryFlaw> {
    let query = parse(text, typing, now, model.zone)?;
    let (feeds, labels) = feeds(model, &query)?;
    let seconds = |at: DateTime<Utc>| at.timestamp();
    Ok(Matching {
        feeds,
        after: query.after.map(seconds),
        before: query.before.map(seconds),
        terms: query.terms,
        states: query.states,
        labels,
    })
}

/// The feeds that are searched: one of those named, none of those excluded, and so with tags; and what labels say.
fn feeds(model: &Model, query: &Query) -> Result<(BTreeSet<FeedKey>, Labels), QueryFlaw> {
    let mut feeds: BTreeSet<FeedKey> = model.feeds.keys().copied().collect();
    narrow(model, &mut feeds, &query.feeds, is_called, QueryFlaw::NoFeed)?;
    let labels = labels(model, &query.tags);
    if labels == Labels::default() {
        narrow(model, &mut feeds, &query.tags, is_tagged, QueryFlaw::NoTag)?;
    }
    Ok((feeds, labels))
}

/// What tags say of which one at least is a label that rules give; nothing where all are tags of feeds alone.
fn labels(model: &Model, tags: &[Named]) -> Labels {
    let rules = |name: &str| {
        let fits = |label: &str| label.to_lowercase() == name;
        let rules =
            model.rules.list.iter().filter(move |rule| rule.action.label().is_some_and(fits));
        rules.map(|rule| rule.id).collect::<BTreeSet<u32>>()
    };
    if tags.iter().all(|tag| rules(&tag.name.to_lowercase()).is_empty()) {
        return Labels::default();
    }
    let mut labels = Labels::default();
    for tag in tags {
        let name = tag.name.to_lowercase();
        let tagged = model.feeds.values().filter(|feed| is_tagged(feed, &name));
        let tagged: BTreeSet<FeedKey> = tagged.map(|feed| feed.key).collect();
        if tag.excluded {
            labels.excluded.extend(rules(&name));
            labels.barred.extend(tagged);
        } else {
            let wanted = labels.wanted.get_or_insert_default();
            wanted.0.extend(tagged);
            wanted.1.extend(rules(&name));
        }
    }
    labels
}

/// Keeps the feeds that fit one of the names and none of those excluded; a name that no feed fits is told.
fn narrow(
    model: &Model,
    feeds: &mut BTreeSet<FeedKey>,
    names: &[Named],
    fits: fn(&Subscription, &str) -> bool,
    flaw: fn(String) -> QueryFlaw,
) -> Result<(), QueryFlaw> {
    let mut wanted: Option<BTreeSet<FeedKey>> = None;
    for named in names {
        let name = named.name.to_lowercase();
        let fitting = model.feeds.values().filter(|feed| fits(feed, &name)).map(|feed| feed.key);
        let fitting: BTreeSet<FeedKey> = fitting.collect();
        if fitting.is_empty() && !model.feeds.is_empty() {
            return Err(flaw(named.name.clone()));
        }
        if named.excluded {
            feeds.retain(|feed| !fitting.contains(feed));
        } else {
            wanted.get_or_insert_default().extend(fitting);
        }
    }
    if let Some(wanted) = wanted {
        feeds.retain(|feed| wanted.contains(feed));
    }
    Ok(())
}

/// Whether a feed is meant by a part of its title or address, or by its number.
fn is_called(feed: &Subscription, wanted: &str) -> bool {
    feed.record.shown_title().to_lowercase().contains(wanted)
        || feed.record.url.to_lowercase().contains(wanted)
        || wanted.parse() == Ok(feed.key.0)
}

/// Whether a feed has a tag, or one below it.
fn is_tagged(feed: &Subscription, wanted: &str) -> bool {
    let below = |tag: &str| tag.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'));
    let tags = feed.record.tags.iter().map(|tag| tag.to_lowercase());
    tags.into_iter().any(|tag| tag == wanted || below(&tag))
}

/// Opens the search, or the line of the one that is open.
pub fn open(model: &mut Model) -> Vec<Effect> {
    let screen = &mut model.screen;
    let text = screen.search.as_ref().map(|search| search.text.clone()).unwrap_or_default();
    if screen.search.is_none() {
        let before = Before {
            focus: screen.focus,
            list: screen.list.clone(),
            reader: screen.reader.clone(),
            marks: screen.marks.clone(),
        };
        let text = String::new();
        screen.search = Some(Box::new(Search { text, matching: None, flaw: None, before }));
    }
    screen.focus = Pane::Entries;
    screen.lay_over(Overlay::Prompt(Prompt::filled(PromptPurpose::Search, text)));
    Vec::new()
}

/// A key that means something of its own while a search is typed.
pub fn pressed(model: &mut Model, now: DateTime<Utc>, key: Key) -> Option<Vec<Effect>> {
    match key {
        Key { code: Code::Down, .. } => Some(navigation::go_in_list(model, true, Distance::One)),
        Key { code: Code::Up, .. } => Some(navigation::go_in_list(model, false, Distance::One)),
        Key { code: Code::PageDown, .. } => {
            Some(navigation::go_in_list(model, true, Distance::Page))
        }
        Key { code: Code::PageUp, .. } => {
            Some(navigation::go_in_list(model, false, Distance::Page))
        }
        Key { code: Code::Esc, .. } | Key { code: Code::Char('c'), ctrl: true } => {
            model.screen.uncover();
            Some(leave(model, now))
        }
        Key { code: Code::Char('s'), ctrl: true } => Some(saved_searches::save(model, now)),
        Key { code: Code::Enter, .. } => {
            model.screen.uncover();
            let search = model.screen.search.as_ref();
            let empty = search.is_none_or(|search| search.matching.is_none());
            Some(if empty { leave(model, now) } else { Vec::new() })
        }
        _ => None,
    }
}

/// The line may have changed: the list follows it.
pub fn typed(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(Overlay::Prompt(prompt)) = &model.screen.overlay else { return Vec::new() };
    if prompt.purpose != PromptPurpose::Search {
        return Vec::new();
    }
    let text = prompt.text.clone();
    let known = model.screen.search.as_ref().map(|search| search.text.as_str());
    if known == Some(text.as_str()) {
        return Vec::new();
    }
    let read = read(model, now, &text, true);
    let Some(search) = &mut model.screen.search else { return Vec::new() };
    search.text = text;
    match read {
        Err(flaw) => {
            search.flaw = Some(flaw.to_string());
            Vec::new()
        }
        Ok(_) if search.text.trim().is_empty() => {
            (search.matching, search.flaw) = (None, None);
            let (list, marks) = (search.before.list.clone(), search.before.marks.clone());
            put_back(model, now, list, marks)
        }
        Ok(matching) => {
            let unchanged = search.matching.as_ref() == Some(&matching);
            search.flaw = None;
            if unchanged {
                return Vec::new();
            }
            model.screen.marks = Marks::for_terms(&matching.terms);
            let ranked = !matching.terms.is_empty();
            search_for(model, now, matching, ranked)
        }
    }
}

/// Opens the list of what is looked for. The rows of the list before stay until the new ones come.
fn search_for(
    model: &mut Model,
    now: DateTime<Utc>,
    matching: Matching,
    ranked: bool,
) -> Vec<Effect> {
    let order = if ranked { RowOrder::BestFirst } else { RowOrder::NewestFirst };
    let list = &mut model.screen.list;
    let number = list.number.saturating_add(1);
    let rows = std::mem::take(&mut list.rows);
    let (total, offset) = (list.total, list.offset);
    *list = Listing { number, waiting: true, order, ..Listing::default() };
    if offset == 0 {
        (list.rows, list.total) = (rows, total);
    }
    model.screen.then = None;
    (model.screen.reader, model.screen.opening) = (None, None);
    let query = query(model, &matching, now);
    if let Some(search) = &mut model.screen.search {
        search.matching = Some(matching);
    }
    model.screen.list.gaps.clone_from(&query.gaps);
    let rows = sight_rows(model.screen.viewport.entries_rows.into());
    vec![Effect::LoadRows(RowsWanted { rebuild: Some(query), ..RowsWanted::at(number, 0, rows) })]
}

/// The list of what is looked for.
pub fn query(model: &Model, matching: &Matching, now: DateTime<Utc>) -> ListQuery {
    let list = &model.screen.list;
    let query = ListQuery {
        scope: Scope::Found(Box::new(matching.clone())),
        show: Show::All,
        since: None,
        keep: list.keep.clone(),
        gaps: Vec::new(),
        order: list.order,
    };
    ListQuery { gaps: gap_rows::in_query(model, &query, now), ..query }
}

/// Leaves the search: the reader is where it was opened.
pub fn leave(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(search) = model.screen.search.take() else { return Vec::new() };
    let Before { focus, list, reader, marks } = search.before;
    (model.screen.focus, model.screen.reader, model.screen.opening) = (focus, reader, None);
    put_back(model, now, list, marks)
}

/// Another list is opened: the search is over.
pub fn forget(model: &mut Model) {
    (model.screen.search, model.screen.marks) = (None, saved_searches::marks(model));
}

/// Shows a list again that was left; what changed meanwhile is asked for.
fn put_back(model: &mut Model, now: DateTime<Utc>, list: Listing, marks: Marks) -> Vec<Effect> {
    let number = model.screen.list.number.saturating_add(1);
    model.screen.list = Listing { number, ..list };
    (model.screen.then, model.screen.marks) = (None, marks);
    navigation::refresh_list(model, now)
}

/// The index holds more than before: an open search shows it.
pub fn indexed(model: &mut Model, now: DateTime<Utc>, missing: u32) -> Vec<Effect> {
    model.screen.unindexed = missing;
    if !model.screen.is_on() {
        return Vec::new();
    }
    let mut effects = saved_searches::counting(model, now);
    let searching = model.screen.search.as_ref().map_or_else(
        || matches!(model.screen.feeds.selected_row(), Some(FeedsRow::Search(_))),
        |search| search.matching.is_some(),
    );
    if searching && model.screen.list.waiting {
        model.screen.list.stale = true;
    } else if searching {
        effects.extend(navigation::refresh_list(model, now));
    }
    effects
}

//! `backissue filters`: lists the user's entry filters and how many entries each filter matches, adds and removes them.

use backissue_core::feed::text::{NAME_MAX, counted_words, one_line};
use backissue_core::filters::{
    Action, EntryFilter, FilterFlaw, FilterScope, pattern_query, read_until, until_text,
};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::UNDO_HINT;
use crate::cli::args_changes::{FilterAddArgs, FilterChange, FiltersArgs};
use crate::cli::context::{CommandContext, JsonList};
use crate::cli::session::Failure;
use crate::cli::{Done, json as pieces, lookup};
use crate::engine::entries::entry_filters;
use crate::engine::entries::filter_work::FilterCount;
use crate::engine::request::Request;
use crate::engine::search_query::is_tagged;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::loop_handle::Waited;
use crate::io::store::Store;

/// Runs `backissue filters`.
pub(in crate::cli) fn run(context: &CommandContext, args: &FiltersArgs) -> Result<Done, Failure> {
    match &args.change {
        Some(FilterChange::Add(args)) => return add(context, args),
        Some(FilterChange::Remove(args)) => return remove(context, args.number),
        None => {}
    }
    let now = clock::now();
    let engine = context.engine()?;
    let counts = context.look(Store::count_filter_hits)?;
    let rules = engine.filters.list.iter();
    let counted = rules.map(|rule| (rule, counts.get(&rule.id).copied().unwrap_or_default()));
    if args.json {
        let mut list = JsonList::new(context);
        for (rule, count) in counted {
            list.push(&in_json(&engine, rule, count, now));
        }
        list.end();
        return Ok(Done::All);
    }
    if engine.filters.list.is_empty() {
        context.tell(
            "no filters yet; run 'backissue filters add', or 'mute' on an entry in the reader",
        );
    }
    for (rule, count) in counted {
        let words = describe_filter(&engine, rule, now);
        let (id, hits, hidden) = (rule.id, count.hits, count.hidden);
        context.put(&format!("{id:>5}  {hits:>5} matched {hidden:>5} hidden  {words}"));
    }
    Ok(Done::All)
}

fn in_json(engine: &Engine, rule: &EntryFilter, count: FilterCount, now: DateTime<Utc>) -> Value {
    let (feed, tag) = match &rule.scope {
        FilterScope::Everywhere | FilterScope::ByHand => (None, None),
        FilterScope::Feed(feed) => (Some(*feed), None),
        FilterScope::Tag(tag) => (None, Some(tag)),
    };
    let action = match rule.action {
        Action::Hide => "hide",
        Action::Read => "mark_read",
        Action::Star => "star",
        Action::Label(_) => "label",
        Action::Download => "download",
    };
    json!({
        "number": rule.id,
        "action": action,
        "label": rule.action.label(),
        "feed": feed,
        "tag": tag,
        "by_hand": rule.scope == FilterScope::ByHand,
        "query": rule.query,
        "until": pieces::time(rule.until),
        "over": rule.is_over(now),
        "about": entry_filters::about(engine, rule),
        "hits": count.hits,
        "hidden": count.hidden,
    })
}

/// Adds a filter, waits until it is applied, and prints how many entries it matches.
pub(in crate::cli) fn add(context: &CommandContext, args: &FilterAddArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let (typed, until) = (args.feed.clone(), args.until.clone());
    let (feed, until) = context.inspect(move |engine| {
        let feed = typed.map(|typed| lookup::find_subscription(engine, &typed)).transpose()?;
        let until = read_until(until.as_deref().unwrap_or_default(), now, engine.zone);
        Ok::<_, Failure>((feed, until.map_err(Failure::new)?))
    })??;
    let given = [("title", &args.title), ("author", &args.author), ("text", &args.text)];
    let mut parts = Vec::new();
    for (field, pattern) in given {
        let Some(pattern) = pattern else { continue };
        let part = pattern_query(field, pattern);
        if part.is_empty() {
            return Err(Failure::new(FilterFlaw::NoWord(pattern.trim().to_owned()).to_string()));
        }
        parts.push(part);
    }
    let query = match args.query.as_deref().map(str::trim) {
        Some(query) if parts.is_empty() => query.to_owned(),
        // The query may contain `OR`.
        Some(query) => format!("({query}) {}", parts.join(" ")),
        None => parts.join(" "),
    };
    let filter = EntryFilter {
        id: 0,
        action: chosen_action(args),
        scope: match (feed, &args.tag) {
            (Some(feed), _) => FilterScope::Feed(feed),
            (None, Some(tag)) => FilterScope::Tag(tag.trim().to_owned()),
            (None, None) => FilterScope::Everywhere,
        },
        query,
        until,
    };
    if let Some(tag) = args.tag.clone() {
        let wanted = tag.trim().to_lowercase();
        let is_used =
            move |engine: &Engine| engine.feeds.values().any(|feed| is_tagged(feed, &wanted));
        if !context.inspect(is_used)? {
            context.tell(&format!("no subscription has the tag '{tag}' yet"));
        }
    }
    let made =
        context.ask_and_inspect(Request::SaveFilter(Box::new(filter)), move |engine, _| {
            let made = engine.filters.list.last();
            made.map(|filter| (filter.id, describe_filter(engine, filter, now)))
        })?;
    let Some((id, words)) = made else { return Ok(Done::All) };
    wait_until_applied(context, id)?;
    let counts = context.look(Store::count_filter_hits)?;
    let hits = counts.get(&id).map_or(0, |count| count.hits);
    let hits = counted_words(usize::try_from(hits).unwrap_or(usize::MAX), "entry", "entries");
    context.put(&format!("filter {id}: {words}; matches {hits}{UNDO_HINT}"));
    Ok(Done::All)
}

fn chosen_action(args: &FilterAddArgs) -> Action {
    match &args.label {
        Some(label) => Action::Label(one_line(label, NAME_MAX).trim_start_matches('#').to_owned()),
        None if args.mark_read => Action::Read,
        None if args.star => Action::Star,
        None if args.download => Action::Download,
        None => Action::Hide,
    }
}

/// Removes a filter and waits until its effects are reverted.
pub(in crate::cli) fn remove(context: &CommandContext, id: u32) -> Result<Done, Failure> {
    let now = clock::now();
    let words = context.inspect(move |engine: &Engine| {
        engine.filters.get(id).map(|filter| describe_filter(engine, filter, now))
    })?;
    let Some(words) = words else {
        return Err(Failure::new(format!(
            "there is no filter {id}; 'backissue filters' lists them"
        )));
    };
    context.ask(Request::RemoveFilter(id))?;
    wait_until_applied(context, id)?;
    context.put(&format!("filter {id} was removed: {words}{UNDO_HINT}"));
    Ok(Done::All)
}

/// Waits until a filter change is applied to the entries and durable.
fn wait_until_applied(context: &CommandContext, id: u32) -> Result<(), Failure> {
    let waited = context
        .follow(move |engine, _, _: &mut Vec<()>| !engine.filters.is_pending(id), |()| {})?;
    context.wait_until_kept()?;
    match waited {
        Waited::Done => Ok(()),
        Waited::Cancelled => {
            Err(Failure::new("interrupted; the filters are changed and apply to new entries"))
        }
    }
}

/// Describes a filter: its action, its conditions and its last day, as in `hide: title:sponsored, until 2026-03-01`.
fn describe_filter(engine: &Engine, filter: &EntryFilter, now: DateTime<Utc>) -> String {
    let until = filter.until.map(|until| until_text(until, engine.zone)).map(|last| {
        if filter.is_over(now) { format!(", ended {last}") } else { format!(", until {last}") }
    });
    let (does, about) = (filter.action.words(), entry_filters::about(engine, filter));
    format!("{does}: {about}{}", until.unwrap_or_default())
}

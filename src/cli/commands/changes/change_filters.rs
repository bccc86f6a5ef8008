//! `backissue filters add` and `backissue filters remove`.

use chrono::{DateTime, Utc};

use super::UNDO_HINT;
use crate::cli::args_changes::FilterAddArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, lookup};
use crate::engine::entries::entry_filters;
use crate::engine::request::Request;
use crate::engine::search_query::is_tagged;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::loop_handle::Waited;
use crate::io::store::Store;
use backissue_core::feed::text::counted_words;
use backissue_core::feed::text::{NAME_MAX, one_line};
use backissue_core::filters::{
    Action, EntryFilter, FilterFlaw, FilterScope, pattern_query, read_until, until_text,
};

/// Adds a filter, waits until it is applied, and prints how many entries it matches.
pub(in crate::cli) fn add(desk: &CommandContext, args: &FilterAddArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let (typed, until) = (args.feed.clone(), args.until.clone());
    let (feed, until) = desk.inspect(move |engine| {
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
        if !desk.inspect(is_used)? {
            desk.tell(&format!("no subscription has the tag '{tag}' yet"));
        }
    }
    let made = desk.ask_and_inspect(Request::SaveFilter(Box::new(filter)), move |engine, _| {
        let made = engine.filters.list.last();
        made.map(|filter| (filter.id, describe_filter(engine, filter, now)))
    })?;
    let Some((id, words)) = made else { return Ok(Done::All) };
    wait_until_applied(desk, id)?;
    let counts = desk.look(Store::count_filter_hits)?;
    let hits = counts.get(&id).map_or(0, |count| count.hits);
    let hits = counted_words(usize::try_from(hits).unwrap_or(usize::MAX), "entry", "entries");
    desk.put(&format!("filter {id}: {words}; matches {hits}{UNDO_HINT}"));
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
pub(in crate::cli) fn remove(desk: &CommandContext, id: u32) -> Result<Done, Failure> {
    let now = clock::now();
    let words = desk.inspect(move |engine: &Engine| {
        engine.filters.get(id).map(|filter| describe_filter(engine, filter, now))
    })?;
    let Some(words) = words else {
        return Err(Failure::new(format!(
            "there is no filter {id}; 'backissue filters' lists them"
        )));
    };
    desk.ask(Request::RemoveFilter(id))?;
    wait_until_applied(desk, id)?;
    desk.put(&format!("filter {id} was removed: {words}{UNDO_HINT}"));
    Ok(Done::All)
}

/// Waits until a filter change is applied to the entries and durable.
fn wait_until_applied(desk: &CommandContext, id: u32) -> Result<(), Failure> {
    let waited =
        desk.follow(move |engine, _, _: &mut Vec<()>| !engine.filters.is_pending(id), |()| {})?;
    desk.wait_until_kept()?;
    match waited {
        Waited::Done => Ok(()),
        Waited::Cancelled => {
            Err(Failure::new("interrupted; the filters are changed and apply to new entries"))
        }
    }
}

/// Describes a filter: its action, its conditions and its last day, as in `hide: title:sponsored, until 2026-03-01`.
pub(in crate::cli) fn describe_filter(
    engine: &Engine,
    filter: &EntryFilter,
    now: DateTime<Utc>,
) -> String {
    let until = filter.until.map(|until| until_text(until, engine.zone)).map(|last| {
        if filter.is_over(now) { format!(", ended {last}") } else { format!(", until {last}") }
    });
    let (does, about) = (filter.action.words(), entry_filters::about(engine, filter));
    format!("{does}: {about}{}", until.unwrap_or_default())
}

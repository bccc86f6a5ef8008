//! `backissue filters`: lists the user's entry filters and how many entries each filter matches.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::cli::args_changes::{FilterChange, FiltersArgs};
use crate::cli::commands::changes::change_filters::{self, describe_filter};
use crate::cli::context::CommandContext;
use crate::cli::json_list::JsonList;
use crate::cli::session::Failure;
use crate::cli::{Done, json as pieces};
use crate::engine::entries::entry_filters;
use crate::engine::entries::filter_work::FilterCount;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::store::Store;
use backissue_core::filters::{Action, EntryFilter, FilterScope};

/// Runs `backissue filters`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &FiltersArgs) -> Result<Done, Failure> {
    match &args.change {
        Some(FilterChange::Add(args)) => return change_filters::add(desk, args),
        Some(FilterChange::Remove(args)) => return change_filters::remove(desk, args.number),
        None => {}
    }
    let now = clock::now();
    let engine = desk.engine()?;
    let counts = desk.look(Store::count_filter_hits)?;
    let rules = engine.filters.list.iter();
    let counted = rules.map(|rule| (rule, counts.get(&rule.id).copied().unwrap_or_default()));
    if args.json {
        let mut list = JsonList::new(desk);
        for (rule, count) in counted {
            list.push(&in_json(&engine, rule, count, now));
        }
        list.end();
        return Ok(Done::All);
    }
    if engine.filters.list.is_empty() {
        desk.tell(
            "no filters yet; run 'backissue filters add', or 'mute' on an entry in the reader",
        );
    }
    for (rule, count) in counted {
        let words = describe_filter(&engine, rule, now);
        let (id, hits, hidden) = (rule.id, count.hits, count.hidden);
        desk.put(&format!("{id:>5}  {hits:>5} matched {hidden:>5} hidden  {words}"));
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

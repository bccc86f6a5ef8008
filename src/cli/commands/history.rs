//! `backissue history`: shows a feed's archives and gaps, and fetches more of the history on request.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::cli::args::HistoryArgs;
use crate::cli::context::{CommandContext, sentences};
use crate::cli::session::Failure;
use crate::cli::{Done, json, lookup};
use crate::engine::backfill::gap_rows;
use crate::engine::backfill::history_actions::HistoryAction;
use crate::engine::backfill::walk_policy::policy;
use crate::engine::commands_under_way::is_under_way;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::request::Request;
use crate::engine::state::Engine;
use crate::io::clock;
use crate::io::loop_handle::Waited;
use backissue_core::feed::text::counted_words;
use backissue_core::history::{
    ArchiveNode, FeedKey, Gap, GapKind, HistoryStatus, NodeState, Nodes,
};

/// Runs `backissue history`.
pub(in crate::cli) fn run(desk: &CommandContext, args: &HistoryArgs) -> Result<Done, Failure> {
    let actions = [
        (args.go_on, HistoryAction::Continue),
        (args.retry, HistoryAction::Retry),
        (args.reread, HistoryAction::Reread),
    ];
    let actions: Vec<HistoryAction> =
        actions.into_iter().filter_map(|(wanted, action)| wanted.then_some(action)).collect();
    let asked = !actions.is_empty();
    let feed = lookup::find_subscription(&desk.engine()?, &args.feed)?;
    let said = if asked { ask_and_wait(desk, feed, &actions)? } else { None };
    let now = clock::now();
    let engine = desk.engine()?;
    let Some(subscription) = engine.feeds.get(&feed) else { return Ok(Done::All) };
    let (nodes, damaged) = desk.look(move |store| store.readable_nodes(feed))?;
    let gaps: Vec<Gap> =
        gap_rows::of_feed(&engine, subscription, now).into_iter().map(|(_, gap)| gap).collect();
    if args.json {
        desk.put(&json::text(&whole_json(&engine, subscription, &nodes, now)));
    } else {
        print_history(desk, &engine, subscription, &nodes, &gaps, now);
        if let Some(said) = said {
            desk.put(&said);
        }
    }
    let failing = |gap: &Gap| matches!(gap.kind(), GapKind::Unavailable | GapKind::Unreadable);
    let done = if asked && gaps.iter().any(failing) { Done::WithFailures } else { Done::All };
    Ok(done.and(desk.tell_left_out(damaged, "archive", "archives")))
}

/// Requests the actions on the history, waits until they are done, and returns the last message about them.
fn ask_and_wait(
    desk: &CommandContext,
    feed: FeedKey,
    actions: &[HistoryAction],
) -> Result<Option<String>, Failure> {
    if desk.options.offline {
        return Err(Failure::new("archives cannot be fetched with --offline"));
    }
    let feeds = BTreeSet::from([feed]);
    let asked = feeds.clone();
    let was_busy = desk.inspect(move |engine| is_under_way(engine, &asked))?;
    let mut said = None;
    for action in actions {
        let told = desk.ask(Request::History(feed, *action))?;
        said = sentences(&told).pop().or(said);
    }
    let waited = desk.follow(
        move |engine, events, notes| {
            notes.extend(sentences(events));
            !is_under_way(engine, &feeds)
        },
        |sentence| said = Some(sentence),
    )?;
    match waited {
        Waited::Done => Ok(said),
        Waited::Cancelled => {
            if !was_busy {
                desk.ask(Request::StopPolls(vec![feed]))?;
            }
            Err(Failure::new("interrupted; what was fetched is saved"))
        }
    }
}

fn print_history(
    desk: &CommandContext,
    engine: &Engine,
    feed: &Subscription,
    nodes: &Nodes,
    gaps: &[Gap],
    now: DateTime<Utc>,
) {
    desk.put(&format!("{} '{}' {}", feed.key, feed.record.shown_title(), feed.record.url));
    desk.put(&format!("  {}", describe_standing(engine, feed)));
    for (_, node) in list_archives(nodes) {
        let span = node.span.map_or_else(String::new, |(newest, oldest)| {
            format!("  {} to {}", oldest.format("%Y-%m-%d"), newest.format("%Y-%m-%d"))
        });
        // The singular is padded to the same width, to align the addresses in one column.
        let entries = counted_words(node.entries, "entry  ", "entries");
        desk.put(&format!("  {entries:>13}{span}  {}", node.url));
    }
    for gap in gaps {
        let said = backissue_core::history::GapLines::new(gap, now, engine.zone);
        desk.put(&format!("  ┄┄┄ {} · {}", gap.text(), said.next));
    }
}

/// Describes the state of the history and how far back it goes.
pub(in crate::cli) fn describe_standing(engine: &Engine, feed: &Subscription) -> String {
    let state = gap_rows::standing(engine, feed).unwrap_or_else(|| "not read yet".to_owned());
    // The text for a partial history already contains the number of archives read, so it is not repeated.
    let is_partial = matches!(feed.history.status(), HistoryStatus::Partial { .. });
    match (describe_reach(feed), feed.history.reaches) {
        (Some(_), Some(at)) if is_partial => format!("{state}, back to {}", at.format("%Y")),
        (Some(_), None) if is_partial => state,
        (Some(reach), _) => format!("{state}: {reach}"),
        (None, _) => state,
    }
}

/// Describes the extent of the history, as in `14 archives back to 2009`.
fn describe_reach(feed: &Subscription) -> Option<String> {
    let record = &feed.history;
    let many = if record.archives == 1 { "archive" } else { "archives" };
    let back = record.reaches.map(|at| format!(" back to {}", at.format("%Y")));
    (record.archives > 0).then(|| format!("{} {many}{}", record.archives, back.unwrap_or_default()))
}

/// Returns the addresses of the archives, newest first. An archive with several addresses is listed once.
fn list_archives(nodes: &Nodes) -> Vec<(&str, &ArchiveNode)> {
    let is_one =
        |node: &ArchiveNode| !matches!(node.state, NodeState::AliasOf(_) | NodeState::Empty);
    let mut archives: Vec<(&str, &ArchiveNode)> =
        nodes.iter().filter(|(_, node)| is_one(node)).collect();
    archives.sort_by_key(|(_, node)| (std::cmp::Reverse(node.epoch), node.depth));
    archives
}

fn whole_json(engine: &Engine, feed: &Subscription, nodes: &Nodes, now: DateTime<Utc>) -> Value {
    let gaps = feed.history.gaps.values().map(|gap| json::gap(feed, gap));
    let paused = gap_rows::of_feed(engine, feed, now).into_iter().map(|(_, gap)| gap);
    let paused = paused.filter(|gap| gap.kind() == GapKind::Interrupted);
    let gaps: Vec<Value> = gaps.chain(paused.map(|gap| json::gap(feed, &gap))).collect();
    let archive = |(key, node): (&str, &ArchiveNode)| {
        json!({
            "url": node.url,
            "key": key,
            "state": if node.state == NodeState::Superseded { "superseded" } else { "applied" },
            "previous": node.prev,
            "entries": node.entries,
            "newest": json::time(node.span.map(|span| span.0)),
            "oldest": json::time(node.span.map(|span| span.1)),
            "fetched_at": json::time(Some(node.fetched_at)),
        })
    };
    let run = &feed.history.run;
    json!({
        "number": feed.key,
        "url": feed.record.url,
        "title": feed.record.shown_title(),
        "history": json::history(engine, feed, now),
        "mode": policy(engine, feed.key).mode.word(),
        "archives": list_archives(nodes).into_iter().map(archive).collect::<Vec<_>>(),
        "gaps": gaps,
        "last_run": {
            "requests": run.documents,
            "fetched": run.fetched,
            "entries": run.entries,
            "new": run.new,
        },
    })
}

//! `backissue history`: what is known of a feed's archives, what is missing, and more of it on request.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::cli::Done;
use crate::cli::args::HistoryArgs;
use crate::cli::args::Options;
use crate::cli::json;
use crate::cli::lookup;
use crate::cli::session;
use crate::cli::session::Failure;
use crate::cli::session::at_rest;
use crate::cli::session::block_on;
use crate::engine::backfill::archive_response::policy;
use crate::engine::backfill::history_actions::HistoryWish;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::model::Model;
use crate::engine::msg::Msg;
use crate::history::{ArchiveNode, Gap, GapKind, NodeState, Nodes};
use crate::io::{clock, console};
use crate::ui::panes::gap_rows;

/// Runs the command.
pub(in crate::cli) fn run(options: &Options, args: &HistoryArgs) -> Result<Done, Failure> {
    let wishes = [
        (args.go_on, HistoryWish::Continue),
        (args.retry, HistoryWish::Retry),
        (args.reread, HistoryWish::Reread),
    ];
    let wishes: Vec<HistoryWish> =
        wishes.into_iter().filter_map(|(wanted, wish)| wanted.then_some(wish)).collect();
    let asked = !wishes.is_empty();
    let said = if asked { granted(options, args, &wishes)? } else { None };
    let now = clock::now();
    let (store, model) = session::looked_at(options, now)?;
    let feed = lookup::subscription(&model, &args.feed)?;
    let Some(subscription) = model.feeds.get(&feed) else { return Ok(Done::All) };
    let nodes = store.nodes(feed)?;
    let gaps: Vec<Gap> =
        gap_rows::of_feed(&model, subscription, now).into_iter().map(|(_, gap)| gap).collect();
    if args.json {
        console::put(&json::text(&whole(&model, subscription, &nodes, now)));
    } else {
        told(&model, subscription, &nodes, &gaps, now);
        if let Some(said) = said {
            console::put(&said);
        }
    }
    let failing = |gap: &Gap| matches!(gap.kind(), GapKind::Unavailable | GapKind::Unreadable);
    Ok(if asked && gaps.iter().any(failing) { Done::WithFailures } else { Done::All })
}

/// Asks for what is wished, and answers with what was said of it in the end.
fn granted(
    options: &Options,
    args: &HistoryArgs,
    wishes: &[HistoryWish],
) -> Result<Option<String>, Failure> {
    if options.offline {
        return Err(Failure::new("archives cannot be asked for with --offline"));
    }
    block_on(async {
        let mut runtime = session::quiet(options)?;
        let feed = lookup::subscription(&runtime.model, &args.feed)?;
        for wish in wishes {
            runtime.tell(Msg::WantHistory(feed, *wish));
        }
        let finished = runtime.until(at_rest).await;
        let said = runtime.model.screen.notice.take().map(|notice| notice.text);
        runtime.stop()?;
        if finished {
            Ok(said)
        } else {
            Err(Failure::new("interrupted; what had been fetched is saved"))
        }
    })
}

fn told(model: &Model, feed: &Subscription, nodes: &Nodes, gaps: &[Gap], now: DateTime<Utc>) {
    console::put(&format!("{} '{}' {}", feed.key, feed.record.shown_title(), feed.record.url));
    console::put(&format!("  {}", standing(model, feed)));
    for (_, node) in archives(nodes) {
        let span = node.span.map_or_else(String::new, |(newest, oldest)| {
            format!("  {} to {}", oldest.format("%Y-%m-%d"), newest.format("%Y-%m-%d"))
        });
        console::put(&format!("  {:>5} entries{span}  {}", node.entries, node.url));
    }
    for gap in gaps {
        let said = crate::history::GapLines::new(gap, now, model.zone);
        console::put(&format!("  ┄┄┄ {} · {}", gap.text(), said.next));
    }
}

/// The state of the history, and how far back it goes.
pub(in crate::cli) fn standing(model: &Model, feed: &Subscription) -> String {
    let state = gap_rows::standing(model, feed).unwrap_or_else(|| "not polled yet".to_owned());
    match reach(feed) {
        Some(reach) => format!("{state}: {reach}"),
        None => state,
    }
}

/// `14 archives back to 2009`.
fn reach(feed: &Subscription) -> Option<String> {
    let record = &feed.history;
    let many = if record.archives == 1 { "archive" } else { "archives" };
    let back = record.reaches.map(|at| format!(" back to {}", at.format("%Y")));
    (record.archives > 0).then(|| format!("{} {many}{}", record.archives, back.unwrap_or_default()))
}

/// The archives, newest first, without their other names.
fn archives(nodes: &Nodes) -> Vec<(&str, &ArchiveNode)> {
    let is_one =
        |node: &ArchiveNode| !matches!(node.state, NodeState::AliasOf(_) | NodeState::Empty);
    let mut archives: Vec<(&str, &ArchiveNode)> =
        nodes.iter().filter(|(_, node)| is_one(node)).collect();
    archives.sort_by_key(|(_, node)| (std::cmp::Reverse(node.epoch), node.depth));
    archives
}

fn whole(model: &Model, feed: &Subscription, nodes: &Nodes, now: DateTime<Utc>) -> Value {
    let gaps = feed.history.gaps.values().map(|gap| json::gap(feed, gap));
    let paused = gap_rows::of_feed(model, feed, now).into_iter().map(|(_, gap)| gap);
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
        "history": json::history(model, feed, now),
        "mode": policy(model, feed.key).mode.word(),
        "archives": archives(nodes).into_iter().map(archive).collect::<Vec<_>>(),
        "gaps": gaps,
        "last_run": {
            "requests": run.documents,
            "fetched": run.fetched,
            "entries": run.entries,
            "new": run.new,
        },
    })
}

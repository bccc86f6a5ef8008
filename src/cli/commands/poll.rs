//! `backissue poll`: polls feeds now and says what came of each.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::cli::args::{Options, PollArgs};
use crate::cli::session::{self, Failure, block_on};
use crate::cli::{Done, json, lookup, upkeep};
use crate::engine::poll::manual_poll::{PollKind, PollRequest};
use crate::engine::poll::poll_results::{PollOutcome, PollResult};
use crate::engine::request::Request;
use crate::engine::state::Engine;
use crate::history::FeedKey;
use crate::io::console;

/// Runs the command.
pub(in crate::cli) fn run(options: &Options, args: &PollArgs) -> Result<Done, Failure> {
    let store = session::open_store(options)?;
    let (done, settings, store) = block_on(async {
        let mut runtime = session::quiet_on(options, store)?;
        let feeds = find_wanted(&runtime.program.engine, &args.feeds)?;
        let kind = match (args.force, args.all || feeds.is_some()) {
            (true, _) => PollKind::Forced,
            (false, true) => PollKind::Allowed,
            (false, false) => PollKind::Due,
        };
        runtime.ask(Request::Poll(PollRequest { feeds, kind, archives: !args.no_history }));
        let bar = new_bar(args, runtime.program.engine.poll_run.asked());
        let mut told = 0_usize;
        let finished = runtime
            .until(|program| {
                let engine = &program.engine;
                let news = engine.poll_run.results.iter().skip(told);
                told = engine.poll_run.results.len();
                if !args.json {
                    news.filter_map(|result| {
                        told_of(engine, result, options.verbose || !args.feeds.is_empty())
                    })
                    .for_each(|line| bar.suspend(|| console::put(&line)));
                }
                bar.set_position(u64::from(engine.poll_run.done()));
                engine.is_at_rest()
            })
            .await;
        bar.finish_and_clear();
        let done = report_polls(&runtime.program.engine, args);
        let settings = runtime.program.engine.settings.clone();
        let store = runtime.stop()?;
        if finished {
            Ok((done, settings, store))
        } else {
            Err(Failure::new("interrupted; what had been polled is saved"))
        }
    })?;
    upkeep::at_the_end(store, &settings)?;
    Ok(done)
}

fn find_wanted(engine: &Engine, typed: &[String]) -> Result<Option<Vec<FeedKey>>, Failure> {
    if typed.is_empty() {
        return Ok(None);
    }
    let feeds = typed.iter().map(|typed| lookup::find_subscription(engine, typed));
    feeds.collect::<Result<_, _>>().map(Some)
}

fn new_bar(args: &PollArgs, polls: u32) -> ProgressBar {
    if args.json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("polling {pos} of {len} {wide_bar} {eta}");
    ProgressBar::new(u64::from(polls))
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// What came of one poll, as soon as it is durable: what is new and what failed, and with `-v` the rest too.
fn told_of(engine: &Engine, result: &PollResult, verbose: bool) -> Option<String> {
    let telling = result.new > 0
        || result.edited > 0
        || result.moved
        || result.outcome == PollOutcome::Failed;
    let feed = engine.feeds.get(&result.feed).map(|feed| &feed.record);
    let title = feed.map_or("", |record| record.shown_title());
    let moved = feed.filter(|_| result.moved);
    let moved = moved.map(|record| format!("; read from {} from now on", record.url));
    let what = match (&result.reason, result.outcome) {
        (Some(reason), _) => reason.clone(),
        (None, PollOutcome::NotModified) => "not modified".into(),
        (None, PollOutcome::Read | PollOutcome::Failed | PollOutcome::Skipped) => {
            format!("{} new, {} edited", result.new, result.edited)
        }
    };
    let moved = moved.unwrap_or_default();
    (telling || verbose).then(|| format!("{:>5}  {title}: {what}{moved}", result.feed.to_string()))
}

/// Says what came of all polls.
fn report_polls(engine: &Engine, args: &PollArgs) -> Done {
    let results = &engine.poll_run.results;
    let count =
        |wanted: PollOutcome| results.iter().filter(|result| result.outcome == wanted).count();
    let failed = count(PollOutcome::Failed);
    let sum = |of: fn(&PollResult) -> u32| {
        results.iter().map(|result| u64::from(of(result))).sum::<u64>()
    };
    if args.json {
        let feeds: Vec<Value> = results.iter().map(|result| result_json(engine, result)).collect();
        console::put(&json::text(&json!({
            "polled": results.len().saturating_sub(count(PollOutcome::Skipped)),
            "read": count(PollOutcome::Read),
            "not_modified": count(PollOutcome::NotModified),
            "failed": failed,
            "skipped": count(PollOutcome::Skipped),
            "new": sum(|result| result.new),
            "edited": sum(|result| result.edited),
            "archives": engine.poll_run.archives,
            "from_archives": engine.poll_run.recovered,
            "feeds": feeds,
        })));
    } else {
        console::put(&format!(
            "{} read, {} not modified, {failed} failed, {} not polled; {} new entries, {} edited",
            count(PollOutcome::Read),
            count(PollOutcome::NotModified),
            count(PollOutcome::Skipped),
            sum(|result| result.new),
            sum(|result| result.edited)
        ));
        if engine.poll_run.archives > 0 {
            console::put(&format!(
                "{} archives fetched, {} older entries",
                engine.poll_run.archives, engine.poll_run.recovered
            ));
        }
    }
    if failed > 0 { Done::WithFailures } else { Done::All }
}

fn result_json(engine: &Engine, result: &PollResult) -> Value {
    let feed = engine.feeds.get(&result.feed);
    let outcome = match result.outcome {
        PollOutcome::Read => "read",
        PollOutcome::NotModified => "not_modified",
        PollOutcome::Failed => "failed",
        PollOutcome::Skipped => "skipped",
    };
    json!({
        "number": result.feed,
        "url": feed.map(|feed| feed.record.url.as_str()),
        "title": feed.map(|feed| feed.record.shown_title()),
        "outcome": outcome,
        "status": result.status,
        "conditional": result.conditional,
        "wire_bytes": result.wire_bytes,
        "new": result.new,
        "edited": result.edited,
        "reason": result.reason,
        "next_poll": json::time(feed.and_then(|feed| feed.plan.next_poll)),
        "settled_by": feed.map(|feed| feed.plan.settled_by.word()),
    })
}

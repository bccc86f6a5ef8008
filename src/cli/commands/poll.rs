//! `backissue poll`: polls feeds now and says what came of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::channel;

use serde_json::{Value, json};

use crate::cli::args::PollArgs;
use crate::cli::desk::Desk;
use crate::cli::session::Failure;
use crate::cli::{Done, json, lookup};
use crate::engine::commands_under_way::is_under_way;
use crate::engine::event::Event;
use crate::engine::poll::manual_poll::{PollKind, PollRequest};
use crate::engine::poll::poll_results::{PollOutcome, PollResult};
use crate::engine::request::Request;
use crate::engine::state::Engine;
use crate::history::FeedKey;
use crate::io::visits::Waited;

/// Runs the command.
pub(in crate::cli) fn run(desk: &Desk, args: &PollArgs) -> Result<Done, Failure> {
    let feeds = find_wanted(&desk.engine()?, &args.feeds)?;
    let kind = match (args.force, args.all || feeds.is_some()) {
        (true, _) => PollKind::Forced,
        (false, true) => PollKind::Allowed,
        (false, false) => PollKind::Due,
    };
    let loud = desk.options.verbose || !args.feeds.is_empty();
    let (begun, mut noted) =
        ask_for(desk, PollRequest { feeds, kind, archives: !args.no_history })?;
    let (watched, mut polled) = (begun.clone(), Polled::default());
    let mut outcomes = Outcomes::default();
    let waited = desk.follow(
        move |engine, events, notes| {
            let run = &engine.poll_run;
            let fresh = run.since(noted).filter(|result| watched.contains(&result.feed));
            let goes_on = is_under_way(engine, &watched);
            let fresh = outcomes.take(engine, fresh, goes_on);
            notes.extend(fresh.into_iter().map(|result| {
                let line = told_of(engine, &result, loud);
                Note::Result(Box::new(result), line)
            }));
            noted = run.noted;
            notes.extend(events.iter().filter_map(|event| archives_of(event, &watched)));
            !goes_on
        },
        |note| match note {
            Note::Result(result, line) => {
                if let Some(line) = line.filter(|_| !args.json) {
                    desk.put(&line);
                }
                polled.results.push(*result);
                desk.show_progress("polling", count(polled.results.len()), count(begun.len()));
            }
            Note::Archives { fetched, new } => {
                polled.archives = polled.archives.saturating_add(fetched);
                polled.recovered = polled.recovered.saturating_add(new);
            }
        },
    )?;
    desk.end_progress();
    if waited == Waited::Cancelled {
        desk.ask(Request::StopPolls(begun.into_iter().collect()))?;
    }
    desk.wait_until_durable()?;
    let done = report_polls(desk, &desk.engine()?, &polled, args);
    match waited {
        Waited::Done => Ok(done),
        Waited::Cancelled => Err(Failure::new("interrupted; what had been polled is saved")),
    }
}

/// What is noted while feeds are polled.
enum Note {
    /// What came of a poll, and the line that tells it.
    Result(Box<PollResult>, Option<String>),
    /// Archives that were fetched, and entries never seen before that they brought.
    Archives { fetched: u32, new: u32 },
}

/// One result for each feed, although others may poll the same feeds at the same time.
#[derive(Default)]
struct Outcomes {
    told: BTreeSet<FeedKey>,
    /// Feeds that somebody else was just polling: what comes of that is their result.
    held: BTreeMap<FeedKey, PollResult>,
}

impl Outcomes {
    /// The results among these that are to be told; with the end come those that were held back.
    fn take<'a>(
        &mut self,
        engine: &Engine,
        fresh: impl Iterator<Item = &'a PollResult>,
        goes_on: bool,
    ) -> Vec<PollResult> {
        let mut taken = Vec::new();
        for result in fresh {
            let feed = result.feed;
            if result.outcome == PollOutcome::Skipped && engine.polls.contains_key(&feed) {
                self.held.entry(feed).or_insert_with(|| result.clone());
            } else if self.told.insert(feed) {
                taken.push(result.clone());
            }
        }
        if !goes_on {
            let held = std::mem::take(&mut self.held).into_values();
            taken.extend(held.filter(|result| self.told.insert(result.feed)));
        }
        taken
    }
}

/// What came of all polls.
#[derive(Default)]
struct Polled {
    results: Vec<PollResult>,
    archives: u32,
    recovered: u32,
}

/// Asks for polls. Answers with the feeds whose results are to be told, and with how many results were noted before.
fn ask_for(desk: &Desk, request: PollRequest) -> Result<(BTreeSet<FeedKey>, u64), Failure> {
    let named = request.feeds.clone();
    let (sender, noted) = channel();
    let ask = move |engine: &Engine| {
        // What comes of the polls of others until this moment is not told.
        sender.send(engine.poll_run.noted).ok();
        Request::Poll(request)
    };
    let feeds = desk.ask_about(ask, move |engine, _| {
        let all = || engine.feeds.keys().copied().collect();
        named.map_or_else(all, BTreeSet::from_iter)
    })?;
    Ok((feeds, noted.recv().unwrap_or_default()))
}

/// What an event tells of the archives of these feeds.
fn archives_of(_event: &Event, _feeds: &BTreeSet<FeedKey>) -> Option<Note> {
    None
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn find_wanted(engine: &Engine, typed: &[String]) -> Result<Option<Vec<FeedKey>>, Failure> {
    if typed.is_empty() {
        return Ok(None);
    }
    let feeds = typed.iter().map(|typed| lookup::find_subscription(engine, typed));
    feeds.collect::<Result<_, _>>().map(Some)
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
fn report_polls(desk: &Desk, engine: &Engine, polled: &Polled, args: &PollArgs) -> Done {
    let results = &polled.results;
    let count =
        |wanted: PollOutcome| results.iter().filter(|result| result.outcome == wanted).count();
    let failed = count(PollOutcome::Failed);
    let sum = |of: fn(&PollResult) -> u32| {
        results.iter().map(|result| u64::from(of(result))).sum::<u64>()
    };
    if args.json {
        let feeds: Vec<Value> = results.iter().map(|result| result_json(engine, result)).collect();
        desk.put(&json::text(&json!({
            "polled": results.len().saturating_sub(count(PollOutcome::Skipped)),
            "read": count(PollOutcome::Read),
            "not_modified": count(PollOutcome::NotModified),
            "failed": failed,
            "skipped": count(PollOutcome::Skipped),
            "new": sum(|result| result.new),
            "edited": sum(|result| result.edited),
            "archives": polled.archives,
            "from_archives": polled.recovered,
            "feeds": feeds,
        })));
    } else {
        desk.put(&format!(
            "{} read, {} not modified, {failed} failed, {} not polled; {} new entries, {} edited",
            count(PollOutcome::Read),
            count(PollOutcome::NotModified),
            count(PollOutcome::Skipped),
            sum(|result| result.new),
            sum(|result| result.edited)
        ));
        if polled.archives > 0 {
            desk.put(&format!(
                "{} archives fetched, {} older entries",
                polled.archives, polled.recovered
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

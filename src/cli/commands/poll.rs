//! `backissue poll`: polls feeds now and prints the result of each poll. Other clients may poll the same feeds at the same time;
//! only the results that belong to this request are printed.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;
use backissue_core::schedule::SettledBy;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::ahead::{self, Ahead};
use super::entries::resolve;
use crate::cli::args::PollArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, json, lookup};
use crate::engine::politeness::rate_limits;
use crate::engine::poll::poll_log::{PollOutcome, PollResult};
use crate::engine::poll::poll_request::{PollKind, PollRequest};
use crate::engine::request::{Event, Request};
use crate::engine::settings::{FailingFeeds, ONLY_BY_HAND};
use crate::engine::state::{Engine, is_polling};
use crate::io::clock;
use crate::io::loop_handle::Waited;

/// Runs `backissue poll`.
pub(in crate::cli) fn run(context: &CommandContext, args: &PollArgs) -> Result<Done, Failure> {
    let engine = context.engine()?;
    let feeds = find_wanted(&engine, &args.feeds)?;
    // Reject an invalid query before anything is polled.
    args.ahead.as_deref().map(|query| resolve(&engine, query)).transpose()?;
    let kind = match (args.force, args.all || feeds.is_some()) {
        (true, _) => PollKind::Forced,
        (false, true) => PollKind::Allowed,
        (false, false) => PollKind::Due,
    };
    let loud = context.options.verbose || !args.feeds.is_empty();
    let request = PollRequest { feeds, kind, archives: !args.no_history };
    let Asked { begun, joined, results, mut noted } = ask_for(context, request, loud)?;
    let mut polled = Polled::default();
    for (result, line) in results {
        polled.note(context, args, result, line);
    }
    let watched: BTreeSet<FeedKey> = begun.iter().chain(joined.keys()).copied().collect();
    let all = count(watched.len());
    let mut outcomes = Outcomes::new(&begun, joined);
    let waited = context.follow(
        move |engine, events, notes| {
            let run = &engine.poll_run;
            let fresh = run.since(noted).filter(|result| watched.contains(&result.feed));
            let fresh = outcomes.take(engine, fresh);
            notes.extend(fresh.into_iter().map(|result| {
                let line = describe_result(engine, &result, loud);
                PollNote::Result(Box::new(result), line)
            }));
            noted = run.noted;
            notes.extend(events.iter().filter_map(|event| archives_of(event, &watched)));
            outcomes.are_complete()
        },
        |note| match note {
            PollNote::Result(result, line) => {
                polled.note(context, args, *result, line);
                if !args.quiet {
                    context.show_progress("polling", count(polled.results.len()).min(all), all);
                }
            }
            PollNote::Archives { fetched, new } => {
                polled.archives = polled.archives.saturating_add(fetched);
                polled.recovered = polled.recovered.saturating_add(new);
            }
        },
    )?;
    context.end_progress();
    if waited == Waited::Cancelled {
        context.ask(Request::StopPolls(begun.into_iter().collect()))?;
    }
    // With --all, plans are learned later: by the next poll of due feeds, by the reader, or by watch.
    if waited == Waited::Done && kind == PollKind::Due {
        context.follow(|engine, _, _: &mut Vec<()>| engine.learning.is_at_rest(), |()| {})?;
    }
    context.wait_until_durable()?;
    let ahead = args.ahead.as_deref().filter(|_| waited == Waited::Done);
    let ahead = ahead.map(|query| ahead::fetch(context, query)).transpose()?;
    let done = report_polls(context, &context.engine()?, &polled, args, ahead.as_ref());
    match waited {
        Waited::Done => Ok(done),
        Waited::Cancelled => Err(Failure::new("interrupted; the results so far are saved")),
    }
}

/// Notes that the main loop sends while feeds are polled.
enum PollNote {
    /// The result of a poll, and the line that describes it.
    Result(Box<PollResult>, Option<String>),
    /// The number of archives fetched, and of new entries found in them.
    Archives { fetched: u32, new: u32 },
}

/// The combined results of all polls.
#[derive(Default)]
struct Polled {
    results: Vec<PollResult>,
    archives: u32,
    recovered: u32,
}

impl Polled {
    /// Records the result of a poll, and prints the line that describes it, if there is one.
    fn note(
        &mut self,
        context: &CommandContext,
        args: &PollArgs,
        result: PollResult,
        line: Option<String>,
    ) {
        if let Some(line) = line.filter(|_| !args.json && !args.quiet) {
            context.put(&line);
        }
        self.results.push(result);
    }
}

/// The immediate outcome of a poll request.
struct Asked {
    /// Feeds whose poll this request started. Scheduled polls of other feeds may run meanwhile.
    begun: BTreeSet<FeedKey>,
    /// Feeds that were already being polled, with the result that reports the refusal of this request.
    joined: BTreeMap<FeedKey, PollResult>,
    /// Results known at once, for feeds that are not polled, with the lines that describe them.
    results: Vec<(PollResult, Option<String>)>,
    /// Number of results recorded when the polls were requested.
    noted: u64,
}

/// Requests polls and returns which of them started. `loud` means that each result gets a line of output.
fn ask_for(context: &CommandContext, request: PollRequest, loud: bool) -> Result<Asked, Failure> {
    let before = |engine: &Engine| -> (BTreeSet<FeedKey>, u64) {
        (engine.polls.keys().copied().collect(), engine.poll_run.noted)
    };
    context.ask_about(
        move |engine| (Request::Poll(request), before(engine)),
        move |engine, _, (polled, noted)| {
            let run = &engine.poll_run;
            let (joined, known): (Vec<PollResult>, _) =
                run.since(noted).cloned().partition(|result| polled.contains(&result.feed));
            let told = |result: PollResult| {
                let line = describe_result(engine, &result, loud);
                (result, line)
            };
            Asked {
                begun: engine.polls.keys().filter(|feed| !polled.contains(feed)).copied().collect(),
                joined: joined.into_iter().map(|result| (result.feed, result)).collect(),
                results: known.into_iter().map(told).collect(),
                noted: run.noted,
            }
        },
    )
}

/// Returns a note for an event about the archives of these feeds.
fn archives_of(event: &Event, feeds: &BTreeSet<FeedKey>) -> Option<PollNote> {
    if let Event::WalkEnded { feed, archives, new } = event
        && feeds.contains(feed)
    {
        Some(PollNote::Archives { fetched: *archives, new: *new })
    } else {
        None
    }
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

/// Describes the result of one poll once it is saved. Returns `None` for a poll that changed nothing and did not fail, unless
/// `verbose` is set.
pub(in crate::cli) fn describe_result(
    engine: &Engine,
    result: &PollResult,
    verbose: bool,
) -> Option<String> {
    let telling = result.new > 0
        || result.edited > 0
        || result.withdrawn > 0
        || result.moved
        || result.outcome == PollOutcome::Failed;
    let feed = engine.feeds.get(&result.feed).map(|feed| &feed.record);
    let title = feed.map_or("", |record| record.shown_title());
    let moved = feed.filter(|_| result.moved);
    let moved = moved.map(|record| format!("; now read from {}", record.url));
    let what = match (&result.reason, result.outcome) {
        (Some(reason), _) => reason.clone(),
        (None, PollOutcome::NotModified) => "not modified".into(),
        (None, PollOutcome::Read | PollOutcome::Failed | PollOutcome::Skipped) => {
            format!("{} new, {} edited{}", result.new, result.edited, withdrawn(result.withdrawn))
        }
    };
    let moved = moved.unwrap_or_default();
    (telling || verbose).then(|| format!("{:>5}  {title}: {what}{moved}", result.feed.to_string()))
}

/// Returns `, 2 withdrawn`, or nothing for a count of 0.
fn withdrawn(count: impl Into<u64>) -> String {
    let count = count.into();
    if count == 0 { String::new() } else { format!(", {count} withdrawn") }
}

/// Prints the combined results of all polls.
fn report_polls(
    context: &CommandContext,
    engine: &Engine,
    polled: &Polled,
    args: &PollArgs,
    ahead: Option<&Ahead>,
) -> Done {
    let results = &polled.results;
    let count =
        |wanted: PollOutcome| results.iter().filter(|result| result.outcome == wanted).count();
    let failed = count(PollOutcome::Failed);
    let sum = |of: fn(&PollResult) -> u32| {
        results.iter().map(|result| u64::from(of(result))).sum::<u64>()
    };
    if args.quiet {
        // With `--quiet`, the exit status is the only output.
    } else if args.json {
        let feeds: Vec<Value> = results.iter().map(|result| result_json(engine, result)).collect();
        context.put(&json::text(&json!({
            "polled": results.len().saturating_sub(count(PollOutcome::Skipped)),
            "read": count(PollOutcome::Read),
            "not_modified": count(PollOutcome::NotModified),
            "failed": failed,
            "skipped": count(PollOutcome::Skipped),
            "new": sum(|result| result.new),
            "edited": sum(|result| result.edited),
            "withdrawn": sum(|result| result.withdrawn),
            "archives": polled.archives,
            "from_archives": polled.recovered,
            "feeds": feeds,
            "ahead": ahead.map(Ahead::json),
        })));
    } else {
        context.put(&format!(
            "{} read, {} not modified, {failed} failed, {} not polled; {} new entries, {} edited{}",
            count(PollOutcome::Read),
            count(PollOutcome::NotModified),
            count(PollOutcome::Skipped),
            sum(|result| result.new),
            sum(|result| result.edited),
            withdrawn(sum(|result| result.withdrawn))
        ));
        if polled.archives > 0 {
            context.put(&format!(
                "{} fetched, {}",
                counted_words(polled.archives, "archive", "archives"),
                counted_words(polled.recovered, "older entry", "older entries")
            ));
        }
    }
    if !args.quiet && !args.json {
        for (wait, feeds) in waits(engine, clock::now(), results) {
            context.put(&format!("{} not polled: {wait}", counted_words(feeds, "feed", "feeds")));
        }
    }
    if !args.quiet && !args.json && !engine.settings.poll.automatic {
        context.put(ONLY_BY_HAND);
    }
    if !args.quiet && !args.json {
        ahead.map(Ahead::lines).iter().flatten().for_each(|line| context.put(line));
    }
    let tolerant = args.tolerant || engine.settings.poll.failing_feeds == FailingFeeds::Ignore;
    if failed > 0 && !tolerant { Done::WithFailures } else { Done::All }
}

/// Returns the texts about hosts that must not be polled yet, each with the number of feeds that were skipped because of it.
fn waits(engine: &Engine, now: DateTime<Utc>, results: &[PollResult]) -> BTreeMap<String, usize> {
    let mut waits = BTreeMap::new();
    let skipped = results.iter().filter(|result| result.outcome == PollOutcome::Skipped);
    let feeds = skipped.filter_map(|result| engine.feeds.get(&result.feed));
    for feed in feeds.filter(|feed| feed.plan.settled_by == SettledBy::RetryAfter) {
        if let Some(wait) = rate_limits::left_alone(engine, now, &feed.record.url) {
            *waits.entry(wait).or_default() += 1_usize;
        }
    }
    waits
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
        "withdrawn": result.withdrawn,
        "reason": result.reason,
        "next_poll": json::time(feed.and_then(|feed| feed.plan.next_poll)),
        "settled_by": feed.map(|feed| feed.plan.settled_by.word()),
    })
}

/// Maximum number of feeds without a result that are checked one by one after each input.
const FEW: usize = 16;

/// Collects one poll result per feed that a client requested, and detects when all of these feeds are done.
#[derive(Debug, Default)]
pub(in crate::cli) struct Outcomes {
    /// Feeds whose poll has no result yet.
    waiting: BTreeSet<FeedKey>,
    /// Feeds with a result whose archive walks or writes are still running.
    ending: BTreeSet<FeedKey>,
    /// Feeds that were already being polled when this client made its request, each with the result that reports the refusal. For
    /// these feeds, the result of the running poll is reported.
    joined: BTreeMap<FeedKey, PollResult>,
}

impl Outcomes {
    /// Waits for feeds whose polls this client started, and for feeds that were already being polled.
    pub(in crate::cli) fn new(
        begun: &BTreeSet<FeedKey>,
        joined: BTreeMap<FeedKey, PollResult>,
    ) -> Self {
        let waiting = begun.iter().chain(joined.keys()).copied().collect();
        Self { waiting, ending: BTreeSet::new(), joined }
    }

    /// Selects the new results to report.
    pub(in crate::cli) fn take<'a>(
        &mut self,
        engine: &Engine,
        fresh: impl Iterator<Item = &'a PollResult>,
    ) -> Vec<PollResult> {
        let mut taken = Vec::new();
        for result in fresh {
            let feed = result.feed;
            // Ignore this result: it reports that another client's request was refused because the feed is being polled.
            let refused = result.outcome == PollOutcome::Skipped;
            if refused && engine.polls.contains_key(&feed) {
                continue;
            }
            if self.waiting.remove(&feed) {
                self.ending.insert(feed);
                taken.push(result.clone());
            } else {
                // This second result, and the work that follows it, belong to a later poll that another client requested.
                self.ending.remove(&feed);
            }
        }
        self.ending.retain(|feed| is_polling(engine, &BTreeSet::from([*feed])));
        if self.waiting.len() <= FEW {
            // The poll ended without a result, for example because the feed was unsubscribed.
            let gone = |feed: &FeedKey| !is_polling(engine, &BTreeSet::from([*feed]));
            let gone: Vec<FeedKey> = self.waiting.iter().copied().filter(gone).collect();
            for feed in gone {
                self.waiting.remove(&feed);
                taken.extend(self.joined.remove(&feed));
            }
        }
        taken
    }

    /// Checks whether every feed is done.
    pub(in crate::cli) fn are_complete(&self) -> bool {
        self.waiting.is_empty() && self.ending.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use chrono_tz::Tz;

    use super::*;
    use crate::engine::poll::poll_stage::{Poll, PollStage};
    use crate::engine::settings::Settings;

    fn engine(polled: &[u32]) -> Engine {
        let mut engine =
            Engine::new(Settings::default(), Tz::UTC, 0, Vec::new(), DateTime::UNIX_EPOCH);
        for &feed in polled {
            engine.polls.insert(FeedKey(feed), Poll::at(PollStage::Asking));
        }
        engine
    }

    fn result(feed: u32, outcome: PollOutcome) -> PollResult {
        PollResult::empty(FeedKey(feed), outcome, None)
    }

    fn outcomes(begun: &[u32], joined: &[u32]) -> Outcomes {
        let begun = begun.iter().copied().map(FeedKey).collect();
        let refused = |&feed: &u32| (FeedKey(feed), result(feed, PollOutcome::Skipped));
        Outcomes::new(&begun, joined.iter().map(refused).collect())
    }

    #[test]
    fn feed_has_one_result_once_it_is_idle() {
        let mut outcomes = outcomes(&[1, 2], &[]);
        let read = result(1, PollOutcome::Read);
        let told = outcomes.take(&engine(&[1, 2]), [&read].into_iter());
        assert_eq!(told, std::slice::from_ref(&read));
        assert!(!outcomes.are_complete());
        // Feed 1 is done; later polls of it belong to other clients.
        outcomes.take(&engine(&[2]), std::iter::empty());
        assert_eq!(outcomes.take(&engine(&[1, 2]), [&read].into_iter()), []);
        let failed = result(2, PollOutcome::Failed);
        let told = outcomes.take(&engine(&[1]), [&failed].into_iter());
        assert_eq!(told, std::slice::from_ref(&failed));
        assert!(outcomes.are_complete());
    }

    #[test]
    fn feed_polled_repeatedly_by_others_ends_at_next_result() {
        let mut outcomes = outcomes(&[1], &[]);
        let read = result(1, PollOutcome::Read);
        let busy = engine(&[1]);
        outcomes.take(&busy, [&read].into_iter());
        assert!(!outcomes.are_complete(), "it may be its own walk that goes on");
        assert_eq!(outcomes.take(&busy, [&read].into_iter()), []);
        assert!(outcomes.are_complete());
    }

    #[test]
    fn running_poll_is_joined_and_its_result_reported() {
        let busy = engine(&[1]);
        let mut joined = outcomes(&[], &[1]);
        let refused = result(1, PollOutcome::Skipped);
        assert_eq!(joined.take(&busy, [&refused].into_iter()), [], "another hand was refused");
        let read = result(1, PollOutcome::Read);
        let told = joined.take(&engine(&[]), [&read].into_iter());
        assert_eq!(told, std::slice::from_ref(&read));
        assert!(joined.are_complete());
        let mut given_up = outcomes(&[], &[1]);
        assert_eq!(given_up.take(&engine(&[]), std::iter::empty()), [refused]);
        assert!(given_up.are_complete());
    }
}

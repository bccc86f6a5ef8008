//! `backissue simulate --feed`: shows the cost and benefit that a subscription's schedule would have had on its own history.

use chrono::DateTime;

use super::simulate_own;
use crate::cli::args_simulate::SimulateArgs;
use crate::cli::commands::plan;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, lookup};
use crate::engine::feeds::subscription::Subscription;
use crate::io::clock;
use backissue_core::schedule::learning::Publications;
use backissue_core::schedule::{self, SettledBy};
use backissue_core::simulate::{
    Conditions, ExperimentInputs, PollPolicy, Poller, Score, SimulatedFeed, Wanted, experiment,
    scored_by, table,
};

/// Minutes in a day.
const DAY: i64 = 1440;
/// Minimum length of the feed's history, days: three weeks to learn from and one week for the test.
const DAYS_MIN: i64 = 28;
/// The test uses the last part of the history, whose length is the whole length divided by this number.
const TEST_PART: i64 = 4;

/// Runs `backissue simulate` for subscriptions.
pub(in crate::cli) fn run(desk: &CommandContext, args: &SimulateArgs) -> Result<Done, Failure> {
    if args.shows_own_feeds() { simulate_own::run(desk, args) } else { test_schedule(desk, args) }
}

/// Runs `backissue simulate --feed` without a table or a figure.
fn test_schedule(desk: &CommandContext, args: &SimulateArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let mut engine = desk.engine()?;
    let feed = lookup::find_subscription(&engine, args.feed.as_deref().unwrap_or_default())?;
    let publications = desk.look(move |store| store.publications(feed))?;
    plan::learn_rhythm(&publications, &mut engine, feed, now);
    let Some(subscription) = engine.feeds.get(&feed) else { return Ok(Done::All) };
    let title = subscription.record.shown_title();
    let source = build_source(title, &publications, now.timestamp().div_euclid(60))?;
    let settings = &subscription.state.facts.settings;
    let days = (source.end - source.start) / DAY;
    let test_days = days / TEST_PART;
    let conditions = Conditions {
        min: i64::from(settings.min_seconds) / 60,
        max: i64::from(settings.max_seconds) / 60,
        train_days: days - test_days,
        jitter: false,
        shifts: args.shifts,
    };
    let own = own_score(subscription, &source, &conditions);
    let known = source.minutes.len();
    desk.put(&format!(
        "{title}: {known} publications in {days} days; tested on the last {test_days} days"
    ));
    let Some(own) = own else {
        desk.put("nothing was published in the test days");
        return Ok(Done::WithFailures);
    };
    desk.put(&describe_policy(subscription, &own, &conditions, &source));
    let policies = PollPolicy::ALL;
    let outcome =
        experiment(&source, &policies, &conditions, ExperimentInputs::default(), Wanted::default());
    let scores: Vec<Vec<Score>> =
        outcome.scores.iter().map(|(_, test)| test.iter().copied().collect()).collect();
    desk.put(&table("test days", &policies, &scores));
    Ok(Done::All)
}

/// Builds the input of the simulation from the times at which the feed published entries. The error explains why there are too
/// few.
fn build_source(
    title: &str,
    publications: &Publications,
    now: i64,
) -> Result<SimulatedFeed, Failure> {
    let start = publications.since().unwrap_or(now);
    let days = (now - start) / DAY;
    if days < DAYS_MIN {
        let sentence = format!(
            "too little is known about '{title}': {} publications in {days} days; learning and testing need {DAYS_MIN} days",
            publications.len()
        );
        return Err(Failure::new(sentence));
    }
    // An entry is visible from the minute after its timestamp.
    let minutes = publications.minutes().map(|minute| minute + 1).collect();
    Ok(SimulatedFeed { name: title.to_owned(), start, end: now, minutes, panel: String::new() })
}

/// Scores the feed's present schedule. A learned schedule is learned again from the days before the test; any other schedule is
/// used without changes.
fn own_score(
    subscription: &Subscription,
    source: &SimulatedFeed,
    conditions: &Conditions,
) -> Option<Score> {
    let window = conditions.test(source);
    let mut facts = subscription.state.facts.clone();
    if schedule::places_polls(&facts) {
        let poller =
            Poller::for_test(PollPolicy::Learned, source, conditions, ExperimentInputs::default());
        return poller.score(source, window, |_, _| ());
    }
    facts.failures = 0;
    facts.failure = None;
    facts.retry_after = None;
    facts.host_wait = None;
    facts.cache = None;
    scored_by(source, window, |last| {
        let at = DateTime::from_timestamp(last * 60, 0)?;
        (facts.last_ok, facts.last_try) = (Some(at), Some(at));
        let next = schedule::decide_time(&facts, at, 0.0).next_poll?;
        Some((next.timestamp() + 59).div_euclid(60))
    })
}

/// Describes the score: `its schedule (the publisher's ttl): 12.0 polls a day, and a publication waits 41 min; ...`.
fn describe_policy(
    subscription: &Subscription,
    own: &Score,
    conditions: &Conditions,
    source: &SimulatedFeed,
) -> String {
    let window = conditions.test(source);
    #[expect(clippy::cast_precision_loss, reason = "a few years in minutes")]
    let days = (window.end - window.start) as f64 / DAY as f64;
    // If a temporary delay, such as back-off after failures, determined the last plan, that delay is not named as the schedule.
    let held_up = [SettledBy::BackOff, SettledBy::RetryAfter, SettledBy::Overdue];
    let settled = subscription.plan.settled_by;
    let settled = if held_up.contains(&settled) { "as stated" } else { settled.in_words() };
    let gain = own.gain();
    let than = if gain >= 0.0 { "less" } else { "more" };
    format!(
        "its schedule ({settled}): {:.1} polls a day, average delay {:.0} min; a fixed interval with the same number of polls: {:.0} min, so the delay is {:.0} % {than}\n",
        own.policy.polls / days.max(1e-9),
        own.policy.delay,
        own.linear.delay,
        gain.abs()
    )
}

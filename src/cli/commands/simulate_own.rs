//! `backissue simulate` with the user's own feeds: the cost and benefit that a feed's schedule would have had on the feed's own
//! history (`--feed`), and the table and the figures of the paper on interval rules.

use std::collections::BTreeMap;

use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;
use backissue_core::schedule::learning::Publications;
use backissue_core::schedule::{self, SettledBy};
use backissue_core::simulate::{
    Conditions, ExperimentInputs, FeedOutcome, PollPolicy, Poller, RulesHelp, Score, SimulatedFeed,
    Wanted, experiment, paper_table, scored_by, table,
};
use chrono::DateTime;

use crate::cli::args_publish::SimulateArgs;
use crate::cli::commands::history;
use crate::cli::commands::simulate::{self, Experiment, read_conditions};
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, lookup};
use crate::engine::feeds::subscription::Subscription;
use crate::io::clock;

/// Minutes in a day.
const DAY: i64 = 1440;
/// Number of days of the test, as in the paper on interval rules.
const TEST_DAYS: i64 = 14;

/// Runs `backissue simulate --table` and `--figure` for one subscription or for all.
pub(in crate::cli) fn run(context: &CommandContext, args: &SimulateArgs) -> Result<Done, Failure> {
    let is_for_files = !args.policies.is_empty()
        || args.rules.is_some()
        || args.budget.is_some()
        || args.retrievals.is_some();
    if is_for_files {
        return Err(Failure::new(
            "--policy, --rules, --budget and --retrievals need a file of publication times: name it with --feeds",
        ));
    }
    let conditions = read_conditions(args)?;
    let engine = context.engine()?;
    let keys: Vec<FeedKey> = match &args.feed {
        Some(typed) => vec![lookup::find_subscription(&engine, typed)?],
        None => engine.feeds.keys().copied().collect(),
    };
    let mut sources = Vec::new();
    for &key in &keys {
        let publications = context.look(move |store| store.publications(key))?;
        let Some(feed) = engine.feeds.get(&key) else { continue };
        sources.extend(source(feed.record.shown_title(), &publications, &conditions));
    }
    report_left_out(context, keys.len(), sources.len(), &conditions)?;
    let experiment = Experiment {
        sources,
        policies: vec![PollPolicy::Rules],
        conditions,
        rules: BTreeMap::new(),
        budgets: BTreeMap::new(),
        wanted: Wanted { training: true, rules_help: true, retrievals: false },
    };
    if args.table {
        show_tables(context, &experiment);
    }
    if let Some(choice) = args.figure {
        let mut each = progress(context, experiment.sources.len());
        let page = simulate::page(choice, &experiment.sources, &conditions, engine.zone, &mut each);
        context.end_progress();
        match &args.svg {
            None => context.put(&page.text()),
            Some(path) => {
                let file = simulate::svg_file(path, args.force);
                context.write_file(&file, &mut |out| out.write_all(page.svg().as_bytes()))?;
            }
        }
    }
    Ok(Done::All)
}

/// Returns the last weeks of a feed. Returns `None` if fewer days are known than training and test need.
fn source(
    title: &str,
    publications: &Publications,
    conditions: &Conditions,
) -> Option<SimulatedFeed> {
    let end = clock::now().timestamp().div_euclid(60);
    let start = end - needed_days(conditions) * DAY;
    publications.since().filter(|since| *since <= start)?;
    // An entry is visible from the minute after its timestamp.
    let minutes = publications.minutes().map(|minute| minute + 1).collect();
    Some(SimulatedFeed { name: title.to_owned(), start, end, minutes, panel: String::new() })
}

const fn needed_days(conditions: &Conditions) -> i64 {
    conditions.train_days + TEST_DAYS
}

/// Reports how many feeds are left out because too little is known about them. Fails if no feed is left.
fn report_left_out(
    context: &CommandContext,
    all: usize,
    kept: usize,
    conditions: &Conditions,
) -> Result<(), Failure> {
    let left_out = all.saturating_sub(kept);
    if left_out == 0 && kept > 0 {
        return Ok(());
    }
    let days = needed_days(conditions);
    let train_days = conditions.train_days;
    let why = format!(
        "training and test need {days} days of known publications ({train_days} and {TEST_DAYS}); --train-days changes that"
    );
    if kept == 0 {
        let feeds = counted_words(all, "subscription", "subscriptions");
        return Err(Failure::new(format!("too little is known about {feeds}: {why}")));
    }
    let left_out = counted_words(left_out, "subscription", "subscriptions");
    context.tell(&format!("left out {left_out}: {why}"));
    Ok(())
}

/// Returns a function that counts a finished feed, shows the progress, and returns `false` if the command was cancelled.
fn progress(context: &CommandContext, feeds: usize) -> impl FnMut() -> bool {
    let (mut done, all) = (0_u64, u64::try_from(feeds).unwrap_or(0));
    move || {
        done = done.saturating_add(1);
        context.show_progress("feeds", done, all);
        !context.is_closed()
    }
}

/// Prints Table III for the feeds where rules help, as in the paper, and for all feeds.
fn show_tables(context: &CommandContext, experiment: &Experiment) {
    let mut each = progress(context, experiment.sources.len());
    let outcomes = experiment.run(&mut |_| each());
    context.end_progress();
    let scores = |wanted: &dyn Fn(&FeedOutcome) -> bool| -> Vec<(Score, Score)> {
        let wanted = outcomes.iter().filter(|outcome| wanted(outcome));
        wanted
            .filter_map(|outcome| outcome.scores.first())
            .filter_map(|(trained, tested)| Some(((*trained)?, (*tested)?)))
            .collect()
    };
    let helped = scores(&|outcome| outcome.rules_help == Some(RulesHelp::Yes));
    let all = scores(&|_| true);
    let named = |count: usize| counted_words(count, "feed", "feeds");
    let mut tables = vec![
        paper_table(&format!("{} where interval rules help", named(helped.len())), &helped),
        paper_table(&format!("all {}", named(all.len())), &all),
    ];
    // One feed needs only one table.
    if helped.len() == all.len() {
        tables.pop();
    }
    if all.is_empty() {
        context.put("nothing was published in the test days");
    }
    for table in tables.iter().flatten() {
        context.put(&format!("{table}\n"));
    }
}

/// Minimum length of the feed's history, days: three weeks to learn from and one week for the test.
const DAYS_MIN: i64 = 28;
/// The test uses the last part of the history, whose length is the whole length divided by this number.
const TEST_PART: i64 = 4;

/// Runs `backissue simulate` for subscriptions.
pub(in crate::cli) fn run_feed(
    context: &CommandContext,
    args: &SimulateArgs,
) -> Result<Done, Failure> {
    if args.shows_own_feeds() { run(context, args) } else { test_schedule(context, args) }
}

/// Runs `backissue simulate --feed` without a table or a figure.
fn test_schedule(context: &CommandContext, args: &SimulateArgs) -> Result<Done, Failure> {
    let now = clock::now();
    let mut engine = context.engine()?;
    let feed = lookup::find_subscription(&engine, args.feed.as_deref().unwrap_or_default())?;
    let publications = context.look(move |store| store.publications(feed))?;
    history::learn_rhythm(&publications, &mut engine, feed, now);
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
    context.put(&format!(
        "{title}: {known} publications in {days} days; tested on the last {test_days} days"
    ));
    let Some(own) = own else {
        context.put("nothing was published in the test days");
        return Ok(Done::WithFailures);
    };
    context.put(&describe_policy(subscription, &own, &conditions, &source));
    let policies = PollPolicy::ALL;
    let outcome =
        experiment(&source, &policies, &conditions, ExperimentInputs::default(), Wanted::default());
    let scores: Vec<Vec<Score>> =
        outcome.scores.iter().map(|(_, test)| test.iter().copied().collect()).collect();
    context.put(&table("test days", &policies, &scores));
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

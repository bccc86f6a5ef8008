//! `backissue simulate --table` and `--figure` for subscriptions: the table and the figures of the paper on interval rules, computed
//! from the publication times of the user's own feeds.

use std::collections::BTreeMap;

use super::simulate::{Experiment, read_conditions};
use super::simulate_figures;
use crate::cli::args_simulate::SimulateArgs;
use crate::cli::context::CommandContext;
use crate::cli::session::Failure;
use crate::cli::{Done, lookup};
use crate::io::clock;
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;
use backissue_core::schedule::learning::Publications;
use backissue_core::simulate::{
    Conditions, FeedOutcome, PollPolicy, RulesHelp, Score, SimulatedFeed, Wanted, paper_table,
};

/// Minutes in a day.
const DAY: i64 = 1440;
/// Number of days of the test, as in the paper on interval rules.
const TEST_DAYS: i64 = 14;

/// Runs `backissue simulate --table` and `--figure` for one subscription or for all.
pub(super) fn run(desk: &CommandContext, args: &SimulateArgs) -> Result<Done, Failure> {
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
    let engine = desk.engine()?;
    let keys: Vec<FeedKey> = match &args.feed {
        Some(typed) => vec![lookup::find_subscription(&engine, typed)?],
        None => engine.feeds.keys().copied().collect(),
    };
    let mut sources = Vec::new();
    for &key in &keys {
        let publications = desk.look(move |store| store.publications(key))?;
        let Some(feed) = engine.feeds.get(&key) else { continue };
        sources.extend(source(feed.record.shown_title(), &publications, &conditions));
    }
    report_left_out(desk, keys.len(), sources.len(), &conditions)?;
    let experiment = Experiment {
        sources,
        policies: vec![PollPolicy::Rules],
        conditions,
        rules: BTreeMap::new(),
        budgets: BTreeMap::new(),
        wanted: Wanted { training: true, rules_help: true, retrievals: false },
    };
    if args.table {
        show_tables(desk, &experiment);
    }
    if let Some(choice) = args.figure {
        let mut each = progress(desk, experiment.sources.len());
        let page = simulate_figures::page(
            choice,
            &experiment.sources,
            &conditions,
            engine.zone,
            &mut each,
        );
        desk.end_progress();
        match &args.svg {
            None => desk.put(&page.text()),
            Some(path) => {
                let file = simulate_figures::svg_file(path, args.force);
                desk.write_file(&file, &mut |out| out.write_all(page.svg().as_bytes()))?;
            }
        }
    }
    Ok(Done::All)
}

/// Returns the last weeks of a feed; `None` if fewer days are known than training and test need.
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

/// Reports how many feeds are left out because too little is known about them; an error if no feed is left.
fn report_left_out(
    desk: &CommandContext,
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
    desk.tell(&format!("left out {left_out}: {why}"));
    Ok(())
}

/// Returns a function that shows how many of the feeds are done, and returns `false` if the command was cancelled.
fn progress(desk: &CommandContext, feeds: usize) -> impl FnMut() -> bool {
    let (mut done, all) = (0_u64, u64::try_from(feeds).unwrap_or(0));
    move || {
        done = done.saturating_add(1);
        desk.show_progress("feeds", done, all);
        !desk.is_closed()
    }
}

/// Prints Table III for the feeds where rules help, as in the paper, and for all feeds.
fn show_tables(desk: &CommandContext, experiment: &Experiment) {
    let mut each = progress(desk, experiment.sources.len());
    let outcomes = experiment.run(&mut |_| each());
    desk.end_progress();
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
        desk.put("nothing was published in the test days");
    }
    for table in tables.iter().flatten() {
        desk.put(&format!("{table}\n"));
    }
}

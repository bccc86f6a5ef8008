//! The experiment for one feed: runs the requested polling policies in the training weeks and in the test weeks.

use std::fmt::Write as _;

use super::policies::{Conditions, ExperimentInputs, PollPolicy, Poller};
use super::score::{MeanScore, Score, Scoring, Window};
use super::source::SimulatedFeed;

/// The results of the experiment for one feed.
#[derive(Debug, Clone, Default)]
pub struct FeedOutcome {
    /// Score of each policy in the training weeks and in the test weeks, in the order of the requested policies; `None` if
    /// nothing was published.
    pub scores: Vec<(Option<Score>, Option<Score>)>,
    /// One JSON line for each run in the test weeks, with the minutes of its polls; empty if not requested.
    pub retrievals: String,
    /// Whether interval rules reduce the delay for this feed; `None` if not requested.
    pub rules_help: Option<RulesHelp>,
}

/// Which results to compute besides the scores of the test weeks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Whether to compute the scores of the training weeks.
    pub training: bool,
    /// Whether to determine if interval rules help.
    pub rules_help: bool,
    /// Whether to list the polls of the test weeks.
    pub retrievals: bool,
}

/// Runs polling policies on a feed and scores them.
pub fn experiment(
    source: &SimulatedFeed,
    policies: &[PollPolicy],
    conditions: &Conditions,
    given: ExperimentInputs<'_>,
    wanted: Wanted,
) -> FeedOutcome {
    let rules_help = wanted.rules_help.then(|| rules_help(source, conditions, given));
    let mut outcome = FeedOutcome { rules_help, ..FeedOutcome::default() };
    for &policy in policies {
        let trained = wanted.training.then(|| {
            let poller = Poller::for_training(policy, source, conditions, given);
            let window = conditions.training(source);
            let score = poller.score(source, window, |_, _| ());
            score.map(|score| score.with_budget(given.allowed_polls(window)))
        });
        let poller = Poller::for_test(policy, source, conditions, given);
        let retrievals = &mut outcome.retrievals;
        let tested = poller.score(source, conditions.test(source), |shift, polls| {
            if wanted.retrievals {
                write_run(&source.name, shift, polls, retrievals);
            }
        });
        let allowed = given.allowed_polls(conditions.test(source));
        let tested = tested.map(|score| score.with_budget(allowed));
        outcome.scores.push((trained.flatten(), tested));
    }
    outcome
}

/// Whether the rules described in the paper on interval rules reduce the delay for a feed (SPEC F.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulesHelp {
    /// The feed's rules have the same interval at all times.
    OneRule,
    /// The feed's rules reduce the delay by less than five percent in the training weeks.
    No,
    /// The feed's rules reduce the delay by five percent or more.
    Yes,
}

/// Minimum reduction of the delay, in percent, at which rules count as helpful: "at least five percent" in the paper on
/// interval rules.
const HELP_MIN: f64 = 5.0;

/// Determines whether a feed's interval rules help, by running them in the training weeks.
fn rules_help(
    source: &SimulatedFeed,
    conditions: &Conditions,
    given: ExperimentInputs<'_>,
) -> RulesHelp {
    // The experiment in the paper on interval rules did not use jitter.
    let conditions = &Conditions { jitter: false, ..*conditions };
    let poller = Poller::for_training(PollPolicy::Rules, source, conditions, given);
    if !poller.has_several_rules() {
        return RulesHelp::OneRule;
    }
    let score = poller.score(source, conditions.training(source), |_, _| ());
    if score.is_some_and(|score| score.gain() >= HELP_MIN) { RulesHelp::Yes } else { RulesHelp::No }
}

/// Scores a schedule. `next` receives the minute of a poll and returns the minute of the next one. Returns `None` if nothing
/// was published or the schedule stops polling.
pub fn scored_by(
    source: &SimulatedFeed,
    window: Window,
    mut next: impl FnMut(i64) -> Option<i64>,
) -> Option<Score> {
    let mut scoring = Scoring::new(source, window);
    for shift in 0..window.shifts.max(1) {
        let mut last = window.start + i64::from(shift);
        let mut polls = vec![last];
        while last < window.end {
            last = next(last)?.max(last + 1);
            polls.push(last);
        }
        scoring.add(&polls);
    }
    scoring.score()
}

fn write_run(name: &str, shift: u32, polls: &[i64], lines: &mut String) {
    let name = serde_json::Value::from(name);
    // Writing to a `String` cannot fail.
    write!(lines, "{{\"name\":{name},\"start_offset\":{shift},\"minutes\":[").unwrap_or_default();
    for (place, poll) in polls.iter().enumerate() {
        let comma = if place == 0 { "" } else { "," };
        write!(lines, "{comma}{poll}").unwrap_or_default();
    }
    lines.push_str("]}\n");
}

/// Formats Table III of the paper on interval rules, with additional rows for polls and gains and one column for each
/// policy. `scores` contains, for each policy, the scores of the feeds.
pub fn table(title: &str, policies: &[PollPolicy], scores: &[Vec<Score>]) -> String {
    let means: Vec<Option<MeanScore>> =
        scores.iter().map(|scores| MeanScore::over_feeds(scores)).collect();
    let feeds = means.iter().flatten().map(|mean| mean.feeds).max().unwrap_or(0);
    let mut lines = format!("{title}, {feeds} feeds\n{:32}", "");
    for policy in policies {
        write!(lines, "{:>17}", policy.word()).unwrap_or_default();
    }
    for (name, cell) in ROWS {
        write!(lines, "\n{name:32}").unwrap_or_default();
        for mean in &means {
            let text = mean.map_or_else(|| "-".to_owned(), |mean| cell(&mean));
            write!(lines, "{text:>17}").unwrap_or_default();
        }
    }
    lines
}

/// Name of a table row, and the function that formats its cells.
type Row = (&'static str, fn(&MeanScore) -> String);

const ROWS: [Row; 16] = [
    ("delay, min", |mean| format!("{:.2}", mean.score.policy.delay)),
    ("  linear, same number of polls", |mean| format!("{:.2}", mean.score.linear.delay)),
    ("std dev of delay, min", |mean| format!("{:.2}", mean.score.policy.deviation)),
    ("  linear, same number of polls", |mean| format!("{:.2}", mean.score.linear.deviation)),
    ("hits, %", |mean| format!("{:.2}", mean.score.policy.hits)),
    ("  linear, same number of polls", |mean| format!("{:.2}", mean.score.linear.hits)),
    ("misses, %", |mean| format!("{:.2}", 100.0 - mean.score.policy.hits)),
    ("  linear, same number of polls", |mean| format!("{:.2}", 100.0 - mean.score.linear.hits)),
    ("polls per run", |mean| format!("{:.1}", mean.score.policy.polls)),
    ("  of the budget, %", |mean| {
        mean.budget_used.map_or_else(|| "-".to_owned(), |used| format!("{used:.1}"))
    }),
    ("  feeds over the budget", |mean| match mean.budget_used {
        Some(_) => mean.over_budget.to_string(),
        None => "-".to_owned(),
    }),
    ("gain of mean delay, %", |mean| format!("{:.2}", mean.score.gain())),
    ("  compared with T/2, %", |mean| format!("{:.2}", mean.score.gain_on_half_interval())),
    ("mean gain of feeds, %", |mean| format!("{:.2}", mean.gain_per_feed)),
    ("  std dev of these gains, %", |mean| format!("{:.2}", mean.gain_spread)),
    ("  or polls saved, same delay, %", |mean| format!("{:.2}", mean.fewer_polls_per_feed)),
];

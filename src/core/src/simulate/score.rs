//! Scores of polling policies: hits and delays, as in Table III of the paper on interval rules (SPEC F.2), also in the table's own
//! form.

use std::fmt::Write as _;

use super::source::SimulatedFeed;
use super::week_rules::{real, whole};

/// A period in which policies are scored, and the number of runs over the period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First minute of the period. Run number `n` begins `n` minutes later.
    pub start: i64,
    /// Minute after the last minute of the period.
    pub end: i64,
    /// Number of runs over the period, at least 1.
    pub shifts: u32,
}

impl Window {
    /// Returns the minute from which publications are scored. All runs have begun by then, so every run scores the same
    /// publications.
    const fn scored_from(&self) -> i64 {
        self.start + if self.shifts as i64 > 240 { self.shifts as i64 } else { 240 }
    }
}

/// Sums over the publications and polls of one or more runs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Tally {
    delay: f64,
    squares: f64,
    scored: f64,
    polls: f64,
    hits: f64,
}

/// The score of one policy on one feed, compared with a linear policy (polls at a fixed interval) that makes the same number
/// of polls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Figures of the scored policy.
    pub policy: Figures,
    /// Figures of the linear policy with the same number of polls and the same first polls.
    pub linear: Figures,
    /// Half of the linear policy's interval in minutes, which is its expected delay if publications are random.
    pub half_interval: f64,
    /// Number of polls per run with which a linear policy would have the same delay as the scored policy.
    pub equal_delay_polls: f64,
    /// Number of polls per run that the budget allows; `None` without a budget.
    pub allowed_polls: Option<f64>,
}

/// The figures in the rows of Table III of the paper on interval rules, and the number of polls.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Mean time in minutes from the publication of an entry to the poll that finds it.
    pub delay: f64,
    /// Standard deviation of the delay, in minutes.
    pub deviation: f64,
    /// Percentage of polls that found a new entry.
    pub hits: f64,
    /// Mean number of polls per run.
    pub polls: f64,
}

impl Score {
    /// Returns the reduction of the delay compared with the linear policy, in percent.
    pub fn gain(&self) -> f64 {
        100.0 * (1.0 - self.policy.delay / self.linear.delay.max(1e-9))
    }

    /// Returns the reduction of the delay compared with half of the mean interval between polls, in percent.
    pub(crate) fn gain_on_half_interval(&self) -> f64 {
        100.0 * (1.0 - self.policy.delay / self.half_interval.max(1e-9))
    }

    /// Returns the percentage of polls saved compared with a linear policy that has the same delay.
    pub(crate) fn fewer_polls(&self) -> f64 {
        100.0 * (1.0 - self.policy.polls / self.equal_delay_polls.max(1e-9))
    }

    /// Returns the score with the number of polls per run that the budget allows.
    #[must_use]
    pub(crate) const fn with_budget(mut self, allowed_polls: Option<f64>) -> Self {
        self.allowed_polls = allowed_polls;
        self
    }

    /// Checks whether the policy makes more polls than the budget allows, beyond a small margin.
    fn is_over_budget(&self) -> bool {
        self.allowed_polls
            .is_some_and(|allowed| self.policy.polls > allowed * (1.0 + BUDGET_MARGIN))
    }
}

/// Number of polls added for each run: a run begins with a poll, so on average it has half a poll more than its length
/// implies.
const HALF_A_POLL: f64 = 0.5;
/// Range of the search for the interval at which a linear policy has the same delay as the scored policy. Both limits are
/// relative to the interval at which a linear policy makes the same number of polls: a divisor and a factor.
const NARROWER: f64 = 64.0;
const WIDER: f64 = 4.0;
/// Number of steps of the search for the interval with equal delay, enough for a precision of one percent.
const HALVINGS: u32 = 10;
/// Fraction by which a policy may exceed its budget without being reported.
const BUDGET_MARGIN: f64 = 0.005;

/// Accumulates the results of the runs of one policy on one feed.
#[derive(Debug, Clone)]
pub struct Scoring<'a> {
    publications: &'a [i64],
    window: Window,
    policy: Tally,
    /// Minute of the first poll of each run.
    starts: Vec<i64>,
}

impl<'a> Scoring<'a> {
    /// Creates a scoring without any runs.
    pub fn new(source: &'a SimulatedFeed, window: Window) -> Self {
        let publications = &source.minutes;
        Self { publications, window, policy: Tally::default(), starts: Vec::new() }
    }

    /// Adds a run, given the minutes of its polls. The first poll must be inside the window, and the last at or after its
    /// end.
    pub fn add(&mut self, polls: &[i64]) {
        let Some(&first) = polls.first() else { return };
        let run = self.tally(polls.iter().map(|&poll| whole(poll)));
        self.policy.add(&run);
        self.starts.push(first);
    }

    /// Returns the figures of all added runs; `None` if nothing was published.
    pub(super) fn figures(&self) -> Option<Figures> {
        self.policy.figures(self.starts.len())
    }

    /// Returns the score of all added runs; `None` if nothing was published.
    pub fn score(&self) -> Option<Score> {
        let policy = self.figures()?;
        let interval = self.minutes_a_run() / (policy.polls - HALF_A_POLL).max(HALF_A_POLL);
        let linear = self.linear(interval)?;
        let equal_delay_polls = self.polls_for(policy.delay, interval)?;
        Some(Score {
            policy,
            linear,
            half_interval: interval / 2.0,
            equal_delay_polls,
            allowed_polls: None,
        })
    }

    /// Returns the mean length of a run, in minutes.
    fn minutes_a_run(&self) -> f64 {
        let minutes = self.starts.iter().map(|&start| whole(self.window.end - start)).sum::<f64>();
        minutes / real(self.starts.len()).max(1.0)
    }

    /// Returns the figures of a linear policy whose runs begin at the same minutes. All runs use the same interval: if the
    /// interval were fitted to the end of each run, all runs would end with the same few polls. Polls are at whole minutes,
    /// like those of the other policies.
    fn linear(&self, interval: f64) -> Option<Figures> {
        let mut sum = Tally::default();
        for &start in &self.starts {
            let even =
                (0_u32..).map(|number| (whole(start) + f64::from(number) * interval).floor());
            // One poll after the end of the window finds the entries that were published after the last poll in the window.
            let mut over = false;
            let even = even
                .take_while(|&poll| !std::mem::replace(&mut over, poll >= whole(self.window.end)));
            sum.add(&self.tally(even));
        }
        sum.figures(self.starts.len())
    }

    /// Returns the number of polls per run with which a linear policy has a given delay. `interval` is where the search
    /// begins.
    fn polls_for(&self, delay: f64, interval: f64) -> Option<f64> {
        let (mut short, mut long) = ((interval / NARROWER).max(1.0), interval * WIDER);
        for _ in 0..HALVINGS {
            let middle = (short * long).sqrt();
            if self.linear(middle)?.delay < delay { short = middle } else { long = middle }
        }
        Some(self.minutes_a_run() / (short * long).sqrt() + HALF_A_POLL)
    }

    fn tally(&self, polls: impl Iterator<Item = f64>) -> Tally {
        let (from, end) = (self.window.scored_from(), self.window.end);
        let mut tally = Tally::default();
        let mut unseen = self.publications;
        let mut is_first = true;
        for poll in polls {
            let seen = unseen.partition_point(|&minute| whole(minute) <= poll);
            let (found, rest) = unseen.split_at(seen);
            unseen = rest;
            let late = found.iter().filter(|&&minute| minute >= from && minute < end);
            let late = late.map(|&minute| poll - whole(minute));
            let before = tally.scored;
            for delay in late {
                tally.delay += delay;
                tally.squares += delay * delay;
                tally.scored += 1.0;
            }
            if poll < whole(end) {
                tally.polls += 1.0;
                // The first poll of a run also finds entries that were published before the run. Such entries do not make
                // the poll a hit.
                let hit = if is_first { tally.scored > before } else { !found.is_empty() };
                tally.hits += f64::from(u8::from(hit));
            }
            is_first = false;
        }
        tally
    }
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.delay += other.delay;
        self.squares += other.squares;
        self.scored += other.scored;
        self.polls += other.polls;
        self.hits += other.hits;
    }

    fn figures(&self, runs: usize) -> Option<Figures> {
        if self.scored <= 0.0 || self.polls <= 0.0 {
            return None;
        }
        let delay = self.delay / self.scored;
        let deviation = (self.squares / self.scored - delay * delay).max(0.0).sqrt();
        let hits = 100.0 * self.hits / self.polls;
        Some(Figures { delay, deviation, hits, polls: self.polls / real(runs).max(1.0) })
    }
}

/// Scores averaged over feeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanScore {
    pub feeds: usize,
    /// Mean figures of the feeds.
    pub score: Score,
    /// Mean of the gains of the individual feeds, in percent.
    pub gain_per_feed: f64,
    /// Mean percentage of polls that the feeds save at equal delay.
    pub fewer_polls_per_feed: f64,
    /// Standard deviation of the gains of the individual feeds, in percent.
    pub gain_spread: f64,
    /// Percentage of the budgets that was used; `None` if there were no budgets.
    pub budget_used: Option<f64>,
    /// Number of feeds for which the policy makes more polls than the budget allows.
    pub over_budget: usize,
}

impl MeanScore {
    /// Computes the mean of the feeds' scores; `None` if there are no scores.
    pub(crate) fn over_feeds(scores: &[Score]) -> Option<Self> {
        let count = real(scores.len());
        let mean = |figure: fn(&Score) -> f64| scores.iter().map(figure).sum::<f64>() / count;
        let policy = Figures {
            delay: mean(|score| score.policy.delay),
            deviation: mean(|score| score.policy.deviation),
            hits: mean(|score| score.policy.hits),
            polls: mean(|score| score.policy.polls),
        };
        let linear = Figures {
            delay: mean(|score| score.linear.delay),
            deviation: mean(|score| score.linear.deviation),
            hits: mean(|score| score.linear.hits),
            polls: mean(|score| score.linear.polls),
        };
        let gain_per_feed = mean(Score::gain);
        let squares = scores.iter().map(|score| (score.gain() - gain_per_feed).powi(2));
        let gain_spread = (squares.sum::<f64>() / count).sqrt();
        let allowed: Option<f64> = scores.iter().map(|score| score.allowed_polls).sum();
        let allowed = allowed.filter(|allowed| *allowed > 0.0);
        let score = Score {
            policy,
            linear,
            half_interval: mean(|score| score.half_interval),
            equal_delay_polls: mean(|score| score.equal_delay_polls),
            allowed_polls: allowed,
        };
        (!scores.is_empty()).then_some(Self {
            feeds: scores.len(),
            score,
            gain_per_feed,
            fewer_polls_per_feed: mean(Score::fewer_polls),
            gain_spread,
            budget_used: allowed.map(|allowed| 100.0 * policy.polls * count / allowed),
            over_budget: scores.iter().filter(|score| score.is_over_budget()).count(),
        })
    }
}

/// Name of a row, and the function that returns its figure.
type Row = (&'static str, fn(&Figures) -> f64);

const ROWS: [Row; 4] = [
    ("Delay (min.)", |figures| figures.delay),
    ("Stddev delay (min.)", |figures| figures.deviation),
    ("Hits (%)", |figures| figures.hits),
    ("Misses (%)", |figures| 100.0 - figures.hits),
];

/// Formats Table III. `scores` contains, for each feed, the scores of its schedule in the training weeks and in the test weeks.
/// Returns `None` if there are no feeds.
pub fn paper_table(title: &str, scores: &[(Score, Score)]) -> Option<String> {
    let (trained, tested): (Vec<Score>, Vec<Score>) = scores.iter().copied().unzip();
    let [trained, tested] = [trained, tested].map(|scores| MeanScore::over_feeds(&scores));
    let (trained, tested) = (trained?.score, tested?.score);
    let mut table = format!(
        "{title}\n{:21}{:>20}{:>20}\n{:21}{:>10}{:>10}{:>10}{:>10}",
        "", "Training", "Test", "Average", "Linear", "Schedule", "Linear", "Schedule"
    );
    for (name, figure) in ROWS {
        let cells = [&trained.linear, &trained.policy, &tested.linear, &tested.policy];
        let cells: String = cells.map(|figures| format!("{:>10.2}", figure(figures))).concat();
        // Writing to a `String` cannot fail.
        write!(table, "\n{name:21}{cells}").unwrap_or_default();
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(minutes: &[i64]) -> SimulatedFeed {
        SimulatedFeed {
            name: "a".into(),
            start: 0,
            end: 2000,
            minutes: minutes.to_vec(),
            panel: String::new(),
        }
    }

    #[test]
    fn delays_hits_and_the_linear_poller_are_counted() {
        let source = source(&[10, 300, 310, 900, 2500]);
        let window = Window { start: 0, end: 2000, shifts: 1 };
        let mut scoring = Scoring::new(&source, window);
        scoring.add(&[0, 310, 1000, 2010]);
        let score = scoring.score().expect("something was published");
        // The publications at 300, 310 and 900 wait 10, 0 and 100 minutes until a poll finds them. Those at 10 and 2500 are
        // outside the window.
        assert!((score.policy.delay - 110.0 / 3.0).abs() < 1e-9, "{score:?}");
        assert!((score.policy.polls - 3.0).abs() < 1e-9);
        assert!((score.policy.hits - 200.0 / 3.0).abs() < 1e-9);
        // The linear policy polls at 0, 800 and 1600, so the publications wait 500, 490 and 700 minutes.
        assert!((score.linear.delay - 1690.0 / 3.0).abs() < 1e-6, "{score:?}");
        assert!((score.linear.polls - 3.0).abs() < 1e-9);
        assert!(
            (score.gain() - 100.0 * (1.0 - score.policy.delay / score.linear.delay)).abs() < 1e-9
        );
    }

    #[test]
    fn linear_poller_has_no_gain_over_itself() {
        let minutes: Vec<i64> =
            (0..400).map(|number| 250 + number * 43 + (number * number) % 17).collect();
        let source = source(&minutes);
        let window = Window { start: 0, end: 20_000, shifts: 240 };
        for interval in [37, 61, 90, 113, 240] {
            let mut scoring = Scoring::new(&source, window);
            for shift in 0..240 {
                let polls = (0..).map(|number| shift + number * interval);
                let mut polls: Vec<i64> = polls.take_while(|&poll| poll < 20_000).collect();
                polls.push(polls[polls.len() - 1] + interval);
                scoring.add(&polls);
            }
            let score = scoring.score().expect("something was published");
            assert!(score.gain().abs() < 0.7, "{interval}: {} {score:?}", score.gain());
            assert!(score.fewer_polls().abs() < 0.7, "{interval}: {score:?}");
        }
    }

    #[test]
    fn no_publications_give_no_score() {
        let silent = source(&[]);
        let window = Window { start: 0, end: 2000, shifts: 1 };
        let mut scoring = Scoring::new(&silent, window);
        scoring.add(&[0, 1000, 2000]);
        scoring.add(&[]);
        assert_eq!(scoring.score(), None);
        assert_eq!(MeanScore::over_feeds(&[]), None);
    }
}

//! Scores of polling policies: hits and delays, as in Table III of the paper on interval rules (SPEC F.2).

use super::source::SimulatedFeed;
use super::week_rules::{real, whole};

/// A period that is scored, and the number of runs over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First minute; run `n` begins `n` minutes later.
    pub start: i64,
    /// Minute after the last one.
    pub end: i64,
    /// Number of runs, at least 1.
    pub shifts: u32,
}

impl Window {
    /// Returns the minute from which publications are scored, chosen so that every run scores the same ones.
    const fn scored_from(&self) -> i64 {
        self.start + if self.shifts as i64 > 240 { self.shifts as i64 } else { 240 }
    }
}

/// Sums over runs.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Tally {
    delay: f64,
    squares: f64,
    scored: f64,
    polls: f64,
    hits: f64,
}

/// The score of one policy on one feed, compared with a linear policy that makes the same number of polls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Figures of the policy.
    pub policy: Figures,
    /// Figures of the same number of polls at a fixed interval, from the same start.
    pub linear: Figures,
    /// Half of the linear policy's interval in minutes: its expected delay if publications are random.
    pub half_interval: f64,
    /// Number of polls per run at which a linear policy would have the same delay.
    pub equal_delay_polls: f64,
    /// Number of polls allowed per run, if there is a budget.
    pub allowed_polls: Option<f64>,
}

/// The figures in the rows of Table III, and the number of polls.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Mean delay, in minutes.
    pub delay: f64,
    /// Standard deviation of the delay, in minutes.
    pub deviation: f64,
    /// Polls that found something, in percent.
    pub hits: f64,
    /// Polls per run.
    pub polls: f64,
}

impl Score {
    /// Returns the reduction of the delay compared with the linear poller, in percent.
    pub fn gain(&self) -> f64 {
        100.0 * (1.0 - self.policy.delay / self.linear.delay.max(1e-9))
    }

    /// Returns the reduction of the delay compared with half of the mean interval, in percent.
    pub(crate) fn gain_on_half_interval(&self) -> f64 {
        100.0 * (1.0 - self.policy.delay / self.half_interval.max(1e-9))
    }

    /// Returns the polls saved compared with a linear poller with the same delay, in percent.
    pub(crate) fn fewer_polls(&self) -> f64 {
        100.0 * (1.0 - self.policy.polls / self.equal_delay_polls.max(1e-9))
    }

    /// Returns the score with a budget of polls per run.
    #[must_use]
    pub(crate) const fn with_budget(mut self, allowed_polls: Option<f64>) -> Self {
        self.allowed_polls = allowed_polls;
        self
    }

    /// Checks whether the policy makes clearly more polls than allowed.
    fn is_over_budget(&self) -> bool {
        self.allowed_polls
            .is_some_and(|allowed| self.policy.polls > allowed * (1.0 + BUDGET_MARGIN))
    }
}

/// Extra polls per run: a run begins with a poll, so on average it has half a poll more than its length implies.
const HALF_A_POLL: f64 = 0.5;
/// Range of the search for the interval at which a linear poller has the policy's delay, as factors of the interval at
/// which it makes the same number of polls.
const NARROWER: f64 = 64.0;
const WIDER: f64 = 4.0;
/// Number of search steps, enough for a precision of one percent.
const HALVINGS: u32 = 10;
/// Fraction by which a budget may be exceeded without counting as over budget.
const BUDGET_MARGIN: f64 = 0.005;

/// Accumulates the runs of one policy on one feed.
#[derive(Debug, Clone)]
pub struct Scoring<'a> {
    publications: &'a [i64],
    window: Window,
    policy: Tally,
    /// First poll of each run.
    starts: Vec<i64>,
}

impl<'a> Scoring<'a> {
    /// Creates an empty score.
    pub fn new(source: &'a SimulatedFeed, window: Window) -> Self {
        let publications = &source.minutes;
        Self { publications, window, policy: Tally::default(), starts: Vec::new() }
    }

    /// Adds a run, given the minutes of its polls. The first is inside the window, the last at or after its end.
    pub fn add(&mut self, polls: &[i64]) {
        let Some(&first) = polls.first() else { return };
        let run = self.tally(polls.iter().map(|&poll| whole(poll)));
        self.policy.add(&run);
        self.starts.push(first);
    }

    /// Returns the score; `None` if nothing was published.
    pub fn score(&self) -> Option<Score> {
        let policy = self.policy.figures(self.starts.len())?;
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

    /// Returns the figures of polls at one interval, from the same starts. All runs use the same interval: if it were
    /// fitted to each run's end, all runs would end with the same few polls. Polls are at whole minutes, like those of
    /// the policies.
    fn linear(&self, interval: f64) -> Option<Figures> {
        let mut sum = Tally::default();
        for &start in &self.starts {
            let even =
                (0_u32..).map(|number| (whole(start) + f64::from(number) * interval).floor());
            // One more poll finds entries published after the last poll in the window.
            let mut over = false;
            let even = even
                .take_while(|&poll| !std::mem::replace(&mut over, poll >= whole(self.window.end)));
            sum.add(&self.tally(even));
        }
        sum.figures(self.starts.len())
    }

    /// Returns the number of polls per run at which a linear poller has a given delay, searching near an interval.
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
                // The first poll also finds entries published before the run; such entries do not make the poll a hit.
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

/// Mean scores over feeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanScore {
    pub feeds: usize,
    /// Means of the figures.
    pub score: Score,
    /// Mean gain of the feeds, in percent.
    pub gain_per_feed: f64,
    /// Mean share of polls saved at equal delay, in percent.
    pub fewer_polls_per_feed: f64,
    /// Standard deviation of the feeds' gains, in percent.
    pub gain_spread: f64,
    /// Share of the budgets used, in percent; `None` if there were no budgets.
    pub budget_used: Option<f64>,
    /// Number of feeds with more polls than allowed.
    pub over_budget: usize,
}

impl MeanScore {
    /// Computes the means; `None` without feeds.
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
        // The publications at 300, 310 and 900 wait 10, 0 and 100 minutes; those at 10 and 2500 are outside the window.
        assert!((score.policy.delay - 110.0 / 3.0).abs() < 1e-9, "{score:?}");
        assert!((score.policy.polls - 3.0).abs() < 1e-9);
        assert!((score.policy.hits - 200.0 / 3.0).abs() < 1e-9);
        // Polls at 0, 800 and 1600: the publications wait 500, 490 and 700 minutes.
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

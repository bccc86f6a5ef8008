//! What polls found and how late: the figures of Table III (SPEC F.2).

use super::source::SimulatedFeed;
use super::week_rules::{real, whole};

/// A stretch of time that is scored, and how often it is run through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First minute; run `n` begins `n` minutes later.
    pub start: i64,
    /// Minute after the last.
    pub end: i64,
    /// Runs, at least 1.
    pub shifts: u32,
}

impl Window {
    /// Publications are scored from here on, so that every run scores the same ones.
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

/// One policy on one feed, and the linear poller with as many polls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// What the policy did.
    pub policy: Figures,
    /// What polls at one fixed interval would have done, as many and from the same start.
    pub linear: Figures,
    /// Half of that interval, minutes: what the linear poller waits where publications keep to no clock.
    pub half_interval: f64,
    /// Polls that a run may make, where a budget was given.
    pub allowed_polls: Option<f64>,
}

/// The rows of Table III, and what they cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figures {
    /// Mean delay, minutes.
    pub delay: f64,
    /// Standard deviation of the delay, minutes.
    pub deviation: f64,
    /// Polls that found something, percent.
    pub hits: f64,
    /// Polls in a run.
    pub polls: f64,
}

impl Score {
    /// How much less the delay is than the linear poller's, percent.
    pub fn gain(&self) -> f64 {
        100.0 * (1.0 - self.policy.delay / self.linear.delay.max(1e-9))
    }

    /// How much less the delay is than half of the mean interval, percent.
    pub fn gain_on_half_interval(&self) -> f64 {
        100.0 * (1.0 - self.policy.delay / self.half_interval.max(1e-9))
    }

    /// The same score held against a budget of polls in a run.
    #[must_use]
    pub const fn with_budget(mut self, allowed_polls: Option<f64>) -> Self {
        self.allowed_polls = allowed_polls;
        self
    }

    /// Makes clearly more polls than allowed.
    fn is_over_budget(&self) -> bool {
        self.allowed_polls
            .is_some_and(|allowed| self.policy.polls > allowed * (1.0 + BUDGET_MARGIN))
    }
}

/// A budget is kept to if no larger share of it is spent beyond it.
const BUDGET_MARGIN: f64 = 0.005;

/// Sums up the runs of one policy on one feed.
#[derive(Debug, Clone, Copy)]
pub struct Scoring<'a> {
    publications: &'a [i64],
    window: Window,
    policy: Tally,
    linear: Tally,
    intervals: f64,
    runs: u32,
}

impl<'a> Scoring<'a> {
    /// Nothing scored yet.
    pub fn new(source: &'a SimulatedFeed, window: Window) -> Self {
        let (policy, linear) = (Tally::default(), Tally::default());
        let publications = &source.minutes;
        Self { publications, window, policy, linear, intervals: 0.0, runs: 0 }
    }

    /// Adds a run: the minutes of its polls, the first in the window, the last at its end or later.
    pub fn add(&mut self, polls: &[i64]) {
        let Some(&first) = polls.first() else { return };
        let run = self.tally(polls.iter().map(|&poll| whole(poll)));
        let interval = (whole(self.window.end) - whole(first)) / run.polls.max(1.0);
        // As many polls in the window, and one more for what was published after the last of them.
        let count = u32_of(run.polls) + 2;
        let even = (0..count).map(|number| whole(first) + f64::from(number) * interval);
        let linear = self.tally(even);
        self.policy.add(&run);
        self.linear.add(&linear);
        self.intervals += interval;
        self.runs += 1;
    }

    /// The figures; `None` if nothing was published.
    pub fn score(&self) -> Option<Score> {
        let figures = |tally: &Tally| tally.figures(self.runs);
        let (policy, linear) = (figures(&self.policy)?, figures(&self.linear)?);
        let half_interval = self.intervals / f64::from(self.runs.max(1)) / 2.0;
        Some(Score { policy, linear, half_interval, allowed_polls: None })
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
                // What the first poll finds was published before the run.
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

    fn figures(&self, runs: u32) -> Option<Figures> {
        if self.scored <= 0.0 || self.polls <= 0.0 {
            return None;
        }
        let delay = self.delay / self.scored;
        let deviation = (self.squares / self.scored - delay * delay).max(0.0).sqrt();
        let hits = 100.0 * self.hits / self.polls;
        Some(Figures { delay, deviation, hits, polls: self.polls / f64::from(runs.max(1)) })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of polls")]
fn u32_of(count: f64) -> u32 {
    count as u32
}

/// Means over feeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanScore {
    pub feeds: usize,
    /// Means of the figures.
    pub score: Score,
    /// Mean of the gains of the feeds, percent.
    pub gain_per_feed: f64,
    /// Standard deviation of the gains of the feeds, percent.
    pub gain_spread: f64,
    /// Part of the budgets that was spent, percent; `None`: no budgets were given.
    pub budget_used: Option<f64>,
    /// Feeds for which more polls were made than allowed.
    pub over_budget: usize,
}

impl MeanScore {
    /// The means; `None` without feeds.
    pub fn over_feeds(scores: &[Score]) -> Option<Self> {
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
        let half_interval = mean(|score| score.half_interval);
        let score = Score { policy, linear, half_interval, allowed_polls: allowed };
        (!scores.is_empty()).then_some(Self {
            feeds: scores.len(),
            score,
            gain_per_feed,
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
        // 300 waits 10, 310 waits 0, 900 waits 100; the publications at 10 and 2500 are outside.
        assert!((score.policy.delay - 110.0 / 3.0).abs() < 1e-9, "{score:?}");
        assert!((score.policy.polls - 3.0).abs() < 1e-9);
        assert!((score.policy.hits - 200.0 / 3.0).abs() < 1e-9);
        // Polls at 0, 666.7, 1333.3 and 2000: waits 366.7, 356.7, 433.3.
        assert!((score.linear.delay - 385.0 - 5.0 / 9.0).abs() < 1e-6, "{score:?}");
        assert!(
            (score.gain() - 100.0 * (1.0 - score.policy.delay / score.linear.delay)).abs() < 1e-9
        );
    }

    #[test]
    fn nothing_published_has_no_score() {
        let silent = source(&[]);
        let window = Window { start: 0, end: 2000, shifts: 1 };
        let mut scoring = Scoring::new(&silent, window);
        scoring.add(&[0, 1000, 2000]);
        scoring.add(&[]);
        assert_eq!(scoring.score(), None);
        assert_eq!(MeanScore::over_feeds(&[]), None);
    }
}

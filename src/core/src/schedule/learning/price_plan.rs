//! Computes the weekly plan of polls with the lowest cost: the waiting time of all publications, plus a fixed cost per poll, the
//! price (SCHEDULING annex A.3).
//!
//! Polls are placed on a five-minute grid, one minute after the minute in which most publications of a bin are dated. For each grid
//! point the plan stores the next poll. The algorithm works backward through the week: the best next poll after `s` is the `e` that
//! minimizes the sum of the waiting time between `s` and `e`, the price, and the cost of everything after `e`. The pass through the
//! week is repeated until the costs no longer change.
//!
//! The best `e` never moves backward as `s` moves forward, because waiting longer only makes a later poll more
//! expensive. The search for a grid point can therefore stop at the best `e` of the following grid point.
//!
//! A plan is stored run-length encoded: most consecutive grid points have the same next poll, or are the same number of steps away
//! from their next polls.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::week_bins::{BIN_MINUTES, BINS, WeekBins, real};

/// Longest gap between two polls that a plan can contain, in grid steps: two days.
pub(super) const STEPS_MAX: usize = 576;
/// Maximum number of passes through the week.
const ROUNDS: usize = 4;
/// Number of grid points in a block. The search examines all points of a block, or skips the block.
const BLOCK: usize = 8;
/// Difference below which costs are equal except for rounding, in minutes.
const ROUNDING: f64 = 1e-9;
/// Difference below which the weekly costs of two plans count as equal, in minutes. It is larger than [`ROUNDING`] because each
/// cost is a sum of thousands of terms.
const ALIKE: f64 = 1e-6;

/// The next poll for each grid point of the week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "StepRuns", try_from = "StepRuns")]
pub(super) struct PricePlan {
    /// Grid steps from a grid point to the next poll, at least 1.
    steps: StepRuns,
}

/// Parameters with which a plan is computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    /// Cost per poll, above 0: the additional minutes of waiting that are accepted for each poll saved.
    pub(super) price: f64,
    /// Shortest gap between two polls, in grid steps, at least 1.
    pub(super) steps_min: usize,
    /// Longest gap between two polls, in grid steps, at least `steps_min`, at most [`STEPS_MAX`].
    pub(super) steps_max: usize,
    /// Maximum number of publications expected between two polls: half the number of entries in the feed's document.
    pub(super) publications_max: f64,
}

/// Expected publications and their waiting time, summed over the grid from the start of the week. The sums extend past
/// the end of the week as far as a plan looks ahead.
#[derive(Debug, Clone)]
pub(super) struct ExpectedWaiting {
    /// Number of publications expected before each grid point.
    published: Vec<f64>,
    /// Total time that all earlier publications have waited at each grid point, in minutes.
    waited: Vec<f64>,
}

impl ExpectedWaiting {
    /// Sums the rates per minute over a week. `phases` is the share of a bin's publications in each of the bin's five minutes. A
    /// poll at the grid point of a bin still finds the publications of the bin's first minute.
    pub(super) fn from_rates(lambda: &WeekBins, phases: [f64; 5]) -> Self {
        let [first, second, third, fourth, fifth] = phases;
        let later = second + third + fourth + fifth;
        let waits = 4.0 * second + 3.0 * third + 2.0 * fourth + fifth;
        let width = real(BIN_MINUTES);
        let (mut published, mut waited) = (vec![0.0], vec![0.0]);
        let (mut sum, mut area) = (0.0, 0.0);
        for bin in 0..BINS + STEPS_MAX {
            area += width * sum + width * lambda.at(bin) * waits;
            sum += width * (lambda.at(bin) * later + lambda.at(bin + 1) * first);
            published.push(sum);
            waited.push(area);
        }
        Self { published, waited }
    }

    /// Returns the waiting time, until the second grid point, of everything published between two grid points, in minutes.
    pub(super) fn between(&self, from: usize, to: usize) -> f64 {
        let steps = real(i64::try_from(to.saturating_sub(from)).unwrap_or(0));
        at(&self.waited, to)
            - at(&self.waited, from)
            - steps * real(BIN_MINUTES) * at(&self.published, from)
    }

    /// Returns the publications expected between two grid points.
    pub(super) fn published_between(&self, from: usize, to: usize) -> f64 {
        at(&self.published, to) - at(&self.published, from)
    }
}

fn at(values: &[f64], place: usize) -> f64 {
    values.get(place).copied().unwrap_or(0.0)
}

impl PricePlan {
    /// Computes the plan with the lowest cost.
    pub(super) fn new(waiting: &ExpectedWaiting, terms: &Terms) -> Self {
        let reach = reach(waiting, terms);
        let mut costs = vec![0.0; BINS + STEPS_MAX];
        let mut steps = vec![0_u16; BINS];
        for round in 0..ROUNDS {
            if backward(waiting, terms, &reach, &mut costs, &mut steps, round > 0) {
                break;
            }
        }
        Self { steps: StepRuns::new(&steps) }
    }

    /// Returns the grid point of the next poll after a poll at a grid point.
    pub(super) fn next(&self, point: usize) -> usize {
        point + self.steps.steps_at(point % BINS).map_or(1, usize::from)
    }
}

impl From<PricePlan> for StepRuns {
    fn from(plan: PricePlan) -> Self {
        plan.steps
    }
}

impl TryFrom<StepRuns> for PricePlan {
    type Error = &'static str;

    fn try_from(steps: StepRuns) -> Result<Self, Self::Error> {
        if steps.fill(BINS, STEPS_MAX) {
            Ok(Self { steps })
        } else {
            Err("the weekly plan does not cover the week, or has an interval of more than two days")
        }
    }
}

/// Returns the longest allowed gap after a poll at each grid point, in grid steps.
fn reach(waiting: &ExpectedWaiting, terms: &Terms) -> Vec<usize> {
    let mut end = 0;
    let reaches = (0..BINS).map(|from| {
        end = end.max(from + terms.steps_min);
        let allowed = |end: usize| waiting.published_between(from, end) <= terms.publications_max;
        while end < from + terms.steps_max && allowed(end + 1) {
            end += 1;
        }
        end - from
    });
    reaches.collect()
}

/// Goes through the week once, from its end to its start. `costs` holds the costs from the previous pass, which are used for the
/// following week. `again` is false in the first pass, which cannot end early. Returns whether another pass would find the same
/// plan.
fn backward(
    waiting: &ExpectedWaiting,
    terms: &Terms,
    reach: &[usize],
    costs: &mut [f64],
    steps: &mut [u16],
    again: bool,
) -> bool {
    let base = at(costs, 0);
    let (week, beyond) = costs.split_at_mut(BINS);
    for (cost, next) in beyond.iter_mut().zip(week.iter()) {
        *cost = next - base;
    }
    // The cost from a poll at each grid point onward, plus the waiting time of everything published before that point.
    let mut totals: Vec<f64> =
        costs.iter().zip(&waiting.waited).map(|(cost, area)| cost + area).collect();
    let mut floors = Floors::over(&totals, &waiting.published);
    let (mut last, mut same) = (usize::MAX, SameAsBefore::default());
    for (from, reach) in reach.iter().enumerate().rev() {
        let nearest = from + terms.steps_min;
        let farthest = (from + reach).min(last).max(nearest);
        let slope = real(BIN_MINUTES) * at(&waiting.published, from);
        let (place, cheapest) = floors.least(&totals, (nearest, farthest), slope);
        last = place;
        let offset = real(i64::try_from(terms.steps_min).unwrap_or(1)) * slope;
        let cost = cheapest - offset - at(&waiting.waited, from) + terms.price;
        if let (Some(total), Some(step)) = (totals.get_mut(from), steps.get_mut(from)) {
            *total = cost + at(&waiting.waited, from);
            let before = std::mem::replace(step, u16::try_from(place - from).unwrap_or(u16::MAX));
            same.note(from, before == *step, cost - at(costs, from));
        }
        if again && same.decides_the_rest(place) {
            return true;
        }
        if from % BLOCK == 0 {
            floors.put(from / BLOCK, &totals, &waiting.published);
        }
    }
    for (cost, (total, area)) in costs.iter_mut().zip(totals.iter().zip(&waiting.waited)) {
        *cost = total - area;
    }
    same.everywhere
}

/// The most recent run of grid points at which a pass found the same next polls as the previous pass, with costs that
/// are higher by the same amount. If the run contains every point that earlier points can reach, the earlier points do
/// not change either.
struct SameAsBefore {
    /// The last grid point of the run.
    highest: usize,
    /// Amount by which the costs of the run are higher than in the previous pass, in minutes.
    dearer: f64,
    /// Whether all next polls so far are the same as in the previous pass.
    everywhere: bool,
}

impl Default for SameAsBefore {
    fn default() -> Self {
        Self { highest: 0, dearer: f64::NAN, everywhere: true }
    }
}

impl SameAsBefore {
    /// Records whether the next poll of a grid point is unchanged since the previous pass, and how much higher its cost is. Points
    /// are recorded from the end of the week to its start.
    fn note(&mut self, point: usize, same_poll: bool, dearer: f64) {
        self.everywhere &= same_poll;
        let alike = (dearer - self.dearer).abs() <= ALIKE;
        if !(same_poll && alike) {
            // A different cost starts a new run at this point. A different next poll starts a new run at the point before, which is
            // recorded next.
            self.highest = if same_poll { point } else { point.saturating_sub(1) };
            self.dearer = dearer;
        }
    }

    /// Checks whether the next polls of all earlier points are unchanged and would stay the same in another pass. They are if the
    /// run contains all points up to `farthest`, the last one that earlier points can reach, and the first [`STEPS_MAX`] points.
    fn decides_the_rest(&self, farthest: usize) -> bool {
        self.highest >= farthest && self.highest >= STEPS_MAX
    }
}

/// A lower bound on the cost of each block of grid points, which allows the search to skip most blocks.
///
/// From a poll at `from`, the cost of the next one at `e` is `total(e) - (e - from) * slope(from)`. The slope never
/// decreases along the week. The slope at the first point of a block therefore gives a lower bound for all points of a
/// block after `from`.
struct Floors(Vec<f64>);

impl Floors {
    /// Computes the bounds of the blocks after the end of the week. `put` sets the bounds within the week as their totals become
    /// known.
    fn over(totals: &[f64], published: &[f64]) -> Self {
        let mut floors = Self(vec![0.0; totals.len() / BLOCK]);
        (BINS / BLOCK..floors.0.len()).for_each(|block| floors.put(block, totals, published));
        floors
    }

    fn put(&mut self, block: usize, totals: &[f64], published: &[f64]) {
        let start = block * BLOCK;
        let slope = real(BIN_MINUTES) * at(published, start);
        let block_totals = totals.get(start..start + BLOCK).unwrap_or_default();
        if let Some(floor) = self.0.get_mut(block) {
            *floor = least(block_totals, slope).1;
        }
    }

    /// Returns the first position of the minimum of `totals[e] - (e - nearest) * slope` from `nearest` to `farthest`, and the
    /// minimum.
    fn least(
        &self,
        totals: &[f64],
        (nearest, farthest): (usize, usize),
        slope: f64,
    ) -> (usize, f64) {
        let whole = nearest.div_ceil(BLOCK)..(farthest + 1) / BLOCK;
        if whole.len() < 3 {
            let seen = totals.get(nearest..=farthest).unwrap_or_default();
            let (place, low) = least(seen, slope);
            return (nearest + place, low);
        }
        let (first, end) = (whole.start * BLOCK, whole.end * BLOCK);
        let passed = |place: usize| steps_of(place - nearest) * slope;
        let mut best = (nearest, f64::INFINITY);
        let mut look = |from: usize, to: usize| {
            let (place, low) = least(totals.get(from..to).unwrap_or_default(), slope);
            let low = low - passed(from);
            if low < best.1 || (low <= best.1 && from + place < best.0) {
                best = (from + place, low);
            }
            best.1
        };
        look(nearest, first);
        look(end, farthest + 1);
        let floors = self.0.get(whole).unwrap_or_default();
        let floor_at = |number: usize, floor: f64| floor - passed(first + number * BLOCK);
        let bounds = floors.iter().enumerate();
        let bounds = bounds.map(|(number, &floor)| (number, floor_at(number, floor)));
        let lowest = bounds
            .clone()
            .fold((0, f64::INFINITY), |low, next| if next.1 < low.1 { next } else { low });
        let start = first + lowest.0 * BLOCK;
        let mut low = look(start, start + BLOCK);
        for (number, bound) in bounds {
            if bound <= low + ROUNDING && number != lowest.0 {
                low = look(first + number * BLOCK, first + (number + 1) * BLOCK);
            }
        }
        best
    }
}

/// Converts grid steps to a floating-point number.
fn steps_of(steps: usize) -> f64 {
    f64::from(u16::try_from(steps).unwrap_or(u16::MAX))
}

/// Returns the first position of the minimum of `totals[n] - n * slope`, and the minimum. The loop processes four values at a time
/// so that the compiler can vectorize it.
fn least(totals: &[f64], slope: f64) -> (usize, f64) {
    let (fours, rest) = totals.as_chunks::<4>();
    let mut passed = [0.0, slope, 2.0 * slope, 3.0 * slope];
    let mut lowest = [f64::INFINITY; 4];
    for four in fours {
        for ((low, total), passed) in lowest.iter_mut().zip(four).zip(&mut passed) {
            let cost = total - *passed;
            *low = if cost < *low { cost } else { *low };
            *passed += 4.0 * slope;
        }
    }
    let rest = rest.iter().zip(passed).map(|(total, passed)| total - passed);
    let low = lowest.into_iter().chain(rest).fold(f64::INFINITY, f64::min);
    (place_of(totals, slope, low), low)
}

/// Finds the first position of the minimum `low`, with the same arithmetic as [`least`].
fn place_of(totals: &[f64], slope: f64, low: f64) -> usize {
    let mut passed = [0.0, slope, 2.0 * slope, 3.0 * slope];
    for (number, four) in totals.chunks(4).enumerate() {
        for (lane, (total, passed)) in four.iter().zip(&mut passed).enumerate() {
            if total - *passed <= low {
                return 4 * number + lane;
            }
            *passed += 4.0 * slope;
        }
    }
    0
}

/// Steps to the next poll for consecutive grid points, as runs. A record stores them as bytes: for each run the number
/// of points combined with the `nearing` bit, then the steps, as integers with seven bits per byte.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct StepRuns {
    runs: Vec<StepRun>,
    /// Total number of points in all runs.
    points: u16,
}

/// A run of consecutive grid points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StepRun {
    /// Total number of points in all runs before this one.
    before: u16,
    /// Number of points in this run.
    points: u16,
    /// Steps from the first point to its next poll.
    steps: u16,
    /// Whether all points lead to the same poll, so that each point is one step nearer than the one before. If not, all points
    /// are the same number of steps away from their next polls.
    nearing: bool,
}

impl StepRun {
    /// Returns the number of grid steps from a point of the run to its next poll. `point` is 0 for the first point of the run.
    const fn steps_at(self, point: u16) -> Option<u16> {
        if self.nearing { self.steps.checked_sub(point) } else { Some(self.steps) }
    }

    /// Returns the longest run that starts at the first of several consecutive points; `steps` holds the steps to the next poll of
    /// each.
    fn longest(steps: &[u16]) -> Option<Self> {
        let first = *steps.first()?;
        let run = |nearing| {
            let start = Self { before: 0, points: u16::MAX, steps: first, nearing };
            let fits = |(point, step): &(u16, &u16)| start.steps_at(*point) == Some(**step);
            let points = (0_u16..).zip(steps).take_while(fits).count();
            Self { points: u16::try_from(points).unwrap_or(u16::MAX), ..start }
        };
        let (nearing, even) = (run(true), run(false));
        Some(if nearing.points >= even.points { nearing } else { even })
    }

    /// Checks whether the run contains at least one point and the steps of all its points are between 1 and `most`.
    fn is_within(self, most: u16) -> bool {
        let last = self.points.checked_sub(1).and_then(|last| self.steps_at(last));
        last.is_some_and(|last| last >= 1) && self.steps <= most
    }
}

impl StepRuns {
    pub(super) fn new(steps: &[u16]) -> Self {
        let (mut runs, mut rest) = (Self::default(), steps);
        while let Some(run) = StepRun::longest(rest) {
            rest = rest.get(usize::from(run.points)..).unwrap_or_default();
            runs.push(run.points, run.steps, run.nearing);
        }
        runs
    }

    fn push(&mut self, points: u16, steps: u16, nearing: bool) {
        self.runs.push(StepRun { before: self.points, points, steps, nearing });
        self.points = self.points.saturating_add(points);
    }

    /// Returns the number of grid steps from a grid point to its next poll; `None` after the last grid point.
    pub(super) fn steps_at(&self, point: usize) -> Option<u16> {
        let point = u16::try_from(point).ok()?;
        let run = self.runs.partition_point(|run| run.before <= point).checked_sub(1)?;
        let run = self.runs.get(run)?;
        let into = point - run.before;
        if into < run.points { run.steps_at(into) } else { None }
    }

    /// Checks whether the runs have exactly `points` grid points in total, with steps between 1 and `most`.
    pub(super) fn fill(&self, points: usize, most: usize) -> bool {
        let most = u16::try_from(most).unwrap_or(u16::MAX);
        let counted: usize = self.runs.iter().map(|run| usize::from(run.points)).sum();
        counted == points && self.runs.iter().all(|run| run.is_within(most))
    }

    /// Decodes runs from the bytes of a record; `None` if the bytes are truncated.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (mut runs, mut bytes) = (Self::default(), bytes.iter());
        while !bytes.as_slice().is_empty() {
            let head = take_number(&mut bytes)?;
            let steps = u16::try_from(take_number(&mut bytes)?).ok()?;
            runs.push(u16::try_from(head >> 1).ok()?, steps, head & 1 == 1);
        }
        Some(runs)
    }
}

/// Writes a number in groups of seven bits, lowest first. The top bit is set if another group follows.
fn put_number(bytes: &mut Vec<u8>, mut number: u32) {
    loop {
        let low = number.to_le_bytes()[0] & 0x7f;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn take_number(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u32> {
    let mut number = 0_u32;
    for group in 0..3 {
        let byte = *bytes.next()?;
        number |= u32::from(byte & 0x7f) << (7 * group);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

impl Serialize for StepRuns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(self.runs.len() * 4);
        for run in &self.runs {
            put_number(&mut bytes, u32::from(run.points) << 1 | u32::from(run.nearing));
            put_number(&mut bytes, u32::from(run.steps));
        }
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for StepRuns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RunsVisitor)
    }
}

/// Deserializes runs from the bytes of a record, or from a list of runs as in the older record format.
struct RunsVisitor;

impl<'de> Visitor<'de> for RunsVisitor {
    type Value = StepRuns;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the runs of a weekly plan")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<StepRuns, E> {
        StepRuns::from_bytes(bytes).ok_or_else(|| E::custom("a run of a plan is incomplete"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<StepRuns, A::Error> {
        let mut runs = StepRuns::default();
        while let Some((points, steps, nearing)) = seq.next_element()? {
            runs.push(points, steps, nearing);
        }
        Ok(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::week_bins::DAY_BINS;
    use super::*;

    #[test]
    fn block_search_matches_the_exhaustive_search() {
        let waiting = week();
        let total = |place: usize| waiting.waited[place] + steps_of(place * 7919 % 101);
        let totals: Vec<f64> = (0..BINS + STEPS_MAX).map(total).collect();
        let mut floors = Floors::over(&totals, &waiting.published);
        (0..BINS / BLOCK).for_each(|block| floors.put(block, &totals, &waiting.published));
        for from in (0..BINS).step_by(7) {
            let slope = real(BIN_MINUTES) * waiting.published[from];
            for (nearest, farthest) in [(from + 3, from + 288), (from + 1, from + 40)] {
                let (place, low) = least(&totals[nearest..=farthest], slope);
                let found = floors.least(&totals, (nearest, farthest), slope);
                assert_eq!(found.0, nearest + place, "from {from}");
                assert!((found.1 - low).abs() < 1e-6);
            }
        }
    }

    /// Returns the mean weekly cost of a plan over 40 weeks, so that the start hardly matters.
    fn weekly_cost(plan: &PricePlan, waiting: &ExpectedWaiting, price: f64) -> f64 {
        let (mut point, mut cost) = (0, 0.0);
        while point < 40 * BINS {
            let next = plan.next(point);
            cost += price + waiting.between(point % BINS, next - point + point % BINS);
            point = next;
        }
        cost / 40.0
    }

    fn week() -> ExpectedWaiting {
        let mut lambda = WeekBins::flat(0.0005);
        (0..7).for_each(|day| lambda.add(day * DAY_BINS + 100 + day, 0.05));
        ExpectedWaiting::from_rates(&lambda, [0.2; 5])
    }

    #[test]
    fn early_stop_plan_costs_as_much_as_full_rounds() {
        let waiting = week();
        for (price, steps_max) in [(1.0, 288), (30.0, 288), (400.0, 576), (1e6, 576)] {
            let terms = Terms { price, steps_min: 3, steps_max, publications_max: f64::INFINITY };
            let reach = reach(&waiting, &terms);
            let mut costs = vec![0.0; BINS + STEPS_MAX];
            let mut steps = vec![0_u16; BINS];
            for _ in 0..ROUNDS {
                backward(&waiting, &terms, &reach, &mut costs, &mut steps, false);
            }
            let whole = weekly_cost(&PricePlan { steps: StepRuns::new(&steps) }, &waiting, price);
            let early = weekly_cost(&PricePlan::new(&waiting, &terms), &waiting, price);
            assert!((early / whole - 1.0).abs() < 1e-9, "{price}: {early} {whole}");
        }
    }

    #[test]
    fn the_least_and_its_first_place_are_found() {
        for (totals, slope, expected) in [
            (vec![3.0, 2.0, 2.0, 5.0, 2.0], 0.0, (1, 2.0)),
            (vec![3.0, 3.0, 3.0, 3.0, 3.0, 3.0], 1.0, (5, -2.0)),
            (vec![1.0], 1.0, (0, 1.0)),
        ] {
            let (place, low) = least(&totals, slope);
            assert_eq!((place, (low * 1e6).round() / 1e6), expected);
        }
    }

    #[test]
    fn no_even_plan_is_cheaper() {
        let waiting = week();
        let terms =
            Terms { price: 30.0, steps_min: 3, steps_max: 288, publications_max: f64::INFINITY };
        let plan = weekly_cost(&PricePlan::new(&waiting, &terms), &waiting, terms.price);
        for steps in 3..=288 {
            let even = PricePlan { steps: StepRuns::new(&[steps; BINS]) };
            assert!(plan <= weekly_cost(&even, &waiting, terms.price) + 1e-6, "{steps} steps");
        }
    }

    #[test]
    fn higher_poll_price_gives_fewer_polls() {
        let waiting = week();
        let polls = |price: f64| {
            let terms =
                Terms { price, steps_min: 3, steps_max: 288, publications_max: f64::INFINITY };
            let plan = PricePlan::new(&waiting, &terms);
            let (mut point, mut polls) = (0, 0);
            while point < 40 * BINS {
                point = plan.next(point);
                polls += 1;
            }
            polls
        };
        let counts = [1.0, 7.5, 30.0, 120.0, 1e6].map(polls);
        assert!(counts.is_sorted_by(|more, less| more >= less), "{counts:?}");
        assert!(counts[4] <= 7 * 40 + 1, "{counts:?}");
    }

    fn runs(all: &[(u16, u16, bool)]) -> StepRuns {
        let mut runs = StepRuns::default();
        for &(points, steps, nearing) in all {
            runs.push(points, steps, nearing);
        }
        runs
    }

    #[test]
    fn step_runs_round_trip_through_their_record() {
        for steps in [
            vec![],
            vec![7],
            vec![5, 4, 3, 9, 8, 7, 6, 3, 3, 3, 3],
            vec![3; 2016],
            (0..2016_u16).map(|point| 288 - point % 288).collect(),
        ] {
            let runs = StepRuns::new(&steps);
            assert!(runs.runs.len() <= steps.len().div_ceil(3) + 1, "{} runs", runs.runs.len());
            let bytes = rmp_serde::to_vec(&runs).unwrap();
            assert!(bytes.len() <= runs.runs.len() * 4 + 5);
            let read: StepRuns = rmp_serde::from_slice(&bytes).unwrap();
            assert_eq!(read, runs);
            assert!(runs.fill(steps.len(), 288));
            let back = (0..=steps.len()).map(|point| read.steps_at(point));
            assert_eq!(back.collect::<Option<Vec<_>>>(), None, "nothing beyond the last point");
            let back: Vec<u16> = (0..steps.len()).filter_map(|at| read.steps_at(at)).collect();
            assert_eq!(back, steps);
        }
    }

    #[test]
    fn step_runs_are_read_from_list_records() {
        let bytes = rmp_serde::to_vec(&[(4_u16, 9_u16, true), (2, 3, false)]).unwrap();
        let read: StepRuns = rmp_serde::from_slice(&bytes).unwrap();
        assert_eq!(read, runs(&[(4, 9, true), (2, 3, false)]));
    }

    #[test]
    fn step_runs_with_bad_length_or_range_are_refused() {
        for all in [
            &[(4, 9, false)][..],
            &[(6, 9, false)],
            &[(5, 3, true)],
            &[(5, 4, true)],
            &[(0, 3, true), (5, 9, true)],
            &[(5, 10, true)],
        ] {
            assert!(!runs(all).fill(5, 9), "{all:?}");
        }
        assert!(runs(&[(5, 9, true)]).fill(5, 9));
        assert_eq!(StepRuns::from_bytes(&[0x8a]), None);
        assert_eq!(StepRuns::from_bytes(&[0xff, 0xff, 0xff, 0x01]), None);
    }
}

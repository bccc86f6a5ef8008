//! The clocks (kinds of regular times) that can explain when a feed publishes, and the share of publications that each clock
//! explains (SCHEDULING annex A.2).
//!
//! Each clock is a density over the week, built from past publications. The shares are learned by
//! expectation-maximization with one week left out: the density that explains a week is built from the other weeks. A
//! sharp clock therefore gets a large share only if other weeks confirm it.

use super::week_bins::{BINS, WeekBins, real};

/// Number of clocks.
pub const CLOCKS: usize = 5;
/// How far a sharp clock (one that refers to a specific minute) extends before and after that minute, in bins: five minutes.
const NEAR_BINS: usize = 1;
/// How far the other clocks extend before and after their time, in bins: an hour.
const WIDE_BINS: usize = 12;
/// How far sharp clocks extend if the feed publishes at exact minutes, in bins: only the bin of that minute.
const EXACT_BINS: usize = 0;
/// Margin by which [`EXACT_BINS`] must predict the past better than [`NEAR_BINS`] to be chosen (natural logarithm).
const EXACT_MARGIN: f64 = 3.0;
/// Number of expectation-maximization rounds.
const ROUNDS: usize = 30;
/// Number of expectation-maximization rounds that are enough to compare two time zones.
const ROUNDS_COMPARED: usize = 4;
/// Number of publications that the prior shares count for.
const PRIOR_WEIGHT: f64 = 5.0;
/// Like [`PRIOR_WEIGHT`], but for punctual feeds: what the prior assumes about the minutes after a publication must not delay the
/// poll when the next one is a day later.
const PRIOR_WEIGHT_PUNCTUAL: f64 = 0.25;
/// Share of the sharp clocks above which a feed that publishes at one minute of its bins counts as punctual.
const PUNCTUAL_SHARE: f64 = 0.9;

/// A kind of regular time at which a feed may publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PublicationClock {
    /// The same minute of the week, within five minutes.
    MinuteOfWeek,
    /// The same time of the week, within an hour.
    TimeOfWeek,
    /// The same minute on all working days, or on all weekend days.
    MinuteOfDay,
    /// The same time on all working days, or on all weekend days, within an hour.
    TimeOfDay,
    /// No regular time.
    AnyTime,
}

impl PublicationClock {
    /// All clocks, in the order in which [`Shares`] lists them.
    pub const ALL: [Self; CLOCKS] =
        [Self::MinuteOfWeek, Self::TimeOfWeek, Self::MinuteOfDay, Self::TimeOfDay, Self::AnyTime];

    /// Returns the prior share of the clock; the shares add up to 1.
    const fn prior(self) -> f64 {
        match self {
            Self::MinuteOfWeek => 0.12,
            Self::TimeOfWeek => 0.14,
            Self::MinuteOfDay | Self::AnyTime => 0.24,
            Self::TimeOfDay => 0.26,
        }
    }

    /// Returns the clock's name in JSON.
    pub const fn word(self) -> &'static str {
        match self {
            Self::MinuteOfWeek => "minute_of_week",
            Self::TimeOfWeek => "time_of_week",
            Self::MinuteOfDay => "minute_of_day",
            Self::TimeOfDay => "time_of_day",
            Self::AnyTime => "any_time",
        }
    }

    /// Checks whether the clock refers to a specific minute. Such clocks are not used for feeds whose dates contain no time.
    pub(crate) const fn is_sharp(self) -> bool {
        match self {
            Self::MinuteOfWeek | Self::MinuteOfDay => true,
            Self::TimeOfWeek | Self::TimeOfDay | Self::AnyTime => false,
        }
    }
}

/// The publications of one week, as counts by bin; each bin occurs once.
#[derive(Debug, Clone, Default)]
pub(super) struct WeekSample {
    /// Weight of a publication in this week, 0 to 1. More recent weeks have a higher weight.
    pub(super) weight: f64,
    /// Bins with publications, each with the number of its publications.
    pub(super) bins: Vec<(usize, f64)>,
}

/// Share of each clock, in the order of [`PublicationClock::ALL`]; the sum is 1.
pub type Shares = [f64; CLOCKS];

/// The combined prediction of all clocks.
#[derive(Debug, Clone)]
pub(super) struct Mixture {
    pub(super) shares: Shares,
    /// Density over the bins; the sum is 1.
    pub(super) density: WeekBins,
    /// Whether the feed publishes at exact minutes, so that a sharp clock covers only the bin of its minute.
    pub(super) exact: bool,
}

/// Precision with which publication times are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    /// Known to the minute.
    Minutes,
    /// Known to within a few hours, so clocks that refer to a minute are not used.
    Hours,
    /// Only the day is known, so no clock with regular times is used.
    Days,
}

impl Precision {
    const fn allows(self, clock: PublicationClock) -> bool {
        match self {
            Self::Minutes => true,
            Self::Hours => !clock.is_sharp(),
            Self::Days => matches!(clock, PublicationClock::AnyTime),
        }
    }
}

/// Learns the share of each clock from several weeks of publications, and combines the clocks into one prediction. `one_minute` states
/// whether nearly all publications are at the same minute of their bins.
pub(super) fn mixture(weeks: &[WeekSample], precision: Precision, one_minute: bool) -> Mixture {
    let near = near_bins(weeks, precision);
    let all = Folded::from_histogram(&total(weeks), near);
    let evidence = evidence(weeks, near, all.sum, |bin| all.at(bin));
    let exact = near == EXACT_BINS;
    let (mut shares, _) = learned_shares(&evidence, precision, (PRIOR_WEIGHT, ROUNDS));
    let [of_week, _, of_day, ..] = shares;
    if exact && one_minute && of_week + of_day >= PUNCTUAL_SHARE {
        (shares, _) = learned_shares(&evidence, precision, (PRIOR_WEIGHT_PUNCTUAL, ROUNDS));
    }
    Mixture { shares, density: all.mixed(&shares), exact }
}

/// Returns how far a feed's sharp clocks extend, in bins: [`EXACT_BINS`] if it predicts the weeks clearly better, otherwise
/// [`NEAR_BINS`].
fn near_bins(weeks: &[WeekSample], precision: Precision) -> usize {
    let exact = precision.allows(PublicationClock::MinuteOfWeek)
        && foresight_of(weeks, precision, EXACT_BINS)
            > foresight_of(weeks, precision, NEAR_BINS) + EXACT_MARGIN;
    if exact { EXACT_BINS } else { NEAR_BINS }
}

/// Returns how well the other weeks predict each week, as a weighted sum of the logarithm of the density. The sum is accurate
/// enough to compare two time zones.
pub(super) fn foresight(weeks: &[WeekSample], precision: Precision) -> f64 {
    foresight_of(weeks, precision, NEAR_BINS)
}

/// Like [`foresight`], but for sharp clocks that extend `near` bins to either side.
fn foresight_of(weeks: &[WeekSample], precision: Precision, near: usize) -> f64 {
    // Only a few bins of the week contain publications, and only those are evaluated.
    let all = Histogram::new(total(weeks), near);
    let evidence = evidence(weeks, near, all.sum, |bin| all.at(bin));
    learned_shares(&evidence, precision, (PRIOR_WEIGHT, ROUNDS_COMPARED)).1
}

/// Returns the number of publications in each bin over all weeks, with each week multiplied by its weight.
fn total(weeks: &[WeekSample]) -> WeekBins {
    let mut total = WeekBins::flat(0.0);
    for week in weeks {
        week.bins.iter().for_each(|&(bin, count)| total.add(bin, count * week.weight));
    }
    total
}

/// The publications in each bin, smoothed in the way of each of the four clocks with regular times. Not normalized: smoothing
/// preserves the sum of all bins.
struct Folded {
    clocks: [WeekBins; CLOCKS - 1],
    sum: f64,
}

impl Folded {
    fn from_histogram(histogram: &WeekBins, near: usize) -> Self {
        let days = histogram.by_kind_of_day();
        let wide = WIDE_BINS;
        let clocks =
            [histogram.spread(near), histogram.spread(wide), days.spread(near), days.spread(wide)];
        Self { clocks, sum: histogram.sum() }
    }

    fn at(&self, bin: usize) -> SeenByClocks {
        self.clocks.each_ref().map(|clock| clock.at(bin))
    }

    fn mixed(&self, shares: &Shares) -> WeekBins {
        let uniform = 1.0 / real(i64::try_from(BINS).unwrap_or(1));
        if self.sum <= 0.0 {
            return WeekBins::flat(uniform);
        }
        let [.., any_time] = shares;
        let mut density = WeekBins::flat(uniform * any_time);
        for (clock, share) in self.clocks.iter().zip(shares) {
            density.add_scaled(clock, share / self.sum);
        }
        density
    }
}

/// The value of one bin after smoothing, for each of the four clocks with regular times.
type SeenByClocks = [f64; CLOCKS - 1];

/// The publications in each bin, smoothed for the clocks only in the bins for which a value is requested.
struct Histogram {
    bins: WeekBins,
    days: WeekBins,
    sum: f64,
    /// How far the sharp clocks extend to either side, in bins.
    near: usize,
}

impl Histogram {
    fn new(bins: WeekBins, near: usize) -> Self {
        Self { sum: bins.sum(), days: bins.by_kind_of_day(), bins, near }
    }

    fn at(&self, bin: usize) -> SeenByClocks {
        let (bins, days) = (&self.bins, &self.days);
        let (near, wide) = (self.near, WIDE_BINS);
        [
            bins.spread_at(bin, near),
            bins.spread_at(bin, wide),
            days.spread_at(bin, near),
            days.spread_at(bin, wide),
        ]
    }
}

/// The density that each clock, built from the other weeks, predicts for the publications in one bin of a week.
struct ClockEvidence {
    weight: f64,
    densities: Shares,
}

/// Returns the evidence for every bin of every week that contains publications. `all` returns the values of a bin over all weeks,
/// and `sum` is the sum of all bins over all weeks.
fn evidence(
    weeks: &[WeekSample],
    near: usize,
    sum: f64,
    all: impl Fn(usize) -> SeenByClocks,
) -> Vec<ClockEvidence> {
    let mut evidence = Vec::new();
    for week in weeks.iter().filter(|week| !week.bins.is_empty()) {
        let mut own = WeekBins::flat(0.0);
        week.bins.iter().for_each(|&(bin, count)| own.add(bin, count));
        let own = Histogram::new(own, near);
        let others = sum - week.weight * own.sum;
        evidence.extend(week.bins.iter().map(|&(bin, count)| ClockEvidence {
            weight: count * week.weight,
            densities: without(all(bin), own.at(bin), week.weight, others),
        }));
    }
    evidence
}

/// Returns the density that each clock predicts for a bin if one week, with the given `weight`, is left out. `all` and `week` are
/// the values of the bin over all weeks and in the omitted week, and `others` is the sum of all bins of the other weeks. The last
/// density applies to publications without a regular time.
fn without(all: SeenByClocks, week: SeenByClocks, weight: f64, others: f64) -> Shares {
    let uniform = 1.0 / real(i64::try_from(BINS).unwrap_or(1));
    let mut densities = [uniform; CLOCKS];
    if others > 1e-9 {
        for ((density, all), week) in densities.iter_mut().zip(all).zip(week) {
            *density = (all - weight * week).max(0.0) / others;
        }
    }
    densities
}

fn learned_shares(
    evidence: &[ClockEvidence],
    precision: Precision,
    (prior_weight, rounds): (f64, usize),
) -> (Shares, f64) {
    let prior = prior(precision);
    let mut shares = prior;
    let mut foresight = 0.0;
    for round in 1..=rounds {
        let mut sums = prior.map(|share| share * prior_weight);
        for seen in evidence {
            let parts: Shares = products(&seen.densities, &shares);
            let density: f64 = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            if round == rounds {
                foresight += seen.weight * density.ln();
            }
            for (sum, part) in sums.iter_mut().zip(parts) {
                *sum += seen.weight * part / density;
            }
        }
        let all: f64 = sums.iter().sum();
        shares = sums.map(|sum| sum / all);
    }
    (shares, foresight)
}

fn prior(precision: Precision) -> Shares {
    let prior = PublicationClock::ALL
        .map(|clock| if precision.allows(clock) { clock.prior() } else { 0.0 });
    let sum: f64 = prior.iter().sum();
    prior.map(|share| share / sum)
}

fn products(left: &Shares, right: &Shares) -> Shares {
    let mut products = *left;
    products.iter_mut().zip(right).for_each(|(product, factor)| *product *= factor);
    products
}

#[cfg(test)]
mod tests {
    use super::super::week_bins::DAY_BINS;
    use super::*;

    fn weeks(count: usize, bins: impl Fn(usize) -> Vec<usize>) -> Vec<WeekSample> {
        let week = |age| WeekSample {
            weight: 1.0,
            bins: bins(age).into_iter().map(|bin| (bin, 1.0)).collect(),
        };
        (0..count).map(week).collect()
    }

    fn share(mixture: &Mixture, clock: PublicationClock) -> f64 {
        mixture.shares
            [PublicationClock::ALL.iter().position(|&other| other == clock).expect("a clock")]
    }

    /// Returns a pseudo-random bin that is the same in every run.
    fn scattered(age: usize, number: usize) -> usize {
        let mixed = (age * 100 + number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 31)) % BINS
    }

    #[test]
    fn weekly_publication_minute_is_recognised() {
        let learned = mixture(&weeks(8, |_| vec![300, 1500]), Precision::Minutes, false);
        assert!(share(&learned, PublicationClock::MinuteOfWeek) > 0.5, "{:?}", learned.shares);
        assert!(learned.density.at(300) > 100.0 / 2016.0);
    }

    #[test]
    fn workday_publication_time_is_recognised() {
        let daily =
            |age: usize| (0..5).map(move |day| day * DAY_BINS + 100 + (age * 5 + day * 3) % 9);
        let learned = mixture(&weeks(8, |age| daily(age).collect()), Precision::Minutes, false);
        let by_day = share(&learned, PublicationClock::TimeOfDay)
            + share(&learned, PublicationClock::MinuteOfDay);
        assert!(by_day > 0.5, "{:?}", learned.shares);
        assert!(learned.density.at(DAY_BINS + 104) > 10.0 * learned.density.at(6 * DAY_BINS + 104));
    }

    #[test]
    fn random_times_are_recognised_as_no_clock() {
        let learned = mixture(
            &weeks(10, |age| (0..12).map(|number| scattered(age, number)).collect()),
            Precision::Minutes,
            false,
        );
        assert!(share(&learned, PublicationClock::AnyTime) > 0.5, "{:?}", learned.shares);
    }

    #[test]
    fn dates_without_minutes_give_no_sharp_clock() {
        let learned = mixture(&weeks(8, |_| vec![300, 1500]), Precision::Hours, false);
        let sharp = share(&learned, PublicationClock::MinuteOfWeek)
            + share(&learned, PublicationClock::MinuteOfDay);
        assert!(sharp <= 0.0, "{:?}", learned.shares);
    }

    #[test]
    fn shares_and_density_always_sum_to_one() {
        for learned in [
            mixture(&[], Precision::Minutes, false),
            mixture(&weeks(1, |_| vec![5]), Precision::Minutes, false),
            mixture(&[], Precision::Hours, false),
        ] {
            assert!((learned.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!((learned.density.sum() - 1.0).abs() < 1e-9);
        }
    }
}

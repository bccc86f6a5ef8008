//! A value for each of the 2,016 five-minute bins of a week, starting at Monday 00:00, with smoothing.

/// Minutes in a week.
pub(super) const WEEK_MINUTES: i64 = 7 * DAY_MINUTES;
/// Minutes in a day.
pub(super) const DAY_MINUTES: i64 = 1440;
/// Minutes in a bin.
pub(super) const BIN_MINUTES: i64 = 5;
/// Bins in a week.
pub(super) const BINS: usize = 7 * DAY_BINS;
/// Bins in a day.
pub(super) const DAY_BINS: usize = 288;
/// Number of working days, starting at Monday.
const WORKING_DAYS: usize = 5;

/// Returns the minute of the week, 0 to 10,079, of a local time in minutes since 1970-01-01 (a Thursday).
pub(super) const fn week_minute(local_minutes: i64) -> i64 {
    (local_minutes + 3 * DAY_MINUTES).rem_euclid(WEEK_MINUTES)
}

/// Returns the bin, 0 to 2,015, that contains a minute of the week.
pub(super) fn bin_of(week_minute: i64) -> usize {
    usize::try_from(week_minute.rem_euclid(WEEK_MINUTES) / BIN_MINUTES).unwrap_or(0)
}

/// Converts minutes to a floating-point number.
#[expect(clippy::cast_precision_loss, reason = "minutes since 1970 stay far below 2^52")]
pub(super) const fn real(minutes: i64) -> f64 {
    minutes as f64
}

/// One number for each bin.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct WeekBins(Vec<f64>);

impl WeekBins {
    /// Creates a week with the same number in every bin.
    pub(super) fn flat(value: f64) -> Self {
        Self(vec![value; BINS])
    }

    /// Adds to the number in a bin (modulo a week).
    pub(super) fn add(&mut self, bin: usize, amount: f64) {
        if let Some(cell) = self.0.get_mut(bin % BINS) {
            *cell += amount;
        }
    }

    /// Returns the number in a bin (modulo a week).
    pub(super) fn at(&self, bin: usize) -> f64 {
        self.0.get(bin % BINS).copied().unwrap_or(0.0)
    }

    pub(super) fn sum(&self) -> f64 {
        self.0.iter().sum()
    }

    pub(super) fn scaled(mut self, factor: f64) -> Self {
        self.0.iter_mut().for_each(|cell| *cell *= factor);
        self
    }

    /// Adds the numbers of another week to this one, multiplied by `factor`.
    pub(super) fn add_scaled(&mut self, other: &Self, factor: f64) {
        for (cell, value) in self.0.iter_mut().zip(&other.0) {
            *cell += factor * value;
        }
    }

    /// Spreads every bin over its neighbors with a triangular kernel that reaches `reach` bins to either side and
    /// preserves the sum. A reach of 1 gives (1 2 1)/4; a reach of 12 is an hour.
    pub(super) fn spread(&self, reach: usize) -> Self {
        let width = reach + 1;
        let mut sums = running_sums(&running_sums(&self.0, width), width);
        sums.rotate_right(reach);
        let area = real(i64::try_from(width * width).unwrap_or(1));
        Self(sums).scaled(1.0 / area)
    }

    /// Returns what [`Self::spread`] returns for a single bin, without computing the others.
    pub(super) fn spread_at(&self, bin: usize, reach: usize) -> f64 {
        let (first, width) = ((bin + BINS - reach) % BINS, reach + 1);
        let (start, end) = self.0.split_at(first.min(self.0.len()));
        let (mut sum, mut weight) = (0.0, 0.0);
        for (place, value) in end.iter().chain(start).take(2 * reach + 1).enumerate() {
            weight += if place < width { 1.0 } else { -1.0 };
            sum += value * weight;
        }
        sum / real(i64::try_from(width * width).unwrap_or(1))
    }

    /// Replaces every bin with the mean at the same time over all days of the same kind: Monday to Friday, or the weekend.
    pub(super) fn by_kind_of_day(&self) -> Self {
        let (working, weekend) = self.0.split_at((WORKING_DAYS * DAY_BINS).min(self.0.len()));
        let mut week = Vec::with_capacity(BINS);
        for days in [working, weekend] {
            let mean = mean_day(days);
            for _ in days.chunks(DAY_BINS) {
                week.extend_from_slice(&mean);
            }
        }
        Self(week)
    }

    /// Returns the sum of the bins in each of the 168 hours of the week.
    pub(super) fn hours(&self) -> Vec<f64> {
        self.0.chunks(DAY_BINS / 24).map(|hour| hour.iter().sum()).collect()
    }
}

/// Returns the mean of several days for each bin of the day.
fn mean_day(days: &[f64]) -> Vec<f64> {
    let mut mean = vec![0.0; DAY_BINS];
    let share = 1.0 / real(i64::try_from(days.len() / DAY_BINS).unwrap_or(1).max(1));
    for day in days.chunks(DAY_BINS) {
        for (cell, value) in mean.iter_mut().zip(day) {
            *cell += value * share;
        }
    }
    mean
}

/// Returns the sum of `width` bins starting at each bin, wrapping around the week.
fn running_sums(values: &[f64], width: usize) -> Vec<f64> {
    let mut sum: f64 = values.iter().take(width).sum();
    let entering = values.iter().skip(width).chain(values.iter().take(width));
    let mut sums = Vec::with_capacity(values.len());
    values.iter().zip(entering).for_each(|(leaving, entering)| {
        sums.push(sum.max(0.0));
        sum += entering - leaving;
    });
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(bin: usize) -> WeekBins {
        let mut week = WeekBins::flat(0.0);
        week.add(bin, 1.0);
        week
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn a_week_starts_on_monday() {
        // 2026-03-02T00:00:00Z is a Monday.
        let monday = 1_772_409_600 / 60;
        assert_eq!(week_minute(monday), 0);
        assert_eq!(week_minute(monday - 1), WEEK_MINUTES - 1);
        assert_eq!(bin_of(week_minute(monday + DAY_MINUTES + 14)), DAY_BINS + 2);
    }

    #[test]
    fn spreading_is_triangular_and_keeps_the_sum() {
        let near = single(10).spread(1);
        assert!(close(near.at(9), 0.25) && close(near.at(10), 0.5) && close(near.at(11), 0.25));
        let wide = single(0).spread(12);
        assert!(close(wide.at(0), 13.0 / 169.0) && close(wide.at(12), 1.0 / 169.0));
        assert!(close(wide.at(BINS - 12), 1.0 / 169.0) && close(wide.at(13), 0.0));
        assert!(close(wide.sum(), 1.0));
        let week = single(3).by_kind_of_day();
        let spread = week.spread(12);
        assert!((0..BINS).all(|bin| close(spread.at(bin), week.spread_at(bin, 12))));
    }

    #[test]
    fn days_of_a_kind_share_their_times() {
        let tuesday = single(DAY_BINS + 7).by_kind_of_day();
        assert!((0..5).all(|day| close(tuesday.at(day * DAY_BINS + 7), 0.2)));
        assert!(close(tuesday.at(5 * DAY_BINS + 7), 0.0) && close(tuesday.sum(), 1.0));
        let sunday = single(6 * DAY_BINS).by_kind_of_day();
        assert!(close(sunday.at(5 * DAY_BINS), 0.5) && close(sunday.at(0), 0.0));
    }

    #[test]
    fn hours_are_sums_of_their_bins() {
        let hours = WeekBins::flat(0.5).hours();
        assert_eq!(hours.len(), 168);
        assert!(hours.iter().all(|&hour| close(hour, 6.0)));
    }
}

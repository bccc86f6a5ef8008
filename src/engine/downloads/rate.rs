//! The pace of all downloads together: how long to wait before the next bytes are received.

use std::time::Duration;

/// Spreads received bytes over time, so that they never exceed a rate by more than the bytes that arrived together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pace {
    /// Time from which more bytes may be received, since the program started.
    free_at: Duration,
}

impl Pace {
    /// Notes bytes that arrived at `now` and returns how long to wait before more are received. `rate` is in bytes per second;
    /// `None` means no limit.
    pub fn wait_after(&mut self, now: Duration, bytes: u64, rate: Option<u64>) -> Duration {
        let Some(rate) = rate.filter(|&rate| rate > 0) else { return Duration::ZERO };
        let micros = u128::from(bytes).saturating_mul(1_000_000).div_ceil(u128::from(rate));
        let takes = Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
        self.free_at = self.free_at.max(now).saturating_add(takes);
        self.free_at.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_spread_over_time_whoever_receives_them() {
        let mut pace = Pace::default();
        let second = Duration::from_secs(1);
        assert_eq!(pace.wait_after(second, 500, Some(1000)), second / 2);
        assert_eq!(pace.wait_after(second, 1000, Some(1000)), second * 3 / 2, "another download");
        // Time in which nothing arrived is not saved up.
        assert_eq!(pace.wait_after(second * 60, 1000, Some(1000)), second);
        assert_eq!(pace.wait_after(second, 1 << 40, None), Duration::ZERO);
        assert_eq!(pace.wait_after(second, 1, Some(0)), Duration::ZERO);
    }
}

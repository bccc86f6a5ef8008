//! Detects times during which this process did not run, because a shell stopped it or the machine was asleep. A timeout or a
//! closed connection during that time does not count against the server (SPEC G.32).

use std::pin::pin;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::{sleep, timeout};

use crate::engine::poll::fetch::Fetched;
use crate::io::clock;

/// Interval at which both clocks are read during a request.
const BEAT: Duration = Duration::from_secs(1);
/// Minimum time between two readings of the clocks from which it is concluded that the process did not run. Even on a busy
/// machine, a running process is never delayed this long.
const STALL_MIN: Duration = Duration::from_secs(5);
/// Time for the network to return after the machine wakes up.
pub(super) const WAKE_GRACE: Duration = Duration::from_secs(10);

/// A reading of both clocks (monotonic and wall clock) at the same time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    monotonic: Instant,
    wall: DateTime<Utc>,
}

/// The reason why the process did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stall {
    Stopped,
    /// The machine was asleep. The monotonic clock stopped during that time.
    Asleep,
}

impl Moment {
    pub(super) fn now() -> Self {
        Self { monotonic: clock::instant(), wall: clock::precise_now() }
    }

    /// Returns the stall between an earlier reading and this one, if any.
    fn stall_since(self, before: Self) -> Option<Stall> {
        let passed = self.monotonic.saturating_duration_since(before.monotonic);
        let shown = self.wall.signed_duration_since(before.wall);
        let long = TimeDelta::from_std(passed.saturating_add(STALL_MIN)).unwrap_or(TimeDelta::MAX);
        if shown > long {
            Some(Stall::Asleep)
        } else {
            (passed > STALL_MIN).then_some(Stall::Stopped)
        }
    }
}

/// Sends a request. If the request fails and the process did not run for some time, sends the request once more. If the machine
/// was asleep, waits for the network to return first.
pub(super) async fn ask_past_stalls<F: Future<Output = Fetched>>(
    now: impl Fn() -> Moment,
    wake_grace: Duration,
    ask: impl Fn() -> F,
) -> Fetched {
    let mut asking = pin!(ask());
    let (mut before, mut stall) = (now(), None);
    let fetched = loop {
        let answered = timeout(BEAT, &mut asking).await;
        let after = now();
        stall = after.stall_since(before).or(stall);
        before = after;
        if let Ok(fetched) = answered {
            break fetched;
        }
    };
    match stall.filter(|_| fetched.result.is_err()) {
        None => return fetched,
        Some(Stall::Asleep) => sleep(wake_grace).await,
        Some(Stall::Stopped) => {}
    }
    ask().await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::engine::poll::fetch::FetchFailure;

    /// Returns how often a request to a silent server is sent if each of the two clocks advances by the given number of seconds
    /// between two readings.
    async fn asked(monotonic: u64, wall: i64) -> u32 {
        let began = Moment::now();
        let (looks, count) = (Cell::new(0), Cell::new(0));
        let now = || {
            looks.set(looks.get() + 1);
            Moment {
                monotonic: began.monotonic + Duration::from_secs(looks.get() * monotonic),
                wall: began.wall + TimeDelta::seconds(looks.get().cast_signed() * wall),
            }
        };
        let ask = async || {
            count.set(count.get() + 1);
            Fetched {
                started: began.wall,
                wire_bytes: 0,
                hops: Vec::new(),
                conditional: false,
                result: Err(FetchFailure::Timeout { phase: "waiting for data", seconds: 20 }),
            }
        };
        ask_past_stalls(now, Duration::ZERO, ask).await;
        count.get()
    }

    #[tokio::test]
    async fn suspended_time_does_not_count_as_a_server_stall() {
        for (monotonic, wall, times) in [(1, 1, 1), (60, 60, 2), (1, 3600, 2), (1, -3600, 1)] {
            assert_eq!(asked(monotonic, wall).await, times, "{monotonic} {wall}");
        }
    }
}

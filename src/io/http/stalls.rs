//! Time in which this process did not run: a shell stopped it, or the machine was asleep. What a server did meanwhile is not
//! known, so that a time-out which passed then, or a connection that ended, does not count against it (SPEC G.32).

use std::pin::pin;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::{sleep, timeout};

use crate::engine::poll::fetch::Fetched;
use crate::io::clock;

/// How often the clocks are looked at while a server is asked.
const BEAT: Duration = Duration::from_secs(1);
/// Between two looks no more time passes, however busy the machine is.
const STALL_MIN: Duration = Duration::from_secs(5);
/// What the network gets after the machine woke up.
pub(super) const WAKE_GRACE: Duration = Duration::from_secs(10);

/// What the clocks show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    monotonic: Instant,
    wall: DateTime<Utc>,
}

/// Why a process did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stall {
    Stopped,
    /// The machine was asleep: the monotonic clock stood still.
    Asleep,
}

impl Moment {
    pub(super) fn now() -> Self {
        Self { monotonic: clock::instant(), wall: clock::precise_now() }
    }

    /// Whether the process did not run for a while before this.
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

/// Asks a server, and once more if that fails and the process did not run meanwhile; after a sleep the network gets a
/// moment before.
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

    /// How often a server is asked that does not answer, while the clocks go on by so many seconds at each look.
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
                result: Err(FetchFailure::Timeout { phase: "the next byte", seconds: 20 }),
            }
        };
        ask_past_stalls(now, Duration::ZERO, ask).await;
        count.get()
    }

    #[tokio::test]
    async fn time_in_which_the_process_did_not_run_counts_against_no_server() {
        for (monotonic, wall, times) in [(1, 1, 1), (60, 60, 2), (1, 3600, 2), (1, -3600, 1)] {
            assert_eq!(asked(monotonic, wall).await, times, "{monotonic} {wall}");
        }
    }
}

//! Lets sled's threads sleep longer. sled has seven threads, and each wakes up every second to look for work, although it is also
//! woken when there is work. sled has no setting for that, but Linux can delay the timers of a thread.

use sled::{Config, Db};

/// Maximum delay of a thread's timers, in nanoseconds: two minutes.
#[cfg(target_os = "linux")]
const LATE: std::num::NonZeroU64 = std::num::NonZeroU64::new(120_000_000_000).unwrap();

/// How long a store will be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionLength {
    /// For one command. sled's threads wake up as usual.
    Short,
    /// For a reader or a service, which may run all day. sled's threads should not wake up without work.
    Long,
}

/// Opens a database for a session of this length.
pub(super) fn open_database(config: &Config, stay: SessionLength) -> sled::Result<Db> {
    match stay {
        SessionLength::Short => config.open(),
        SessionLength::Long => start_sleepy_threads(|| {
            let db = config.open()?;
            // sled starts its threads with their first work. In a new database, this flush is the first work.
            db.flush()?;
            Ok(db)
        }),
    }
}

/// Runs code that starts threads. Timers of these threads may then fire late, to save wake-ups. Until the code returns, this also
/// applies to the current thread, so the code must not sleep.
fn start_sleepy_threads<T>(work: impl FnOnce() -> T) -> T {
    let _until_done = Sleepy::begin();
    work()
}

/// While this exists, timers of the current thread may be late. Threads that it starts inherit that.
struct Sleepy;

impl Sleepy {
    fn begin() -> Self {
        // If this fails, the threads only wake up more often.
        #[cfg(target_os = "linux")]
        rustix::thread::set_current_timer_slack(Some(LATE)).ok();
        Self
    }
}

impl Drop for Sleepy {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        rustix::thread::set_current_timer_slack(None).ok();
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use crate::io::store::sleepy_threads::*;

    /// Returns how late a timer of this thread may be.
    fn late() -> u64 {
        let thread = rustix::thread::gettid();
        let told = std::fs::read_to_string(format!("/proc/{thread}/timerslack_ns")).unwrap();
        told.trim().parse().unwrap()
    }

    #[test]
    fn only_threads_started_inside_are_sleepy_despite_panic() {
        let usual = late();
        let inherited = start_sleepy_threads(|| std::thread::spawn(late).join());
        assert_eq!(inherited.unwrap(), LATE.get());
        std::panic::catch_unwind(|| start_sleepy_threads(|| panic!("sled does that"))).unwrap_err();
        assert_eq!(late(), usual);
        assert_eq!(std::thread::spawn(late).join().unwrap(), usual);
    }
}

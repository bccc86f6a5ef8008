//! Lets sled's threads sleep. It keeps seven of them, and each wakes up every second to see whether there is work, although
//! it is woken when there is. sled has no setting for that, the system has one.

use sled::{Config, Db};

/// How late a timer of a thread may be, nanoseconds: two minutes.
#[cfg(target_os = "linux")]
const LATE: std::num::NonZeroU64 = std::num::NonZeroU64::new(120_000_000_000).unwrap();

/// How long a store will be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionLength {
    /// For one command: its threads may wake up as they like.
    Short,
    /// For a reader or a service: nobody is to wake up all day for nothing.
    Long,
}

/// Opens a database.
pub(super) fn open_database(config: &Config, stay: SessionLength) -> sled::Result<Db> {
    match stay {
        SessionLength::Short => config.open(),
        SessionLength::Long => start_sleepy_threads(|| {
            let db = config.open()?;
            // sled starts its threads with the first thing that they do: in a new database that is this.
            db.flush()?;
            Ok(db)
        }),
    }
}

/// Does something whose threads may be woken late where they only wait for time to pass. This thread may be so meanwhile:
/// nothing in it may sleep for a time.
fn start_sleepy_threads<T>(work: impl FnOnce() -> T) -> T {
    let _until_done = Sleepy::begin();
    work()
}

/// The threads that are started as long as this lives inherit it.
struct Sleepy;

impl Sleepy {
    fn begin() -> Self {
        // Without it everything works as well; the threads wake up more often.
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

    /// How late a timer of this thread may be.
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

//! Asks the system whether there is memory enough, and gives it back.

use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// While the program works, memory is given back this often; and as long after the last work.
const GIVES_BACK_EVERY: Duration = Duration::from_secs(10);
/// How it is done, where that is known.
static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

/// Bytes that are needed besides the program's own files: stacks of threads, the store, a poll.
const NEEDED: usize = 112 * 1024 * 1024;

/// An error, as a sentence, where the system would not give the memory that is needed: what it refuses later ends the program, or
/// a thread that others wait for. It is asked for as the stack of a thread, which uses nothing of it.
pub fn check_room() -> Result<(), String> {
    let asked = thread::Builder::new().name("room".into()).stack_size(NEEDED).spawn(|| ());
    let given = asked.map(|thread| drop(thread.join()));
    given.map_err(|_| {
        format!(
            "there is too little memory: the system refuses {} MB; see 'ulimit -v', or end other programs",
            NEEDED / (1024 * 1024)
        )
    })
}

/// Sets how the pages are given back in which nothing is used any more. The first one counts.
pub fn set_give_back(give_back: fn()) {
    GIVE_BACK.set(give_back).ok();
}

/// When memory is given back: while there is work, and once after it. Nothing is done at rest.
#[derive(Debug)]
pub struct MemoryReturns {
    last: Instant,
    has_worked: bool,
}

impl MemoryReturns {
    /// `now`: when the program begins.
    pub const fn new(now: Instant) -> Self {
        Self { last: now, has_worked: false }
    }

    /// There is work, after which memory is given back where it is known how.
    pub fn note_work(&mut self) {
        self.has_worked = GIVE_BACK.get().is_some();
    }

    /// When memory is to be given back, if nothing else happens before.
    pub fn due(&self) -> Option<Instant> {
        self.has_worked.then(|| self.last + GIVES_BACK_EVERY)
    }

    /// Whether it is time to give memory back, which is then to be done.
    pub fn is_time(&mut self, now: Instant) -> bool {
        let is_time = self.due().is_some_and(|due| due <= now);
        if is_time {
            *self = Self::new(now);
        }
        is_time
    }
}

/// Gives memory back on a thread of its own: that takes a few milliseconds, and the screen goes on.
pub fn give_back() {
    if let Some(give_back) = GIVE_BACK.get() {
        // Where there is no thread to be had, it is done the next time.
        thread::Builder::new().name("memory".into()).spawn(give_back).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_back_while_there_is_work_and_once_after_it() {
        let began = crate::io::clock::instant();
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut returns = MemoryReturns::new(began);
        assert!(returns.due().is_none() && !returns.is_time(at(60)), "nothing was done");
        set_give_back(|| {});
        let mut given = Vec::new();
        for second in 61..=100 {
            if second <= 75 {
                returns.note_work();
            }
            if returns.is_time(at(second)) {
                given.push(second);
            }
        }
        assert_eq!(given, [61, 71, 81]);
        assert_eq!(returns.due(), None);
    }
}

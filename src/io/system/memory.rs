//! Checks whether there is enough memory, and returns unused memory to the system.

use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which memory is returned to the system while the program works, and delay after the last work until memory is
/// returned once more.
const GIVES_BACK_EVERY: Duration = Duration::from_secs(10);
/// The function that returns unused memory to the system, if the platform has such a function.
static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

/// Memory needed in addition to the program itself, bytes: thread stacks, the store, a poll.
const NEEDED: usize = 112 * 1024 * 1024;

/// Checks whether the system grants the required memory, because a later refusal would end the program or a thread that
/// others wait for. The memory is requested as the stack of a thread, which does not use it. The error is a sentence.
pub fn check_room() -> Result<(), String> {
    let asked = thread::Builder::new().name("room".into()).stack_size(NEEDED).spawn(|| ());
    let given = asked.map(|thread| drop(thread.join()));
    given.map_err(|_| {
        format!(
            "not enough memory: the system refused {} MB; see 'ulimit -v', or close other programs",
            NEEDED / (1024 * 1024)
        )
    })
}

/// Sets the function that returns unused memory to the system. Only the first call has an effect.
pub fn set_give_back(give_back: fn()) {
    GIVE_BACK.set(give_back).ok();
}

/// Decides when to return unused memory to the system: at intervals during work, and once after the last work. An idle program
/// returns none.
#[derive(Debug)]
pub struct MemoryReturns {
    last: Instant,
    has_worked: bool,
}

impl MemoryReturns {
    /// Creates the state at the start of the program, which is at `now`.
    pub const fn new(now: Instant) -> Self {
        Self { last: now, has_worked: false }
    }

    /// Records that the program has work to do, so that memory is returned afterwards if the platform supports it.
    pub fn note_work(&mut self) {
        self.has_worked = GIVE_BACK.get().is_some();
    }

    /// Returns the next time to return memory, if any.
    pub fn due(&self) -> Option<Instant> {
        self.has_worked.then(|| self.last + GIVES_BACK_EVERY)
    }

    /// Checks whether it is time to return memory. If it is, the caller must call [`give_back`].
    pub fn is_time(&mut self, now: Instant) -> bool {
        let is_time = self.due().is_some_and(|due| due <= now);
        if is_time {
            *self = Self::new(now);
        }
        is_time
    }
}

/// Returns unused memory to the system on a separate thread, because this takes a few milliseconds and must not block the screen.
pub fn give_back() {
    if let Some(give_back) = GIVE_BACK.get() {
        // If no thread can be started, the next call returns the memory.
        thread::Builder::new().name("memory".into()).spawn(give_back).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_released_during_work_and_once_after() {
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

//! Functions for the operating system: raises its limits, describes its errors, returns unused memory to it, and measures the
//! free disk space.

use std::io::{Error, ErrorKind};
use std::path::Path;
use std::sync::{Arc, OnceLock, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit, setrlimit};

/// Minimum number of open files and connections that the system must allow. With a lower limit, the program would wait forever
/// for a free file descriptor.
const FILES_MIN: u64 = 32;

/// Raises the limit on open files and connections to the maximum that the system allows, which is far above the default limit.
/// The error is a sentence.
pub fn allow_many_files() -> Result<(), String> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Ignore an error: with a low limit, requests wait for each other.
    setrlimit(Resource::Nofile, limit).ok();
    match getrlimit(Resource::Nofile).current {
        Some(files) if files < FILES_MIN => Err(format!(
            "the system allows only {files} open files; backissue needs {FILES_MIN}: 'ulimit -n' allows more"
        )),
        Some(_) | None => Ok(()),
    }
}

/// Minimum number of threads that the system must allow, and the stack size of each thread in the test, bytes.
const THREADS_NEEDED: usize = 18;
const STACK: usize = 64 * 1024;

/// Checks whether the system allows the minimum number of threads, because libraries abort the program if they cannot start a
/// thread. The error is a sentence.
pub fn check_threads() -> Result<(), String> {
    let gate = Arc::new(RwLock::new(()));
    let closed = gate.write();
    let start = |_| {
        let gate = Arc::clone(&gate);
        thread::Builder::new().stack_size(STACK).spawn(move || drop(gate.read()))
    };
    let begun: Vec<_> = (0..THREADS_NEEDED).map_while(|thread| start(thread).ok()).collect();
    drop(closed);
    let count = begun.len();
    for thread in begun {
        thread.join().ok();
    }
    if count < THREADS_NEEDED {
        return Err(format!(
            "the system allows only {count} threads; backissue needs {THREADS_NEEDED}: 'ulimit -u' allows more"
        ));
    }
    Ok(())
}

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

/// EMFILE and ENFILE: too many open files in this process, or in the system. They have no [`ErrorKind`].
const TOO_MANY_FILES: [i32; 2] = [24, 23];
/// EIO: an input/output error of the device.
const DEVICE_FAILS: i32 = 5;

/// Checks whether an error means that the system allows no further open file or connection.
pub fn is_out_of_files(error: &Error) -> bool {
    error.raw_os_error().is_some_and(|code| TOO_MANY_FILES.contains(&code))
}

/// Checks whether the system allows no further open file or connection now, because libraries do not always report this as the
/// reason of a failure.
pub fn is_out_of_files_now() -> bool {
    std::fs::File::open("/dev/null").is_err_and(|error| is_out_of_files(&error))
}

/// Checks whether an error means that there is no space left to write to.
pub fn is_out_of_room(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem
    )
}

/// Joins the lines of a system message, because messages of this program have one line.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a description of a system error that can end a sentence.
pub fn system_words(error: &Error) -> String {
    if is_out_of_files(error) {
        return "too many files and connections are open ('ulimit -n' allows more)".into();
    }
    if error.raw_os_error() == Some(DEVICE_FAILS) {
        return "the disk reports an error".into();
    }
    if let Some(words) = words_of(error.kind()) {
        return words.into();
    }
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().trim();
    if text.is_empty() || text == "other error" || text == "uncategorized error" {
        return "the system gave no reason".into();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds are the standard library's, and grow"
)]
const fn words_of(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::NotFound => "there is no such file or folder",
        ErrorKind::PermissionDenied => "access is denied",
        ErrorKind::AlreadyExists => "it already exists",
        ErrorKind::NotADirectory => "part of the path is not a folder",
        ErrorKind::IsADirectory => "it is a folder",
        ErrorKind::DirectoryNotEmpty => "the folder is not empty",
        ErrorKind::ReadOnlyFilesystem => "nothing can be written to this disk",
        ErrorKind::StorageFull => "the disk is full",
        ErrorKind::FileTooLarge => {
            "the file would be larger than the system allows ('ulimit -f' allows more)"
        }
        ErrorKind::QuotaExceeded => "your disk quota is used up",
        ErrorKind::InvalidFilename => "the name is too long or not allowed",
        ErrorKind::CrossesDevices => "it is on another disk",
        ErrorKind::ConnectionRefused => "the connection was refused",
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => "the connection was cut",
        ErrorKind::HostUnreachable => "the host cannot be reached",
        ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => "the network cannot be reached",
        ErrorKind::AddrInUse => "the address is in use",
        ErrorKind::AddrNotAvailable => "the address does not belong to this machine",
        ErrorKind::NotConnected => "there is no connection",
        ErrorKind::BrokenPipe => "the other side closed the connection",
        ErrorKind::TimedOut => "it took too long",
        ErrorKind::OutOfMemory => "there is not enough memory",
        _ => return None,
    })
}

/// Function that returns how many bytes are free for a folder, or `None` if that is not known.
pub type MeasureRoom = fn(&Path) -> Option<u64>;

/// Returns how many bytes are free for a folder, or `None` if that is not known.
pub fn measure_room(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
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

    #[test]
    fn system_errors_are_described_without_numbers() {
        for (error, expected) in [
            (Error::from_raw_os_error(2), "there is no such file or folder"),
            (Error::from_raw_os_error(5), "the disk reports an error"),
            (
                Error::from_raw_os_error(24),
                "too many files and connections are open ('ulimit -n' allows more)",
            ),
            (Error::from_raw_os_error(28), "the disk is full"),
            (Error::from(ErrorKind::Other), "the system gave no reason"),
            (Error::other("what\nelse"), "what else"),
        ] {
            assert_eq!(system_words(&error), expected);
        }
        for code in 1..140 {
            let words = system_words(&Error::from_raw_os_error(code));
            assert!(!words.is_empty() && !words.contains("os error"), "{code}: {words}");
        }
    }
}

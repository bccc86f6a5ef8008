//! Limits that the system sets for this process.

use std::sync::{Arc, RwLock};
use std::thread;

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

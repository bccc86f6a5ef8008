//! What the system allows this process.

use std::sync::{Arc, RwLock};
use std::thread;

use rustix::process::{Resource, getrlimit, setrlimit};

/// Files and connections that the program cannot do without: with fewer it would wait for one for ever.
const FILES_MIN: u64 = 32;

/// Lets this process have as many files and connections open as the system allows it to ask for, which is far above the usual
/// limit. The error is a sentence.
pub fn allow_many_files() -> Result<(), String> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where that is refused, requests wait for each other.
    setrlimit(Resource::Nofile, limit).ok();
    match getrlimit(Resource::Nofile).current {
        Some(files) if files < FILES_MIN => Err(format!(
            "only {files} files may be open at once here; backissue needs {FILES_MIN}: 'ulimit -n' allows more"
        )),
        Some(_) | None => Ok(()),
    }
}

/// Threads that the program cannot do without, and what they are tried with, bytes of stack.
const THREADS_NEEDED: usize = 18;
const STACK: usize = 64 * 1024;

/// An error, as a sentence, where the system would not give the threads that are needed: libraries end the program then.
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
            "the system gives {count} threads here; backissue needs {THREADS_NEEDED}: 'ulimit -u' allows more"
        ));
    }
    Ok(())
}

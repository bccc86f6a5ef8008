//! What the system allows this process.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Lets this process have as many files and connections open as the system allows it to ask for, which is far above the usual
/// limit.
pub fn allow_many_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where that is refused, requests wait for each other.
    setrlimit(Resource::Nofile, limit).ok();
}

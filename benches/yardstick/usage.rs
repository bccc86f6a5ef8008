//! Measures the resources that processes use: as the system reports them for a process that has ended, or from `/proc` for a
//! running process.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use wait4::Wait4 as _;

/// The resources that an ended process used; times are in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    pub(crate) cpu: f64,
    pub(crate) wall: f64,
    pub(crate) peak_mb: f64,
}

/// Runs a process and waits for it to exit; panics if it fails.
pub(crate) fn run(command: &mut Command) -> Used {
    let began = Instant::now();
    let ended = command.spawn().unwrap().wait4().unwrap();
    let wall = began.elapsed().as_secs_f64();
    assert!(ended.status.success(), "{command:?}: {}", ended.status);
    let cpu = (ended.rusage.utime + ended.rusage.stime).as_secs_f64();
    Used { cpu, wall, peak_mb: ended.rusage.maxrss as f64 / 1e6 }
}

/// The resources that the threads of a running process have used so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Threads(BTreeMap<String, Thread>);

#[derive(Debug, Clone, Default)]
struct Thread {
    name: String,
    cpu: Duration,
    /// Number of times that the thread went to sleep voluntarily.
    sleeps: u64,
}

impl Threads {
    /// Reads the usage of a process's threads; the result is empty if the system does not report it.
    pub(crate) fn of(process: u32) -> Self {
        let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else {
            return Self::default();
        };
        let threads = tasks.flatten().filter_map(|task| {
            let read = |file| fs::read_to_string(task.path().join(file)).ok();
            let ran = read("schedstat")?.split_whitespace().next()?.parse().ok()?;
            let status = read("status")?;
            let sleeps = field(&status, "voluntary_ctxt_switches:")?;
            let name = status.lines().next()?.trim_start_matches("Name:").trim().to_owned();
            let thread = Thread { name, cpu: Duration::from_nanos(ran), sleeps };
            Some((task.file_name().to_string_lossy().into_owned(), thread))
        });
        Self(threads.collect())
    }

    pub(crate) fn is_known(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns the CPU time that the threads still running have used since `then`, in milliseconds.
    pub(crate) fn cpu_ms_since(&self, then: &Self) -> f64 {
        let none = Thread::default();
        let of = |(id, now): (&String, &Thread)| {
            now.cpu.saturating_sub(then.0.get(id).unwrap_or(&none).cpu).as_secs_f64() * 1000.0
        };
        self.0.iter().map(of).sum()
    }

    /// Returns the number of times that threads have woken up since `then`, by thread name.
    pub(crate) fn wakes_since(&self, then: &Self) -> BTreeMap<String, u64> {
        let none = Thread::default();
        let mut wakes = BTreeMap::new();
        for (id, now) in &self.0 {
            let more = now.sleeps.saturating_sub(then.0.get(id).unwrap_or(&none).sleeps);
            if more > 0 {
                *wakes.entry(now.name.clone()).or_default() += more;
            }
        }
        wakes
    }
}

/// Returns the current resident memory of a running process, in MB.
pub(crate) fn resident_mb(process: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    Some(field(&status, "VmRSS:")? as f64 * 1024.0 / 1e6)
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

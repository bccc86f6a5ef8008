//! What a process uses: of one that ended the system tells it, of one that runs `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use wait4::Wait4 as _;

/// What a process has used by its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    pub(crate) cpu: f64,
    pub(crate) wall: f64,
    pub(crate) peak_mb: f64,
}

/// Runs a process to its end, which must be a good one.
pub(crate) fn run(command: &mut Command) -> Used {
    let began = Instant::now();
    let ended = command.spawn().unwrap().wait4().unwrap();
    let wall = began.elapsed().as_secs_f64();
    assert!(ended.status.success(), "{command:?}: {}", ended.status);
    let cpu = (ended.rusage.utime + ended.rusage.stime).as_secs_f64();
    Used { cpu, wall, peak_mb: ended.rusage.maxrss as f64 / 1e6 }
}

/// What the threads of a running process have used so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Threads(BTreeMap<String, Thread>);

#[derive(Debug, Clone, Default)]
struct Thread {
    name: String,
    cpu: Duration,
    /// How often it went to sleep of its own accord.
    sleeps: u64,
}

impl Threads {
    /// Empty where the system does not tell it.
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

    /// CPU milliseconds since then, of the threads that still live.
    pub(crate) fn cpu_ms_since(&self, then: &Self) -> f64 {
        let none = Thread::default();
        let of = |(id, now): (&String, &Thread)| {
            now.cpu.saturating_sub(then.0.get(id).unwrap_or(&none).cpu).as_secs_f64() * 1000.0
        };
        self.0.iter().map(of).sum()
    }

    /// How often threads woke up since then, with the names of those that did.
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

/// The memory of a running process that is in use now.
pub(crate) fn resident_mb(process: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    Some(field(&status, "VmRSS:")? as f64 * 1024.0 / 1e6)
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

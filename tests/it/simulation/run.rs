//! Runs scenarios in parallel, and shortens those that fail.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use backissue::io::clock;

use super::checks::Counts;
use super::machine::Machine;
use super::scenario::Scenario;

/// Number of seeds in the ordinary run, and the number of simulated days of each.
const SEEDS: u64 = 6;
const DAYS: i64 = 8;
/// Maximum time for shortening a failing scenario.
const SHRINKING: Duration = Duration::from_mins(2);

/// The result of running a scenario.
struct Outcome {
    counts: Counts,
    steps: u64,
    /// Description of the failure, and the last steps in words.
    failed: Option<(String, String)>,
}

fn live(scenario: &Scenario) -> Outcome {
    let mut machine = Machine::new(scenario.clone());
    let lived = catch_unwind(AssertUnwindSafe(|| machine.run()));
    if let Err(panic) = lived {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        machine.fail(format!("panic: {}", text.unwrap_or_default()));
    }
    let story = machine.story.told();
    let (counts, steps) = (machine.checks.counts, machine.steps);
    Outcome { counts, steps, failed: machine.failed.take().map(|why| (why, story)) }
}

/// Removes publishers, days and faults from a failing scenario as long as it still fails.
fn shorten(mut scenario: Scenario, mut outcome: Outcome) -> (Scenario, Outcome) {
    let begin = clock::instant();
    'again: loop {
        for simpler in scenario.simpler() {
            if begin.elapsed() > SHRINKING {
                return (scenario, outcome);
            }
            let lived = live(&simpler);
            if lived.failed.is_some() {
                (scenario, outcome) = (simpler, lived);
                continue 'again;
            }
        }
        return (scenario, outcome);
    }
}

/// Describes a failed scenario and how to run it again.
fn told(scenario: &Scenario, outcome: &Outcome) -> String {
    let (why, story) = outcome.failed.clone().unwrap_or_default();
    format!(
        "seed {}: {why}\n{story}again: BACKISSUE_SCENARIO={scenario} cargo test --test it simulation::",
        scenario.seed
    )
}

#[derive(Default)]
struct Sums {
    steps: AtomicU64,
    requests: AtomicU64,
    polls: AtomicU64,
    archives: AtomicU64,
    restarts: AtomicU64,
    crashes: AtomicU64,
    undone: AtomicU64,
    checked: AtomicU64,
}

impl Sums {
    fn add(&self, outcome: &Outcome) {
        let Counts { requests, polls, archives, restarts, crashes, undone, checked } =
            outcome.counts;
        for (sum, count) in [
            (&self.steps, outcome.steps),
            (&self.requests, requests),
            (&self.polls, polls),
            (&self.archives, archives),
            (&self.restarts, restarts),
            (&self.crashes, crashes),
            (&self.undone, undone),
            (&self.checked, checked),
        ] {
            sum.fetch_add(count, Ordering::Relaxed);
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are for information")]
fn no_simulated_event_breaks_an_invariant() {
    let named = std::env::var("BACKISSUE_SCENARIO").ok();
    let days = number("BACKISSUE_DAYS").map_or(DAYS, |days| i64::try_from(days).unwrap());
    let first = number("BACKISSUE_FIRST_SEED").unwrap_or(1);
    let count = number("BACKISSUE_SEEDS").unwrap_or(SEEDS);
    let scenarios: Vec<Scenario> = match named {
        Some(text) => vec![Scenario::named(&text).expect("a scenario as it was printed")],
        None => (first..first + count).map(|seed| Scenario::of(seed, days)).collect(),
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, sums, begin) = (AtomicU64::new(0), Sums::default(), clock::instant());
    let failed = std::thread::scope(|scope| {
        let work = || {
            let mut failed = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(scenario) = scenarios.get(usize::try_from(place).unwrap()) else {
                    return failed;
                };
                let outcome = live(scenario);
                sums.add(&outcome);
                if outcome.failed.is_some() {
                    if std::env::var_os("BACKISSUE_WHOLE").is_some() {
                        println!("{}", told(scenario, &outcome));
                        failed.push(told(scenario, &outcome));
                        continue;
                    }
                    let (scenario, outcome) = shorten(scenario.clone(), outcome);
                    println!("{}", told(&scenario, &outcome));
                    failed.push(told(&scenario, &outcome));
                }
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<String>>()
    });
    let told = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
    println!(
        "{} seeds x {days} days in {:.1} s: {} inputs, {} requests, {} of them polls, {} archives; {} restarts, {} crashes, \
         {} changes taken back, {} checks; {} failed",
        scenarios.len(),
        begin.elapsed().as_secs_f64(),
        told(&sums.steps),
        told(&sums.requests),
        told(&sums.polls),
        told(&sums.archives),
        told(&sums.restarts),
        told(&sums.crashes),
        told(&sums.undone),
        told(&sums.checked),
        failed.len()
    );
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

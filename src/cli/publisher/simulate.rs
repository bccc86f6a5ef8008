//! `backissue simulate`: repeats the experiment of the paper on interval rules with recorded publication times. Uses no store and
//! no network.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufWriter, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::Done;
use crate::cli::args_simulate::{SimulateArgs, SimulatePolicy};
use crate::cli::session::Failure;
use crate::io::console;
use crate::io::named_files::{self, FileKind, NamedFile};
use crate::io::system::words::system_words;
use backissue_core::simulate::{
    Conditions, Driven, ExperimentInputs, FeedOutcome, PollPolicy, RulesHelp, Score, SimulatedFeed,
    Wanted, WeekRules, experiment, read_budgets, read_rules, read_source, table,
};

/// Number of threads that simulate feeds.
const WORKERS: usize = 2;
/// Maximum length of an input line with `--stdio`, bytes.
const LINE_MAX: usize = 16 << 20;

/// Runs `backissue simulate`.
pub(in crate::cli) fn run(args: &SimulateArgs) -> Result<Done, Failure> {
    if args.stdio {
        return answer_driver(io::stdin().lock());
    }
    let experiment = Experiment::read(args)?;
    let mut results = Vec::new();
    let mut simulate = |out: &mut dyn Write| {
        results = experiment.run(out)?;
        Ok(())
    };
    let done = match &args.retrievals {
        None => simulate(&mut io::sink()).map_err(|error| Failure::new(system_words(&error))),
        Some(path) => {
            let path = path.to_string_lossy().into_owned();
            let file = NamedFile { path, kind: FileKind::Retrievals, force: args.force };
            let cannot = |why| Failure::new(format!("{} cannot be written: {why}", file.path));
            named_files::write(&file, &mut simulate).map_err(cannot)
        }
    };
    done?;
    if args.table || args.retrievals.is_none() {
        for text in experiment.tables(&results) {
            console::put(&text);
        }
    }
    Ok(Done::All)
}

/// All inputs of an experiment.
struct Experiment {
    sources: Vec<SimulatedFeed>,
    policies: Vec<PollPolicy>,
    conditions: Conditions,
    rules: BTreeMap<String, WeekRules>,
    budgets: BTreeMap<String, f64>,
    wanted: Wanted,
}

impl Experiment {
    fn read(args: &SimulateArgs) -> Result<Self, Failure> {
        let path = args.feeds.as_deref().ok_or_else(|| {
            Failure::new("name a file of publication times with --feeds, a subscription with --feed, or use --stdio")
        })?;
        if args.min > args.max {
            return Err(Failure::new("--min must not be greater than --max"));
        }
        let sources = read_sources(path)?;
        let policies = choose_policies(&args.policies);
        if args.retrievals.is_some() && policies.len() > 1 {
            return Err(Failure::new(
                "--retrievals writes the polls of one policy: name one with --policy",
            ));
        }
        Ok(Self {
            sources,
            policies,
            conditions: Conditions {
                min: args.min.into(),
                max: args.max.into(),
                train_days: args.train_days.into(),
                shifts: args.shifts,
                jitter: args.jitter,
            },
            rules: optional(args.rules.as_deref(), read_rules)?,
            budgets: optional(args.budget.as_deref(), read_budgets)?,
            wanted: Wanted {
                training: args.table,
                rules_help: args.table || args.retrievals.is_none(),
                retrievals: args.retrievals.is_some(),
            },
        })
    }

    /// Simulates all feeds on several threads. Returns the outcomes in the order of the feeds.
    fn run(&self, out: &mut dyn Write) -> io::Result<Vec<FeedOutcome>> {
        let mut out = BufWriter::new(out);
        let bar = ProgressBar::new(u64::try_from(self.sources.len()).unwrap_or(0));
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos} of {len} feeds, {eta} left")
        {
            bar.set_style(style);
        }
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::sync_channel(2 * WORKERS);
        let mut outcomes: BTreeMap<usize, FeedOutcome> = BTreeMap::new();
        let mut written = Ok(());
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(source) = self.sources.get(place) else { break };
                        if sender.send((place, self.outcome(source))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for (place, mut outcome) in receiver {
                bar.inc(1);
                let lines = std::mem::take(&mut outcome.retrievals);
                if written.is_ok() {
                    written = out.write_all(lines.as_bytes());
                }
                outcomes.insert(place, outcome);
            }
        });
        bar.finish_and_clear();
        written.and_then(|()| out.flush())?;
        Ok(outcomes.into_values().collect())
    }

    fn outcome(&self, source: &SimulatedFeed) -> FeedOutcome {
        let given = ExperimentInputs {
            rules: self.rules.get(&source.name),
            polls_per_week: self.budgets.get(&source.name).copied(),
        };
        experiment(source, &self.policies, &self.conditions, given, self.wanted)
    }

    /// Formats the tables of each panel for the test weeks, and for the training weeks if they were simulated: one table of the
    /// feeds for which rules help, and one of all feeds in the panel.
    fn tables(&self, outcomes: &[FeedOutcome]) -> Vec<String> {
        let mut panels: Vec<&str> =
            self.sources.iter().map(|source| source.panel.as_str()).collect();
        panels.sort_unstable();
        panels.dedup();
        let mut tables = Vec::new();
        for (weeks, trained) in [("training weeks", true), ("test weeks", false)] {
            if trained && !self.wanted.training {
                continue;
            }
            for panel in &panels {
                let inside = |source: &SimulatedFeed| source.panel == *panel;
                let name = if panel.is_empty() { "all" } else { panel };
                let count = |help: RulesHelp| {
                    let feeds = self.sources.iter().zip(outcomes);
                    feeds
                        .filter(|(source, found)| inside(source) && found.rules_help == Some(help))
                        .count()
                };
                let (helped, others) = (count(RulesHelp::Yes), count(RulesHelp::No));
                if helped > 0 {
                    let scores = self.scores(outcomes, trained, |source, found| {
                        inside(source) && found.rules_help == Some(RulesHelp::Yes)
                    });
                    let title = format!(
                        "{weeks}, {name}, where rules help ({helped} of {} with several rules)",
                        helped + others
                    );
                    tables.push(table(&title, &self.policies, &scores) + "\n");
                }
                let scores = self.scores(outcomes, trained, |source, _| inside(source));
                tables.push(table(&format!("{weeks}, {name}"), &self.policies, &scores) + "\n");
            }
        }
        tables
    }

    /// Collects the scores of each policy for the selected feeds.
    fn scores(
        &self,
        outcomes: &[FeedOutcome],
        trained: bool,
        wanted: impl Fn(&SimulatedFeed, &FeedOutcome) -> bool,
    ) -> Vec<Vec<Score>> {
        let mut scores = vec![Vec::new(); self.policies.len()];
        let wanted =
            self.sources.iter().zip(outcomes).filter(|(source, outcome)| wanted(source, outcome));
        for (_, outcome) in wanted {
            for (scores, (train, test)) in scores.iter_mut().zip(&outcome.scores) {
                scores.extend(if trained { train } else { test });
            }
        }
        scores
    }
}

/// Answers the requests that another program writes to standard input, one per line, until the input ends.
fn answer_driver(mut lines: impl BufRead) -> Result<Done, Failure> {
    let mut driven = Driven::default();
    let mut number = 0_u64;
    loop {
        let mut line = Vec::new();
        let limit = u64::try_from(LINE_MAX).unwrap_or(u64::MAX);
        let read = io::Read::take(&mut lines, limit).read_until(b'\n', &mut line);
        let read = read
            .map_err(|error| Failure::new(format!("standard input: {}", system_words(&error))))?;
        if read == 0 || console::is_closed() {
            return Ok(Done::All);
        }
        number += 1;
        let text = String::from_utf8_lossy(&line);
        if text.trim().is_empty() {
            continue;
        }
        let answer = driven.answer(text.trim());
        let answer = answer
            .map_err(|wrong| Failure::new(format!("line {number} of standard input: {wrong}")))?;
        console::put(&answer);
    }
}

/// Returns the policies named on the command line, or all policies if none is named, without duplicates and in the order of the
/// output table.
fn choose_policies(named: &[SimulatePolicy]) -> Vec<PollPolicy> {
    let is_named =
        |policy: &PollPolicy| named.is_empty() || named.iter().any(|name| name.policy() == *policy);
    PollPolicy::ALL.into_iter().filter(is_named).collect()
}

fn read_sources(path: &std::path::Path) -> Result<Vec<SimulatedFeed>, Failure> {
    let text = read_text(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let sources = lines.map(|(number, line)| {
        let wrong =
            |wrong| Failure::new(format!("{}, line {}: {wrong}", path.display(), number + 1));
        read_source(line).map_err(wrong)
    });
    let sources: Vec<SimulatedFeed> = sources.collect::<Result<_, _>>()?;
    if sources.is_empty() {
        return Err(Failure::new(format!("{} contains no feed", path.display())));
    }
    Ok(sources)
}

fn optional<T: Default>(
    path: Option<&std::path::Path>,
    read: fn(&str) -> Result<T, String>,
) -> Result<T, Failure> {
    let Some(path) = path else { return Ok(T::default()) };
    read(&read_text(path)?).map_err(|wrong| Failure::new(format!("{}: {wrong}", path.display())))
}

fn read_text(path: &std::path::Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("{}: {}", path.display(), system_words(&error))))
}

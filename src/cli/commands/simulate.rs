//! `backissue simulate`: repeats the experiment of the paper on interval rules with recorded publication times. Uses no store and
//! no network.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use backissue_core::InputFlaw;
use backissue_core::feed::text::{counted_words, one_line};
use backissue_core::simulate::{
    Activity, Conditions, DelayCurve, ExperimentInputs, FeedOutcome, FigurePage, PollPolicy,
    RulesHelp, Score, SimulatedFeed, Wanted, WeekRules, experiment, read_budgets, read_rules,
    read_source, table,
};
use chrono_tz::Tz;
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::Done;
use crate::cli::args_publish::{FigureChoice, SimulateArgs, SimulatePolicy};
use crate::cli::session::Failure;
use crate::io::console;
use crate::io::named_files::{self, FileKind, NamedFile};
use crate::io::system::system_words;

/// Number of threads that simulate feeds.
const WORKERS: usize = 2;

/// Runs `backissue simulate`.
pub(in crate::cli) fn run(args: &SimulateArgs) -> Result<Done, Failure> {
    let experiment = Experiment::read(args)?;
    if let Some(choice) = args.figure {
        draw_figures(args, choice, &experiment)?;
        if !args.table {
            return Ok(Done::All);
        }
    }
    let mut results = Vec::new();
    let mut simulate = |out: &mut dyn Write| {
        results = run_all(&experiment, out)?;
        Ok(())
    };
    let done = match &args.retrievals {
        None => simulate(&mut io::sink()).map_err(|error| Failure::new(system_words(&error))),
        Some(path) => {
            let path = path.to_string_lossy().into_owned();
            let file = NamedFile { path, kind: FileKind::Retrievals, force: args.force };
            let written = named_files::write(&file, &mut simulate);
            written.map_err(|error| Failure::unwritten(&file.path, &error))
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

/// Draws the figures of the feeds in the input file.
fn draw_figures(
    args: &SimulateArgs,
    choice: FigureChoice,
    experiment: &Experiment,
) -> Result<(), Failure> {
    let bar = progress_bar(&experiment.sources);
    let page = page(choice, &experiment.sources, &experiment.conditions, Tz::UTC, &mut || {
        bar.inc(1);
        true
    });
    bar.finish_and_clear();
    let Some(path) = &args.svg else {
        console::put(&page.text());
        return Ok(());
    };
    let file = svg_file(path, args.force);
    named_files::write(&file, &mut |out| out.write_all(page.svg().as_bytes()))
        .map_err(|error| Failure::unwritten(&file.path, &error))
}

/// Simulates all feeds, and writes the polls to `out` if requested.
fn run_all(experiment: &Experiment, out: &mut dyn Write) -> io::Result<Vec<FeedOutcome>> {
    let mut out = BufWriter::new(out);
    let bar = progress_bar(&experiment.sources);
    let mut written = Ok(());
    let outcomes = experiment.run(&mut |outcome| {
        bar.inc(1);
        let lines = std::mem::take(&mut outcome.retrievals);
        written = out.write_all(lines.as_bytes());
        written.is_ok()
    });
    bar.finish_and_clear();
    written.and_then(|()| out.flush())?;
    Ok(outcomes)
}

fn progress_bar(sources: &[SimulatedFeed]) -> ProgressBar {
    let bar = ProgressBar::new(u64::try_from(sources.len()).unwrap_or(0));
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos} of {len} feeds, {eta} left") {
        bar.set_style(style);
    }
    bar
}

/// Returns the conditions of the experiment, according to the arguments.
pub(in crate::cli) fn read_conditions(args: &SimulateArgs) -> Result<Conditions, Failure> {
    if args.min > args.max {
        return Err(Failure::new("--min must not be greater than --max"));
    }
    Ok(Conditions {
        min: args.min.into(),
        max: args.max.into(),
        train_days: args.train_days.into(),
        shifts: args.shifts,
        jitter: args.jitter,
    })
}

/// Runs `work` for each feed on several threads. Returns the results in the order of the feeds. `each` is called on the thread of
/// the caller with every result, in any order, and returns `false` to stop.
fn for_each_feed<T: Send>(
    sources: &[SimulatedFeed],
    work: impl Fn(&SimulatedFeed) -> T + Sync,
    each: &mut dyn FnMut(&mut T) -> bool,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::sync_channel(2 * WORKERS);
    let mut results: BTreeMap<usize, T> = BTreeMap::new();
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(source) = sources.get(place) else { break };
                    if sender.send((place, work(source))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (place, mut result) in receiver {
            let goes_on = each(&mut result);
            results.insert(place, result);
            if !goes_on {
                break;
            }
        }
    });
    results.into_values().collect()
}

/// All inputs of an experiment.
pub(in crate::cli) struct Experiment {
    pub(in crate::cli) sources: Vec<SimulatedFeed>,
    pub(in crate::cli) policies: Vec<PollPolicy>,
    pub(in crate::cli) conditions: Conditions,
    pub(in crate::cli) rules: BTreeMap<String, WeekRules>,
    pub(in crate::cli) budgets: BTreeMap<String, f64>,
    pub(in crate::cli) wanted: Wanted,
}

impl Experiment {
    fn read(args: &SimulateArgs) -> Result<Self, Failure> {
        let path = args.feeds.as_deref().ok_or_else(|| {
            Failure::new("name a file of publication times with --feeds, a subscription with --feed, or use --table or --figure")
        })?;
        let conditions = read_conditions(args)?;
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
            conditions,
            rules: optional(args.rules.as_deref(), read_rules)?,
            budgets: optional(args.budget.as_deref(), read_budgets)?,
            wanted: Wanted {
                training: args.table,
                rules_help: args.table || args.retrievals.is_none(),
                retrievals: args.retrievals.is_some(),
            },
        })
    }

    /// Simulates all feeds. Returns the outcomes in the order of the feeds. `each` receives every outcome, and returns `false` to
    /// stop.
    pub(in crate::cli) fn run(
        &self,
        each: &mut dyn FnMut(&mut FeedOutcome) -> bool,
    ) -> Vec<FeedOutcome> {
        for_each_feed(&self.sources, |source| self.outcome(source), each)
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

/// Returns the policies named on the command line, or all policies if none is named, without duplicates and in the order of the
/// output table.
fn choose_policies(named: &[SimulatePolicy]) -> Vec<PollPolicy> {
    let is_named =
        |policy: &PollPolicy| named.is_empty() || named.iter().any(|name| name.policy() == *policy);
    PollPolicy::ALL.into_iter().filter(is_named).collect()
}

fn read_sources(path: &Path) -> Result<Vec<SimulatedFeed>, Failure> {
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
    path: Option<&Path>,
    read: fn(&str) -> Result<T, InputFlaw>,
) -> Result<T, Failure> {
    let Some(path) = path else { return Ok(T::default()) };
    read(&read_text(path)?).map_err(|wrong| Failure::new(format!("{}: {wrong}", path.display())))
}

fn read_text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("{}: {}", path.display(), system_words(&error))))
}

/// Maximum length of a feed's title above a figure, in characters, so that the whole line has at most 80.
const SUBJECT_MAX: usize = 28;

/// Computes the figures of feeds. `each` is called after each feed, and returns `false` to stop.
pub(in crate::cli) fn page(
    choice: FigureChoice,
    sources: &[SimulatedFeed],
    conditions: &Conditions,
    zone: Tz,
    each: &mut dyn FnMut() -> bool,
) -> FigurePage {
    let subject = match sources {
        [only] => one_line(&only.name, SUBJECT_MAX),
        feeds => counted_words(feeds.len(), "feed", "feeds"),
    };
    let activity = (choice != FigureChoice::Delay).then(|| Activity::of(sources, zone));
    let delays = (choice != FigureChoice::Activity).then(|| {
        let work = |source: &SimulatedFeed| DelayCurve::of_feed(source, conditions);
        let curves = for_each_feed(sources, work, &mut |_| each());
        DelayCurve::mean(&curves.into_iter().flatten().collect::<Vec<_>>())
    });
    FigurePage { subject, zone: zone.name().to_owned(), activity, delays }
}

/// Returns the file to which the figures are written.
pub(in crate::cli) fn svg_file(path: &Path, force: bool) -> NamedFile {
    NamedFile { path: path.to_string_lossy().into_owned(), kind: FileKind::Figures, force }
}

//! The command line: one file a subcommand; this file only dispatches.
//!
//! Results go to standard output, everything else to standard error, one sentence each.

use std::process::ExitCode;

use clap::Parser;

mod add;
mod args;
mod args_simulate;
mod backup;
mod config;
mod demo;
mod doctor;
mod entries;
mod export;
mod feeds;
mod generated;
mod history;
mod import;
mod json;
mod lint;
mod linting;
mod lookup;
mod parse;
mod plan;
mod poll;
mod rules;
mod screen;
mod search;
mod session;
mod set;
mod show;
mod simulate;
mod simulate_feed;
mod upkeep;
mod watch;

use args::{Args, Command};
use session::Failure;

use crate::io::{console, terminal};

/// How a command ends well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    /// Everything was done.
    All,
    /// Done, but some feeds failed.
    WithFailures,
}

/// Runs the program and answers with its exit status: 0 done, 1 done with failures, 2 nothing could be done,
/// 3 the store is in use (UX 4).
pub fn main() -> ExitCode {
    terminal::guard_panics();
    let args = Args::parse();
    let done = run(args);
    if console::has_failed() {
        console::tell(
            "backissue: standard output could not be written: what was to stand there is not whole",
        );
        return ExitCode::from(2);
    }
    match done {
        Ok(Done::All) => ExitCode::SUCCESS,
        Ok(Done::WithFailures) => ExitCode::from(1),
        Err(failure) => {
            console::tell(&format!("backissue: {}", failure.sentence));
            ExitCode::from(failure.status)
        }
    }
}

fn run(args: Args) -> Result<Done, Failure> {
    let options = args.global;
    match args.command {
        None => screen::run(&options),
        Some(Command::Demo) => demo::run(&options),
        Some(Command::Add(args)) => add::run(&options, &args),
        Some(Command::Import(args)) => import::run(&options, &args),
        Some(Command::Export(args)) => export::run(&options, &args),
        Some(Command::Feeds(args)) => feeds::run(&options, &args),
        Some(Command::Entries(args)) => entries::run(&options, &args),
        Some(Command::Search(args)) => search::run(&options, &args),
        Some(Command::Rules(args)) => rules::run(&options, &args),
        Some(Command::Show(args)) => show::run(&options, &args),
        Some(Command::Poll(args)) => poll::run(&options, &args),
        Some(Command::History(args)) => history::run(&options, &args),
        Some(Command::Watch) => watch::run(&options),
        Some(Command::Plan(args)) => plan::run(&options, &args),
        Some(Command::Set(args)) => set::run(&options, &args),
        Some(Command::Parse(args)) => parse::run(&args),
        Some(Command::Lint(args)) => lint::run(&options, &args),
        Some(Command::Simulate(args)) => simulate::run(&options, &args),
        Some(Command::Config(args)) => config::run(&options, &args),
        Some(Command::Doctor(args)) => doctor::run(&options, &args),
        Some(Command::Backup(args)) => backup::back_up(&options, &args),
        Some(Command::Restore(args)) => backup::restore(&options, &args),
        Some(Command::Completions(args)) => generated::completions(&args),
        Some(Command::Man) => generated::man(),
    }
}

/// The command line as clap describes it, for the tests of `--help`.
pub fn command() -> clap::Command {
    use clap::CommandFactory;
    Args::command()
}

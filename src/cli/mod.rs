//! The command line: one file a subcommand; this file only dispatches.
//!
//! Results go to standard output, everything else to standard error, one sentence each.

use std::process::ExitCode;

use clap::Parser;

mod args;
mod args_set;
mod args_simulate;
pub mod commands;
mod json;
mod lookup;
pub mod publisher;
mod session;
mod show_screen;
mod upkeep;

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
        None => commands::screen::run(&options),
        Some(Command::Demo) => commands::demo::run(&options),
        Some(Command::Add(args)) => commands::add::run(&options, &args),
        Some(Command::Import(args)) => commands::import::run(&options, &args),
        Some(Command::Export(args)) => commands::export::run(&options, &args),
        Some(Command::Feeds(args)) => commands::feeds::run(&options, &args),
        Some(Command::Entries(args)) => commands::entries::run(&options, &args),
        Some(Command::Search(args)) => commands::search::run(&options, &args),
        Some(Command::Filters(args)) => commands::filters::run(&options, &args),
        Some(Command::Show(args)) => commands::show::run(&options, &args),
        Some(Command::Poll(args)) => commands::poll::run(&options, &args),
        Some(Command::History(args)) => commands::history::run(&options, &args),
        Some(Command::Watch) => commands::watch::run(&options),
        Some(Command::Plan(args)) => commands::plan::run(&options, &args),
        Some(Command::Set(args)) => commands::set::run(&options, &args),
        Some(Command::Parse(args)) => publisher::parse::run(&args),
        Some(Command::Lint(args)) => publisher::lint::run(&options, &args),
        Some(Command::Simulate(args)) => publisher::simulate::run(&options, &args),
        Some(Command::Config(args)) => commands::config::run(&options, &args),
        Some(Command::Doctor(args)) => commands::doctor::run(&options, &args),
        Some(Command::Backup(args)) => commands::backup::back_up(&options, &args),
        Some(Command::Restore(args)) => commands::backup::restore(&options, &args),
        Some(Command::Completions(args)) => commands::generated::completions(&args),
        Some(Command::Man) => commands::generated::man(),
    }
}

/// The command line as clap describes it, for the tests of `--help`.
pub fn command() -> clap::Command {
    use clap::CommandFactory;
    Args::command()
}

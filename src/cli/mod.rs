//! The command line: one file a subcommand; this file only dispatches.
//!
//! Results go to standard output, everything else to standard error, one sentence each.

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

mod args;
mod args_background;
mod args_changes;
mod args_examples;
mod args_set;
mod args_simulate;
mod background;
pub mod commands;
mod desk;
mod event_log;
mod json;
mod json_list;
mod lookup;
mod manual;
mod owner;
mod poll_outcomes;
pub mod publisher;
mod session;
mod show_screen;
mod time_args;
mod upkeep;

use args::{Args, Command};
use session::Failure;

use crate::io::system::{limits, memory};
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
    let args = match Args::from_arg_matches(&command().get_matches()) {
        Ok(args) => args,
        Err(error) => error.exit(),
    };
    let done = run(args);
    if console::has_failed() {
        console::tell("backissue: standard output could not be written: the output is incomplete");
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
    memory::check_room().map_err(Failure::new)?;
    limits::allow_many_files();
    // The demo leaves nothing behind.
    if !matches!(args.command, Some(Command::Demo)) {
        session::begin_log(&options);
    }
    if args.command.is_some()
        && let Some(told) = session::take_panic_report(&options)
    {
        console::tell(&told);
    }
    match args.command {
        None => commands::screen::run(&options),
        Some(Command::Demo) => commands::demo::run(&options),
        Some(Command::Watch(args)) => background::watch::run(&options, &args),
        Some(Command::Events(args)) => background::events::run(&options, &args),
        Some(Command::Service(args)) => background::service::run(&options, &args),
        Some(Command::Parse(args)) => publisher::parse::run(&args),
        Some(Command::Lint(args)) => publisher::lint::run(&options, &args),
        Some(Command::Simulate(args)) if args.feed.is_none() => publisher::simulate::run(&args),
        Some(Command::Config(args)) => commands::config::run(&options, &args),
        Some(Command::Restore(args)) => commands::backup::restore(&options, &args),
        Some(Command::Completions(args)) => commands::generated::completions(&args),
        Some(Command::Man(args)) => commands::generated::man(&args),
        Some(Command::Plan(args)) if args.feed.is_none() => commands::plan::run_alone(&args),
        Some(Command::Doctor(args)) => {
            let good = commands::doctor::describe_surroundings(&options);
            let done = if args.repair || args.compact {
                let borrowed = owner::borrow_store(&options)?;
                let done = commands::doctor::check_store(
                    owner::when_free(|| session::open_store(&options))?,
                    &args,
                )?;
                drop(borrowed);
                done
            } else {
                owner::run_command(&options, Command::Doctor(args))?
            };
            Ok(if good { done } else { Done::WithFailures })
        }
        Some(command) => owner::run_command(&options, command),
    }
}

/// The command line as clap describes it, for the tests of `--help`.
pub fn command() -> clap::Command {
    args_examples::add_examples(Args::command())
}

//! The command line and its subcommands. This file only dispatches.
//!
//! Results go to standard output. All other messages go to standard error, one sentence each.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{CommandFactory, FromArgMatches};

mod args;
mod args_changes;
mod args_examples;
mod args_publish;
pub mod commands;
mod context;
mod json;
mod lookup;
mod owner;
mod session;
mod show_screen;

use args::{AccountAction, AccountArgs, Args, CliCommand};
use session::Failure;

use crate::io::log::ToldTo;
use crate::io::signals::Stops;
use crate::io::{clock, console, private_files, system, terminal};
use backissue_core::feed::address::without_logins;

/// The outcome of a successful command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    /// The command finished without failures.
    All,
    /// The command finished, but some feeds failed, or some data could not be read.
    WithFailures,
}

impl Done {
    /// Combines two results; failures take precedence.
    const fn and(self, other: Self) -> Self {
        match self {
            Self::All => other,
            Self::WithFailures => self,
        }
    }
}

/// Environment variables that name a folder or file. An empty value is an error, because the variable was probably meant to be
/// set; the default is not used.
const EMPTY_REFUSED: [&str; 2] = ["BACKISSUE_DATA_DIR", "BACKISSUE_CONFIG"];

/// Runs the program and returns its exit status: 0 for success, 1 with failures, 2 if nothing could be done, 3 if the store
/// is in use (UX 4).
pub fn main() -> ExitCode {
    terminal::guard_panics();
    private_files::keep_own_access();
    if let Some(name) = EMPTY_REFUSED
        .iter()
        .find(|name| std::env::var_os(name).is_some_and(|value| value.is_empty()))
    {
        console::tell(&format!(
            "backissue: the environment variable {name} is empty: give it a value or unset it"
        ));
        return ExitCode::from(2);
    }
    let typed = command().try_get_matches();
    let args = match typed.and_then(|matches| Args::from_arg_matches(&matches)) {
        Ok(args) => args,
        Err(error) => return refuse_arguments(&error),
    };
    let done = run(args);
    if console::has_failed() {
        console::tell("backissue: cannot write to standard output: the output is incomplete");
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

/// Prints the help, or the error about invalid arguments. Logins and control characters in the arguments are not printed.
fn refuse_arguments(error: &clap::Error) -> ExitCode {
    let typed = std::env::args_os().map(|typed| typed.to_string_lossy().into_owned());
    let shown =
        typed.map(|typed| (console::without_controls(&without_logins(&typed)).into_owned(), typed));
    let changed: Vec<(String, String)> = shown.filter(|(shown, typed)| shown != typed).collect();
    if changed.is_empty() {
        error.exit();
    }
    let text = error.render().to_string();
    let told = changed.iter().fold(text, |text, (shown, typed)| text.replace(typed, shown));
    console::tell(told.trim_end());
    ExitCode::from(2)
}

fn run(args: Args) -> Result<Done, Failure> {
    let options = args.global;
    clock::check().map_err(Failure::new)?;
    system::check_room().map_err(Failure::new)?;
    system::allow_many_files().map_err(Failure::new)?;
    system::check_threads().map_err(Failure::new)?;
    // Starts listening for signals.
    drop(Stops::of_process());
    // The demo leaves no files, so it has no log.
    if !matches!(args.command, Some(CliCommand::Demo)) {
        session::begin_log(&options);
    }
    if args.command.is_some()
        && let Some(untold) = session::find_untold_panics(&options, ToldTo::Command)
    {
        console::tell(&untold.sentence);
        untold.note_told();
    }
    if args.command.as_ref().is_some_and(waits_without_store) {
        session::end_when_stopped();
    }
    match args.command {
        None => commands::screen::run(&options),
        Some(CliCommand::Demo) => commands::screen::run_demo_command(&options),
        Some(CliCommand::Watch(args)) => commands::watch::run(&options, &args),
        Some(CliCommand::Events(args)) => commands::events::run(&options, &args),
        Some(CliCommand::Service(args)) => commands::watch::run_service(&options, &args),
        Some(CliCommand::Parse(args)) => commands::lint::run_parse(&args),
        Some(CliCommand::Lint(args)) => commands::lint::run(&options, &args),
        Some(CliCommand::Serve(args)) => match args.sync {
            Some(address) => commands::watch::run_serving(&options, address),
            None => commands::lint::run_serve(&args),
        },
        Some(CliCommand::Simulate(args)) if !args.needs_store() => commands::simulate::run(&args),
        Some(CliCommand::Config(args)) => commands::generated::run(&options, &args),
        Some(CliCommand::Restore(args)) => commands::doctor::restore(&options, &args),
        Some(CliCommand::Completions(args)) => commands::generated::completions(&args),
        Some(CliCommand::Man(args)) => commands::generated::man(&args),
        Some(CliCommand::Doctor(args)) => {
            let good = commands::doctor::describe_surroundings(&options);
            let done = if args.repair || args.compact {
                let mut borrowed = owner::borrow_store(&options)?;
                let done = commands::doctor::check_store(
                    borrowed.when_free(|| session::open_store(&options))?,
                    &args,
                )?;
                drop(borrowed);
                done
            } else {
                owner::run_command(&options, CliCommand::Doctor(args))?
            };
            Ok(if good { done } else { Done::WithFailures })
        }
        Some(command) => {
            if let CliCommand::Account(AccountArgs { action: AccountAction::Add(args) }) = &command
            {
                let waits = Arc::new(AtomicBool::new(true));
                session::end_while(Arc::clone(&waits));
                commands::accounts::log_in(&options, args)?;
                // The sync that follows handles stop signals itself.
                waits.store(false, Ordering::Relaxed);
            }
            owner::run_command(&options, command)
        }
    }
}

/// Checks whether a command may first wait for files, pipes, servers or other processes, either before it has the store or
/// without needing it.
fn waits_without_store(command: &CliCommand) -> bool {
    matches!(
        command,
        CliCommand::Events(_)
            | CliCommand::Parse(_)
            | CliCommand::Lint(_)
            | CliCommand::Restore(_)
            | CliCommand::Service(_)
    ) || matches!(command, CliCommand::Simulate(args) if !args.needs_store())
}

/// Returns the command line as a clap command, for the tests of `--help`.
pub fn command() -> clap::Command {
    args_examples::group_commands(args_examples::add_examples(Args::command()))
}

//! `backissue events`: prints the events of the process that has the store open, as one JSON line each.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::cli::Done;
use crate::cli::args::{EventsArgs, Options};
use crate::cli::context::CommandContext;
use crate::cli::json::{EVENTS_MAX, lines_of};
use crate::cli::session::{self, Failure};
use crate::engine::request::Event;
use crate::engine::state::Engine;
use crate::io::console;
use crate::io::output::OwnOutput;
use crate::io::owner::client::{Client, ConnectError, RunEnd};
use crate::io::owner::messages::OwnerKind;
use crate::io::store::owner_socket;

/// Pause between checks whether another process has opened the store.
const LOOK_PAUSE: Duration = Duration::from_millis(500);

/// Runs `backissue events`. The command never opens the store itself. With `--follow`, it connects to each further process that
/// opens the store.
pub(in crate::cli) fn run(options: &Options, args: &EventsArgs) -> Result<Done, Failure> {
    let folder = session::data_dir(options)?;
    let mut told = false;
    loop {
        let client = owner_socket(&folder).map(|socket| Client::connect(&socket));
        let ended = match client {
            // A process that runs only one command ends without waiting for `backissue events`.
            Some(Ok(client)) if client.owner == OwnerKind::Command => None,
            Some(Ok(client)) => Some(client.run(session::typed(), &OwnOutput::default())),
            Some(Err(ConnectError::Refused(why))) => {
                return Err(Failure { status: 3, ..Failure::new(why) });
            }
            Some(Err(ConnectError::NotThere)) | None => None,
        };
        match ended {
            Some(RunEnd::Ended(status, Some(sentence))) => {
                return Err(Failure { status, ..Failure::new(sentence) });
            }
            Some(_) if !args.follow => return Ok(Done::All),
            None if !args.follow => {
                console::tell(
                    "nothing is running: start 'backissue watch' or the reader to record events",
                );
                return Ok(Done::All);
            }
            None if !std::mem::replace(&mut told, true) => {
                console::tell(
                    "nothing is running yet; waiting for 'backissue watch' or the reader",
                );
            }
            Some(_) | None => {}
        }
        if console::is_closed() {
            return Ok(Done::All);
        }
        std::thread::sleep(LOOK_PAUSE);
    }
}

/// Prints recent events and, with `--follow`, new ones until the process that reads the output ends.
pub(in crate::cli) fn tell(context: &CommandContext, args: &EventsArgs) -> Result<Done, Failure> {
    if args.follow {
        return follow(context);
    }
    for line in context.log.lines() {
        context.put(&line);
    }
    Ok(Done::All)
}

/// Prints recent and new events. Ends with an error if the program that reads the output is too slow and too many events wait for
/// it.
pub(in crate::cli) fn follow(context: &CommandContext) -> Result<Done, Failure> {
    let waiting = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&waiting);
    context.never_ends();
    let mut lately = Some(context.log.clone());
    let step = move |engine: &Engine, events: &[Event], notes: &mut Vec<String>| {
        // The first call of this closure receives no events and prints the log, so that no event between the log and the first
        // new event is lost.
        let lines = match lately.take() {
            Some(log) => log.lines(),
            None => lines_of(engine, events),
        };
        let waits = counted.fetch_add(lines.len(), Ordering::Relaxed).saturating_add(lines.len());
        notes.extend(lines);
        waits > 2 * EVENTS_MAX
    };
    context.follow(step, |line: String| {
        context.put(&line);
        waiting.fetch_sub(1, Ordering::Relaxed);
    })?;
    if context.is_closed() {
        return Ok(Done::All);
    }
    Err(Failure::new(format!(
        "more than {EVENTS_MAX} events were waiting to be read and the rest was dropped; read faster, or run the command again"
    )))
}

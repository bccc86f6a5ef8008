//! `backissue events`: what happens in the process that has the store open, as JSON, one line an event.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::cli::Done;
use crate::cli::args::Options;
use crate::cli::args_background::EventsArgs;
use crate::cli::desk::Desk;
use crate::cli::event_log::{EVENTS_MAX, lines_of};
use crate::cli::session::{self, Failure};
use crate::engine::event::Event;
use crate::engine::state::Engine;
use crate::io::console;
use crate::io::output::OwnOutput;
use crate::io::owner::client::{Client, ConnectError, RunEnd};
use crate::io::owner::messages::OwnerKind;
use crate::io::store::owner_socket;

/// The pause before it is looked again whether a program runs.
const LOOK_PAUSE: Duration = Duration::from_millis(500);

/// Runs the command: it never opens the store itself, and with `--follow` goes on with whoever opens it next.
pub(in crate::cli) fn run(options: &Options, args: &EventsArgs) -> Result<Done, Failure> {
    let folder = session::data_dir(options)?;
    let mut told = false;
    loop {
        let client = owner_socket(&folder).map(|socket| Client::connect(&socket));
        let ended = match client {
            // A command ends by itself, and does not wait for those who look on.
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
                    "nothing runs: 'backissue watch' or an open reader tells what happens",
                );
                return Ok(Done::All);
            }
            None if !std::mem::replace(&mut told, true) => {
                console::tell("nothing runs yet; waiting for 'backissue watch' or a reader");
            }
            Some(_) | None => {}
        }
        if console::is_closed() {
            return Ok(Done::All);
        }
        std::thread::sleep(LOOK_PAUSE);
    }
}

/// Tells what happened, and with `--follow` what happens, until nobody wants to know.
pub(in crate::cli) fn tell(desk: &Desk, args: &EventsArgs) -> Result<Done, Failure> {
    if args.follow {
        return follow(desk);
    }
    for line in desk.log.lines() {
        desk.put(&line);
    }
    Ok(Done::All)
}

/// Tells what happened lately and what happens from now on. Who does not read what is told is left, with a word.
pub(in crate::cli) fn follow(desk: &Desk) -> Result<Done, Failure> {
    let waiting = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&waiting);
    desk.never_ends();
    let mut lately = Some(desk.log.clone());
    let step = move |engine: &Engine, events: &[Event], notes: &mut Vec<String>| {
        // The first look is at no event: between what is remembered and what comes nothing is lost.
        let lines = match lately.take() {
            Some(log) => log.lines(),
            None => lines_of(engine, events),
        };
        let waits = counted.fetch_add(lines.len(), Ordering::Relaxed).saturating_add(lines.len());
        notes.extend(lines);
        waits > 2 * EVENTS_MAX
    };
    desk.follow(step, |line: String| {
        desk.put(&line);
        waiting.fetch_sub(1, Ordering::Relaxed);
    })?;
    if desk.is_closed() {
        return Ok(Done::All);
    }
    Err(Failure::new(format!(
        "more than {EVENTS_MAX} events waited to be read: the rest is not told; read faster, or ask again"
    )))
}

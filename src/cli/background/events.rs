//! `backissue events`: what happens in the process that has the store open, as JSON, one line an event.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::watch;

use crate::cli::Done;
use crate::cli::args::Options;
use crate::cli::args_background::EventsArgs;
use crate::cli::desk::Desk;
use crate::cli::owner;
use crate::cli::session::{self, Failure};
use crate::engine::event::Event;
use crate::engine::event_json::event_line;
use crate::engine::state::Engine;
use crate::io::output::OwnOutput;
use crate::io::owner::client::{Client, ConnectError, RunEnd};
use crate::io::store::owner_socket;
use crate::io::visits::Hand;
use crate::io::{clock, console};

/// Events that are remembered, and that may wait for somebody who reads slowly.
const EVENTS_MAX: usize = 1000;
/// The pause before it is looked again whether a program runs.
const LOOK_PAUSE: Duration = Duration::from_millis(500);

/// The last events of a program that lasts, oldest first.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct EventLog(Arc<watch::Sender<VecDeque<String>>>);

impl EventLog {
    /// Remembers what happens from now on. If the loop has ended there is nothing to remember.
    pub(in crate::cli) fn keep(hand: &Hand) -> Self {
        let log = Self::default();
        let kept = log.clone();
        hand.watch(Box::new(move |engine, events| {
            kept.0.send_modify(|lines| {
                lines.extend(lines_of(engine, events));
                let beyond = lines.len().saturating_sub(EVENTS_MAX);
                lines.drain(..beyond);
            });
            false
        }));
        log
    }

    fn lines(&self) -> Vec<String> {
        self.0.borrow().iter().cloned().collect()
    }
}

/// Events as lines for scripts.
fn lines_of(engine: &Engine, events: &[Event]) -> Vec<String> {
    if events.is_empty() {
        return Vec::new();
    }
    let now = clock::now();
    events.iter().filter_map(|event| Some(event_line(engine, event, now)?.to_string())).collect()
}

/// Runs the command: it never opens the store itself, and with `--follow` goes on with whoever opens it next.
pub(in crate::cli) fn run(options: &Options, args: &EventsArgs) -> Result<Done, Failure> {
    let folder = session::data_dir(options)?;
    let mut told = false;
    loop {
        let client = owner_socket(&folder).map(|socket| Client::connect(&socket));
        let ended = match client {
            Some(Ok(client)) => Some(client.run(owner::typed(), &OwnOutput::default())),
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
    for line in desk.log.lines() {
        desk.put(&line);
    }
    if args.follow { follow(desk) } else { Ok(Done::All) }
}

/// Tells what happens from now on. Who does not read what is told is left, with a word.
pub(in crate::cli) fn follow(desk: &Desk) -> Result<Done, Failure> {
    let waiting = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&waiting);
    desk.never_ends();
    let step = move |engine: &Engine, events: &[Event], notes: &mut Vec<String>| {
        let lines = lines_of(engine, events);
        let waits = counted.fetch_add(lines.len(), Ordering::Relaxed).saturating_add(lines.len());
        notes.extend(lines);
        waits > EVENTS_MAX
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

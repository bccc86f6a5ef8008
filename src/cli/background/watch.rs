//! `backissue watch`: polls without a screen, under a service manager.

use std::rc::Rc;
use std::time::Duration;

use super::events;
use crate::cli::args::Options;
use crate::cli::args_background::WatchArgs;
use crate::cli::context::CommandContext;
use crate::cli::event_log::EventLog;
use crate::cli::owner::{self, StoreFound};
use crate::cli::session::{self, Failure, block_on};
use crate::cli::show_screen::{end_guests, finish_polls};
use crate::cli::{Done, upkeep};
use crate::engine::event::NoticeLevel;
use crate::engine::poll::poll_results::PollRun;
use crate::io::accounts::sync_clock;
use crate::io::console;
use crate::io::loop_ended::LoopEnded;
use crate::io::loop_handle::LoopHandle;
use crate::io::output::OwnOutput;
use crate::io::owner::listener::Listener;
use crate::io::owner::messages::OwnerKind;
use crate::io::performing::Ending;
use crate::io::runtime::Runtime;
use crate::io::store::{SessionLength, Store, StoreError};
use backissue_core::feed::text::counted_words;

/// Interval between checks for store maintenance.
const ORDER_PAUSE: Duration = Duration::from_hours(1);

/// Polls until a stop signal arrives, then saves everything. While a reader has the store open, waits for the reader to end.
pub(in crate::cli) fn run(options: &Options, args: &WatchArgs) -> Result<Done, Failure> {
    let mut kept = None;
    loop {
        if let Some(store) = kept.take() {
            let (ending, store, listener) = poll(options, args, store)?;
            match ending {
                Ending::PutInOrder => kept = Some(store),
                Ending::HandOver => {
                    drop(store);
                    // A process that takes the store over keeps this connection open until it returns the store.
                    if let Some((stream, _)) = listener.and_then(Listener::release) {
                        console::tell(
                            "another backissue took over the store; polling resumes when it ends",
                        );
                        if !session::wait_unless_stopped(stream)? {
                            return Ok(Done::All);
                        }
                    }
                }
                Ending::Quit | Ending::Stop | Ending::Demo | Ending::Suspend => {
                    return Ok(Done::All);
                }
            }
            continue;
        }
        let found = match owner::find_owner(options, SessionLength::Long) {
            // The process that has the store open is busy, for example with maintenance, so try again.
            Err(failure) if failure.in_use.is_some() => continue,
            found => found?,
        };
        kept = match found {
            StoreFound::Free(store, recovered) => {
                if let Some(sentence) = recovered {
                    console::tell(&sentence);
                }
                Some(*store)
            }
            StoreFound::Owned(client) if client.owner == OwnerKind::Watch => {
                return Err(Failure {
                    status: 3,
                    ..Failure::new(format!(
                        "'backissue watch' is already running (process {})",
                        client.process
                    ))
                });
            }
            StoreFound::Owned(client) => {
                let process = client.process;
                let Some(stream) = client.wait_for_end() else { continue };
                console::tell(&format!(
                    "another backissue has the store open (process {process}); polling resumes when it ends"
                ));
                if !session::wait_unless_stopped(stream)? {
                    return Ok(Done::All);
                }
                None
            }
        };
    }
}

/// Polls until a stop signal arrives or another process takes the store over.
fn poll(
    options: &Options,
    args: &WatchArgs,
    store: Store,
) -> Result<(Ending, Store, Option<Listener>), Failure> {
    let configured = session::read_configuration(options)?;
    // A service must stop quickly, so the maintenance that other commands do at exit is done at the start.
    let store = match upkeep::at_the_start(store, &configured.settings)? {
        Some(store) => store,
        None => session::open_store(options)?,
    };
    block_on(async {
        let mut runtime = Runtime::headless(store, configured.settings)?;
        runtime.prepare_network()?;
        session::follow_configuration(&runtime, options, configured.screen.theme);
        runtime.program.engine.offline = options.offline;
        session::stop_on_signals(&runtime);
        for note in &configured.notes {
            console::tell(&format!("configuration: {note}"));
        }
        let listener = owner::listen(&runtime, OwnerKind::Watch);
        if let Err(why) = &listener {
            console::tell(why);
        }
        console::tell(&format!(
            "watching {}; interrupt to stop",
            counted_words(runtime.program.engine.feeds.len(), "subscription", "subscriptions")
        ));
        let hand = runtime.hand();
        if args.follow {
            follow(options, hand.clone());
        }
        tokio::spawn(put_in_order_in_time(hand.another()));
        sync_clock::start(hand.another());
        let mut told = 0;
        let gone = StoreError::Gone(runtime.folder().into()).to_string();
        let mut is_gone = false;
        let ending = runtime
            .until_ended(|program| {
                for (level, text) in program.notices() {
                    if text == gone {
                        is_gone = true;
                        hand.do_later(|host| host.end(Ending::Stop));
                    } else if level == NoticeLevel::Trouble {
                        console::tell(&format!("backissue: {text}"));
                    }
                }
                let engine = &program.engine;
                if engine.polls.is_empty() && told != engine.poll_run.noted {
                    told = engine.poll_run.noted;
                    tell_round(&engine.poll_run);
                }
            })
            .await;
        hand.cancel();
        if let Ok(listener) = &listener {
            end_guests(&mut runtime, listener).await;
        }
        finish_polls(&mut runtime).await;
        let store = runtime.stop()?;
        if is_gone {
            return Err(Failure::new(gone));
        }
        Ok((ending, store, listener.ok()))
    })
}

/// Writes events to standard output from a separate thread, for `backissue watch --follow`.
fn follow(options: &Options, hand: LoopHandle) {
    let options = options.clone();
    let telling = move || {
        let output = Rc::<OwnOutput>::default();
        let desk = CommandContext::new(options, hand, output, EventLog::default());
        // It is not an error that the user stopped the main loop.
        let is_end = |failure: &Failure| failure.sentence == LoopEnded.to_string();
        if let Some(failure) = events::follow(&desk).err().filter(|failure| !is_end(failure)) {
            console::tell(&format!("backissue: {}", failure.sentence));
        }
    };
    // If no thread can be started, polling continues without the event output.
    std::thread::Builder::new().name("events".into()).spawn(telling).ok();
}

/// Checks once per [`ORDER_PAUSE`] and ends the main loop if no polls, archive walks or writes are under way and the store needs
/// maintenance that only runs between sessions.
async fn put_in_order_in_time(hand: LoopHandle) {
    loop {
        tokio::time::sleep(ORDER_PAUSE).await;
        let looking = hand.clone();
        let due = move || {
            let texts_max = looking.visit(|host| upkeep::texts_max(&host.engine().settings))?;
            looking.look(move |store| {
                Ok(store.may_hold_too_much(texts_max)? || store.is_worth_compacting()?)
            })
        };
        let due = tokio::task::spawn_blocking(due).await;
        if matches!(due, Ok(Ok(true))) {
            hand.do_later(|host| {
                if host.engine().is_at_rest() {
                    host.end(Ending::PutInOrder);
                }
            });
        }
    }
}

/// Prints one line about a finished round of polls.
fn tell_round(run: &PollRun) {
    if run.done() > 0 {
        console::tell(&format!(
            "{} polled, {} failed, {}",
            run.done(),
            run.failed,
            counted_words(run.new, "new entry", "new entries")
        ));
    }
}

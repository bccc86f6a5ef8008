//! `backissue watch`: the poller without a screen, for a service manager.

use crate::cli::args::Options;
use crate::cli::owner::{self, Found};
use crate::cli::session::{self, Failure, block_on};
use crate::cli::show_screen::end_guests;
use crate::cli::{Done, upkeep};
use crate::engine::event::NoticeLevel;
use crate::engine::poll::poll_results::PollRun;
use crate::io::console;
use crate::io::owner::client::wait_for_close;
use crate::io::owner::listener::Listener;
use crate::io::owner::messages::OwnerKind;
use crate::io::performing::Ending;
use crate::io::runtime::Runtime;
use crate::io::store::Store;

/// Runs until the system says stop; everything is saved. While a reader has the store it waits.
pub(in crate::cli) fn run(options: &Options) -> Result<Done, Failure> {
    loop {
        let store = match owner::find_owner(options)? {
            Found::Free(store, recovered) => {
                if let Some(sentence) = recovered {
                    console::tell(&sentence);
                }
                *store
            }
            Found::Owned(client) if client.owner == OwnerKind::Watch => {
                return Err(Failure {
                    status: 3,
                    ..Failure::new(format!(
                        "'backissue watch' runs already (process {})",
                        client.process
                    ))
                });
            }
            Found::Owned(client) => {
                let process = client.process;
                let Some(stream) = client.wait_for_end() else { continue };
                let why = format!(
                    "another backissue has the store open (process {process}); polling goes on when it ends"
                );
                if !wait_unless_stopped(stream, &why)? {
                    return Ok(Done::All);
                }
                continue;
            }
        };
        let (ending, store, listener) = poll(options, store)?;
        drop(store);
        if ending != Ending::HandOver {
            return Ok(Done::All);
        }
        // Whoever takes the store keeps the connection open as long as it has it.
        if let Some((stream, _)) = listener.and_then(Listener::release) {
            let why = "another backissue took the store over; polling goes on when it ends";
            if !wait_unless_stopped(stream, why)? {
                return Ok(Done::All);
            }
        }
    }
}

/// Says why it waits, and waits until the other side of a connection ends (`true`) or this process is told to (`false`).
fn wait_unless_stopped(stream: std::os::unix::net::UnixStream, why: &str) -> Result<bool, Failure> {
    block_on(async {
        let stopped = session::wait_until_stopped();
        console::tell(why);
        Ok(tokio::select! {
            biased;
            () = stopped => false,
            () = wait_for_close(stream) => true,
        })
    })
}

/// Polls until it is told to stop, or another process takes the store over.
fn poll(options: &Options, store: Store) -> Result<(Ending, Store, Option<Listener>), Failure> {
    let configured = session::read_configuration(options)?;
    // Who stops a service wants it to end at once: what others do at their end is done first.
    let store = match upkeep::at_the_start(store, &configured.settings)? {
        Some(store) => store,
        None => session::open_store(options)?,
    };
    block_on(async {
        let mut runtime = Runtime::headless(store, configured.settings)?;
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
            "watching {} subscriptions; interrupt to stop",
            runtime.program.engine.feeds.len()
        ));
        let mut told = 0;
        let ending = runtime
            .until_ended(|program| {
                for (level, text) in program.notices() {
                    if level == NoticeLevel::Trouble {
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
        if let Ok(listener) = &listener {
            end_guests(&mut runtime, listener).await;
        }
        let store = runtime.stop()?;
        Ok((ending, store, listener.ok()))
    })
}

/// Says in one line what came of a round of polls.
fn tell_round(run: &PollRun) {
    if run.done() > 0 {
        console::tell(&format!(
            "{} polled, {} failed, {} new entries",
            run.done(),
            run.failed,
            run.new
        ));
    }
}

//! `backissue` without a command: the reader, which also polls in the background. `backissue demo` is the full program with a
//! bundled publisher and a temporary store.

use std::io::{IsTerminal, Write};
use std::os::unix::net::UnixStream;

use crate::cli::Done;
use crate::cli::args::{CliCommand, Options};
use crate::cli::args_changes::{ImportArgs, reader_name};
use crate::cli::commands::import::found_readers;
use crate::cli::owner::{self, StoreFound};
use crate::cli::session::{self, Failure, block_on};
use crate::cli::show_screen::{ScreenExit, WaitEnd, show_screen, wait_for_store};
use crate::engine::feeds::addition::Subscribe;
use crate::engine::request::Request;
use crate::engine::settings::Settings;
use crate::io::accounts::sync_clock;
use crate::io::devices::DevicePort;
use crate::io::http_server::DemoServer;
use crate::io::log::ToldTo;
use crate::io::owner::client::Client;
use crate::io::owner::listener::Listener;
use crate::io::owner::messages::{OwnerKind, Taker};
use crate::io::performing::Ending;
use crate::io::runtime::Runtime;
use crate::io::signals::Stops;
use crate::io::store::{SessionLength, Store};
use crate::io::system::system_words;
use crate::io::{clock, console};
use crate::ui::app::Tour;
use crate::ui::settings::ScreenSettings;
use crate::ui::update;

/// Runs the reader.
pub(in crate::cli) fn run(options: &Options) -> Result<Done, Failure> {
    // Connections to the processes that released the store; they reopen it when these connections close.
    let mut lenders = Vec::new();
    let (mut claim, mut port) = (Claim::New, None);
    loop {
        let Some((store, recovered)) = get_store(options, &mut lenders, claim)? else {
            return Ok(Done::All);
        };
        let ScreenExit { ending, settings, store, port: kept, listener } =
            read_feeds(options, store, recovered.as_deref(), port)?;
        port = kept;
        match ending {
            // Maintenance also runs after a stop signal, and a second signal interrupts the maintenance. If a signal prevented
            // it, a user who always closes the terminal window would never get any maintenance.
            Ending::Quit | Ending::Stop => {
                drop(listener);
                session::at_the_end(store, &settings)?;
                return Ok(Done::All);
            }
            Ending::Suspend | Ending::PutInOrder => return Ok(Done::All),
            // After the demo, the screen that offered it is shown again.
            Ending::Demo => {
                drop((store, listener));
                if run_demo(options)? == Ending::Stop {
                    return Ok(Done::All);
                }
            }
            Ending::MoveIn(place) => {
                drop((store, listener));
                move_in(options, place)?;
            }
            Ending::HandOver => {
                drop(store);
                claim = match listener.and_then(Listener::release) {
                    // The process that asked for the store has ended, so no connection remains.
                    None => Claim::Turn,
                    Some((stream, taker)) => {
                        match block_on(wait_for_store(options, stream, taker))? {
                            WaitEnd::Ended => Claim::Turn,
                            WaitEnd::TakenBack => Claim::Back,
                            WaitEnd::Quit => return Ok(Done::All),
                        }
                    }
                };
            }
        }
    }
}

/// The situation in which this reader needs a store that another process has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// The reader has just started: it asks the user.
    New,
    /// Another process took the store, and the user wants it back.
    Back,
    /// Another process took the store, and this reader waits for it to end.
    Turn,
}

/// Opens the store once no process has it open. Waits for a running command to end, and asks any other process to release the
/// store; for a reader, the user must confirm this first. Returns `None` if the user quits instead.
fn get_store(
    options: &Options,
    lenders: &mut Vec<UnixStream>,
    mut claim: Claim,
) -> Result<Option<(Store, Option<String>)>, Failure> {
    let mut told = false;
    loop {
        let client = match owner::find_owner(options, SessionLength::Long)? {
            StoreFound::Free(store, recovered) => return Ok(Some((*store, recovered))),
            StoreFound::Owned(client) => client,
        };
        match (client.owner, claim) {
            (OwnerKind::Watch, _) | (OwnerKind::Reader, Claim::Back) => {}
            (OwnerKind::Reader, Claim::New) => {
                if !wants_to_take_over(&client)? {
                    return Ok(None);
                }
                claim = Claim::Back;
            }
            (OwnerKind::Reader, Claim::Turn) => {
                let Some(stream) = client.wait_for_end() else { continue };
                match block_on(wait_for_store(options, stream, Taker::Reader))? {
                    WaitEnd::Ended => {}
                    WaitEnd::TakenBack => claim = Claim::Back,
                    WaitEnd::Quit => return Ok(None),
                }
                continue;
            }
            (OwnerKind::Command, _) => {
                if !std::mem::replace(&mut told, true) {
                    console::tell(&format!(
                        "waiting for the backissue command that has the store open (process {}) …",
                        client.process
                    ));
                }
                let Some(stream) = client.wait_for_end() else { continue };
                if !session::wait_unless_stopped(stream)? {
                    return Ok(None);
                }
                continue;
            }
        }
        match client.take_over(Taker::Reader) {
            Ok(Some(stream)) => lenders.push(stream),
            // The other process ended.
            Ok(None) => {}
            Err(why) => return Err(Failure { status: 3, ..Failure::new(why) }),
        }
    }
}

/// Asks the user whether to take the store over from another reader.
fn wants_to_take_over(client: &Client) -> Result<bool, Failure> {
    let process = client.process;
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(Failure {
            status: 3,
            ..Failure::new(format!(
                "the reader is open in another terminal (process {process}); to take over from it, run backissue in a terminal"
            ))
        });
    }
    console::tell(&format!(
        "backissue is open in another terminal (process {process}).\nEnter takes it over here; that terminal can take it back. n leaves it there."
    ));
    let answer = ask_line("take over? [Y/n] ")?;
    Ok(answer.is_some_and(|answer| !answer.trim_start().to_lowercase().starts_with(['n', 'q'])))
}

/// Imports from another reader that was found, and waits until the user has read the result.
fn move_in(options: &Options, place: usize) -> Result<(), Failure> {
    let Some(reader) = found_readers().nth(place) else { return Ok(()) };
    let args = ImportArgs { file: None, from: Some(reader), dry_run: false, write_config: false };
    if let Err(failure) = owner::run_command(options, CliCommand::Import(args)) {
        console::tell(&format!("backissue: {}", failure.sentence));
    }
    ask_line("Enter opens the reader; there, the undo key takes the import back ").map(drop)
}

/// Asks for a line on the terminal. Returns `None` after a stop signal or at the end of the input.
fn ask_line(question: &str) -> Result<Option<String>, Failure> {
    let mut out = std::io::stderr();
    out.write_all(question.as_bytes()).and_then(|()| out.flush()).ok();
    let mut stops = Stops::of_process();
    let read = || {
        let mut answer = String::new();
        let read = std::io::stdin().read_line(&mut answer).unwrap_or(0);
        (read > 0).then_some(answer)
    };
    block_on(async {
        Ok(tokio::select! {
            biased;
            () = stops.wait() => None,
            answer = tokio::task::spawn_blocking(read) => answer.ok().flatten(),
        })
    })
}

/// Shows the screen of the feed reader until the user leaves the screen.
fn read_feeds(
    options: &Options,
    store: Store,
    recovered: Option<&str>,
    port: Option<DevicePort>,
) -> Result<ScreenExit, Failure> {
    let configured = session::read_configuration(options)?;
    block_on(async {
        let mut runtime = Runtime::with_screen(store, configured.settings, configured.screen)?;
        let theme = runtime.program.ui.settings.theme.clone();
        session::follow_configuration(&runtime, options, theme);
        if !configured.notes.is_empty() {
            let now = clock::precise_now();
            update::tell_notes(&mut runtime.program, now, "", &configured.notes);
        }
        runtime.program.engine.offline = options.offline;
        runtime.program.ui.found_readers = found_readers().map(reader_name).collect();
        session::dress_screen(options, &mut runtime);
        if let Some(sentence) = recovered {
            runtime.program.ui.complain(clock::precise_now(), sentence.to_owned());
        }
        session::stop_on_signals(&runtime);
        sync_clock::start(runtime.handle());
        if let Some(port) = &port {
            port.server.has_store(Some(runtime.handle()));
            runtime.program.ui.serving = Some(port.base.clone());
        }
        runtime.port = port;
        let listener = owner::listen(&runtime, OwnerKind::Reader);
        if let Err(why) = &listener {
            runtime.program.ui.complain(clock::precise_now(), why.clone());
        }
        // If the status line already shows another problem, the panic report appears at the next start instead.
        let is_free = !runtime.program.ui.notice.as_ref().is_some_and(|notice| notice.trouble);
        let untold = session::find_untold_panics(options, ToldTo::Reader).filter(|_| is_free);
        if let Some(untold) = &untold {
            runtime.program.ui.complain(clock::precise_now(), untold.sentence.clone());
        }
        let left = show_screen(runtime, listener.ok(), options.verbose).await?;
        if let Some(untold) = untold {
            untold.note_told();
        }
        Ok(left)
    })
}

/// Runs `backissue demo`.
pub(in crate::cli) fn run_demo_command(options: &Options) -> Result<Done, Failure> {
    run_demo(options).map(|_| Done::All)
}

/// Runs the demo and returns how the user left it.
fn run_demo(options: &Options) -> Result<Ending, Failure> {
    let folder = tempfile::Builder::new().prefix("backissue-demo-").tempdir().map_err(|error| {
        Failure::new(format!("no folder could be created for the demo: {}", system_words(&error)))
    })?;
    let store = Store::open(folder.path())?;
    block_on(async {
        let server = DemoServer::start(clock::now).await.map_err(|error| {
            Failure::new(format!("the demo's server cannot start: {}", system_words(&error)))
        })?;
        let mut runtime = {
            let (mut settings, screen) = demo_settings(options);
            settings.downloads.folder = folder.path().join("downloads").to_string_lossy().into();
            Runtime::with_screen(store, settings, screen)?
        };
        session::dress_screen(options, &mut runtime);
        session::stop_on_signals(&runtime);
        for offer in server.site.subscriptions() {
            let (address, tags) = (offer.url, offer.tags);
            let wanted = Subscribe { address, tags, unasked: true, ..Subscribe::default() };
            // These subscriptions are not changes of the user, so an undo must not remove them.
            runtime.ask(Request::Arrived(Box::new(Request::Subscribe(Box::new(wanted)))));
        }
        runtime.program.ui.tour = Some(Tour::default());
        show_screen(runtime, None, options.verbose).await.map(|left| left.ending)
    })
}

/// Returns settings for a publisher in this process: no delays between requests, and a poll as often as every minute.
fn demo_settings(options: &Options) -> (Settings, ScreenSettings) {
    // The user's own screen settings apply. Errors in the configuration are ignored here, because other commands report them.
    let screen = session::read_configuration(options).unwrap_or_default().screen;
    let mut settings = Settings::default();
    settings.network.space_loopback = false;
    settings.poll.min_minutes = 1;
    settings.poll.start_spread_seconds = 0;
    (settings, screen)
}

//! Decides which process runs a command: this one, if the store is free, or the process that has the store open.

use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use backissue_core::history::EntryKey;
use clap::Parser;

use super::args::{Args, CliCommand, Options};
use super::args_changes::{DownloadsArgs, DownloadsChange};
use super::commands::{events, simulate_own};
use super::context::CommandContext;
use super::json::EventLog;
use super::session::{self, Failure, block_on};
use super::show_screen::{end_guests, finish_polls};
use super::{Done, commands};
use crate::engine::settings::Settings;
use crate::io::answers::LoopEnded;
use crate::io::loop_handle::LoopHandle;
use crate::io::output::{CommandOutput, OwnOutput};
use crate::io::owner::client::{Client, ConnectError, RunEnd};
use crate::io::owner::listener::{GuestOutput, Listener};
use crate::io::owner::messages::{OwnerKind, OwnerMessage, Taker};
use crate::io::panics::catch_fault;
use crate::io::runtime::{Program, Runtime};
use crate::io::signals::Stops;
use crate::io::store::{
    FeedsWanted, SessionLength, Store, StoreError, find_lock, is_data_folder, own_socket,
};
use crate::io::system::system_words;
use crate::io::{clock, console};

/// Maximum wait for the process that has the store open to accept connections, while it starts, ends or maintains the store.
const OWNER_TIME: Duration = Duration::from_secs(30);
/// Time after which a command that waits for the store prints why it waits.
const PATIENCE: Duration = Duration::from_secs(2);
/// Maximum time for commands of other processes to finish after this process's own command is done.
const GUESTS_TIME: Duration = Duration::from_mins(1);
/// Error message for a command that panicked.
const FAULT: &str = "the command failed because of a bug in backissue; the store is intact";
/// Maximum number of attempts to submit a command to processes that end before it begins, and the pause before each attempt.
const TRIES_MAX: u32 = 100;
const AGAIN_PAUSE: Duration = Duration::from_millis(20);
/// Pause between two attempts to open the store or to connect to the process that has it open.
const TRY_PAUSE: Duration = Duration::from_millis(5);

/// The process that has the store open: this one or another one.
pub(super) enum StoreFound {
    /// This process has opened the store. The sentence, if any, reports that the store was restored from a backup.
    Free(Box<Store>, Option<String>),
    /// Another process has the store open and accepts commands.
    Owned(Client),
}

/// Opens the store, or connects to the process that has it open.
pub(super) fn find_owner(options: &Options, stay: SessionLength) -> Result<StoreFound, Failure> {
    let folder = session::data_dir(options)?;
    // If a folder without a store belongs to a process that has the store open, the store was moved away. Do not create a second
    // store.
    if !is_data_folder(&folder)
        && let Ok(client) = Client::connect(&own_socket(&folder))
    {
        return match stay {
            SessionLength::Short => Ok(StoreFound::Owned(client)),
            SessionLength::Long => Err(StoreError::Gone(folder).into()),
        };
    }
    let open = || {
        let (store, recovered) = session::store_or_recovered(options, stay)?;
        Ok(StoreFound::Free(Box::new(store), recovered))
    };
    match open_or_connect(&Stops::of_process(), open)? {
        Ok(found) => Ok(found),
        Err(client) => Ok(StoreFound::Owned(client)),
    }
}

/// Opens a resource that only one process can have, or connects to that process.
fn open_or_connect<T>(
    stops: &Stops,
    open: impl Fn() -> Result<T, Failure>,
) -> Result<Result<T, Client>, Failure> {
    let (began, mut told) = (clock::instant(), false);
    loop {
        if stops.were_told() {
            return Err(Failure::new(
                "interrupted while waiting for another backissue that has the store open",
            ));
        }
        let failure = match open() {
            Ok(opened) => return Ok(Ok(opened)),
            Err(failure) => failure,
        };
        match failure.in_use.as_deref().map(Client::connect) {
            // Either the store cannot be opened for another reason, or the process that has it open is of a version that accepts
            // no connections.
            None => return Err(failure),
            Some(Ok(client)) => return Ok(Err(client)),
            Some(Err(ConnectError::Refused(why))) => {
                return Err(Failure { status: 3, ..Failure::new(why) });
            }
            Some(Err(ConnectError::NotThere)) if began.elapsed() > OWNER_TIME => {
                return Err(failure);
            }
            Some(Err(ConnectError::NotThere)) => {
                if began.elapsed() > PATIENCE && !std::mem::replace(&mut told, true) {
                    console::tell(
                        "waiting for another backissue, which has the store open and is busy …",
                    );
                }
                std::thread::sleep(TRY_PAUSE);
            }
        }
    }
}

/// Runs a command that needs the store, here or in the process that has the store open.
pub(super) fn run_command(options: &Options, command: CliCommand) -> Result<Done, Failure> {
    if !matches!(command, CliCommand::Doctor(_)) {
        // Configuration errors are reported regardless of which process runs the command.
        session::read_settings(options)?;
    }
    let mut tries = 0;
    loop {
        match find_owner(options, SessionLength::Short)? {
            StoreFound::Free(store, recovered) => {
                if let Some(sentence) = recovered {
                    console::tell(&sentence);
                }
                if let CliCommand::Doctor(args) = &command {
                    session::end_when_stopped();
                    // `doctor` checks for faults that the normal way of opening the store would repair.
                    return commands::doctor::check_store(*store, args);
                }
                if let CliCommand::Unread(args) = &command {
                    // `unread` needs only the stored totals, so the main loop, the network and the search index are not started.
                    return commands::feeds::run_alone(&store, args);
                }
                return run_here(options, *store, command);
            }
            StoreFound::Owned(client) => {
                let cancel = client.canceller();
                session::when_stopped(cancel);
                match client.run(session::typed(), &OwnOutput::default()) {
                    RunEnd::Ended(0, _) => return Ok(Done::All),
                    RunEnd::Ended(1, None) => return Ok(Done::WithFailures),
                    RunEnd::Ended(status, sentence) => {
                        return Err(Failure {
                            status,
                            ..Failure::new(sentence.unwrap_or_default())
                        });
                    }
                    RunEnd::NotBegun if tries < TRIES_MAX => {
                        tries += 1;
                        std::thread::sleep(AGAIN_PAUSE);
                    }
                    RunEnd::NotBegun => return Err(LoopEnded.into()),
                    RunEnd::Lost => {
                        return Err(LoopEnded.into());
                    }
                }
            }
        }
    }
}

/// Runs a command in this process, which has the store, and accepts commands from other processes meanwhile.
fn run_here(options: &Options, store: Store, command: CliCommand) -> Result<Done, Failure> {
    let (polls, fetches) = (matches!(command, CliCommand::Poll(_)), fetches(&command));
    let (done, held, settings, store) = block_on(async {
        let wanted = wanted(&command);
        let mut runtime = session::quiet_on(options, store, wanted)?;
        if fetches {
            runtime.prepare_network()?;
        }
        // The commands of other processes may need the subscriptions that were not loaded, so they wait until this one ends.
        let listener = (wanted == FeedsWanted::All).then(|| listen(&runtime, OwnerKind::Command));
        let listener = listener.and_then(Result::ok);
        let handle = runtime.handle();
        let cancelled = handle.clone();
        let guests = listener.as_ref().map(Listener::canceller);
        session::on_each_stop(move || {
            if cancelled.is_cancelled() {
                std::process::exit(session::INTERRUPTED);
            }
            cancelled.cancel();
            if let Some(cancel) = &guests {
                cancel();
            }
        });
        let options = options.clone();
        let worker = std::thread::Builder::new().name("command".into()).spawn(move || {
            let output = Rc::<OwnOutput>::default();
            output.held.replace((wanted != FeedsWanted::All).then(Vec::new));
            let shown = Rc::clone(&output) as Rc<dyn CommandOutput>;
            let context = CommandContext::new(options, handle, shown, EventLog::default());
            let mut done = run_guarded(&context, &command);
            if fetches && !context.is_closed() {
                let told = context.wait_until_news_is_told();
                done = done.and_then(|done| Ok(done.and(told?)));
            }
            context.end_loop();
            (done, output.held.take().unwrap_or_default())
        });
        let worker = worker.map_err(|error| {
            Failure::new(format!("no thread could be started: {}", system_words(&error)))
        })?;
        runtime.until_ended(|_| {}).await;
        if let Some(listener) = &listener {
            listener.cancel_guests(false);
            let guests = runtime.until(|_| listener.guests() == 0);
            // A client that does not read its output must not keep this process running forever.
            tokio::time::timeout(GUESTS_TIME, guests).await.ok();
            end_guests(&mut runtime, listener).await;
        }
        finish_polls(&mut runtime).await;
        let settings = runtime.program.engine.settings.clone();
        // If the command is still waiting for the ended main loop, stopping the runtime ends that wait.
        let store = runtime.stop();
        let died = |_| (Err(Failure::new(FAULT)), Vec::new());
        let (done, held) = worker.join().unwrap_or_else(died);
        Ok((done, held, settings, store?))
    })?;
    let ended = end_well(done, polls, store, &settings);
    if !held.is_empty() {
        // A pager may never read.
        session::end_when_stopped();
    }
    for line in held {
        console::put(&line);
    }
    ended
}

/// Returns the subscriptions that a command needs. One that only shows an entry starts sooner with one of 10,000.
fn wanted(command: &CliCommand) -> FeedsWanted {
    let CliCommand::Show(args) = command else { return FeedsWanted::All };
    args.entry.parse().map_or(FeedsWanted::All, |key: EntryKey| FeedsWanted::One(key.feed))
}

/// Checks whether a command uses the network.
const fn fetches(command: &CliCommand) -> bool {
    matches!(
        command,
        CliCommand::Add(_)
            | CliCommand::Poll(_)
            | CliCommand::History(_)
            | CliCommand::Resume(_)
            | CliCommand::Move(_)
            | CliCommand::Downloads(DownloadsArgs { change: Some(DownloadsChange::Run), .. })
    ) || is_sync(command)
}

const fn is_sync(command: &CliCommand) -> bool {
    if let CliCommand::Account(args) = command { args.fetches() } else { false }
}

/// Checks whether a command is rejected at the start if the data folder is gone. Other commands that change something fail when
/// they write.
const fn needs_folder(command: &CliCommand) -> bool {
    fetches(command) || matches!(command, CliCommand::Doctor(_))
}

/// Runs maintenance after a command that polls. All other commands end immediately, without maintenance.
fn end_well(
    done: Result<Done, Failure>,
    polls: bool,
    store: Store,
    settings: &Settings,
) -> Result<Done, Failure> {
    let done = done?;
    store.check_place()?;
    if polls {
        session::at_the_end(store, settings)?;
    }
    Ok(done)
}

/// Starts accepting commands of other processes. The error is a sentence; the program also works without a listener.
pub(super) fn listen<P: Program>(
    runtime: &Runtime<P>,
    kind: OwnerKind,
) -> Result<Listener, String> {
    let socket = own_socket(runtime.folder());
    let handle = runtime.handle();
    let log = EventLog::keep(&handle);
    let run = move |typed, output: Rc<GuestOutput>, handle| {
        run_for_another(typed, &output, handle, log.clone())
    };
    Listener::start(&socket, kind, handle, Arc::new(run))
}

/// Runs a command for another process.
fn run_for_another(
    typed: Vec<String>,
    output: &Rc<GuestOutput>,
    handle: LoopHandle,
    log: EventLog,
) -> OwnerMessage {
    let done = match Args::try_parse_from(typed) {
        Err(error) => Err(Failure::new(error.to_string())),
        Ok(Args { command: None, .. }) => Err(Failure::new("that is not a command")),
        Ok(Args { global, command: Some(command) }) => {
            let output = Rc::clone(output) as Rc<dyn CommandOutput>;
            let checked = if needs_folder(&command) {
                handle.look(|store| store.check_place()).map_err(Failure::from)
            } else {
                Ok(())
            };
            let context = CommandContext::new(global, handle, output, log);
            checked.and_then(|()| run_guarded(&context, &command))
        }
    };
    match done {
        Ok(Done::All) => OwnerMessage::Ended { status: 0, sentence: None },
        Ok(Done::WithFailures) => OwnerMessage::Ended { status: 1, sentence: None },
        Err(failure) if failure.loop_ended && !output.has_begun() => OwnerMessage::NotBegun,
        Err(failure) => {
            OwnerMessage::Ended { status: failure.status, sentence: Some(failure.sentence) }
        }
    }
}

/// Runs a command and turns a panic in it into an error.
fn run_guarded(context: &CommandContext, command: &CliCommand) -> Result<Done, Failure> {
    let done = catch_fault(|| context.report_interrupted(run_at(context, command)));
    done.unwrap_or_else(|| Err(Failure::new(FAULT)))
}

/// Runs the function for a command that needs the store, in the process that has the store open.
fn run_at(context: &CommandContext, command: &CliCommand) -> Result<Done, Failure> {
    match command {
        CliCommand::Add(args) => commands::add::run(context, args),
        CliCommand::Import(args) => commands::import::run(context, args),
        CliCommand::Export(args) => commands::export::run(context, args),
        CliCommand::Feeds(args) => commands::feeds::run(context, args),
        CliCommand::Entries(args) => commands::entries::run(context, args),
        CliCommand::Search(args) => commands::entries::run_search(context, args),
        CliCommand::Filters(args) => commands::filters::run(context, args),
        CliCommand::Downloads(args) => commands::downloads::run(context, args),
        CliCommand::Show(args) => commands::entries::run_show(context, args),
        CliCommand::Poll(args) => commands::poll::run(context, args),
        CliCommand::History(args) => commands::history::run(context, args),
        CliCommand::Plan(args) => commands::history::run_plan(context, args),
        CliCommand::Set(args) => commands::set::run(context, args),
        CliCommand::Drip(args) => commands::set::run(context, &args.as_set()),
        CliCommand::Unsubscribe(args) => commands::set::run_unsubscribe(context, args),
        CliCommand::Unread(args) => commands::feeds::run_unread(context, args),
        CliCommand::Open(args) => commands::mark::run_open(context, args),
        CliCommand::Undo(args) => commands::mark::run_undo(context, args),
        CliCommand::SubscribeAgain(args) => commands::set::take_back(context, args),
        CliCommand::Resume(args) => commands::set::resume(context, args),
        CliCommand::Move(args) => commands::set::answer_move(context, args),
        CliCommand::Mark(args) => commands::mark::run(context, args),
        CliCommand::Label(args) => commands::mark::label(context, args),
        CliCommand::Doctor(args) => commands::doctor::run(context, args),
        CliCommand::Events(args) => events::tell(context, args),
        CliCommand::Publish(args) => commands::publish::run(context, args),
        CliCommand::Simulate(args) => simulate_own::run_feed(context, args),
        CliCommand::Account(args) => commands::accounts::run(context, args),
        CliCommand::Device(args) => commands::devices::run(context, args),
        CliCommand::Backup(args) => commands::doctor::back_up(context, args),
        CliCommand::Demo
        | CliCommand::Watch(_)
        | CliCommand::Service(_)
        | CliCommand::Parse(_)
        | CliCommand::Lint(_)
        | CliCommand::Serve(_)
        | CliCommand::Config(_)
        | CliCommand::Restore(_)
        | CliCommand::Completions(_)
        | CliCommand::Man(_) => Err(Failure::new("another process cannot run that command")),
    }
}

/// Exclusive use of the store for this process, without opening it, because it may be damaged. Dropping this returns the
/// store to the processes that released it.
#[derive(Debug)]
pub(super) struct Borrowed {
    /// Connections to the processes that released the store.
    lenders: Vec<UnixStream>,
    stops: Stops,
}

/// Obtains exclusive use of the store for this process.
pub(super) fn borrow_store(options: &Options) -> Result<Borrowed, Failure> {
    session::end_when_stopped();
    let folder = session::data_dir(options)?;
    let mut borrowed = Borrowed { lenders: Vec::new(), stops: Stops::of_process() };
    borrowed.when_free(|| Ok(find_lock(&folder)?))?;
    Ok(borrowed)
}

impl Borrowed {
    /// Runs work that needs the store. If another process has opened the store meanwhile, waits for that process to end if it is
    /// a command, and asks it to release the store otherwise. This can happen because a command closes the store between two
    /// steps, and because a process that released the store is about to reopen it.
    pub(super) fn when_free<T>(
        &mut self,
        work: impl Fn() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        loop {
            let client = match open_or_connect(&self.stops, &work)? {
                Ok(done) => return Ok(done),
                Err(client) => client,
            };
            if client.owner == OwnerKind::Command {
                wait_for_end(client)?;
                continue;
            }
            match client.take_over(Taker::Command) {
                Ok(Some(lender)) => self.lenders.push(lender),
                // The other process ended instead of releasing the store, so try again.
                Ok(None) => {}
                Err(why) => return Err(Failure { status: 3, ..Failure::new(why) }),
            }
        }
    }
}

/// Waits until the process that has the store open ends or releases it.
fn wait_for_end(client: Client) -> Result<(), Failure> {
    client.wait_for_end().map_or(Ok(()), |stream| session::wait_unless_stopped(stream).map(drop))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;
    use crate::io::owner::messages::{ClientMessage, read_frame, write_frame};

    /// Simulates an owner of the store that releases it on request.
    fn answer(listener: &UnixListener, owner: OwnerKind) -> Option<ClientMessage> {
        let (mut stream, _) = listener.accept().unwrap();
        let hello: Option<ClientMessage> = read_frame(&mut stream).unwrap();
        assert!(matches!(hello, Some(ClientMessage::Hello { .. })));
        write_frame(&mut stream, &OwnerMessage::Welcome { owner, process: 1 }).unwrap();
        let asked = read_frame(&mut stream).unwrap();
        if matches!(asked, Some(ClientMessage::TakeOver(_))) {
            write_frame(&mut stream, &OwnerMessage::Yours).unwrap();
        }
        asked
    }

    #[test]
    fn new_owner_of_a_borrowed_store_is_asked_unless_brief() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("owner");
        let listener = UnixListener::bind(&socket).unwrap();
        // The store was free when it was borrowed; then a reader, a command and a service open it in turn.
        let owners = [OwnerKind::Reader, OwnerKind::Command, OwnerKind::Watch];
        let asked = thread::spawn(move || owners.map(|owner| answer(&listener, owner)));
        let mut borrowed = Borrowed { lenders: Vec::new(), stops: Stops::of_nobody() };
        let tries = Cell::new(0);
        let work = || {
            let owner = owners.get(tries.replace(tries.get() + 1));
            let in_use = owner.map(|_| Failure {
                in_use: Some(socket.clone()),
                ..Failure::new("another process is using it")
            });
            in_use.map_or(Ok("done"), Err)
        };
        assert!(matches!(borrowed.when_free(work), Ok("done")));
        assert_eq!(tries.get(), owners.len() + 1);
        let take_over = Some(ClientMessage::TakeOver(Taker::Command));
        let expected = [take_over.clone(), Some(ClientMessage::WaitForEnd), take_over];
        assert_eq!(asked.join().unwrap(), expected);
        assert_eq!(borrowed.lenders.len(), 2, "they take it back when this ends");
    }
}

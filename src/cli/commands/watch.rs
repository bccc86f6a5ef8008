//! `backissue watch`: polls without a screen, under a service manager. `backissue service` sets this up as a user service of
//! systemd, or on macOS as an agent of launchd.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::rc::Rc;
use std::time::Duration;

use backissue_core::feed::outgoing::escaped_text;
use backissue_core::feed::text::counted_words;

use crate::cli::Done;
use crate::cli::args::{Options, ServiceAction, ServiceArgs, WatchArgs};
use crate::cli::commands::{events, publishing};
use crate::cli::context::CommandContext;
use crate::cli::json::EventLog;
use crate::cli::owner::{self, StoreFound};
use crate::cli::session::{self, Failure, block_on};
use crate::cli::show_screen::{end_guests, finish_polls};
use crate::engine::poll::poll_log::PollRun;
use crate::engine::request::NoticeLevel;
use crate::io::accounts::sync_clock;
use crate::io::answers::LoopEnded;
use crate::io::config::config_file;
use crate::io::console;
use crate::io::devices::DevicePort;
use crate::io::loop_handle::LoopHandle;
use crate::io::output::OwnOutput;
use crate::io::owner::listener::Listener;
use crate::io::owner::messages::OwnerKind;
use crate::io::performing::Ending;
use crate::io::private_files::replace_private;
use crate::io::processes::run_command;
use crate::io::runtime::Runtime;
use crate::io::store::{FeedsWanted, SessionLength, Store, StoreError};
use crate::io::system::system_words;

/// Interval between checks for store maintenance.
const ORDER_PAUSE: Duration = Duration::from_hours(1);

/// What a process without a screen does.
struct Watching {
    /// Whether to print events to standard output.
    follows: bool,
    /// Whether to poll feeds and sync accounts.
    polls: bool,
    /// Address at which to serve devices, if any.
    serves: Option<SocketAddr>,
}

/// Runs `backissue watch`.
pub(in crate::cli) fn run(options: &Options, args: &WatchArgs) -> Result<Done, Failure> {
    watch(options, &Watching { follows: args.follow, polls: true, serves: args.serve })
}

/// Runs `backissue serve --sync`.
pub(in crate::cli) fn run_serving(options: &Options, address: SocketAddr) -> Result<Done, Failure> {
    watch(options, &Watching { follows: false, polls: false, serves: Some(address) })
}

/// Polls until a stop signal arrives, then saves everything. While a reader has the store open, waits for the reader to end.
/// Devices are served all the time, in either case.
fn watch(options: &Options, watching: &Watching) -> Result<Done, Failure> {
    let port = watching.serves.map(|address| open_port(options, address)).transpose()?;
    let mut kept = None;
    loop {
        if let Some(store) = kept.take() {
            let (ending, store, listener) = poll(options, watching, port.as_ref(), store)?;
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
                Ending::Quit
                | Ending::Stop
                | Ending::Demo
                | Ending::MoveIn(_)
                | Ending::Suspend => {
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
            StoreFound::Owned(client) if client.owner == OwnerKind::Watch && watching.polls => {
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
                let meanwhile = if watching.polls {
                    "polling resumes when it ends"
                } else {
                    "it answers devices"
                };
                console::tell(&format!(
                    "another backissue has the store open (process {process}); {meanwhile}"
                ));
                if !session::wait_unless_stopped(stream)? {
                    return Ok(Done::All);
                }
                None
            }
        };
    }
}

/// Opens the port for devices, and prints its address.
fn open_port(options: &Options, address: SocketAddr) -> Result<DevicePort, Failure> {
    let settings = session::read_settings(options)?;
    let port = DevicePort::open(&settings, session::data_dir(options)?, address);
    let port = port.map_err(Failure::new)?;
    for note in &port.notes {
        console::tell(note);
    }
    console::put(&port.api());
    console::tell(&format!("in a browser: {}/", port.base));
    Ok(port)
}

/// Polls until a stop signal arrives or another process takes the store over.
fn poll(
    options: &Options,
    watching: &Watching,
    port: Option<&DevicePort>,
    store: Store,
) -> Result<(Ending, Store, Option<Listener>), Failure> {
    let configured = session::read_configuration(options)?;
    // A service must stop quickly, so the maintenance that other commands do at exit is done at the start.
    let store = match session::at_the_start(store, &configured.settings)? {
        Some(store) => store,
        None => session::open_store(options)?,
    };
    block_on(async {
        let mut runtime = Runtime::headless(store, configured.settings, FeedsWanted::All)?;
        runtime.prepare_network()?;
        session::follow_configuration(&runtime, options, configured.screen.theme);
        runtime.program.engine.offline = options.offline;
        runtime.program.engine.polls_by_itself = watching.polls;
        session::stop_on_signals(&runtime);
        for note in &configured.notes {
            console::tell(&format!("configuration: {note}"));
        }
        let listener = owner::listen(&runtime, OwnerKind::Watch);
        if let Err(why) = &listener {
            console::tell(why);
        }
        let does = if watching.polls { "watching" } else { "serving" };
        console::tell(&format!(
            "{does} {}; interrupt to stop",
            counted_words(runtime.program.engine.feeds.len(), "subscription", "subscriptions")
        ));
        let handle = runtime.handle();
        if let Some(port) = port {
            port.server.has_store(Some(handle.clone()));
        }
        if watching.follows {
            follow(options, handle.clone());
        }
        tokio::spawn(put_in_order_in_time(handle.another()));
        if watching.polls {
            sync_clock::start(handle.another());
            publishing::start(options, handle.clone());
        }
        let mut told = 0;
        let gone = StoreError::Gone(runtime.folder().into()).to_string();
        let mut is_gone = false;
        let ending = runtime
            .until_ended(|program| {
                for (level, text) in program.notices() {
                    if text == gone {
                        is_gone = true;
                        handle.do_later(|host| host.end(Ending::Stop));
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
        handle.cancel();
        if let Some(port) = port {
            port.server.has_store(None);
        }
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
fn follow(options: &Options, handle: LoopHandle) {
    let options = options.clone();
    let telling = move || {
        let output = Rc::<OwnOutput>::default();
        let context = CommandContext::new(options, handle, output, EventLog::default());
        // It is not an error that the user stopped the main loop.
        let is_end = |failure: &Failure| failure.sentence == LoopEnded.to_string();
        if let Some(failure) = events::follow(&context).err().filter(|failure| !is_end(failure)) {
            console::tell(&format!("backissue: {}", failure.sentence));
        }
    };
    // If no thread can be started, polling continues without the event output.
    std::thread::Builder::new().name("events".into()).spawn(telling).ok();
}

/// Checks once per [`ORDER_PAUSE`] and ends the main loop if no polls, archive walks or writes are under way and the store needs
/// maintenance that only runs between sessions.
async fn put_in_order_in_time(handle: LoopHandle) {
    loop {
        tokio::time::sleep(ORDER_PAUSE).await;
        let looking = handle.clone();
        let due = move || {
            let texts_max = looking.visit(|host| session::texts_max(&host.engine().settings))?;
            looking.look(move |store| {
                Ok(store.may_hold_too_much(texts_max)? || store.is_worth_compacting()?)
            })
        };
        let due = tokio::task::spawn_blocking(due).await;
        if matches!(due, Ok(Ok(true))) {
            handle.do_later(|host| {
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

/// The text of the systemd unit file, with a placeholder for the command line that starts this program.
const UNIT: &str = include_str!("../../../assets/backissue.service");
/// Name of the systemd unit.
const UNIT_NAME: &str = "backissue.service";
/// The text of the launchd agent, with a placeholder for the words of that command line.
const AGENT: &str = include_str!("../../../assets/backissue.plist");
/// Label of the agent, and its file.
const LABEL: &str = "backissue";
const AGENT_FILE: &str = "Library/LaunchAgents/backissue.plist";

/// The service manager of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServiceStarter {
    Systemd,
    Launchd,
}

/// Runs `backissue service`.
pub(in crate::cli) fn run_service(options: &Options, args: &ServiceArgs) -> Result<Done, Failure> {
    let starter =
        if cfg!(target_os = "macos") { ServiceStarter::Launchd } else { ServiceStarter::Systemd };
    let file = starter.file()?;
    match args.what {
        ServiceAction::Install => install(starter, options, &file),
        ServiceAction::Remove => remove(starter, &file),
        ServiceAction::Status => status(starter, &file),
    }
}

fn install(starter: ServiceStarter, options: &Options, file: &Path) -> Result<Done, Failure> {
    let cannot = |error: std::io::Error| Failure::unwritten(file.display(), &error);
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(format!("the path of this program is unknown: {}", system_words(&error)))
    })?;
    let text = starter.file_text(&start_command(&program, options)?);
    // Check this first, so that no useless file is written if there is no manager.
    starter.check()?;
    file.parent().map_or(Ok(()), fs::create_dir_all).map_err(cannot)?;
    replace_private(file, text.as_bytes()).map_err(cannot)?;
    console::tell(&format!("written: {}", file.display()));
    starter.start(file)?;
    console::tell(&format!("backissue now polls in the background; {}", starter.where_told()));
    Ok(Done::All)
}

fn remove(starter: ServiceStarter, file: &Path) -> Result<Done, Failure> {
    if !file.exists() {
        console::tell(&format!("the service is not installed: {} does not exist", file.display()));
        return Ok(Done::All);
    }
    let stopped = starter.stop();
    fs::remove_file(file).map_err(|error| {
        Failure::new(format!("{} cannot be removed: {}", file.display(), system_words(&error)))
    })?;
    console::tell(&format!("removed: {}", file.display()));
    stopped.and_then(|()| starter.forget())?;
    Ok(Done::All)
}

fn status(starter: ServiceStarter, file: &Path) -> Result<Done, Failure> {
    if !file.exists() {
        console::put("not installed; run 'backissue service install' to install it");
        return Ok(Done::WithFailures);
    }
    let (is_running, words) = starter.state()?;
    console::put(&format!("{words}: {}", file.display()));
    Ok(if is_running { Done::All } else { Done::WithFailures })
}

impl ServiceStarter {
    /// Returns the path of the file that describes the service to the user's service manager.
    fn file(self) -> Result<PathBuf, Failure> {
        match self {
            Self::Systemd => {
                let folders = config_file::folders().map_err(Failure::new)?;
                let config = folders.config.parent().and_then(Path::parent);
                Ok(config.unwrap_or(Path::new(".")).join("systemd/user").join(UNIT_NAME))
            }
            Self::Launchd => std::env::home_dir()
                .map(|home| home.join(AGENT_FILE))
                .ok_or_else(|| Failure::new("the home folder is unknown: set HOME".to_owned())),
        }
    }

    /// Returns the text of that file, for a command that starts this program.
    fn file_text(self, command: &[String]) -> String {
        match self {
            Self::Systemd => {
                let words: Vec<String> = command.iter().map(|word| quote_for_unit(word)).collect();
                UNIT.replace("{command}", &words.join(" "))
            }
            Self::Launchd => {
                let word =
                    |word: &String| format!("        <string>{}</string>\n", escaped_text(word));
                AGENT.replace("{command}", &command.iter().map(word).collect::<String>())
            }
        }
    }

    fn check(self) -> Result<(), Failure> {
        match self {
            Self::Systemd => self.order(&["--version"]),
            Self::Launchd => self.order(&["version"]),
        }
    }

    /// Starts the service. If it is already running, restarts it, so that a new file is used.
    fn start(self, file: &Path) -> Result<(), Failure> {
        match self {
            Self::Systemd => {
                self.order(&["daemon-reload"])?;
                self.order(&["enable", UNIT_NAME])?;
                self.order(&["restart", UNIT_NAME])
            }
            Self::Launchd => {
                // This fails if the service is not running.
                self.stop().ok();
                self.order(&["bootstrap", &domain(), &file.display().to_string()])
            }
        }
    }

    fn stop(self) -> Result<(), Failure> {
        match self {
            Self::Systemd => self.order(&["disable", "--now", UNIT_NAME]),
            Self::Launchd => self.order(&["bootout", &agent()]),
        }
    }

    /// Notifies the manager that the file was removed.
    fn forget(self) -> Result<(), Failure> {
        match self {
            Self::Systemd => self.order(&["daemon-reload"]),
            Self::Launchd => Ok(()),
        }
    }

    /// Returns whether the service is running, and its state in the words of the manager.
    fn state(self) -> Result<(bool, String), Failure> {
        match self {
            Self::Systemd => {
                let said = |what: &str| -> Result<String, Failure> {
                    let answer = self.ask(&[what, UNIT_NAME])?;
                    Ok(String::from_utf8_lossy(&answer.stdout).trim().to_owned())
                };
                let (active, enabled) = (said("is-active")?, said("is-enabled")?);
                Ok((active == "active", format!("{active}, {enabled}")))
            }
            Self::Launchd => {
                let answer = self.ask(&["print", &agent()])?;
                let state = agent_state(&String::from_utf8_lossy(&answer.stdout));
                Ok((state == "running", state))
            }
        }
    }

    /// Returns a sentence about where the messages of the service are.
    const fn where_told(self) -> &'static str {
        match self {
            Self::Systemd => "'journalctl --user -u backissue' shows its messages",
            Self::Launchd => "'backissue service status' says whether it runs",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Systemd => "systemd",
            Self::Launchd => "launchd",
        }
    }

    /// Returns the program that controls the manager, and the arguments that select the services of this user.
    const fn control(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Systemd => ("systemctl", &["--user"]),
            Self::Launchd => ("launchctl", &[]),
        }
    }

    fn ask(self, arguments: &[&str]) -> Result<Output, Failure> {
        let (program, first) = self.control();
        run_command::program(program).args(first).args(arguments).output().map_err(|error| {
            Failure::new(format!(
                "{} cannot be reached ({}); run 'backissue watch' from your own service manager",
                self.name(),
                system_words(&error)
            ))
        })
    }

    /// Sends the manager a command. If it fails, the error is the first line of the manager's error output.
    fn order(self, arguments: &[&str]) -> Result<(), Failure> {
        let answer = self.ask(arguments)?;
        if answer.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&answer.stderr);
        let first = said.lines().next().unwrap_or("it gave no reason");
        let (program, words) = self.control();
        let command = [&[program], words, arguments].concat().join(" ");
        Err(Failure::new(format!("{command} failed: {first}")))
    }
}

/// Returns launchd's name of the session of this user.
fn domain() -> String {
    format!("gui/{}", rustix::process::getuid().as_raw())
}

/// Returns launchd's name of the agent.
fn agent() -> String {
    format!("{}/{LABEL}", domain())
}

/// Returns the state in the answer of `launchctl print`, whose lines look like `state = running`.
fn agent_state(printed: &str) -> String {
    let state = printed.lines().find_map(|line| line.trim().strip_prefix("state = "));
    state.unwrap_or("not running").to_owned()
}

/// Returns the words of the command line that starts `program`, with the data folder and configuration file from the command line.
fn start_command(program: &Path, options: &Options) -> Result<Vec<String>, Failure> {
    let mut command = vec![checked(program)?];
    for (flag, path) in [("--data-dir", &options.data_dir), ("--config", &options.config)] {
        if let Some(path) = path {
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            command.extend([flag.to_owned(), checked(&whole)?]);
        }
    }
    Ok(command)
}

fn checked(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control));
    text.map(str::to_owned).ok_or_else(|| {
        let path = path.display();
        Failure::new(format!("{path} contains characters that a service's file cannot hold"))
    })
}

/// Quotes a word for a unit file, where `%`, `$`, quotes and backslashes are special.
fn quote_for_unit(word: &str) -> String {
    if word.starts_with("--") {
        return word.to_owned();
    }
    let mut quoted = String::from("\"");
    for char in word.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '%' | '$' => quoted.extend([char, char]),
            _ => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_file_names_the_program_and_given_folders() {
        let options = Options {
            data_dir: Some("/data/50% \"mine\" & <x>".into()),
            config: None,
            offline: false,
            plain: false,
            verbose: false,
        };
        let command = start_command(Path::new("/opt/a b/backissue"), &options).unwrap();
        let text = ServiceStarter::Systemd.file_text(&command);
        let start = text.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
        assert_eq!(
            start,
            "ExecStart=\"/opt/a b/backissue\" --data-dir \"/data/50%% \\\"mine\\\" & <x>\" watch"
        );
        let text = ServiceStarter::Launchd.file_text(&command);
        let words: Vec<&str> = text
            .lines()
            .skip_while(|line| !line.contains("<array>"))
            .skip(1)
            .take_while(|line| !line.contains("</array>"))
            .map(|line| line.trim().trim_start_matches("<string>").trim_end_matches("</string>"))
            .collect();
        let path = "/data/50% \"mine\" &amp; &lt;x&gt;";
        assert_eq!(words, ["/opt/a b/backissue", "--data-dir", path, "watch"]);
        assert!(start_command(Path::new("/opt/a\nb"), &options).is_err());
    }

    #[test]
    fn state_of_the_agent_is_read() {
        let printed = "gui/501/backissue = {\n\tactive count = 1\n\tstate = running\n\tpid = 7\n}";
        assert_eq!(agent_state(printed), "running");
        assert_eq!(agent_state("Could not find service"), "not running");
    }
}

//! Starts programs: the user's commands without a shell, detached from the screen and within limits, and links in the user's
//! browser. Every program that backissue starts is started through [`program`].
//!
//! A command has its own session and process group, and a mark in its environment, so that all of its processes can be ended when
//! the maximum running time is over. The output of a command is read to the end, so that the command is never blocked while it
//! writes; most of it is discarded. A command that receives entries continues if this process ends first.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{self, ExitStatus, Stdio};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use backissue_core::feed::text::one_line;
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::engine::entries::entry_view;
use crate::engine::external_command::ExternalCommand;
use crate::engine::external_run::{ExternalRun, RunFailure, RunInput, RunPurpose};
use crate::engine::request::Input;
use crate::engine::start_external::{browsers, is_web_address};
use crate::io::clock;
use crate::io::log::log_tail;
use crate::io::system::system_words;
use crate::view::panes::entry_lines;

/// Maximum running time of a command that reads entries.
pub const TIME_MAX: Duration = Duration::from_mins(1);
/// Maximum running time of a program in the user's own commands, such as a player.
const STEP_TIME_MAX: Duration = Duration::from_hours(24);
/// Time during which a failure of a command that shows a URL is reported. A later failure means that the user closed the program.
const WATCHED: Duration = Duration::from_secs(10);
/// Maximum wait for the rest of the output after a command has ended.
const LEFTOVER: Duration = Duration::from_secs(1);
/// Maximum amount of a command's output that is kept, bytes.
const SAID_BYTES_MAX: u64 = 1024 * 1024;
/// Maximum length of a displayed error message, in characters.
pub(super) const COMPLAINT_CHARS_MAX: usize = 200;

/// Returns what to report to the engine about a command that ended. If it failed, `next` is the command to try instead.
pub(in crate::io) fn end_of_run(
    purpose: RunPurpose,
    next: Option<ExternalRun>,
    ended: Result<Option<String>, RunFailure>,
) -> Input {
    match (ended, next) {
        (Err(_), Some(next)) => Input::TryNext(Box::new(next)),
        (ended, _) => Input::Ran(purpose, ended),
    }
}

/// Runs a command that does not need the terminal. Returns its output.
pub async fn run(external: ExternalRun, time_max: Duration) -> Result<Option<String>, RunFailure> {
    match external.purpose {
        RunPurpose::Show => show(&external.command, time_max.min(WATCHED)).await,
        // The next step waits until the user closes the program.
        RunPurpose::Step(_) | RunPurpose::Play(_) => feed(external, STEP_TIME_MAX).await,
        RunPurpose::Pipe | RunPurpose::News => feed(external, time_max).await,
    }
}

/// Starts a command that shows something. Waits only for a failure within the given time.
async fn show(line: &ExternalCommand, watched: Duration) -> Result<Option<String>, RunFailure> {
    let program = line.program();
    let mut command = Command::from(apart(line).map_err(|error| not_started(program, &error))?);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| not_started(program, &error))?;
    if let Ok(ended) = timeout(watched, child.wait()).await {
        return check_end(program, ended, None).map(|()| None);
    }
    // A task waits for the child, so that it does not become a zombie.
    tokio::spawn(async move { child.wait().await });
    Ok(None)
}

/// Starts a command that reads its input from a file, and collects its output. If this process ends first, the command
/// continues and can still read its input.
async fn feed(external: ExternalRun, time_max: Duration) -> Result<Option<String>, RunFailure> {
    let program = &external.command.program().to_owned();
    let wants_word = matches!(external.purpose, RunPurpose::Pipe | RunPurpose::Step(_));
    let line = apart(&external.command).map_err(|error| not_started(program, &error))?;
    let mut command = Command::from(line);
    describe(&mut command, &external.input);
    let files = async {
        let mut stdin = tempfile::tempfile()?;
        stdin.write_all(&input(external).await)?;
        stdin.rewind()?;
        let complaints = tempfile::tempfile()?;
        Ok((stdin, complaints.try_clone()?, complaints))
    };
    let (stdin, stderr, complaints) = files
        .await
        .map_err(|error: io::Error| RunFailure::NoInput(program.clone(), system_words(&error)))?;
    command.stdin(stdin).stderr(stderr);
    command.stdout(if wants_word { Stdio::piped() } else { Stdio::null() });
    let mark = RunMark::new();
    command.env(RunMark::VARIABLE, &mark.0);
    let mut child = command.spawn().map_err(|error| not_started(program, &error))?;
    let group = child.id();
    let said = tokio::spawn(hear(child.stdout.take()));
    let Ok(ended) = timeout(time_max, child.wait()).await else {
        end_group(group, &mark);
        child.wait().await.ok();
        return Err(RunFailure::TooSlow(program.clone(), time_max.as_secs()));
    };
    let complaint = complaint(complaints);
    check_end(program, ended, complaint.lines().rfind(|line| !line.trim().is_empty()))?;
    let text = said_by(said).await;
    Ok(Some(text.trim_end().to_owned()).filter(|text| !text.is_empty()))
}

/// Returns the end of a command's standard error output.
fn complaint(mut complaints: File) -> String {
    let mut bytes = Vec::new();
    let length = complaints.seek(SeekFrom::End(0)).unwrap_or_default();
    let read = complaints
        .seek(SeekFrom::Start(length.saturating_sub(SAID_BYTES_MAX)))
        .and_then(|_| complaints.read_to_end(&mut bytes));
    read.ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Runs a command on the terminal until it ends.
pub async fn run_on_terminal(external: ExternalRun) -> Result<Option<String>, RunFailure> {
    let name = external.command.program().to_owned();
    let mut command = Command::from(program(&name));
    command.args(external.command.arguments());
    describe(&mut command, &external.input);
    let has_input = external.input != RunInput::Nothing;
    command.stdin(if has_input { Stdio::piped() } else { Stdio::inherit() });
    let mut child = command.spawn().map_err(|error| not_started(&name, &error))?;
    let stdin = child.stdin.take();
    let write = async {
        if let Some(mut stdin) = stdin {
            stdin.write_all(&input(external).await).await.ok();
        }
    };
    let ((), ended) = tokio::join!(write, child.wait());
    check_end(&name, ended, None).map(|()| None)
}

/// Describes an entry in environment variables, for commands that do not read JSON.
fn describe(command: &mut Command, input: &RunInput) {
    let RunInput::Entry(told) = input else { return };
    let kept = &told.entry.kept;
    let variables = [
        ("BACKISSUE_TITLE", kept.shown_title()),
        ("BACKISSUE_LINK", kept.link.as_deref().unwrap_or_default()),
        ("BACKISSUE_FEED", &told.feed.title),
        ("BACKISSUE_FEED_URL", &told.feed.url),
    ];
    for (name, value) in variables {
        command.env(name, one_line(value, 4096));
    }
}

/// Encodes the entries that a command receives, on the blocking pool.
async fn input(external: ExternalRun) -> Vec<u8> {
    let json = external.command.json;
    let made = tokio::task::spawn_blocking(move || match external.input {
        RunInput::Nothing => Vec::new(),
        RunInput::Entry(told) if json => document(&told.json_with_text()),
        RunInput::Entry(told) => {
            format!("{}\n{}", entry_lines::head(&told), entry_lines::body(&told)).into_bytes()
        }
        RunInput::News(entries) => document(&entry_view::news(&entries)),
        RunInput::Log => log_tail(),
        RunInput::Text(text) => text.into_bytes(),
    });
    made.await.unwrap_or_default()
}

fn document(value: &Value) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Returns the output of a command. A process that the command left running may keep the pipe open, so the wait is limited.
async fn said_by(hearing: JoinHandle<String>) -> String {
    timeout(LEFTOVER, hearing).await.ok().and_then(Result::ok).unwrap_or_default()
}

/// Reads a stream to its end and returns the first [`SAID_BYTES_MAX`] bytes.
async fn hear(stream: Option<impl AsyncRead + Unpin + Send>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let mut bytes = Vec::new();
    (&mut stream).take(SAID_BYTES_MAX).read_to_end(&mut bytes).await.ok();
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Checks how a program ended. `complaint` is its error output.
pub(super) fn check_end(
    program: &str,
    ended: io::Result<ExitStatus>,
    complaint: Option<&str>,
) -> Result<(), RunFailure> {
    let program = program.to_owned();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            let complaint = complaint.map(|line| one_line(line, COMPLAINT_CHARS_MAX));
            let complaint = complaint.filter(|line| !line.is_empty());
            Err(RunFailure::Failed(program, status.code(), complaint))
        }
        Err(error) => Err(RunFailure::Unknown(program, system_words(&error))),
    }
}

pub(super) fn not_started(program: &str, error: &io::Error) -> RunFailure {
    if error.kind() == io::ErrorKind::NotFound {
        return RunFailure::Missing(program.to_owned());
    }
    RunFailure::NotStarted(program.to_owned(), system_words(error))
}

/// A value in the environment of a program, by which the processes that left its process group are found.
pub(super) struct RunMark(pub(super) String);

impl RunMark {
    /// The environment variable.
    pub(super) const VARIABLE: &str = "BACKISSUE_RUN";

    /// Returns a mark that no other running program has.
    pub(super) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(format!("{}-{}", process::id(), LAST.fetch_add(1, Relaxed)))
    }

    /// Returns the processes with this mark, where the system shows the environment of processes (Linux).
    fn processes(&self) -> impl Iterator<Item = Pid> {
        let wanted = format!("{}={}", Self::VARIABLE, self.0);
        std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(move |process| {
            let id = process.file_name().to_str()?.parse().ok()?;
            let environment = std::fs::read(process.path().join("environ")).ok()?;
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|it| it == wanted.as_bytes()).then(|| Pid::from_raw(id)).flatten()
        })
    }
}

/// Ends all processes of a process group at once, and then those with the mark.
pub(super) fn end_group(group: Option<u32>, mark: &RunMark) {
    if let Some(id) = group.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
        kill_process_group(id, Signal::KILL).ok();
    }
    for id in mark.processes() {
        kill_process(id, Signal::KILL).ok();
    }
}

/// Environment variable with the password for `account add`. It is not passed on to any program.
pub const ACCOUNT_PASSWORD: &str = "BACKISSUE_ACCOUNT_PASSWORD";

/// Folders of programs if `PATH` is not set.
const USUAL_FOLDERS: &str = "/bin:/usr/bin";

/// Prepares the start of a program.
pub fn program(name: impl AsRef<OsStr>) -> process::Command {
    let mut command = process::Command::new(name);
    command.env_remove(ACCOUNT_PASSWORD);
    command
}

/// Prepares the start of a user's command that does not get the terminal. The command gets its own session, so that it is neither
/// stopped nor ended together with this terminal, and cannot write to it. If the system does not support that, the command gets
/// its own process group.
pub(super) fn apart(line: &ExternalCommand) -> io::Result<process::Command> {
    use std::os::unix::process::CommandExt as _;
    if !is_program(line.program()) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut command = if is_program("setsid") {
        let mut command = program("setsid");
        command.arg(line.program());
        command
    } else {
        let mut command = program(line.program());
        command.process_group(0);
        command
    };
    command.args(line.arguments());
    Ok(command)
}

/// Checks whether there is a program of this name or path.
pub(super) fn is_program(name: &str) -> bool {
    let can_run = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    if name.contains('/') {
        return can_run(Path::new(name));
    }
    let folders = std::env::var_os("PATH").unwrap_or_else(|| USUAL_FOLDERS.into());
    std::env::split_paths(&folders).any(|folder| can_run(&folder.join(name)))
}

/// Time after which a command counts as started if it has not failed.
const BROWSER_WATCHED: Duration = Duration::from_secs(2);

/// Opens a URL with the user's command, which already contains the URL, or in the browser if there is no command. Only URLs that
/// are safe to open are accepted (SPEC G.52). Waits until the command has failed, ended, or run for some time.
pub fn open_with(address: &str, command: Option<&ExternalCommand>) -> io::Result<()> {
    let first = match command {
        None => in_browser(address),
        Some(command) => showing(vec![command.clone()], address),
    };
    let mut this = first.map_err(io::Error::other)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    loop {
        let (next, began) = (this.next(), clock::instant());
        let ended = runtime.block_on(async {
            if this.command.on_terminal {
                run_on_terminal(this).await
            } else {
                run(this, BROWSER_WATCHED).await
            }
        });
        let Err(why) = ended else { return Ok(()) };
        let Some(other) = next.filter(|_| began.elapsed() <= BROWSER_WATCHED) else {
            return Err(io::Error::other(match command {
                Some(_) => RunFailure::OwnCommand(Box::new(why)),
                None => RunFailure::NotOpened(Box::new(why), address.to_owned()),
            }));
        };
        this = other;
    }
}

/// Returns the run of the browser that opens a URL. It tries the existing programs in `BROWSER`, or else those of the desktop.
pub(in crate::io) fn in_browser(address: &str) -> Result<ExternalRun, RunFailure> {
    let said = |name: &str| std::env::var(name).unwrap_or_default();
    let has_display = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| !said(name).is_empty());
    let commands = browsers(&said("BROWSER"), has_display, address);
    let commands = commands.into_iter().filter(|command| is_program(command.program()));
    showing(commands.collect(), address)
}

/// Returns the run of commands that open a URL, which cannot be mistaken for an option or a file (SPEC G.52).
fn showing(commands: Vec<ExternalCommand>, address: &str) -> Result<ExternalRun, RunFailure> {
    if !is_web_address(address) {
        return Err(RunFailure::NotWeb(address.to_owned()));
    }
    let run = ExternalRun::showing(commands, RunInput::Nothing);
    run.ok_or_else(|| RunFailure::NoBrowser(address.to_owned()))
}

#[cfg(test)]
#[path = "run_command_tests.rs"]
mod tests;

//! Runs the real binary, with a data folder, configuration and environment of its own.

#![expect(clippy::disallowed_types, reason = "threads of a test share a program")]

use std::fs;
use std::io::{Read, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::terminal_session::Session;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_backissue");

/// Configuration without pauses between requests to this computer (loopback).
const CONFIGURATION: &str = "[network]\nspace_loopback = false\n";
/// Configuration for the process that has the store open: it polls only when a test requests a poll.
const NOTHING_BY_ITSELF: &str = "[poll]\nautomatic = false\n";
/// Maximum number of times to check a condition, and the pause between two checks.
const LOOKS_MAX: u32 = 4000;
const PAUSE: Duration = Duration::from_millis(5);

/// Which process has the store open while commands run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreOwner {
    /// No process has it open; each command opens the store.
    Nobody,
    /// The program with its screen, in a terminal.
    Reader,
    /// The process `backissue watch`.
    Service,
}

/// The running process that has the store open.
enum OwnerProcess {
    Reader(Box<Session>),
    Service(Child),
    /// The test has killed the process.
    Ended,
}

/// A new installation of the program: a data folder and a configuration.
pub(crate) struct Program {
    folder: tempfile::TempDir,
    owner: StoreOwner,
    /// The process that has the store open; it is started before the first command that uses the store.
    owner_process: OnceLock<Mutex<OwnerProcess>>,
}

/// Exit status and output of a finished run of the binary.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Program {
    /// Creates an installation without a process that has the store open.
    pub(crate) fn new() -> Self {
        Self::owned_by(StoreOwner::Nobody)
    }

    /// Creates an installation in which an owner process has the store open from the first command on.
    pub(crate) fn owned_by(owner: StoreOwner) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = Self { folder, owner, owner_process: OnceLock::new() };
        let automatic = if owner == StoreOwner::Nobody { "" } else { NOTHING_BY_ITSELF };
        program.write("config.toml", format!("{CONFIGURATION}{automatic}"));
        program
    }

    /// Returns the path of a file next to the data folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Returns the path of the data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Runs a command with this installation's data folder and configuration.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.run_with(args, b"")
    }

    /// Runs a command with this standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Ended {
        ended(self.start(args), input)
    }

    /// Starts a command with this installation's data folder and configuration, and before it the owner process if there is none
    /// yet.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        if self.owner != StoreOwner::Nobody {
            self.owner_process.get_or_init(|| Mutex::new(self.start_owner()));
        }
        self.start_beside(args)
    }

    /// Starts a command without starting an owner process first.
    fn start_beside(&self, args: &[&str]) -> Child {
        bare(self.folder.path()).args(self.place()).args(args).spawn().unwrap()
    }

    /// Runs the binary with exactly these arguments and additional environment variables.
    pub(crate) fn run_in(&self, environment: &[(&str, &str)], args: &[&str]) -> Ended {
        let mut command = bare(self.folder.path());
        ended(command.envs(environment.iter().copied()).args(args).spawn().unwrap(), b"")
    }

    /// Starts a command with a folder for sockets of this session (`XDG_RUNTIME_DIR`).
    pub(crate) fn start_in_session(&self, session: &Path, args: &[&str]) -> Child {
        let mut command = bare(self.folder.path());
        command.env("XDG_RUNTIME_DIR", session).args(self.place()).args(args).spawn().unwrap()
    }

    /// Starts the program with its screen in a terminal, with this installation's data folder and configuration.
    pub(crate) fn start_reader(&self) -> Session {
        let place = self.place();
        let args: Vec<&str> = place.iter().map(String::as_str).collect();
        Session::start_at_home(self.folder.path(), BINARY, &args, 120, 36)
    }

    /// Returns the command-line options for the data folder and the configuration.
    pub(crate) fn place(&self) -> [String; 4] {
        let path = |name: &str| self.path(name).to_str().unwrap().to_owned();
        ["--data-dir".into(), path("data"), "--config".into(), path("config.toml")]
    }

    /// Starts the process that has the store open and waits until it accepts commands.
    fn start_owner(&self) -> OwnerProcess {
        let started = match self.owner {
            StoreOwner::Reader => OwnerProcess::Reader(Box::new(self.start_reader())),
            StoreOwner::Service | StoreOwner::Nobody => {
                OwnerProcess::Service(self.start_beside(&["watch"]))
            }
        };
        wait_until("the owner takes commands", || UnixStream::connect(self.socket()).is_ok());
        started
    }

    /// Kills the owner process (SIGKILL) and waits until it has exited. Later commands open the store themselves.
    pub(crate) fn kill_owner(&self) {
        let owner = self.owner_process.get().unwrap();
        let mut owner = owner.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *owner {
            OwnerProcess::Reader(session) => {
                kill(session.child.process_id().unwrap());
                session.child.wait().unwrap();
            }
            OwnerProcess::Service(child) => {
                child.kill().unwrap();
                child.wait().unwrap();
            }
            OwnerProcess::Ended => {}
        }
        *owner = OwnerProcess::Ended;
    }

    /// Returns the path of the socket on which the owner process listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.data().join("socket/owner")
    }

    /// Starts a command and kills it (SIGKILL) after this time, unless it has ended before.
    pub(crate) fn killed_after(&self, args: &[&str], while_: Duration) {
        let mut child = self.start(args);
        thread::sleep(while_);
        child.kill().ok();
        child.wait().unwrap();
    }

    /// Runs the binary until `is_time`, or until it ends, and kills it.
    pub(crate) fn killed_when(&self, args: &[&str], is_time: impl Fn() -> bool) {
        let mut child = self.start(args);
        while !is_time() && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        child.kill().ok();
        child.wait().unwrap();
    }

    /// Runs the binary with exactly these arguments, without options for the data folder and the configuration.
    pub(crate) fn run_bare(&self, args: &[&str]) -> Ended {
        ended(bare(self.folder.path()).args(args).spawn().unwrap(), b"")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let Some(owner) = self.owner_process.get_mut() else { return };
        let runs = match owner.get_mut().unwrap_or_else(PoisonError::into_inner) {
            OwnerProcess::Reader(session) => matches!(session.child.try_wait(), Ok(None)),
            OwnerProcess::Service(child) => matches!(child.try_wait(), Ok(None)),
            OwnerProcess::Ended => return,
        };
        if runs {
            self.kill_owner();
        }
        assert!(runs || thread::panicking(), "the owner of the store ended too early");
    }
}

/// Returns a command that starts the binary in an environment without a terminal, a proxy or the developer's variables.
pub(crate) fn bare(home: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command
        .env_clear()
        .env("HOME", home)
        .env("NO_PROXY", "*")
        .env("TZ", "UTC")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Waits for a program to exit and returns its output; a program that does not exit in time is killed and the test fails.
pub(crate) fn ended(mut child: Child, input: &[u8]) -> Ended {
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input closes it, so the write may fail.
        stdin.write_all(input).ok();
    }
    let (out, err) = (reading(child.stdout.take()), reading(child.stderr.take()));
    for _ in 0..LOOKS_MAX {
        if let Some(status) = child.try_wait().unwrap() {
            let (out, err) = (out.join().unwrap(), err.join().unwrap());
            return Ended { status: status.code(), out, err };
        }
        thread::sleep(PAUSE);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("the program does not exit; {} {}", out.join().unwrap(), err.join().unwrap());
}

/// Asks a program (by process id) to end (SIGTERM).
pub(crate) fn ask_to_end(id: u32) {
    signal(id, Signal::TERM);
}

/// Kills a program (by process id) with SIGKILL, unless it has ended.
pub(crate) fn kill(id: u32) {
    signal(id, Signal::KILL);
}

/// Sends a signal to a program (by process id), unless it has ended.
pub(crate) fn signal(id: u32, signal: Signal) {
    let id = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    kill_process(id, signal).ok();
}

/// Waits until a condition holds; fails with `what` if it does not hold in time.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut came: impl FnMut() -> bool) {
    for _ in 0..LOOKS_MAX {
        if came() {
            return;
        }
        thread::sleep(PAUSE);
    }
    panic!("this did not happen: {what}");
}

fn reading(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).unwrap();
        }
        String::from_utf8(bytes).expect("the output is UTF-8")
    })
}

impl Ended {
    /// Checks that the command exited with this status and did not panic.
    #[track_caller]
    pub(crate) fn with(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{self:#?}");
        assert!(
            !self.err.contains("panicked") && !self.err.contains("RUST_BACKTRACE"),
            "{self:#?}"
        );
        self
    }

    /// Checks that the command failed with this status and printed only one sentence, on standard error; returns the sentence.
    #[track_caller]
    pub(crate) fn refused(self, status: i32) -> String {
        let ended = self.with(status);
        assert_eq!(ended.out, "", "{ended:#?}");
        let lines: Vec<&str> = ended.err.lines().collect();
        let [sentence] = lines.as_slice() else { panic!("one sentence: {lines:#?}") };
        let sentence = sentence.strip_prefix("backissue: ").expect("it names the program");
        assert!(sentence.len() > 20, "a sentence: {sentence}");
        sentence.to_owned()
    }

    /// Parses the command's standard output as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

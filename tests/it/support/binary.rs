//! The real binary with a separate data folder, configuration and environment.

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

/// Configuration without pauses between requests to loopback hosts.
const CONFIGURATION: &str = "[network]\nspace_loopback = false\n";
/// Configuration with which the owner of the store polls only when a test requests it.
const NOTHING_BY_ITSELF: &str = "[poll]\nautomatic = false\n";
/// Maximum number of checks whether a program has ended, and the pause between them.
const LOOKS_MAX: u32 = 4000;
const PAUSE: Duration = Duration::from_millis(5);

/// The process that has the store open while commands run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreOwner {
    /// No process; each command opens the store.
    Nobody,
    /// The reader, in a terminal.
    Reader,
    /// `backissue watch`.
    Service,
}

/// The running owner of the store.
enum OwnerProcess {
    Reader(Box<Session>),
    Service(Child),
    /// The test has killed the owner.
    Ended,
}

/// A fresh installation.
pub(crate) struct Program {
    folder: tempfile::TempDir,
    owner: StoreOwner,
    /// The owner, started before the first command on the store.
    owner_process: OnceLock<Mutex<OwnerProcess>>,
}

/// The result of a run of the binary.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Program {
    /// Creates an installation whose store is closed between commands.
    pub(crate) fn new() -> Self {
        Self::owned_by(StoreOwner::Nobody)
    }

    /// Creates an installation whose store an owner has open from the first command on.
    pub(crate) fn owned_by(owner: StoreOwner) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = Self { folder, owner, owner_process: OnceLock::new() };
        let automatic = if owner == StoreOwner::Nobody { "" } else { NOTHING_BY_ITSELF };
        program.write("config.toml", format!("{CONFIGURATION}{automatic}"));
        program
    }

    /// Returns the path of a file beside the data folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Returns the data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Runs a command on the data folder with the configuration.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.run_with(args, b"")
    }

    /// Does the same with standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Ended {
        ended(self.start(args), input)
    }

    /// Starts a command on the data folder with the configuration.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        if self.owner != StoreOwner::Nobody {
            self.owner_process.get_or_init(|| Mutex::new(self.start_owner()));
        }
        self.start_beside(args)
    }

    /// Does the same without starting an owner first.
    fn start_beside(&self, args: &[&str]) -> Child {
        bare(self.folder.path()).args(self.place()).args(args).spawn().unwrap()
    }

    /// Starts the reader in a terminal, on the data folder with the configuration.
    pub(crate) fn start_reader(&self) -> Session {
        let place = self.place();
        let args: Vec<&str> = place.iter().map(String::as_str).collect();
        Session::start_at_home(self.folder.path(), BINARY, &args, 120, 36)
    }

    /// Returns the arguments that name the data folder and the configuration.
    fn place(&self) -> [String; 4] {
        let path = |name: &str| self.path(name).to_str().unwrap().to_owned();
        ["--data-dir".into(), path("data"), "--config".into(), path("config.toml")]
    }

    /// Starts the owner of the store and waits until it accepts commands.
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

    /// Kills the owner of the store (SIGKILL) and waits until it has exited. Later commands find the store free.
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

    /// Returns the socket on which the owner of the store listens.
    pub(crate) fn socket(&self) -> PathBuf {
        self.data().join("socket/owner")
    }

    /// Runs a command and kills it (SIGKILL) after a while, unless it ended before.
    pub(crate) fn killed_after(&self, args: &[&str], while_: Duration) {
        let mut child = self.start(args);
        thread::sleep(while_);
        child.kill().ok();
        child.wait().unwrap();
    }

    /// Runs the binary with only these arguments.
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

/// Returns the binary in an environment without a terminal, a proxy or any of the developer's variables.
fn bare(home: &Path) -> Command {
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

/// Waits for a program to exit; a program that does not exit is killed and reported.
pub(crate) fn ended(mut child: Child, input: &[u8]) -> Ended {
    // A program that does not read its input closes it.
    child.stdin.take().unwrap().write_all(input).ok();
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

/// Asks a program to end (SIGTERM).
pub(crate) fn ask_to_end(id: u32) {
    signal(id, Signal::TERM);
}

/// Ends a program at once (SIGKILL), unless it has ended.
pub(crate) fn kill(id: u32) {
    signal(id, Signal::KILL);
}

/// Sends a signal to a program, unless it has ended.
pub(crate) fn signal(id: u32, signal: Signal) {
    let id = Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    kill_process(id, signal).ok();
}

/// Waits until a condition holds.
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
    /// Checks that the command exited with this status and reported no panic.
    #[track_caller]
    pub(crate) fn with(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{self:#?}");
        assert!(
            !self.err.contains("panicked") && !self.err.contains("RUST_BACKTRACE"),
            "{self:#?}"
        );
        self
    }

    /// Checks that the command was refused with this status, in one sentence on standard error and no other output.
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

    /// Parses the output as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

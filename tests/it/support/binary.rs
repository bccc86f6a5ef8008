//! The real binary with a data folder, a configuration and an environment of its own.

use std::fs;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

/// Loopback hosts need no sparing.
const CONFIGURATION: &str = "[network]\nspace_loopback = false\n";
/// How often a program that should have ended is looked at, and with which pause.
const LOOKS_MAX: u32 = 4000;
const PAUSE: Duration = Duration::from_millis(5);

/// A fresh installation.
pub(crate) struct Program {
    folder: tempfile::TempDir,
}

/// How a run of the binary ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Program {
    pub(crate) fn new() -> Self {
        let program = Self { folder: tempfile::tempdir().unwrap() };
        program.write("config.toml", CONFIGURATION);
        program
    }

    /// A file beside the data folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Runs a command on the data folder with the configuration.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.run_with(args, b"")
    }

    /// The same with standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Ended {
        ended(self.start(args), input)
    }

    /// Starts a command on the data folder with the configuration.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let (data, configuration) = (self.data(), self.path("config.toml"));
        let mut command = bare(self.folder.path());
        command.arg("--data-dir").arg(data).arg("--config").arg(configuration).args(args);
        command.spawn().unwrap()
    }

    /// Runs a command and kills it (SIGKILL) after a while, unless it ended before.
    pub(crate) fn killed_after(&self, args: &[&str], while_: Duration) {
        let mut child = self.start(args);
        thread::sleep(while_);
        child.kill().ok();
        child.wait().unwrap();
    }

    /// Runs the binary with these arguments and nothing else.
    pub(crate) fn run_bare(&self, args: &[&str]) -> Ended {
        ended(bare(self.folder.path()).args(args).spawn().unwrap(), b"")
    }
}

/// The binary in an environment without a terminal, a proxy or anything of the developer's.
fn bare(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_backissue"));
    command
        .env_clear()
        .env("HOME", home)
        .env("NO_PROXY", "*")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Waits for the end; a program that does not end is ended and told.
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
    panic!("it does not end; {} {}", out.join().unwrap(), err.join().unwrap());
}

/// Asks a program to end (SIGTERM).
pub(crate) fn ask_to_end(id: u32) {
    let told = Command::new("sh").args(["-c", &format!("kill -TERM {id}")]).status().unwrap();
    assert!(told.success());
}

fn reading(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).unwrap();
        }
        String::from_utf8(bytes).expect("what is told is UTF-8")
    })
}

impl Ended {
    /// It ended with this status and spoke of no panic.
    #[track_caller]
    pub(crate) fn with(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{self:#?}");
        assert!(
            !self.err.contains("panicked") && !self.err.contains("RUST_BACKTRACE"),
            "{self:#?}"
        );
        self
    }

    /// It was refused with this status, in one sentence on standard error and nothing else.
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

    /// What it wrote is one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

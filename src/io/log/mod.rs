//! The log: one line per action of the program, without secrets, in a file that only the user can read. A file that becomes too
//! large is kept as the previous log and replaces the earlier one. Events of libraries are ignored.

mod panic_report;

pub use panic_report::{ToldTo, Untold, find_untold, report_panic};

use std::collections::{BTreeSet, VecDeque};
use std::fmt::{self, Write as _};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use backissue_core::feed::outgoing::replace_addresses;
use etcetera::{BaseStrategy, choose_base_strategy};
use tokio::sync::watch;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber, debug, info, warn};
use url::Url;

use crate::engine::request::{Effect, Input};
use crate::io::clock;
use crate::io::private_files::{create_private_folder, create_private_subfolder};
use crate::io::regular_files::{self, open_with};
use crate::ui::effect::ScreenEffect;
use crate::ui::update::ScreenInput;

/// Number of log lines kept in memory for the report of a panic.
const REMEMBERED: usize = 60;
/// Smallest HTTP status that means that a request failed.
const FAILED: u16 = 400;
/// Maximum length of a log line, in characters.
const LINE_CHARS_MAX: usize = 1000;

/// The log of this process, empty until [`begin`] opens the log.
static LOG: OnceLock<Log> = OnceLock::new();

/// The log file and the lines kept in memory.
#[derive(Debug)]
struct Log {
    file: LogFile,
    /// `true` to log details that matter only for troubleshooting.
    in_detail: bool,
    /// The last log lines, oldest first.
    last: watch::Sender<VecDeque<String>>,
    /// The places in the source code for which this process has written a report of a panic.
    reported: watch::Sender<BTreeSet<String>>,
}

impl Log {
    fn new(file: LogFile, in_detail: bool) -> Self {
        let (last, reported) = (watch::Sender::default(), watch::Sender::default());
        Self { file, in_detail, last, reported }
    }

    /// Returns the log of this process.
    fn of_this_process() -> Option<&'static Self> {
        LOG.get()
    }

    fn take(&self, level: Level, message: &str) {
        let now = clock::precise_now().format("%Y-%m-%dT%H:%M:%S%.3fZ");
        let message: String = without_secrets(message).chars().take(LINE_CHARS_MAX).collect();
        let message = message.replace(|c: char| c.is_control(), " ");
        let line = format!("{now} {} {level:5} {message}", std::process::id());
        // A write error is not reported, because the log is not essential.
        self.file.add(&line).ok();
        self.last.send_modify(|last| {
            last.push_back(line);
            let beyond = last.len().saturating_sub(REMEMBERED);
            last.drain(..beyond);
        });
    }
}

/// Hint that follows the displayed log if it was written without details.
const SAYS_LITTLE: &str = "(This log lists only failures, started commands and configuration changes.\n\
    With --verbose, or -v, it also lists every request and every answer.)\n";

/// Returns the end of the log, or a line saying that it is empty, and a hint if details are not logged.
pub fn log_tail() -> Vec<u8> {
    LOG.get().map_or_else(
        || told_tail(Vec::new(), false),
        |log| told_tail(log.file.tail(), log.in_detail),
    )
}

fn told_tail(tail: Vec<u8>, in_detail: bool) -> Vec<u8> {
    let mut told = if tail.is_empty() { b"nothing logged yet\n".to_vec() } else { tail };
    if !in_detail {
        told.extend_from_slice(b"\n");
        told.extend_from_slice(SAYS_LITTLE.as_bytes());
    }
    told
}

/// Opens the log of this process. `in_detail` includes details that matter only for troubleshooting.
pub fn begin(file: LogFile, in_detail: bool) {
    if LOG.set(Log::new(file, in_detail)).is_ok() {
        let most = if in_detail { Level::DEBUG } else { Level::INFO };
        // This fails only if a subscriber is already set, and the program sets no other.
        tracing::subscriber::set_global_default(ToLog { most }).ok();
    }
}

struct ToLog {
    most: Level,
}

impl Subscriber for ToLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && *metadata.level() <= self.most
            && metadata.target().starts_with("backissue")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = LogMessage(String::new());
        event.record(&mut message);
        if let Some(log) = LOG.get() {
            log.take(*event.metadata().level(), &message.0);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The message of a tracing event.
struct LogMessage(String);

impl Visit for LogMessage {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // Writing to a string cannot fail.
            write!(self.0, "{value:?}").ok();
        }
    }
}

/// Maximum size of the file, bytes; enough for some weeks with a hundred feeds.
const BYTES_MAX: u64 = 1024 * 1024;
/// Maximum size of the tail that is shown, bytes.
const SHOWN_BYTES: usize = 256 * 1024;

/// Returns the log folder: in the data folder if one is given, else in the folder that the system provides for such files.
pub fn log_folder(data: Option<&Path>) -> Option<PathBuf> {
    if let Some(data) = data {
        return Some(data.join("log"));
    }
    let base = choose_base_strategy().ok()?;
    let state = base.state_dir().unwrap_or_else(|| base.data_dir());
    Some(state.join("backissue").join("log"))
}

/// The log file in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    folder: PathBuf,
    /// Whether the folder is in a data folder, which is not created just for a log.
    is_in_data: bool,
}

impl LogFile {
    /// Returns the log of a program with this data folder, if one is given.
    pub fn find(data: Option<&Path>) -> Option<Self> {
        Some(Self { folder: log_folder(data)?, is_in_data: data.is_some() })
    }

    /// Creates the folder.
    fn create_folder(&self) -> io::Result<()> {
        if self.is_in_data {
            create_private_subfolder(&self.folder)
        } else {
            create_private_folder(&self.folder)
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the current file.
    pub fn path(&self) -> PathBuf {
        self.folder.join("backissue.log")
    }

    fn former(&self) -> PathBuf {
        self.folder.join("backissue.log.1")
    }

    /// Appends a line. Several processes may append to the same file, because each line is written in one call.
    fn add(&self, line: &str) -> io::Result<()> {
        let path = self.path();
        if fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() >= BYTES_MAX) {
            fs::rename(&path, self.former())?;
        }
        let open = || open_with(OpenOptions::new().append(true).create(true).mode(0o600), &path);
        let mut file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.create_folder()?;
                open()?
            }
            opened => opened?,
        };
        file.write_all(format!("{line}\n").as_bytes())
    }

    /// Returns the last lines of the log, as bytes.
    pub fn tail(&self) -> Vec<u8> {
        let mut all = regular_files::read(&self.former(), 2 * BYTES_MAX).unwrap_or_default();
        all.extend(regular_files::read(&self.path(), 2 * BYTES_MAX).unwrap_or_default());
        let from = all.len().saturating_sub(SHOWN_BYTES);
        let tail = all.get(from..).unwrap_or_default();
        let whole = if from == 0 {
            0
        } else {
            tail.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1)
        };
        tail.get(whole..).unwrap_or_default().to_vec()
    }
}

/// Logs an input of the loop.
pub(super) fn log_input(input: &ScreenInput) {
    let ScreenInput::Engine(input) = input else { return };
    if let Input::Fetched(id, fetched) = input {
        match &fetched.result {
            Ok(answer) if answer.status >= FAILED => {
                warn!("fetch {}: {} from {}", id.0, answer.status, answer.url);
            }
            Ok(answer) => debug!(
                "fetch {}: {} from {}, {} bytes",
                id.0, answer.status, answer.url, fetched.wire_bytes
            ),
            Err(why) => warn!("fetch {}: {why}", id.0),
        }
    } else if let Input::Stored(stored) = input {
        match &stored.result {
            Ok(_) => debug!("store work {} done", stored.id.0),
            Err(why) => warn!("store work {}: {}", stored.id.0, why.text),
        }
    } else if let Input::Trouble(why) | Input::LoginKept(_, Err(why)) = input {
        warn!("{why}");
    } else if let Input::Ran(_, Err(why)) = input {
        warn!("a command: {why}");
    } else if let Input::Woke = input {
        info!("the machine was asleep, or its clock was set");
    } else if let Input::ZoneChanged(zone) = input {
        info!("the time zone is now {zone}");
    } else if let Input::Reconfigured(_) = input {
        info!("the configuration was reloaded");
    }
}

/// Logs an effect requested by the loop.
pub(super) fn log_effect(effect: &ScreenEffect) {
    let ScreenEffect::Engine(effect) = effect else { return };
    if let Effect::Fetch(request) = effect {
        debug!("fetch {}: {}", request.id.0, request.url);
    } else if let Effect::Run(run) = effect {
        info!("starting the command {}", run.command.program());
    } else if let Effect::Store(work) = effect {
        debug!("store work {} for {:?}", work.id.0, work.job.subject());
    } else if let Effect::Stop = effect {
        info!("the program was asked to stop");
    }
}

/// Removes logins and query values from the URLs in a text.
fn without_secrets(text: &str) -> String {
    replace_addresses(text, bare_address)
}

/// Returns a URL without its login, its fragment and the values in its query. The names in the query remain.
fn bare_address(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else { return "(an address)".into() };
    let had_login = !url.username().is_empty() || url.password().is_some();
    // These calls fail only for URLs without a host, and this URL has a host.
    url.set_username("").and_then(|()| url.set_password(None)).ok();
    url.set_fragment(None);
    let names: Vec<String> = url.query_pairs().map(|(name, _)| format!("{name}=...")).collect();
    let query = url.query().map(|_| format!("?{}", names.join("&"))).unwrap_or_default();
    url.set_query(None);
    let login = if had_login { " (with a login)" } else { "" };
    format!("{url}{query}{login}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terse_log_mentions_the_verbose_option() {
        let told = |detail| String::from_utf8(told_tail(b"one line\n".to_vec(), detail)).unwrap();
        assert_eq!(told(true), "one line\n");
        assert!(told(false).starts_with("one line\n\n") && told(false).contains("--verbose"));
        let nothing = String::from_utf8(told_tail(Vec::new(), true)).unwrap();
        assert_eq!(nothing, "nothing logged yet\n");
    }

    #[test]
    fn log_line_is_single_bounded_and_without_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::new(LogFile::find(Some(folder.path())).unwrap(), false);
        log.take(Level::WARN, &format!("https://me:pw@a.example/\u{1b}[2J\n{}", "x".repeat(5000)));
        let text = String::from_utf8(log.file.tail()).unwrap();
        assert_eq!(text.lines().count(), 1);
        assert!(text.contains("WARN  https://a.example/") && !text.contains("pw@"), "{text}");
        assert!(text.len() < 1100 && !text.contains('\u{1b}'), "{text}");
        (0..100).for_each(|_| log.take(Level::INFO, "again"));
        assert_eq!(log.last.borrow().len(), REMEMBERED);
    }

    #[test]
    fn large_log_is_rotated_once_and_both_ends_are_shown() {
        let folder = tempfile::tempdir().unwrap();
        let log = LogFile::find(Some(folder.path())).unwrap();
        let line = "x".repeat(9_999);
        for number in 0..250 {
            log.add(&format!("{number} {line}")).unwrap();
        }
        let names = fs::read_dir(log.folder()).unwrap().flatten().map(|file| file.file_name());
        assert_eq!(names.count(), 2);
        let tail = String::from_utf8(log.tail()).unwrap();
        let numbers: Vec<u32> =
            tail.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
        assert_eq!(numbers, (224..250).collect::<Vec<_>>());
    }

    #[test]
    fn logins_and_the_values_of_queries_are_left_out() {
        for (text, expected) in [
            ("nothing here", "nothing here"),
            ("asked https://me:pw@a.example/f.", "asked https://a.example/f. (with a login)"),
            (
                "'http://a.example/?token=abc&x=1#y' and https://b.example",
                "'http://a.example/?token=...&x=...' and https://b.example/",
            ),
            ("http://", "(an address)"),
            ("https://a.example/https://me:pw@b/", "https://a.example/https://b/"),
            ("(https://a.example/?k=a,b;c'd), next", "(https://a.example/?k=...), next"),
            ("HTTPS://me:p,w)x@a.example/", "https://a.example/ (with a login)"),
            (
                "by socks5://me:pw@p.example:1080, then ://",
                "by socks5://p.example:1080 (with a login), then ://",
            ),
        ] {
            assert_eq!(without_secrets(text), expected);
        }
        assert!(!without_secrets("https://a.example/?secret").contains("=secret"));
    }
}

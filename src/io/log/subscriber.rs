//! Writes the program's own tracing events to the log; events of libraries are ignored.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::{self, Write};
use std::sync::OnceLock;

use tokio::sync::watch;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::log_file::LogFile;
use super::secrets::without_secrets;
use crate::io::clock;

/// Number of log lines kept in memory for the report of a panic.
const REMEMBERED: usize = 60;
/// Maximum length of a log line, in characters.
const LINE_CHARS_MAX: usize = 1000;

/// The log of this process, empty until [`begin`] opens the log.
static LOG: OnceLock<Log> = OnceLock::new();

/// The log file and the lines kept in memory.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) file: LogFile,
    /// `true` to log details that matter only for troubleshooting.
    in_detail: bool,
    /// The last log lines, oldest first.
    pub(super) last: watch::Sender<VecDeque<String>>,
    /// The places in the source code for which this process has written a report of a panic.
    pub(super) reported: watch::Sender<BTreeSet<String>>,
}

impl Log {
    fn new(file: LogFile, in_detail: bool) -> Self {
        let (last, reported) = (watch::Sender::default(), watch::Sender::default());
        Self { file, in_detail, last, reported }
    }

    /// Returns the log of this process.
    pub(super) fn of_this_process() -> Option<&'static Self> {
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

/// Hint that follows the displayed log if details are not logged.
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
}

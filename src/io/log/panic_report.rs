//! Writes reports of panics next to the log file, one for each place in the source code, and keeps only the newest few. Records
//! separately which reports were shown on the screen and which in the output of a command, because nobody may read the output of
//! a command.

use std::backtrace::Backtrace;
use std::collections::BTreeSet;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

use super::{Log, without_secrets};
use crate::io::panics::Caught;
use crate::io::private_files::replace_private;
use crate::io::{clock, regular_files};

/// Maximum number of reports to keep.
const REPORTS_MAX: usize = 5;
/// Maximum number of places in the source code for which one process writes a report.
const PLACES_MAX: usize = 20;
/// Maximum length of a panic message, in characters.
const SAID_CHARS_MAX: usize = 4000;
/// Maximum length of the place in the source code within the file name of a report, in characters.
const NAME_CHARS_MAX: usize = 80;

/// Logs a panic. If it is a fault of the program, also writes a report: version, message, the last lines of the log. Write
/// errors are ignored.
pub fn report_panic(panic: &PanicHookInfo<'_>, caught: Caught) {
    let said = panic.payload_as_str().unwrap_or("(without a message)");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let thread = std::thread::current().name().unwrap_or("unnamed").to_owned();
    let became = match caught {
        // If the panic is in the code of this program, write a report and continue, although the caller expected only panics of a
        // library.
        Caught::AsForeseen if !is_ours(&place) => {
            tracing::warn!("a library panicked in the thread '{thread}', {place}: {said}");
            return;
        }
        Caught::AsForeseen | Caught::AsFault => "its work was cancelled, everything else continues",
        Caught::Nowhere => "its thread ended",
    };
    tracing::error!("an internal error in the thread '{thread}', {place}: {said}; {became}");
    let Some(log) = Log::of_this_process() else { return };
    // Write no second report for the same place, because a repeated panic, perhaps at each frame, adds no information.
    let is_new = log
        .reported
        .send_if_modified(|places| places.len() < PLACES_MAX && places.insert(place.clone()));
    if !is_new {
        return;
    }
    let last: Vec<String> = log.last.borrow().iter().cloned().collect();
    let said: String = without_secrets(said).chars().take(SAID_CHARS_MAX).collect();
    let said = said.replace(|char: char| char.is_control() && char != '\n', " ");
    let report = format!(
        "backissue {} panicked at {} in the thread '{thread}', {place}; {became}:\n{said}\n\nthe last lines of the log:\n{}\n\n{}\n",
        env!("CARGO_PKG_VERSION"),
        clock::now().to_rfc3339(),
        last.join("\n"),
        Backtrace::force_capture()
    );
    log.file.create_folder().and_then(|()| write(log.file.folder(), &place, &report)).ok();
}

/// Checks whether a place is in the source code of this program. Places in libraries have absolute paths.
fn is_ours(place: &str) -> bool {
    place.starts_with("src/")
}

fn write(folder: &Path, place: &str, report: &str) -> io::Result<()> {
    replace_private(&folder.join(file_name(place)), report.as_bytes())?;
    for (_, old) in reports(folder).into_iter().skip(REPORTS_MAX) {
        fs::remove_file(old)?;
    }
    Ok(())
}

/// Returns the file name of the report for a place in the source code: `panic-src-io-terminal-rs-300-9.txt`.
fn file_name(place: &str) -> String {
    let plain = |char: char| if char.is_ascii_alphanumeric() { char } else { '-' };
    let chars: Vec<char> = place.chars().map(plain).collect();
    // Keep the end of a long path, because it is the most specific part.
    let end = chars.iter().skip(chars.len().saturating_sub(NAME_CHARS_MAX));
    format!("panic-{}.txt", end.collect::<String>())
}

/// Returns the reports in a folder, newest first, with their modification times.
pub(super) fn reports(folder: &Path) -> Vec<(SystemTime, PathBuf)> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let report = |file: fs::DirEntry| {
        let name = file.file_name();
        let name = name.to_str()?;
        let is_report =
            name.strip_prefix("panic-").is_some_and(|rest| rest.strip_suffix(".txt").is_some());
        let written = file.metadata().ok()?.modified().ok()?;
        is_report.then(|| (written, file.path()))
    };
    let mut found: Vec<_> = files.filter_map(report).collect();
    found.sort();
    found.reverse();
    found
}

/// Maximum size of a file that lists the reports already shown, bytes.
const TOLD_BYTES_MAX: u64 = 64 * 1024;

/// The place where a message about panics is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToldTo {
    /// The user at the screen.
    Reader,
    /// The output of a command. Reports shown there are still shown on the screen too.
    Command,
}

impl ToldTo {
    /// Returns the name of the file that lists the reports shown to this audience.
    const fn file(self) -> &'static str {
        match self {
            Self::Reader => "panics-told",
            Self::Command => "panics-told-by-commands",
        }
    }
}

/// The reports of panics that an audience has not seen, and the message about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untold {
    /// The message to show.
    pub sentence: String,
    /// The lines that record these reports as shown.
    lines: BTreeSet<String>,
    file: PathBuf,
}

impl Untold {
    /// Records that the message was shown. If the file cannot be written, the message will be shown again.
    pub fn note_told(&self) {
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        replace_private(&self.file, lines.join("\n").as_bytes()).ok();
    }
}

/// Returns a message about the reports in a folder that this audience has not seen, if any.
pub fn find_untold(folder: &Path, to: ToldTo) -> Option<Untold> {
    let known_by = |to: ToldTo| {
        let text =
            regular_files::read_text(&folder.join(to.file()), TOLD_BYTES_MAX).unwrap_or_default();
        text.lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let mut known = known_by(ToldTo::Reader);
    if to == ToldTo::Command {
        known.extend(known_by(to));
    }
    let all = reports(folder).into_iter().map(|(written, path)| {
        let at = written.duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The line contains the time of the report, so that the same fault at another time is shown again.
        (format!("{name} {}", at.as_nanos()), path)
    });
    let all: Vec<(String, PathBuf)> = all.collect();
    let mut untold = all.iter().filter(|(line, _)| !known.contains(line));
    let (_, newest) = untold.next()?;
    let others = match untold.count() {
        0 => String::new(),
        1 => " and another report next to it".to_owned(),
        more => format!(" and {more} other reports next to it"),
    };
    let sentence =
        format!("backissue had an internal error; for details see {}{others}", newest.display());
    let lines = all.into_iter().map(|(line, _)| line).collect();
    Some(Untold { sentence, lines, file: folder.join(to.file()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_location_is_distinguished_from_libraries() {
        assert!(is_ours(&std::panic::Location::caller().to_string()));
        assert!(!is_ours("/home/me/registry/src/sled-0.34.7/src/pagecache/mod.rs:7:9"));
    }

    #[test]
    fn one_report_per_location_and_few_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        for number in 0..9 {
            write(place, &format!("src/a.rs:{number}:1"), "an earlier one").unwrap();
            write(place, "src/b.rs:1:1", &format!("the {number}.")).unwrap();
        }
        let found = reports(place);
        assert_eq!(found.len(), REPORTS_MAX);
        let newest = place.join("panic-src-b-rs-1-1.txt");
        assert_eq!(fs::read_to_string(&newest).unwrap(), "the 8.");
        assert!(found.iter().any(|(_, path)| *path == newest), "{found:?}");
    }

    #[test]
    fn report_name_is_bounded_and_has_no_folder() {
        let name = file_name(&format!("{}/feed-rs-3.0.0/src/parser.rs:7:9", "../é".repeat(99)));
        assert!(name.ends_with("-feed-rs-3-0-0-src-parser-rs-7-9.txt"), "{name}");
        assert!(name.len() < 100 && name.is_ascii() && !name.contains('/'), "{name}");
    }

    fn told(folder: &Path, to: ToldTo) -> Option<String> {
        let untold = find_untold(folder, to)?;
        untold.note_told();
        Some(untold.sentence)
    }

    #[test]
    fn panic_shown_by_a_command_is_shown_to_the_reader_once() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("panic-src-a-rs-1.txt");
        assert_eq!(find_untold(folder.path(), ToldTo::Reader), None);
        fs::write(&report, "what happened").unwrap();
        let by_command = told(folder.path(), ToldTo::Command).unwrap();
        assert!(by_command.ends_with("panic-src-a-rs-1.txt"), "{by_command}");
        assert_eq!(told(folder.path(), ToldTo::Command), None);
        // Until the report is marked as shown, the message appears at each start.
        assert!(find_untold(folder.path(), ToldTo::Reader).is_some());
        assert_eq!(told(folder.path(), ToldTo::Reader), Some(by_command));
        assert_eq!(told(folder.path(), ToldTo::Reader), None);
        assert_eq!(fs::read_to_string(report).unwrap(), "what happened");
    }

    #[test]
    fn panic_seen_in_the_reader_is_repeated_only_if_new() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("panic-src-a-rs-1.txt");
        fs::write(&report, "what happened").unwrap();
        fs::write(folder.path().join("panic-src-b-rs-1.txt"), "before").unwrap();
        let sentence = told(folder.path(), ToldTo::Reader).unwrap();
        assert!(sentence.ends_with("and another report next to it"), "{sentence}");
        assert_eq!(told(folder.path(), ToldTo::Command), None);
        let later = std::time::Duration::from_secs(9);
        let file = fs::File::options().write(true).open(&report).unwrap();
        file.set_modified(file.metadata().unwrap().modified().unwrap() + later).unwrap();
        let sentence = told(folder.path(), ToldTo::Command).unwrap();
        assert!(sentence.ends_with("panic-src-a-rs-1.txt"), "{sentence}");
        assert!(told(folder.path(), ToldTo::Reader).is_some());
    }
}

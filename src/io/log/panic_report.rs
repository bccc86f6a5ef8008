//! Writes reports of panics next to the log file. There is one report for each place in the source code, and only the newest few
//! are kept.

use std::backtrace::Backtrace;
use std::fs;
use std::io;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::secrets::without_secrets;
use super::subscriber::Log;
use crate::io::clock;
use crate::io::panics::Caught;
use crate::io::private_files::replace_private;

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
        // If the panic was in this program, continue and write a report, even though the code expected only panics of a library.
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
}

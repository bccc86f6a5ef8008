//! The report that a panic leaves beside the log, and the sentence by which the next start tells of it, once.

use std::backtrace::Backtrace;
use std::fs;
use std::io;
use std::panic::PanicHookInfo;
use std::path::Path;

use super::secrets::without_secrets;
use super::subscriber::Log;
use crate::io::clock;
use crate::io::private_files::{create_private_folder, replace_private};

/// The report of the last panic that nobody was told of.
const FRESH: &str = "panic.txt";
/// The report of the last one that somebody was told of.
const TOLD: &str = "panic-told.txt";

/// Leaves a report of a panic: version, what it says, the last lines of the log. What cannot be written is left.
pub fn report_panic(panic: &PanicHookInfo<'_>) {
    let Some(log) = Log::of_this_process() else { return };
    let said = panic.payload_as_str().unwrap_or("(without a message)");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let thread = std::thread::current().name().unwrap_or("unnamed").to_owned();
    // Another thread may be writing a line at this moment: it is not waited for.
    let last: Vec<String> = log.last.borrow().iter().cloned().collect();
    let report = format!(
        "backissue {} panicked at {} in the thread '{thread}', {place}:\n{}\n\nthe last lines of the log:\n{}\n\n{}\n",
        env!("CARGO_PKG_VERSION"),
        clock::now().to_rfc3339(),
        without_secrets(said),
        last.join("\n"),
        Backtrace::force_capture()
    );
    write(log.file.folder(), &report).ok();
}

fn write(folder: &Path, report: &str) -> io::Result<()> {
    create_private_folder(folder)?;
    replace_private(&folder.join(FRESH), report.as_bytes())
}

/// A sentence about the last panic, if nobody was told of it before.
pub fn take_report(folder: &Path) -> Option<String> {
    let told = folder.join(TOLD);
    fs::rename(folder.join(FRESH), &told).ok()?;
    Some(format!(
        "backissue crashed the last time, which is a fault of its own; what happened is told in {}",
        told.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_told_once_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("log");
        assert_eq!(take_report(&place), None);
        write(&place, "what happened").unwrap();
        let told = take_report(&place).unwrap();
        assert!(told.ends_with("panic-told.txt"), "{told}");
        assert_eq!(take_report(&place), None);
        assert_eq!(fs::read_to_string(place.join(TOLD)).unwrap(), "what happened");
    }
}

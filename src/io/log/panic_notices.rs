//! Records which reports of panics were shown on the screen and which in the output of a command. They are recorded separately,
//! because nobody may read the output of a command.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::panic_report::reports;
use crate::io::private_files::replace_private;
use crate::io::small_files;

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
            small_files::read_text(&folder.join(to.file()), TOLD_BYTES_MAX).unwrap_or_default();
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
        std::fs::write(&report, "what happened").unwrap();
        let by_command = told(folder.path(), ToldTo::Command).unwrap();
        assert!(by_command.ends_with("panic-src-a-rs-1.txt"), "{by_command}");
        assert_eq!(told(folder.path(), ToldTo::Command), None);
        // Until the report is marked as shown, the message appears at each start.
        assert!(find_untold(folder.path(), ToldTo::Reader).is_some());
        assert_eq!(told(folder.path(), ToldTo::Reader), Some(by_command));
        assert_eq!(told(folder.path(), ToldTo::Reader), None);
        assert_eq!(std::fs::read_to_string(report).unwrap(), "what happened");
    }

    #[test]
    fn panic_seen_in_the_reader_is_repeated_only_if_new() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("panic-src-a-rs-1.txt");
        std::fs::write(&report, "what happened").unwrap();
        std::fs::write(folder.path().join("panic-src-b-rs-1.txt"), "before").unwrap();
        let sentence = told(folder.path(), ToldTo::Reader).unwrap();
        assert!(sentence.ends_with("and another report next to it"), "{sentence}");
        assert_eq!(told(folder.path(), ToldTo::Command), None);
        let later = std::time::Duration::from_secs(9);
        let file = std::fs::File::options().write(true).open(&report).unwrap();
        file.set_modified(file.metadata().unwrap().modified().unwrap() + later).unwrap();
        let sentence = told(folder.path(), ToldTo::Command).unwrap();
        assert!(sentence.ends_with("panic-src-a-rs-1.txt"), "{sentence}");
        assert!(told(folder.path(), ToldTo::Reader).is_some());
    }
}

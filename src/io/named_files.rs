//! Files that a user names. Their paths are completed on Tab, with `~` for the home folder. Output files are written completely or
//! not at all, never into a data folder, and never over a file of another kind without `--force`.

use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use backissue_core::feed::text::counted_words;
use backissue_core::history::EntryKey;
use backissue_core::publish::GENERATOR_MARK;
use backissue_core::simulate::FIGURE_MARK;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};

use super::regular_files::{self, put_in_place};
use super::signals::Stops;
use super::store::{Texts, is_backup, is_data_folder};
use super::system::system_words;
use crate::engine::entries::entry_view::{EntryView, FeedOfEntry};
use crate::engine::request::Input;
use crate::ui::update::ScreenInput;
use crate::view::panes::entry_lines;

/// Maximum number of symbolic links to follow from the path of a file.
const LINKS_MAX: usize = 40;
/// Number of bytes read from the start of an existing file to recognise its kind.
const START_BYTES: u64 = 4096;

/// A function that writes the content of a file.
pub type WriteFile<'a> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'a;

/// An output file named by the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedFile {
    /// The path of the file, as the user typed it.
    pub path: String,
    /// The kind of content.
    pub kind: FileKind,
    /// `true` to replace a file of another kind.
    pub force: bool,
}

/// The kind of content of an output file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileKind {
    /// A list of subscriptions, written by `backissue export`.
    Opml,
    /// The state of all entries, written by `backissue export --state`.
    State,
    /// Entries, written by `backissue export` as bookmarks.
    Bookmarks,
    /// Entries, written by `backissue export` as a JSON Feed.
    JsonFeed,
    /// Entries, written by `backissue export` or in the reader as Markdown.
    Markdown,
    /// Entries, written by `backissue export` as a book.
    Epub,
    /// A backup of the store and the configuration, written by `backissue backup`.
    Backup,
    /// The polls of a simulation, written by `backissue simulate --retrievals`.
    Retrievals,
    /// Figures about publication times, written by `backissue simulate --figure`.
    Figures,
    /// A page of the manual.
    ManualPage,
    /// The configuration and its themes, written by `backissue import`. Their folders are created, and no file is replaced.
    Config,
    /// A document of a feed, written by `backissue publish`. Its folder is created, and every user may read it.
    Published,
}

impl FileKind {
    /// Checks whether a file starts like a file of this kind.
    fn fits(self, start: &[u8]) -> bool {
        let text = String::from_utf8_lossy(start);
        match self {
            Self::Opml => text.to_ascii_lowercase().contains("<opml"),
            Self::State => text.starts_with("{\"kind\":\"state\""),
            Self::Bookmarks => text.starts_with("<!DOCTYPE NETSCAPE-Bookmark-file-1>"),
            Self::JsonFeed => text.contains("https://jsonfeed.org/version/"),
            // A file with notes or settings of the user starts in the same way.
            Self::Markdown | Self::Config => false,
            // The file begins with the name and content of the first file in the archive, which is not compressed.
            Self::Epub => text.contains("mimetypeapplication/epub+zip"),
            Self::Backup => is_backup(start),
            Self::Retrievals => text.starts_with("{\"name\":"),
            Self::Figures => text.contains(FIGURE_MARK),
            Self::ManualPage => text.contains(".TH "),
            Self::Published => text.contains(GENERATOR_MARK),
        }
    }

    /// Returns a noun for this kind, and the command that writes it.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Opml => ("list of subscriptions", "backissue export"),
            Self::State => ("state of entries", "backissue export"),
            Self::Bookmarks => ("list of bookmarks", "backissue export"),
            Self::JsonFeed => ("JSON Feed", "backissue export"),
            Self::Markdown => ("Markdown file that backissue may replace", "backissue export"),
            Self::Epub => ("book", "backissue export"),
            Self::Backup => ("backup", "backissue backup"),
            Self::Retrievals => ("list of retrievals", "backissue simulate"),
            Self::Figures => ("file of figures", "backissue"),
            Self::ManualPage => ("manual page", "backissue man --all"),
            Self::Config => ("configuration that backissue may replace", "backissue import"),
            Self::Published => ("published document", "backissue publish"),
        }
    }
}

/// Interval between two checks for a stop signal while a pipe accepts no data.
const STOP_LOOK: Duration = Duration::from_millis(100);

/// Writes a file.
pub fn write(file: &NamedFile, write: &mut WriteFile<'_>) -> io::Result<()> {
    if file.path == "-" {
        return Err(io::Error::other("it must be a file; for one named '-', write './-'"));
    }
    let target = link_target(Path::new(&file.path));
    refuse_loss(&target, file)?;
    let is_published = file.kind == FileKind::Published;
    if is_published || file.kind == FileKind::Config {
        std::fs::create_dir_all(folder_of(&target))?;
    }
    let is_new = is_published && !target.exists();
    write_whole(&target, write)?;
    if is_new {
        // The web server usually runs as another user and must be able to read the file.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        std::fs::set_permissions(&target, mode)?;
    }
    Ok(())
}

/// Refuses a path in a data folder, and an existing file of another kind without `--force`.
fn refuse_loss(target: &Path, file: &NamedFile) -> io::Result<()> {
    refuse_data_folder(target)?;
    let is_file = std::fs::metadata(target).is_ok_and(|found| found.is_file());
    if file.force || !is_file || is_open_file(target) {
        return Ok(());
    }
    let mut start = Vec::new();
    let read =
        regular_files::open(target).and_then(|file| file.take(START_BYTES).read_to_end(&mut start));
    let (what, command) = file.kind.words();
    match read {
        Ok(0) => Ok(()),
        Ok(_) if file.kind.fits(&start) => Ok(()),
        Ok(_) | Err(_) => Err(io::Error::other(format!(
            "the existing file is not a {what}: choose another name, or overwrite it with '{command} --force'"
        ))),
    }
}

/// Refuses a file in a data folder.
pub(super) fn refuse_data_folder(target: &Path) -> io::Result<()> {
    // If the folder does not exist, use an empty path, because no file can be overwritten.
    let existing = target.ancestors().skip(1).find(|folder| folder.exists());
    let folder = existing.unwrap_or_else(|| folder_of(target)).canonicalize().unwrap_or_default();
    match folder.ancestors().find(|folder| is_data_folder(folder)) {
        Some(data) => Err(io::Error::other(format!(
            "backissue keeps its own data in {}: choose another folder",
            data.display()
        ))),
        None => Ok(()),
    }
}

/// Returns the folder of a file.
fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Writes a temporary file in the same folder and renames it once it is complete and on disk. Devices and pipes are written to
/// directly. If the folder does not allow new files, the existing file is overwritten once the content is complete. A new file is
/// private to its owner; a replaced file keeps its permissions. The caller must resolve symbolic links first, so that a link
/// remains and its target is replaced or created.
fn write_whole(target: &Path, write: &mut WriteFile<'_>) -> io::Result<()> {
    let found = std::fs::metadata(target).ok().filter(|found| !found.is_dir());
    if found.as_ref().is_some_and(|found| !found.is_file() || is_open_file(target)) {
        let mut there = Sink::open(target)?;
        write(&mut there)?;
        return there.flush();
    }
    let made = tempfile::NamedTempFile::new_in(folder_of(target));
    let mut file = match made {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && found.is_some() => {
            return write_over(target, write);
        }
        made => made?,
    };
    write(&mut file)?;
    file.flush()?;
    if let Some(found) = found {
        file.as_file().set_permissions(found.permissions())?;
    }
    put_in_place(file, target)
}

/// A device or a pipe that is written to until a stop signal arrives.
#[derive(Debug)]
struct Sink {
    file: std::fs::File,
    stops: Stops,
}

impl Sink {
    fn open(path: &Path) -> io::Result<Self> {
        let file = regular_files::open_at_once(OpenOptions::new().append(true), path)?;
        Ok(Self { file, stops: Stops::from_now_on() })
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return written,
            }
            if self.stops.were_told() {
                return Err(io::Error::other("writing was interrupted"));
            }
            let pause = Timespec::try_from(STOP_LOOK).map_err(io::Error::other)?;
            poll(&mut [PollFd::new(&self.file, PollFlags::OUT)], Some(&pause)).ok();
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Overwrites a file whose folder does not allow new files. The content is first written to a temporary file elsewhere, and the
/// part beyond the old length is copied first, so that the old content remains intact if writing fails or the disk is full.
fn write_over(target: &Path, write: &mut WriteFile<'_>) -> io::Result<()> {
    let mut there = regular_files::open_with(OpenOptions::new().write(true), target)?;
    let before = there.metadata()?.len();
    let mut whole = tempfile::tempfile()?;
    write(&mut whole)?;
    let length = whole.seek(SeekFrom::End(0))?;
    if length > before {
        whole.seek(SeekFrom::Start(before))?;
        there.seek(SeekFrom::Start(before))?;
        let longer = io::copy(&mut whole, &mut there).and_then(|_| there.sync_all());
        if let Err(error) = longer {
            there.set_len(before)?;
            return Err(error);
        }
    }
    whole.rewind()?;
    there.rewind()?;
    io::copy(&mut whole.take(before.min(length)), &mut there)?;
    there.set_len(length)?;
    there.sync_all()
}

/// Returns the target of a link, whether or not it exists. A path that is not a link is its own target.
fn link_target(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        // Do not follow a link such as `/dev/stdout` to an open file, because its target may have no path. The link itself can be
        // opened.
        let Some(next) = std::fs::read_link(&target).ok().filter(|_| !is_open_file(&target)) else {
            break;
        };
        target = target.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
    }
    target
}

/// Checks whether a path names an open file of a process, such as `/dev/fd/3`.
fn is_open_file(path: &Path) -> bool {
    folder_of(path).canonicalize().is_ok_and(|folder| {
        folder == Path::new("/dev/fd") || (folder.starts_with("/proc") && folder.ends_with("fd"))
    })
}

/// Maximum number of names in a folder that are compared with the typed path for completion.
const PATHS_MAX: usize = 20_000;

/// Expands a leading `~` to the home folder.
pub fn expand_home(path: &str) -> String {
    let home = std::env::var("HOME").unwrap_or_default();
    match path.strip_prefix('~') {
        Some(rest) if !home.is_empty() && (rest.is_empty() || rest.starts_with('/')) => {
            format!("{home}{rest}")
        }
        Some(_) | None => path.to_owned(),
    }
}

/// Returns a path that was typed or dropped. Terminals write the path of a dropped file in quotes, with backslashes, or as an
/// address.
pub(super) fn dropped_path(typed: &str) -> String {
    let plain = expand_home(typed.trim());
    if std::fs::exists(&plain).unwrap_or(false) {
        return plain;
    }
    let words = shell_words::split(&plain).unwrap_or_default();
    let word = if let [word] = words.as_slice() { word.clone() } else { plain };
    let address = url::Url::parse(&word).ok().filter(|url| url.scheme() == "file");
    let path = address.and_then(|url| url.to_file_path().ok());
    path.and_then(|path| path.into_os_string().into_string().ok()).unwrap_or(word)
}

/// Returns the longest unambiguous completion of a typed path.
pub(super) fn complete_path(typed: &str) -> Option<String> {
    let (folder, begun) =
        typed.rsplit_once('/').map_or(("", typed), |(folder, begun)| (folder, begun));
    let prefix = typed.strip_suffix(begun).unwrap_or_default();
    let place = match (folder, prefix) {
        ("", "") => ".".to_owned(),
        ("", _) => "/".to_owned(),
        (folder, _) => expand_home(folder),
    };
    let mut found: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(place).ok()?.flatten().take(PATHS_MAX) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let hidden = name.starts_with('.') && !begun.starts_with('.');
        if name.starts_with(begun) && !hidden && !name.contains(char::is_control) {
            let is_folder = std::fs::metadata(entry.path()).is_ok_and(|file| file.is_dir());
            found.push(if is_folder { format!("{name}/") } else { name });
        }
    }
    found.sort_unstable();
    let first = found.first()?.clone();
    let agreed = found.iter().fold(first, |agreed, other| {
        let same = agreed.chars().zip(other.chars()).take_while(|(a, b)| a == b);
        same.map(|(char, _)| char).collect()
    });
    (agreed.len() > begun.len()).then(|| format!("{prefix}{agreed}"))
}

fn not_written(path: &str, error: &io::Error) -> ScreenInput {
    if Path::new(&expand_home(path)).is_dir() {
        return Input::Trouble(format!("'{path}' is a folder: add the name of a file")).into();
    }
    Input::Trouble(format!("'{path}' cannot be written: {}", system_words(error))).into()
}

/// Writes the subscriptions to a file. Returns an input that reports the result to the screen.
pub(super) fn export(path: &str, text: &str) -> ScreenInput {
    let file = NamedFile { path: expand_home(path), kind: FileKind::Opml, force: false };
    match write(&file, &mut |file| file.write_all(text.as_bytes())) {
        Ok(()) => ScreenInput::Told(format!("the subscriptions were written to {path}")),
        Err(error) => not_written(path, &error),
    }
}

/// Writes entries to a Markdown file, in their order. Returns an input that reports the result to the screen.
pub(super) fn save_entries(
    path: &str,
    texts: &Texts,
    entries: &[(EntryKey, FeedOfEntry)],
) -> ScreenInput {
    let mut written = Vec::new();
    for &(key, ref feed) in entries {
        let Some(entry) = texts.entry(key) else {
            let why = format!(
                "'{path}' is not written: the record of entry {key} is lost; run 'backissue doctor'"
            );
            return Input::Trouble(why).into();
        };
        let view = EntryView::new(entry, feed.clone()).outgoing();
        written.push(entry_lines::markdown(&view));
    }
    let file = NamedFile { path: expand_home(path), kind: FileKind::Markdown, force: false };
    let text = written.join("\n---\n\n");
    match write(&file, &mut |file| file.write_all(text.as_bytes())) {
        Ok(()) => {
            let entries = counted_words(entries.len(), "entry", "entries");
            ScreenInput::Told(format!("{entries} written to {path}"))
        }
        Err(error) => not_written(path, &error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn dangling_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        symlink("second", &first).unwrap();
        std::fs::create_dir(folder.path().join("there")).unwrap();
        symlink("there/real", &second).unwrap();
        write_whole(&link_target(&first), &mut |file| file.write_all(b"made")).unwrap();
        assert!(std::fs::symlink_metadata(&first).unwrap().is_symlink());
        assert!(std::fs::symlink_metadata(&second).unwrap().is_symlink());
        assert_eq!(std::fs::read(folder.path().join("there/real")).unwrap(), b"made");
    }

    #[test]
    fn new_file_is_private_and_replaced_file_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let (new, shared) = (folder.path().join("new"), folder.path().join("shared"));
        std::fs::write(&shared, b"before").unwrap();
        std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o644)).unwrap();
        for (path, mode) in [(&new, 0o600), (&shared, 0o644)] {
            write_whole(path, &mut |file| file.write_all(b"after")).unwrap();
            let found = std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((std::fs::read(path).unwrap().as_slice(), found), (&b"after"[..], mode));
        }
    }

    #[test]
    fn named_pipe_is_written_into() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let alone = write_whole(&pipe, &mut |file| file.write_all(b"through"));
        assert_eq!(alone.unwrap_err().to_string(), "no program reads from it");
        // This open does not wait for the other side.
        let mut reader = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        let long = vec![b'x'; 500_000];
        let written = std::thread::spawn({
            let (pipe, long) = (pipe.clone(), long.clone());
            move || write_whole(&pipe, &mut |file| file.write_all(&long))
        });
        let mut read = vec![0; long.len()];
        reader.read_exact(&mut read).unwrap();
        written.join().unwrap().unwrap();
        assert_eq!(read, long);
        assert!(!std::fs::metadata(&pipe).unwrap().is_file());
    }

    #[test]
    fn a_file_is_written_whole_or_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.opml");
        write_whole(&path, &mut |file| file.write_all(b"one")).unwrap();
        let broken = write_whole(&path, &mut |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(broken.unwrap_err().to_string(), "no more");
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside");
    }

    #[test]
    fn folder_named_like_open_files_is_treated_normally() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fd/list.opml");
        std::fs::create_dir(folder.path().join("fd")).unwrap();
        for text in ["first", "second"] {
            write_whole(&path, &mut |file| file.write_all(text.as_bytes())).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        let open = std::fs::File::create(folder.path().join("open")).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&open);
        for place in ["/dev/fd", "/proc/self/fd"] {
            assert!(is_open_file(&Path::new(place).join(number.to_string())), "{place}");
        }
    }

    #[test]
    fn file_in_readonly_folder_is_overwritten_once_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.opml");
        std::fs::write(&path, b"before").unwrap();
        let broken = write_over(&path, &mut |file| {
            file.write_all(b"half of a text that is longer than what was there")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(broken.unwrap_err().to_string(), "no more");
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        for text in ["a text that is longer than what was there", "short", "equal", ""] {
            write_over(&path, &mut |file| file.write_all(text.as_bytes())).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_link_stays_a_link_and_a_device_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::write(&real, b"before").unwrap();
        symlink(&real, &link).unwrap();
        write_whole(&link_target(&link), &mut |file| file.write_all(b"after")).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"after");
        write_whole(Path::new("/dev/null"), &mut |file| file.write_all(b"gone")).unwrap();
    }

    #[test]
    fn only_same_kind_files_outside_data_folders_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("data/store")).unwrap();
        for name in ["data/lock", "data/store.pack", "data/store/db", "notes", "none"] {
            std::fs::write(at(name), if name == "none" { "" } else { "precious" }).unwrap();
        }
        symlink(at("data/store"), at("door")).unwrap();
        symlink("data/store/db", at("link")).unwrap();
        symlink("data/new", at("nowhere")).unwrap();
        let to = |name: &str, kind, force| {
            let path = at(name).to_str().unwrap().to_owned();
            write(&NamedFile { path, kind, force }, &mut |file| file.write_all(b"<opml/>"))
        };
        for name in ["data/store/db", "data/new", "data/store/../new", "door/db", "link", "nowhere"]
        {
            let why = to(name, FileKind::Opml, true).unwrap_err().to_string();
            assert!(why.contains("its own data in"), "{name}: {why}");
        }
        assert_eq!(std::fs::read(at("data/store/db")).unwrap(), b"precious");
        let why = to("notes", FileKind::Opml, false).unwrap_err().to_string();
        assert!(why.contains("'backissue export --force'"), "{why}");
        assert_eq!(std::fs::read(at("notes")).unwrap(), b"precious");
        for (name, force) in [("notes", true), ("notes", false), ("none", false), ("new", false)] {
            to(name, FileKind::Opml, force).unwrap();
        }
        for kind in
            [FileKind::Backup, FileKind::Retrievals, FileKind::Figures, FileKind::ManualPage]
        {
            to("notes", kind, false).unwrap_err();
        }
    }
}

#[cfg(test)]
mod paths_tests {
    use super::*;

    #[test]
    fn dropped_paths_are_found_in_every_form() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("it's \\ \"1\".opml");
        std::fs::write(&odd, "").unwrap();
        assert_eq!(dropped_path(odd.to_str().unwrap()), odd.to_str().unwrap());
        for (dropped, path) in [
            ("'/a b/c.opml' ", "/a b/c.opml"),
            ("\"/a b/c.opml\"", "/a b/c.opml"),
            ("'/a/it'\\''s'", "/a/it's"),
            ("/a\\ b/\\(c\\).opml ", "/a b/(c).opml"),
            ("file:///a%20b/c.opml", "/a b/c.opml"),
            ("'file:///a%20b/c.opml'", "/a b/c.opml"),
            ("/a b/c.opml", "/a b/c.opml"),
            ("/a/it's", "/a/it's"),
        ] {
            assert_eq!(dropped_path(dropped), path, "{dropped}");
        }
    }

    #[test]
    fn path_is_completed_to_the_shared_prefix() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["feeds-old.opml", "feeds-new.opml", ".hidden"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("lists")).unwrap();
        let at = |name: &str| format!("{}/{name}", folder.path().display());
        for (typed, completed) in [
            ("f", Some("feeds-")),
            ("feeds-o", Some("feeds-old.opml")),
            ("l", Some("lists/")),
            ("feeds-", None),
            ("x", None),
            (".h", Some(".hidden")),
        ] {
            assert_eq!(complete_path(&at(typed)), completed.map(at), "{typed}");
        }
        assert_eq!(complete_path("/no/such/folder/x"), None);
        assert_eq!(expand_home("a~b"), "a~b");
    }
}

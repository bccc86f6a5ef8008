//! Where a command's words go, and where its files are: the terminal that it was typed on, which may be another
//! process's.

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};

use super::console;
use super::owner::messages::Progress;
use super::processes::browser;
use crate::engine::external::external_command::ExternalCommand;
use crate::io::system::words::system_words;

/// Bytes of a file that is read at most.
pub const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Links that are followed one after the other.
const LINKS_MAX: usize = 40;

/// What a command writes to and reads from.
pub trait Output {
    /// Writes a result to standard output, and ends the line.
    fn put(&self, text: &str);
    /// Writes a line to standard error.
    fn tell(&self, text: &str);
    /// Says that the command changes something: from here on it must not be done a second time.
    fn begin(&self) {}
    /// Whether further results would be lost.
    fn is_closed(&self) -> bool;
    /// Shows how far it is, where somebody looks on; `None`: that is over.
    fn show_progress(&self, progress: Option<Progress>);
    /// Reads a file, or standard input (`-`), of [`FILE_BYTES_MAX`] bytes at most. An error is a fragment that says why
    /// it cannot be read.
    fn read_file(&self, path: &str) -> Result<Vec<u8>, String>;
    /// Writes a file, whole or not at all. An error is a fragment that says why it cannot be written.
    fn write_file(&self, path: &str, write: &mut WriteFile<'_>) -> Result<(), String>;
    /// Opens an address with a command in which it stands already, else in the browser. An error is a sentence.
    fn open_link(&self, link: &str, command: Option<&ExternalCommand>) -> Result<(), String>;
}

/// Writes what is to stand in a file.
pub type WriteFile<'a> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'a;

/// The terminal and the files of this process.
#[derive(Debug, Default)]
pub struct OwnOutput {
    bar: RefCell<Option<ProgressBar>>,
}

impl OwnOutput {
    /// Does something while the progress is not on the screen.
    fn beside_the_bar(&self, work: impl FnOnce()) {
        match &*self.bar.borrow() {
            Some(bar) => bar.suspend(work),
            None => work(),
        }
    }

    /// Writes a piece of a result to standard output.
    pub fn put_piece(&self, text: &str) {
        self.beside_the_bar(|| console::put_piece(text));
    }
}

impl Output for OwnOutput {
    fn put(&self, text: &str) {
        self.beside_the_bar(|| console::put(text));
    }

    fn tell(&self, text: &str) {
        self.beside_the_bar(|| console::tell(text));
    }

    fn is_closed(&self) -> bool {
        console::is_closed()
    }

    fn show_progress(&self, progress: Option<Progress>) {
        if !io::stderr().is_terminal() {
            return;
        }
        let mut shown = self.bar.borrow_mut();
        let Some(progress) = progress else {
            if let Some(bar) = shown.take() {
                bar.finish_and_clear();
            }
            return;
        };
        let bar = shown.get_or_insert_with(|| new_bar(progress.all > 0));
        if progress.all > 0 {
            bar.set_length(progress.all);
            bar.set_position(progress.done);
        }
        bar.set_message(console::without_controls(&progress.text).into_owned());
        bar.tick();
    }

    fn read_file(&self, path: &str) -> Result<Vec<u8>, String> {
        let read = match path {
            "-" => read_limited(io::stdin()),
            path => std::fs::File::open(path).and_then(read_limited),
        };
        read.map_err(|error| system_words(&error))
    }

    fn write_file(&self, path: &str, write: &mut WriteFile<'_>) -> Result<(), String> {
        write_whole(Path::new(path), write).map_err(|error| system_words(&error))
    }

    fn open_link(&self, link: &str, command: Option<&ExternalCommand>) -> Result<(), String> {
        browser::open_with(link, command)
    }
}

fn new_bar(measured: bool) -> ProgressBar {
    if !measured {
        return ProgressBar::new_spinner();
    }
    let style = ProgressStyle::with_template("{msg} {pos} of {len} {wide_bar} {eta}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn read_limited(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(FILE_BYTES_MAX as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file beside its place and puts it there when it is whole and on the disk. What is there and is no regular
/// file (a device, a pipe) is written to as it is; a file in a folder in which nothing can be made is written over when the
/// whole is there. A new file is its owner's alone, one that is replaced keeps what others may do with it.
fn write_whole(path: &Path, write: &mut WriteFile<'_>) -> io::Result<()> {
    // A link stays one: what it leads to is replaced or made.
    let target = link_target(path);
    let found = std::fs::metadata(&target).ok().filter(|found| !found.is_dir());
    if found.as_ref().is_some_and(|found| !found.is_file() || is_open_file(&target)) {
        let mut there = OpenOptions::new().append(true).open(&target)?;
        write(&mut there)?;
        return there.flush();
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let made = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")));
    let mut file = match made {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && found.is_some() => {
            return write_over(&target, write);
        }
        made => made?,
    };
    write(&mut file)?;
    file.flush()?;
    if let Some(found) = found {
        file.as_file().set_permissions(found.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// Writes over a file beside which nothing can be made. What is to stand in it is made elsewhere first, and what is longer
/// than before is written first: a failure, and a disk without room, are met while the file is as it was.
fn write_over(target: &Path, write: &mut WriteFile<'_>) -> io::Result<()> {
    let mut there = OpenOptions::new().write(true).open(target)?;
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

/// What a link leads to, whether it is there or not; a path that is no link leads to itself.
fn link_target(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..LINKS_MAX {
        // `/dev/stdout` leads to what has no name; its own is good.
        let Some(next) = std::fs::read_link(&target).ok().filter(|_| !is_open_file(&target)) else {
            break;
        };
        target = target.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
    }
    target
}

/// Whether a path stands for a file that a process has open, such as `/dev/fd/3`.
fn is_open_file(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = std::fs::canonicalize(folder.unwrap_or(Path::new(".")));
    folder.is_ok_and(|folder| {
        folder == Path::new("/dev/fd") || (folder.starts_with("/proc") && folder.ends_with("fd"))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_link_that_leads_nowhere_yet_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        symlink("second", &first).unwrap();
        std::fs::create_dir(folder.path().join("there")).unwrap();
        symlink("there/real", &second).unwrap();
        write_whole(&first, &mut |file| file.write_all(b"made")).unwrap();
        assert!(std::fs::symlink_metadata(&first).unwrap().is_symlink());
        assert!(std::fs::symlink_metadata(&second).unwrap().is_symlink());
        assert_eq!(std::fs::read(folder.path().join("there/real")).unwrap(), b"made");
    }

    #[test]
    fn a_new_file_is_its_owners_alone_and_one_that_is_replaced_keeps_its_mode() {
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
    fn a_pipe_with_a_name_is_written_into() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        write_whole(&pipe, &mut |file| file.write_all(b"through")).unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
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
    fn a_folder_that_is_called_as_that_of_open_files_is_one_as_any_other() {
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
    fn a_file_beside_which_nothing_can_be_made_is_written_over_when_the_whole_is_there() {
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
        write_whole(&link, &mut |file| file.write_all(b"after")).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"after");
        write_whole(Path::new("/dev/null"), &mut |file| file.write_all(b"gone")).unwrap();
    }
}

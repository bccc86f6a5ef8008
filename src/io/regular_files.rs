//! Opens and replaces files. Only regular files are opened: a pipe, put where a file is expected, would block out of reach of signals.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::signals::Stops;

/// Interval between two checks whether a stop signal arrived while a pipe takes no data.
const STOP_LOOK: Duration = Duration::from_millis(100);

/// Opens a regular file to read it.
pub fn open(path: &Path) -> Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens a regular file.
pub fn open_with(options: &mut OpenOptions, path: &Path) -> Result<File> {
    let file = open_at_once(options, path)?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if found.is_file() { Ok(file) } else { Err(Error::other("it is not a regular file")) }
}

/// Opens a file without waiting for the other side of a pipe.
fn open_at_once(options: &mut OpenOptions, path: &Path) -> Result<File> {
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path).map_err(|error| {
        let has_no_reader = error.raw_os_error() == Some(libc::ENXIO);
        if has_no_reader { Error::other("no program reads from it") } else { error }
    })
}

/// Replaces a file by a temporary one in the same folder, durably.
pub fn put_in_place(file: tempfile::NamedTempFile, path: &Path) -> Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    // Some systems cannot do this for a folder; the new content is on disk in any case.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all()).ok();
    Ok(())
}

/// A device or a pipe that is written to until a stop signal arrives.
#[derive(Debug)]
pub struct Sink {
    file: File,
    stops: Stops,
}

impl Sink {
    pub fn open(path: &Path) -> Result<Self> {
        let file = open_at_once(OpenOptions::new().append(true), path)?;
        Ok(Self { file, stops: Stops::from_now_on() })
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                written => return written,
            }
            if self.stops.were_told() {
                return Err(Error::other("writing was interrupted"));
            }
            let pause = Timespec::try_from(STOP_LOOK).map_err(Error::other)?;
            poll(&mut [PollFd::new(&self.file, PollFlags::OUT)], Some(&pause)).ok();
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

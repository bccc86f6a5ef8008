//! Where a command's words go, and where its files are: the terminal that it was typed on, which may be another
//! process's.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Read};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::oneshot;

use super::console;
use super::named_files::{self, NamedFile, WriteFile};
use super::owner::messages::Progress;
use super::processes::browser;
use super::signals::Stops;
use crate::engine::external::external_command::ExternalCommand;
use crate::io::system::words::system_words;

/// Bytes of a file that is read at most.
pub const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;

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
    fn write_file(&self, file: &NamedFile, write: &mut WriteFile<'_>) -> Result<(), String>;
    /// Opens an address with a command in which it stands already, else in the browser. An error is a sentence.
    fn open_link(&self, link: &str, command: Option<&ExternalCommand>) -> Result<(), String>;
}

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
        let named = path.to_owned();
        let read = read_unless_stopped(move || match named.as_str() {
            "-" => read_limited(io::stdin()),
            path => std::fs::File::open(path).and_then(read_limited),
        });
        read.map_err(|error| system_words(&error))
    }

    fn write_file(&self, file: &NamedFile, write: &mut WriteFile<'_>) -> Result<(), String> {
        named_files::write(file, write)
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

/// Reads on a thread of its own, until that is done or this process is told to end: nobody may ever write what is read.
fn read_unless_stopped(
    read: impl FnOnce() -> io::Result<Vec<u8>> + Send + 'static,
) -> io::Result<Vec<u8>> {
    let mut stops = Stops::from_now_on();
    let (done, result) = oneshot::channel();
    let reading = move || drop(done.send(read()));
    std::thread::Builder::new().name("read".into()).spawn(reading)?;
    let waiting = tokio::runtime::Builder::new_current_thread().build()?;
    let interrupted = || io::Error::other("reading it was interrupted");
    waiting.block_on(async {
        tokio::select! {
            read = result => read.unwrap_or_else(|_| Err(interrupted())),
            () = stops.wait() => Err(interrupted()),
        }
    })
}

fn read_limited(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(FILE_BYTES_MAX as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

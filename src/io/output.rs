//! The output and the files of a command. They belong to the process in which the user typed the command, which may not be the
//! process that runs the command.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Read};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::oneshot;

use super::console;
use super::named_files::{self, NamedFile, WriteFile};
use super::owner::messages::Progress;
use super::processes::run_command;
use super::signals::Stops;
use crate::engine::external_command::ExternalCommand;

/// Maximum size of a file that a command reads, bytes.
pub const FILE_BYTES_MAX: usize = 512 * 1024 * 1024;

/// The output and the files of a command.
pub trait CommandOutput {
    /// Writes a line to standard output.
    fn put(&self, text: &str);
    /// Writes a line to standard error.
    fn tell(&self, text: &str);
    /// Marks the command as started. A started command must not be submitted a second time.
    fn begin(&self) {}
    /// Checks whether further results would be lost, because the output is closed.
    fn is_closed(&self) -> bool;
    /// Shows the progress of the command if the output is a terminal. `None` removes the display.
    fn show_progress(&self, progress: Option<Progress>);
    /// Reads a file, or standard input (`-`), of at most [`FILE_BYTES_MAX`] bytes.
    fn read_file(&self, path: &str) -> io::Result<Vec<u8>>;
    /// Writes a file, completely or not at all.
    fn write_file(&self, file: &NamedFile, write: &mut WriteFile<'_>) -> io::Result<()>;
    /// Opens a link with `command`, which already contains the link, or in the browser if there is no command.
    fn open_link(&self, link: &str, command: Option<&ExternalCommand>) -> io::Result<()>;
}

/// Output to the terminal of this process, and access to files as this process.
#[derive(Debug, Default)]
pub struct OwnOutput {
    /// The bar, and whether it shows numbers.
    bar: RefCell<Option<(bool, ProgressBar)>>,
    /// Lines that are held back, so that a pager that does not read blocks nothing; `None` if lines are written at once.
    pub held: RefCell<Option<Vec<String>>>,
}

impl OwnOutput {
    /// Runs work while the progress bar is hidden.
    fn beside_the_bar(&self, work: impl FnOnce()) {
        match &*self.bar.borrow() {
            Some((_, bar)) => bar.suspend(work),
            None => work(),
        }
    }

    /// Writes a piece of a result to standard output.
    pub fn put_piece(&self, text: &str) {
        self.beside_the_bar(|| console::put_piece(text));
    }
}

impl CommandOutput for OwnOutput {
    fn put(&self, text: &str) {
        match &mut *self.held.borrow_mut() {
            Some(held) => held.push(text.to_owned()),
            None => self.beside_the_bar(|| console::put(text)),
        }
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
            if let Some((_, bar)) = shown.take() {
                bar.finish_and_clear();
            }
            return;
        };
        let measured = progress.all > 0;
        // The total may become known, or unknown, in the course of the work.
        if let Some((_, bar)) = shown.take_if(|(numbers, _)| *numbers != measured) {
            bar.finish_and_clear();
        }
        let (_, bar) = shown.get_or_insert_with(|| (measured, new_bar(measured)));
        if progress.all > 0 {
            bar.set_length(progress.all);
            bar.set_position(progress.done);
        }
        bar.set_message(console::without_controls(&progress.text).into_owned());
        bar.tick();
    }

    fn read_file(&self, path: &str) -> io::Result<Vec<u8>> {
        let named = path.to_owned();
        read_unless_stopped(move || match named.as_str() {
            "-" => read_limited(io::stdin()),
            path => std::fs::File::open(path).and_then(read_limited),
        })
    }

    fn write_file(&self, file: &NamedFile, write: &mut WriteFile<'_>) -> io::Result<()> {
        named_files::write(file, write)
    }

    fn open_link(&self, link: &str, command: Option<&ExternalCommand>) -> io::Result<()> {
        run_command::open_with(link, command)
    }
}

fn new_bar(measured: bool) -> ProgressBar {
    if !measured {
        return ProgressBar::new_spinner();
    }
    let style = ProgressStyle::with_template("{msg} {pos} of {len} {wide_bar} {eta}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Reads a file on a separate thread until the end of the file or a stop signal, because standard input or a pipe may never
/// receive data.
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
    reader.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > FILE_BYTES_MAX {
        return Err(io::Error::other("it is larger than 512 MB"));
    }
    Ok(bytes)
}

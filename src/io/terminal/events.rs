//! Reads the input from the terminal: keys, clicks, new sizes. The bytes are not read with crossterm, because crossterm waits
//! forever for the end of an incomplete escape sequence, and reads a closed terminal in an endless loop (its issue 793, still
//! open in 0.29).

use std::fs::File;
use std::future::pending;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::bounded_backend::bounded;
use super::decoder::Decoder;
use crate::io::clock;
use crate::ui::input::ScreenInput;

/// Number of bytes to read at once. A pasted text may have more bytes.
const READ_BYTES: usize = 4096;

/// The input of the terminal, which is read only while the program waits for it.
#[derive(Debug)]
pub(super) struct TerminalEvents {
    terminal: AsyncFd<File>,
    decoder: Decoder,
    resizes: Signal,
    /// Set while another program reads the keys.
    is_lent: bool,
}

impl TerminalEvents {
    /// Opens the terminal. Must be called within a tokio runtime.
    #[expect(
        deprecated,
        reason = "its successor is unsafe; this descriptor is ours and stays open"
    )]
    pub(super) fn start() -> io::Result<Self> {
        // Duplicate the file descriptor, because the tokio runtime accepts each descriptor only once.
        let terminal = if io::stdin().is_terminal() {
            File::from(io::stdin().as_fd().try_clone_to_owned()?)
        } else {
            File::open("/dev/tty")?
        };
        Ok(Self {
            terminal: AsyncFd::with_interest(terminal, Interest::READABLE)?,
            decoder: Decoder::default(),
            resizes: signal(SignalKind::window_change())?,
            is_lent: false,
        })
    }

    /// Waits for the next input. An error means that the terminal is gone. Cancelling the wait loses nothing.
    pub(super) async fn next(&mut self) -> io::Result<ScreenInput> {
        if self.is_lent {
            return pending().await;
        }
        loop {
            if let Some(input) = self.decoder.next(clock::instant()) {
                return Ok(input);
            }
            tokio::select! {
                biased;
                ready = self.terminal.readable() => {
                    let mut ready = ready?;
                    if !read_typed(self.terminal.get_ref(), &mut self.decoder)? {
                        ready.clear_ready();
                    }
                }
                _ = self.resizes.recv() => {
                    let (columns, rows) = crossterm::terminal::size()?;
                    let (columns, rows) = bounded(columns, rows);
                    return Ok(ScreenInput::Resized(columns, rows));
                }
                () = until(self.decoder.deadline()) => {}
            }
        }
    }

    /// Stops reading input, because another program is about to use the terminal.
    pub(super) const fn pause(&mut self) {
        self.is_lent = true;
    }

    /// Resumes reading input after another program used the terminal.
    pub(super) const fn resume(&mut self) {
        self.is_lent = false;
    }
}

/// Waits until a deadline; `None` waits forever.
async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => pending().await,
    }
}

/// Reads one piece of input, so that a long paste is decoded before more of it is read. Returns `false` if no more input is
/// waiting. Checks first whether there is input to read. Making the terminal non-blocking instead would also affect other
/// programs that share the terminal.
fn read_typed(mut terminal: &File, decoder: &mut Decoder) -> io::Result<bool> {
    let mut bytes = [0; READ_BYTES];
    loop {
        let mut asked = [PollFd::new(terminal, PollFlags::IN)];
        if poll(&mut asked, Some(&Timespec::default()))? == 0 {
            return Ok(false);
        }
        let count = terminal.read(&mut bytes)?;
        let piece = bytes.get(..count).unwrap_or_default();
        decoder.push(clock::instant(), piece);
        match piece.last() {
            None => return Err(io::ErrorKind::UnexpectedEof.into()),
            // A single ESC byte would count as the Esc key, so read more bytes in case it starts a sequence.
            Some(0x1b) => {}
            Some(_) => return Ok(true),
        }
    }
}

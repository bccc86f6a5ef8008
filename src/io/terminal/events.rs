//! Input from the terminal: keys, clicks, sizes. The bytes are not read by crossterm, because it waits forever for the end of an
//! unfinished sequence, and reads a closed terminal in an endless loop (its issue 793, still open in 0.29).

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

/// Number of bytes read at once; a paste may have more.
const READ_BYTES: usize = 4096;

/// Reads the terminal's input on request.
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
        // A duplicate is needed, because the runtime accepts each descriptor only once.
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

    /// Stops reading while another program has the terminal.
    pub(super) const fn pause(&mut self) {
        self.is_lent = true;
    }

    /// Resumes reading.
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

/// Reads one piece of input, so that a long paste is decoded before more of it is read. Returns `false` if there is no more.
/// The terminal is polled first instead of being made non-blocking, which would also affect other programs that share it.
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
            // ESC alone would be the Esc key, so read on in case it starts a sequence.
            Some(0x1b) => {}
            Some(_) => return Ok(true),
        }
    }
}

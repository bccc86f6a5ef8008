//! Reads the input from the terminal: keys, clicks, new sizes. docs/dependencies.md says why no other crate decodes it.
//!
//! The ratatui backend has a limited size: some terminals report 65535 columns, for which there would not be enough memory.

use std::fs::File;
use std::future::pending;
use std::io::{self, IsTerminal, Read, Stdout, stdout};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::decoder::Decoder;
use crate::io::clock;
use crate::ui::update::ScreenInput;

/// Usual wait for the rest of a sequence after ESC, in milliseconds: on this machine, and over ssh.
const ESCAPE_MS: u16 = 50;
const REMOTE_ESCAPE_MS: u16 = 150;
/// Maximum wait for an answer of the terminal before another program gets the terminal.
const ANSWER_WAIT: Duration = Duration::from_secs(1);
/// A terminal that has not answered after this time never answers.
const ANSWER_MAX: Duration = Duration::from_secs(2);
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
        // These terminals send ESC before a key that is pressed with Alt. Other terminals have separate sequences for such keys.
        let term = std::env::var("TERM").unwrap_or_default();
        let alt_is_escape = term.starts_with("rxvt") || term == "linux";
        Ok(Self {
            terminal: AsyncFd::with_interest(terminal, Interest::READABLE)?,
            decoder: Decoder::new(alt_is_escape),
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
            let now = clock::instant();
            if self.decoder.deadline().is_some_and(|end| end <= now) {
                // If this program was busy, the rest of a sequence may have arrived in time.
                read_typed(self.terminal.get_ref(), &mut self.decoder, Duration::ZERO)?;
            }
            if let Some(input) = self.decoder.next(now) {
                return Ok(input);
            }
            tokio::select! {
                biased;
                ready = self.terminal.readable() => {
                    let mut ready = ready?;
                    if !read_typed(self.terminal.get_ref(), &mut self.decoder, Duration::ZERO)? {
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
    pub(super) fn resume(&mut self) {
        self.is_lent = false;
        self.decoder.forget();
    }

    /// Sets how long an ESC waits for the rest of a sequence.
    pub(super) fn set_escape_time(&mut self, chosen: Option<u16>) {
        let is_remote = std::env::var_os("SSH_CONNECTION").is_some_and(|value| !value.is_empty());
        let usual = if is_remote { REMOTE_ESCAPE_MS } else { ESCAPE_MS };
        self.decoder.escape_time = Duration::from_millis(chosen.unwrap_or(usual).into());
    }

    /// Notes that a request was sent that the terminal will answer.
    pub(super) fn expect_answer(&mut self) {
        self.decoder.asked = Some(clock::instant());
    }

    /// Reads and drops an answer of the terminal that has not arrived yet, because the next program would read it as keys.
    pub(super) fn drop_answer(&mut self) {
        let Some(asked) = self.decoder.asked else { return };
        let end = clock::instant().checked_add(ANSWER_WAIT).min(asked.checked_add(ANSWER_MAX));
        while let Some(end) = end.filter(|_| self.decoder.asked.is_some()) {
            let rest = end.saturating_duration_since(clock::instant());
            let read = read_typed(self.terminal.get_ref(), &mut self.decoder, rest);
            if !matches!(read, Ok(true)) {
                break;
            }
            while self.decoder.next(clock::instant()).is_some() {}
        }
        self.decoder.asked = None;
    }
}

/// Waits until a deadline; `None` waits forever.
async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => pending().await,
    }
}

/// Reads one piece of input, so that a long paste is decoded before more of it is read. Returns `false` if no input arrives within
/// the given time. Making the terminal non-blocking instead would also affect other programs that share the terminal.
fn read_typed(mut terminal: &File, decoder: &mut Decoder, wait: Duration) -> io::Result<bool> {
    let mut asked = [PollFd::new(terminal, PollFlags::IN)];
    let wait = Timespec::try_from(wait).unwrap_or_default();
    if poll(&mut asked, Some(&wait))? == 0 {
        return Ok(false);
    }
    let mut bytes = [0; READ_BYTES];
    let count = terminal.read(&mut bytes)?;
    if count == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    decoder.push(clock::instant(), bytes.get(..count).unwrap_or_default());
    Ok(true)
}

/// Maximum number of columns and rows that are drawn; more than the largest screens show with the smallest font.
const COLUMNS_MAX: u16 = 1000;
const ROWS_MAX: u16 = 500;

/// Limits a size to the range that can be drawn.
pub(super) fn bounded(columns: u16, rows: u16) -> (u16, u16) {
    (columns.clamp(1, COLUMNS_MAX), rows.clamp(1, ROWS_MAX))
}

/// The backend on standard output.
#[derive(Debug)]
pub(super) struct BoundedBackend(CrosstermBackend<Stdout>);

impl BoundedBackend {
    pub(super) fn new() -> Self {
        Self(CrosstermBackend::new(stdout()))
    }
}

impl Backend for BoundedBackend {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        self.0.draw(content)
    }

    fn append_lines(&mut self, lines: u16) -> io::Result<()> {
        self.0.append_lines(lines)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        // ratatui shows the cursor on drop and writes to stderr if that fails. With a closed terminal that would panic, and
        // unsaved data would be lost.
        self.0.show_cursor().ok();
        Ok(())
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.0.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, kind: ClearType) -> io::Result<()> {
        self.0.clear_region(kind)
    }

    fn size(&self) -> io::Result<Size> {
        let found = self.0.size()?;
        let (width, height) = bounded(found.width, found.height);
        Ok(Size { width, height })
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.0.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_of_any_size_are_drawn() {
        for (size, expected) in [
            ((80, 24), (80, 24)),
            ((0, 0), (1, 1)),
            ((1, 1), (1, 1)),
            ((u16::MAX, u16::MAX), (COLUMNS_MAX, ROWS_MAX)),
        ] {
            assert_eq!(bounded(size.0, size.1), expected);
        }
    }
}

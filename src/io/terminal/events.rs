//! What the terminal reports: keys, clicks, sizes. It is read on a thread of its own, because crossterm reads a terminal that
//! was closed in an endless loop (its issue 793, still so in 0.29): the program would never hear that it is to end.

use std::io;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use crossterm::event::{Event, EventStream};
use futures_util::StreamExt;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long the thread may take to let go of the terminal. Only one that reads a closed terminal takes longer, and that one
/// is left alone: it ends with the program.
const LETTING_GO: Duration = Duration::from_millis(100);

/// Reads events when it is asked for them: what is typed beyond what was asked for is left to whom the terminal is lent.
#[derive(Debug)]
pub(super) struct TerminalEvents {
    events: UnboundedReceiver<io::Result<Event>>,
    answer: UnboundedSender<io::Result<Event>>,
    /// An event was asked for and has not come yet.
    is_asked: bool,
    /// `None` while the terminal is lent.
    reading: Option<Reading>,
}

/// The thread that reads.
#[derive(Debug)]
struct Reading {
    /// Each message asks for one event; the thread ends when this is dropped.
    ask: UnboundedSender<()>,
    /// Closed when the thread has let go of the terminal.
    ended: Receiver<()>,
}

impl TerminalEvents {
    /// Starts to read. Must be called inside a tokio runtime.
    pub(super) fn start() -> io::Result<Self> {
        let (answer, events) = unbounded_channel();
        let mut terminal = Self { events, answer, is_asked: false, reading: None };
        terminal.resume()?;
        Ok(terminal)
    }

    /// Waits for the next event; an error: the terminal is gone. Nothing is lost if the wait is given up.
    pub(super) async fn next(&mut self) -> io::Result<Event> {
        let Some(reading) = &self.reading else { return std::future::pending().await };
        if self.events.is_empty() && !self.is_asked {
            // The thread ended: it has told why before.
            reading.ask.send(()).map_err(|_| gone())?;
            self.is_asked = true;
        }
        let event = self.events.recv().await;
        self.is_asked = false;
        event.unwrap_or_else(|| Err(gone()))
    }

    /// Leaves the terminal to somebody else.
    pub(super) fn pause(&mut self) {
        self.is_asked = false;
        let Some(Reading { ask, ended }) = self.reading.take() else { return };
        drop(ask);
        // It is an error in any case: nobody sends.
        ended.recv_timeout(LETTING_GO).ok();
    }

    /// Reads again.
    pub(super) fn resume(&mut self) -> io::Result<()> {
        let (ask, asked) = unbounded_channel();
        let (end, ended) = mpsc::channel::<()>();
        let (answer, runtime) = (self.answer.clone(), Handle::current());
        thread::Builder::new().name("keys".into()).spawn(move || {
            runtime.block_on(read_events(asked, &answer));
            drop(end);
        })?;
        self.reading = Some(Reading { ask, ended });
        Ok(())
    }
}

impl Drop for TerminalEvents {
    fn drop(&mut self) {
        self.pause();
    }
}

/// There is no terminal any more.
fn gone() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

/// Answers each question with an event until nobody can ask any more, or the terminal is gone.
async fn read_events(
    mut asked: UnboundedReceiver<()>,
    answer: &UnboundedSender<io::Result<Event>>,
) {
    let mut events = EventStream::new();
    let mut wanted = 0_u32;
    loop {
        let event = tokio::select! {
            biased;
            question = asked.recv() => match question {
                Some(()) => {
                    wanted = wanted.saturating_add(1);
                    continue;
                }
                None => return,
            },
            event = events.next(), if wanted > 0 => event,
        };
        wanted = wanted.saturating_sub(1);
        let is_gone = !matches!(event, Some(Ok(_)));
        let event = event.unwrap_or_else(|| Err(gone()));
        if answer.send(event).is_err() || is_gone {
            return;
        }
    }
}

//! The terminal: taken, drawn on, given back whatever happens.

use std::io::{self, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, EventStream, KeyCode, KeyEvent,
    KeyEventKind, KeyModifiers,
};
use crossterm::execute;
use futures_util::StreamExt;
use ratatui::DefaultTerminal;

use crate::app::key::{Code, Key};
use crate::app::model::Model;
use crate::app::msg::Msg;
use crate::app::screen::Viewport;
use crate::view;

/// The terminal is in raw mode; read by the panic hook, which knows nothing else.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal is lent to a command.
static LENT: AtomicBool = AtomicBool::new(false);

/// A panic of the owner is caught where it happens.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Frames remembered for the report.
const FRAMES_MAX: usize = 100_000;

/// The terminal in raw mode on its alternate screen. Dropping it gives it back.
#[derive(Debug)]
pub struct Terminal {
    inner: DefaultTerminal,
    /// `None` while the terminal is lent.
    events: Option<EventStream>,
    verbose: bool,
}

/// How long each frame took, from the message that caused it to the end of drawing.
#[derive(Debug, Default)]
pub struct Frames {
    taken: Vec<Duration>,
}

impl Terminal {
    /// Takes the terminal.
    pub fn take(verbose: bool) -> io::Result<Self> {
        enter()?;
        let backend = ratatui::backend::CrosstermBackend::new(stdout());
        let inner = ratatui::Terminal::new(backend).inspect_err(|_| give_back())?;
        Ok(Self { inner, events: Some(EventStream::new()), verbose })
    }

    /// Columns and rows.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.inner.size()?;
        Ok((size.width, size.height))
    }

    /// Draws the whole screen and says what was measured on the way.
    pub fn draw(&mut self, model: &Model, now: DateTime<Utc>) -> io::Result<Viewport> {
        let mut viewport = Viewport::default();
        self.inner.draw(|frame| viewport = view::draw(frame, model, now))?;
        Ok(viewport)
    }

    /// The next thing the reader does; `None`: something that means nothing to us.
    pub async fn next(&mut self) -> Option<Msg> {
        let Some(events) = &mut self.events else { return std::future::pending().await };
        match events.next().await {
            Some(Ok(event)) => message(event),
            // The terminal is gone: end cleanly.
            Some(Err(_)) | None => Some(Msg::Stop),
        }
    }

    /// Gives the terminal to somebody else for a while; see [`is_lent`].
    pub fn lend(&mut self) {
        // Who reads keys in the background would take them from the other.
        self.events = None;
        LENT.store(true, Ordering::Relaxed);
        give_back();
    }

    /// Takes the terminal again; answers with its size, which may be another one.
    pub fn take_back(&mut self) -> io::Result<(u16, u16)> {
        LENT.store(false, Ordering::Relaxed);
        enter()?;
        // A new one draws everything. Clearing the old one would ask the terminal for its cursor, and the answer
        // may be read by the stream of keys.
        execute!(stdout(), crossterm::terminal::Clear(crossterm::terminal::ClearType::All))?;
        self.inner = ratatui::Terminal::new(ratatui::backend::CrosstermBackend::new(stdout()))?;
        self.events = Some(EventStream::new());
        self.size()
    }

    /// Tells how quick the frames were, if the reader wants to know (`-v`).
    pub fn report(&mut self, frames: &Frames) {
        if self.verbose {
            give_back();
            super::console::tell(&frames.summary());
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
    }
}

/// A panic of the thread that calls this gives the terminal back before it is told. Panics of other threads
/// are caught where they happen and told as failures: they must not disturb the screen.
pub fn guard_panics() {
    let owner = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == owner && !QUIET.load(Ordering::Relaxed) {
            give_back();
            before(panic);
        }
    }));
}

/// Does work whose panics are caught and told in other words: the panic itself is not told.
pub fn quietly<T>(work: impl FnOnce() -> T) -> T {
    QUIET.store(true, Ordering::Relaxed);
    let done = work();
    QUIET.store(false, Ordering::Relaxed);
    done
}

/// Puts the terminal into raw mode and on its alternate screen.
fn enter() -> io::Result<()> {
    crossterm::terminal::enable_raw_mode()?;
    TAKEN.store(true, Ordering::Relaxed);
    execute!(stdout(), crossterm::terminal::EnterAlternateScreen, EnableBracketedPaste)
        .inspect_err(|_| give_back())
}

/// Whether somebody else has the terminal: an interrupt typed there is meant for them.
pub fn is_lent() -> bool {
    LENT.load(Ordering::Relaxed)
}

/// Gives the terminal back if it was taken.
fn give_back() {
    if !TAKEN.swap(false, Ordering::Relaxed) {
        return;
    }
    execute!(
        stdout(),
        DisableBracketedPaste,
        crossterm::terminal::LeaveAlternateScreen,
        crossterm::cursor::Show
    )
    .ok();
    crossterm::terminal::disable_raw_mode().ok();
}

fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(Msg::Key(pressed(key)?)),
        Event::Paste(text) => Some(Msg::Pasted(text)),
        Event::Resize(columns, rows) => Some(Msg::Resized(columns, rows)),
        Event::Key(_) | Event::Mouse(_) | Event::FocusGained | Event::FocusLost => None,
    }
}

fn pressed(key: KeyEvent) -> Option<Key> {
    const CODES: [(KeyCode, Code); 15] = [
        (KeyCode::Insert, Code::Insert),
        (KeyCode::Enter, Code::Enter),
        (KeyCode::Esc, Code::Esc),
        (KeyCode::Tab, Code::Tab),
        (KeyCode::BackTab, Code::BackTab),
        (KeyCode::Backspace, Code::Backspace),
        (KeyCode::Delete, Code::Delete),
        (KeyCode::Up, Code::Up),
        (KeyCode::Down, Code::Down),
        (KeyCode::Left, Code::Left),
        (KeyCode::Right, Code::Right),
        (KeyCode::PageUp, Code::PageUp),
        (KeyCode::PageDown, Code::PageDown),
        (KeyCode::Home, Code::Home),
        (KeyCode::End, Code::End),
    ];
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    let code = if let KeyCode::Char(char) = key.code {
        if alt { Code::Alt(char) } else { Code::Char(char) }
    } else if let KeyCode::F(number) = key.code {
        Code::Function(number)
    } else {
        CODES.iter().find(|(theirs, _)| *theirs == key.code).map(|(_, ours)| *ours)?
    };
    Some(Key { code, ctrl: key.modifiers.contains(KeyModifiers::CONTROL) })
}

impl Frames {
    /// Notes one frame.
    pub fn note(&mut self, taken: Duration) {
        if self.taken.len() < FRAMES_MAX {
            self.taken.push(taken);
        }
    }

    /// The figures in one line.
    pub fn summary(&self) -> String {
        let mut taken = self.taken.clone();
        taken.sort_unstable();
        let at = |permille: usize| {
            let place = taken.len().saturating_sub(1).saturating_mul(permille) / 1000;
            taken.get(place).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
        };
        format!(
            "{} frames: median {:.1} ms, 99 % {:.1} ms, longest {:.1} ms",
            taken.len(),
            at(500),
            at(990),
            at(1000)
        )
    }
}

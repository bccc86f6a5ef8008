//! The terminal: taken, drawn on, given back whatever happens.

use std::collections::BTreeSet;
use std::io::{self, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use crossterm::Command;
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{
    Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent,
    MouseEventKind,
};
use crossterm::execute;
use crossterm::style::Print;
use crossterm::terminal::{Clear, ClearType, SetTitle};
use futures_util::StreamExt;
use ratatui::DefaultTerminal;
use ratatui::backend::CrosstermBackend;

use super::panics::is_catching;
use crate::engine::model::Model;
use crate::engine::msg::Msg;
use crate::engine::settings::ImageProtocol;
use crate::engine::settings::UiSettings;
use crate::ui::keys::key::Code;
use crate::ui::keys::key::Key;
use crate::ui::keys::mouse::Gesture;
use crate::ui::keys::mouse::Mouse;
use crate::ui::screen::Viewport;
use crate::ui::theme::graphics::Graphics;
use crate::ui::theme::graphics::Sent;
use crate::view;

use super::processes::job_control;
use super::processes::job_control::JobSignal;
use super::processes::job_control::Jobs;

/// The terminal is in raw mode; read by the panic hook, which knows nothing else.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal is lent to a command.
static LENT: AtomicBool = AtomicBool::new(false);
/// The terminal has a title of ours.
static TITLED: AtomicBool = AtomicBool::new(false);

/// The alternate screen, brackets around what is pasted, and word when the terminal gets or loses the keys.
const TAKE: &str = "\x1b[?1049h\x1b[?2004h\x1b[?1004h";
/// All of it back, whatever was switched on, and the cursor shown.
const GIVE_BACK: &str = "\x1b[?1006l\x1b[?1000l\x1b[?1004l\x1b[?2004l\x1b[?1049l\x1b[?25h";
/// Clicks and the wheel, in a form that knows wide screens. Movements are not asked for.
const MOUSE: &str = "\x1b[?1000h\x1b[?1006h";
const NO_MOUSE: &str = "\x1b[?1006l\x1b[?1000l";
/// The terminal remembers its title, or takes back what it remembered (xterm's window operations).
const KEEP_TITLE: &str = "\x1b[22;2t";
const TITLE_BACK: &str = "\x1b[23;2t";

/// FrameTimes remembered for the report.
const FRAMES_MAX: usize = 100_000;

/// The terminal in raw mode on its alternate screen. Dropping it gives it back.
#[derive(Debug)]
pub struct Terminal {
    inner: DefaultTerminal,
    /// `None` while the terminal is lent.
    events: Option<EventStream>,
    jobs: Jobs,
    verbose: bool,
    mouse: bool,
    /// The title that was set last; `None`: no title is set.
    title: Option<String>,
    /// Pictures that the terminal keeps, by their numbers.
    sent: BTreeSet<u32>,
    tmux: bool,
}

/// What the screen is drawn on.
pub trait Canvas {
    /// Draws the whole screen and says what was measured on the way.
    fn draw(&mut self, model: &Model, now: DateTime<Utc>) -> io::Result<Viewport>;
}

/// How long each frame took, from the message that caused it to the end of drawing.
#[derive(Debug, Default)]
pub struct FrameTimes {
    taken: Vec<Duration>,
}

impl Terminal {
    /// Takes the terminal. Needs a tokio runtime around it.
    pub fn take(verbose: bool, ui: &UiSettings) -> io::Result<Self> {
        let taken = enter(ui.mouse, ui.title);
        let backend = CrosstermBackend::new(stdout());
        let inner =
            taken.and_then(|()| ratatui::Terminal::new(backend)).inspect_err(|_| give_back())?;
        let title = ui.title.then(String::new);
        Ok(Self {
            inner,
            events: Some(EventStream::new()),
            jobs: Jobs::watch(),
            verbose,
            mouse: ui.mouse,
            title,
            sent: BTreeSet::new(),
            tmux: false,
        })
    }

    /// How pictures can be shown here.
    pub fn graphics(chosen: ImageProtocol) -> Graphics {
        // Zero: the terminal does not say how large its cells are.
        let cell = crossterm::terminal::window_size().ok().and_then(|size| {
            let width = size.width.checked_div(size.columns).filter(|&pixels| pixels > 0)?;
            let height = size.height.checked_div(size.rows).filter(|&pixels| pixels > 0)?;
            Some((width, height))
        });
        Graphics::of(chosen, cell, |name| std::env::var(name).ok())
    }

    /// Sends the pictures that are wanted and not there, and takes back those that are wanted no longer.
    fn send_pictures(&mut self, model: &Model) -> io::Result<()> {
        self.tmux = model.pictures.graphics.tmux;
        let wanted: Vec<&Sent> =
            model.pictures.drawings().filter_map(|drawing| drawing.sent.as_ref()).collect();
        let gone = |id: &&u32| !wanted.iter().any(|sent| sent.id == **id);
        let gone: Vec<u32> = self.sent.iter().filter(gone).copied().collect();
        for id in gone {
            self.sent.remove(&id);
            self.take_back_picture(id)?;
        }
        for sent in wanted {
            if self.sent.insert(sent.id) {
                execute!(stdout(), Print(&sent.data))?;
            }
        }
        Ok(())
    }

    /// Lets kitty forget a picture: nothing of it stays on the screen or in its memory.
    fn take_back_picture(&self, id: u32) -> io::Result<()> {
        let delete = format!("\x1b_Gq=2,a=d,d=I,i={id};\x1b\\");
        execute!(stdout(), Print(through_tmux(delete, self.tmux)))
    }

    /// The terminal goes to somebody else, or back: no picture of ours stays in it.
    fn take_back_pictures(&mut self) {
        for id in std::mem::take(&mut self.sent) {
            self.take_back_picture(id).ok();
        }
    }

    /// Gives the terminal back and stops until the shell lets it go on; then everything is drawn anew.
    pub async fn suspend(&mut self) -> io::Result<Msg> {
        if !job_control::has_shell() {
            return Ok(Msg::NoShell);
        }
        self.take_back_pictures();
        give_back();
        self.jobs.stop().await;
        self.take_again()
    }

    /// Takes the terminal after others may have used it.
    fn take_again(&mut self) -> io::Result<Msg> {
        // What crossterm remembers of the terminal is as old as the last taking.
        crossterm::terminal::disable_raw_mode()?;
        enter(self.mouse, self.title.is_some())?;
        self.title = self.title.take().map(|_| String::new());
        // A new one knows of nothing on the screen and draws all. (Clearing the old one would ask the terminal where
        // its cursor is, and wait for an answer.)
        execute!(stdout(), Clear(ClearType::All))?;
        self.inner = ratatui::Terminal::new(CrosstermBackend::new(stdout()))?;
        let (columns, rows) = self.size()?;
        Ok(Msg::Continued(columns, rows))
    }

    /// Columns and rows.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.inner.size()?;
        Ok((size.width, size.height))
    }

    /// Switches on and off what the reader configured anew.
    fn follow(&mut self, ui: &UiSettings) -> io::Result<()> {
        if self.mouse != ui.mouse {
            self.mouse = ui.mouse;
            execute!(stdout(), Print(if ui.mouse { MOUSE } else { NO_MOUSE }))?;
        }
        if self.title.is_some() != ui.title {
            self.title = ui.title.then(String::new);
            TITLED.store(ui.title, Ordering::Relaxed);
            execute!(stdout(), Print(if ui.title { KEEP_TITLE } else { TITLE_BACK }))?;
        }
        Ok(())
    }

    /// Sets the title, if it is another one.
    fn entitle(&mut self, model: &Model) -> io::Result<()> {
        let Some(before) = &mut self.title else { return Ok(()) };
        let title = model.title();
        if *before != title {
            execute!(stdout(), SetTitle(&title))?;
            *before = title;
        }
        Ok(())
    }

    /// The next thing the reader does; `None`: something that means nothing to us.
    pub async fn next(&mut self) -> Option<Msg> {
        let Some(events) = &mut self.events else { return std::future::pending().await };
        tokio::select! {
            biased;
            event = events.next() => match event {
                Some(Ok(event)) => message(event),
                // The terminal is gone: end cleanly.
                Some(Err(_)) | None => Some(Msg::Stop),
            },
            job = self.jobs.next() => match job {
                JobSignal::Stop => Some(Msg::Suspend),
                JobSignal::GoOn => Some(self.take_again().unwrap_or(Msg::Stop)),
            },
        }
    }

    /// Gives the terminal to somebody else for a while; see [`is_lent`].
    pub fn lend(&mut self) {
        // Who reads keys in the background would take them from the other.
        self.events = None;
        self.take_back_pictures();
        LENT.store(true, Ordering::Relaxed);
        give_back();
    }

    /// Whoever has the terminal was stopped with a key: so are we, and the shell lets us all go on together.
    pub async fn stop_with_borrower(&mut self) {
        if self.jobs.next().await == JobSignal::Stop && job_control::has_shell() {
            self.jobs.stop().await;
        }
    }

    /// Takes the terminal back from whoever had it.
    pub fn take_back(&mut self) -> io::Result<Msg> {
        LENT.store(false, Ordering::Relaxed);
        let msg = self.take_again()?;
        self.events = Some(EventStream::new());
        Ok(msg)
    }

    /// Tells how quick the frames were, if the reader wants to know (`-v`).
    pub fn report(&mut self, frames: &FrameTimes) {
        if self.verbose {
            self.take_back_pictures();
            give_back();
            super::console::tell(&frames.summary());
        }
    }
}

impl Canvas for Terminal {
    fn draw(&mut self, model: &Model, now: DateTime<Utc>) -> io::Result<Viewport> {
        let mut viewport = Viewport::default();
        self.send_pictures(model)?;
        self.inner.draw(|frame| viewport = view::draw(frame, model, now))?;
        self.follow(&model.settings.ui)?;
        self.entitle(model)?;
        Ok(viewport)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.take_back_pictures();
        give_back();
    }
}

/// A panic of the thread that calls this gives the terminal back before it is told. Panics of other threads
/// are caught where they happen and told as failures: they must not disturb the screen.
pub fn guard_panics() {
    let owner = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == owner && !is_catching() {
            give_back();
            before(panic);
        }
    }));
}

/// Whether somebody else has the terminal: an interrupt typed there is meant for them.
pub fn is_lent() -> bool {
    LENT.load(Ordering::Relaxed)
}

/// Takes the terminal as it is.
fn enter(mouse: bool, titled: bool) -> io::Result<()> {
    crossterm::terminal::enable_raw_mode()?;
    TAKEN.store(true, Ordering::Relaxed);
    TITLED.store(titled, Ordering::Relaxed);
    let (mouse, title) = (if mouse { MOUSE } else { "" }, if titled { KEEP_TITLE } else { "" });
    execute!(stdout(), Print(TAKE), Print(mouse), Print(title))
}

/// Puts a text on the clipboard of the terminal (OSC 52), if there is one.
pub fn copy(text: &str) {
    let mut sequence = String::new();
    if CopyToClipboard::to_clipboard_from(text).write_ansi(&mut sequence).is_ok() {
        send(&sequence);
    }
}

/// Sends the terminal what is not drawn, if it is in our hands now.
pub(super) fn send(sequence: &str) {
    if TAKEN.load(Ordering::Relaxed) {
        let mut out = stdout().lock();
        out.write_all(sequence.as_bytes()).and_then(|()| out.flush()).ok();
    }
}

/// A sequence for the terminal behind tmux, if that is between: tmux hands it through where `allow-passthrough` is on.
pub(super) fn through_tmux(sequence: String, tmux: bool) -> String {
    if tmux {
        return format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"));
    }
    sequence
}

/// Gives the terminal back if it was taken.
fn give_back() {
    if !TAKEN.swap(false, Ordering::Relaxed) {
        return;
    }
    let title = if TITLED.swap(false, Ordering::Relaxed) { TITLE_BACK } else { "" };
    execute!(stdout(), Print(title), Print(GIVE_BACK)).ok();
    crossterm::terminal::disable_raw_mode().ok();
}

fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(Msg::Key(pressed(key)?)),
        Event::Paste(text) => Some(Msg::Pasted(text)),
        Event::Resize(columns, rows) => Some(Msg::Resized(columns, rows)),
        Event::Mouse(mouse) => pointed(mouse).map(Msg::Mouse),
        Event::FocusGained => Some(Msg::Focused(true)),
        Event::FocusLost => Some(Msg::Focused(false)),
        Event::Key(_) => None,
    }
}

/// Clicks of the first button and the wheel mean something.
const fn pointed(mouse: MouseEvent) -> Option<Mouse> {
    let gesture = match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => Gesture::Click,
        MouseEventKind::ScrollDown => Gesture::WheelDown,
        MouseEventKind::ScrollUp => Gesture::WheelUp,
        MouseEventKind::ScrollLeft => Gesture::WheelLeft,
        MouseEventKind::ScrollRight => Gesture::WheelRight,
        MouseEventKind::Down(_)
        | MouseEventKind::Up(_)
        | MouseEventKind::Drag(_)
        | MouseEventKind::Moved => return None,
    };
    Some(Mouse { gesture, column: mouse.column, row: mouse.row })
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

impl FrameTimes {
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

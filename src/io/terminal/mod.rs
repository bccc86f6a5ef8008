//! The terminal: puts it into raw mode, draws on it, and always restores its original state.

mod decoder;
mod events;

use std::collections::BTreeSet;
use std::io::{self, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use crossterm::execute;
use crossterm::style::Print;
use crossterm::terminal::{Clear, ClearType, SetTitle};

use self::events::{BoundedBackend, TerminalEvents};
use super::log::report_panic;
use super::panics::{Caught, how_caught};
use super::processes::job_control::{self, JobSignal, Jobs};
use crate::engine::request::{Input, Request};
use crate::ui::app::App;
use crate::ui::settings::{ImageProtocol, ScreenSettings};
use crate::ui::state::layout::Viewport;
use crate::ui::theme::graphics::{Graphics, SentPictures};
use crate::ui::update::ScreenInput;
use crate::view;

/// Set while the terminal is in raw mode. This is the only state that the panic hook reads.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Set while the terminal is lent to a command.
static LENT: AtomicBool = AtomicBool::new(false);
/// Set while the terminal shows a title that this program has set.
static TITLED: AtomicBool = AtomicBool::new(false);

/// Enables the alternate screen, bracketed paste and focus events. Also clears the screen, which is not empty if an earlier
/// process was killed or if the terminal has no alternate screen.
const TAKE: &str = "\x1b[?1049h\x1b[2J\x1b[?2004h\x1b[?1004h";
/// Disables everything that this program may have enabled in the terminal, and shows the cursor. Clears the last row for the
/// prompt of the shell, in case that the terminal has no alternate screen.
const GIVE_BACK: &str =
    "\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?1004l\x1b[?2004l\x1b[999;1H\x1b[K\x1b[?1049l\x1b[?25h";
/// Enables reports of mouse clicks and the wheel, in the format for wide screens. Movements are reported only while a button is pressed.
const MOUSE: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const NO_MOUSE: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";
/// Requests the background colour of the terminal, and then its kind. Terminals that do not support the first request still
/// answer the second one.
const ASK: &str = "\x1b]11;?\x1b\\\x1b[c";
/// Saves the title of the terminal, so that it can be restored later (a window operation of xterm).
const KEEP_TITLE: &str = "\x1b[22;2t";
const TITLE_BACK: &str = "\x1b[23;2t";

/// Maximum number of frames in the report of frame times.
const FRAMES_MAX: usize = 100_000;

/// The terminal in raw mode on its alternate screen. Dropping this value restores the terminal.
#[derive(Debug)]
pub struct Terminal {
    inner: ratatui::Terminal<BoundedBackend>,
    events: TerminalEvents,
    jobs: Jobs,
    verbose: bool,
    mouse: bool,
    /// The title that was set last; `None` if titles are off.
    title: Option<String>,
    /// The value of the redraw counter when the screen was last drawn. The counter increases when the user asks to redraw
    /// everything.
    redraws: u32,
    /// IDs of the pictures that were sent to the terminal and are stored there.
    sent: BTreeSet<u32>,
    tmux: bool,
}

/// A target that the screen can be drawn on.
pub trait Canvas {
    /// Draws the whole screen and returns the sizes it measured.
    fn draw(&mut self, app: &App, now: DateTime<Utc>) -> io::Result<Viewport>;
}

/// The duration of each frame, from the message that caused it to the end of drawing.
#[derive(Debug, Default)]
pub struct FrameTimes {
    taken: Vec<Duration>,
}

impl Terminal {
    /// Puts the terminal into raw mode on the alternate screen. Must be called within a tokio runtime.
    pub fn take(verbose: bool, ui: &ScreenSettings) -> io::Result<Self> {
        let taken = enter(ui.mouse, ui.title);
        let backend = BoundedBackend::new();
        let both = taken.and_then(|asks| {
            Ok((ratatui::Terminal::new(backend)?, TerminalEvents::start()?, asks))
        });
        let (inner, mut events, asks) = both.inspect_err(|_| give_back())?;
        events.set_escape_time(ui.escape_time);
        if asks {
            events.expect_answer();
        }
        let title = ui.title.then(String::new);
        Ok(Self {
            inner,
            events,
            jobs: Jobs::watch(),
            verbose,
            mouse: ui.mouse,
            title,
            redraws: 0,
            sent: BTreeSet::new(),
            tmux: false,
        })
    }

    /// Detects how pictures can be shown.
    pub fn graphics(chosen: ImageProtocol) -> Graphics {
        // Zero means that the terminal does not report its cell size.
        let cell = crossterm::terminal::window_size().ok().and_then(|size| {
            let width = size.width.checked_div(size.columns).filter(|&pixels| pixels > 0)?;
            let height = size.height.checked_div(size.rows).filter(|&pixels| pixels > 0)?;
            Some((width, height))
        });
        Graphics::of(chosen, cell, |name| std::env::var(name).ok())
    }

    /// Sends new pictures to the terminal and deletes those that are no longer shown.
    fn send_pictures(&mut self, app: &App) -> io::Result<()> {
        self.tmux = app.ui.pictures.graphics.tmux;
        let wanted: Vec<&SentPictures> =
            app.ui.pictures.drawings().filter_map(|drawing| drawing.sent.as_ref()).collect();
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

    /// Deletes a picture from the screen and the memory of a terminal that supports the kitty protocol.
    fn take_back_picture(&self, id: u32) -> io::Result<()> {
        let delete = format!("\x1b_Gq=2,a=d,d=I,i={id};\x1b\\");
        execute!(stdout(), Print(through_tmux(delete, self.tmux)))
    }

    /// Deletes all pictures of this program from the terminal before another program uses the terminal.
    fn take_back_pictures(&mut self) {
        for id in std::mem::take(&mut self.sent) {
            self.take_back_picture(id).ok();
        }
    }

    /// Restores the terminal and stops this process until the shell continues it. The returned input makes the program draw
    /// everything again.
    pub async fn suspend(&mut self) -> io::Result<ScreenInput> {
        if !job_control::has_shell() {
            return Ok(ScreenInput::NoShell);
        }
        self.give_back();
        self.jobs.stop().await;
        self.take_again()
    }

    /// Puts the terminal into raw mode again after other programs may have used it.
    fn take_again(&mut self) -> io::Result<ScreenInput> {
        // Make crossterm forget the terminal mode that it saved before, which may be out of date.
        crossterm::terminal::disable_raw_mode()?;
        if enter(self.mouse, self.title.is_some())? {
            self.events.expect_answer();
        }
        self.title = self.title.take().map(|_| String::new());
        self.forget_screen()?;
        let (columns, rows) = self.size()?;
        Ok(ScreenInput::Continued(columns, rows))
    }

    /// Forces a complete redraw, whatever is on the screen now.
    fn forget_screen(&mut self) -> io::Result<()> {
        self.take_back_pictures();
        // Replace the ratatui terminal, because a new instance has no record of the screen and draws everything. (Clearing the
        // old instance would query the cursor position and wait for a response.)
        execute!(stdout(), Clear(ClearType::All))?;
        self.inner = ratatui::Terminal::new(BoundedBackend::new())?;
        Ok(())
    }

    /// Returns the number of columns and rows of the terminal.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.inner.size()?;
        Ok((size.width, size.height))
    }

    fn follow(&mut self, ui: &ScreenSettings) -> io::Result<()> {
        self.events.set_escape_time(ui.escape_time);
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

    /// Sets the title of the terminal if the title has changed.
    fn entitle(&mut self, app: &App) -> io::Result<()> {
        let Some(before) = &mut self.title else { return Ok(()) };
        let title = app.title();
        if *before != title {
            execute!(stdout(), SetTitle(&title))?;
            *before = title;
        }
        Ok(())
    }

    /// Draws a screen that contains only this sentence.
    pub fn show_text(&mut self, text: &str) -> io::Result<()> {
        self.inner.draw(|frame| view::draw_sentence(frame, text)).map(|_| ())
    }

    /// Waits for the next input from the terminal.
    pub async fn next(&mut self) -> ScreenInput {
        tokio::select! {
            biased;
            // An error means that the terminal is gone, so the program ends cleanly.
            input = self.events.next() => input.unwrap_or(Input::Request(Request::Stop).into()),
            job = self.jobs.next() => match job {
                JobSignal::Stop => ScreenInput::Suspend,
                JobSignal::GoOn => self.take_again().unwrap_or(Input::Request(Request::Stop).into()),
            },
        }
    }

    /// Lends the terminal to a command; see [`is_lent`].
    pub fn lend(&mut self) {
        // Stop reading input, because this program would otherwise read keys that are typed for the command.
        self.events.pause();
        LENT.store(true, Ordering::Relaxed);
        self.give_back();
    }

    /// Restores the terminal before another program uses it.
    fn give_back(&mut self) {
        self.take_back_pictures();
        if TAKEN.load(Ordering::Relaxed) {
            self.events.drop_answer();
        }
        give_back();
    }

    /// Asks the user to press a key after a command that ended at once, so that its output can be read.
    pub fn ask_for_key(&mut self) -> io::Result<()> {
        crossterm::terminal::enable_raw_mode()?;
        TAKEN.store(true, Ordering::Relaxed);
        self.events.resume();
        execute!(stdout(), Print("\r\n[press a key to return to backissue]"))
    }

    /// Waits while a command has the terminal. If it has ended, waits for a key and returns `true`. If the user suspends it by a key,
    /// stops this process too; the shell later continues both.
    pub async fn wait_beside(&mut self, has_ended: bool) -> bool {
        if has_ended {
            // An error means that the terminal is gone.
            while self.events.next().await.is_ok_and(|input| !matches!(input, ScreenInput::Key(_)))
            {
            }
            return true;
        }
        if self.jobs.next().await == JobSignal::Stop && job_control::has_shell() {
            self.jobs.stop().await;
        }
        false
    }

    /// Takes the terminal back from the command.
    pub fn take_back(&mut self) -> io::Result<ScreenInput> {
        LENT.store(false, Ordering::Relaxed);
        let msg = self.take_again()?;
        self.events.resume();
        Ok(msg)
    }

    /// Prints the frame times, if `-v` was given.
    pub fn report(&mut self, frames: &FrameTimes) {
        if self.verbose {
            self.give_back();
            super::console::tell(&frames.summary());
        }
    }
}

impl Canvas for Terminal {
    fn draw(&mut self, app: &App, now: DateTime<Utc>) -> io::Result<Viewport> {
        let mut viewport = Viewport::default();
        if self.redraws != app.ui.redraws {
            self.redraws = app.ui.redraws;
            self.forget_screen()?;
        }
        self.send_pictures(app)?;
        self.inner.draw(|frame| viewport = view::draw(frame, app, now))?;
        self.follow(&app.ui.settings)?;
        self.entitle(app)?;
        Ok(viewport)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Installs a panic hook that reports each panic. If a panic ends the calling thread, the terminal is restored before the panic
/// message is printed. Caught panics and panics of other threads become errors and must not disturb the screen.
pub fn guard_panics() {
    let owner = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let caught = how_caught();
        report_panic(panic, caught);
        if caught == Caught::Nowhere && std::thread::current().id() == owner {
            give_back();
            before(panic);
        }
    }));
}

/// Checks whether the terminal is lent to a command; an interrupt typed there is meant for the command.
pub fn is_lent() -> bool {
    LENT.load(Ordering::Relaxed)
}

/// Puts the terminal into raw mode on the alternate screen. Returns whether a request was sent that the terminal will answer.
fn enter(mouse: bool, titled: bool) -> io::Result<bool> {
    crossterm::terminal::enable_raw_mode()?;
    TAKEN.store(true, Ordering::Relaxed);
    TITLED.store(titled, Ordering::Relaxed);
    let (mouse, title) = (if mouse { MOUSE } else { "" }, if titled { KEEP_TITLE } else { "" });
    // The Linux console and simple terminals may show the request as text.
    let term = std::env::var("TERM").unwrap_or_default();
    let asks = !["", "dumb", "linux"].contains(&term.as_str());
    let ask = if asks { ASK } else { "" };
    execute!(stdout(), Print(TAKE), Print(mouse), Print(title), Print(ask))?;
    Ok(asks)
}

/// Writes an escape sequence, unless the terminal is lent to a command or not in raw mode.
pub(super) fn send(sequence: &str) {
    if TAKEN.load(Ordering::Relaxed) {
        let mut out = stdout().lock();
        out.write_all(sequence.as_bytes()).and_then(|()| out.flush()).ok();
    }
}

/// Wraps a sequence for the terminal outside tmux, which passes it through if `allow-passthrough` is on.
pub(super) fn through_tmux(sequence: String, tmux: bool) -> String {
    if tmux {
        return format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"));
    }
    sequence
}

/// Restores the terminal if the program had taken control of it.
fn give_back() {
    if !TAKEN.swap(false, Ordering::Relaxed) {
        return;
    }
    let title = if TITLED.swap(false, Ordering::Relaxed) { TITLE_BACK } else { "" };
    execute!(stdout(), Print(title), Print(GIVE_BACK)).ok();
    crossterm::terminal::disable_raw_mode().ok();
}

impl FrameTimes {
    pub fn note(&mut self, taken: Duration) {
        if self.taken.len() < FRAMES_MAX {
            self.taken.push(taken);
        }
    }

    /// Formats the statistics as one line.
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

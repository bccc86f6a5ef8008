//! The loop with a screen: handles keys and other inputs, and draws the screen afterwards.

use std::time::Duration;

use rustix::io::Errno;

use super::clock;
use super::performing::Ending;
use super::processes::run_command;
use super::runtime::{self, Happening, Runtime, StartError};
use super::system::system_words;
use super::terminal::{Canvas, FrameTimes, Terminal};
use crate::engine::external_run::ExternalRun;
use crate::engine::request::Input;
use crate::ui::app::App;
use crate::ui::come_back;
use crate::ui::settings::ImageProtocol;
use crate::ui::update::{ScreenInput, begin, measured};

/// Minimum time between drawings caused by background changes while the terminal is unfocused.
const UNSEEN_PAUSE: Duration = Duration::from_secs(1);

/// Minimum time between two writes of the counts of what was read. If the program is killed, at most the counts of this time are
/// lost.
const COUNTS_PAUSE: Duration = Duration::from_mins(3);

/// Maximum number of drawings for one input.
const DRAWINGS_MAX: usize = 4;
/// If a command ends within this time, nobody could read its output.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Checks whether an input comes from the user, who waits for its effect.
const fn is_by_reader(input: &ScreenInput) -> bool {
    matches!(
        input,
        ScreenInput::Key(_)
            | ScreenInput::Pasted(_)
            | ScreenInput::Mouse(_)
            | ScreenInput::Resized(..)
            | ScreenInput::Continued(..)
            | ScreenInput::Focused(_)
            | ScreenInput::NoShell
    )
}

/// Checks whether drawing failed because the terminal was closed.
fn is_closed(error: &std::io::Error) -> bool {
    let known = Errno::from_io_error(error);
    known.is_some_and(|error| [Errno::IO, Errno::NXIO, Errno::PIPE, Errno::BADF].contains(&error))
}

impl Runtime<App> {
    /// Runs with a screen until the user quits.
    pub async fn on_screen(&mut self, terminal: &mut Terminal) -> Result<Ending, StartError> {
        let broken = |error: std::io::Error| {
            StartError::System(format!("the terminal cannot be used: {}", system_words(&error)))
        };
        let mut frames = FrameTimes::default();
        let mut graphics = None;
        let (columns, rows) = terminal.size().map_err(broken)?;
        self.tell(ScreenInput::Resized(columns, rows));
        self.follow_graphics(&mut graphics);
        self.draw(terminal).map_err(broken)?;
        for effect in begin(&mut self.program, clock::precise_now()) {
            self.performer.perform(effect);
        }
        self.tell(Input::Tick);
        // `late` is `true` if the screen does not show the last change yet.
        let (mut drawn, mut late) = (clock::instant(), false);
        let mut prepared = false;
        let mut counts = (clock::instant(), self.program.engine.interest.clone());
        loop {
            let rest = UNSEEN_PAUSE.saturating_sub(drawn.elapsed());
            let input = tokio::select! {
                biased;
                input = terminal.next() => Some(Happening::Input(input)),
                next = self.next() => Some(next),
                () = tokio::time::sleep(rest), if late => None,
            };
            let began = clock::instant();
            let by_reader = matches!(&input, Some(Happening::Input(input)) if is_by_reader(input));
            let mut ending = input.and_then(|input| self.take_happening(input));
            while let Some(run) = self.external_runs.pop_front() {
                ending = ending.or(self.lend(terminal, run).await.map_err(broken)?);
            }
            let suspended = ending == Some(Ending::Suspend);
            if suspended {
                let input = terminal.suspend().await.map_err(broken)?;
                ending = self.tell(input);
            }
            if let Some(ending) = ending {
                self.keep_place();
                terminal.report(&frames);
                return Ok(ending);
            }
            if counts.0.elapsed() >= COUNTS_PAUSE && counts.1 != self.program.engine.interest {
                counts = (clock::instant(), self.program.engine.interest.clone());
                self.keep_counts();
            }
            late = self.program.ui.unfocused && !by_reader && drawn.elapsed() < UNSEEN_PAUSE;
            if late {
                continue;
            }
            self.follow_graphics(&mut graphics);
            if let Err(error) = self.draw(terminal) {
                self.keep_place();
                // A closed terminal means that the user leaves the program, even if the hang-up signal arrives only later.
                return if is_closed(&error) { Ok(Ending::Stop) } else { Err(broken(error)) };
            }
            drawn = clock::instant();
            if !suspended {
                frames.note(began.elapsed());
            }
            if !prepared && !self.program.ui.list.waiting {
                // The first screen is complete, so there is time to create the HTTP client, which reads the system's
                // certificates.
                prepared = true;
                self.prepare_network()?;
            }
        }
    }

    /// Saves the counts of what was read. An error is ignored, because only counts are lost.
    fn keep_counts(&self) {
        // Another folder may be at the path of the data folder by now.
        if self.performer.is_in_place() {
            runtime::save_interest(self.folder(), &self.program.engine.interest).ok();
        }
    }

    /// Saves the position on the screen for the next start. If the setting for this is off, deletes the saved position instead.
    fn keep_place(&self) {
        // Another folder may be at the path of the data folder by now.
        if !self.performer.is_in_place() {
            return;
        }
        // An error is ignored, because only the position on the screen is lost.
        self.keep_counts();
        if self.program.ui.settings.restore {
            let place = come_back::place_of(&self.program);
            runtime::save(self.folder(), &place).ok();
        } else {
            runtime::forget(self.folder());
        }
    }

    /// Reports to the program how the terminal can show pictures, if this may have changed. For example, a new font changes the
    /// cell size.
    fn follow_graphics(&mut self, known: &mut Option<(ImageProtocol, (u16, u16))>) {
        let ui = &self.program.ui;
        let now = Some((ui.settings.image_protocol, ui.size));
        if *known != now {
            *known = now;
            let graphics = Terminal::graphics(ui.settings.image_protocol);
            self.tell(ScreenInput::Graphics(graphics));
        }
    }

    /// Lends the terminal to a command of the user until the command ends. Polling and all other work continues without the
    /// screen.
    async fn lend(
        &mut self,
        terminal: &mut Terminal,
        run: ExternalRun,
    ) -> std::io::Result<Option<Ending>> {
        let (purpose, mut next) = (run.purpose, run.next());
        terminal.lend();
        let began = clock::instant();
        let mut running = std::pin::pin!(run_command::run_on_terminal(run));
        let (mut ending, mut ended) = (None, None);
        loop {
            let input = tokio::select! {
                biased;
                end = &mut running, if ended.is_none() => {
                    let at_once = began.elapsed() < AT_ONCE;
                    next = next.filter(|_| at_once && end.is_err());
                    ended = Some(end);
                    if !at_once || next.is_some() {
                        break;
                    }
                    terminal.ask_for_key()?;
                    continue;
                }
                is_over = terminal.wait_beside(ended.is_some()) => {
                    if is_over {
                        break;
                    }
                    continue;
                }
                input = self.next() => input,
            };
            ending = self.take_happening(input);
            if ending.is_some() {
                break;
            }
        }
        let continued = terminal.take_back()?;
        self.tell(continued);
        if let Some(ended) = ended.filter(|_| ending.is_none()) {
            ending = self.tell(run_command::end_of_run(purpose, next, ended));
        }
        Ok(ending)
    }

    /// Draws the screen. If the sizes measured during drawing have changed, draws the screen once more.
    pub fn draw(&mut self, canvas: &mut impl Canvas) -> std::io::Result<()> {
        // New sizes may change the layout; the second drawing then measures the same sizes. Keys that wait for the sizes may change
        // it again.
        for _ in 0..DRAWINGS_MAX {
            let now = clock::precise_now();
            let viewport = canvas.draw(&self.program, now)?;
            let (before, waits) = (self.program.ui.viewport, self.program.ui.typed.is_waiting());
            for effect in measured(&mut self.program, now, viewport) {
                self.performer.perform(effect);
            }
            if viewport == before && !waits {
                break;
            }
        }
        Ok(())
    }
}

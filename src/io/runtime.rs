//! The one loop: a message comes, the model changes, effects are performed, the screen is drawn.
//!
//! Everything that happens comes through one channel, so that it has one order. The clock is read here and
//! passed on; below this folder nobody knows the time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::clock::{self, SleepWatch};
use super::http::{Http, Limits};
use super::performing::{Ending, Performer};
use super::processes::run_command;
use super::store::{Store, StoreError};
use super::terminal::{Canvas, FrameTimes, Terminal};
use crate::engine::effect::Effect;
use crate::engine::entries::entry_filters;
use crate::engine::model::Model;
use crate::engine::msg::Msg;
use crate::engine::run_external::Errand;
use crate::engine::settings::ImageProtocol;
use crate::engine::settings::Settings;
use crate::engine::update::begin;
use crate::engine::update::measured;
use crate::engine::update::update;
use crate::ui::panes::saved_searches;

/// Messages taken before the screen is drawn again.
const MESSAGES_A_FRAME: usize = 256;

/// While the terminal does not have the keys, what happens by itself is drawn after this time at the soonest.
const UNSEEN_PAUSE: Duration = Duration::from_secs(1);

/// The program at work.
#[derive(Debug)]
pub struct Runtime {
    /// All the state.
    pub model: Model,
    performer: Performer,
    sender: UnboundedSender<Msg>,
    messages: UnboundedReceiver<Msg>,
    watch: SleepWatch,
    /// Commands that wait for the terminal.
    errands: VecDeque<Errand>,
}

/// Why the program cannot work.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The HTTP client, a thread or the terminal.
    #[error("{0}")]
    System(String),
}

/// Whether the reader did it and waits to see what comes of it.
const fn is_by_reader(msg: &Msg) -> bool {
    matches!(
        msg,
        Msg::Key(_)
            | Msg::Pasted(_)
            | Msg::Mouse(_)
            | Msg::Resized(..)
            | Msg::Continued(..)
            | Msg::Focused(_)
            | Msg::NoShell
    )
}

impl Runtime {
    /// Loads the model and starts the keeper of the store. Needs a tokio runtime around it.
    pub fn start(store: Store, settings: Settings) -> Result<Self, StartError> {
        let salt = store.salt(clock::chance())?;
        let saved = store.subscriptions()?;
        let (last_feed, unreadable) = (store.last_feed()?, store.unreadable()?);
        let folded = store.folded()?;
        let (searches, rules) = (store.saved_searches()?, store.rules()?);
        let http = Http::new(&settings.network, Limits::default()).map_err(StartError::System)?;
        let (sender, messages) = unbounded_channel();
        let performer = Performer::start(store, Arc::new(http), sender.clone())
            .map_err(|error| StartError::System(format!("no thread for the store: {error}")))?;
        let mut model = Model::new(settings, clock::zone(), salt, saved, clock::precise_now());
        model.last_feed = last_feed;
        model.screen.feeds.folded = folded;
        saved_searches::take(&mut model, searches);
        entry_filters::take(&mut model, rules);
        if let [first, ..] = unreadable.as_slice() {
            let text =
                format!("{} of the subscriptions cannot be read whole: {first}", unreadable.len());
            model.screen.complain(clock::precise_now(), text);
        }
        let (watch, errands) = (SleepWatch::start(), VecDeque::new());
        Ok(Self { model, performer, sender, messages, watch, errands })
    }

    /// Where messages go in.
    pub fn sender(&self) -> UnboundedSender<Msg> {
        self.sender.clone()
    }

    /// Works without a screen until `done`, or until the program is told to stop (`false`).
    pub async fn until(&mut self, mut done: impl FnMut(&Model) -> bool) -> bool {
        self.tell(Msg::Tick);
        while !done(&self.model) {
            let msg = self.next().await;
            if self.tell(msg).is_some() {
                return false;
            }
        }
        true
    }

    /// Waits for what happens next and takes what has happened by then, as the loop does between two frames. `false`:
    /// the program is told to stop.
    pub async fn until_next_frame(&mut self) -> bool {
        let msg = self.next().await;
        self.take(msg).is_none()
    }

    /// Takes a message and those that wait behind it or come of it at once.
    pub fn take(&mut self, msg: Msg) -> Option<Ending> {
        let mut ending = self.tell(msg);
        for _ in 0..MESSAGES_A_FRAME {
            let Ok(msg) = self.messages.try_recv() else { break };
            match self.tell(msg) {
                // Who stops the program wants it to end now.
                Some(Ending::Stop) => return Some(Ending::Stop),
                next => ending = ending.or(next),
            }
        }
        ending
    }

    /// Works with a screen until the reader quits.
    pub async fn on_screen(&mut self, terminal: &mut Terminal) -> Result<Ending, StartError> {
        let broken = |error: std::io::Error| {
            StartError::System(format!("the terminal cannot be used: {error}"))
        };
        let mut frames = FrameTimes::default();
        let mut graphics = None;
        let (columns, rows) = terminal.size().map_err(broken)?;
        self.tell(Msg::Resized(columns, rows));
        self.follow_graphics(&mut graphics);
        self.draw(terminal).map_err(broken)?;
        for effect in begin(&mut self.model, clock::precise_now()) {
            self.performer.perform(effect);
        }
        self.tell(Msg::Tick);
        // Whether something has changed since that is not on the screen yet.
        let (mut drawn, mut late) = (clock::instant(), false);
        loop {
            let rest = UNSEEN_PAUSE.saturating_sub(drawn.elapsed());
            let msg = tokio::select! {
                biased;
                key = terminal.next() => key,
                msg = self.next() => Some(msg),
                () = tokio::time::sleep(rest), if late => None,
            };
            let began = clock::instant();
            let by_reader = msg.as_ref().is_some_and(is_by_reader);
            let mut ending = msg.and_then(|msg| self.take(msg));
            while let Some(errand) = self.errands.pop_front() {
                ending = ending.or(self.lend(terminal, errand).await.map_err(broken)?);
            }
            let suspended = ending == Some(Ending::Suspend);
            if suspended {
                let msg = terminal.suspend().await.map_err(broken)?;
                ending = self.tell(msg);
            }
            if let Some(ending) = ending {
                terminal.report(&frames);
                return Ok(ending);
            }
            late = self.model.screen.unfocused && !by_reader && drawn.elapsed() < UNSEEN_PAUSE;
            if late {
                continue;
            }
            self.follow_graphics(&mut graphics);
            self.draw(terminal).map_err(broken)?;
            drawn = clock::instant();
            if !suspended {
                frames.note(began.elapsed());
            }
        }
    }

    /// Tells how the terminal shows pictures, when that may have changed: its cells have the size of its letters.
    fn follow_graphics(&mut self, known: &mut Option<(ImageProtocol, (u16, u16))>) {
        let model = &self.model;
        let now = Some((model.settings.ui.image_protocol, model.screen.size));
        if *known != now {
            *known = now;
            let graphics = Terminal::graphics(model.settings.ui.image_protocol);
            self.tell(Msg::Graphics(graphics));
        }
    }

    /// Lends the terminal to a command until it ends. Everything but the screen goes on meanwhile.
    async fn lend(
        &mut self,
        terminal: &mut Terminal,
        errand: Errand,
    ) -> std::io::Result<Option<Ending>> {
        let purpose = errand.purpose;
        terminal.lend();
        let mut running = std::pin::pin!(run_command::run_on_terminal(errand));
        let mut ending = None;
        let ended = loop {
            let msg = tokio::select! {
                biased;
                ended = &mut running => break Some(ended),
                () = terminal.stop_with_borrower() => continue,
                msg = self.next() => msg,
            };
            ending = self.tell(msg);
            if ending.is_some() {
                break None;
            }
        };
        let continued = terminal.take_back()?;
        self.tell(continued);
        if let Some(ended) = ended {
            ending = self.tell(Msg::Ran(purpose, ended));
        }
        Ok(ending)
    }

    /// Draws the screen, again if what was measured moved something.
    pub fn draw(&mut self, canvas: &mut impl Canvas) -> std::io::Result<()> {
        // What was measured may move what is shown; the second drawing then measures the same.
        for _ in 0..2 {
            let viewport = canvas.draw(&self.model, clock::precise_now())?;
            let before = self.model.screen.viewport;
            for effect in measured(&mut self.model, viewport) {
                self.performer.perform(effect);
            }
            if viewport == before {
                break;
            }
        }
        Ok(())
    }

    /// The next message, or a tick when it is time for one.
    async fn next(&mut self) -> Msg {
        let now = clock::precise_now();
        let pause = self.model.next_wake(now).signed_duration_since(now);
        let pause = pause.to_std().unwrap_or(Duration::ZERO).max(Duration::from_millis(1));
        tokio::select! {
            biased;
            msg = self.messages.recv() => msg.unwrap_or(Msg::Stop),
            () = tokio::time::sleep(pause) => Msg::Tick,
        }
    }

    /// Lets the model take a message and performs what it asks for.
    pub fn tell(&mut self, msg: Msg) -> Option<Ending> {
        let now: DateTime<Utc> = clock::precise_now();
        let mut ending = None;
        let woke = self.watch.slept().then(|| update(&mut self.model, now, Msg::Woke));
        let effects = woke.into_iter().flatten();
        for effect in effects.chain(update(&mut self.model, now, msg)) {
            if let Effect::Run(errand) = effect {
                self.run(*errand);
            } else {
                ending = self.performer.perform(effect).or(ending);
            }
        }
        ending
    }

    /// Starts a command; one that needs the terminal waits for it.
    fn run(&mut self, errand: Errand) {
        if errand.command.on_terminal {
            self.errands.push_back(errand);
        } else {
            self.performer.perform(Effect::Run(Box::new(errand)));
        }
    }

    /// Finishes all writing and gives the store back. An error says what could not be kept after all.
    pub fn stop(mut self) -> Result<Store, StartError> {
        let store = self.performer.stop().map_err(StartError::System)?;
        // What was told too late to be shown is told now.
        while let Ok(msg) = self.messages.try_recv() {
            if let Msg::StoreFailed(why)
            | Msg::Unsaved(why)
            | Msg::CommitFailed { why, .. }
            | Msg::RecordsNotSaved(why) = msg
            {
                return Err(StartError::System(why));
            }
        }
        Ok(store)
    }
}

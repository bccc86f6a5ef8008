//! The one loop: an input comes, the program changes, effects are performed, the screen is drawn.
//!
//! Everything that happens comes through one channel, so that it has one order. The clock is read here and
//! passed on; below this folder nobody knows the time. The same loop runs the engine alone ([`Headless`], for commands)
//! and the engine behind a screen ([`App`]).

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::clock::{self, SleepWatch, ZoneWatch};
use super::headless::Headless;
use super::log::{log_effect, log_input};
use super::moved_logins::move_logins;
use super::performing::{Ending, Performer};
use super::program::Program;
use super::screen_place_file;
use super::store::{LoadedSubscriptions, Store, StoreError, mended_unseen};
use super::visits::{Hand, Host, Visit, Watcher};
use crate::engine::effect::Effect;
use crate::engine::event::Event;
use crate::engine::external::external_run::ExternalRun;
use crate::engine::input::Input;
use crate::engine::request::Request;
use crate::engine::settings::Settings;
use crate::engine::state::Engine;
use crate::io::system::memory::{self, MemoryReturns};
use crate::io::system::words::system_words;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::input::ScreenInput;
use crate::ui::settings::ScreenSettings;

/// Inputs taken before the screen is drawn again.
const INPUTS_A_FRAME: usize = 256;
/// Visits of other hands taken between two frames.
const VISITS_A_FRAME: usize = 8;

/// The program at work.
pub struct Runtime<P> {
    /// All the state.
    pub program: P,
    pub(super) performer: Performer,
    sender: UnboundedSender<ScreenInput>,
    inputs: UnboundedReceiver<ScreenInput>,
    watch: SleepWatch,
    zone: ZoneWatch,
    memory: MemoryReturns,
    /// Commands that wait for the terminal.
    pub(super) external_runs: VecDeque<ExternalRun>,
    /// Where other hands' visits go in.
    visitors: UnboundedSender<Visit>,
    visits: UnboundedReceiver<Visit>,
    /// Those who look on after each input.
    watchers: Vec<Watcher>,
    /// What a visit wants the loop to end with.
    ending: Option<Ending>,
}

impl<P: std::fmt::Debug> std::fmt::Debug for Runtime<P> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Runtime").field("program", &self.program).finish_non_exhaustive()
    }
}

/// What the loop takes next.
pub(super) enum Happening {
    /// Something happened.
    Input(ScreenInput),
    /// Another hand does something.
    Visit(Visit),
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

/// What the store holds, as an engine; and a sentence for each subscription that cannot be read completely.
pub fn load_engine(
    store: &Store,
    settings: Settings,
    now: DateTime<Utc>,
) -> Result<(Engine, Vec<String>), StoreError> {
    let salt = store.salt(clock::chance())?;
    let LoadedSubscriptions { saved, unreadable } = store.load_subscriptions()?;
    let mut engine = Engine::new(settings, clock::zone(), salt, saved, now);
    engine.last_feed = store.last_feed()?;
    engine.take_saved(store.saved_searches()?, store.saved_filters()?);
    engine.take_undo(store.saved_steps()?, store.ended_subscriptions()?, now);
    Ok((engine, unreadable))
}

impl Runtime<Headless> {
    /// Loads the engine and starts the thread of the store. Needs a tokio runtime around it.
    pub fn headless(mut store: Store, mut settings: Settings) -> Result<Self, StartError> {
        move_logins(&mut store, &mut settings)?;
        let (engine, _) = load_engine(&store, settings, clock::precise_now())?;
        Self::start(store, Headless::new(engine))
    }
}

impl Runtime<App> {
    /// Loads the engine with a screen before it. Needs a tokio runtime around it.
    pub fn with_screen(
        mut store: Store,
        mut settings: Settings,
        screen: ScreenSettings,
    ) -> Result<Self, StartError> {
        move_logins(&mut store, &mut settings)?;
        let (engine, unreadable) = load_engine(&store, settings, clock::precise_now())?;
        let mut app = App::new(engine, screen);
        app.ui.feeds.folded = store.folded()?;
        app.engine.mended = mended_unseen(store.folder());
        app.ui.returns_to = screen_place_file::load(store.folder()).map(Box::new);
        crate::ui::panes::feeds_pane::rebuild_rows(&mut app);
        if let [first, ..] = unreadable.as_slice() {
            let text =
                format!("{} of the subscriptions cannot be read whole: {first}", unreadable.len());
            app.ui.complain(clock::precise_now(), text);
        }
        Self::start(store, app)
    }
}

impl<P: Program> Runtime<P> {
    fn start(store: Store, program: P) -> Result<Self, StartError> {
        let network = program.engine().settings.network.clone();
        let (sender, inputs) = unbounded_channel();
        let performer = Performer::start(store, network, sender.clone()).map_err(|error| {
            StartError::System(format!("no thread for the store: {}", system_words(&error)))
        })?;
        let (visitors, visits) = unbounded_channel();
        Ok(Self {
            program,
            performer,
            sender,
            inputs,
            watch: SleepWatch::start(),
            zone: ZoneWatch::start(),
            memory: MemoryReturns::new(clock::instant()),
            external_runs: VecDeque::new(),
            visitors,
            visits,
            watchers: Vec::new(),
            ending: None,
        })
    }

    /// Makes the client for what is fetched before it is needed: what is wrong with its settings is told soon.
    pub fn prepare_network(&mut self) -> Result<(), StartError> {
        self.performer.http().map(drop).map_err(StartError::System)
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        self.performer.folder()
    }

    /// How commands reach this loop and its store.
    pub fn hand(&self) -> Hand {
        Hand::new(self.visitors.clone(), self.performer.store_handle())
    }

    /// Where inputs go in.
    pub fn sender(&self) -> UnboundedSender<ScreenInput> {
        self.sender.clone()
    }

    /// Asks the program for something.
    pub fn ask(&mut self, request: Request) -> Option<Ending> {
        self.tell(Input::Request(request))
    }

    /// Works until `done`, or until the program is told to stop (`false`).
    pub async fn until(&mut self, mut done: impl FnMut(&mut P) -> bool) -> bool {
        self.tell(Input::Tick);
        while !done(&mut self.program) {
            let next = self.next().await;
            if self.take_happening(next).is_some() {
                return false;
            }
        }
        true
    }

    /// Works until the program is told to end. `look` sees it after each input.
    pub async fn until_ended(&mut self, mut look: impl FnMut(&mut P)) -> Ending {
        self.tell(Input::Tick);
        loop {
            look(&mut self.program);
            let next = self.next().await;
            if let Some(ending) = self.take_happening(next) {
                return ending;
            }
        }
    }

    /// Waits for what happens next and takes what has happened by then, as the loop does between two frames. `false`:
    /// the program is told to stop.
    pub async fn until_next_frame(&mut self) -> bool {
        let next = self.next().await;
        self.take_happening(next).is_none()
    }

    /// Takes what happened, and visits that wait: keys and inputs come first, but must not keep other hands waiting.
    pub(super) fn take_happening(&mut self, happening: Happening) -> Option<Ending> {
        let mut ending = match happening {
            Happening::Input(input) => self.take(input),
            Happening::Visit(visit) => self.receive(visit),
        };
        for _ in 0..VISITS_A_FRAME {
            if ending.is_some() {
                break;
            }
            let Ok(visit) = self.visits.try_recv() else { break };
            ending = self.receive(visit);
        }
        ending
    }

    fn receive(&mut self, visit: Visit) -> Option<Ending> {
        // Whoever waited until something is written comes after the answer that says whether it is.
        for _ in 0..self.inputs.len() {
            let Ok(input) = self.inputs.try_recv() else { break };
            if let Some(ending) = self.tell(input) {
                return Some(ending);
            }
        }
        visit(self);
        self.show_watchers();
        self.ending.take()
    }

    /// Lets those who look on see what was told since they looked last.
    fn show_watchers(&mut self) {
        if !self.watchers.is_empty() {
            let told = self.program.engine_mut().copied_events();
            self.show(&told);
        }
    }

    fn show(&mut self, told: &[Event]) {
        let engine = self.program.engine();
        self.watchers.retain_mut(|watcher| !watcher(engine, told));
        let watched = !self.watchers.is_empty();
        self.program.engine_mut().copies_events(watched);
    }

    /// Takes an input and those that wait behind it or come of it at once.
    pub fn take(&mut self, input: ScreenInput) -> Option<Ending> {
        let mut ending = self.tell(input);
        for _ in 0..INPUTS_A_FRAME {
            let Ok(input) = self.inputs.try_recv() else { break };
            match self.tell(input) {
                // Who stops the program wants it to end now.
                Some(Ending::Stop) => return Some(Ending::Stop),
                next => ending = ending.or(next),
            }
        }
        ending
    }

    /// The next input, or a tick when it is time for one.
    pub(super) async fn next(&mut self) -> Happening {
        let now = clock::precise_now();
        let pause = self.program.engine().next_wake(now).signed_duration_since(now);
        let pause = pause.to_std().unwrap_or(Duration::ZERO).max(Duration::from_millis(1));
        let rest = self.memory.due().map(|due| due.saturating_duration_since(clock::instant()));
        let pause = rest.map_or(pause, |rest| rest.min(pause));
        tokio::select! {
            biased;
            input = self.inputs.recv() => {
                Happening::Input(input.unwrap_or(Input::Request(Request::Stop).into()))
            }
            Some(visit) = self.visits.recv() => Happening::Visit(visit),
            () = tokio::time::sleep(pause) => Happening::Input(Input::Tick.into()),
        }
    }

    /// Lets the program take an input and performs what it asks for; those who look on see what came of it.
    pub fn tell(&mut self, input: impl Into<ScreenInput>) -> Option<Ending> {
        let ending = self.tell_alone(input);
        self.show_watchers();
        ending
    }

    fn tell_alone(&mut self, input: impl Into<ScreenInput>) -> Option<Ending> {
        let now: DateTime<Utc> = clock::precise_now();
        let mut effects = Vec::new();
        let input = input.into();
        log_input(&input);
        if !matches!(input, ScreenInput::Engine(Input::Tick)) {
            self.memory.note_work();
        }
        if self.memory.is_time(clock::instant()) {
            memory::give_back();
        }
        if self.watch.jumped() {
            effects.extend(self.program.take(now, Input::Woke.into()));
        }
        if let Some(zone) = self.zone.changed() {
            effects.extend(self.program.take(now, Input::ZoneChanged(zone).into()));
        }
        effects.extend(self.program.take(now, input));
        let mut ending = None;
        for effect in effects {
            log_effect(&effect);
            if let ScreenEffect::Engine(Effect::Run(run)) = effect {
                self.run(*run);
            } else {
                ending = self.performer.perform(effect).or(ending);
            }
        }
        ending
    }

    /// Starts a command; one that needs the terminal waits for it.
    fn run(&mut self, run: ExternalRun) {
        if run.command.on_terminal {
            self.external_runs.push_back(run);
        } else {
            self.performer.perform(Effect::Run(Box::new(run)).into());
        }
    }

    /// Finishes all writing and gives the store back. An error says what could not be kept after all.
    pub fn stop(mut self) -> Result<Store, StartError> {
        let store = self.performer.stop().map_err(StartError::System)?;
        // What was told too late to be shown is told now.
        while let Ok(input) = self.inputs.try_recv() {
            if let ScreenInput::Engine(Input::Stored(stored)) = input
                && let Err(why) = stored.result
                && stored.subject.is_kept()
            {
                return Err(StartError::System(why.text));
            }
        }
        Ok(store)
    }
}

impl<P: Program> Host for Runtime<P> {
    fn engine(&self) -> &Engine {
        self.program.engine()
    }

    fn ask(&mut self, request: Request, offline: bool) -> Vec<Event> {
        // Those who look on see the same events, once each.
        self.show_watchers();
        let engine = self.program.engine_mut();
        let before = engine.offline;
        engine.offline |= offline;
        // Only a key that is pressed twice confirms a poll that a server asked not to make.
        let confirming = engine.confirming.take();
        engine.copies_events(true);
        let ending = self.tell_alone(Input::Request(request));
        let engine = self.program.engine_mut();
        (engine.offline, engine.confirming) = (before, confirming);
        let told = engine.copied_events();
        self.ending = self.ending.or(ending);
        self.show(&told);
        told
    }

    fn watch(&mut self, mut watcher: Watcher) {
        if !watcher(self.program.engine(), &[]) {
            self.watchers.push(watcher);
            self.program.engine_mut().copies_events(true);
        }
    }

    fn end(&mut self, ending: Ending) {
        self.ending = Some(ending);
    }
}

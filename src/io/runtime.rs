//! The main loop: an input arrives, the program changes, effects are performed, the screen is drawn.
//!
//! All inputs arrive through one channel, so their order is defined. The main loop reads the clock and passes the time to the
//! program. No code outside `src/io` reads the clock. The same loop runs the engine alone ([`Headless`], for commands) and the
//! engine with a screen ([`App`]).

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::clock::{self, SleepWatch, ZoneWatch};
use super::headless::Headless;
use super::http::Http;
use super::log::{log_effect, log_input};
use super::loop_handle::{Host, LoopHandle, Visit, Watcher};
use super::performing::{Ending, Performer};
use super::processes::browser;
use super::program::Program;
use super::screen_place_file;
use super::store::{LoadedSubscriptions, Store, StoreError, mended_unseen};
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
use backissue_core::InputFlaw;

/// Maximum number of inputs handled between two drawings of the screen.
const INPUTS_A_FRAME: usize = 256;
/// Maximum number of visits from other threads handled between two frames.
const VISITS_A_FRAME: usize = 8;

/// A running program with its main loop.
pub struct Runtime<P> {
    /// The program with its complete state.
    pub program: P,
    pub(super) performer: Performer,
    sender: UnboundedSender<ScreenInput>,
    inputs: UnboundedReceiver<ScreenInput>,
    watch: SleepWatch,
    zone: ZoneWatch,
    memory: MemoryReturns,
    /// Commands of the user that wait until they can use the terminal.
    pub(super) external_runs: VecDeque<ExternalRun>,
    /// Sender for visits from other threads.
    visitors: UnboundedSender<Visit>,
    visits: UnboundedReceiver<Visit>,
    /// Watchers to call after each input.
    watchers: Vec<Watcher>,
    /// The reason to end the main loop, if a visit requested the end.
    ending: Option<Ending>,
}

impl<P: std::fmt::Debug> std::fmt::Debug for Runtime<P> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Runtime").field("program", &self.program).finish_non_exhaustive()
    }
}

/// The next item for the main loop to handle.
pub(super) enum Happening {
    /// An input.
    Input(ScreenInput),
    /// A visit from another thread.
    Visit(Visit),
}

/// The reason why the program cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An error of the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An error of the HTTP client, a thread or the terminal.
    #[error("{0}")]
    System(String),
}

/// Loads the engine from the store. Also returns a sentence for each subscription that cannot be read completely.
pub fn load_engine(
    store: &mut Store,
    settings: Settings,
    now: DateTime<Utc>,
) -> Result<(Engine, Vec<String>), StoreError> {
    store.guarded(|store| load_guarded(store, settings, now))
}

fn load_guarded(
    store: &mut Store,
    settings: Settings,
    now: DateTime<Utc>,
) -> Result<(Engine, Vec<String>), StoreError> {
    let salt = store.salt(clock::chance())?;
    let LoadedSubscriptions { saved, unreadable } = store.load_subscriptions()?;
    let mut engine = Engine::new(settings, clock::zone(), salt, saved, now);
    engine.last_feed = store.last_feed()?;
    engine.take_saved(store.saved_searches()?, store.saved_filters()?);
    engine.take_downloads(store.downloads()?);
    engine.take_undo(store.saved_steps()?, store.ended_subscriptions()?, now);
    Ok((engine, unreadable))
}

impl Runtime<Headless> {
    /// Loads the engine and starts the store thread. Must be called within a tokio runtime.
    pub fn headless(mut store: Store, settings: Settings) -> Result<Self, StartError> {
        let (engine, _) = load_engine(&mut store, settings, clock::precise_now())?;
        Self::start(store, Headless::new(engine))
    }
}

impl Runtime<App> {
    /// Loads the engine with a screen. Must be called within a tokio runtime.
    pub fn with_screen(
        mut store: Store,
        settings: Settings,
        screen: ScreenSettings,
    ) -> Result<Self, StartError> {
        let (engine, unreadable) = load_engine(&mut store, settings, clock::precise_now())?;
        let mut app = App::new(engine, screen);
        app.ui.feeds.folded = store.folded()?;
        app.engine.mended = mended_unseen(store.folder());
        app.ui.returns_to = screen_place_file::load(store.folder()).map(Box::new);
        crate::ui::panes::feeds_pane::rebuild_rows(&mut app);
        if let [first, ..] = unreadable.as_slice() {
            let text =
                format!("{} of the subscriptions cannot be fully read: {first}", unreadable.len());
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
            StartError::System(format!(
                "the store's thread could not be started: {}",
                system_words(&error)
            ))
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

    /// Creates the HTTP client before its first use, to report errors in its settings early.
    pub fn prepare_network(&mut self) -> Result<(), StartError> {
        self.performer.http().map(drop).map_err(|why| StartError::System(why.into()))
    }

    /// Returns the data folder.
    pub fn folder(&self) -> &Path {
        self.performer.folder()
    }

    /// Returns a handle through which commands reach this loop and its store.
    pub fn hand(&self) -> LoopHandle {
        LoopHandle::new(self.visitors.clone(), self.performer.store_handle())
    }

    /// Returns the sender for inputs.
    pub fn sender(&self) -> UnboundedSender<ScreenInput> {
        self.sender.clone()
    }

    /// Sends the program a request.
    pub fn ask(&mut self, request: Request) -> Option<Ending> {
        self.tell(Input::Request(request))
    }

    /// Runs the main loop until `done` returns `true`. Returns `false` if the loop ends first.
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

    /// Runs the main loop until it ends. `look` inspects the program after each input.
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

    /// Waits for the next input and handles all pending inputs that would be handled between two frames. Returns `false` if the
    /// loop ends.
    pub async fn until_next_frame(&mut self) -> bool {
        let next = self.next().await;
        self.take_happening(next).is_none()
    }

    /// Handles an item, and then some waiting visits. Keys and inputs are handled first, but must not delay visits for long.
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
        // Handle the pending inputs before the visits, because a visit that waited for a write must run after the input that
        // reports the result of the write.
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

    /// Passes the events since the last call to the watchers.
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

    /// Handles an input, then the pending inputs, including inputs that result from them.
    pub fn take(&mut self, input: ScreenInput) -> Option<Ending> {
        let mut ending = self.tell(input);
        for _ in 0..INPUTS_A_FRAME {
            let Ok(input) = self.inputs.try_recv() else { break };
            match self.tell(input) {
                // A stop takes effect at once.
                Some(Ending::Stop) => return Some(Ending::Stop),
                next => ending = ending.or(next),
            }
        }
        ending
    }

    /// Waits for the next input or visit, or for the time of the next tick.
    pub(super) async fn next(&mut self) -> Happening {
        let now = clock::precise_now();
        let pause = self.program.next_wake(now).signed_duration_since(now);
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

    /// Passes an input to the program, performs the effects, and notifies the watchers.
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
            } else if let ScreenEffect::Engine(Effect::Open(address)) = effect {
                match browser::in_browser(&address) {
                    Ok(run) => self.run(run),
                    Err(why) => {
                        ending = self.tell_alone(Input::Trouble(why.to_string())).or(ending);
                    }
                }
            } else {
                ending = self.performer.perform(effect).or(ending);
            }
        }
        ending
    }

    /// Starts a command of the user. A command that needs the terminal is queued.
    fn run(&mut self, mut run: ExternalRun) {
        if !self.performer.prepare_player(&mut run) {
            return;
        }
        if run.command.on_terminal {
            self.external_runs.push_back(run);
        } else {
            self.performer.perform(Effect::Run(Box::new(run)).into());
        }
    }

    /// Finishes all writes and returns the store. The error is a sentence about data that could not be saved.
    pub fn stop(mut self) -> Result<Store, StartError> {
        let store = self.performer.stop().map_err(StartError::System)?;
        // Errors that arrived too late for the screen are returned here.
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

    fn complain(&mut self, why: String) {
        self.ending = self.tell_alone(Input::Trouble(why)).or(self.ending);
    }

    fn http(&mut self) -> Result<Arc<Http>, InputFlaw> {
        self.performer.http()
    }

    fn ask(&mut self, request: Request, offline: bool) -> Vec<Event> {
        // Pass the earlier events to the watchers before the request causes new ones, so that they see each event once.
        self.show_watchers();
        let engine = self.program.engine_mut();
        let before = engine.offline;
        engine.offline |= offline;
        // Remove the question whether to poll although the server asked for a delay. Only a user who presses the key twice can
        // confirm such a poll; a command cannot.
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

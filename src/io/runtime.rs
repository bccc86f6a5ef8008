//! The main loop: an input arrives, the program changes, effects are performed, the screen is drawn.
//!
//! All inputs arrive through one channel, so their order is defined. The main loop reads the clock and passes the time to the
//! program. No code outside `src/io` reads the clock. The same loop runs the engine alone ([`Headless`], for commands) and the
//! engine with a screen ([`App`]).
//!
//! The program in the loop is the engine, with or without a screen.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use backissue_core::InputFlaw;
use chrono::{DateTime, Utc};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::clock::{self, SleepWatch, ZoneWatch};
use super::devices::DevicePort;
use super::devices::front::read_address;
use super::http::Http;
use super::log::{log_effect, log_input};
use super::loop_handle::{Host, LoopHandle, Visit, Watcher};
use super::performing::{Ending, Performer};
use super::private_files::replace_private;
use super::processes::run_command;
use super::regular_files;
use super::store::{FeedsWanted, LoadedSubscriptions, Store, StoreError, mended_unseen};
use crate::engine::entries::interest::Interest;
use crate::engine::external_run::ExternalRun;
use crate::engine::request::{Effect, Event, Input, NoticeLevel, Request};
use crate::engine::settings::Settings;
use crate::engine::state::Engine;
use crate::engine::update::{self as engine_update, next_wake};
use crate::io::system::{self, MemoryReturns, system_words};
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::reader::reading_position::due;
use crate::ui::settings::ScreenSettings;
use crate::ui::state::feeds_pane::ScreenPlace;
use crate::ui::update::{Reconfigured, ScreenInput, update};

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
    /// The port at which devices are served, if the user opened it on the screen.
    pub port: Option<DevicePort>,
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
    store.guarded(|store| load_guarded(store, settings, now, FeedsWanted::All))
}

fn load_guarded(
    store: &mut Store,
    settings: Settings,
    now: DateTime<Utc>,
    wanted: FeedsWanted,
) -> Result<(Engine, Vec<String>), StoreError> {
    let salt = store.salt(clock::chance())?;
    let LoadedSubscriptions { saved, unreadable } = store.load_subscriptions(wanted)?;
    let mut engine = Engine::new(settings, clock::zone(), salt, saved, now);
    engine.last_feed = store.last_feed()?;
    let ended = store.ended_lately()?.len();
    engine.ended_this_week = u32::try_from(ended).unwrap_or(u32::MAX);
    engine.interest = load_interest(store.folder());
    engine.take_saved(store.saved_searches()?, store.saved_filters()?);
    let devices = store.device_records()?.into_iter();
    engine.held_removals = devices.map(|(name, record)| (name, record.held)).collect();
    engine.take_downloads(store.downloads()?);
    engine.take_undo(store.saved_steps()?, store.ended_subscriptions()?, now);
    Ok((engine, unreadable))
}

impl Runtime<Headless> {
    /// Loads the engine with these subscriptions and starts the store thread. Must be called within a tokio runtime.
    pub fn headless(
        mut store: Store,
        settings: Settings,
        wanted: FeedsWanted,
    ) -> Result<Self, StartError> {
        let load = |store: &mut Store| load_guarded(store, settings, clock::precise_now(), wanted);
        let (engine, _) = store.guarded(load)?;
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
        let (mut engine, unreadable) = load_engine(&mut store, settings, clock::precise_now())?;
        engine.mended = mended_unseen(store.folder());
        let mut app = App::with_folded(engine, screen, store.folded()?);
        app.ui.returns_to = load(store.folder()).map(Box::new);
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
            port: None,
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
    pub fn handle(&self) -> LoopHandle {
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
            system::give_back();
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
                match run_command::in_browser(&address) {
                    Ok(run) => self.run(run),
                    Err(why) => {
                        ending = self.tell_alone(Input::Trouble(why.to_string())).or(ending);
                    }
                }
            } else if let ScreenEffect::Serve(typed) = effect {
                let told = self.serve(typed.as_deref());
                let at = self.port.as_ref().map(|port| port.base.clone());
                ending = self.tell_alone(ScreenInput::Serving(at, told)).or(ending);
            } else {
                ending = self.performer.perform(effect).or(ending);
            }
        }
        ending
    }

    /// Opens the port for devices, or closes it if there is no address. Returns a message for the user. The error is a sentence.
    fn serve(&mut self, typed: Option<&str>) -> Result<String, InputFlaw> {
        let Some(typed) = typed else {
            self.port = None;
            return Ok("devices are served no longer".to_owned());
        };
        let (settings, address) = (&self.program.engine().settings, read_address(typed)?);
        let port = DevicePort::open(settings, self.folder().to_owned(), address)?;
        port.server.has_store(Some(self.handle()));
        let places = format!("devices: {} · browsers: {}/", port.api(), port.base);
        let told = std::iter::once(places.as_str()).chain(port.notes.iter().copied());
        let told = told.collect::<Vec<_>>().join(" · ");
        self.port = Some(port);
        Ok(told)
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

/// A program for the main loop.
pub trait Program {
    /// Handles an input. Returns the effects to perform.
    fn take(&mut self, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect>;

    /// Returns the time at which the program needs a tick, if no other input arrives before.
    fn next_wake(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        next_wake(self.engine(), now)
    }

    /// Returns the engine.
    fn engine(&self) -> &Engine;

    /// Returns the engine, so that the main loop can set some of its values directly.
    fn engine_mut(&mut self) -> &mut Engine;
}

impl Program for App {
    fn take(&mut self, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect> {
        update(self, now, input)
    }

    fn next_wake(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        let engine = next_wake(&self.engine, now);
        due(self).map_or(engine, |due| due.min(engine))
    }

    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

impl Program for Headless {
    fn take(&mut self, now: DateTime<Utc>, input: ScreenInput) -> Vec<ScreenEffect> {
        let input = match input {
            ScreenInput::Engine(input) => input,
            ScreenInput::Reconfigured(read) => match *read {
                Reconfigured::Read { settings, notes, .. } => {
                    for note in notes {
                        self.keep_notice(Event::trouble(note));
                    }
                    Input::Reconfigured(settings)
                }
                Reconfigured::Wrong(why) => Input::Trouble(why),
            },
            // Ignore the inputs that matter only with a screen.
            ScreenInput::Key(_)
            | ScreenInput::Pasted(_)
            | ScreenInput::Mouse(_)
            | ScreenInput::Resized(..)
            | ScreenInput::Focused(_)
            | ScreenInput::Ground(_)
            | ScreenInput::Suspend
            | ScreenInput::Continued(..)
            | ScreenInput::NoShell
            | ScreenInput::Rendered(_)
            | ScreenInput::Picture(_)
            | ScreenInput::Graphics(_)
            | ScreenInput::FilterPreviewed(..)
            | ScreenInput::AccountAdded(_)
            | ScreenInput::ListRead(_)
            | ScreenInput::Told(_)
            | ScreenInput::Serving(..)
            | ScreenInput::PathCompleted { .. } => return Vec::new(),
        };
        Self::take(self, now, input).into_iter().map(Into::into).collect()
    }

    fn engine(&self) -> &Engine {
        &self.engine
    }

    fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

/// Maximum number of messages that are kept; beyond that the oldest are dropped.
const NOTICES_MAX: usize = 1000;

/// The engine without a screen, and its messages since the last call to [`Headless::notices`].
#[derive(Debug)]
pub struct Headless {
    /// The engine.
    pub engine: Engine,
    notices: VecDeque<(NoticeLevel, String)>,
}

impl Headless {
    /// Passes an input to the engine and returns the effects to perform. Messages for the user are kept.
    pub(super) fn take(&mut self, now: DateTime<Utc>, input: Input) -> Vec<Effect> {
        let output = engine_update::update(&mut self.engine, now, input);
        for event in output.events {
            self.keep_notice(event);
        }
        output.effects
    }

    /// Creates a program without messages.
    pub const fn new(engine: Engine) -> Self {
        Self { engine, notices: VecDeque::new() }
    }

    /// Keeps the message of an event, if the event has one. All other events are ignored, because commands query the engine
    /// instead.
    pub(super) fn keep_notice(&mut self, event: Event) {
        let notice = if let Event::Notice { level, text, .. } = event {
            (level, text)
        } else if let Event::Refused(text) = event {
            (NoticeLevel::Trouble, text)
        } else {
            return;
        };
        if self.notices.len() >= NOTICES_MAX {
            self.notices.pop_front();
        }
        self.notices.push_back(notice);
    }

    /// Takes the messages since the last call, in order.
    pub fn notices(&mut self) -> Vec<(NoticeLevel, String)> {
        std::mem::take(&mut self.notices).into()
    }
}

/// Maximum size of the file, bytes. The file usually has a few hundred bytes.
const BYTES_MAX: u64 = 64 * 1024;

/// Maximum size in bytes of the file with the counts of what was read: eight weeks of thousands of feeds.
const INTEREST_BYTES_MAX: u64 = 64 * 1024 * 1024;

fn path_in(folder: &Path) -> PathBuf {
    folder.join("screen.json")
}

fn interest_path(folder: &Path) -> PathBuf {
    folder.join("interest.json")
}

/// Loads the counts of what the user read. If the file is missing or unreadable, the counts are empty.
fn load_interest(folder: &Path) -> Interest {
    let text = regular_files::read(&interest_path(folder), INTEREST_BYTES_MAX).ok();
    text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// Saves the counts of what the user read. If they are empty, deletes the file.
pub(super) fn save_interest(folder: &Path, interest: &Interest) -> io::Result<()> {
    if interest.is_empty() {
        return fs::remove_file(interest_path(folder));
    }
    replace_private(&interest_path(folder), &serde_json::to_vec(interest)?)
}

/// Loads the position on the screen. Returns `None` if no position is saved or the file is unreadable.
pub(super) fn load(folder: &Path) -> Option<ScreenPlace> {
    let text = regular_files::read(&path_in(folder), BYTES_MAX).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Saves the position on the screen.
pub(super) fn save(folder: &Path, place: &ScreenPlace) -> io::Result<()> {
    replace_private(&path_in(folder), &serde_json::to_vec(place)?)
}

/// Deletes the saved position.
pub(super) fn forget(folder: &Path) {
    fs::remove_file(path_in(folder)).ok();
}

#[cfg(test)]
mod tests {
    use crate::io::runtime::*;

    fn headless() -> Headless {
        let settings = Settings::default();
        let now = DateTime::UNIX_EPOCH;
        Headless::new(Engine::new(settings, chrono_tz::Tz::UTC, 0, Vec::new(), now))
    }

    #[test]
    fn only_sentences_are_kept_until_they_are_taken() {
        let mut headless = headless();
        headless.keep_notice(Event::info("one"));
        headless.keep_notice(Event::PlansChanged);
        headless.keep_notice(Event::Refused("two".into()));
        let told = headless.notices();
        let expected = [(NoticeLevel::Info, "one"), (NoticeLevel::Trouble, "two")];
        assert_eq!(told, expected.map(|(level, text)| (level, text.to_owned())));
        assert_eq!(headless.notices(), []);
    }

    #[test]
    fn oldest_sentences_are_dropped_beyond_the_limit() {
        let mut headless = headless();
        for number in 0..=NOTICES_MAX {
            headless.keep_notice(Event::info(number.to_string()));
        }
        let told = headless.notices();
        assert_eq!((told.len(), told[0].1.as_str()), (NOTICES_MAX, "1"));
    }
}

#[cfg(test)]
mod screen_place_file_tests {
    use super::*;
    use crate::engine::entries::interest::Reading;
    use crate::ui::state::feeds_pane::PlaceList;
    use backissue_core::history::{EntryKey, FeedKey};

    #[test]
    fn screen_place_round_trips_and_damaged_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(load(folder.path()), None);
        let place = ScreenPlace {
            list: PlaceList::Tag("garden/fruit".into()),
            entry: Some(EntryKey { feed: FeedKey(3), seq: 9 }),
            is_open: true,
            ..ScreenPlace::default()
        };
        save(folder.path(), &place).unwrap();
        assert_eq!(load(folder.path()), Some(place));
        fs::write(folder.path().join("screen.json"), "{\"list\":{\"feed\":7}}").unwrap();
        let known = load(folder.path()).map(|place| place.list);
        assert_eq!(known, Some(PlaceList::Feed(FeedKey(7))), "what is left out is as usual");
        for damaged in ["{", "[1]", "{\"list\":\"elsewhere\"}"] {
            fs::write(folder.path().join("screen.json"), damaged).unwrap();
            assert_eq!(load(folder.path()), None, "{damaged}");
        }
        forget(folder.path());
        assert_eq!(load(folder.path()), None);
    }

    #[test]
    fn counts_of_what_was_read_round_trip_and_are_deleted() {
        let folder = tempfile::tempdir().unwrap();
        assert!(load_interest(folder.path()).is_empty());
        let mut interest = Interest::default();
        interest.count(FeedKey(3), 100, Reading::Opened);
        save_interest(folder.path(), &interest).unwrap();
        assert_eq!(load_interest(folder.path()), interest);
        save_interest(folder.path(), &Interest::default()).unwrap();
        assert!(!folder.path().join("interest.json").exists());
    }
}

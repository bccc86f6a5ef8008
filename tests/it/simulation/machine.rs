//! The machine on which the program runs: clocks, network and main loop.
//!
//! There are two clocks: the true time, which publishers use, and the machine's wall clock, which may be set.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use backissue::engine::poll::fetch::{FetchFailure, FetchRequest, Fetched};
use backissue::engine::request::{Effect, Input};
use backissue::engine::state::Engine;
use backissue::engine::update::update as engine_update;
use backissue::io::runtime::load_engine;
use backissue::ui::app::App;
use backissue::ui::effect::ScreenEffect;
use backissue::ui::settings::ScreenSettings;
use backissue::ui::update::{ScreenInput, begin, update};
use backissue_core::history::FeedKey;
use chrono::{DateTime, TimeDelta, Utc};

use super::acts::{Act, acts};
use super::checks::Checks;
use super::keeper::{Done, Keeper};
use super::publishers::Publisher;
use super::scenario::Scenario;
use super::story::Story;
use crate::support::answers::{learned, rendered};
use crate::support::dice::Dice;
use crate::support::store_port::Stored;

/// Time after which the simulated loop wakes when the engine has no deadline; the real program wakes after half a minute.
const IDLE: TimeDelta = TimeDelta::minutes(20);

/// Columns and rows of the terminal.
pub const SIZE: (u16, u16) = (100, 30);

/// The whole simulation: the program, its store, its machine and the publishers.
#[expect(clippy::struct_excessive_bools, reason = "each is a state that the machine is in, or not")]
pub struct Machine {
    pub scenario: Scenario,
    pub app: App,
    /// Whether a person uses the screen; if not, the engine runs alone, as in `backissue watch`.
    pub has_screen: bool,
    pub keeper: Keeper,
    /// The time on the publishers' clock.
    pub real: DateTime<Utc>,
    /// True time at which the program last received an input.
    told: DateTime<Utc>,
    /// Difference between the wall clock and true time.
    ahead: TimeDelta,
    press: Vec<Publisher>,
    fetches: BTreeMap<(DateTime<Utc>, u64), UnderWay>,
    pub acts: VecDeque<(DateTime<Utc>, Act)>,
    away_until: DateTime<Utc>,
    pub disk_full: bool,
    /// Whether the disk has been full at any time since the program started.
    pub disk_was_full: bool,
    /// Whether a person quit the program or another process requested its end.
    pub stopped: bool,
    /// Whether the wall clock jumped ahead, which the program must learn before its next input.
    woke: bool,
    pub dice: Dice,
    pub story: Story,
    pub checks: Checks,
    /// Description of the first failure that a check found.
    pub failed: Option<String>,
    /// Number of inputs the program received.
    pub steps: u64,
}

/// A request that was sent and has no answer yet.
struct UnderWay {
    request: FetchRequest,
    fetched: Fetched,
}

impl Machine {
    pub fn new(scenario: Scenario) -> Self {
        let real = scenario.start();
        let mut keeper = Keeper::new();
        keeper.store().salt(scenario.seed).unwrap();
        let engine = load(&mut keeper, &scenario, real);
        let acts = acts(&scenario).into();
        let (press, dice) = (scenario.press(), scenario.dice("machine"));
        Self {
            app: App::new(engine, ScreenSettings::default()),
            has_screen: true,
            keeper,
            real,
            told: real,
            ahead: TimeDelta::zero(),
            press,
            fetches: BTreeMap::new(),
            acts,
            away_until: real,
            disk_full: false,
            disk_was_full: false,
            stopped: false,
            woke: false,
            dice,
            story: Story::default(),
            checks: Checks::new(real),
            failed: None,
            steps: 0,
            scenario,
        }
    }

    /// Returns the wall-clock time.
    pub fn now(&self) -> DateTime<Utc> {
        self.real + self.ahead
    }

    pub fn engine(&self) -> &Engine {
        &self.app.engine
    }

    pub const fn press(&self) -> &[Publisher] {
        self.press.as_slice()
    }

    /// Records the first failure; it ends the simulation.
    pub fn fail(&mut self, why: impl Into<String>) {
        self.failed.get_or_insert(why.into());
    }

    pub fn note(&mut self, words: impl FnOnce() -> String) {
        self.story.note(self.real + self.ahead, words);
    }

    /// Runs the scenario until its last day ends or a check fails.
    pub fn run(&mut self) {
        self.begin();
        self.subscribe_to_all();
        let end = self.scenario.start() + TimeDelta::days(self.scenario.days);
        while self.failed.is_none() && self.real <= end {
            self.step();
        }
    }

    /// Advances to the next event (answer, sync, scenario event or wake time) and performs it.
    fn step(&mut self) {
        let wake = self.next_wake();
        let synced = self.keeper.synced_at;
        let fetched = self.fetches.first_key_value().map(|(key, _)| key.0);
        let act = self.acts.front().map(|(at, _)| *at);
        let next = [Some(wake), synced, fetched, act].into_iter().flatten().min().unwrap_or(wake);
        self.real = self.real.max(next);
        if synced.is_some_and(|at| at <= next) {
            self.synced();
        } else if fetched.is_some_and(|at| at <= next) {
            let (_, under_way) = self.fetches.pop_first().unwrap();
            self.arrived(under_way);
        } else if act.is_some_and(|at| at <= next) {
            let (_, act) = self.acts.pop_front().unwrap();
            self.act(act);
        } else {
            self.tell(Input::Tick);
        }
        self.after_step();
    }

    fn after_step(&mut self) {
        if self.keeper.dies {
            self.die();
        } else if self.stopped {
            let pause = self.dice.between(2, 4000);
            self.end_and_start(pause);
        }
        Checks::after_step(self);
    }

    /// Returns the true time at which the loop wakes if no other event comes before.
    fn next_wake(&self) -> DateTime<Utc> {
        let engine = self.engine();
        let due = engine.is_polling_by_itself().then(|| engine.timetable.next()).flatten();
        let due = due.map(|due| engine.room_awaited.map_or(due, |until| due.max(until)));
        let may_start = !engine.is_store_behind();
        let network = &engine.settings.network;
        let start = may_start.then(|| engine.host_queue.next_start(network)).flatten();
        let wake = [due, start].into_iter().flatten().min().map(|at| at - self.ahead);
        let latest = self.told + IDLE;
        wake.map_or(latest, |at| at.min(latest)).max(self.real + TimeDelta::milliseconds(1))
    }

    /// Sends the program its first inputs after a start.
    pub fn begin(&mut self) {
        if self.has_screen {
            self.tell(ScreenInput::Resized(SIZE.0, SIZE.1));
            let now = self.now();
            let first = begin(&mut self.app, now);
            self.perform_all(first);
        }
        self.tell(Input::Tick);
        Checks::started(self);
    }

    /// Sends an input to the program and performs all effects that follow at once.
    pub fn tell(&mut self, input: impl Into<ScreenInput>) {
        if std::mem::take(&mut self.woke) {
            let effects = self.take(Input::Woke.into());
            self.perform_all(effects);
        }
        let effects = self.take(input.into());
        self.perform_all(effects);
        self.keeper.write(self.real);
    }

    fn take(&mut self, input: ScreenInput) -> Vec<ScreenEffect> {
        self.steps += 1;
        self.told = self.real;
        let now = self.now();
        if self.has_screen {
            // Keys that waited for this input act now.
            let waits = self.app.ui.typed.is_waiting();
            let before = waits.then(|| (self.polled(), self.gone()));
            let effects = update(&mut self.app, now, input);
            if let Some(before) = before {
                self.note_intent(before);
            }
            return effects;
        }
        let ScreenInput::Engine(input) = input else { return Vec::new() };
        let output = engine_update(&mut self.app.engine, now, input);
        output.effects.into_iter().map(Into::into).collect()
    }

    pub fn perform_all(&mut self, effects: Vec<ScreenEffect>) {
        let mut waiting = VecDeque::from(effects);
        while let Some(effect) = waiting.pop_front() {
            if let Some(answer) = self.perform(effect) {
                waiting.extend(self.take(answer));
            }
        }
    }

    fn perform(&mut self, effect: ScreenEffect) -> Option<ScreenInput> {
        match effect {
            ScreenEffect::Engine(effect) => return self.perform_for_engine(effect).map(Into::into),
            ScreenEffect::Render(work) => return Some(rendered(&work)),
            ScreenEffect::PreviewFilter(number, filter) => {
                let now = self.now();
                let found = self.keeper.store().texts().hits(&filter, now, &|| true).unwrap();
                return Some(ScreenInput::FilterPreviewed(number, Box::new(found.preview)));
            }
            ScreenEffect::Suspend => return Some(ScreenInput::Continued(SIZE.0, SIZE.1)),
            ScreenEffect::Quit => self.stopped = true,
            ScreenEffect::Picture(_)
            | ScreenEffect::HurryIndex
            | ScreenEffect::Copy { .. }
            | ScreenEffect::OpenDemo
            | ScreenEffect::MoveIn(_)
            | ScreenEffect::CompletePath(_)
            | ScreenEffect::Export { .. }
            | ScreenEffect::AddAccount(_)
            | ScreenEffect::ForgetAccount(_)
            | ScreenEffect::Serve(_)
            | ScreenEffect::SaveEntries { .. } => {}
        }
        None
    }

    fn perform_for_engine(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Fetch(request) if request.waits_for_store => self.keeper.hand_fetch(request),
            Effect::Fetch(request) => self.send(request),
            Effect::Store(work) => {
                return self.keeper.hand(*work).map(|stored| self.stored(stored));
            }
            Effect::Run(run) => return Some(Input::Ran(run.purpose, Ok(None))),
            Effect::Learn(wanted) => return Some(learned(&wanted)),
            Effect::KeepLogin(login) => return Some(Input::LoginKept(login, Ok(()))),
            Effect::FindFilterHits(filter) => {
                let now = self.now();
                let found = self.keeper.store().texts().hits(&filter, now, &|| true).unwrap();
                return Some(Input::FilterHits(filter.id, Ok(found.keys)));
            }
            Effect::PictureTask(task) => return Some(Input::PictureTaskDone(task.failed())),
            Effect::Download(_)
            | Effect::StopDownload { .. }
            | Effect::Notify(..)
            | Effect::Open(_)
            | Effect::ReadImport(_)
            | Effect::Reconnect(_) => {}
            Effect::Stop => self.stopped = true,
        }
        None
    }

    fn stored(&mut self, stored: Stored) -> Input {
        Checks::answered(self, &stored);
        Input::Stored(Box::new(stored))
    }

    /// Sends a request to its publisher and schedules the answer.
    fn send(&mut self, request: FetchRequest) {
        Checks::asked(self, &request);
        let started = self.now();
        let publisher = self.press.iter_mut().find(|publisher| publisher.has(&request.url));
        let (hops, result, takes, conditional) = match publisher {
            Some(publisher) if self.real >= self.away_until => {
                let answer = publisher.answer(&request, self.real);
                (answer.hops, answer.result, answer.takes, answer.conditional)
            }
            Some(_) => {
                let failure = match request.id.0 % 3 {
                    0 => FetchFailure::Unreachable("the host".into()),
                    1 => FetchFailure::Name("the host".into()),
                    _ => FetchFailure::Timeout {
                        phase: backissue::engine::poll::fetch::CONNECTING,
                        seconds: 10,
                    },
                };
                (Vec::new(), Err(failure), TimeDelta::milliseconds(50), false)
            }
            None => {
                let failure = FetchFailure::Name("nobody".into());
                (Vec::new(), Err(failure), TimeDelta::milliseconds(40), false)
            }
        };
        let result = result.map(|mut answer| {
            answer.received = started + takes;
            answer
        });
        let fetched = Fetched { started, wire_bytes: 1000, hops, conditional, result };
        let key = (self.real + takes, request.id.0);
        self.fetches.insert(key, UnderWay { request, fetched });
    }

    fn arrived(&mut self, under_way: UnderWay) {
        let UnderWay { request, fetched } = under_way;
        let result = fetched.result.as_ref();
        let words = result.map_or_else(ToString::to_string, |answer| {
            let headers = &answer.headers;
            let said =
                [&headers.cache_control, &headers.expires, &headers.age, &headers.retry_after];
            let tag = headers.etag.as_deref().map(String::from_utf8_lossy);
            format!(
                "{} {} {:?}",
                answer.status,
                tag.unwrap_or_default(),
                said.into_iter().flatten().collect::<Vec<_>>()
            )
        });
        self.note(|| format!("{} answers {words}", request.url));
        Checks::arrived(self, &request, &fetched);
        self.tell(Input::Fetched(request.id, Box::new(fetched)));
    }

    /// Reports the writes that are now durable and sends the requests that waited for them.
    pub fn synced(&mut self) {
        for done in self.keeper.sync() {
            match done {
                Done::Answer(None) => {}
                Done::Answer(Some(stored)) => {
                    let input = self.stored(*stored);
                    self.tell(input);
                }
                Done::Fetch(request) => self.send(request),
            }
        }
        self.keeper.write(self.real);
    }

    /// Drops running requests without an answer.
    pub fn drop_fetches(&mut self) {
        self.fetches.clear();
    }

    pub fn fetches_under_way(&self) -> usize {
        self.fetches.len()
    }

    /// Lets time pass while the program is not running.
    pub fn pass(&mut self, time: TimeDelta) {
        self.real += time;
    }

    /// Puts the machine to sleep: the wall clock advances, the program does not run, and running requests break off.
    pub fn sleep(&mut self, time: TimeDelta) {
        for (_, mut under_way) in std::mem::take(&mut self.fetches) {
            under_way.fetched.result = Err(FetchFailure::Protocol("it was broken off".into()));
            let key = (self.real + time, under_way.request.id.0);
            self.fetches.insert(key, under_way);
        }
        self.real += time;
        self.woke = time > TimeDelta::seconds(30);
    }

    /// Moves the wall clock by this amount.
    pub fn set_clock(&mut self, by: TimeDelta) {
        self.ahead += by;
        self.woke |= by.abs() > TimeDelta::seconds(30);
    }

    pub const fn lose_network(&mut self, until: DateTime<Utc>) {
        self.away_until = until;
    }

    pub fn is_online(&self) -> bool {
        self.real >= self.away_until
    }

    /// Starts the program with the data in its store.
    pub fn start(&mut self) {
        self.keeper.open();
        if self.disk_full {
            self.keeper.store().measure_room_by(|_| Some(0));
        }
        let now = self.now();
        let engine = load(&mut self.keeper, &self.scenario, now);
        self.app = App::new(engine, ScreenSettings::default());
        self.has_screen = self.dice.one_in(2);
        self.app.engine.attended = self.has_screen;
        self.stopped = false;
        self.disk_was_full = self.disk_full;
        self.begin();
    }

    /// Returns the feeds that the program knows to be ended by their publishers.
    pub fn gone(&self) -> BTreeSet<FeedKey> {
        let feeds = self.engine().feeds.values();
        feeds.filter(|feed| feed.is_gone()).map(|feed| feed.key).collect()
    }

    /// Returns the feeds that are being polled now.
    pub fn polled(&self) -> BTreeSet<FeedKey> {
        self.engine().polls.keys().copied().collect()
    }
}

/// Creates the engine from the stored data, as the program does when it starts.
fn load(keeper: &mut Keeper, scenario: &Scenario, now: DateTime<Utc>) -> Engine {
    let (mut engine, unreadable) = load_engine(keeper.store(), scenario.settings(), now).unwrap();
    assert_eq!(unreadable, Vec::<String>::new(), "everything can be read");
    engine.zone = scenario.zone();
    engine
}

//! A world for tests: the real engine, screen and store, a network defined by a table, and a clock set by the test.

use std::collections::{BTreeMap, VecDeque};

use backissue::engine::downloads::record::FileTransfer;
use backissue::engine::event_json::event_line;
use backissue::engine::external_run::ExternalRun;
use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::feeds::subscription::Subscription;
use backissue::engine::poll::fetch::{AnswerHeaders, FetchRequest};
use backissue::engine::poll::poll_request::{PollKind, PollRequest};
use backissue::engine::request::{Effect, Input, Request};
use backissue::engine::settings::Settings;
use backissue::engine::state::Engine;
use backissue::engine::update::update as engine_update;
use backissue::io::pictures;
use backissue::io::search::{CatchUp, SearchIndex};
use backissue::io::store::{Store, mended_unseen};
use backissue::ui::app::App;
use backissue::ui::effect::ScreenEffect;
use backissue::ui::keys::key::Key;
use backissue::ui::settings::ScreenSettings;
use backissue::ui::update::{ScreenInput, begin, measured, update};
use backissue::view;
use backissue_core::history::FeedKey;
use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::answers::{learned, line_of, noted, picture_cache, rendered, run_for_real};

use super::store_port::{self, Kind, StoreWork};

pub use super::rss::rss;

pub use super::scripted::Scripted;

/// The program, its store and everything around it that a test controls or inspects.
pub struct World {
    pub app: App,
    pub now: DateTime<Utc>,
    /// The scripted answer of each address; any other address refuses the connection.
    pub network: BTreeMap<String, Scripted>,
    /// Requests that the program sent, in order.
    pub requests: Vec<FetchRequest>,
    /// Addresses that the program opened in the browser.
    pub opened: Vec<String>,
    /// Texts that the program put on the clipboard.
    pub copied: Vec<String>,
    /// Number of times the program was suspended to return to the shell.
    pub suspended: u32,
    /// Number of times the program asked to update the search index.
    pub hurried: u32,
    /// External commands that the program started.
    pub ran: Vec<ExternalRun>,
    /// Whether external commands are really started. Otherwise each of them succeeds.
    pub starts_programs: bool,
    /// Whether external commands go on until the test ends them.
    pub holds_programs: bool,
    /// Files to receive.
    pub transfers: Vec<FileTransfer>,
    /// Desktop notifications that the program sent.
    pub notes: Vec<String>,
    pub quit: bool,
    /// Kinds of store work that fail, each once.
    pub failing: Vec<Kind>,
    pub store: Store,
    size: (u16, u16),
    pub(crate) folder: tempfile::TempDir,
}

/// Returns the time at which every test starts, a Monday.
pub fn start() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 2, 10, 0, 0).unwrap()
}

impl World {
    /// Creates a world without subscriptions, with a screen of this size.
    pub fn new(columns: u16, rows: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let mut settings = Settings::default();
        settings.poll.start_spread_seconds = 0;
        let engine = Engine::new(settings, Tz::UTC, 1, Vec::new(), start());
        let app = App::new(engine, ScreenSettings::default());
        let mut world = Self {
            app,
            now: start(),
            network: BTreeMap::new(),
            requests: Vec::new(),
            opened: Vec::new(),
            ran: Vec::new(),
            starts_programs: false,
            holds_programs: false,
            transfers: Vec::new(),
            notes: Vec::new(),
            copied: Vec::new(),
            suspended: 0,
            hurried: 0,
            quit: false,
            failing: Vec::new(),
            store,
            size: (columns, rows),
            folder,
        };
        world.tell(ScreenInput::Resized(columns, rows));
        let first = begin(&mut world.app, world.now);
        world.perform(first);
        world.draw();
        world
    }

    /// Makes an address answer with a document.
    pub fn serve(&mut self, url: &str, body: &str) {
        self.network
            .insert(url.into(), Scripted { status: 200, body: body.into(), ..Scripted::default() });
    }

    /// Makes an address redirect.
    pub fn lead(&mut self, from: &str, status: u16, to: &str) {
        let leads = Some((status, to.to_owned()));
        self.network.insert(from.into(), Scripted { leads, ..Scripted::default() });
    }

    /// Makes an address answer with a status and headers, without a body.
    pub fn refuse(&mut self, url: &str, status: u16, headers: AnswerHeaders) {
        self.network.insert(url.into(), Scripted { status, headers, ..Scripted::default() });
    }

    /// Polls one feed by hand, after enough time that no minimum interval delays the poll.
    pub fn poll(&mut self, feed: FeedKey) {
        self.pass(TimeDelta::minutes(6));
        self.tell(Request::Poll(PollRequest {
            feeds: Some(vec![feed]),
            kind: PollKind::Allowed,
            archives: true,
        }));
        self.pass(TimeDelta::seconds(2));
    }

    /// Returns the subscription with this number.
    pub fn feed(&self, feed: u32) -> &Subscription {
        &self.app.engine.feeds[&FeedKey(feed)]
    }

    /// Creates a world that serves these documents and subscribes to them, each with tags; the feeds are polled at once.
    pub fn subscribed(columns: u16, rows: u16, feeds: &[(&str, &str, &[&str])]) -> Self {
        let mut world = Self::new(columns, rows);
        let mut feed_settings = Vec::new();
        for (url, body, tags) in feeds {
            world.serve(url, body);
            let tags = tags.iter().map(ToString::to_string).collect();
            feed_settings.push(Subscribe { address: (*url).into(), tags, ..Subscribe::default() });
        }
        world.subscribe_to_all(feed_settings);
        world.tell(Request::Poll(PollRequest {
            feeds: None,
            kind: PollKind::Allowed,
            archives: true,
        }));
        world.pass(TimeDelta::seconds(2));
        world
    }

    /// Subscribes to addresses directly, without asking which feed is meant; this cannot be undone.
    pub fn subscribe_to_all(&mut self, wanted: Vec<Subscribe>) {
        for wanted in wanted {
            let wanted = Request::Subscribe(Box::new(Subscribe { unasked: true, ..wanted }));
            self.tell(Request::Arrived(Box::new(wanted)));
        }
    }

    /// Lets the pause between two requests to a site pass this number of times.
    pub fn wait(&mut self, pauses: usize) {
        for _ in 0..pauses {
            self.pass(TimeDelta::seconds(2));
        }
    }

    /// Lets time pass and then wakes the program's main loop.
    pub fn pass(&mut self, time: TimeDelta) {
        self.now += time;
        self.tell(Input::Tick);
    }

    /// Presses keys given as characters or as names in angle brackets: `<enter>`, `<esc>`, `<tab>`, `<c-d>`.
    pub fn press(&mut self, keys: &str) {
        let mut rest = keys;
        while let Some(char) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|inner| inner.split_once('>'));
            let key = if let Some((name, after)) = named {
                rest = after;
                super::named_keys::named_key(name)
            } else {
                rest = &rest[char.len_utf8()..];
                Key::char(char)
            };
            self.tell(ScreenInput::Key(key));
            self.draw();
        }
    }

    /// Sends an input to the program and performs all resulting effects.
    pub fn tell(&mut self, input: impl Into<ScreenInput>) {
        let effects = update(&mut self.app, self.now, input.into());
        self.perform(effects);
    }

    /// Sends an input to the engine without the screen and performs all resulting effects; returns the events for scripts.
    pub fn follow(&mut self, input: impl Into<Input>) -> Vec<serde_json::Value> {
        let (mut waiting, mut told) = (VecDeque::from([input.into()]), Vec::new());
        while let Some(input) = waiting.pop_front() {
            let output = engine_update(&mut self.app.engine, self.now, input);
            let lines = output.events.iter();
            told.extend(lines.filter_map(|event| event_line(&self.app.engine, event, self.now)));
            for effect in output.effects {
                waiting.extend(self.answer(effect));
            }
        }
        told
    }

    /// Performs effects, and the effects that result from them.
    pub fn perform(&mut self, effects: Vec<ScreenEffect>) {
        let mut waiting = VecDeque::from(effects);
        while let Some(effect) = waiting.pop_front() {
            waiting.extend(self.perform_one(effect));
        }
    }

    /// Performs one effect and updates the program for its answer. Returns the effects that result from it.
    pub fn perform_one(&mut self, effect: ScreenEffect) -> Vec<ScreenEffect> {
        let answer = match effect {
            ScreenEffect::Engine(effect) => self.answer(effect).map(ScreenInput::from),
            effect => self.answer_screen(effect),
        };
        answer.into_iter().flat_map(|it| update(&mut self.app, self.now, it)).collect()
    }

    fn answer_screen(&mut self, effect: ScreenEffect) -> Option<ScreenInput> {
        match effect {
            ScreenEffect::Engine(_)
            | ScreenEffect::OpenDemo
            | ScreenEffect::MoveIn(_)
            | ScreenEffect::CompletePath(_)
            | ScreenEffect::Export { .. }
            | ScreenEffect::AddAccount(_)
            | ScreenEffect::ForgetAccount(_)
            | ScreenEffect::Serve(_)
            | ScreenEffect::SaveEntries { .. } => None,
            ScreenEffect::Render(work) => Some(rendered(&work)),
            ScreenEffect::Picture(work) => {
                let done = pictures::perform(*work, &picture_cache(&self.store));
                Some(ScreenInput::Picture(Box::new(done)))
            }
            ScreenEffect::PreviewFilter(number, filter) => {
                let found = self.store.texts().hits(&filter, self.now, &|| true).unwrap();
                Some(ScreenInput::FilterPreviewed(number, Box::new(found.preview)))
            }
            ScreenEffect::HurryIndex => {
                self.hurried += 1;
                None
            }
            ScreenEffect::Copy { text, told } => {
                self.copied.push(text);
                Some(ScreenInput::Told(told))
            }
            ScreenEffect::Suspend => {
                self.suspended += 1;
                Some(ScreenInput::Continued(self.size.0, self.size.1))
            }
            ScreenEffect::Quit => {
                self.quit = true;
                None
            }
        }
    }

    fn answer(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Fetch(request) => {
                let fetched = self.fetch(&request);
                let id = request.id;
                self.requests.push(request);
                Some(Input::Fetched(id, Box::new(fetched)))
            }
            Effect::Store(work) => self.perform_work(*work),
            Effect::Run(run) => {
                let purpose = run.purpose;
                self.ran.push((*run).clone());
                if self.holds_programs {
                    return None;
                }
                let ended = if self.starts_programs { run_for_real(*run) } else { Ok(None) };
                Some(Input::Ran(purpose, ended))
            }
            Effect::Notify(text, _) => {
                self.notes.push(text);
                None
            }
            Effect::Learn(wanted) => Some(learned(&wanted)),
            Effect::FindFilterHits(filter) => {
                let found = self.store.texts().hits(&filter, self.now, &|| true).unwrap();
                Some(Input::FilterHits(filter.id, Ok(found.keys)))
            }
            Effect::PictureTask(task) => {
                let kept = picture_cache(&self.store);
                Some(Input::PictureTaskDone(pictures::perform_ahead(*task, &kept, self.now)))
            }
            Effect::Open(address) => noted(&mut self.opened, address),
            Effect::KeepLogin(login) => Some(Input::LoginKept(login, Ok(()))),
            Effect::Download(transfer) => noted(&mut self.transfers, *transfer),
            Effect::StopDownload { .. } | Effect::ReadImport(_) | Effect::Reconnect(_) => None,
            Effect::Stop => {
                self.quit = true;
                None
            }
        }
    }

    /// Performs store work with the program's own function, or lets it fail if the test requests that.
    fn perform_work(&mut self, work: StoreWork) -> Option<Input> {
        if let Some(place) = self.failing.iter().position(|kind| kind.is(&work)) {
            self.failing.remove(place);
            return Some(store_port::refused(&mut self.store, &work));
        }
        if store_port::searches(&work) {
            self.bring_index_in_line();
        }
        let stored = self.store.perform(work)?;
        Some(Input::Stored(Box::new(stored)))
    }

    /// Updates the search index; in the program a separate thread does this.
    fn bring_index_in_line(&mut self) {
        let index = SearchIndex::open(self.store.folder()).unwrap();
        let mut behind = CatchUp::new(index.clone(), self.store.texts());
        behind.everything(&mut |_| true).unwrap();
        behind.commit().unwrap();
        self.store.use_index(index);
    }

    /// Draws the screen once and takes its measures. Returns the effects that result from them.
    pub fn measure(&mut self) -> Vec<ScreenEffect> {
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        let mut viewport = self.app.ui.viewport;
        terminal.draw(|frame| viewport = view::draw(frame, &self.app, self.now)).unwrap();
        measured(&mut self.app, self.now, viewport)
    }

    /// Draws the screen as the main loop does: a second time if measuring the layout moved something.
    pub fn draw(&mut self) -> String {
        for _ in 0..2 {
            let effects = self.measure();
            self.perform(effects);
        }
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        terminal
            .draw(|frame| {
                view::draw(frame, &self.app, self.now);
            })
            .unwrap();
        let buffer = terminal.backend().buffer().clone();
        let rows = buffer.content().chunks(usize::from(self.size.0));
        let lines = rows.map(line_of);
        lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// Resizes the terminal and returns the screen.
    pub fn resize(&mut self, columns: u16, rows: u16) -> String {
        self.size = (columns, rows);
        self.tell(ScreenInput::Resized(columns, rows));
        self.draw()
    }

    /// Returns the program as it is after a start with the current store.
    pub fn reload(&self) -> App {
        let saved = self.store.subscriptions().unwrap();
        let settings = self.app.engine.settings.clone();
        let mut engine = Engine::new(settings, Tz::UTC, 1, saved, self.now);
        let (searches, filters) = (self.store.saved_searches(), self.store.saved_filters());
        engine.take_saved(searches.unwrap(), filters.unwrap());
        let (steps, ended) = (self.store.saved_steps(), self.store.ended_subscriptions());
        engine.take_undo(steps.unwrap(), ended.unwrap(), self.now);
        engine.take_downloads(self.store.downloads().unwrap());
        engine.ended_this_week = self.store.ended_lately().unwrap().len().try_into().unwrap();
        let mut app = App::new(engine, self.app.ui.settings.clone());
        app.ui.feeds.folded = self.store.folded().unwrap();
        app.engine.mended = mended_unseen(self.store.folder());
        backissue::ui::panes::feeds_pane::rebuild_rows(&mut app);
        app
    }

    /// Lets time pass until no archive remains to be fetched.
    pub fn rest(&mut self) {
        for _ in 0..1000 {
            if self.app.engine.backfills.is_empty() {
                return;
            }
            self.pass(TimeDelta::seconds(2));
        }
        panic!("a walk does not end");
    }

    /// Kills the program and starts it again; data not written to the store is lost.
    pub fn restart(&mut self) {
        self.app = self.reload();
        self.tell(ScreenInput::Resized(self.size.0, self.size.1));
        let first = begin(&mut self.app, self.now);
        self.perform(first);
        self.draw();
    }

    /// Ends the program and starts it again at the saved screen position.
    pub fn end_and_come_back(&mut self) {
        self.tell(Request::Stop);
        let place = backissue::ui::come_back::place_of(&self.app);
        self.app = self.reload();
        self.app.ui.returns_to = Some(Box::new(place));
        self.tell(ScreenInput::Resized(self.size.0, self.size.1));
        let first = begin(&mut self.app, self.now);
        self.perform(first);
        self.draw();
    }

    /// Closes the store and opens it again with a new screen, as another process does after this one has ended.
    pub fn reopen(&mut self) {
        let elsewhere = tempfile::tempdir().unwrap();
        // The store must be closed before it can be opened again, so an empty one elsewhere replaces it for a moment.
        self.store = Store::open(elsewhere.path()).unwrap();
        self.store = Store::open(self.folder.path()).unwrap();
        self.restart();
    }

    /// Returns the addresses of all requests.
    pub fn asked(&self) -> Vec<&str> {
        self.requests.iter().map(|request| request.url.as_str()).collect()
    }

    /// Returns the titles of the list's loaded rows.
    pub fn titles(&self) -> Vec<&str> {
        self.app.ui.list.rows.iter().map(|row| row.title.as_str()).collect()
    }

    /// Returns the message in the bottom line; empty if there is none.
    pub fn notice(&self) -> &str {
        self.app.ui.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }
}

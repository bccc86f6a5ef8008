//! A world for tests: the real model and the real store, a network made of a table, and a clock set by hand.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use backissue::engine::effect::Effect;
use backissue::engine::feeds::subscribe::Wanted;
use backissue::engine::feeds::subscription::Subscription;
use backissue::engine::model::Model;
use backissue::engine::msg::HistoryNews;
use backissue::engine::msg::Msg;
use backissue::engine::poll::fetch::AnswerHeaders;
use backissue::engine::poll::fetch::Request;
use backissue::engine::poll::manual_poll::PollWish;
use backissue::engine::poll::manual_poll::Wish;
use backissue::engine::run_external::Errand;
use backissue::engine::settings::Settings;
use backissue::engine::update::begin;
use backissue::engine::update::measured;
use backissue::engine::update::update;
use backissue::history::{FeedKey, Merged};
use backissue::io::pictures;
use backissue::io::search::{CatchUp, SearchIndex};
use backissue::io::store::Store;
use backissue::ui::keys::key::Key;
use backissue::ui::panes::entry_list::RowsWanted;
use backissue::ui::panes::entry_list::Scope;
use backissue::view;
use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::answers::learned;
use super::answers::line_of;
use super::answers::rendered;
pub use super::rss::rss;

pub use super::scripted::Scripted;

/// The world.
pub struct World {
    pub model: Model,
    pub now: DateTime<Utc>,
    /// What each address answers; an address that is not here refuses the connection.
    pub network: BTreeMap<String, Scripted>,
    /// Requests made, in order.
    pub requests: Vec<Request>,
    /// Addresses opened in the browser.
    pub opened: Vec<String>,
    /// Texts put on the clipboard.
    pub copied: Vec<String>,
    /// How often the shell was gone back to.
    pub suspended: u32,
    /// Commands started.
    pub ran: Vec<Errand>,
    /// What the desktop was told.
    pub notes: Vec<String>,
    pub quit: bool,
    pub store: Store,
    size: (u16, u16),
    _folder: tempfile::TempDir,
}

/// When every test begins: a Monday.
pub fn start() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 2, 10, 0, 0).unwrap()
}

impl World {
    /// A world without subscriptions on a screen of this size.
    pub fn new(columns: u16, rows: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let mut settings = Settings::default();
        settings.poll.start_spread_seconds = 0;
        let model = Model::new(settings, Tz::UTC, 1, Vec::new(), start());
        let mut world = Self {
            model,
            now: start(),
            network: BTreeMap::new(),
            requests: Vec::new(),
            opened: Vec::new(),
            ran: Vec::new(),
            notes: Vec::new(),
            copied: Vec::new(),
            suspended: 0,
            quit: false,
            store,
            size: (columns, rows),
            _folder: folder,
        };
        world.tell(Msg::Resized(columns, rows));
        let first = begin(&mut world.model, world.now);
        world.perform(first);
        world.draw();
        world
    }

    /// Puts a document on the network.
    pub fn serve(&mut self, url: &str, body: &str) {
        self.network
            .insert(url.into(), Scripted { status: 200, body: body.into(), ..Scripted::default() });
    }

    /// Lets an address redirect.
    pub fn lead(&mut self, from: &str, status: u16, to: &str) {
        let leads = Some((status, to.to_owned()));
        self.network.insert(from.into(), Scripted { leads, ..Scripted::default() });
    }

    /// Lets an address answer with a status and nothing else.
    pub fn refuse(&mut self, url: &str, status: u16, headers: AnswerHeaders) {
        self.network.insert(url.into(), Scripted { status, headers, ..Scripted::default() });
    }

    /// Polls one feed by hand, after whatever keeps it from being polled.
    pub fn poll(&mut self, feed: FeedKey) {
        self.pass(TimeDelta::minutes(6));
        self.tell(Msg::Poll(PollWish { feeds: Some(vec![feed]), wish: Wish::Allowed }));
        self.pass(TimeDelta::seconds(2));
    }

    /// A subscription.
    pub fn feed(&self, feed: u32) -> &Subscription {
        &self.model.feeds[&FeedKey(feed)]
    }

    /// Puts documents on the network and subscribes to them, each with tags; they are polled at once.
    pub fn subscribed(columns: u16, rows: u16, feeds: &[(&str, &str, &[&str])]) -> Self {
        let mut world = Self::new(columns, rows);
        let mut wishes = Vec::new();
        for (url, body, tags) in feeds {
            world.serve(url, body);
            let tags = tags.iter().map(ToString::to_string).collect();
            wishes.push(Wanted { address: (*url).into(), tags, ..Wanted::default() });
        }
        world.tell(Msg::Import(wishes));
        world.tell(Msg::Poll(PollWish { feeds: None, wish: Wish::Allowed }));
        world.pass(TimeDelta::seconds(2));
        world
    }

    /// So many pauses between two requests to a site pass.
    pub fn wait(&mut self, pauses: usize) {
        for _ in 0..pauses {
            self.pass(TimeDelta::seconds(2));
        }
    }

    /// Time passes and the loop wakes.
    pub fn pass(&mut self, time: TimeDelta) {
        self.now += time;
        self.tell(Msg::Tick);
    }

    /// Presses keys: characters, or names in angle brackets: `<enter>`, `<esc>`, `<tab>`, `<c-d>`.
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
            self.tell(Msg::Key(key));
            self.draw();
        }
    }

    /// Lets the model take a message and everything that follows from it happen.
    pub fn tell(&mut self, msg: Msg) {
        let effects = update(&mut self.model, self.now, msg);
        self.perform(effects);
    }

    /// Lets effects happen, and everything that follows from them.
    pub fn perform(&mut self, effects: Vec<Effect>) {
        let mut waiting: VecDeque<Effect> = effects.into();
        while let Some(effect) = waiting.pop_front() {
            if let Some(answer) = self.answer(effect) {
                waiting.extend(update(&mut self.model, self.now, answer));
            }
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm an effect")]
    fn answer(&mut self, effect: Effect) -> Option<Msg> {
        match effect {
            Effect::Fetch(request) => {
                let fetched = self.fetch(&request);
                let id = request.id;
                self.requests.push(request);
                Some(Msg::Fetched(id, Box::new(fetched)))
            }
            Effect::Commit(commit) => {
                let merged = self.store.commit(&commit).unwrap();
                let (feed, counters, known) = (commit.feed, merged.counters, merged.known);
                let (new, edited) = (merged.new, merged.edited);
                let withdrawn = merged.withdrawn;
                Some(Msg::Committed { feed, counters, new, edited, known, withdrawn })
            }
            Effect::KeepHistory(commit) => {
                let feed = commit.feed;
                let Merged { counters, new, edited, .. } =
                    self.store.keep_history(&commit).unwrap();
                Some(Msg::History(feed, HistoryNews::Kept { counters, new, edited }))
            }
            Effect::LoadNodes(feed) => {
                let nodes = Box::new(self.store.nodes(feed).unwrap());
                Some(Msg::History(feed, HistoryNews::Nodes(nodes)))
            }
            Effect::Restore(feed, withdrawn) => {
                let marked = self.store.restore(feed, &withdrawn).unwrap();
                Some(Msg::History(feed, HistoryNews::Restored(marked)))
            }
            Effect::SaveTry(feed, at) => {
                self.store.save_try(feed, at).unwrap();
                None
            }
            Effect::SaveState(feed, state) => {
                self.store.save_state(feed, &state).unwrap();
                None
            }
            Effect::SaveRecords(records) => {
                self.store.save_records(&records).unwrap();
                Some(Msg::RecordsSaved)
            }
            Effect::Absorb { from, into } => {
                let counters = self.store.absorb(from, into).unwrap();
                Some(Msg::Absorbed { into, counters })
            }
            Effect::Mark { keys, flag, value } => {
                let marked = self.store.mark(&keys, flag, value).unwrap();
                Some(Msg::Marked { flag, value, whole_list: false, marked })
            }
            Effect::MarkList { list, flag, value } => {
                let keys = self.store.listed(list);
                let marked = self.store.mark(&keys, flag, value).unwrap();
                Some(Msg::Marked { flag, value, whole_list: true, marked })
            }
            Effect::LoadRows(wanted) => {
                self.catch_up(&wanted);
                Some(Msg::RowsLoaded(self.store.rows_wanted(&wanted).unwrap()))
            }
            Effect::LoadEntry(key) => {
                let read = self.store.read_entry(key).unwrap();
                Some(Msg::EntryLoaded(Box::new(read.unwrap())))
            }
            Effect::Render(wanted) => Some(rendered(&wanted)),
            Effect::SavePlace(key, place) => {
                self.store.save_place(key, place).unwrap();
                None
            }
            Effect::SaveFullText(key, full) => {
                self.store.save_full_text(key, &full).unwrap();
                None
            }
            Effect::Picture(wish) => {
                let kept = pictures::PictureCache::beside(self.store.folder());
                Some(Msg::Picture(Box::new(pictures::perform(*wish, &kept))))
            }
            Effect::Run(errand) => {
                let purpose = errand.purpose;
                self.ran.push(*errand);
                Some(Msg::Ran(purpose, Ok(None)))
            }
            Effect::ReadForPipe(key, command) => {
                let news = self.store.news(&[(key.feed, key.seq..key.seq + 1)]).unwrap();
                Some(Msg::PipeRead(Box::new(news.into_iter().next()?), command))
            }
            Effect::ReadNews(ranges) => Some(Msg::NewsRead(Ok(self.store.news(&ranges).unwrap()))),
            Effect::Notify(text, _) => {
                self.notes.push(text);
                None
            }
            Effect::LoadPolls(feed) => {
                Some(Msg::PollsLoaded(feed, self.store.poll_log(feed).unwrap()))
            }
            Effect::LoadPublications(feed) => {
                let publications = Arc::new(self.store.publications(feed).unwrap());
                Some(Msg::PublicationsLoaded(feed, Some(publications)))
            }
            Effect::Learn(wanted) => Some(learned(&wanted)),
            Effect::CountToday(since) => {
                Some(Msg::TodayCounted(self.store.unread_since(since).unwrap()))
            }
            Effect::SaveSearches(searches) => {
                self.store.save_searches(&searches).unwrap();
                None
            }
            Effect::CountFound(wanted) => {
                self.bring_index_in_line();
                Some(Msg::FoundCounted(self.store.count_found(&wanted).unwrap()))
            }
            Effect::SaveRules(rules) => {
                self.store.save_rules(&rules).unwrap();
                Some(Msg::RulesSaved)
            }
            Effect::PreviewRule(number, rule) => {
                let found = self.store.texts().hits(&rule, self.now, &|| true).unwrap();
                Some(Msg::RulePreviewed(number, Box::new(found.preview)))
            }
            Effect::FindHits(rule) => {
                let found = self.store.texts().hits(&rule, self.now, &|| true).unwrap();
                Some(Msg::HitsFound(rule.id, found.keys))
            }
            Effect::Rule(wish) => Some(Msg::Ruled(Box::new(self.store.rule(&wish).unwrap()))),
            Effect::SaveFolded(folded) => {
                self.store.save_folded(&folded).unwrap();
                None
            }
            Effect::CountRuled => Some(Msg::RuledCounted(self.store.count_ruled().unwrap())),
            Effect::Open(address) => {
                self.opened.push(address);
                None
            }
            Effect::Copy(text) => {
                self.copied.push(text);
                None
            }
            Effect::Suspend => {
                self.suspended += 1;
                Some(Msg::Continued(self.size.0, self.size.1))
            }
            Effect::BackUp(_) | Effect::Import(_) | Effect::OpenDemo | Effect::Reconnect(_) => None,
            Effect::Quit | Effect::Stop => {
                self.quit = true;
                None
            }
        }
    }

    /// Brings the search index in line before a search; in the program a thread of its own does that.
    fn catch_up(&mut self, wanted: &RowsWanted) {
        let scope = wanted.rebuild.as_ref().map(|query| &query.scope);
        if matches!(scope, Some(Scope::Found(_))) {
            self.bring_index_in_line();
        }
    }

    fn bring_index_in_line(&mut self) {
        let index = SearchIndex::open(self.store.folder()).unwrap();
        let mut behind = CatchUp::new(index.clone(), self.store.texts()).unwrap();
        behind.everything(&mut |_| true).unwrap();
        behind.commit().unwrap();
        self.store.use_index(index);
    }

    /// Draws the screen as the loop does: again if what was measured moved something.
    pub fn draw(&mut self) -> String {
        let mut terminal = Terminal::new(TestBackend::new(self.size.0, self.size.1)).unwrap();
        for _ in 0..2 {
            let mut viewport = self.model.screen.viewport;
            terminal.draw(|frame| viewport = view::draw(frame, &self.model, self.now)).unwrap();
            let effects = measured(&mut self.model, viewport);
            self.perform(effects);
        }
        terminal
            .draw(|frame| {
                view::draw(frame, &self.model, self.now);
            })
            .unwrap();
        let buffer = terminal.backend().buffer().clone();
        let rows = buffer.content().chunks(usize::from(self.size.0));
        let lines = rows.map(line_of);
        lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    /// Another size of the terminal.
    pub fn resize(&mut self, columns: u16, rows: u16) -> String {
        self.size = (columns, rows);
        self.tell(Msg::Resized(columns, rows));
        self.draw()
    }

    /// The model a new start would have.
    pub fn reload(&self) -> Model {
        let saved = self.store.subscriptions().unwrap();
        let mut model = Model::new(self.model.settings.clone(), Tz::UTC, 1, saved, self.now);
        model.screen.feeds.folded = self.store.folded().unwrap();
        backissue::ui::panes::saved_searches::take(
            &mut model,
            self.store.saved_searches().unwrap(),
        );
        backissue::engine::entries::entry_filters::take(&mut model, self.store.rules().unwrap());
        model
    }

    /// Time passes until no archive waits or is asked for.
    pub fn rest(&mut self) {
        for _ in 0..1000 {
            if self.model.backfills.is_empty() {
                return;
            }
            self.pass(TimeDelta::seconds(2));
        }
        panic!("a walk does not end");
    }

    /// The program is killed and starts again: what was not written is lost.
    pub fn restart(&mut self) {
        self.model = self.reload();
        self.tell(Msg::Resized(self.size.0, self.size.1));
        let first = begin(&mut self.model, self.now);
        self.perform(first);
        self.draw();
    }

    /// Addresses asked for, in order.
    pub fn asked(&self) -> Vec<&str> {
        self.requests.iter().map(|request| request.url.as_str()).collect()
    }

    /// The titles of the rows in memory.
    pub fn titles(&self) -> Vec<&str> {
        self.model.screen.list.rows.iter().map(|row| row.title.as_str()).collect()
    }

    /// What the bottom line says.
    pub fn notice(&self) -> &str {
        self.model.screen.notice.as_ref().map_or("", |notice| notice.text.as_str())
    }
}

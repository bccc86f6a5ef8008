//! People: key presses, and requests that they send from other processes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use backissue::engine::backfill::walk_stage::HistoryAction;
use backissue::engine::change::MarkChange;
use backissue::engine::change::value::SavedSearch;
use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::poll::poll_request::{PollKind, PollRequest};
use backissue::engine::request::{Input, Request, TroubleAnswer};
use backissue::engine::settings::HistoryMode;
use backissue::ui::keys::key::Key;
use backissue::ui::update::{ScreenInput, measured};
use backissue::view;
use backissue_core::filters::{Action, EntryFilter, FilterScope};
use backissue_core::history::{EntryKey, FeedKey, Flag, Flags};
use backissue_core::schedule::Pace;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::checks::Checks;
use super::machine::{Machine, SIZE};
use crate::support::dice::Dice;
use crate::support::named_keys::named_key;

/// Number of keys that a person presses in one session.
const KEYS: i64 = 12;

/// Named keys, and characters that are chosen more often than the rest.
const NAMED: [&str; 12] = [
    "enter",
    "esc",
    "tab",
    "up",
    "down",
    "left",
    "right",
    "pgdn",
    "backspace",
    "c-d",
    "c-u",
    "esc",
];
const OFTEN: &str = "jjjkkllhh  mmssArRuUtnpv+-oyDFfTgGaAzx/?:";

impl Machine {
    /// Subscribes to all publishers.
    pub fn subscribe_to_all(&mut self) {
        let wanted = |publisher: &super::publishers::Publisher| Subscribe {
            address: publisher.first_address(),
            tags: vec![format!("tag/{}", publisher.number % 2)],
            unasked: true,
            ..Subscribe::default()
        };
        // Single subscriptions are used because an import could be undone later.
        let wanted: Vec<Subscribe> = self.press().iter().map(wanted).collect();
        for wanted in wanted {
            self.ask(Request::Subscribe(Box::new(wanted)));
        }
    }

    /// Sends a request as a person's action.
    pub fn ask(&mut self, request: Request) {
        let words = format!("{request:?}");
        self.note(|| format!("asked for: {}", words.chars().take(160).collect::<String>()));
        if let Request::History(feed, HistoryAction::Reread) = &request {
            self.checks.reread(*feed);
        }
        if let Request::Poll(PollRequest { feeds, kind: PollKind::Forced, .. }) = &request {
            self.checks.forced(feeds.as_deref());
        }
        self.by_hand(Input::Request(request).into());
    }

    /// Sends a person's input and records its intent: polls that start with it are wanted, and a feed that it resumes may be
    /// polled again.
    fn by_hand(&mut self, input: ScreenInput) {
        let before = (self.polled(), self.gone());
        self.tell(input);
        self.note_intent(before);
    }

    /// Records that the polls which started since, and the feeds that are polled again, are what a person wants.
    pub fn note_intent(&mut self, (before, gone): (BTreeSet<FeedKey>, BTreeSet<FeedKey>)) {
        for feed in self.polled().difference(&before) {
            self.checks.wanted(*feed);
        }
        for feed in gone.difference(&self.gone()) {
            self.checks.resumed(*feed);
        }
        Checks::note_rereading(self, true);
    }

    /// Presses the keys of one session.
    pub fn press_keys(&mut self) {
        if !self.has_screen {
            return;
        }
        self.draw();
        let mut pressed = String::new();
        for _ in 0..self.dice.between(1, KEYS) {
            let key = self.some_key();
            write!(pressed, "{key:?} ").unwrap();
            self.by_hand(ScreenInput::Key(key));
            if self.stopped || self.keeper.dies {
                break;
            }
        }
        self.note(|| format!("keys: {pressed}"));
        self.draw();
    }

    fn some_key(&mut self) -> Key {
        if self.dice.one_in(4) {
            return named_key(NAMED[self.dice.place(NAMED.len())]);
        }
        let often: Vec<char> = OFTEN.chars().collect();
        if self.dice.one_in(6) {
            let any = u8::try_from(self.dice.between(0x20, 0x7e)).unwrap();
            return Key::char(char::from(any));
        }
        Key::char(*self.dice.pick(&often))
    }

    /// Draws the screen as the program's main loop does.
    fn draw(&mut self) {
        let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
        let now = self.now();
        let mut viewport = self.app.ui.viewport;
        terminal.draw(|frame| viewport = view::draw(frame, &self.app, now)).unwrap();
        let before = (self.polled(), self.gone());
        let effects = measured(&mut self.app, now, viewport);
        self.note_intent(before);
        self.perform_all(effects);
    }

    /// Returns a random request.
    pub fn some_request(&mut self) -> Option<Request> {
        let mut dice = self.dice.clone();
        self.dice.roll(2);
        let dice = &mut dice;
        let feed = self.some_feed(dice);
        Some(match dice.roll(22) {
            0 => Self::poll(dice, feed),
            1 => Request::StopPolls(vec![feed?]),
            2 => self.subscribe(dice),
            3 => Request::Answered(Box::new(Request::Undo), None),
            4 => Request::Redo,
            5..=6 => Request::History(
                feed?,
                *dice.pick(&[
                    HistoryAction::Everywhere,
                    HistoryAction::Continue,
                    HistoryAction::Retry,
                    HistoryAction::Page,
                    HistoryAction::Reread,
                ]),
            ),
            7 => Request::MoreHistory(feed?, None),
            8 => Request::Trouble(
                feed?,
                *dice.pick(&[
                    TroubleAnswer::AcceptMove,
                    TroubleAnswer::DeclineMove,
                    TroubleAnswer::UndoMove,
                    TroubleAnswer::Resume,
                    TroubleAnswer::Retry,
                    TroubleAnswer::Note,
                ]),
            ),
            9 => Request::Learn(feed?),
            10 => {
                let key = self.some_entry(dice)?;
                let url = format!("https://{}/p0/entry/{}", "host1.example", key.seq);
                Request::FetchPage { key, url, kept: None }
            }
            11 => {
                let both = [self.some_change(dice)?, self.some_change(dice)?];
                Request::Together(both.to_vec())
            }
            _ => self.some_change(dice)?,
        })
    }

    /// Returns a random undoable change.
    pub fn some_change(&mut self, dice: &mut Dice) -> Option<Request> {
        let feed = self.some_feed(dice);
        Some(match dice.roll(10) {
            0..=3 => {
                let flag = *dice.pick(&[Flag::Read, Flag::Starred, Flag::FromHistory]);
                // Entries from an archive count as read through a separate mark (`FromHistory`), which a person can remove but
                // not set.
                let value = flag != Flag::FromHistory && !dice.one_in(3);
                let keys = (0..dice.between(1, 6)).filter_map(|_| self.some_entry(dice));
                let keys: BTreeSet<EntryKey> = keys.collect();
                let keys: Vec<EntryKey> = keys.into_iter().collect();
                let mut entries = self.keeper.store().entries(&keys).unwrap();
                // The change must be made of entries that do not yet have the wanted value, so that undoing it restores the
                // state.
                let is_old = |flags: Flags| flag == Flag::Read && !value && flags.is_from_history();
                entries.retain(|it| it.flags.get(flag) != value && !is_old(it.flags));
                let keys = entries.into_iter().map(|entry| entry.key).collect();
                Request::Mark(MarkChange { keys, flag, value })
            }
            4 => Request::Unsubscribe(feed?),
            5 => Request::SetPace(feed?, *dice.pick(&[Pace::More, Pace::Normal, Pace::Less])),
            6 => self.settings_of(dice, feed?),
            7 => Request::RenameTag {
                tag: dice.pick(&["tag", "tag/0", "tag/1", "other"]).to_string(),
                name: dice.pick(&["tag/0", "tag/1", "other", "a/b/c"]).to_string(),
            },
            8 => self.filter(dice, feed),
            _ => {
                let history = &self.engine().feeds.get(&feed?)?.history;
                if let Some(gap) = history.gaps.keys().next() {
                    Request::DismissGap(feed?, *gap)
                } else {
                    let id = u32::try_from(dice.between(1, 3)).unwrap();
                    let text = dice.pick(&["entry", "is:unread press", "heard -day"]);
                    let search = SavedSearch { id, name: format!("s{id}"), text: text.to_string() };
                    Request::SaveSearches(vec![search])
                }
            }
        })
    }

    fn poll(dice: &mut Dice, feed: Option<FeedKey>) -> Request {
        let kind = *dice.pick(&[PollKind::Allowed, PollKind::Forced, PollKind::Due]);
        let feeds = feed.filter(|_| !dice.one_in(3)).map(|feed| vec![feed]);
        Request::Poll(PollRequest { feeds, kind, archives: !dice.one_in(4) })
    }

    fn subscribe(&self, dice: &mut Dice) -> Request {
        let address = dice.pick(self.press()).first_address();
        let unasked = dice.one_in(2);
        Request::Subscribe(Box::new(Subscribe { address, unasked, ..Subscribe::default() }))
    }

    fn settings_of(&self, dice: &mut Dice, feed: FeedKey) -> Request {
        let mut chosen = self.engine().feeds[&feed].record.chosen();
        let settings = &mut chosen.feed_settings;
        match dice.roll(8) {
            0 => settings.fixed_minutes = dice.one_in(2).then_some(10),
            1 => settings.min_minutes = dice.one_in(2).then_some(90),
            2 => settings.max_minutes = dice.one_in(2).then_some(300),
            3 => settings.history = Some(*dice.pick(&HistoryMode::ALL)),
            4 => settings.ignore_cache_lifetime = dice.one_in(2),
            5 => settings.ignore_skips = dice.one_in(2),
            6 => chosen.own_title = dice.one_in(2).then(|| "Mine".to_owned()),
            _ => chosen.tags = vec!["tag/1".into(), "new".into()],
        }
        Request::Set(feed, Box::new(chosen))
    }

    fn filter(&self, dice: &mut Dice, feed: Option<FeedKey>) -> Request {
        let known = self.engine().filters.list.iter().map(|filter| filter.id).next();
        if let Some(id) = known.filter(|_| dice.one_in(2)) {
            return Request::RemoveFilter(id);
        }
        let action = match dice.roll(4) {
            0 => Action::Hide,
            1 => Action::Read,
            2 => Action::Star,
            _ => Action::Label("seen".into()),
        };
        let scope = match feed {
            Some(feed) if dice.one_in(2) => FilterScope::Feed(feed),
            Some(_) | None => FilterScope::Everywhere,
        };
        let queries =
            ["corrected", "title:(entry 1)", "press 0 OR is:starred", "/entry [12]/ -age:<1d"];
        let query = dice.pick(&queries).to_string();
        Request::SaveFilter(Box::new(EntryFilter {
            action,
            scope,
            query,
            ..EntryFilter::default()
        }))
    }

    fn some_feed(&self, dice: &mut Dice) -> Option<FeedKey> {
        let feeds: Vec<FeedKey> = self.engine().feeds.keys().copied().collect();
        (!feeds.is_empty()).then(|| *dice.pick(&feeds))
    }

    fn some_entry(&self, dice: &mut Dice) -> Option<EntryKey> {
        let feed = self.some_feed(dice)?;
        let count = self.engine().feeds[&feed].counters.next_seq;
        let seq = u32::try_from(dice.roll(u64::from(count))).unwrap();
        (count > 0).then_some(EntryKey { feed, seq })
    }
}

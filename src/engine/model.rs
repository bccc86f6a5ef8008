//! All the state there is.
//!
//! The model is a window, not the store: it holds every subscription with its sums and its plan, but of
//! entries only the rows around the selection and the one being read.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::backfill::walks::Backfill;
use super::entries::entry_filters::Rules;
use super::entries::full_text::FullText;
use super::feeds::import::Imported;
use super::feeds::subscribe::Addition;
use super::feeds::subscription::SavedSubscription;
use super::feeds::subscription::Subscription;
use super::learn::Learning;
use super::notifications::Announcements;
use super::politeness::host_queue::Traffic;
use super::politeness::reachability::Reachability;
use super::poll::plans;
use super::poll::poll_results::Run;
use super::poll::polling;
use super::settings::Settings;
use super::undo::UndoStack;
use crate::history::{EntryKey, FeedKey};
use crate::schedule::Timetable;
use crate::ui::panes::saved_searches::Saved;
use crate::ui::reader::pictures::Pictures;
use crate::ui::screen::Screen;

/// The state of the program. Changed by [`super::update::update`] alone.
#[derive(Debug, Clone)]
pub struct Model {
    /// What the reader configured.
    pub settings: Settings,
    /// The reader's time zone.
    pub zone: Tz,
    /// Spreads this installation's polls (SPEC A.7).
    pub salt: u64,
    /// Polls fall due by themselves; off for commands that do one thing.
    pub polls_by_itself: bool,
    /// Nothing is asked of the network.
    pub offline: bool,
    /// What is known of the network.
    pub network: Reachability,
    /// A feed whose server wants to be left alone, and which is polled all the same if the reader asks again.
    pub confirming: Option<FeedKey>,
    /// All subscriptions.
    pub feeds: BTreeMap<FeedKey, Subscription>,
    /// When which feed is due.
    pub timetable: Timetable<FeedKey>,
    /// Queues and requests under way.
    pub traffic: Traffic,
    /// Feeds that wait, are asked, or are being written.
    pub busy: BTreeMap<FeedKey, polling::Poll>,
    /// Walks through archives under way.
    pub backfills: BTreeMap<FeedKey, Backfill>,
    /// Archives are fetched after checks.
    pub fills_history: bool,
    /// The polls since the program was last at rest.
    pub run: Run,
    /// Addresses being subscribed to.
    pub additions: BTreeMap<u32, Addition>,
    /// What came of the last import.
    pub imported: Option<Imported>,
    /// Why records could not be written, if they could not.
    pub not_saved: Option<String>,
    /// The largest number a subscription ever had: none is given twice.
    pub last_feed: u32,
    /// Records of subscriptions handed to the store and not yet durable.
    pub unsaved: u32,
    /// What is being learned.
    pub learning: Learning,
    /// Entries whose pages wait or are asked for, with what was kept of the pages before.
    pub pages: BTreeMap<EntryKey, Option<FullText>>,
    /// The pictures of entries.
    pub pictures: Pictures,
    /// New entries that somebody is to be told of.
    pub announcements: Announcements,
    /// Searches that were saved: each is a list of its own.
    pub searches: Saved,
    /// The reader's rules about entries.
    pub rules: Rules,
    /// What the reader can take back.
    pub undo: UndoStack,
    /// What is on the screen.
    pub screen: Screen,
}

impl Model {
    /// A model of what the store holds, with every plan made.
    pub fn new(
        settings: Settings,
        zone: Tz,
        salt: u64,
        saved: Vec<SavedSubscription>,
        now: DateTime<Utc>,
    ) -> Self {
        let mut model = Self {
            settings,
            zone,
            salt,
            polls_by_itself: true,
            offline: false,
            network: Reachability::default(),
            confirming: None,
            feeds: BTreeMap::new(),
            timetable: Timetable::default(),
            traffic: Traffic::default(),
            busy: BTreeMap::new(),
            backfills: BTreeMap::new(),
            fills_history: true,
            run: Run::default(),
            additions: BTreeMap::new(),
            imported: None,
            not_saved: None,
            last_feed: 0,
            unsaved: 0,
            learning: Learning::default(),
            pages: BTreeMap::new(),
            pictures: Pictures::default(),
            announcements: Announcements::default(),
            searches: Saved::default(),
            rules: Rules::default(),
            undo: UndoStack::default(),
            screen: Screen::default(),
        };
        model.pictures.on = model.settings.ui.images;
        for saved in saved {
            let subscription = Subscription {
                state: saved.state,
                history: saved.history,
                counters: saved.counters,
                ..Subscription::new(saved.key, saved.record)
            };
            model.feeds.insert(saved.key, subscription);
        }
        model.last_feed = model.feeds.keys().next_back().map_or(0, |key| key.0);
        let keys: Vec<FeedKey> = model.feeds.keys().copied().collect();
        for key in keys {
            plans::replan(&mut model, key, now);
        }
        model.keep_pauses(now);
        let spread = u64::from(model.settings.poll.start_spread_seconds).saturating_mul(1000);
        let delay = salt.checked_rem(spread.saturating_add(1)).unwrap_or(0);
        model.traffic.not_before = now
            .checked_add_signed(chrono::TimeDelta::milliseconds(i64::try_from(delay).unwrap_or(0)));
        crate::ui::panes::feeds_pane::rebuild(&mut model);
        model
    }

    /// A site that was asked moments before the start is not asked again within its pause. When its answer ended
    /// is not known: the pause is counted from now.
    fn keep_pauses(&mut self, now: DateTime<Utc>) {
        let recent = chrono::TimeDelta::seconds(10);
        for feed in self.feeds.values() {
            let last_try = feed.state.facts.last_try;
            if last_try.is_some_and(|at| now.signed_duration_since(at) < recent) {
                self.traffic.asked_before(&feed.record.url, now, &self.settings.network);
            }
        }
    }

    /// A number for a new subscription, that no other ever had.
    pub const fn new_feed_key(&mut self) -> FeedKey {
        self.last_feed = self.last_feed.saturating_add(1);
        FeedKey(self.last_feed)
    }

    /// When the loop must come back although nothing happens: a deadline, a queue that opens, or the next
    /// minute on the screen.
    pub fn next_wake(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        let minute = now.checked_add_signed(chrono::TimeDelta::seconds(30)).unwrap_or(now);
        let due = (self.polls_by_itself && !self.offline).then(|| self.timetable.next()).flatten();
        let start = self.traffic.next_start(&self.settings.network);
        [due, start].into_iter().flatten().fold(minute, DateTime::min)
    }

    /// Unread entries over all feeds.
    pub fn unread(&self) -> u32 {
        self.feeds.values().fold(0, |sum, feed| sum.saturating_add(feed.counters.unread))
    }

    /// What the terminal's title says.
    pub fn title(&self) -> String {
        match self.unread() {
            0 => "backissue".to_owned(),
            unread => format!("backissue · {unread} unread"),
        }
    }

    /// Starred entries over all feeds.
    pub fn starred(&self) -> u32 {
        self.feeds.values().fold(0, |sum, feed| sum.saturating_add(feed.counters.starred))
    }

    /// The number of the next addition.
    pub fn next_addition(&self) -> u32 {
        self.additions.keys().next_back().map_or(1, |last| last.saturating_add(1))
    }
}

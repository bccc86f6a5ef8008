//! Connects the screen to the engine: sends requests to the engine, and updates the screen for the engine's events.
//!
//! The screen functions that this file calls never send requests themselves. Code that sends requests is in modules that depend on
//! this file.
//!
//! The results of polls that the user requested together are reported in one line when the last of these polls ends.

use std::collections::BTreeSet;

use backissue_core::InputFlaw;
use backissue_core::history::{EntryKey, FeedKey, Flag, Flags};

use super::app::{App, Cx, Ui};
use super::effect::{ScreenEffect, ask_store};
use super::panes::{feeds_pane, load_rows, search_pane};
use super::reader::{count_reading, full_text};
use super::scroll_list::ScrollList;
use super::settings::ScreenSettings;
use super::state::feeds_pane::PlaceList;
use super::state::layout::Pane;
use super::state::overlay::{AskedQuestion, Asks, ListOf, OpenList, Overlay};
use crate::engine::change::MarkChange;
use crate::engine::entries::rows::RowKey;
use crate::engine::politeness::host_queue::site_of;
use crate::engine::poll::poll_log::PollResult;
use crate::engine::request::{
    Effect, Event, Input, MarkedBy, MarksChanged, NoticeLevel, NoticeOffer,
    Question as QuestionBefore, Request,
};
use crate::engine::state::Engine;
use crate::engine::store_results;
use crate::engine::store_work::Job;
use crate::engine::update::{Output, update};
use crate::ui::state::pending::AskedPolls;

impl App {
    /// Creates a screen for an engine.
    pub fn new(engine: Engine, settings: ScreenSettings) -> Self {
        Self::with_folded(engine, settings, BTreeSet::new())
    }

    /// Creates a screen for an engine, with these tags folded in the list of subscriptions.
    pub fn with_folded(
        mut engine: Engine,
        settings: ScreenSettings,
        folded: BTreeSet<String>,
    ) -> Self {
        engine.attended = true;
        let mut ui = Ui { settings, ..Ui::default() };
        ui.pictures.on = ui.settings.images;
        ui.feeds.folded = folded;
        let mut app = Self { engine, ui };
        feeds_pane::rebuild_rows(&mut app);
        app
    }

    /// Adds to a request that marks entries as read or unread the entries of other feeds that are the same article and share
    /// their rows. An entry is only added to be marked as unread if the user opened it, so that old entries of a history stay as
    /// they are.
    fn with_the_same_articles(&self, mut request: Request) -> Request {
        if let Request::Mark(mark) = &mut request
            && mark.flag == Flag::Read
        {
            let rows = self.ui.list.rows.iter().filter(|row| !row.also.is_empty());
            let rows =
                rows.filter(|row| row.key.entry().is_some_and(|key| mark.keys.contains(&key)));
            let also = rows.flat_map(|row| row.also.iter());
            let changes = |flags: &Flags| {
                if mark.value { flags.is_unread() } else { flags.was_opened() }
            };
            let also = also.filter(|(_, flags)| changes(flags)).map(|(key, _)| *key);
            let also: Vec<EntryKey> = also.collect();
            mark.keys.extend(also);
        }
        request
    }

    /// Assigns IDs to store jobs before they are sent.
    pub(super) fn register(&mut self, effects: &mut [ScreenEffect]) {
        for effect in effects {
            if let ScreenEffect::Engine(effect) = effect {
                store_results::register_work(&mut self.engine, std::slice::from_mut(effect));
            }
        }
    }
}

impl Cx<'_> {
    /// Sends a request to the engine. If the engine does not allow the request, the status line shows the reason.
    pub fn ask(&mut self, request: Request) {
        if let Err(why) = self.try_ask(request) {
            self.complain(why);
        }
    }

    /// Sends a request to the engine. The error is a sentence that explains why the request is not allowed.
    pub fn try_ask(&mut self, request: Request) -> Result<(), InputFlaw> {
        let request = self.app.with_the_same_articles(request);
        let input = Input::Request(request);
        let Output { mut events, effects } = update(&mut self.app.engine, self.now, input);
        let refused = events.iter().position(|event| matches!(event, Event::Refused(_)));
        let refused = refused.map(|place| events.remove(place));
        self.follow(events, effects);
        match refused {
            Some(Event::Refused(why)) => Err(why.into()),
            Some(_) | None => Ok(()),
        }
    }

    /// Passes an input to the engine, then updates the screen for the resulting events.
    pub fn tell_engine(&mut self, input: Input) {
        let Output { events, effects } = update(&mut self.app.engine, self.now, input);
        self.follow(events, effects);
    }

    fn follow(&mut self, events: Vec<Event>, effects: Vec<Effect>) {
        self.out.extend(effects.into_iter().map(ScreenEffect::from));
        // If several feeds are added or removed at once, the list of subscriptions is rebuilt only once.
        let mut lists = events.iter().filter(|event| **event == Event::FeedListChanged).count();
        for event in events {
            if event == Event::FeedListChanged {
                lists = lists.saturating_sub(1);
                if lists > 0 {
                    continue;
                }
            }
            follow_event(self, event);
        }
    }
}

/// Updates the screen for one event of the engine.
fn follow_event(cx: &mut Cx<'_>, event: Event) {
    match event {
        Event::Notice { level: NoticeLevel::Info, text, offer } => {
            let key = offer.map(|offer| key_of_offer(cx.app, offer)).unwrap_or_default();
            cx.say(format!("{text}{key}"));
        }
        Event::Notice { level: NoticeLevel::Trouble, text, .. } | Event::Refused(text) => {
            cx.complain(text);
        }
        Event::Asked(request, question) => ask_first(cx.app, *request, &question),
        Event::FeedsChanged => feeds_pane::rebuild_rows(cx.app),
        Event::FeedListChanged => show_feed_list(cx),
        Event::Indexed { missing } => search_pane::show_indexed(cx, missing),
        Event::PlansChanged => cx.app.ui.feeds.stale = true,
        Event::FeedSettingsChanged(_) => forget_sums(cx.app),
        Event::ChooseFeed(addition) => choose_feed(cx, addition),
        Event::OfferPlain(addition) => offer_plain(cx.app, addition),
        Event::Subscribed { feed, to_read } => {
            show_subscribed(cx, feed, to_read);
        }
        Event::Updated { feed, entries, poll: _ } => show_update(cx, feed, entries),
        Event::ListsChanged => {
            cx.app.ui.list.is_due = true;
            refresh_open_list(cx);
        }
        Event::CountersChanged => {
            cx.app.ui.feeds.stale = true;
            search_pane::count_all(cx);
            // The entries of a mark that was undone are in the list again as soon as all marks are written.
            if cx.app.ui.list.stale && !cx.app.engine.has_unwritten_marks() {
                refresh_open_list(cx);
            }
        }
        Event::MarksChanged(changed) => {
            count_reading::note_marks(cx.app, &changed);
            show_marks(cx.app, &changed);
            if leaves_folded(cx.app, &changed.mark) || enters_list(cx.app, &changed) {
                refresh_open_list(cx);
            }
        }
        Event::FiltersChanged => cx.app.ui.ahead.forget(),
        Event::SearchesPutBack => {
            feeds_pane::rebuild_rows(cx.app);
            search_pane::count_all(cx);
            load_rows::open_list(cx);
        }
        Event::PageFetched { key, full, failed } => {
            full_text::show_page(cx, key, *full, failed);
        }
        Event::PageDropped(key, why) => full_text::drop_page(cx, key, &why),
        Event::PictureFetched(url, bytes) => {
            let work = cx.app.ui.pictures.take_fetched(url, bytes);
            cx.out.extend(work.map(|work| ScreenEffect::Picture(Box::new(work))));
        }
        // These events are for front ends without a screen. The screen gets the same information from the events handled above.
        Event::Polled(result) => note_result(cx, &result),
        Event::Recovered { .. }
        | Event::Moved { .. }
        | Event::MoveProposed { .. }
        | Event::GapOpened { .. }
        | Event::GapClosed { .. }
        | Event::WalkEnded { .. }
        | Event::SubscriptionAdded(_)
        | Event::SubscriptionEnded(_) => {}
        Event::PictureDropped(url, why) => cx.app.ui.pictures.drop_wanted(url, why),
    }
}

/// Updates the subscriptions pane after subscriptions were added or removed. The open list stays open if it still exists.
fn show_feed_list(cx: &mut Cx<'_>) {
    forget_unsubscribed(cx.app);
    feeds_pane::rebuild_rows(cx.app);
    let list = cx.app.ui.feeds.selected_row().map(PlaceList::of);
    if list.as_ref() == Some(&cx.app.ui.list.of) {
        refresh_open_list(cx);
    } else {
        load_rows::open_list(cx);
    }
    search_pane::count_today(cx);
}

/// Returns the key for the action that a notice suggests.
fn key_of_offer(app: &App, offer: NoticeOffer) -> String {
    app.ui.words(match offer {
        NoticeOffer::Undo => return app.ui.settings.keys.undo_hint(),
        NoticeOffer::Redo(1) => "; {redo} brings it back",
        NoticeOffer::Redo(_) => "; {redo} brings them back",
        NoticeOffer::MoreHistory => " · {history} continues",
    })
}

/// Asks the question that the user must answer before a request is carried out.
fn ask_first(app: &mut App, request: Request, question: &QuestionBefore) {
    let text = format!("{}? Enter yes, Esc no", question.text);
    let asks = Asks::Request(Box::new(Request::Answered(Box::new(request), question.step)));
    app.ui.lay_over(Overlay::Question(AskedQuestion { text, asks }));
}

/// Updates the screen after new data of a feed was saved. `entries` is `true` if its entries changed; the open list is then rebuilt
/// if it can contain entries of this feed.
fn show_update(cx: &mut Cx<'_>, feed: FeedKey, entries: bool) {
    if entries {
        cx.app.ui.ahead.forget_feed(feed);
        search_pane::count_today(cx);
    }
    let in_plan = cx.app.ui.plan_pane_mut().is_some_and(|pane| pane.feed == feed);
    cx.out.extend(in_plan.then(|| ask_store(Job::ReadPolls(feed))));
    if entries && load_rows::may_hold(cx.app, feed) {
        refresh_open_list(cx);
    }
}

/// Rebuilds the open list, either now or, if requested rows are still pending, when these rows have arrived.
fn refresh_open_list(cx: &mut Cx<'_>) {
    if cx.app.ui.list.waiting {
        cx.app.ui.list.stale = true;
        return;
    }
    cx.app.ui.list.stale = false;
    load_rows::refresh_list(cx);
}

/// Discards the total cost in the timetable, because the settings of a feed changed.
fn forget_sums(app: &mut App) {
    if let Some(Overlay::Timetable(pane)) = &mut app.ui.overlay {
        pane.sums = None;
    }
}

/// Lets the user choose between the feeds found on a page. If another overlay is open, subscribes to the first readable feed
/// instead, as the command line does by default.
fn choose_feed(cx: &mut Cx<'_>, addition: u32) {
    if matches!(cx.app.ui.overlay, Some(Overlay::Looking(waited)) if waited == addition) {
        cx.app.ui.uncover();
    }
    if cx.app.ui.overlay.is_some() {
        return cx.ask(Request::TakeFirstFeed(addition));
    }
    // The message that the address is being looked up is over.
    cx.app.ui.notice = None;
    cx.app.ui.overlay =
        Some(Overlay::List(OpenList { of: ListOf::Choice(addition), list: ScrollList::default() }));
}

/// Asks whether to request the typed address over an unencrypted connection, unless another overlay is open.
fn offer_plain(app: &mut App, addition: u32) {
    if matches!(app.ui.overlay, Some(Overlay::Looking(waited)) if waited == addition) {
        app.ui.uncover();
    }
    let addition = app.engine.additions.get(&addition);
    let plain =
        addition.and_then(|addition| Some((addition.plain.clone()?, addition.wanted.moves)));
    if let Some((plain, moves)) = plain.filter(|_| app.ui.overlay.is_none()) {
        let text = format!(
            "{} has no secure connection: over http, others could read or change what you see. Use http? y/n",
            site_of(&plain)
        );
        app.ui.lay_over(Overlay::Question(AskedQuestion {
            text,
            asks: Asks::AskPlainly(plain, moves),
        }));
    }
}

/// Selects a newly subscribed feed and shows its entries.
fn show_subscribed(cx: &mut Cx<'_>, feed: FeedKey, to_read: bool) {
    feeds_pane::select_feed(cx, feed);
    load_rows::open_list(cx);
    if matches!(cx.app.ui.overlay, Some(Overlay::Looking(_))) {
        cx.app.ui.uncover();
    }
    if to_read && cx.app.ui.overlay.is_none() {
        // The user wants to read the new feed next, so the entries get the focus: Enter opens the newest entry.
        cx.app.ui.focus = Pane::Entries;
    }
}

/// Starts to collect the results of polls of the feeds in `open`. `left_out` is the number of feeds that were not polled.
pub fn wait_for_polls(app: &mut App, open: BTreeSet<FeedKey>, left_out: usize) {
    if !open.is_empty() {
        app.ui.asked_polls.push(AskedPolls::of(open, left_out));
    }
}

/// Starts to collect the results of the first polls of imported feeds. `said` is the import message, which is shown again together
/// with the results.
pub fn wait_for_import(app: &mut App, open: BTreeSet<FeedKey>, said: &str) {
    if !open.is_empty() {
        let import = Some(said.to_owned());
        app.ui.asked_polls.push(AskedPolls { import, ..AskedPolls::of(open, 0) });
    }
}

/// Stops waiting for poll results of unsubscribed feeds. If a request has no other pending polls, its results are not reported.
pub fn forget_unsubscribed(app: &mut App) {
    let feeds = &app.engine.feeds;
    let is_known = |key: &EntryKey| feeds.contains_key(&key.feed);
    app.ui.marked.entries.retain(is_known);
    app.ui.list.keep.retain(is_known);
    app.ui.asked_polls.retain_mut(|asked| {
        asked.open.retain(|feed| feeds.contains_key(feed));
        !asked.open.is_empty()
    });
}

/// Adds a poll result to the request that it belongs to. If it was the last pending poll of this request, the totals are reported.
pub fn note_result(cx: &mut Cx<'_>, result: &PollResult) {
    let feed = cx.app.engine.feeds.get(&result.feed);
    let title = feed.map_or("", |feed| feed.record.shown_title());
    let mut ended = None;
    cx.app.ui.asked_polls.retain_mut(|asked| {
        asked.take(result, title);
        // Results of feeds that were unsubscribed in the meantime will never arrive.
        asked.open.retain(|feed| cx.app.engine.feeds.contains_key(feed));
        let goes_on = !asked.open.is_empty();
        if !goes_on {
            ended = Some(asked.words(&cx.app.ui.settings.keys));
        }
        goes_on
    });
    if let Some(words) = ended {
        cx.answer(words);
    }
}

/// Checks whether an entry was marked as read but not the entries that share its row because they link to the same page. In this
/// case, these entries then get rows of their own.
fn leaves_folded(app: &App, mark: &MarkChange) -> bool {
    let is_marked = |key: &EntryKey| mark.keys.contains(key);
    let mut rows = app.ui.list.rows.iter().filter(|row| !row.inside.entries.is_empty());
    (mark.flag, mark.value) == (Flag::Read, true)
        && rows.any(|row| {
            row.key.entry().is_some_and(|key| is_marked(&key))
                && !row.inside.entries.iter().all(is_marked)
        })
}

/// Checks whether a mark from a server may add rows to the open list. All other marks only change the rows that are there, so that
/// nothing moves while the user reads.
fn enters_list(app: &App, changed: &MarksChanged) -> bool {
    let MarkChange { flag, value, keys } = &changed.mark;
    let is_shown =
        |key: &EntryKey| app.ui.list.rows.iter().any(|row| row.key == RowKey::Entry(*key));
    changed.by == MarkedBy::Server
        && matches!((flag, value), (Flag::Read, false) | (Flag::Starred, true))
        && keys.iter().any(|key| load_rows::may_hold(app, key.feed) && !is_shown(key))
}

/// Applies changed flags to the rows in memory and to the open entry.
pub fn show_marks(app: &mut App, changed: &MarksChanged) {
    let &MarksChanged { mark: MarkChange { ref keys, flag, value }, by } = changed;
    let (stays, undone) = (matches!(by, MarkedBy::User | MarkedBy::Undo), by == MarkedBy::Undo);
    let wanted: BTreeSet<&EntryKey> = keys.iter().collect();
    let list = &mut app.ui.list;
    // Rows that were requested before the change may arrive with the old flags.
    let has_left = undone && keys.iter().any(|key| !list.keep.contains(key));
    if list.waiting || has_left {
        (list.stale, list.is_due) = (true, true);
    }
    for row in &mut list.rows {
        if let Some(key) = row.key.entry().filter(|key| wanted.contains(key)) {
            row.flags = row.flags.with(flag, value);
            if stays {
                list.keep.insert(key);
            }
        }
        for (_, flags) in row.also.iter_mut().filter(|(key, _)| wanted.contains(key)) {
            *flags = flags.with(flag, value);
        }
    }
    if by == MarkedBy::Filter {
        for key in keys {
            list.keep.remove(key);
        }
    }
    if undone && flag == Flag::Opened {
        list.opened = if value {
            list.opened.saturating_add(keys.len())
        } else {
            list.opened.saturating_sub(keys.len())
        };
    }
    if let Some(reader) = &mut app.ui.reader
        && wanted.contains(&reader.entry.key)
    {
        reader.entry.flags = reader.entry.flags.with(flag, value);
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::follow::*;
    use crate::ui::sample_app::{app_with, fill_list, jobs, noon, rows_wanted, select};
    use crate::ui::state::feeds_pane::FeedsRow;
    use backissue_core::history::EntryKey;

    const FIRST: FeedKey = FeedKey(1);

    fn updated(feed: FeedKey) -> Event {
        Event::Updated { feed, entries: true, poll: true }
    }

    #[test]
    fn refusal_is_shown_and_returned_as_error() {
        let mut app = app_with(&[("Orchard", &[])]);
        app.engine.offline = true;
        let (key, url) = (EntryKey { feed: FIRST, seq: 1 }, "https://a.example/".to_owned());
        let page = Request::FetchPage { key, url, kept: None };
        let refused = Cx::new(&mut app, noon()).try_ask(page.clone());
        assert!(refused.is_err(), "{refused:?}");
        assert_eq!(app.ui.notice, None);
        assert!(Cx::run(&mut app, noon(), |cx| cx.ask(page)).is_empty());
        let notice = app.ui.notice.unwrap();
        assert_eq!((notice.text, notice.trouble), (refused.unwrap_err().to_string(), true));
    }

    #[test]
    fn notice_is_shown_in_bottom_line_with_its_weight() {
        let mut app = app_with(&[]);
        for (level, trouble) in [(NoticeLevel::Info, false), (NoticeLevel::Trouble, true)] {
            Cx::run(&mut app, noon(), |cx| {
                follow_event(cx, Event::Notice { level, text: "told".into(), offer: None });
            });
            let notice = app.ui.notice.take().unwrap();
            assert_eq!((notice.text.as_str(), notice.trouble), ("told", trouble));
        }
    }

    #[test]
    fn mark_from_a_server_changes_its_row_and_reads_no_list_again() {
        let mut app = app_with(&[("Orchard", &[])]);
        fill_list(&mut app, 3);
        let mut mark = |seq: u32, flag: Flag, value: bool| {
            let keys = vec![EntryKey { feed: FIRST, seq }];
            let mark = MarkChange { flag, value, keys };
            let changed = MarksChanged { mark, by: MarkedBy::Server };
            let effects =
                Cx::run(&mut app, noon(), |cx| follow_event(cx, Event::MarksChanged(changed)));
            let flags = app.ui.list.rows.iter().map(|row| row.flags);
            let flags =
                flags.map(|flags| (flags.is_read(), flags.is_starred())).collect::<Vec<_>>();
            (flags, rows_wanted(&effects).is_some(), app.ui.list.keep.len())
        };
        let none = (false, false);
        assert_eq!(mark(1, Flag::Read, true), (vec![none, (true, false), none], false, 0));
        assert_eq!(mark(1, Flag::Read, false), (vec![none; 3], false, 0));
        assert_eq!(mark(0, Flag::Starred, true), (vec![(false, true), none, none], false, 0));
        assert!(!mark(7, Flag::Read, true).1, "it is not shown");
        assert!(mark(7, Flag::Read, false).1, "it may belong in the list now");
    }

    #[test]
    fn feed_entries_rebuild_a_list_that_can_hold_them() {
        let mut app = app_with(&[("Orchard", &[]), ("Tower", &[])]);
        fill_list(&mut app, 3);
        select(&mut app, &FeedsRow::Feed(FIRST, 0));
        assert_eq!(
            rows_wanted(&Cx::run(&mut app, noon(), |cx| follow_event(cx, updated(FeedKey(2))))),
            None
        );
        let effects = Cx::run(&mut app, noon(), |cx| follow_event(cx, updated(FIRST)));
        assert!(rows_wanted(&effects).is_some_and(|wanted| wanted.rebuild.is_some()));
        // Rows are pending, so the list is not refreshed until they arrive.
        assert_eq!(
            rows_wanted(&Cx::run(&mut app, noon(), |cx| follow_event(cx, updated(FIRST)))),
            None
        );
        assert!(app.ui.list.stale);
    }

    #[test]
    fn feed_choice_is_offered_unless_something_is_open() {
        let mut app = app_with(&[]);
        assert!(Cx::run(&mut app, noon(), |cx| follow_event(cx, Event::ChooseFeed(3))).is_empty());
        assert!(matches!(
            app.ui.overlay,
            Some(Overlay::List(OpenList { of: ListOf::Choice(3), .. }))
        ));
    }

    #[test]
    fn new_subscription_is_selected_and_entries_focused() {
        let mut app = app_with(&[("Orchard", &["garden"])]);
        let event = Event::Subscribed { feed: FIRST, to_read: true };
        let effects = Cx::run(&mut app, noon(), |cx| follow_event(cx, event));
        assert_eq!(app.ui.feeds.selected_row(), Some(&FeedsRow::Feed(FIRST, 1)));
        assert_eq!((jobs(&effects).len(), app.ui.focus), (1, Pane::Entries));
    }

    #[test]
    fn fetched_picture_is_kept_and_failed_one_says_why() {
        use crate::ui::state::reader::PictureState;
        let mut app = app_with(&[]);
        let url = || "https://a.example/p.png".to_owned();
        let event = Event::PictureFetched(url(), Ok(std::sync::Arc::new(vec![1])));
        assert!(matches!(
            Cx::run(&mut app, noon(), |cx| follow_event(cx, event)).as_slice(),
            [ScreenEffect::Picture(_)]
        ));
        let event = Event::PictureFetched(url(), Err("too large".into()));
        assert!(Cx::run(&mut app, noon(), |cx| follow_event(cx, event)).is_empty());
        let failed = PictureState::Failed("too large".into());
        assert_eq!(app.ui.pictures.standing(&url()), Some(&failed));
        Cx::run(&mut app, noon(), |cx| follow_event(cx, Event::PictureDropped(url(), None)));
        assert_eq!(app.ui.pictures.standing(&url()), None);
    }
}

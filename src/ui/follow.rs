//! Connects the screen to the engine: sends requests to the engine, and updates the screen for the engine's events.
//!
//! The screen functions that this file calls never send requests themselves. Code that sends requests is in modules that depend on
//! this file.

use backissue_core::InputFlaw;
use chrono::{DateTime, Utc};

use super::actions::poll_answers;
use super::app::App;
use super::effect::{ScreenEffect, ask_store};
use super::panes::{
    counts, feeds_pane, list_query, load_rows, search_pane, shown_marks, tag_folds,
};
use super::reader::page_text;
use super::screen::Ui;
use super::scroll_list::ScrollList;
use super::settings::ScreenSettings;
use super::state::layout::Pane;
use super::state::overlay::{AskedQuestion, Asks, ListOf, OpenList, Overlay};
use crate::engine::effect::Effect;
use crate::engine::event::Question as QuestionBefore;
use crate::engine::event::{Event, NoticeLevel, NoticeOffer};
use crate::engine::input::Input;
use crate::engine::politeness::host_queue::site_of;
use crate::engine::request::{Request, ScreenRequest};
use crate::engine::state::Engine;
use crate::engine::store_results;
use crate::engine::update::{Output, update};
use backissue_core::history::{EntryKey, FeedKey, Flag, Flags};

impl App {
    /// Creates a screen for an engine.
    pub fn new(mut engine: Engine, settings: ScreenSettings) -> Self {
        engine.attended = true;
        let mut ui = Ui { settings, ..Ui::default() };
        ui.pictures.on = ui.settings.images;
        let mut app = Self { engine, ui };
        feeds_pane::rebuild_rows(&mut app);
        app
    }

    /// Sends a request to the engine. If the engine does not allow the request, the status line shows the reason.
    pub fn ask(&mut self, now: DateTime<Utc>, request: Request) -> Vec<ScreenEffect> {
        self.try_ask(now, request).unwrap_or_else(|why| {
            self.ui.complain(now, why);
            Vec::new()
        })
    }

    /// Sends a request to the engine. The error is a sentence that explains why the request is not allowed.
    pub fn try_ask(
        &mut self,
        now: DateTime<Utc>,
        request: Request,
    ) -> Result<Vec<ScreenEffect>, InputFlaw> {
        let request = self.with_the_same_articles(request);
        let Output { mut events, effects } = update(&mut self.engine, now, Input::Request(request));
        let refused = events.iter().position(|event| matches!(event, Event::Refused(_)));
        let refused = refused.map(|place| events.remove(place));
        let effects = self.follow(now, events, effects);
        match refused {
            Some(Event::Refused(why)) => Err(why.into()),
            Some(_) | None => Ok(effects),
        }
    }

    /// Marks entries of other feeds that are the same article together with the one that has a row. Nothing else becomes unread than
    /// what was read, so that old entries of a history stay as they are.
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

    /// Passes an input to the engine, then updates the screen for the resulting events.
    pub fn tell_engine(&mut self, now: DateTime<Utc>, input: Input) -> Vec<ScreenEffect> {
        let Output { events, effects } = update(&mut self.engine, now, input);
        self.follow(now, events, effects)
    }

    fn follow(
        &mut self,
        now: DateTime<Utc>,
        events: Vec<Event>,
        effects: Vec<Effect>,
    ) -> Vec<ScreenEffect> {
        let mut effects: Vec<ScreenEffect> = effects.into_iter().map(Into::into).collect();
        // If several feeds are added or removed at once, the list of subscriptions is rebuilt only once.
        let mut lists = events.iter().filter(|event| **event == Event::FeedListChanged).count();
        for event in events {
            if event == Event::FeedListChanged {
                lists = lists.saturating_sub(1);
                if lists > 0 {
                    continue;
                }
            }
            effects.extend(follow_event(self, now, event));
        }
        effects
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

/// Updates the screen for one event of the engine.
fn follow_event(app: &mut App, now: DateTime<Utc>, event: Event) -> Vec<ScreenEffect> {
    match event {
        Event::Notice { level: NoticeLevel::Info, text, offer } => {
            let key = offer.map(|offer| key_of_offer(app, offer)).unwrap_or_default();
            app.ui.say(now, format!("{text}{key}"));
        }
        Event::Notice { level: NoticeLevel::Trouble, text, .. } | Event::Refused(text) => {
            app.ui.complain(now, text);
        }
        Event::Asked(request, question) => ask_first(app, *request, &question),
        Event::FeedsChanged => feeds_pane::rebuild_rows(app),
        Event::FeedListChanged => {
            poll_answers::forget_unsubscribed(app);
            feeds_pane::rebuild_rows(app);
            let mut effects = load_rows::open_list(app, now);
            effects.extend(counts::count_today(app, now));
            return effects;
        }
        Event::Indexed { missing } => return search_pane::show_indexed(app, now, missing),
        Event::PlansChanged => app.ui.feeds.stale = true,
        Event::FeedSettingsChanged(_) => forget_sums(app),
        Event::ChooseFeed(addition) => return choose_feed(app, now, addition),
        Event::OfferPlain(addition) => offer_plain(app, addition),
        Event::Subscribed { feed, to_read } => {
            return show_subscribed(app, now, feed, to_read);
        }
        Event::Updated { feed, entries, poll: _ } => return show_update(app, now, feed, entries),
        Event::ListsChanged => {
            app.ui.list.is_due = true;
            return refresh_open_list(app, now);
        }
        Event::CountersChanged => {
            app.ui.feeds.stale = true;
            return counts::count_all(app, now);
        }
        Event::MarksChanged(changed) => shown_marks::show_marks(app, &changed),
        Event::FiltersChanged => app.ui.ahead.forget(),
        Event::SearchesPutBack => {
            feeds_pane::rebuild_rows(app);
            let mut effects = counts::count_searches(app, now);
            effects.extend(load_rows::open_list(app, now));
            return effects;
        }
        Event::PageFetched { key, full, failed } => {
            return page_text::show_page(app, now, key, *full, failed);
        }
        Event::PageDropped(key, why) => page_text::drop_page(app, now, key, &why),
        Event::PictureFetched(url, bytes) => {
            let work = app.ui.pictures.take_fetched(url, bytes);
            return work.map(|work| ScreenEffect::Picture(Box::new(work))).into_iter().collect();
        }
        // These events are for front ends without a screen. The screen gets the same information from the events handled above.
        Event::Polled(result) => poll_answers::note_result(app, now, &result),
        Event::Recovered { .. }
        | Event::Moved { .. }
        | Event::MoveProposed { .. }
        | Event::GapOpened { .. }
        | Event::GapClosed { .. }
        | Event::WalkEnded { .. }
        | Event::SubscriptionAdded(_)
        | Event::SubscriptionEnded(_) => {}
        Event::PictureDropped(url, why) => app.ui.pictures.drop_wanted(url, why),
    }
    Vec::new()
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
fn show_update(
    app: &mut App,
    now: DateTime<Utc>,
    feed: FeedKey,
    entries: bool,
) -> Vec<ScreenEffect> {
    let mut effects = Vec::new();
    if entries {
        app.ui.ahead.forget_feed(feed);
        effects.extend(counts::count_today(app, now));
    }
    let in_plan = app.ui.plan_pane_mut().is_some_and(|pane| pane.feed == feed);
    effects.extend(in_plan.then(|| ask_store(ScreenRequest::Polls(feed))));
    if entries && list_query::may_hold(app, feed) {
        effects.extend(refresh_open_list(app, now));
    }
    effects
}

/// Rebuilds the open list, either now or, if requested rows are still pending, when these rows have arrived.
fn refresh_open_list(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.list.waiting {
        app.ui.list.stale = true;
        return Vec::new();
    }
    load_rows::refresh_list(app, now)
}

/// Discards the total cost in the timetable, because the settings of a feed changed.
fn forget_sums(app: &mut App) {
    if let Some(Overlay::Timetable(pane)) = &mut app.ui.overlay {
        pane.sums = None;
    }
}

/// Lets the user choose between the feeds found on a page. If another overlay is open, subscribes to the first readable feed
/// instead, as the command line does by default.
fn choose_feed(app: &mut App, now: DateTime<Utc>, addition: u32) -> Vec<ScreenEffect> {
    if matches!(app.ui.overlay, Some(Overlay::Looking(waited)) if waited == addition) {
        app.ui.uncover();
    }
    if app.ui.overlay.is_some() {
        return app.ask(now, Request::TakeFirstFeed(addition));
    }
    // The message that the address is being looked up is over.
    app.ui.notice = None;
    app.ui.overlay =
        Some(Overlay::List(OpenList { of: ListOf::Choice(addition), list: ScrollList::default() }));
    Vec::new()
}

/// Asks whether to request the typed address without encryption, unless another overlay is open.
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
fn show_subscribed(
    app: &mut App,
    now: DateTime<Utc>,
    feed: FeedKey,
    to_read: bool,
) -> Vec<ScreenEffect> {
    let mut effects: Vec<ScreenEffect> = tag_folds::select_feed(app, feed).into_iter().collect();
    effects.extend(load_rows::open_list(app, now));
    if matches!(app.ui.overlay, Some(Overlay::Looking(_))) {
        app.ui.uncover();
    }
    if to_read && app.ui.overlay.is_none() {
        // The user wants to read the new feed next, so the entries get the focus: Enter opens the newest entry.
        app.ui.focus = Pane::Entries;
    }
    effects
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
        let refused = app.try_ask(noon(), page.clone());
        assert!(refused.is_err(), "{refused:?}");
        assert_eq!(app.ui.notice, None);
        assert!(app.ask(noon(), page).is_empty());
        let notice = app.ui.notice.unwrap();
        assert_eq!((notice.text, notice.trouble), (refused.unwrap_err().to_string(), true));
    }

    #[test]
    fn notice_is_shown_in_bottom_line_with_its_weight() {
        let mut app = app_with(&[]);
        for (level, trouble) in [(NoticeLevel::Info, false), (NoticeLevel::Trouble, true)] {
            follow_event(
                &mut app,
                noon(),
                Event::Notice { level, text: "told".into(), offer: None },
            );
            let notice = app.ui.notice.take().unwrap();
            assert_eq!((notice.text.as_str(), notice.trouble), ("told", trouble));
        }
    }

    #[test]
    fn feed_entries_rebuild_a_list_that_can_hold_them() {
        let mut app = app_with(&[("Orchard", &[]), ("Tower", &[])]);
        fill_list(&mut app, 3);
        select(&mut app, &FeedsRow::Feed(FIRST, 0));
        assert_eq!(rows_wanted(&follow_event(&mut app, noon(), updated(FeedKey(2)))), None);
        let effects = follow_event(&mut app, noon(), updated(FIRST));
        assert!(rows_wanted(&effects).is_some_and(|wanted| wanted.rebuild.is_some()));
        // Rows are pending, so the list is not refreshed until they arrive.
        assert_eq!(rows_wanted(&follow_event(&mut app, noon(), updated(FIRST))), None);
        assert!(app.ui.list.stale);
    }

    #[test]
    fn feed_choice_is_offered_unless_something_is_open() {
        let mut app = app_with(&[]);
        assert!(follow_event(&mut app, noon(), Event::ChooseFeed(3)).is_empty());
        assert!(matches!(
            app.ui.overlay,
            Some(Overlay::List(OpenList { of: ListOf::Choice(3), .. }))
        ));
    }

    #[test]
    fn new_subscription_is_selected_and_entries_focused() {
        let mut app = app_with(&[("Orchard", &["garden"])]);
        let event = Event::Subscribed { feed: FIRST, to_read: true };
        let effects = follow_event(&mut app, noon(), event);
        assert_eq!(app.ui.feeds.selected_row(), Some(&FeedsRow::Feed(FIRST, 1)));
        assert_eq!((jobs(&effects).len(), app.ui.focus), (1, Pane::Entries));
    }

    #[test]
    fn fetched_picture_is_kept_and_failed_one_says_why() {
        use crate::ui::state::pictures::PictureState;
        let mut app = app_with(&[]);
        let url = || "https://a.example/p.png".to_owned();
        let event = Event::PictureFetched(url(), Ok(std::sync::Arc::new(vec![1])));
        assert!(matches!(
            follow_event(&mut app, noon(), event).as_slice(),
            [ScreenEffect::Picture(_)]
        ));
        let event = Event::PictureFetched(url(), Err("too large".into()));
        assert!(follow_event(&mut app, noon(), event).is_empty());
        let failed = PictureState::Failed("too large".into());
        assert_eq!(app.ui.pictures.standing(&url()), Some(&failed));
        follow_event(&mut app, noon(), Event::PictureDropped(url(), None));
        assert_eq!(app.ui.pictures.standing(&url()), None);
    }
}

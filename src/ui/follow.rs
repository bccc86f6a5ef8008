//! The screen's way into the engine: it asks, and it follows what the engine tells.
//!
//! Nothing that is called here asks the engine itself; whatever asks stands above this file.

use chrono::{DateTime, Utc};

use super::app::App;
use super::effect::{ScreenEffect, store};
use super::panes::{counts, feeds_pane, list_query, load_rows, shown_marks, tag_folds};
use super::reader::page_text;
use super::screen::Ui;
use super::scroll_list::ScrollList;
use super::settings::ScreenSettings;
use super::state::layout::Pane;
use super::state::overlay::{Choice, Overlay};
use crate::engine::effect::Effect;
use crate::engine::event::{Event, NoticeLevel};
use crate::engine::input::Input;
use crate::engine::request::Request;
use crate::engine::rollback;
use crate::engine::state::Engine;
use crate::engine::store_work::Job;
use crate::engine::update::{Output, update};
use crate::history::FeedKey;

impl App {
    /// A screen for an engine.
    pub fn new(mut engine: Engine, settings: ScreenSettings) -> Self {
        engine.attended = true;
        let mut ui = Ui { settings, ..Ui::default() };
        ui.pictures.on = ui.settings.images;
        let mut app = Self { engine, ui };
        feeds_pane::rebuild_rows(&mut app);
        app
    }

    /// Asks the engine for something. A refusal is told in the bottom line.
    pub fn ask(&mut self, now: DateTime<Utc>, request: Request) -> Vec<ScreenEffect> {
        self.try_ask(now, request).unwrap_or_else(|why| {
            self.ui.complain(now, why);
            Vec::new()
        })
    }

    /// Asks the engine for something. The error is a sentence that says why it is refused.
    pub fn try_ask(
        &mut self,
        now: DateTime<Utc>,
        request: Request,
    ) -> Result<Vec<ScreenEffect>, String> {
        let Output { mut events, effects } = update(&mut self.engine, now, Input::Request(request));
        let refused = events.iter().position(|event| matches!(event, Event::Refused(_)));
        let refused = refused.map(|place| events.remove(place));
        let effects = self.follow(now, events, effects);
        match refused {
            Some(Event::Refused(why)) => Err(why),
            Some(_) | None => Ok(effects),
        }
    }

    /// Lets the engine take an input, and follows what it tells.
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
        for event in events {
            effects.extend(follow_event(self, now, event));
        }
        effects
    }

    /// Gives work for the store its identity, before it leaves.
    pub(super) fn register(&mut self, effects: &mut [ScreenEffect]) {
        for effect in effects {
            if let ScreenEffect::Engine(effect) = effect {
                rollback::register(&mut self.engine, std::slice::from_mut(effect));
            }
        }
    }
}

/// Follows one event.
fn follow_event(app: &mut App, now: DateTime<Utc>, event: Event) -> Vec<ScreenEffect> {
    match event {
        Event::Notice { level: NoticeLevel::Info, text } => app.ui.say(now, text),
        Event::Notice { level: NoticeLevel::Trouble, text } | Event::Refused(text) => {
            app.ui.complain(now, text);
        }
        Event::FeedsChanged => feeds_pane::rebuild_rows(app),
        Event::FeedListChanged => {
            feeds_pane::rebuild_rows(app);
            let mut effects = load_rows::open_list(app, now);
            effects.extend(counts::count_today(app, now));
            return effects;
        }
        Event::PlansChanged => app.ui.feeds.stale = true,
        Event::FeedSettingsChanged(_) => forget_sums(app),
        Event::ChooseFeed(addition) => return choose_feed(app, now, addition),
        Event::Subscribed { feed, to_read } => {
            return show_subscribed(app, now, feed, to_read);
        }
        Event::Updated { feed, entries, poll: _ } => return show_update(app, now, feed, entries),
        Event::ListsChanged => return refresh_open_list(app, now),
        Event::CountersChanged => return counts::count_all(app, now),
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
        Event::PictureDropped(url, why) => app.ui.pictures.drop_wanted(url, why),
    }
    Vec::new()
}

/// Something about a feed is durable: the open list shows it, if it can hold it.
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
    effects.extend(in_plan.then(|| store(Job::ReadPolls(feed))));
    if entries && list_query::may_hold(app, feed) {
        effects.extend(refresh_open_list(app, now));
    }
    effects
}

/// Builds the open list anew, at once or when the rows on their way have come.
fn refresh_open_list(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.list.waiting {
        app.ui.list.stale = true;
        return Vec::new();
    }
    load_rows::refresh_list(app, now)
}

/// What the reader chose for a feed changed: what all feeds cost is summed up anew in the timetable.
fn forget_sums(app: &mut App) {
    if let Some(Overlay::Timetable(pane)) = &mut app.ui.overlay {
        pane.sums = None;
    }
}

/// A page names several feeds. Where something else is being typed the first one is taken, as on the command line.
fn choose_feed(app: &mut App, now: DateTime<Utc>, addition: u32) -> Vec<ScreenEffect> {
    if app.ui.overlay.is_some() {
        let found = app.engine.additions.get(&addition).and_then(|addition| addition.found.first());
        let url = found.map(|candidate| candidate.url.clone());
        return app.ask(now, Request::Choose { addition, url });
    }
    app.ui.overlay = Some(Overlay::Choice(Choice { addition, list: ScrollList::default() }));
    Vec::new()
}

/// A feed was subscribed to: it is selected, and its entries are shown.
fn show_subscribed(
    app: &mut App,
    now: DateTime<Utc>,
    feed: FeedKey,
    to_read: bool,
) -> Vec<ScreenEffect> {
    let mut effects: Vec<ScreenEffect> = tag_folds::select_feed(app, feed).into_iter().collect();
    effects.extend(load_rows::open_list(app, now));
    if to_read && app.ui.overlay.is_none() {
        // Who typed the address wants to read: Enter opens the newest entry.
        app.ui.focus = Pane::Entries;
    }
    effects
}

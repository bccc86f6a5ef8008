//! What the screen does about what the engine tells.

use chrono::{DateTime, Utc};

use super::app::App;
use super::effect::{ScreenEffect, store};
use super::overlays::{feed_choice, plan_pane, timetable_pane};
use super::panes::{counts, feeds_pane, list_query, load_rows, shown_marks};
use super::reader::{page_text, pictures};
use crate::engine::event::{Event, NoticeLevel};
use crate::engine::store_work::Job;
use crate::history::FeedKey;

/// Follows one event.
pub fn event(app: &mut App, now: DateTime<Utc>, event: Event) -> Vec<ScreenEffect> {
    match event {
        Event::Notice { level: NoticeLevel::Info, text } => app.ui.say(now, text),
        Event::Notice { level: NoticeLevel::Trouble, text } | Event::Refused(text) => {
            app.ui.complain(now, text);
        }
        Event::FeedsChanged => feeds_pane::rebuild(app),
        Event::FeedListChanged => {
            feeds_pane::rebuild(app);
            let mut effects = load_rows::open_list(app, now);
            effects.extend(counts::count_today(app, now));
            return effects;
        }
        Event::PlansChanged => app.ui.feeds.stale = true,
        Event::FeedSettingsChanged(_) => timetable_pane::unsettle(app),
        Event::ChooseFeed(addition) => return feed_choice::offer(app, now, addition),
        Event::Subscribed { feed, to_read } => {
            return feed_choice::subscribed(app, now, feed, to_read);
        }
        Event::Updated { feed, entries, poll: _ } => return updated(app, now, feed, entries),
        Event::ListsChanged => return refresh(app, now),
        Event::CountersChanged => return counts::count(app, now),
        Event::MarksChanged(changed) => shown_marks::show(app, &changed),
        Event::FiltersChanged => app.ui.ahead.forget(),
        Event::SearchesPutBack => {
            feeds_pane::rebuild(app);
            let mut effects = counts::count_searches(app, now);
            effects.extend(load_rows::open_list(app, now));
            return effects;
        }
        Event::PageFetched { key, full, failed } => {
            return page_text::fetched(app, now, key, *full, failed);
        }
        Event::PageDropped(key, why) => page_text::dropped(app, now, key, &why),
        Event::PictureFetched(url, bytes) => {
            return pictures::fetched(app, url, bytes).into_iter().collect();
        }
        Event::PictureDropped(url, why) => pictures::dropped(app, url, why),
    }
    Vec::new()
}

/// Something about a feed is durable: the open list shows it, if it can hold it.
fn updated(app: &mut App, now: DateTime<Utc>, feed: FeedKey, entries: bool) -> Vec<ScreenEffect> {
    let mut effects = Vec::new();
    if entries {
        app.ui.ahead.forget_feed(feed);
        effects.extend(counts::count_today(app, now));
    }
    effects.extend(plan_pane::shows(app, feed).then(|| store(Job::ReadPolls(feed))));
    if entries && list_query::concerns(app, feed) {
        effects.extend(refresh(app, now));
    }
    effects
}

/// Builds the open list anew, at once or when the rows on their way have come.
fn refresh(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    if app.ui.list.waiting {
        app.ui.list.stale = true;
        return Vec::new();
    }
    load_rows::refresh_list(app, now)
}

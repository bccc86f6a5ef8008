//! The full text of the open entry: the text of the page that the entry links to, shown instead of the feed's text.
//!
//! A page is fetched on request, or when an entry of a feed with the full-text setting is opened. A page is fetched only once,
//! unless the entry was edited after that.

use backissue_core::history::EntryKey;
use backissue_core::history::edits::changes_markup;
use chrono::{DateTime, TimeDelta, Utc};

use super::lay_out;
use crate::engine::entries::entry_view::{FullText, LoadedEntry};
use crate::engine::request::Request;
use crate::ui::app::App;
use crate::ui::effect::ScreenEffect;
use crate::ui::panes::attention;
use crate::ui::state::reader::TextSource;

/// Minimum time between a failed request for a page and the next automatic request for the same page.
const PAUSE: TimeDelta = TimeDelta::hours(24);

/// Switches the open entry between the text of its page and the feed's text.
pub fn toggle_text(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(reader) = app.ui.shown_reader_mut() else {
        return app.ui.say_only(
            now,
            "open the entry first: {full-text} shows the full text of the page it links to",
        );
    };
    match reader.source {
        TextSource::Page | TextSource::Changes => {
            reader.show(TextSource::Feed);
            app.ui.say(now, "showing the feed's text");
            lay_out::ask_lines(app)
        }
        TextSource::Waiting => app.ui.say_only(now, "the page is being fetched"),
        TextSource::Feed if reader.is_outdated() => ask_page(app, now, true),
        TextSource::Feed => {
            reader.show(TextSource::Page);
            app.ui.say(now, "showing the full text of the page");
            lay_out::ask_lines(app)
        }
    }
}

/// Switches the open entry between the feed's text and what its publisher changed in it.
pub fn toggle_changes(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(reader) = app.ui.shown_reader_mut() else {
        return app.ui.say_only(now, "open an entry first");
    };
    if reader.source == TextSource::Changes {
        reader.show(TextSource::Feed);
        return lay_out::ask_lines(app);
    }
    let LoadedEntry { kept, body, flags, .. } = &reader.entry;
    let previous = body.as_ref().and_then(|body| Some((body.previous.as_ref()?, body.text()?)));
    let Some((previous, text)) = previous else {
        let why = match kept.former_id_words() {
            _ if flags.is_edited() => "the text before the edit is no longer stored".to_owned(),
            Some(words) => format!("its text has not changed; {words}"),
            None => "the publisher has not edited this entry since it was fetched".to_owned(),
        };
        return app.ui.say_only(now, why);
    };
    reader.changes = changes_markup(previous, kept.title.as_deref(), text);
    reader.show(TextSource::Changes);
    lay_out::ask_lines(app)
}

/// Switches the full-text setting of the open entry's feed or, if no entry is open, of the selected feed: off, whether its entries
/// always show the text of their pages, and whether these are fetched ahead.
pub fn toggle_always(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let feed = match &app.ui.reader {
        Some(reader) => Some(reader.entry.key.feed),
        None => attention::selected_feed(app, now),
    };
    let Some((feed, subscription)) =
        feed.and_then(|feed| Some((feed, app.engine.feeds.get(&feed)?)))
    else {
        return app.ui.say_only(now, "select a feed first");
    };
    let title = subscription.record.shown_title().to_owned();
    let mut chosen = subscription.record.chosen();
    let settings = &mut chosen.feed_settings;
    (settings.full_text, settings.text_ahead) = match (settings.full_text, settings.text_ahead) {
        (false, _) => (true, false),
        (true, false) => (true, true),
        (true, true) => (false, false),
    };
    let (on, ahead) = (settings.full_text, settings.text_ahead);
    match app.try_ask(now, Request::Set(feed, Box::new(chosen))) {
        Ok(mut effects) => {
            let what = match (on, ahead) {
                (_, true) => "fetches full texts ahead, from its next poll on",
                (true, false) => {
                    "always shows the full text; {full-text-always} again fetches it ahead"
                }
                (false, false) => "shows the feed's own text",
            };
            let what = app.ui.words(what);
            app.ui.say_undoable(now, format!("'{title}' {what}"));
            if on {
                effects.extend(show_if_wanted(app, now));
            } else if let Some(reader) = &mut app.ui.reader
                && reader.entry.key.feed == feed
            {
                reader.show(TextSource::Feed);
                effects.extend(lay_out::ask_lines(app));
            }
            effects
        }
        Err(why) => app.ui.complain_only(now, why),
    }
}

/// Shows or requests the page of a newly opened entry if its feed has the full-text setting.
pub fn show_if_wanted(app: &mut App, now: DateTime<Utc>) -> Vec<ScreenEffect> {
    let Some(reader) = &mut app.ui.reader else { return Vec::new() };
    if reader.source != TextSource::Feed {
        return Vec::new();
    }
    let feed = app.engine.feeds.get(&reader.entry.key.feed);
    if !feed.is_some_and(|feed| feed.record.feed_settings.full_text) {
        if app.engine.pages.contains_key(&reader.entry.key) {
            // The user requested the page, left the entry, and opened the entry again before the page arrived.
            reader.source = TextSource::Waiting;
        }
        return Vec::new();
    }
    let failed = reader.entry.full.as_ref().filter(|full| full.failed.is_some());
    if failed.is_some_and(|full| now.signed_duration_since(full.asked) < PAUSE) {
        return Vec::new();
    }
    if reader.entry.page().is_some() {
        // The stored page is shown now. If the entry was edited after this page was fetched, the page is requested again below.
        let place = reader.entry.place;
        reader.show(TextSource::Page);
        reader.entry.place = place;
    }
    if reader.is_outdated() && !app.engine.offline {
        return ask_page(app, now, false);
    }
    Vec::new()
}

/// Requests the page of the open entry. `by_hand` is `true` if the user requested it with a key.
fn ask_page(app: &mut App, now: DateTime<Utc>, by_hand: bool) -> Vec<ScreenEffect> {
    let Some(reader) = &app.ui.reader else { return Vec::new() };
    let link = reader.entry.kept.link.clone();
    let Some(url) = link.filter(|link| link.starts_with("http")) else {
        return app.ui.say_only(now, "this entry has no link: there is only the feed's text");
    };
    let (key, kept) = (reader.entry.key, reader.entry.page().cloned().map(Box::new));
    match app.try_ask(now, Request::FetchPage { key, url, kept }) {
        Err(why) if app.engine.offline => app.ui.say_only(now, why),
        Err(why) => app.ui.complain_only(now, why),
        Ok(effects) => {
            if let Some(reader) =
                app.ui.reader.as_mut().filter(|open| open.source == TextSource::Feed)
            {
                reader.source = TextSource::Waiting;
            }
            if by_hand {
                app.ui.say(now, ASKING);
            }
            effects
        }
    }
}

/// Message in the reader pane while the page of an entry is being fetched.
pub(in crate::ui) const ASKING: &str = "fetching the page of this entry …";

/// Stops waiting for the page of an entry, because it will not be fetched, and shows the reason.
pub fn drop_page(app: &mut App, now: DateTime<Utc>, key: EntryKey, why: &str) {
    if let Some(reader) = app.ui.reader.as_mut().filter(|reader| reader.waits_for(key)) {
        reader.source = TextSource::Feed;
        app.ui.complain(now, format!("no full text: {why}"));
    }
}

/// Shows the fetched page of an entry, if the reader pane waits for it.
pub fn show_page(
    app: &mut App,
    now: DateTime<Utc>,
    key: EntryKey,
    full: FullText,
    failed: Option<String>,
) -> Vec<ScreenEffect> {
    let open = app.ui.reader.as_mut().filter(|reader| reader.entry.key == key);
    let trouble = open.and_then(|reader| {
        let before = reader.entry.page().map(|page| page.html.clone());
        let is_new = failed.is_none() && before.as_ref() != Some(&full.html);
        reader.entry.full = Some(full);
        if is_new && reader.source == TextSource::Page {
            (reader.rendered, reader.width) = (None, 0);
        }
        match reader.source {
            TextSource::Waiting if failed.is_none() => reader.show(TextSource::Page),
            TextSource::Waiting => reader.source = TextSource::Feed,
            // The user switched back to the feed's text before the page arrived, so the feed's text stays visible.
            TextSource::Feed | TextSource::Page | TextSource::Changes => {}
        }
        failed.map(|why| format!("no full text: {why}"))
    });
    let asking = app.ui.notice.as_ref().is_some_and(|notice| notice.text == ASKING);
    if asking && trouble.is_none() {
        app.ui.notice = None;
    }
    if let Some(trouble) = trouble {
        app.ui.complain(now, trouble);
    }
    lay_out::ask_lines(app)
}

//! The full text of the open entry: the text of the page that the entry links to, shown instead of the feed's text.
//!
//! A page is fetched on request, or when an entry of a feed with the full-text setting is opened. A page is fetched only once,
//! unless the entry was edited after that.

use backissue_core::history::EntryKey;
use backissue_core::history::edits::changes_markup;
use chrono::TimeDelta;

use super::lay_out;
use crate::engine::entries::entry_view::{FullText, LoadedEntry};
use crate::engine::request::Request;
use crate::ui::app::Cx;
use crate::ui::panes::attention;
use crate::ui::state::reader::TextSource;

/// Minimum time between a failed request for a page and the next automatic request for the same page.
const PAUSE: TimeDelta = TimeDelta::hours(24);

/// Switches the open entry between the text of its page and the feed's text.
pub fn toggle_text(cx: &mut Cx<'_>) {
    let Some(reader) = cx.app.ui.shown_reader_mut() else {
        return cx
            .say("open the entry first: {full-text} shows the full text of the page it links to");
    };
    match reader.source {
        TextSource::Page | TextSource::Changes => {
            reader.show(TextSource::Feed);
            cx.say("showing the feed's text");
            lay_out::ask_lines(cx);
        }
        TextSource::Waiting => cx.say("the page is being fetched"),
        TextSource::Feed if reader.is_outdated() => ask_page(cx, true),
        TextSource::Feed => {
            reader.show(TextSource::Page);
            cx.say("showing the full text of the page");
            lay_out::ask_lines(cx);
        }
    }
}

/// Switches the open entry between the feed's text and the changes that the publisher made to it.
pub fn toggle_changes(cx: &mut Cx<'_>) {
    let Some(reader) = cx.app.ui.shown_reader_mut() else {
        return cx.say("open an entry first");
    };
    if reader.source == TextSource::Changes {
        reader.show(TextSource::Feed);
        return lay_out::ask_lines(cx);
    }
    let LoadedEntry { kept, body, flags, .. } = &reader.entry;
    let previous = body.as_ref().and_then(|body| Some((body.previous.as_ref()?, body.text()?)));
    let Some((previous, text)) = previous else {
        let why = match kept.former_id_words() {
            _ if flags.is_edited() => "the text before the edit is no longer stored".to_owned(),
            Some(words) => format!("its text has not changed; {words}"),
            None => "the publisher has not edited this entry since it was fetched".to_owned(),
        };
        return cx.say(why);
    };
    reader.changes = changes_markup(previous, kept.title.as_deref(), text);
    reader.show(TextSource::Changes);
    lay_out::ask_lines(cx);
}

/// Switches the full-text setting of the open entry's feed or, if no entry is open, of the selected feed. The setting is off, or
/// shows the pages of its entries, or also fetches these pages ahead.
pub fn toggle_always(cx: &mut Cx<'_>) {
    let feed = match &cx.app.ui.reader {
        Some(reader) => Some(reader.entry.key.feed),
        None => attention::selected_feed(cx.app, cx.now),
    };
    let Some((feed, subscription)) =
        feed.and_then(|feed| Some((feed, cx.app.engine.feeds.get(&feed)?)))
    else {
        return cx.say("select a feed first");
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
    match cx.try_ask(Request::Set(feed, Box::new(chosen))) {
        Ok(_effects) => {
            let what = match (on, ahead) {
                (_, true) => "fetches full texts ahead, from its next poll on",
                (true, false) => {
                    "always shows the full text; {full-text-always} again fetches it ahead"
                }
                (false, false) => "shows the feed's own text",
            };
            let what = cx.app.ui.words(what);
            cx.say_undoable(format!("'{title}' {what}"));
            if on {
                show_if_wanted(cx);
            } else if let Some(reader) = &mut cx.app.ui.reader
                && reader.entry.key.feed == feed
            {
                reader.show(TextSource::Feed);
                lay_out::ask_lines(cx);
            }
        }
        Err(why) => cx.complain(why),
    }
}

/// Shows or requests the page of a newly opened entry if its feed has the full-text setting.
pub fn show_if_wanted(cx: &mut Cx<'_>) {
    let Some(reader) = &mut cx.app.ui.reader else { return };
    if reader.source != TextSource::Feed {
        return;
    }
    let feed = cx.app.engine.feeds.get(&reader.entry.key.feed);
    if !feed.is_some_and(|feed| feed.record.feed_settings.full_text) {
        if cx.app.engine.pages.contains_key(&reader.entry.key) {
            // The user requested the page, left the entry, and opened the entry again before the page arrived.
            reader.source = TextSource::Waiting;
        }
        return;
    }
    let failed = reader.entry.full.as_ref().filter(|full| full.failed.is_some());
    if failed.is_some_and(|full| cx.now.signed_duration_since(full.asked) < PAUSE) {
        return;
    }
    if reader.entry.page().is_some() {
        // The stored page is shown now. If the entry was edited after this page was fetched, the page is requested again below.
        let place = reader.entry.place;
        reader.show(TextSource::Page);
        reader.entry.place = place;
    }
    if reader.is_outdated() && !cx.app.engine.offline {
        ask_page(cx, false);
    }
}

/// Requests the page of the open entry. `by_hand` is `true` if the user requested it with a key.
fn ask_page(cx: &mut Cx<'_>, by_hand: bool) {
    let Some(reader) = &cx.app.ui.reader else { return };
    let link = reader.entry.kept.link.clone();
    let Some(url) = link.filter(|link| link.starts_with("http")) else {
        return cx.say("this entry has no link: there is only the feed's text");
    };
    let (key, kept) = (reader.entry.key, reader.entry.page().cloned().map(Box::new));
    match cx.try_ask(Request::FetchPage { key, url, kept }) {
        Err(why) if cx.app.engine.offline => cx.say(why),
        Err(why) => cx.complain(why),
        Ok(_effects) => {
            if let Some(reader) =
                cx.app.ui.reader.as_mut().filter(|open| open.source == TextSource::Feed)
            {
                reader.source = TextSource::Waiting;
            }
            if by_hand {
                cx.say(ASKING);
            }
        }
    }
}

/// Message in the reader pane while the page of an entry is being fetched.
pub(in crate::ui) const ASKING: &str = "fetching the page of this entry …";

/// Stops waiting for the page of an entry, because it will not be fetched, and shows the reason.
pub fn drop_page(cx: &mut Cx<'_>, key: EntryKey, why: &str) {
    if let Some(reader) = cx.app.ui.reader.as_mut().filter(|reader| reader.waits_for(key)) {
        reader.source = TextSource::Feed;
        cx.complain(format!("no full text: {why}"));
    }
}

/// Shows the fetched page of an entry, if the reader pane waits for it.
pub fn show_page(cx: &mut Cx<'_>, key: EntryKey, full: FullText, failed: Option<String>) {
    let open = cx.app.ui.reader.as_mut().filter(|reader| reader.entry.key == key);
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
    let asking = cx.app.ui.notice.as_ref().is_some_and(|notice| notice.text == ASKING);
    if asking && trouble.is_none() {
        cx.app.ui.notice = None;
    }
    if let Some(trouble) = trouble {
        cx.complain(trouble);
    }
    lay_out::ask_lines(cx);
}

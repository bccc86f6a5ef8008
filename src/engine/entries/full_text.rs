//! The full text of an entry: the page it links to, asked for as politely as a feed, kept, and shown in place of the
//! feed's text.
//!
//! A page is asked for when the reader says so, or when an entry is opened of a feed whose reader always wants it; once,
//! and again only if the entry was edited since. It waits in the queue of its site like everything else.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::engine::effect::Effect;
use crate::engine::feeds::feed_settings;
use crate::engine::feeds::subscription::Validators;
use crate::engine::model::Model;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits;
use crate::engine::politeness::reachability::Sign;
use crate::engine::poll::classify_response::status_words;
use crate::engine::poll::fetch::AddressSource;
use crate::engine::poll::fetch::AnswerBody;
use crate::engine::poll::fetch::FetchId;
use crate::engine::poll::fetch::Fetched;
use crate::engine::poll::fetch::Purpose;
use crate::engine::poll::fetch::Request;
use crate::engine::poll::fetch::RequestKind;
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::polling;
use crate::history::EntryKey;
use crate::schedule::Wait;
use crate::ui::reader::open_entry;
use crate::ui::screen::Reader;

/// A page that could not be read is not asked for again by itself within this time.
const PAUSE: TimeDelta = TimeDelta::hours(24);

/// Said until the answer is there.
const ASKING: &str = "asking for the page of this entry …";

/// What is kept of the page an entry links to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FullText {
    /// Where it came from.
    pub url: String,
    /// Its text as marked up.
    pub html: String,
    /// When it was asked for last.
    pub asked: DateTime<Utc>,
    /// Validators of the page.
    pub validators: Validators,
    /// Why there is no text, as a sentence.
    pub failed: Option<String>,
}

/// Which text of an entry is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Source {
    /// The feed's.
    #[default]
    Feed,
    /// The feed's, while the page is asked for.
    Waiting,
    /// The page's.
    Page,
}

impl Reader {
    /// The page's text, if it was read.
    fn page(&self) -> Option<&FullText> {
        self.entry.full.as_ref().filter(|full| full.failed.is_none())
    }

    /// The text to show, as marked up, and the address that references in it are relative to.
    pub fn markup(&self) -> (&str, Option<&str>) {
        if let Some(full) = self.page().filter(|_| self.source == Source::Page) {
            return (&full.html, Some(&full.url));
        }
        let text = self.entry.body.as_ref().and_then(|body| body.text());
        (text.unwrap_or_default(), self.entry.kept.link.as_deref())
    }

    fn show(&mut self, source: Source) {
        if (self.source == Source::Page) != (source == Source::Page) {
            (self.rendered, self.width) = (None, 0);
            (self.scroll, self.sideways) = (0, 0);
            self.entry.place = None;
        }
        self.source = source;
    }

    fn waits_for(&self, key: EntryKey) -> bool {
        self.entry.key == key && self.source == Source::Waiting
    }

    /// Whether the page is older than the entry says it is.
    fn is_outdated(&self) -> bool {
        let changed = self.entry.kept.updated;
        self.page().is_none_or(|full| changed.is_some_and(|changed| changed > full.asked))
    }
}

/// Shows the full text, or the feed's again.
pub fn toggle(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(reader) = model.screen.shown_reader_mut() else {
        model
            .screen
            .say(now, "open the entry first: v shows the full text of the page it links to");
        return Vec::new();
    };
    match reader.source {
        Source::Page => {
            reader.show(Source::Feed);
            model.screen.say(now, "the feed's text");
            open_entry::render(model)
        }
        Source::Waiting => {
            model.screen.say(now, "the page is being asked for");
            Vec::new()
        }
        Source::Feed if reader.is_outdated() => ask_for(model, now, true),
        Source::Feed => {
            reader.show(Source::Page);
            model.screen.say(now, "the full text of the page");
            open_entry::render(model)
        }
    }
}

/// Switches whether entries of this feed are always shown with their full text.
pub fn always(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let feed = match &model.screen.reader {
        Some(reader) => Some(reader.entry.key.feed),
        None => crate::ui::panes::feeds_pane::selected_feed(model, now),
    };
    let Some((feed, subscription)) = feed.and_then(|feed| Some((feed, model.feeds.get(&feed)?)))
    else {
        model.screen.say(now, "select a feed first");
        return Vec::new();
    };
    let title = subscription.record.shown_title().to_owned();
    let mut chosen = subscription.record.chosen();
    chosen.wishes.full_text = !chosen.wishes.full_text;
    let on = chosen.wishes.full_text;
    match feed_settings::change(model, now, feed, chosen) {
        Ok(mut effects) => {
            let what = if on { "always with the full text" } else { "with the feed's own text" };
            model.screen.say(now, format!("'{title}' is shown {what} · u undo"));
            if on {
                effects.extend(opened(model, now));
            } else if let Some(reader) = &mut model.screen.reader
                && reader.entry.key.feed == feed
            {
                reader.show(Source::Feed);
                effects.extend(open_entry::render(model));
            }
            effects
        }
        Err(why) => {
            model.screen.complain(now, why);
            Vec::new()
        }
    }
}

/// An entry was opened: if its feed is always read with the full text, that is shown, or asked for.
pub fn opened(model: &mut Model, now: DateTime<Utc>) -> Vec<Effect> {
    let Some(reader) = &mut model.screen.reader else { return Vec::new() };
    if reader.source != Source::Feed {
        return Vec::new();
    }
    let feed = model.feeds.get(&reader.entry.key.feed);
    if !feed.is_some_and(|feed| feed.record.wishes.full_text) {
        if model.pages.contains_key(&reader.entry.key) {
            // It was asked for before the entry was left.
            reader.source = Source::Waiting;
        }
        return Vec::new();
    }
    let failed = reader.entry.full.as_ref().filter(|full| full.failed.is_some());
    if failed.is_some_and(|full| now.signed_duration_since(full.asked) < PAUSE) {
        return Vec::new();
    }
    if reader.page().is_some() {
        // It is shown at once as it is kept, and again when a newer one has come.
        let place = reader.entry.place;
        reader.show(Source::Page);
        reader.entry.place = place;
    }
    if reader.is_outdated() && !model.offline {
        return ask_for(model, now, false);
    }
    Vec::new()
}

/// Puts the page of the open entry into its site's queue.
fn ask_for(model: &mut Model, now: DateTime<Utc>, by_hand: bool) -> Vec<Effect> {
    let Some(reader) = &mut model.screen.reader else { return Vec::new() };
    let link = reader.entry.kept.link.clone();
    let Some(url) = link.filter(|link| link.starts_with("http")) else {
        model.screen.say(now, "this entry links to no page: the feed's text is all there is");
        return Vec::new();
    };
    if model.offline {
        model.screen.say(now, "offline: the full text cannot be fetched");
        return Vec::new();
    }
    let (key, kept) = (reader.entry.key, reader.page().cloned());
    let under_way = model.pages.contains_key(&key);
    if let Some(why) = rate_limits::left_alone(model, now, &url).filter(|_| !under_way) {
        model.screen.complain(now, format!("no full text: {why}"));
        return Vec::new();
    }
    if let Some(reader) = model.screen.reader.as_mut().filter(|open| open.source == Source::Feed) {
        reader.source = Source::Waiting;
    }
    if by_hand {
        model.screen.say(now, ASKING);
    }
    if under_way {
        return Vec::new();
    }
    model.pages.insert(key, kept);
    let waiting = Waiting { url, purpose: Purpose::FullText(key), cause: PollCause::Asked };
    model.traffic.enqueue(waiting, &model.settings.network);
    polling::start(model, now)
}

/// The request for a page. It may lead wherever a supplied address may (SPEC D.6).
pub fn ask(model: &Model, id: FetchId, key: EntryKey, url: String) -> Vec<Effect> {
    let (address_source, allow_insecure) = address_source(model, key, &url);
    let kept = model.pages.get(&key).and_then(Option::as_ref);
    let validators = kept.map(|full| full.validators.clone());
    vec![Effect::Fetch(Request {
        id,
        url,
        validators,
        kind: RequestKind::Page,
        address_source,
        allow_insecure,
    })]
}

/// Where an address that an entry names may lead, and whether without TLS.
pub fn address_source(model: &Model, key: EntryKey, url: &str) -> (AddressSource, bool) {
    let feed = model.feeds.get(&key.feed);
    let by = feed.map(|feed| feed.record.url.clone()).unwrap_or_default();
    let allowed = feed.is_some_and(|feed| feed.record.wishes.allow_insecure);
    // A feed of the reader's own network may lead to pages beside it; any other only to public ones.
    let heard = feed.and_then(|feed| feed.history.heard.as_ref());
    let public = heard.is_none_or(|heard| heard.public);
    // Where the entry itself leads over http there is nothing that could be made insecure.
    (AddressSource::Supplied { by, public }, allowed || url.starts_with("http:"))
}

/// The request for a page ended.
pub fn fetched(
    model: &mut Model,
    now: DateTime<Utc>,
    key: EntryKey,
    url: &str,
    fetched: Fetched,
) -> Vec<Effect> {
    let kept = model.pages.remove(&key).flatten();
    let mut effects = noted(model, now, url, &fetched);
    effects.extend(take(model, now, key, url, kept, fetched));
    effects.extend(polling::start(model, now));
    effects
}

/// What the end of a fetch says about the network, and about its host: a 429 keeps the feeds there away.
pub fn noted(model: &mut Model, now: DateTime<Utc>, url: &str, fetched: &Fetched) -> Vec<Effect> {
    let mut effects = Vec::new();
    match model.network.note(now, url, fetched, None) {
        Sign::Offline(suspects) => effects.extend(rate_limits::went_offline(model, now, suspects)),
        Sign::Online => rate_limits::came_online(&mut model.traffic),
        Sign::Unclear => {}
    }
    let limited = fetched.result.as_ref().ok().filter(|answer| answer.status == 429);
    if let Some(answer) = limited {
        let wait = Wait::of_host(&answer.headers.times(), answer.received);
        effects.extend(rate_limits::spread_wait(model, now, url, None, wait));
    }
    effects
}

/// The host wants to be left alone, or the feed was given up: the page is not asked for after all.
pub fn dropped(model: &mut Model, now: DateTime<Utc>, key: EntryKey, why: &str) {
    model.pages.remove(&key);
    if let Some(reader) = model.screen.reader.as_mut().filter(|reader| reader.waits_for(key)) {
        reader.source = Source::Feed;
        model.screen.complain(now, format!("no full text: {why}"));
    }
}

fn take(
    model: &mut Model,
    now: DateTime<Utc>,
    key: EntryKey,
    url: &str,
    kept: Option<FullText>,
    fetched: Fetched,
) -> Vec<Effect> {
    let judged = judge(fetched, now, kept.as_ref());
    let why = judged.as_ref().err().cloned();
    let before = kept.as_ref().map(|kept| kept.html.clone());
    let full = match (judged, kept) {
        (Ok(full), _) => full,
        // A page that was read once stays.
        (Err(_), Some(kept)) => FullText { asked: now, ..kept },
        (Err(why), None) => {
            FullText { url: url.to_owned(), asked: now, failed: Some(why), ..FullText::default() }
        }
    };
    let open = model.screen.reader.as_mut().filter(|reader| reader.entry.key == key);
    let told = open.and_then(|reader| {
        reader.entry.full = Some(full.clone());
        if why.is_none() && reader.source == Source::Page && before.as_ref() != Some(&full.html) {
            (reader.rendered, reader.width) = (None, 0);
        }
        match reader.source {
            Source::Waiting if why.is_none() => reader.show(Source::Page),
            Source::Waiting => reader.source = Source::Feed,
            // Who went back to the feed's text meanwhile stays there.
            Source::Feed | Source::Page => {}
        }
        why.map(|why| format!("no full text: {why}"))
    });
    let asking = model.screen.notice.as_ref().is_some_and(|notice| notice.text == ASKING);
    if asking && told.is_none() {
        model.screen.notice = None;
    }
    if let Some(told) = told {
        model.screen.complain(now, told);
    }
    let mut effects = vec![Effect::SaveFullText(key, Box::new(full))];
    effects.extend(open_entry::render(model));
    effects
}

/// What an answer brings; an error says why it brings nothing.
fn judge(
    fetched: Fetched,
    now: DateTime<Utc>,
    kept: Option<&FullText>,
) -> Result<FullText, String> {
    let answer = fetched.result.map_err(|failure| failure.to_string())?;
    match (answer.status, answer.body) {
        (304, _) => {
            let kept = kept.cloned().ok_or("the server says that nothing has changed")?;
            Ok(FullText { asked: now, ..kept })
        }
        (200 | 203, AnswerBody::Article(article)) => {
            let validators = Validators {
                url: answer.url.clone(),
                etag: answer.headers.etag,
                last_modified: answer.headers.last_modified,
            };
            Ok(FullText { url: answer.url, html: article?, asked: now, validators, failed: None })
        }
        (200..=299, _) => Err("the page is empty".to_owned()),
        (status, _) => Err(format!("the page answered {}", status_words(status))),
    }
}

//! Fetches the pages that entries link to, and the pictures in entries, with the same limits and pauses as for feeds. A page is
//! fetched once: when the user requests it, or opens an entry of a feed that is set to show pages. Pictures are not decoded here.
//! Both can also be fetched ahead, before the user opens the entries.
//!
//! After each poll of a feed, the pages and pictures that the user wants ahead are queued after all other requests to their sites,
//! and attached files of new entries are added to the downloads. Each kind has a daily limit. Pages and pictures beyond the limit
//! are fetched after the polls of the next day.
//!
//! First the pages of the feed's newest unread entries are queued, as many as the daily limit allows. Then the texts are searched
//! for pictures, and pictures that are not in the cache are fetched in the same way.

use std::sync::Arc;

use backissue_core::feed::dates::calendar::day_of;
use backissue_core::history::{EntryKey, FeedKey, address};
use backissue_core::{InputFlaw, flaw};
use chrono::{DateTime, Utc};

use super::ahead_work::{
    AheadPart, AheadToday, PICTURE_BYTES_A_DAY, PictureTask, PictureTaskDone, PicturedText,
    TextsWanted,
};
use super::entry_view::FullText;
use crate::engine::downloads::progress::read_attached;
use crate::engine::downloads::record::AttachedWanted;
use crate::engine::feeds::subscription::Subscription;
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits::{self, left_alone_until, note_network};
use crate::engine::poll::classify_response::status_words;
use crate::engine::poll::fetch::{AnswerBody, Fetched, Purpose, Validators};
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::start_fetches;
use crate::engine::request::{Effect, Event};
use crate::engine::state::Engine;
use crate::engine::store_work::Job;

/// Queues the page that an entry links to, unless it is already queued. `kept` is the stored copy of the page. The error is a
/// sentence: the program is offline, or the site asked for a pause.
pub fn fetch_page(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    url: String,
    kept: Option<Box<FullText>>,
) -> Result<(), InputFlaw> {
    if queue_page(engine, now, key, url, kept, PollCause::Asked)? {
        start_fetches::start(engine, now);
    }
    Ok(())
}

/// Like [`fetch_page`], but starts no request. Returns `false` if the page was queued already.
fn queue_page(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    url: String,
    kept: Option<Box<FullText>>,
    cause: PollCause,
) -> Result<bool, InputFlaw> {
    if engine.offline {
        return Err("offline: the full text cannot be fetched".into());
    }
    if engine.pages.contains_key(&key) {
        if cause == PollCause::Asked {
            put_first(engine, key);
        }
        return Ok(false);
    }
    if let Some(why) = rate_limits::left_alone(engine, now, &url) {
        return Err(flaw!("no full text: {why}"));
    }
    engine.pages.insert(key, kept.map(|kept| *kept));
    let waiting = Waiting { url, purpose: Purpose::FullText(key), cause };
    engine.host_queue.enqueue(waiting, &engine.settings.network);
    Ok(true)
}

/// Moves a page that was to be fetched ahead to the requests of the user.
fn put_first(engine: &mut Engine, key: EntryKey) {
    let is_meant = |waiting: &Waiting| waiting.purpose == Purpose::FullText(key);
    for waiting in engine.host_queue.take_waiting(is_meant) {
        let waiting = Waiting { cause: PollCause::Asked, ..waiting };
        engine.host_queue.enqueue(waiting, &engine.settings.network);
    }
}

/// Handles the result of the request for a page.
pub fn page_fetched(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    waiting: &Waiting,
    fetched: Fetched,
) {
    let url = &waiting.url;
    let kept = engine.pages.remove(&key).flatten();
    note_network(engine, now, url, &fetched, None);
    // If there is no network or the site asks for a pause, a failure says nothing about the page. The next poll of the feed tries
    // again.
    let is_hindered = engine.host_queue.probe_at.is_some()
        || left_alone_until(engine, url, now).is_some()
        || asks_for_wait(&fetched);
    if !(is_hindered && waiting.is_ahead() && kept.is_none()) {
        keep_page(engine, now, key, url, kept, fetched);
    }
    look_for_pictures(engine, now, key.feed);
    start_fetches::start(engine, now);
}

/// Checks whether a response asks for fewer requests (status 429 or 503).
fn asks_for_wait(fetched: &Fetched) -> bool {
    fetched.result.as_ref().is_ok_and(|answer| matches!(answer.status, 429 | 503))
}

/// Drops the queued requests for pages of a feed that are fetched ahead.
pub fn drop_ahead(engine: &mut Engine, feed: FeedKey) {
    let dropped = engine.host_queue.take_waiting(|waiting| {
        matches!(waiting.purpose, Purpose::FullText(key) if key.feed == feed) && waiting.is_ahead()
    });
    for waiting in dropped {
        if let Purpose::FullText(key) = waiting.purpose {
            engine.pages.remove(&key);
        }
    }
}

fn keep_page(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    url: &str,
    kept: Option<FullText>,
    fetched: Fetched,
) {
    let judged = classify_page(fetched, now, kept.as_ref());
    let failed = judged.as_ref().err().map(ToString::to_string);
    let full = match (judged, kept) {
        (Ok(full), _) => full,
        // The request failed: keep the text that was stored earlier.
        (Err(_), Some(kept)) => FullText { asked: now, ..kept },
        (Err(why), None) => FullText {
            url: url.to_owned(),
            asked: now,
            failed: Some(why.into()),
            ..FullText::default()
        },
    };
    let full = Box::new(full);
    engine.tell(Event::PageFetched { key, full: full.clone(), failed });
    engine.store(Job::SaveFullText(key, full));
}

/// Returns the text of the page in a response, or the reason that there is no text.
fn classify_page(
    fetched: Fetched,
    now: DateTime<Utc>,
    kept: Option<&FullText>,
) -> Result<FullText, InputFlaw> {
    let answer = fetched.result.map_err(|failure| failure.to_string())?;
    if let Some(wall) = answer.bot_wall() {
        return Err(flaw!("the server answered {}", wall.words(&status_words(answer.status))));
    }
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
        (200..=299, _) => Err("the page is empty".into()),
        (status, _) => Err(flaw!("the server answered {}", status_words(status))),
    }
}

/// Maximum size of a picture, in bytes.
pub const PICTURE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Unsupported picture formats. A picture whose URL ends in one of these extensions is not requested.
const NOT_SHOWN: [(&str, &str); 6] = [
    (".svg", "SVG"),
    (".svgz", "SVG"),
    (".avif", "AVIF"),
    (".heic", "HEIC"),
    (".jxl", "JPEG XL"),
    (".tiff", "TIFF"),
];

/// Explains why a picture with an unsupported format is not requested. Returns `None` if the format may be supported.
pub fn why_unsupported(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let (_, kind) = NOT_SHOWN.iter().find(|(end, _)| path.ends_with(end))?;
    Some(format!("{kind} cannot be shown here"))
}

/// Adds the request for a picture to the queue of its site. The error is a sentence fragment with the reason for not fetching the
/// picture.
pub fn fetch(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    url: String,
) -> Result<(), InputFlaw> {
    if engine.offline {
        return Err("offline".into());
    }
    if engine.host_queue.hurry_picture(&url) {
        // The picture was to be fetched ahead. Now the screen waits for it.
        engine.pictures_ahead.forget(&url);
        start_fetches::start(engine, now);
        return Ok(());
    }
    if let Some(why) = rate_limits::left_alone(engine, now, &url) {
        return Err(why.into());
    }
    let waiting = Waiting { url, purpose: Purpose::Picture(key), cause: PollCause::Asked };
    engine.host_queue.enqueue(waiting, &engine.settings.network);
    start_fetches::start(engine, now);
    Ok(())
}

/// Drops the queued requests for pictures of the screen. Requests in progress continue.
pub fn drop_waiting(engine: &mut Engine) {
    let dropped = engine.host_queue.take_waiting(|waiting| {
        matches!(waiting.purpose, Purpose::Picture(_)) && !waiting.is_ahead()
    });
    for waiting in dropped {
        engine.tell(Event::PictureDropped(waiting.url, None));
    }
}

/// Handles the result of the request for a picture.
pub fn picture_fetched(
    engine: &mut Engine,
    now: DateTime<Utc>,
    key: EntryKey,
    waiting: Waiting,
    fetched: Fetched,
) {
    let url = &waiting.url;
    note_network(engine, now, url, &fetched, None);
    let is_held = left_alone_until(engine, url, now).is_some() || asks_for_wait(&fetched);
    if is_held {
        drop_host(engine, url);
    }
    let wire_bytes = fetched.wire_bytes;
    let picture = read(fetched);
    if waiting.is_ahead() {
        // If there is no network or the site asks for a pause, a failure says nothing about the picture.
        let is_final = !is_held && engine.host_queue.probe_at.is_none();
        let (picture, ahead) =
            (picture.ok(), AheadPicture { url: waiting.url, wire_bytes, is_final });
        fetched_ahead(engine, now, key, ahead, picture);
    } else {
        engine.tell(Event::PictureFetched(waiting.url, picture));
    }
    start_fetches::start(engine, now);
}

/// Drops the queued requests for pictures from the host of `url`, which asked for fewer requests.
fn drop_host(engine: &mut Engine, url: &str) {
    let limited = host(url);
    let dropped = engine.host_queue.take_waiting(|waiting| {
        matches!(waiting.purpose, Purpose::Picture(_)) && host(&waiting.url) == limited
    });
    for waiting in dropped {
        if waiting.is_ahead() {
            engine.pictures_ahead.forget(&waiting.url);
            continue;
        }
        let why = format!("{limited} asks for fewer requests");
        engine.tell(Event::PictureDropped(waiting.url, Some(why)));
    }
}

/// Returns the bytes of the picture in a response, or the reason that there is no picture.
fn read(fetched: Fetched) -> Result<Arc<Vec<u8>>, InputFlaw> {
    let answer = fetched.result.map_err(|failure| failure.to_string())?;
    match (answer.status, answer.body) {
        (200 | 203, AnswerBody::Picture(bytes)) if !bytes.is_empty() => Ok(bytes),
        (200..=299, _) => Err(flaw!("{} sent nothing", host(&answer.url))),
        (status, _) => Err(flaw!("{} at {}", status_words(status), host(&answer.url))),
    }
}

/// Returns the host of an address for use in a message.
fn host(url: &str) -> String {
    address::host(url).unwrap_or_default()
}

/// Number of a feed's newest entries whose pages may be fetched ahead.
const TEXTS_LOOKED_AT: u32 = 200;

/// After a poll of a feed, reads which of its newest entries lack their full text or, if no full texts are fetched ahead, which
/// contain pictures. Reads nothing if neither is fetched ahead or the daily limits are reached.
pub fn look_for_texts(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    if left_today(engine, now, feed, AheadPart::Texts) > 0 {
        engine.store(Job::ReadWithoutPage(feed, TEXTS_LOOKED_AT));
    } else {
        look_for_pictures(engine, now, feed);
    }
}

/// Fetches the pages, pictures or first files of chosen entries of a feed, whatever its settings, as many as the daily limit allows.
pub fn request(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    part: AheadPart,
    chosen: Vec<(EntryKey, String)>,
) {
    match part {
        AheadPart::Texts | AheadPart::Pictures => queue_ahead(engine, now, feed, part, chosen),
        AheadPart::Files => {
            let left = left_of_day(engine, now, feed, part);
            let keys: Vec<_> = (0..left).zip(chosen).map(|(_, (key, _))| key).collect();
            let added = u32::try_from(keys.len()).unwrap_or(left);
            count(engine, now, feed, |today| {
                today.files = today.files.saturating_add(added);
            });
            read_attached(engine, AttachedWanted::Chosen(keys, None));
        }
    }
}

/// Queues pages of entries that lack their full text, newest first, or pictures that are not in the cache, as many as the daily limit
/// allows.
pub fn queue_ahead(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    part: AheadPart,
    found: Vec<(EntryKey, String)>,
) {
    let left = left_of_day(engine, now, feed, part);
    let is_of_pages = part == AheadPart::Texts;
    let mut queued = 0_u32;
    for (key, url) in found {
        if queued >= left {
            break;
        }
        // Skip a site that asked for a pause. The next poll of the feed tries again.
        let is_queued = if is_of_pages {
            matches!(queue_page(engine, now, key, url, None, PollCause::Due), Ok(true))
        } else {
            queue_picture(engine, now, key, url)
        };
        queued = queued.saturating_add(u32::from(is_queued));
    }
    count(engine, now, feed, |today| {
        let requested = if is_of_pages { &mut today.pages } else { &mut today.pictures };
        *requested = requested.saturating_add(queued);
    });
    start_fetches::start(engine, now);
    if is_of_pages {
        // If a page was queued, this does nothing yet: the search for pictures starts when the last page has arrived.
        look_for_pictures(engine, now, feed);
    }
}

/// Number of a feed's newest entries whose pictures may be fetched ahead.
const LOOKED_AT: u32 = 50;

/// Reads the texts of a feed's unread entries to find their pictures. Reads nothing if pictures are not fetched ahead, if the daily
/// limit is reached, or if pages of the feed must arrive first.
pub fn look_for_pictures(engine: &mut Engine, now: DateTime<Utc>, feed: FeedKey) {
    let left = left_today(engine, now, feed, AheadPart::Pictures);
    if left == 0 || engine.pages.keys().any(|key| key.feed == feed) {
        return;
    }
    let Some(subscription) = engine.feeds.get(&feed) else { return };
    let pages = subscription.record.feed_settings.full_text;
    engine.store(Job::ReadTexts(TextsWanted { feed, among: LOOKED_AT, pages }));
}

/// Starts the search for pictures in texts that were read.
pub fn texts_read(engine: &mut Engine, feed: FeedKey, mut texts: Vec<PicturedText>) {
    let Some(subscription) = engine.feeds.get(&feed) else { return };
    for text in texts.iter_mut().filter(|text| text.base.is_none()) {
        text.base.clone_from(&subscription.record.site);
    }
    engine.pictures_ahead.sought.insert(feed);
    engine.carry_out(Effect::PictureTask(Box::new(PictureTask::Find(feed, texts))));
}

/// Handles the result of work on the picture cache.
pub fn task_done(engine: &mut Engine, now: DateTime<Utc>, done: PictureTaskDone) {
    match done {
        PictureTaskDone::Found(feed, found) => {
            engine.pictures_ahead.sought.remove(&feed);
            queue_ahead(engine, now, feed, AheadPart::Pictures, found);
        }
        PictureTaskDone::Kept(url) => engine.pictures_ahead.forget(&url),
    }
}

/// Queues a picture. Returns `false` if it may not be requested, or is already queued, being fetched, or being put into the cache.
fn queue_picture(engine: &mut Engine, now: DateTime<Utc>, key: EntryKey, url: String) -> bool {
    let is_refused =
        why_unsupported(&url).is_some() || rate_limits::left_alone(engine, now, &url).is_some();
    let requested = &mut engine.pictures_ahead.requested;
    if is_refused
        || engine.host_queue.has_picture(&url)
        || requested.insert(url.clone(), key.feed).is_some()
    {
        return false;
    }
    let waiting = Waiting { url, purpose: Purpose::Picture(key), cause: PollCause::Due };
    engine.host_queue.enqueue(waiting, &engine.settings.network);
    true
}

/// A finished request for a picture that was fetched ahead.
#[derive(Debug)]
pub(super) struct AheadPicture {
    /// Address of the picture.
    pub(super) url: String,
    /// Number of bytes of the body that were received, even if the request failed.
    pub(super) wire_bytes: u64,
    /// `false` if a failed request says nothing about the picture.
    pub(super) is_final: bool,
}

/// Handles the result of the request for a picture that is fetched ahead.
pub(super) fn fetched_ahead(
    engine: &mut Engine,
    now: DateTime<Utc>,
    EntryKey { feed, .. }: EntryKey,
    AheadPicture { url, wire_bytes, is_final }: AheadPicture,
    picture: Option<Arc<Vec<u8>>>,
) {
    let bytes = picture.as_ref().map_or(0, |bytes| u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    let bytes = bytes.max(wire_bytes);
    count(engine, now, feed, |today| {
        today.picture_bytes = today.picture_bytes.saturating_add(bytes);
    });
    if are_picture_bytes_used_up(engine, now, feed) {
        drop_pictures_ahead(engine, feed);
    }
    if picture.is_some() || is_final {
        engine.carry_out(Effect::PictureTask(Box::new(PictureTask::Keep(url, picture))));
    } else {
        engine.pictures_ahead.forget(&url);
    }
}

/// Drops the queued requests for pictures of a feed that are fetched ahead.
pub fn drop_pictures_ahead(engine: &mut Engine, feed: FeedKey) {
    let dropped = engine.host_queue.take_waiting(|waiting| {
        matches!(waiting.purpose, Purpose::Picture(key) if key.feed == feed) && waiting.is_ahead()
    });
    for waiting in dropped {
        engine.pictures_ahead.forget(&waiting.url);
    }
}

/// Returns how many more pages, pictures or files of a feed may be requested ahead today. Returns 0 if the user does not want them
/// ahead or the program is offline.
pub fn left_today(engine: &Engine, now: DateTime<Utc>, feed: FeedKey, part: AheadPart) -> u32 {
    let wants = |feed: &Subscription| feed.record.feed_settings.wants_ahead(part);
    let is_wanted = engine.feeds.get(&feed).is_some_and(wants);
    if is_wanted { left_of_day(engine, now, feed, part) } else { 0 }
}

/// Like [`left_today`], whatever the user wants ahead.
pub fn left_of_day(engine: &Engine, now: DateTime<Utc>, feed: FeedKey, part: AheadPart) -> u32 {
    let subscription = engine.feeds.get(&feed).filter(|_| !engine.offline);
    subscription.map_or(0, |it| it.state.ahead.on(day_of(now, chrono_tz::UTC)).left(part))
}

/// Checks whether the pictures that were fetched ahead today have reached their limit in bytes.
pub fn are_picture_bytes_used_up(engine: &Engine, now: DateTime<Utc>, feed: FeedKey) -> bool {
    let today = engine.feeds.get(&feed).map(|feed| feed.state.ahead);
    today.is_some_and(|today| {
        today.on(day_of(now, chrono_tz::UTC)).picture_bytes >= PICTURE_BYTES_A_DAY
    })
}

/// Counts what was requested or fetched ahead for a feed, and writes the counts if they changed.
pub fn count(
    engine: &mut Engine,
    now: DateTime<Utc>,
    feed: FeedKey,
    count: impl FnOnce(&mut AheadToday),
) {
    let Some(subscription) = engine.feeds.get_mut(&feed) else { return };
    let before = subscription.state.ahead.on(day_of(now, chrono_tz::UTC));
    let mut today = before;
    count(&mut today);
    if today != before {
        subscription.state.ahead = today;
        engine.save_state(feed);
    }
}

/// Returns the kinds of content that are fetched ahead for a feed, each with a description of today's amount.
pub fn used_words(engine: &Engine, feed: FeedKey, now: DateTime<Utc>) -> Vec<(AheadPart, String)> {
    let Some(subscription) = engine.feeds.get(&feed) else { return Vec::new() };
    let today = subscription.state.ahead.on(day_of(now, chrono_tz::UTC));
    let settings = &subscription.record.feed_settings;
    let wanted = AheadPart::ALL.into_iter().filter(|part| settings.wants_ahead(*part));
    wanted.map(|part| (part, today.words(part))).collect()
}

//! Subscribes to a typed address: requests the address, follows a page to the feed that it links to, adds the subscription, and
//! stores the first document.

use std::collections::{BTreeMap, VecDeque};

use chrono::{DateTime, Utc};

use super::addition::{
    Added, Addition, Found, Previews, Subscribe, feed_in, follow_page, found, names_no_feed,
};
use super::addresses::{comparable, subscribed_as, take_login};
use super::archive_subscription::{Corrected, CurrentFound, correct};
use super::setting_row::FeedSettings;
use super::subscription::{FormerAddress, NamedBy, Subscription};
use super::{feed_moves, feed_preview, import, unsubscribe};
use crate::engine::change::undo_stack::Step;
use crate::engine::change::value::{FeedChange, FeedParts};
use crate::engine::change::{self, Change};
use crate::engine::politeness::host_queue::Waiting;
use crate::engine::politeness::rate_limits;
use crate::engine::politeness::server_habits::Accepting;
use crate::engine::poll::classify_response::worth_asking_again;
use crate::engine::poll::fetch::{AnswerBody, Fetched, Purpose};
use crate::engine::poll::poll_log::PollCause;
use crate::engine::poll::poll_request::{Again, Sent, permanent};
use crate::engine::poll::{polling, start_fetches};
use crate::engine::request::Event;
use crate::engine::start_external::allowed_address;
use crate::engine::state::Engine;
use backissue_core::feed::OTHER_JSON;
use backissue_core::feed::address::without_logins;
use backissue_core::feed::known_sites::feed_address_of;
use backissue_core::feed::text::{NAME_MAX, one_line};
use backissue_core::history::FeedKey;

/// Maximum number of requests from a typed address to its feed.
const ASKED_MAX: u32 = 12;

/// Starts to add a subscription: requests the address, or subscribes at once if no request is wanted.
pub fn add(engine: &mut Engine, now: DateTime<Utc>, wanted: Subscribe) {
    let id = wanted.id;
    let mut wanted = wanted;
    let mut login = None;
    let address = allowed_address(&wanted, &engine.settings.network).map(|url| {
        let (url, taken) = take_login(engine, url, wanted.given_by);
        login = taken;
        url
    });
    wanted.address = without_logins(&wanted.address);
    let mut addition = Addition {
        to_try: VecDeque::new(),
        found: Vec::new(),
        named: BTreeMap::new(),
        refreshed: false,
        previews: Previews::default(),
        asked: 0,
        again: None,
        repeated: 0,
        first_trouble: None,
        plain: None,
        mistaken: None,
        login,
        ended: None,
        wanted,
    };
    match address {
        Err(why) => {
            let why = String::from(why);
            addition.ended = Some(Err(why.clone()));
            engine.complain(why);
        }
        Ok(url) if addition.wanted.unasked => {
            let added = subscribe(engine, now, &addition.wanted, &url, (None, None));
            addition.ended = Some(Ok(added));
        }
        Ok(url) if engine.offline => {
            let why = format!("{url} cannot be requested: backissue was started with --offline");
            addition.ended = Some(Err(why.clone()));
            engine.complain(why);
        }
        Ok(url) => {
            engine.say(format!("looking for a feed at {url} …"));
            // Start-up delays do not apply to a manual request.
            engine.host_queue.not_before = None;
            let known = feed_address_of(&url);
            addition.to_try.extend(known.into_iter().chain([url]));
            try_next(engine, &mut addition);
            start_fetches::start(engine, now);
        }
    }
    engine.additions.insert(id, addition);
}

fn try_next(engine: &mut Engine, addition: &mut Addition) {
    if let Some(url) = addition.to_try.pop_front() {
        addition.asked = addition.asked.saturating_add(1);
        enqueue(engine, addition, url);
    }
}

fn enqueue(engine: &mut Engine, addition: &Addition, url: String) {
    let purpose = Purpose::Discover(addition.wanted.id);
    let waiting = Waiting { url, purpose, cause: PollCause::Subscribed };
    engine.host_queue.enqueue(waiting, &engine.settings.network);
}

/// Checks whether no further request is allowed.
fn is_last(addition: &Addition) -> bool {
    addition.asked.saturating_add(addition.repeated) >= ASKED_MAX
}

/// Requests an address again, once, if the response came from a stale cache or the server has other formats than the requested ones
/// (SPEC D.2). Returns whether the request is repeated.
fn ask_again(engine: &mut Engine, addition: &mut Addition, asked: &str, fetched: &Fetched) -> bool {
    // Some servers send their data as JSON unless the request names the type of web pages.
    let body = fetched.result.as_ref().ok().map(|answer| &answer.body);
    let is_data = matches!(body, Some(AnswerBody::Document(document))
        if document.flaws.iter().any(|flaw| flaw.reason == OTHER_JSON));
    let again = worth_asking_again(fetched, &Sent::default())
        .filter(|again| matches!(again, Again::Fresh | Again::OtherFormats))
        .or_else(|| is_data.then_some(Again::OtherFormats));
    let is_first = addition.again.as_ref().is_none_or(|(url, _)| url != asked);
    let Some(again) = again.filter(|_| is_first && !is_last(addition)) else { return false };
    addition.repeated = addition.repeated.saturating_add(1);
    addition.again = Some((asked.to_owned(), again));
    enqueue(engine, addition, asked.to_owned());
    true
}

/// Handles the response to a request for a subscription that is being added.
pub fn fetched(engine: &mut Engine, now: DateTime<Utc>, id: u32, asked: &str, fetched: Fetched) {
    rate_limits::note_limit(engine, now, &fetched, None);
    answered(engine, now, id, asked, fetched);
}

fn answered(engine: &mut Engine, now: DateTime<Utc>, id: u32, asked: &str, fetched: Fetched) {
    let Some(mut addition) = engine.additions.remove(&id) else {
        return start_fetches::start(engine, now);
    };
    // Ignore the response if the user cancelled the subscription or the request is repeated.
    if addition.ended.is_some() || ask_again(engine, &mut addition, asked, &fetched) {
        engine.additions.insert(id, addition);
        return start_fetches::start(engine, now);
    }
    let Some(fetched) = feed_preview::arrived(engine, now, &mut addition, asked, fetched) else {
        engine.additions.insert(id, addition);
        return feed_preview::look(engine, now, id);
    };
    let (asked, fetched) = match correct(&mut addition, asked, fetched) {
        Corrected::GoBy(asked, fetched) => (asked, *fetched),
        Corrected::Judge(current) => {
            let (url, answer) = (current.address().to_owned(), current.answer().clone());
            let ended = subscribe_to(engine, now, &addition, &url, answer, Some(*current));
            addition.ended = Some(ended);
            engine.additions.insert(id, addition);
            return start_fetches::start(engine, now);
        }
        Corrected::Ask(current) => {
            addition.to_try.push_front(current);
            try_next(engine, &mut addition);
            engine.additions.insert(id, addition);
            return start_fetches::start(engine, now);
        }
    };
    let subscribed = match found(&fetched) {
        Found::Feed(_) => {
            addition.ended = Some(subscribe_to(engine, now, &addition, &asked, fetched, None));
            Ok(())
        }
        Found::Page(page) => {
            let refreshed = addition.refreshed;
            let named = follow_page(&mut addition, &asked, &page);
            let leads_on = !page.candidates.is_empty() || addition.refreshed != refreshed;
            let is_choice = page.candidates.len() > 1 && addition.found.is_empty();
            if addition.found.is_empty() {
                addition.found = page.candidates.to_vec();
            }
            if addition.wanted.choose && is_choice {
                let first = addition.found.first().map(|candidate| candidate.url.clone());
                engine.additions.insert(id, addition);
                engine.tell(Event::ChooseFeed(id));
                if let Some(url) = first {
                    feed_preview::select(engine, now, id, url);
                }
                return;
            }
            // What this page names comes before what is guessed from an earlier one.
            named.into_iter().rev().for_each(|url| addition.to_try.push_front(url));
            Err((!leads_on).then(|| names_no_feed(page.title)))
        }
        Found::Nothing(why) => {
            addition.note_plain(&asked, &fetched);
            addition.leave_refusing(&fetched, &why);
            Err(Some(why))
        }
    };
    if let Err(why) = subscribed {
        go_on(engine, &mut addition, &asked, why);
    }
    engine.additions.insert(id, addition);
    start_fetches::start(engine, now);
}

/// Subscribes to the feed that the user chose from a page, or cancels if the user chose none. A feed that was already fetched for
/// its preview is not requested again.
pub fn choose(engine: &mut Engine, now: DateTime<Utc>, id: u32, url: Option<String>) {
    let Some(mut addition) = engine.additions.remove(&id) else { return };
    let is_preview = |purpose: &Purpose| *purpose == Purpose::Discover(id);
    let wanted = url.filter(|url| addition.found.iter().any(|candidate| candidate.url == *url));
    let Some(url) = wanted else {
        addition.ended = Some(Err("none of its feeds was chosen".into()));
        addition.previews.known.clear();
        engine.host_queue.drop_waiting(is_preview);
        engine.additions.insert(id, addition);
        return start_fetches::start(engine, now);
    };
    engine.say(format!("reading {url} …"));
    let here = addition.previews.known.remove(&url);
    addition.previews.known.clear();
    addition.previews.selected = None;
    let other = addition.previews.asking.as_ref() != Some(&url);
    if other && engine.host_queue.drop_waiting(is_preview) > 0 {
        addition.previews.asking = None;
    }
    addition.previews.wanted = addition.previews.asking.as_ref() == Some(&url);
    let on_its_way = addition.previews.wanted;
    if let Some(Ok((here, _))) = here {
        engine.additions.insert(id, addition);
        return fetched(engine, now, id, &url, *here);
    }
    if !on_its_way {
        ask(engine, &mut addition, url);
    }
    engine.additions.insert(id, addition);
    start_fetches::start(engine, now);
}

/// Drops all other addresses to try and requests this address.
fn ask(engine: &mut Engine, addition: &mut Addition, url: String) {
    addition.to_try = VecDeque::from([url]);
    try_next(engine, addition);
}

/// Requests the next address to try. If no address is left, ends the addition with the reason for the first failure.
fn go_on(engine: &mut Engine, addition: &mut Addition, asked: &str, why: Option<String>) {
    let why = why.map(|why| match addition.named.get(asked) {
        Some(_) => format!("it links to {asked}: {why}"),
        None => why,
    });
    addition.first_trouble = addition.first_trouble.take().or(why);
    if addition.to_try.is_empty() || is_last(addition) {
        let why = addition.first_trouble.clone().unwrap_or_else(|| names_no_feed(None));
        let mut text = format!("no feed found at {}: {why}", addition.wanted.address.trim());
        match &addition.plain {
            Some(_) if addition.wanted.choose => engine.tell(Event::OfferPlain(addition.wanted.id)),
            Some(plain) => text = format!("{text}; its unencrypted address is {plain}"),
            None => {}
        }
        if let Some(feed) = addition.wanted.moves.and_then(|feed| engine.feeds.get(&feed)) {
            let Subscription { record, .. } = feed;
            text = format!("{text}; '{}' stays at {}", record.shown_title(), record.url);
        }
        engine.complain(text.clone());
        addition.ended = Some(Err(text));
    } else {
        try_next(engine, addition);
    }
}

/// Adds a subscription to an address, unless it is already subscribed. Does not request the address. `named_by` is the document
/// that named the address, or `None` if the user typed it. An `archive` at the typed address becomes a former address (SPEC C.2).
pub fn subscribe(
    engine: &mut Engine,
    now: DateTime<Utc>,
    wanted: &Subscribe,
    url: &str,
    (named_by, archive): (Option<NamedBy>, Option<NamedBy>),
) -> Added {
    if let Some(feed) = subscribed_as(engine, url) {
        let claimed = named_by.is_none().then(|| Subscribe { tags: Vec::new(), ..wanted.clone() });
        let change = claimed.map(|wanted| import::add_to(engine, feed, &wanted).1);
        let change = change.filter(|change| *change != FeedChange::default());
        if let Some(change) = change {
            change::write(engine, Change::Subscribed(Vec::new(), vec![(feed, change)]), None);
        }
        return Added { feed, known: true, again: false, moved: None };
    }
    let removed = unsubscribe::recently_removed(engine, now).into_iter();
    let mut same = removed.filter(|(feed, _)| comparable(&feed.record.url) == comparable(url));
    let same = same.next().map(|(feed, _)| feed.key);
    if let Some(feed) = same.filter(|_| !wanted.given_by.is_supplied())
        && unsubscribe::take_back(engine, now, feed, true).is_ok()
    {
        return restored(engine, feed, wanted, archive);
    }
    let waits = rate_limits::host_waits(engine, now);
    let feed = import::insert(engine, now, wanted, url.to_owned(), named_by, &waits);
    if let (Some(archive), Some(added)) = (archive, engine.feeds.get_mut(&feed)) {
        let NamedBy { url, public } = archive;
        added.record.former.push(FormerAddress { url, until: now, public, by_user: false });
    }
    engine.tell(Event::FeedsChanged);
    let step = engine.undo.push(Step::Resubscribed(feed));
    change::write(engine, Change::Subscribed(vec![feed], Vec::new()), step);
    rate_limits::save_wait(engine, feed);
    Added { feed, known: false, again: false, moved: None }
}

/// Gives a feed that was restored what the user wants now.
fn restored(
    engine: &mut Engine,
    feed: FeedKey,
    wanted: &Subscribe,
    archive: Option<NamedBy>,
) -> Added {
    let before = engine.feeds.get(&feed).map(FeedParts::of);
    import::add_to(engine, feed, wanted);
    if let (Some(before), Some(subscription)) = (before, engine.feeds.get_mut(&feed)) {
        let record = &mut subscription.record;
        let title = wanted.title.as_deref().map(|title| one_line(title, NAME_MAX));
        record.own_title = title.or(record.own_title.take());
        if wanted.feed_settings != FeedSettings::default() {
            record.feed_settings = wanted.feed_settings.clone();
        }
        if let Some(NamedBy { url, public }) = archive {
            let until = subscription.record.added;
            let former = FormerAddress { url, until, public, by_user: false };
            subscription.record.former.push(former);
        }
        let change = FeedChange::since(&before, subscription);
        if change != FeedChange::default() {
            change::write(engine, Change::Feeds(vec![(feed, change)]), None);
        }
    }
    Added { feed, known: false, again: true, moved: None }
}

/// Says that a new feed is on none of the user's accounts; empty without accounts, or if it is on one.
fn only_here(engine: &Engine, feed: FeedKey) -> String {
    let account = |feed: &Subscription| feed.record.feed_settings.account.is_some();
    if engine.accounts.is_empty() || engine.feeds.get(&feed).is_some_and(account) {
        return String::new();
    }
    let names: Vec<String> =
        engine.accounts.iter().map(|account| format!("'{}'", account.name)).collect();
    format!(", only here, not on {}", names.join(" or "))
}

/// Subscribes to a feed whose document just arrived, or changes the address of a feed to it, and stores the document. `current` is
/// set if the document is an archive or came from an archive's `current` address, and contains both responses.
fn subscribe_to(
    engine: &mut Engine,
    now: DateTime<Utc>,
    addition: &Addition,
    asked: &str,
    fetched: Fetched,
    current: Option<CurrentFound>,
) -> Result<Added, String> {
    let wanted = &addition.wanted;
    let url = permanent(&fetched.hops, asked).unwrap_or(asked).to_owned();
    let by_archive = current.as_ref().and_then(CurrentFound::named_by);
    let archive = by_archive.clone();
    let named_by = addition.named_by(asked, &url, &fetched, by_archive);
    let is_whole = fetched.result.as_ref().is_ok_and(|answer| matches!(answer.status, 200 | 203));
    let document = feed_in(&fetched).ok();
    let offer = document.filter(|_| is_whole).map(|document| {
        format!(": {}", feed_preview::preview(engine, now, &url, &fetched, document).words())
    });
    let settled = match wanted.moves {
        None => Ok(subscribe(engine, now, wanted, &url, (named_by, archive))),
        Some(feed) => document.ok_or_else(|| names_no_feed(None)).and_then(|document| {
            let text = feed_moves::move_to(engine, now, feed, (&url, named_by), document)?;
            Ok(Added { feed, known: false, again: false, moved: Some(text) })
        }),
    };
    let added = settled.inspect_err(|why| engine.complain(why.clone()))?;
    if added.known {
        let title = engine.feeds.get(&added.feed).map_or("", |feed| feed.record.shown_title());
        let text = format!("already subscribed to '{title}'");
        engine.say(text);
        return Ok(added);
    }
    let (fetched, named) = match current {
        Some(CurrentFound { mut named, found, takes_over }) => {
            if takes_over {
                named.to = url;
            }
            (found, Some(named))
        }
        None => (fetched, None),
    };
    let is_new = wanted.moves.is_none();
    let cause = if is_new { PollCause::Subscribed } else { PollCause::Asked };
    let accepted = addition.again.as_ref().filter(|(url, _)| url == asked);
    if let Some(feed) = engine.feeds.get_mut(&added.feed)
        && accepted.is_some_and(|(_, again)| *again == Again::OtherFormats)
    {
        feed.state.habits.accepting = Accepting::Anything;
    }
    polling::first_document(engine, added.feed, cause, fetched, named);
    engine.tell(Event::FeedsChanged);
    if is_new {
        let title = engine.feeds.get(&added.feed).map_or("", |feed| feed.record.shown_title());
        let how = if added.again { "subscribed again, with its marks," } else { "subscribed" };
        let text = format!(
            "{how} to '{title}'{}{}",
            offer.unwrap_or_default(),
            only_here(engine, added.feed)
        );
        engine.say_undoable(text);
        engine.tell(Event::Subscribed { feed: added.feed, to_read: wanted.choose });
    }
    Ok(added)
}

/// Requests the feeds that a page names in order and subscribes to the first readable feed, if no user can choose.
pub fn take_first(engine: &mut Engine, now: DateTime<Utc>, id: u32) {
    let Some(addition) = engine.additions.get(&id) else { return };
    let mut named = addition.found.iter().map(|candidate| candidate.url.clone());
    let first = named.next();
    let others: VecDeque<String> = named.collect();
    choose(engine, now, id, first);
    if let Some(addition) = engine.additions.get_mut(&id).filter(|open| open.ended.is_none()) {
        addition.to_try = others;
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::subscribe::*;
    use crate::engine::poll::fetch::{AnswerBody, AnswerHeaders, FetchId, ServerAnswer};
    use crate::engine::request::{Effect, Input, Request};
    use crate::engine::settings::Settings;
    use crate::engine::update::{Output, update};
    use backissue_core::feed::FeedDocument;
    use backissue_core::feed::candidates::Candidate;
    use backissue_core::feed::page_feeds::PageLeads;

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    /// Returns the id and the address of the only fetch in an output.
    fn asked(output: &Output) -> (FetchId, String) {
        let mut fetches = output.effects.iter().filter_map(|effect| {
            let Effect::Fetch(request) = effect else { return None };
            Some((request.id, request.url.clone()))
        });
        let fetch = fetches.next().expect("something is asked for");
        assert_eq!(fetches.next(), None);
        fetch
    }

    fn answer(engine: &mut Engine, asked: &Output, status: u16, body: AnswerBody) -> Output {
        let (id, url) = self::asked(asked);
        let (started, headers) = (NOW, AnswerHeaders::default());
        let answer = ServerAnswer { status, url, public: true, received: NOW, headers, body };
        let (hops, conditional) = (Vec::new(), false);
        let fetched = Fetched { started, wire_bytes: 0, hops, conditional, result: Ok(answer) };
        update(engine, NOW, Input::Fetched(id, Box::new(fetched)))
    }

    #[test]
    fn non_interactive_add_tries_page_feeds_in_order() {
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, Vec::new(), NOW);
        engine.host_queue.not_before = None;
        let address = "https://site.example/".to_owned();
        let wanted = Subscribe { id: 7, address, choose: true, ..Subscribe::default() };
        let first = update(&mut engine, NOW, Input::Request(Request::Subscribe(Box::new(wanted))));
        let named = |host: &str| Candidate {
            url: format!("https://{host}.example/feed"),
            title: None,
            media_type: String::new(),
        };
        let candidates = ["one", "two", "three"].map(named).to_vec();
        let page = AnswerBody::Page { title: None, candidates, leads: PageLeads::default() };
        let preview = answer(&mut engine, &first, 200, page);
        assert!(preview.events.contains(&Event::ChooseFeed(7)));
        assert_eq!(asked(&preview).1, "https://one.example/feed", "the first one is looked at");

        let chosen = update(&mut engine, NOW, Input::Request(Request::TakeFirstFeed(7)));
        assert!(chosen.effects.is_empty(), "it is on its way already");
        let second = answer(&mut engine, &preview, 404, AnswerBody::Unread);
        assert_eq!(asked(&second).1, "https://two.example/feed");
        let kind = backissue_core::feed::Kind::Rss;
        let document = Box::new(FeedDocument { kind, ..FeedDocument::default() });
        answer(&mut engine, &second, 200, AnswerBody::Document(document));
        let feeds: Vec<&str> = engine.feeds.values().map(|feed| feed.record.url.as_str()).collect();
        assert_eq!(feeds, ["https://two.example/feed"]);
        assert!(matches!(engine.additions[&7].ended, Some(Ok(_))));
    }
}

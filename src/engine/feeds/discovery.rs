//! Finds the feed in a response while a subscription is being added, or the addresses to try after a page.

use super::addition::{Addition, NamedAddress};
use crate::engine::politeness::host_queue::site_of;
use crate::engine::poll::classify_response::{answer_words, not_a_feed};
use crate::engine::poll::fetch::{AddressSource, AnswerBody, Fetched, ServerAnswer};
use backissue_core::feed::FeedDocument;
use backissue_core::feed::discover::candidates::Candidate;
use backissue_core::feed::discover::page_feeds::{PageLeads, nearby};

/// Maximum number of links to try from a page that names no feed (SPEC D.9).
const LINKED_MAX: usize = 5;
/// Maximum number of other addresses to try that a page states (SPEC D.9).
const STATED_MAX: usize = 3;

/// Returns the feed document in a response, or the reason that the response is not a feed.
pub fn feed_in(fetched: &Fetched) -> Result<&FeedDocument, String> {
    match found(fetched) {
        Found::Feed(document) => Ok(document),
        Found::Page(_) => Err("it is not a feed".into()),
        Found::Nothing(why) => Err(why),
    }
}

pub(super) enum Found<'a> {
    Feed(&'a FeedDocument),
    Page(FoundPage<'a>),
    Nothing(String),
}

/// An HTML page that responded instead of a feed.
pub(super) struct FoundPage<'a> {
    answer: &'a ServerAnswer,
    pub(super) title: Option<&'a str>,
    /// Feeds that the page names.
    pub(super) candidates: &'a [Candidate],
    leads: &'a PageLeads,
}

pub(super) fn found(fetched: &Fetched) -> Found<'_> {
    let answer = match &fetched.result {
        Err(failure) => return Found::Nothing(failure.to_string()),
        Ok(answer) if !(200..300).contains(&answer.status) => {
            return Found::Nothing(format!("it answered {}", answer_words(answer)));
        }
        Ok(answer) if answer.bot_wall().is_some() => {
            return Found::Nothing(format!("it answered {}", answer_words(answer)));
        }
        Ok(answer) => answer,
    };
    match &answer.body {
        AnswerBody::Document(document) if document.is_truncated() => {
            Found::Nothing("the document is cut off".into())
        }
        AnswerBody::Document(document) if document.kind.is_feed() => Found::Feed(document),
        AnswerBody::Document(document) => Found::Nothing(not_a_feed(document)),
        AnswerBody::Page { title, candidates, .. }
            if candidates.is_empty() && asks_for_consent(fetched, answer, title.as_deref()) =>
        {
            Found::Nothing(CONSENT.into())
        }
        AnswerBody::Page { title, candidates, leads } => {
            Found::Page(FoundPage { answer, title: title.as_deref(), candidates, leads })
        }
        AnswerBody::Article(_) | AnswerBody::Listing(_) | AnswerBody::Picture(_) => {
            Found::Nothing("it is not a feed".into())
        }
        AnswerBody::Empty | AnswerBody::Unread => Found::Nothing("the response is empty".into()),
    }
}

/// Message for a page that asks for consent before it shows the site.
const CONSENT: &str = "the site first asks for consent to cookies, which only a browser can give; for a YouTube channel, use its address with /channel/ID";

/// Checks whether redirects led to a page that asks for consent, by its address or title.
fn asks_for_consent(fetched: &Fetched, answer: &ServerAnswer, title: Option<&str>) -> bool {
    let is_word = |part: &str| part.to_ascii_lowercase().starts_with("consent");
    let url = url::Url::parse(&answer.url).ok();
    let in_address = url.is_some_and(|url| {
        url.host_str().is_some_and(is_word)
            || url.path_segments().is_some_and(|mut parts| parts.any(is_word))
    });
    let in_title = title.is_some_and(|title| title.starts_with("Before you continue"));
    !fetched.hops.is_empty() && (in_address || in_title)
}

/// Returns the origin of an address that a response names.
pub(super) fn named_by(answer: &ServerAnswer) -> AddressSource {
    AddressSource::Supplied { by: answer.url.clone(), public: answer.public }
}

/// Returns the addresses to try after a page, in order, and records their origin (SPEC D.9). These are the feeds that the page
/// names, then other addresses that it states. If there are none, the target of its meta refresh (followed once), or else links
/// within the site that may be feeds, and, for the first page, pages above it and common addresses of feeds.
pub(super) fn follow_page(
    addition: &mut Addition,
    asked: &str,
    page: &FoundPage<'_>,
) -> Vec<String> {
    let source = named_by(page.answer);
    let is_new = |addition: &Addition, url: &String| {
        url != asked && *url != page.answer.url && !addition.named.contains_key(url)
    };
    let is_first = addition.asked == 1_u32.saturating_add(u32::from(addition.refreshed));
    let urls = |candidates: &[Candidate]| -> Vec<String> {
        candidates.iter().map(|candidate| candidate.url.clone()).collect()
    };
    let refresh = page.leads.refresh.as_ref().filter(|_| is_first && !addition.refreshed);
    let names_none = page.candidates.is_empty() && page.leads.stated.is_empty();
    if let Some(target) = refresh.filter(|_| names_none) {
        addition.refreshed = true;
        let named = NamedAddress { source, allow_insecure: false };
        addition.named.insert(target.clone(), named);
        return vec![target.clone()];
    }
    let mut named = urls(page.candidates);
    named.extend(page.leads.stated.iter().take(STATED_MAX).cloned());
    named.retain(|url| is_new(addition, url));
    let mut guessed = Vec::new();
    if named.is_empty() || page.candidates.is_empty() {
        let site = site_of(&page.answer.url);
        let mut linked = urls(&page.leads.linked);
        linked.retain(|url| site_of(url) == site && is_new(addition, url));
        linked.retain(|url| !named.contains(url) && !addition.to_try.contains(url));
        named.extend(linked.into_iter().take(LINKED_MAX));
        guessed = if is_first { nearby(asked) } else { Vec::new() };
        guessed.retain(|url| !named.contains(url) && is_new(addition, url));
    }
    for url in &named {
        // If the page names an http address, allow http, because a redirect cannot make the address less secure.
        let allow_insecure = url.starts_with("http:");
        let named = NamedAddress { source: source.clone(), allow_insecure };
        addition.named.insert(url.clone(), named);
    }
    if let Some(whose) = addition.named.get(asked).cloned() {
        addition.named.extend(guessed.iter().map(|url| (url.clone(), whose.clone())));
    }
    named.extend(guessed);
    named
}

/// Returns the message for a page that names no feed.
pub(super) fn names_no_feed(title: Option<&str>) -> String {
    let page = title.map(|title| format!(" '{title}'")).unwrap_or_default();
    format!("the page{page} links to no feed; try the feed's own address")
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta, Utc};

    use super::*;
    use crate::engine::effect::Effect;
    use crate::engine::feeds::addition::Subscribe;
    use crate::engine::input::Input;
    use crate::engine::poll::fetch::{AnswerHeaders, FetchRequest};
    use crate::engine::request::Request;
    use crate::engine::settings::Settings;
    use crate::engine::state::Engine;
    use crate::engine::update::update;

    /// Returns the request that follows if the first response is a page with these feeds and links.
    fn asked_after(candidates: Vec<Candidate>, leads: PageLeads) -> FetchRequest {
        let now = DateTime::<Utc>::UNIX_EPOCH;
        let mut engine = Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, Vec::new(), now);
        engine.host_queue.not_before = None;
        let address = "https://site.example/".to_owned();
        let wanted = Box::new(Subscribe { id: 7, address, ..Subscribe::default() });
        let effects = update(&mut engine, now, Input::Request(Request::Subscribe(wanted))).effects;
        let take = |effects: Vec<Effect>| {
            let mut requests = effects.into_iter().filter_map(|effect| {
                let Effect::Fetch(request) = effect else { return None };
                Some(request)
            });
            requests.next()
        };
        let first = take(effects).unwrap();
        let body = AnswerBody::Page { title: None, candidates, leads };
        let (url, headers) = (first.url, AnswerHeaders::default());
        let answer = ServerAnswer { status: 200, url, public: true, received: now, headers, body };
        let (hops, conditional) = (Vec::new(), false);
        let fetched =
            Fetched { started: now, wire_bytes: 0, hops, conditional, result: Ok(answer) };
        let answered = update(&mut engine, now, Input::Fetched(first.id, Box::new(fetched)));
        let later = update(&mut engine, now + TimeDelta::seconds(5), Input::Tick);
        take(answered.effects).or_else(|| take(later.effects)).unwrap()
    }

    /// An address that a public page names may lead only to public addresses (SPEC D.6, D.9).
    #[test]
    fn links_of_a_page_have_the_reach_of_the_page() {
        let candidate =
            |url: &str| Candidate { url: url.to_owned(), title: None, media_type: String::new() };
        let none = PageLeads::default();
        let linked =
            vec![candidate("https://other.example/f"), candidate("https://site.example/l")];
        let refresh = Some("http://site.example/en/".to_owned());
        for (candidates, leads, url, insecure) in [
            (vec![candidate("http://127.0.0.1/f")], none.clone(), "http://127.0.0.1/f", true),
            (vec![candidate("https://b.example/f")], none.clone(), "https://b.example/f", false),
            (
                vec![],
                PageLeads { stated: vec!["http://c.example/s".to_owned()], ..none },
                "http://c.example/s",
                true,
            ),
            (
                vec![],
                PageLeads { refresh, linked: linked.clone(), stated: vec![] },
                "http://site.example/en/",
                false,
            ),
            (
                vec![],
                PageLeads { refresh: None, linked, stated: vec![] },
                "https://site.example/l",
                false,
            ),
        ] {
            let request = asked_after(candidates, leads);
            assert_eq!((request.url.as_str(), request.allow_insecure), (url, insecure));
            let by = "https://site.example/".to_owned();
            assert_eq!(
                request.address_source,
                AddressSource::Supplied { by, public: true },
                "{url}"
            );
        }
    }
}

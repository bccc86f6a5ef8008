//! State of adding a subscription: the user's input, the addresses tried, the feeds found, and the result. The feed is found in a
//! response, or the addresses to try after a page.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use backissue_core::feed::candidates::Candidate;
use backissue_core::feed::page_feeds::{PageLeads, nearby};
use backissue_core::feed::text::counted_words;
use backissue_core::feed::{FeedDocument, after_feed_scheme};
use backissue_core::history::FeedKey;
use backissue_core::other_readers::elsewhere::KnownEntries;
use backissue_core::other_readers::library::MovedFilter;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::setting_row::FeedSettings;
use super::subscription::{GivenBy, NamedBy};
use crate::engine::politeness::host_queue::site_of;
use crate::engine::poll::classify_response::{answer_words, not_a_feed};
use crate::engine::poll::fetch::{AddressSource, AnswerBody, FetchFailure, Fetched, ServerAnswer};
use crate::engine::poll::poll_request::Again;
use crate::engine::settings::Credentials;

/// A request to subscribe to an address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscribe {
    /// Number of this request.
    pub id: u32,
    /// Address as typed or pasted.
    pub address: String,
    /// Title from the user; `None` uses the publisher's title.
    pub title: Option<String>,
    /// Address of the site, if known before the feed is read.
    pub site: Option<String>,
    /// Tags for the new subscription.
    pub tags: Vec<String>,
    /// Settings for the new subscription.
    pub feed_settings: FeedSettings,
    /// `true` to subscribe to the address as it is, without a request.
    pub unasked: bool,
    /// `true` to let the user choose if a page names several feeds; `false` takes the first one.
    pub choose: bool,
    /// Feed whose address to change to the found address; `None` adds a subscription.
    pub moves: Option<FeedKey>,
    /// Who gave the address.
    pub given_by: GivenBy,
}

/// A subscription that is being added.
#[derive(Debug, Clone, PartialEq)]
pub struct Addition {
    /// The user's request.
    pub wanted: Subscribe,
    /// Addresses still to try.
    pub(super) to_try: VecDeque<String>,
    /// Addresses that pages named, with the restrictions on each. Any other address was typed by the user or derives from the typed
    /// address.
    pub(super) named: BTreeMap<String, NamedAddress>,
    /// `true` after the redirect of a page by a meta refresh was followed. Only one is followed.
    pub(super) refreshed: bool,
    /// Feeds that a page names, for the user to choose from.
    pub found: Vec<Candidate>,
    /// Previews of the feeds in `found`.
    pub previews: Previews,
    /// Number of addresses requested so far.
    pub(super) asked: u32,
    /// The last address that was requested again within this addition, and the reason (SPEC D.2). This is done only once for each
    /// address.
    pub again: Option<(String, Again)>,
    /// Number of requests that were repeated so far.
    pub(super) repeated: u32,
    /// First reason that an address is not a feed; pages that lead to other addresses give no reason.
    pub(super) first_trouble: Option<String>,
    /// The address with `http:`, if the user typed no scheme and the request with `https:` failed.
    pub plain: Option<String>,
    /// Archive document at the typed address, while its feed is being requested.
    pub mistaken: Option<Box<Mistaken>>,
    /// Login from the typed address, unless the login was already in the credentials.
    pub login: Option<Credentials>,
    /// Result of the addition; `None` while it is in progress.
    pub ended: Option<Result<Added, String>>,
}

impl Addition {
    /// Sets `plain` after the first request, if that request failed.
    pub(super) fn note_plain(&mut self, asked: &str, fetched: &Fetched) {
        if self.asked == 1 {
            self.plain = plain_address(&self.wanted.address, asked, fetched);
        }
    }

    /// If a host asked for fewer requests, tries no more of its addresses, and tells that instead of an earlier failure.
    pub(super) fn leave_refusing(&mut self, fetched: &Fetched, why: &str) {
        let refused = fetched.result.as_ref().ok().filter(|answer| answer.status == 429);
        if let Some(site) = refused.map(|answer| site_of(&answer.url)) {
            self.to_try.retain(|url| site_of(url) != site);
            self.first_trouble = Some(why.to_owned());
        }
    }

    /// Returns the document that named the address to subscribe to: a page, an archive, or the response that redirected to it.
    /// Returns `None` if the user typed the address.
    pub(super) fn named_by(
        &self,
        asked: &str,
        url: &str,
        fetched: &Fetched,
        by_archive: Option<NamedBy>,
    ) -> Option<NamedBy> {
        let answer = fetched.result.as_ref().ok();
        let by_page = || match self.named.get(asked).map(|named| &named.source) {
            Some(AddressSource::Supplied { by, public }) => {
                Some(NamedBy { url: by.clone(), public: *public })
            }
            Some(AddressSource::Typed) | None => None,
        };
        let by_redirect = || {
            let public = answer.is_some_and(|answer| answer.public);
            (url != asked).then(|| NamedBy { url: asked.to_owned(), public })
        };
        by_archive.or_else(by_page).or_else(by_redirect)
    }
}

/// Origin of an address that a page named, and whether the address may redirect from https to http (SPEC D.3, D.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAddress {
    pub(super) source: AddressSource,
    pub(super) allow_insecure: bool,
}

/// Result of adding a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Feed that was added, or that was already subscribed.
    pub feed: FeedKey,
    /// `true` if the feed was already subscribed.
    pub known: bool,
    /// `true` if it was removed and is restored with its entries.
    pub again: bool,
    /// Sentence about the change if the address of a feed was changed.
    pub moved: Option<String>,
}

/// Previews of the feeds that a page names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Previews {
    /// Address of the feed whose preview is shown.
    pub(super) selected: Option<String>,
    /// Address being requested for a preview. Only one request is under way at a time.
    pub(super) asking: Option<String>,
    /// `true` if the user chose the feed whose preview is being requested, so that it is subscribed when the response arrives.
    pub(super) wanted: bool,
    /// Results by address: the feed with its preview, or the reason that the address is not a feed.
    pub(super) known: BTreeMap<String, Result<(Box<Fetched>, FeedPreview), String>>,
}

/// Preview of a feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedPreview {
    /// The publisher's title.
    pub title: Option<String>,
    /// Number of entries in the document.
    pub entries: usize,
    /// Newest entries with their stated dates, newest first.
    pub newest: Vec<(Option<DateTime<Utc>>, String)>,
    /// Words for the older entries that the feed offers.
    pub history: &'static str,
    /// Expected poll interval and the reason for it.
    pub schedule: String,
}

impl FeedPreview {
    /// Formats the preview as one line.
    pub fn words(&self) -> String {
        format!(
            "{} · {} · {}",
            counted_words(self.entries, "entry", "entries"),
            self.history,
            self.schedule
        )
    }
}

impl Previews {
    /// Returns the preview of the feed at an address, or an error. Returns `None` if the address was not fetched yet.
    pub fn of(&self, url: &str) -> Option<Result<&FeedPreview, &str>> {
        let known = self.known.get(url)?;
        Some(known.as_ref().map(|(_, preview)| preview).map_err(String::as_str))
    }
}

/// An archive document at the address that the user typed, kept until its current document has been requested.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistaken {
    pub(super) asked: String,
    pub(super) fetched: Fetched,
}

/// Result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Feeds that the import added.
    pub added: Vec<FeedKey>,
    /// Imported feeds that were already subscribed. The import only added tags to them.
    pub known: Vec<FeedKey>,
    /// Addresses that cannot be subscribed to, with the reasons.
    pub bad: Vec<(String, String)>,
    /// New logins found in the imported addresses.
    pub logins: Vec<Credentials>,
}

/// Returns the requested address with `http:`, if the user typed no scheme and the host was reached but did not respond over https.
/// If the user typed a port where nothing answers, http would lead to the same port.
fn plain_address(typed: &str, asked: &str, fetched: &Fetched) -> Option<String> {
    let Err(failure) = &fetched.result else { return None };
    let is_time_out = matches!(failure, FetchFailure::Timeout { .. });
    let is_refused = matches!(failure, FetchFailure::Connect(_));
    let is_reachable = is_time_out
        || is_refused
        || matches!(
            failure,
            FetchFailure::Tls(_) | FetchFailure::Redirect(_) | FetchFailure::Protocol(_)
        );
    let has_port = url::Url::parse(asked).is_ok_and(|url| url.port().is_some());
    let is_closed = is_refused || (is_time_out && failure.is_unreachable());
    let rest = asked.strip_prefix("https://")?;
    let is_reachable = is_reachable && !(has_port && is_closed);
    let typed = after_feed_scheme(typed.trim()).map_or(typed, |rest| rest.trim_start_matches("//"));
    (is_reachable && !typed.contains("://")).then(|| format!("http://{rest}"))
}

/// A login to write to the credentials file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginToKeep {
    /// Credentials file.
    pub file: PathBuf,
    /// Login to write.
    pub credentials: Credentials,
    /// Earlier login for the same origin, restored if the file cannot be written.
    pub before: Option<Credentials>,
}

/// New logins that were found in addresses since start-up, each with the result of writing it to the credentials file.
#[derive(Debug, Clone, Default)]
pub struct TypedLogins(Vec<(Credentials, Option<Result<String, String>>)>);

impl TypedLogins {
    /// Returns the result of writing a login to the credentials file, as a sentence. Returns `None` if the login is not written
    /// yet.
    pub fn outcome(&self, login: &Credentials) -> Option<&Result<String, String>> {
        self.0.iter().find(|(typed, _)| typed == login)?.1.as_ref()
    }

    /// Records the result of writing a login to the credentials file. `None` means that the login is being written.
    pub fn note(&mut self, login: Credentials, outcome: Option<Result<String, String>>) {
        self.0.retain(|(typed, _)| *typed != login);
        self.0.push((login, outcome));
    }
}

/// What is taken over from another reader.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MoveIn {
    /// Subscriptions to add. Feeds that are already subscribed to only get new tags.
    pub subscriptions: Vec<Subscribe>,
    /// Searches to save, each as its name and query.
    pub searches: Vec<(String, String)>,
    /// Filters to add.
    pub filters: Vec<MovedFilter>,
    /// What is known of entries.
    pub known: KnownEntries,
}

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
        AnswerBody::Article(_)
        | AnswerBody::Listing(_)
        | AnswerBody::Picture(_)
        | AnswerBody::Robots(_) => Found::Nothing("it is not a feed".into()),
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
    use crate::engine::feeds::addition::*;

    #[test]
    fn plain_http_is_offered_only_for_reachable_typed_hosts() {
        use chrono::{DateTime, Utc};
        let failed = |failure| Fetched {
            started: DateTime::<Utc>::UNIX_EPOCH,
            wire_bytes: 0,
            hops: Vec::new(),
            conditional: false,
            result: Err(failure),
        };
        let refused = failed(FetchFailure::Connect("a.example".into()));
        let unknown = failed(FetchFailure::Name("a.example".into()));
        let untrusted = failed(FetchFailure::Tls("it shows a self-made certificate".into()));
        let (asked, plain) = ("https://a.example/x", Some("http://a.example/x".to_owned()));
        for (typed, fetched, expected) in [
            ("a.example/x", &refused, plain.clone()),
            ("feed:a.example/x", &untrusted, plain.clone()),
            ("itpc://a.example/x", &refused, plain),
            ("a.example/x", &unknown, None),
            ("https://a.example/x", &refused, None),
            ("feed:https://a.example/x", &refused, None),
        ] {
            assert_eq!(plain_address(typed, asked, fetched), expected, "{typed}");
        }
        let asked = "https://a.example:8080/x";
        assert_eq!(plain_address("a.example:8080/x", asked, &refused), None, "the same port");
        let plain = Some("http://a.example:8080/x".to_owned());
        assert_eq!(plain_address("a.example:8080/x", asked, &untrusted), plain);
    }
}

#[cfg(test)]
mod discovery_tests {
    use chrono::{DateTime, TimeDelta, Utc};

    use super::*;
    use crate::engine::feeds::addition::Subscribe;
    use crate::engine::poll::fetch::{AnswerHeaders, FetchRequest};
    use crate::engine::request::{Effect, Input, Request};
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

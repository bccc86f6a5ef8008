//! Requests to the network and their results, as values.
//!
//! Services that keep programs away from a site are recognised by the marks that they leave in a response (SPEC D.2). The program
//! never tries to get past one: it says which service refused it.

use std::sync::Arc;

use backissue_core::feed::FeedDocument;
use backissue_core::feed::candidates::Candidate;
use backissue_core::feed::hints::is_default;
use backissue_core::feed::page_feeds::PageLeads;
use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::schedule;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// Identifies one fetch. A late response to an unknown fetch is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FetchId(pub u64);

/// One HTTP exchange, including its redirects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchRequest {
    /// Identifier of the fetch.
    pub id: FetchId,
    /// Address to fetch.
    pub url: String,
    /// Validators to send, but only to the address that supplied them. `None` makes the request unconditional.
    pub validators: Option<Validators>,
    /// Kind of request.
    pub kind: RequestKind,
    /// Origin of the address.
    pub address_source: AddressSource,
    /// `true` if a redirect from https to http is allowed (SPEC D.3).
    pub allow_insecure: bool,
    /// `true` to delay the request until all earlier store writes are durable. The store then knows about the poll even if the
    /// process is killed, so that the feed is not polled twice (SPEC G.20).
    pub waits_for_store: bool,
    /// Pause before following a redirect, in milliseconds.
    pub redirect_pause_ms: u64,
}

impl FetchRequest {
    /// Creates an unconditional request for an address that the user typed.
    pub const fn typed(id: FetchId, url: String) -> Self {
        Self {
            id,
            url,
            validators: None,
            kind: RequestKind::Usual,
            address_source: AddressSource::Typed,
            allow_insecure: false,
            waits_for_store: false,
            redirect_pause_ms: 0,
        }
    }
}

/// Kind of request: the document or data to request, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RequestKind {
    /// The whole document, with the usual headers.
    #[default]
    Usual,
    /// The whole document, bypassing caches with `Cache-Control: no-cache` (SPEC D.1, forced refresh).
    Fresh,
    /// Only new and changed entries: `A-IM: feed` (SPEC D.7). Sent only together with a known `ETag`.
    Delta,
    /// A listing of the captures in the Internet Archive.
    Listing,
    /// The robots.txt of a site: `Accept: text/plain`.
    Robots,
    /// The text of the page that an entry links to: `Accept: text/html`.
    Page,
    /// A picture of an entry.
    Picture,
    /// A file of any type: `Accept: */*`.
    Anything,
    /// The whole document in any format, after the server refused the list of feed formats (SPEC D.2: 406 and 415).
    AnyFormat,
}

/// Origin of an address, which determines the servers that a request to the address may connect to (SPEC D.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressSource {
    /// The user typed or imported the address.
    Typed,
    /// A document or response named the address.
    Supplied {
        /// Address of the document or response that named it; empty if the server of an account did.
        by: String,
        /// `true` if the document or response came from a public address.
        public: bool,
    },
}

/// Purpose of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// The subscription document of a feed.
    Poll(FeedKey),
    /// An archive or an older page of a feed.
    Archive(FeedKey),
    /// The page that an entry links to.
    FullText(EntryKey),
    /// A picture of an entry.
    Picture(EntryKey),
    /// A feed to subscribe to, or a page that may name one. Contains the number of the subscription being added.
    Discover(u32),
}

/// Result of a fetch.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetched {
    /// Time of the first request.
    pub started: DateTime<Utc>,
    /// Size of the last body on the wire, in bytes.
    pub wire_bytes: u64,
    /// Redirects in order.
    pub hops: Vec<Hop>,
    /// `true` if validators were sent to the address of the last response.
    pub conditional: bool,
    /// Last response, or the reason that there is none.
    pub result: Result<ServerAnswer, FetchFailure>,
}

/// One redirect that was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// Status 301, 302, 303, 307, or 308.
    pub status: u16,
    /// Target of the redirect, as an absolute address.
    pub to: String,
    /// `true` if the redirect came from a redirect document (SPEC D.5) and not from a status. Such a redirect counts as a 301.
    pub by_document: bool,
}

/// Last response of a fetch.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerAnswer {
    /// HTTP status.
    pub status: u16,
    /// Address that responded.
    pub url: String,
    /// `true` if the response came from a public address (SPEC D.6). A response through a proxy counts as public.
    pub public: bool,
    /// Time at which the head of the response arrived.
    pub received: DateTime<Utc>,
    /// Headers of the response that are used.
    pub headers: AnswerHeaders,
    /// Body of the response.
    pub body: AnswerBody,
}

impl ServerAnswer {
    /// Returns the bot wall that answered instead of the site: the response is no feed and has the marks of one.
    pub fn bot_wall(&self) -> Option<BotWall> {
        let title = if let AnswerBody::Page { title, .. } = &self.body { title } else { &None };
        let is_wanted = self.body.feed().is_some()
            || matches!(
                self.body,
                AnswerBody::Article(Ok(_))
                    | AnswerBody::Listing(_)
                    | AnswerBody::Picture(_)
                    | AnswerBody::Robots(_)
            );
        let is_plain = matches!(self.status, 304 | 401 | 404 | 407 | 410 | 511);
        let named = self.headers.wall.or_else(|| named_by_title(title.as_deref()?));
        named.filter(|_| !is_plain && !is_wanted)
    }

    /// Returns the response without its body.
    #[must_use]
    pub fn head(&self) -> Self {
        Self {
            body: AnswerBody::Unread,
            url: self.url.clone(),
            headers: self.headers.clone(),
            ..*self
        }
    }
}

/// Headers of a response. Headers that are sent back to the server are stored as bytes, and headers that are parsed as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerHeaders {
    /// `ETag`, byte for byte.
    pub etag: Option<Vec<u8>>,
    /// `Last-Modified`, byte for byte.
    pub last_modified: Option<Vec<u8>>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Cache-Control`, with several headers joined by commas.
    pub cache_control: Option<String>,
    /// `Expires`.
    pub expires: Option<String>,
    /// `Date`.
    pub date: Option<String>,
    /// `Age`.
    pub age: Option<String>,
    /// `Retry-After`.
    pub retry_after: Option<String>,
    /// Headers that announce rate limits, each in a line of its own as `name: value`.
    pub rate_limits: Option<String>,
    /// `IM`: instance manipulation of a delta (RFC 3229).
    pub im: Option<String>,
    /// `Delta-Base`: the entity tag that a delta is based on.
    pub delta_base: Option<String>,
    /// `Vary`, with several headers joined by commas.
    pub vary: Option<String>,
    /// `WWW-Authenticate`, with several headers joined by commas.
    pub www_authenticate: Option<String>,
    /// `Link`, with several headers joined by commas.
    pub link: Option<String>,
    /// Bot wall that left its mark in the headers.
    pub wall: Option<BotWall>,
}

impl AnswerHeaders {
    /// Returns the headers that affect the time of the next poll.
    pub fn times(&self) -> schedule::TimingHeaders<'_> {
        schedule::TimingHeaders {
            cache_control: self.cache_control.as_deref(),
            expires: self.expires.as_deref(),
            date: self.date.as_deref(),
            age: self.age.as_deref(),
            retry_after: self.retry_after.as_deref(),
            rate_limits: self.rate_limits.as_deref(),
        }
    }
}

/// Body of a response after parsing.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerBody {
    /// The body was not read, because the status code is sufficient.
    Unread,
    /// The body is empty.
    Empty,
    /// A feed document, a redirect document, or something that is neither
    /// ([`backissue_core::feed::Kind::None`] with its flaws).
    Document(Box<FeedDocument>),
    /// The text of a requested page with markup, or the reason that no text was found.
    Article(Result<String, String>),
    /// The bytes of a requested picture.
    Picture(Arc<Vec<u8>>),
    /// The times of the captures in a requested listing of the Internet Archive, oldest first.
    Listing(Vec<u64>),
    /// The text of a requested robots.txt.
    Robots(String),
    /// An HTML page.
    Page {
        /// Title of the page, plain text.
        title: Option<String>,
        /// Feeds that the page names.
        candidates: Vec<Candidate>,
        /// Other addresses in the page, to try if the page names no feed.
        leads: PageLeads,
    },
}

impl AnswerBody {
    /// Returns the feed in the body, if there is one.
    pub fn feed(&self) -> Option<&FeedDocument> {
        let Self::Document(document) = self else { return None };
        document.kind.is_feed().then_some(document)
    }
}

/// Name of the connection phase in the message about a time-out.
pub const CONNECTING: &str = "connecting";

/// Reason that a fetch has no response. The message is a sentence fragment that can follow "failed: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchFailure {
    /// The address is not usable.
    #[error("{0}")]
    Address(String),
    /// The host name could not be resolved.
    #[error("the host name '{0}' could not be found")]
    Name(String),
    /// The connection to the host failed.
    #[error("no connection to {0}")]
    Connect(String),
    /// No route to the host: this machine has no network, or none that reaches the host.
    #[error("{0} cannot be reached from here")]
    Unreachable(String),
    /// TLS failed. The request is never repeated without TLS.
    #[error("no secure connection: {0}")]
    Tls(String),
    /// One of the three time-outs of SPEC 0.
    #[error("no response within {seconds} s ({phase})")]
    Timeout {
        /// Phase that timed out.
        phase: &'static str,
        /// Limit in seconds.
        seconds: u64,
    },
    /// One of the limits of SPEC 0 was exceeded.
    #[error("the response is too large: {0}")]
    TooLarge(String),
    /// The body ended before its stated length.
    #[error("the response was cut off")]
    CutOff,
    /// The content encoding of the body is invalid.
    #[error("the response could not be decoded: {0}")]
    Encoding(String),
    /// A redirect is invalid.
    #[error("bad redirect: {0}")]
    Redirect(String),
    /// A redirect from https to http that the user did not allow (SPEC D.3).
    #[error("insecure redirect: it leads from https to {to}")]
    Insecure {
        /// Target of the redirect.
        to: String,
    },
    /// Requests to the address are not allowed (SPEC D.6).
    #[error("not requested: {0}")]
    Blocked(String),
    /// Any other error of the HTTP library.
    #[error("{0}")]
    Protocol(String),
}

impl FetchFailure {
    /// Checks whether no host was reached. A host that refuses or drops a connection counts as reached.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Name(_) | Self::Unreachable(_))
            || matches!(self, Self::Timeout { phase, .. } if *phase == CONNECTING)
    }

    /// Checks whether the address itself is at fault: it is not usable, or may not be requested (SPEC D.3, D.6).
    pub const fn is_of_address(&self) -> bool {
        matches!(self, Self::Address(_) | Self::Blocked(_) | Self::Insecure { .. })
    }

    /// Returns the kind of failure as input for the schedule.
    pub const fn for_schedule(&self) -> schedule::PollFailure {
        if matches!(self, Self::TooLarge(_)) {
            schedule::PollFailure::TooLarge
        } else if matches!(self, Self::CutOff | Self::Encoding(_)) {
            schedule::PollFailure::Unreadable
        } else {
            schedule::PollFailure::Unanswered
        }
    }
}

/// Validators of a response, exactly as received, with the address that supplied them (SPEC D.4 rules 1 and 2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Validators {
    /// Address that supplied the validators. They are sent only to this address.
    #[serde(skip_serializing_if = "is_default")]
    pub url: String,
    /// `ETag`, byte for byte.
    #[serde(skip_serializing_if = "is_default")]
    pub etag: Option<Vec<u8>>,
    /// `Last-Modified`, byte for byte.
    #[serde(skip_serializing_if = "is_default")]
    pub last_modified: Option<Vec<u8>>,
}

impl Validators {
    /// Checks whether at least one validator may be sent to `url`.
    pub fn speak_for(&self, url: &str) -> bool {
        self.url == url && (self.etag.is_some() || self.last_modified.is_some())
    }
}

/// A service that answered instead of the site, because a program requested the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BotWall {
    /// Name of the service.
    pub service: &'static str,
    /// `false` if the service guards the site, but the refusal may also come from the site itself.
    pub is_certain: bool,
}

impl BotWall {
    /// Describes a refusal, as a sentence fragment after "answered". `status` is the status in words.
    pub fn words(self, status: &str) -> String {
        let Self { service, is_certain } = self;
        if is_certain {
            format!("{status}: {service} guards the site and lets only browsers in")
        } else {
            format!("{status}: probably {service}, which guards the site against programs")
        }
    }
}

/// What shows that a bot wall answered instead of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    /// The service adds the mark only to a refusal or a challenge.
    Always,
    /// The service adds the mark to every response, so the mark counts only with status 403.
    WithForbidden,
}

/// A mark of a bot wall in the headers of a response: the name of the service, the header, a part of the header in lower case, and
/// what it shows.
type HeaderMark = (&'static str, &'static str, &'static str, Shows);

const HEADERS: &[HeaderMark] = &[
    ("Cloudflare", "cf-mitigated", "", Shows::Always),
    ("Cloudflare", "server", "cloudflare", Shows::WithForbidden),
    ("DataDome", "x-datadome", "", Shows::WithForbidden),
    ("DataDome", "x-dd-b", "", Shows::Always),
    ("Akamai", "server", "akamaighost", Shows::WithForbidden),
    ("Akamai", "akamai-grn", "", Shows::WithForbidden),
    ("PerimeterX", "set-cookie", "_pxhd=", Shows::WithForbidden),
    ("PerimeterX", "x-px-block", "", Shows::Always),
    ("AWS WAF", "x-amzn-waf-action", "", Shows::Always),
    ("Imperva", "x-iinfo", "", Shows::WithForbidden),
    ("Imperva", "set-cookie", "incap_ses_", Shows::WithForbidden),
    ("Imperva", "x-cdn", "imperva", Shows::WithForbidden),
    ("Anubis", "set-cookie", "-anubis-", Shows::Always),
    ("Sucuri", "x-sucuri-block", "", Shows::Always),
    ("Sucuri", "server", "sucuri", Shows::WithForbidden),
    ("Vercel", "x-vercel-mitigated", "", Shows::Always),
    ("Kasada", "x-kpsdk-ct", "", Shows::Always),
    ("DDoS-Guard", "server", "ddos-guard", Shows::WithForbidden),
];

/// Parts of the titles of challenge pages in lower case, which answer with a successful status, and the names of the services.
const TITLES: &[(&str, &str)] = &[
    ("Cloudflare", "just a moment..."),
    ("Cloudflare", "attention required! | cloudflare"),
    ("Anubis", "making sure you're not a bot"),
    ("AWS WAF", "human verification"),
    ("Imperva", "pardon our interruption"),
    ("Imperva", "_incapsula_resource"),
    ("Vercel", "vercel security checkpoint"),
    ("DDoS-Guard", "ddos-guard"),
];

/// Returns the bot wall that answered with this status, according to the response's headers. `header` returns all lines
/// of a header.
pub fn named_by_headers(
    status: u16,
    header: impl Fn(&'static str) -> Option<String>,
) -> Option<BotWall> {
    let is_mark = |(_, name, part, shows): &&HeaderMark| {
        (*shows == Shows::Always || status == 403)
            && header(name).is_some_and(|value| value.to_ascii_lowercase().contains(part))
    };
    let mark = HEADERS.iter().find(is_mark);
    mark.map(|(service, _, _, shows)| BotWall { service, is_certain: *shows == Shows::Always })
}

/// Returns the bot wall whose challenge page has this title.
pub fn named_by_title(title: &str) -> Option<BotWall> {
    let title = title.to_lowercase().replace('’', "'");
    let found = TITLES.iter().find(|(_, part)| title.contains(part));
    found.map(|(service, _)| BotWall { service, is_certain: true })
}

#[cfg(test)]
mod tests {
    use crate::engine::poll::fetch::*;
    use backissue_core::schedule::PollFailure;

    #[test]
    fn broken_off_transfer_counts_as_reached_host() {
        let timeout = |phase| FetchFailure::Timeout { phase, seconds: 30 };
        for (failure, is_unreachable, scheduled) in [
            (timeout(CONNECTING), true, PollFailure::Unanswered),
            (timeout("waiting for data"), false, PollFailure::Unanswered),
            (FetchFailure::Name("a".into()), true, PollFailure::Unanswered),
            (FetchFailure::Connect("a".into()), false, PollFailure::Unanswered),
            (FetchFailure::CutOff, false, PollFailure::Unreadable),
            (FetchFailure::TooLarge("a".into()), false, PollFailure::TooLarge),
            (FetchFailure::Blocked("a".into()), false, PollFailure::Unanswered),
        ] {
            let found = (failure.is_unreachable(), failure.for_schedule());
            assert_eq!(found, (is_unreachable, scheduled));
        }
    }
}

#[cfg(test)]
mod bot_walls_tests {
    use super::*;

    fn named(status: u16, name: &str, value: &str) -> Option<&'static str> {
        let header = |asked| (asked == name).then(|| value.to_owned());
        named_by_headers(status, header).map(|wall| wall.service)
    }

    #[test]
    fn services_are_recognised_by_their_headers() {
        for (name, value, service) in [
            ("cf-mitigated", "challenge", "Cloudflare"),
            ("x-dd-b", "1", "DataDome"),
            ("x-amzn-waf-action", "captcha", "AWS WAF"),
            ("set-cookie", "a=b, techaro.lol-anubis-cookie-verification=x; Path=/", "Anubis"),
            ("x-vercel-mitigated", "challenge", "Vercel"),
        ] {
            assert_eq!(named(200, name, value), Some(service), "{name}");
            assert_eq!(named(403, name, value), Some(service), "{name}");
        }
        for (name, value, service) in [
            ("server", "cloudflare", "Cloudflare"),
            ("server", "AkamaiGHost", "Akamai"),
            ("x-datadome", "protected", "DataDome"),
            ("set-cookie", "_pxhd=abc", "PerimeterX"),
            ("set-cookie", "incap_ses_1=x", "Imperva"),
            ("x-iinfo", "9-1", "Imperva"),
        ] {
            assert_eq!(named(403, name, value), Some(service), "{name}");
            assert_eq!(named(200, name, value), None, "{name}: every response has it");
            assert_eq!(named(429, name, value), None, "{name}: the site itself asks for a pause");
        }
        assert_eq!(named(403, "server", "nginx"), None);
    }

    #[test]
    fn challenge_pages_are_recognised_by_their_titles() {
        let named = |title| named_by_title(title).map(|wall| wall.service);
        assert_eq!(named("Just a moment..."), Some("Cloudflare"));
        assert_eq!(named("Making sure you’re not a bot!"), Some("Anubis"));
        assert_eq!(named("_Incapsula_Resource"), Some("Imperva"));
        assert_eq!(named("Just a moment of silence"), None);
    }
}

//! What is asked of the network and what comes back of it, as values.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use backissue_core::feed::FeedDocument;
use backissue_core::feed::discover::candidates::Candidate;
use backissue_core::feed::discover::page_feeds::PageLeads;
use backissue_core::feed::sparse::is_default;
use backissue_core::history::{EntryKey, FeedKey};
use backissue_core::schedule;

/// Names one fetch; a late answer to an unknown one is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FetchId(pub u64);

/// One HTTP exchange to make, redirects included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchRequest {
    /// Its name.
    pub id: FetchId,
    /// Where to.
    pub url: String,
    /// Sent only to the address that gave them; `None`: an unconditional request.
    pub validators: Option<Validators>,
    /// What it asks for.
    pub kind: RequestKind,
    /// Whose word the address is.
    pub address_source: AddressSource,
    /// The reader allows this feed to lead from https to http (SPEC D.3).
    pub allow_insecure: bool,
    /// It waits until what was handed to the store before is durable: that the feed was asked is known then, whatever
    /// becomes of this process, and it is not asked twice (SPEC G.20).
    pub waits_for_store: bool,
    /// Milliseconds before a redirect is followed.
    pub redirect_pause_ms: u64,
}

impl FetchRequest {
    /// An unconditional request for an address the reader typed.
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

/// What a request asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RequestKind {
    /// The document.
    #[default]
    Usual,
    /// The document, past the caches on the way: `Cache-Control: no-cache` (SPEC D.1, forced refresh).
    Fresh,
    /// What is new only: `A-IM: feed` (SPEC D.7). Sent only beside a known `ETag`.
    Delta,
    /// A listing of the copies that the Internet Archive has.
    Listing,
    /// The page an entry links to, as its text: `Accept: text/html`.
    Page,
    /// A picture of an entry.
    Picture,
    /// The document in any form: `Accept: */*`, once after a 406 or 415 (SPEC D.2).
    Anything,
}

/// Whose word an address is; decides where it may lead (SPEC D.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddressSource {
    /// The reader typed or imported it.
    Typed,
    /// A document or an answer named it.
    Supplied {
        /// Address of the document that named it.
        by: String,
        /// That document came from a public address.
        public: bool,
    },
}

/// What a fetch is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// The subscription document of a feed.
    Poll(FeedKey),
    /// An archive of a feed, or an older page of it.
    Archive(FeedKey),
    /// The page that an entry links to.
    FullText(EntryKey),
    /// A picture of an entry.
    Picture(EntryKey),
    /// An address the reader typed: a feed, or a page that names one. The number is that of the addition.
    Discover(u32),
}

/// How a fetch ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Fetched {
    /// When the first request was sent.
    pub started: DateTime<Utc>,
    /// Bytes of the last body as they came over the wire.
    pub wire_bytes: u64,
    /// Redirects on the way, in order.
    pub hops: Vec<Hop>,
    /// Validators were sent to the address that answered last.
    pub conditional: bool,
    /// The last answer, or why there is none.
    pub result: Result<Answer, FetchFailure>,
}

/// One redirect that was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// 301, 302, 303, 307 or 308.
    pub status: u16,
    /// Where it pointed, resolved.
    pub to: String,
    /// A redirect document said so (SPEC D.5), not a status; it counts as a 301.
    pub by_document: bool,
}

/// The last answer of a fetch.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The address that answered.
    pub url: String,
    /// It answered from a public address (SPEC D.6); through a proxy, its name is taken to be public.
    pub public: bool,
    /// When the head of the answer came.
    pub received: DateTime<Utc>,
    /// What of its headers is used.
    pub headers: AnswerHeaders,
    /// What it carried.
    pub body: AnswerBody,
}

impl Answer {
    /// The same answer without its body.
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

/// Headers of an answer, as bytes where they are sent back and as text where they are read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerHeaders {
    /// `ETag`, byte for byte.
    pub etag: Option<Vec<u8>>,
    /// `Last-Modified`, byte for byte.
    pub last_modified: Option<Vec<u8>>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Cache-Control`, several joined by commas.
    pub cache_control: Option<String>,
    /// `Expires`.
    pub expires: Option<String>,
    /// `Date`.
    pub date: Option<String>,
    /// `Age`.
    pub age: Option<String>,
    /// `Retry-After`.
    pub retry_after: Option<String>,
    /// `IM`: how a delta was made (RFC 3229).
    pub im: Option<String>,
    /// `Delta-Base`: the entity tag a delta starts from.
    pub delta_base: Option<String>,
    /// `WWW-Authenticate`, several joined by commas.
    pub www_authenticate: Option<String>,
    /// `Link`, several joined by commas.
    pub link: Option<String>,
}

impl AnswerHeaders {
    /// Those that speak about time.
    pub fn times(&self) -> schedule::TimingHeaders<'_> {
        schedule::TimingHeaders {
            cache_control: self.cache_control.as_deref(),
            expires: self.expires.as_deref(),
            date: self.date.as_deref(),
            age: self.age.as_deref(),
            retry_after: self.retry_after.as_deref(),
        }
    }
}

/// What the body of an answer turned out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerBody {
    /// Nothing was read: the status says all.
    Unread,
    /// No byte came.
    Empty,
    /// A feed document, a redirect document, or something that is neither
    /// ([`backissue_core::feed::Kind::None`] with its flaws).
    Document(Box<FeedDocument>),
    /// The text of a page as marked up, or why none was found.
    Article(Result<String, String>),
    /// The bytes of what was asked for as a picture.
    Picture(Arc<Vec<u8>>),
    /// The copies that were asked for as a listing, oldest first.
    Listing(Vec<u64>),
    /// An HTML page.
    Page {
        /// Its title, plain text.
        title: Option<String>,
        /// Feeds it names.
        candidates: Vec<Candidate>,
        /// What to try where it names none.
        leads: PageLeads,
    },
}

impl AnswerBody {
    /// The feed it carries, if it does.
    pub fn feed(&self) -> Option<&FeedDocument> {
        match self {
            Self::Document(document) if document.kind.is_feed() => Some(document),
            Self::Document(_)
            | Self::Page { .. }
            | Self::Listing(_)
            | Self::Picture(_)
            | Self::Article(_)
            | Self::Empty
            | Self::Unread => None,
        }
    }
}

/// The phase of a time-out in which nobody had answered yet.
pub const CONNECTING: &str = "a connection";

/// Why there is no answer. Each prints as a fragment fit for "failed: …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchFailure {
    /// The address cannot be asked.
    #[error("{0}")]
    Address(String),
    /// The name does not resolve.
    #[error("the host name '{0}' could not be found")]
    Name(String),
    /// No connection.
    #[error("no connection to {0}")]
    Connect(String),
    /// No way to the host: this machine has no network, or none that leads there.
    #[error("there is no way to {0} from here")]
    Unreachable(String),
    /// TLS failed; never bypassed.
    #[error("no secure connection: {0}")]
    Tls(String),
    /// One of the three time-outs of SPEC 0.
    #[error("no answer within {seconds} s ({phase})")]
    Timeout {
        /// What was waited for.
        phase: &'static str,
        /// How long.
        seconds: u64,
    },
    /// One of the limits of SPEC 0.
    #[error("the answer is too large: {0}")]
    TooLarge(String),
    /// The body ended early.
    #[error("the answer was cut off")]
    CutOff,
    /// The body's encoding is broken.
    #[error("the answer could not be decoded: {0}")]
    Encoding(String),
    /// Redirects that lead nowhere.
    #[error("bad redirect: {0}")]
    Redirect(String),
    /// A redirect from https to http that the reader did not allow (SPEC D.3).
    #[error("insecure redirect: it leads from https to {to}")]
    Insecure {
        /// Where to.
        to: String,
    },
    /// The address may not be asked: where it leads is nobody's business out there (SPEC D.6).
    #[error("{0}")]
    Blocked(String),
    /// Anything else the HTTP library reports.
    #[error("{0}")]
    Protocol(String),
}

/// What kind of failure it is: what follows from it goes by this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureClass {
    /// The address cannot be asked.
    BadAddress,
    /// The address may not be asked (SPEC D.6).
    Blocked,
    /// It leads from https to http, which the reader did not allow (SPEC D.3).
    Insecure,
    /// Nothing was heard from anybody: no name, no way, no connection in time.
    Unreachable,
    /// Somebody was there, and no answer came.
    Unanswered,
    /// The answer is larger than a limit.
    TooLarge,
    /// The answer cannot be read.
    Unreadable,
}

impl FetchFailure {
    /// What kind of failure it is. A host that refuses a connection, or breaks one off, was reached.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Address(_) => FailureClass::BadAddress,
            Self::Blocked(_) => FailureClass::Blocked,
            Self::Insecure { .. } => FailureClass::Insecure,
            Self::Name(_) | Self::Unreachable(_) => FailureClass::Unreachable,
            Self::Timeout { phase, .. } if *phase == CONNECTING => FailureClass::Unreachable,
            Self::Timeout { .. }
            | Self::Connect(_)
            | Self::Tls(_)
            | Self::Redirect(_)
            | Self::Protocol(_) => FailureClass::Unanswered,
            Self::TooLarge(_) => FailureClass::TooLarge,
            Self::CutOff | Self::Encoding(_) => FailureClass::Unreadable,
        }
    }
}

impl FailureClass {
    /// How the schedule sees it.
    pub const fn for_schedule(self) -> schedule::PollFailure {
        match self {
            Self::TooLarge => schedule::PollFailure::TooLarge,
            Self::Unreadable => schedule::PollFailure::Unreadable,
            Self::BadAddress
            | Self::Blocked
            | Self::Insecure
            | Self::Unreachable
            | Self::Unanswered => schedule::PollFailure::Unanswered,
        }
    }
}
/// Validators exactly as received, with the address that gave them (SPEC D.4 rules 1 and 2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Validators {
    /// The address that gave them, and the only one they are sent to.
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
    /// Whether there is anything to send to `url`.
    pub fn speak_for(&self, url: &str) -> bool {
        self.url == url && (self.etag.is_some() || self.last_modified.is_some())
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::poll::fetch::*;
    use backissue_core::schedule::PollFailure;

    #[test]
    fn a_host_that_breaks_off_was_reached_and_one_that_cannot_be_connected_to_in_time_was_not() {
        let timeout = |phase| FetchFailure::Timeout { phase, seconds: 30 };
        for (failure, class, scheduled) in [
            (timeout(CONNECTING), FailureClass::Unreachable, PollFailure::Unanswered),
            (timeout("the next byte"), FailureClass::Unanswered, PollFailure::Unanswered),
            (FetchFailure::Name("a".into()), FailureClass::Unreachable, PollFailure::Unanswered),
            (FetchFailure::Connect("a".into()), FailureClass::Unanswered, PollFailure::Unanswered),
            (FetchFailure::CutOff, FailureClass::Unreadable, PollFailure::Unreadable),
            (FetchFailure::TooLarge("a".into()), FailureClass::TooLarge, PollFailure::TooLarge),
            (FetchFailure::Blocked("a".into()), FailureClass::Blocked, PollFailure::Unanswered),
        ] {
            assert_eq!((failure.class(), failure.class().for_schedule()), (class, scheduled));
        }
    }
}

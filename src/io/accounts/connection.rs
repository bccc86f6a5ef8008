//! The connection to the server of an account: sends requests one by one, counts them, and says what answers mean.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tokio::runtime::Handle;
use url::Url;

use crate::engine::poll::fetch::FetchFailure;
use crate::io::clock;
use crate::io::http::Http;
use crate::io::http::api_calls::{ApiAnswer, ApiLogin, ApiRequest};
use backissue_core::accounts::answers::AnswerFault;
use backissue_core::accounts::api_call::ApiCall;
use backissue_core::feed::text::one_line;

/// Interval between checks whether the sync was cancelled.
const CANCEL_LOOK: Duration = Duration::from_millis(100);
/// Time limit of a request. Servers on slow disks need seconds for a change of many marks.
const TIME_MAX: Duration = Duration::from_mins(2);
/// Time limit of all requests that search for the API of a new account, because the user waits for them.
const SEARCH_MAX: Duration = Duration::from_secs(30);

/// Why a sync cannot go on; a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncFailure {
    /// The sentence.
    pub text: String,
    /// What the failure calls for.
    pub kind: FailureKind,
}

/// What a failure of a sync calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The server refuses the login: the user must act.
    Login,
    /// The server asks for a pause, of this number of seconds if it says so.
    Pause(Option<u32>),
    /// The server failed or is slow, perhaps because the request asked for too much.
    TooMuch,
    /// The answer is larger than any may be.
    TooLarge,
    /// Something could not be written here.
    Unwritten,
    /// Anything else; it may pass.
    Other,
    /// The program ends or the user cancelled.
    Cancelled,
}

impl FailureKind {
    /// Checks whether a smaller request may succeed.
    pub const fn is_too_much(self) -> bool {
        matches!(self, Self::TooMuch | Self::TooLarge)
    }

    /// How much a failure of one address tells about a server of which several addresses are tried: an API that refuses the login
    /// tells more than one that fails, and this more than a page.
    pub(super) const fn weight(self) -> u8 {
        match self {
            Self::Login => 2,
            Self::Pause(_) | Self::TooMuch | Self::TooLarge => 1,
            Self::Unwritten | Self::Other | Self::Cancelled => 0,
        }
    }
}

impl SyncFailure {
    /// Creates a failure that may pass.
    pub fn other(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: FailureKind::Other }
    }

    /// Creates the failure of a sync that was interrupted.
    pub fn cancelled() -> Self {
        let text = "the sync was interrupted; the next one continues from here".to_owned();
        Self { text, kind: FailureKind::Cancelled }
    }
}

/// Requests and bytes of a sync.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of requests.
    pub requests: u32,
    /// Bytes of bodies sent.
    pub sent: u64,
    /// Bytes of bodies received, as they came over the wire.
    pub received: u64,
}

/// The connection to a server.
pub(super) struct Connection {
    http: Arc<Http>,
    runtime: Handle,
    /// Name of the account.
    name: String,
    /// Base address of the API.
    pub(super) base: Url,
    /// Time left to search for the API of a new account; `None` for an account whose API is known.
    pub(super) search_time: Option<Duration>,
    /// Requests and bytes so far.
    pub(super) usage: Usage,
    /// Ends requests when it returns `true`.
    pub(super) is_cancelled: Box<dyn Fn() -> bool + Send>,
}

impl Connection {
    /// Creates the connection to the server with this address.
    pub(super) fn new(
        http: Arc<Http>,
        runtime: Handle,
        name: &str,
        address: &str,
    ) -> Result<Self, SyncFailure> {
        let base = Url::parse(address).map_err(|error| {
            SyncFailure::other(format!("the address of account '{name}' is wrong: {error}"))
        })?;
        let is_cancelled = Box::new(|| false);
        let (name, usage) = (name.to_owned(), Usage::default());
        Ok(Self { http, runtime, name, base, search_time: None, usage, is_cancelled })
    }

    /// Sends a request and returns the answer, whatever its status.
    pub(super) fn send(
        &mut self,
        call: &ApiCall,
        login: Option<ApiLogin>,
    ) -> Result<ApiAnswer, SyncFailure> {
        let (url, body) = (call.address(&self.base), call.body.clone());
        let (begun, time) = (clock::precise_now(), self.search_time.unwrap_or(TIME_MAX));
        let request = ApiRequest { url, verb: call.verb, body, login, time };
        self.usage.requests = self.usage.requests.saturating_add(1);
        self.usage.sent = self.usage.sent.saturating_add(call.body.len() as u64);
        let (tell, answered) = channel();
        let http = Arc::clone(&self.http);
        // A separate task: when the program ends, it is dropped, and with it the sender.
        self.runtime.spawn(async move {
            tell.send(http.call(&request).await).ok();
        });
        let answer = loop {
            match answered.recv_timeout(CANCEL_LOOK) {
                Ok(answer) => break answer,
                Err(RecvTimeoutError::Timeout) if !(self.is_cancelled)() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(SyncFailure::cancelled());
                }
            }
        };
        let taken = clock::precise_now().signed_duration_since(begun).to_std().unwrap_or_default();
        self.search_time = self.search_time.map(|left| left.saturating_sub(taken));
        let answer = answer.map_err(|failure| {
            let kind = if matches!(failure, FetchFailure::TooLarge(_)) {
                FailureKind::TooLarge
            } else if matches!(failure, FetchFailure::Timeout { .. }) {
                FailureKind::TooMuch
            } else {
                FailureKind::Other
            };
            SyncFailure { text: format!("{}: {failure}", self.place()), kind }
        })?;
        self.usage.received = self.usage.received.saturating_add(answer.wire_bytes);
        Ok(answer)
    }

    /// Returns the server as messages name it.
    pub(super) fn place(&self) -> String {
        format!("the server of account '{}' at {}", self.name, self.base)
    }

    /// Starts the search for the API of a new account, which has a time limit.
    pub(super) const fn start_search(&mut self) {
        self.search_time = Some(SEARCH_MAX);
    }

    /// Explains an answer that cannot be read.
    pub(super) fn read<T>(&self, answer: Result<T, AnswerFault>) -> Result<T, SyncFailure> {
        answer.map_err(|fault| {
            let why = if fault == AnswerFault::WebPage && self.search_time.is_some() {
                "answered with a web page: this is not the address of its API".to_owned()
            } else {
                fault.to_string()
            };
            SyncFailure::other(format!("{} {why}", self.place()))
        })
    }

    /// Explains an answer without success.
    /// `login` says why a login is refused, and `told` is what the server says about the failure.
    pub(super) fn refused(
        &self,
        answer: &ApiAnswer,
        login: &str,
        told: Option<String>,
    ) -> SyncFailure {
        let place = self.place();
        let pause = || {
            let seconds = answer.retry_after.as_deref().and_then(|text| text.trim().parse().ok());
            FailureKind::Pause(seconds)
        };
        let is_page = answer.body.trim_ascii_start().starts_with(b"<");
        let is_json = answer.body.starts_with(b"{");
        let (kind, why) = match answer.status {
            401 if answer.asks_basic && !is_json => (
                FailureKind::Other,
                "is behind a proxy that asks for a login of its own: give it as a header of this address, with [[network.headers]] in the configuration".to_owned(),
            ),
            403 if is_page || answer.wall.is_some() => {
                let who = answer.wall.unwrap_or("a proxy or a service against bots");
                (FailureKind::Other, format!("is not reached: {who} in front of it refuses programs"))
            }
            401 | 403 => (FailureKind::Login, login.to_owned()),
            429 => (pause(), "asks for fewer requests".to_owned()),
            503 => (pause(), "is down for maintenance, or its API is switched off".to_owned()),
            300..=399 => {
                let to = answer.location.as_deref().unwrap_or("another address");
                let why = format!(
                    "redirects to {}: if it moved, add the account with its new address",
                    one_line(to, 300)
                );
                (FailureKind::Other, why)
            }
            404 | 405 => (FailureKind::Other, "has no API at this address".to_owned()),
            status => {
                let start = answer.body.get(..200).unwrap_or(&answer.body);
                let start = || one_line(&String::from_utf8_lossy(start), 80);
                let body = told.unwrap_or_else(start);
                let is_fault = matches!(status, 500 | 502 | 504);
                let kind = if is_fault { FailureKind::TooMuch } else { FailureKind::Other };
                (kind, format!("answered {status} '{body}'"))
            }
        };
        SyncFailure { text: format!("{place} {why}"), kind }
    }
}

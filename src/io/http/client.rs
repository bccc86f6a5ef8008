//! Performs a fetch: a conditional GET with its redirects, within limits. Bodies are parsed on separate threads.
//!
//! Files that may be larger than the memory are only requested here; their bodies are read piece by piece.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use backissue_core::InputFlaw;
use backissue_core::history::walk::adaptor::read_listing;
use chrono::{DateTime, TimeDelta, Utc};
use reqwest::header::{self, HeaderMap};
use reqwest::{Response, Version};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{sleep, timeout};
use url::Url;

use super::address_guard::Trust;
use super::article::extract_article;
use super::body::{
    BodyLimits, Decoding, PageHeaders, answer_headers, is_readable, joined_header, read_body,
};
use super::clients::{ClientEnvironment, Clients, ReceivedResponse, SendError};
use super::failures::{Limits, classify_error, is_refused_a_file};
use super::parse_threads::ParseThreads;
use super::proxies::without_login;
use super::redirects::{self, Redirect, RedirectLimits, RedirectPath};
use super::request_headers::{self, FetchCredentials, OriginHeaders};
use crate::engine::poll::fetch::{
    AnswerBody, AnswerHeaders, FetchFailure, FetchRequest, Fetched, Hop, RequestKind, ServerAnswer,
};
use crate::engine::settings::{Credentials, NetworkSettings};
use crate::io::clock;
use crate::io::system::is_out_of_files_now;

/// Decoded size, in bytes, above which bodies are received and parsed one at a time, so that several large bodies do not exhaust
/// the memory together.
const LARGE_BYTES: usize = 4 * 1024 * 1024;
/// Pause before retrying a request that failed because the process had no free file descriptor. The request is repeated until a
/// descriptor is free, because the feed did not cause the failure.
const FILE_WAIT: Duration = Duration::from_millis(250);

/// The HTTP client for feeds, archives, pages and pictures.
#[derive(Debug)]
pub struct Http {
    pub(super) clients: Clients,
    pub(super) limits: Limits,
    pub(super) credentials: Vec<Credentials>,
    pub(super) origins: OriginHeaders,
    /// Limits the number of concurrent requests; further requests wait.
    requests: Semaphore,
    documents: ParseThreads,
    pages: ParseThreads,
    large: Semaphore,
}

impl Http {
    /// Creates a client from the settings. The error is a sentence.
    pub fn new(settings: &NetworkSettings, limits: Limits) -> Result<Self, InputFlaw> {
        Self::within(settings, limits, &ClientEnvironment::real())
    }

    /// Creates a client with the given environment, which tests replace.
    pub fn within(
        settings: &NetworkSettings,
        limits: Limits,
        around: &ClientEnvironment,
    ) -> Result<Self, InputFlaw> {
        Ok(Self {
            clients: Clients::new(settings, &limits, around)?,
            limits,
            credentials: settings.credentials.clone(),
            origins: OriginHeaders::new(&settings.origins),
            requests: Semaphore::new(settings.parallel.min(Semaphore::MAX_PERMITS)),
            documents: ParseThreads::for_documents(),
            pages: ParseThreads::for_pages(),
            large: Semaphore::new(1),
        })
    }

    /// Performs a fetch as soon as a slot is free. The fetch always ends, at the latest after the total timeout, which excludes
    /// the time spent waiting for a file descriptor.
    pub async fn fetch(&self, request: FetchRequest) -> Fetched {
        let ask = async || self.fetch_traced(request.clone(), FetchTrace::default()).await.0;
        ask_past_stalls(Moment::now, WAKE_GRACE, ask).await
    }

    /// Performs a fetch and also returns the decoded body of the last response.
    pub async fn fetch_kept(&self, request: FetchRequest) -> (Fetched, Vec<u8>) {
        self.fetch_traced(request, FetchTrace { keeps: true, ..FetchTrace::default() }).await
    }

    /// Returns the maximum size of a decoded document, in bytes.
    pub(in crate::io) const fn body_max(&self) -> usize {
        self.limits.body.body_max
    }

    /// Parses a document that did not come from the network, on the threads for documents. Returns `None` if that panics.
    pub(in crate::io) async fn read_document(
        &self,
        bytes: Vec<u8>,
        url: String,
    ) -> Option<AnswerBody> {
        let large = bytes.len() > LARGE_BYTES;
        let _turn = if large { self.large.acquire().await.ok() } else { None };
        self.documents.run(move || read_body(&bytes, &url, None)).await
    }

    async fn fetch_traced(
        &self,
        request: FetchRequest,
        mut trace: FetchTrace,
    ) -> (Fetched, Vec<u8>) {
        // This cannot fail, because the semaphore is never closed.
        let _turn = self.requests.acquire().await.ok();
        let started = clock::now();
        let result = self.fetch_in_time(&request, &mut trace).await;
        let FetchTrace { wire_bytes, hops, conditional, kept, .. } = trace;
        (Fetched { started, wire_bytes, hops, conditional, result }, kept)
    }

    /// Fetches within the total timeout, extended by the time spent waiting for a file descriptor.
    async fn fetch_in_time(
        &self,
        request: &FetchRequest,
        trace: &mut FetchTrace,
    ) -> Result<ServerAnswer, FetchFailure> {
        let total = self.limits.total;
        let waits = Arc::clone(&trace.file_waits);
        let mut fetching = std::pin::pin!(self.fetch_redirected(request, trace));
        let mut left = total;
        while !left.is_zero() {
            if let Ok(fetched) = timeout(left, &mut fetching).await {
                return fetched;
            }
            left = FILE_WAIT.saturating_mul(waits.swap(0, Ordering::Relaxed));
        }
        Err(FetchFailure::Timeout { phase: "whole response", seconds: total.as_secs() })
    }

    async fn fetch_redirected(
        &self,
        request: &FetchRequest,
        trace: &mut FetchTrace,
    ) -> Result<ServerAnswer, FetchFailure> {
        let mut url = parse_url(&request.url)?;
        let trust = Trust::from_source(&request.address_source);
        trust.check(&url, request.allow_insecure)?;
        let credentials = FetchCredentials::take_from_address(&mut url, &self.credentials);
        let mut path = RedirectPath::new(url, trust);
        loop {
            let arrived = self.send(&path, request, &credentials, &HeaderMap::new(), trace).await?;
            let public = arrived.public;
            path.take_cookies(arrived.response.headers());
            let (status, head) = (arrived.response.status(), arrived.response.headers());
            let (answer, turn) = if let Some(turn) = Redirect::from_head(status, head)? {
                (unread_answer(&path.at, &arrived), Some(turn))
            } else {
                let answer =
                    self.read_answer(path.at.clone(), arrived, request.kind, trace).await?;
                let turn = Redirect::from_document(&answer);
                (answer, turn)
            };
            let Some(turn) = turn else { return Ok(answer) };
            let hop = path.follow(&turn, public, request, self.steps())?;
            let wait = redirects::requested_wait(&answer);
            if wait > self.limits.redirect_wait_max {
                return Ok(answer);
            }
            let wait = wait.max(Duration::from_millis(request.redirect_pause_ms));
            if !wait.is_zero() {
                sleep(wait).await;
            }
            trace.hops.push(hop);
        }
    }

    pub(super) const fn steps(&self) -> RedirectLimits {
        RedirectLimits {
            all_max: self.limits.redirects_max,
            documents_max: self.limits.redirect_documents_max,
            is_file: false,
        }
    }

    pub(super) async fn send(
        &self,
        path: &RedirectPath,
        request: &FetchRequest,
        credentials: &FetchCredentials<'_>,
        more: &HeaderMap,
        trace: &mut FetchTrace,
    ) -> Result<ReceivedResponse, FetchFailure> {
        let known = request.validators.as_ref();
        trace.conditional = known.is_some_and(|validators| validators.speak_for(path.at.as_str()));
        let mut headers = request_headers::headers(request, &path.at);
        headers.extend(more.clone());
        self.origins.add_to(&mut headers, &path.at, path.cookie()).await?;
        let attempt = || {
            self.clients.send(&path.at, path.trust.allowed(&path.at), |client| {
                credentials.build_request(client, &path.at).headers(headers.clone())
            })
        };
        let mut sent = attempt().await;
        while matches!(&sent, Err(SendError::Broken { error, .. }) if lacks_file(error)) {
            trace.file_waits.fetch_add(1, Ordering::Relaxed);
            sleep(FILE_WAIT).await;
            sent = attempt().await;
        }
        sent.map_err(|unsent| match unsent {
            SendError::Refused(refusal) => path.trust.explain_refusal(&refusal),
            SendError::Broken { error, through } => {
                classify_error(&error, &path.at, through.as_deref(), &self.limits)
            }
        })
    }

    async fn read_answer(
        &self,
        url: Url,
        arrived: ReceivedResponse,
        kind: RequestKind,
        trace: &mut FetchTrace,
    ) -> Result<ServerAnswer, FetchFailure> {
        let answer = unread_answer(&url, &arrived);
        if !(200..300).contains(&answer.status) {
            return Ok(answer);
        }
        let mut response = arrived.response;
        let content_type = joined_header(response.headers(), &header::CONTENT_TYPE);
        let page_headers = PageHeaders::read(response.headers());
        let has_length = has_length(&response);
        let limits = self.limits.body_limits(kind);
        let (decoding, turn) = self.receive_body(&url, &mut response, limits, trace).await?;
        let unknown_encoding = decoding.unknown_encoding();
        let bytes = decoding.finish()?;
        drop(response);
        if trace.keeps {
            trace.kept.clone_from(&bytes);
        }
        if kind == RequestKind::Picture {
            return Ok(ServerAnswer { body: AnswerBody::Picture(Arc::new(bytes)), ..answer });
        }
        if kind == RequestKind::Robots {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            return Ok(ServerAnswer { body: AnswerBody::Robots(text), ..answer });
        }
        let read = self.threads_for(kind).run(move || {
            if kind == RequestKind::Page {
                return AnswerBody::Article(extract_article(
                    &bytes,
                    url.as_str(),
                    content_type.as_deref(),
                ));
            }
            let listing = (kind == RequestKind::Listing).then(|| read_listing(&bytes)).flatten();
            listing.map_or_else(
                || {
                    let body = read_body(&bytes, url.as_str(), content_type.as_deref());
                    page_headers.add_to(body, url.as_str())
                },
                AnswerBody::Listing,
            )
        });
        let body = read.await;
        drop(turn);
        let mut body =
            body.ok_or_else(|| FetchFailure::Protocol("the response could not be read".into()))?;
        if let AnswerBody::Document(document) = &mut body
            && !has_length
        {
            document.doubt_end();
        }
        if let Some(failure) = unknown_encoding.filter(|_| !is_readable(&body)) {
            return Err(failure);
        }
        Ok(ServerAnswer { body, ..answer })
    }

    /// Returns the threads that parse the response. Web pages have their own threads, because parsing a page may take long and
    /// must not delay feed documents.
    fn threads_for(&self, kind: RequestKind) -> &ParseThreads {
        if kind == RequestKind::Page { &self.pages } else { &self.documents }
    }

    /// Decodes the body while it arrives, within the limits (SPEC D.8). Only one large body is handled at a time. For a large
    /// body, also returns the permit that makes other large bodies wait.
    pub(super) async fn receive_body(
        &self,
        url: &Url,
        response: &mut Response,
        limits: BodyLimits,
        trace: &mut FetchTrace,
    ) -> Result<(Decoding, Option<SemaphorePermit<'_>>), FetchFailure> {
        trace.wire_bytes = 0;
        let encoding =
            joined_header(response.headers(), &header::CONTENT_ENCODING).unwrap_or_default();
        let mut decoding = Decoding::new(&encoding, limits)?;
        decoding.check_length(response.content_length())?;
        let mut turn = None;
        loop {
            let chunk = response.chunk().await;
            let chunk = chunk.map_err(|error| classify_error(&error, url, None, &self.limits))?;
            let Some(chunk) = chunk else { return Ok((decoding, turn)) };
            let taken = decoding.decode_chunk(&chunk);
            trace.wire_bytes = decoding.wire_bytes();
            taken?;
            if turn.is_none() && decoding.decoded_bytes() > LARGE_BYTES {
                turn = self.large.acquire().await.ok();
            }
        }
    }
}

/// Checks whether the response states the length of its body, so that truncation would be detected.
fn has_length(response: &Response) -> bool {
    let states = |name| response.headers().contains_key(name);
    response.version() > Version::HTTP_11
        || states(header::CONTENT_LENGTH)
        || states(header::TRANSFER_ENCODING)
}

/// The facts about a fetch that are reported even if it fails.
#[derive(Debug, Default)]
pub(super) struct FetchTrace {
    pub(super) wire_bytes: u64,
    hops: Vec<Hop>,
    conditional: bool,
    /// Number of times that the fetch waited for a free file descriptor since this count was last read.
    file_waits: Arc<AtomicU32>,
    /// `true` to keep the decoded body.
    keeps: bool,
    kept: Vec<u8>,
}

/// Creates a [`ServerAnswer`] from the status and headers of a response, before the body is read.
fn unread_answer(url: &Url, arrived: &ReceivedResponse) -> ServerAnswer {
    ServerAnswer {
        status: arrived.response.status().as_u16(),
        url: url.to_string(),
        public: arrived.public,
        received: clock::now(),
        headers: answer_headers(arrived.response.status(), arrived.response.headers()),
        body: AnswerBody::Unread,
    }
}

/// Checks whether a connection failed for lack of a file descriptor. DNS lookups do not report this reason themselves.
fn lacks_file(error: &reqwest::Error) -> bool {
    is_refused_a_file(error) || (error.is_connect() && is_out_of_files_now())
}

pub(super) fn parse_url(text: &str) -> Result<Url, FetchFailure> {
    let url = Url::parse(text).map_err(|error| {
        FetchFailure::Address(format!("'{}' is not an address: {error}", without_login(text)))
    })?;
    if matches!(url.scheme(), "http" | "https") {
        return Ok(url);
    }
    let shown = without_login(text);
    Err(FetchFailure::Address(format!(
        "'{shown}' cannot be fetched: only http and https addresses can"
    )))
}

/// Interval at which both clocks are read during a request.
const BEAT: Duration = Duration::from_secs(1);
/// Minimum time between two readings of the clocks from which it is concluded that the process did not run. Even on a busy
/// machine, a running process is never delayed this long.
const STALL_MIN: Duration = Duration::from_secs(5);
/// Time for the network to return after the machine wakes up.
pub(super) const WAKE_GRACE: Duration = Duration::from_secs(10);

/// A reading of both clocks (monotonic and wall clock) at the same time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    monotonic: Instant,
    wall: DateTime<Utc>,
}

/// The reason why the process did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stall {
    Stopped,
    /// The machine was asleep. The monotonic clock stopped during that time.
    Asleep,
}

impl Moment {
    pub(super) fn now() -> Self {
        Self { monotonic: clock::instant(), wall: clock::precise_now() }
    }

    /// Returns the stall between an earlier reading and this one, if any.
    fn stall_since(self, before: Self) -> Option<Stall> {
        let passed = self.monotonic.saturating_duration_since(before.monotonic);
        let shown = self.wall.signed_duration_since(before.wall);
        let long = TimeDelta::from_std(passed.saturating_add(STALL_MIN)).unwrap_or(TimeDelta::MAX);
        if shown > long {
            Some(Stall::Asleep)
        } else {
            (passed > STALL_MIN).then_some(Stall::Stopped)
        }
    }
}

/// Sends a request. If the request fails and the process did not run for some time, sends the request once more. If the machine
/// was asleep, waits for the network to return first.
async fn ask_past_stalls<F: Future<Output = Fetched>>(
    now: impl Fn() -> Moment,
    wake_grace: Duration,
    ask: impl Fn() -> F,
) -> Fetched {
    let mut asking = pin!(ask());
    let (mut before, mut stall) = (now(), None);
    let fetched = loop {
        let answered = timeout(BEAT, &mut asking).await;
        let after = now();
        stall = after.stall_since(before).or(stall);
        before = after;
        if let Ok(fetched) = answered {
            break fetched;
        }
    };
    match stall.filter(|_| fetched.result.is_err()) {
        None => return fetched,
        Some(Stall::Asleep) => sleep(wake_grace).await,
        Some(Stall::Stopped) => {}
    }
    ask().await
}

/// Maximum number of redirects to a file. Addresses of podcasts lead through the servers of several companies that count
/// listeners.
const FILE_REDIRECTS_MAX: usize = 20;

/// A response whose body is read piece by piece.
#[derive(Debug)]
pub(in crate::io) struct OpenFile {
    url: Url,
    response: Response,
    limits: Limits,
    /// `true` if a redirect led from https to http.
    pub(in crate::io) is_unencrypted: bool,
}

impl OpenFile {
    /// Returns the status and a header of the response.
    pub(in crate::io) fn head(&self) -> (u16, &HeaderMap) {
        (self.response.status().as_u16(), self.response.headers())
    }

    /// Returns the headers that determine how long to wait before the next request.
    pub(in crate::io) fn times(&self) -> AnswerHeaders {
        answer_headers(self.response.status(), self.response.headers())
    }

    /// Waits for the next piece of the body. Returns `None` at its end.
    pub(in crate::io) async fn next_piece(
        &mut self,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, FetchFailure> {
        let piece = self.response.chunk().await;
        piece.map_err(|error| classify_error(&error, &self.url, None, &self.limits))
    }
}

impl Http {
    /// Requests a file, and follows redirects to the first other response. Its body is not read. `more` contains further headers.
    pub(in crate::io) async fn open_file(
        &self,
        request: &FetchRequest,
        more: &HeaderMap,
    ) -> Result<OpenFile, FetchFailure> {
        let opening = timeout(self.limits.total, self.open_untimed(request, more));
        let seconds = self.limits.total.as_secs();
        opening.await.unwrap_or(Err(FetchFailure::Timeout { phase: "start of the file", seconds }))
    }

    async fn open_untimed(
        &self,
        request: &FetchRequest,
        more: &HeaderMap,
    ) -> Result<OpenFile, FetchFailure> {
        let mut url = parse_url(&request.url)?;
        let trust = Trust::from_source(&request.address_source);
        trust.check(&url, request.allow_insecure)?;
        let credentials = FetchCredentials::take_from_address(&mut url, &self.credentials);
        let (mut path, mut trace) = (RedirectPath::new(url, trust), FetchTrace::default());
        let steps = RedirectLimits { all_max: FILE_REDIRECTS_MAX, is_file: true, ..self.steps() };
        loop {
            let arrived = self.send(&path, request, &credentials, more, &mut trace).await?;
            let (status, head) = (arrived.response.status(), arrived.response.headers());
            path.take_cookies(head);
            let Some(turn) = Redirect::from_head(status, head)? else {
                let is_unencrypted = path.is_downgraded();
                return Ok(OpenFile {
                    url: path.at,
                    response: arrived.response,
                    limits: self.limits,
                    is_unencrypted,
                });
            };
            let wait = redirects::requested_wait(&unread_answer(&path.at, &arrived));
            path.follow(&turn, arrived.public, request, steps)?;
            sleep(wait.min(self.limits.redirect_wait_max)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use futures_util::future::{join_all, poll_immediate};

    use super::*;
    use crate::engine::poll::fetch::FetchFailure;
    use crate::engine::settings::Settings;

    #[tokio::test]
    async fn slow_pages_do_not_delay_documents() {
        let http = Http::new(&Settings::default().network, Limits::default()).unwrap();
        let (gate, closed) = crossbeam_channel::unbounded::<()>();
        let pages = (0..20).map(|_| {
            let closed = closed.clone();
            http.threads_for(RequestKind::Page).run(move || closed.recv().is_err())
        });
        let mut pages = Box::pin(join_all(pages));
        assert!(poll_immediate(pages.as_mut()).await.is_none());
        let document = http.threads_for(RequestKind::Usual).run(|| 7);
        let read = timeout(Duration::from_secs(30), document).await;
        drop(gate);
        assert_eq!((read, pages.await), (Ok(Some(7)), vec![Some(true); 20]));
    }

    /// Returns how often a request to a silent server is sent if each of the two clocks advances by the given number of seconds
    /// between two readings.
    async fn asked(monotonic: u64, wall: i64) -> u32 {
        let began = Moment::now();
        let (looks, count) = (Cell::new(0), Cell::new(0));
        let now = || {
            looks.set(looks.get() + 1);
            Moment {
                monotonic: began.monotonic + Duration::from_secs(looks.get() * monotonic),
                wall: began.wall + TimeDelta::seconds(looks.get().cast_signed() * wall),
            }
        };
        let ask = async || {
            count.set(count.get() + 1);
            Fetched {
                started: began.wall,
                wire_bytes: 0,
                hops: Vec::new(),
                conditional: false,
                result: Err(FetchFailure::Timeout { phase: "waiting for data", seconds: 20 }),
            }
        };
        ask_past_stalls(now, Duration::ZERO, ask).await;
        count.get()
    }

    #[tokio::test]
    async fn suspended_time_does_not_count_as_a_server_stall() {
        for (monotonic, wall, times) in [(1, 1, 1), (60, 60, 2), (1, 3600, 2), (1, -3600, 1)] {
            assert_eq!(asked(monotonic, wall).await, times, "{monotonic} {wall}");
        }
    }
}

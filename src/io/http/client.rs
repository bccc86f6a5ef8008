//! Performs a fetch: a conditional GET with its redirects, within limits. Bodies are parsed on separate threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Response, Version, header};
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;

use super::article::extract_article;
use super::body::{BodyLimits, Decoding};
use super::clients::{ClientEnvironment, Clients, ReceivedResponse, SendError};
use super::failures::{classify_error, is_refused_a_file};
use super::limits::Limits;
use super::origins::OriginHeaders;
use super::parse_threads::ParseThreads;
use super::proxies::without_login;
use super::redirects::{self, Redirect, RedirectLimits, RedirectPath};
use super::request_headers::{self, FetchCredentials};
use super::response_body::{PageHeaders, answer_headers, is_readable, joined_header, read_body};
use super::stalls::{Moment, WAKE_GRACE, ask_past_stalls};
use super::trust::Trust;
use crate::engine::poll::fetch::{
    AnswerBody, FetchFailure, FetchRequest, Fetched, Hop, RequestKind, ServerAnswer,
};
use crate::engine::settings::{Credentials, NetworkSettings};
use crate::io::clock;
use crate::io::system::words::is_out_of_files_now;
use backissue_core::InputFlaw;
use backissue_core::history::walk::adaptor::read_listing;

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
            if let Ok(fetched) = tokio::time::timeout(left, &mut fetching).await {
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
                tokio::time::sleep(wait).await;
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
            tokio::time::sleep(FILE_WAIT).await;
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
pub(super) fn unread_answer(url: &Url, arrived: &ReceivedResponse) -> ServerAnswer {
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

#[cfg(test)]
mod tests {
    use futures_util::future::{join_all, poll_immediate};

    use super::*;
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
        let read = tokio::time::timeout(Duration::from_secs(30), document).await;
        drop(gate);
        assert_eq!((read, pages.await), (Ok(Some(7)), vec![Some(true); 20]));
    }
}

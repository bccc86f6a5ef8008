//! One fetch: conditional GET, redirects by hand, everything within a limit, the body parsed off the loop.

use std::sync::Arc;

use reqwest::{Response, header};
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;

use super::answering::{answer_headers, joined, read_body};
use super::article::extract;
use super::body::BodyLimits;
use super::body::Decoding;
use super::clients::Arrived;
use super::clients::Lanes;
use super::clients::Surroundings;
use super::clients::Unsent;
use super::exchange;
use super::exchange::Keys;
use super::failures::{failure, is_hung_up};
use super::limits::Limits;
use super::proxies::without_login;
use super::reach::Word;
use super::redirects::{self, Steps, Turn, Way};
use crate::engine::poll::fetch::Answer;
use crate::engine::poll::fetch::AnswerBody;
use crate::engine::poll::fetch::Failure;
use crate::engine::poll::fetch::Fetched;
use crate::engine::poll::fetch::Hop;
use crate::engine::poll::fetch::Request;
use crate::engine::poll::fetch::RequestKind;
use crate::engine::settings::Credentials;
use crate::engine::settings::NetworkSettings;
use crate::history::walk::adaptor::read_listing;
use crate::io::clock;

/// Documents parsed at once: each may take several times its size in memory.
const PARSED_AT_ONCE: usize = 4;
/// Bodies decoded to more than this many bytes are read and parsed one at a time, so that many of them do
/// not fill the memory together.
const LARGE_BYTES: usize = 4 * 1024 * 1024;

/// The HTTP client.
#[derive(Debug)]
pub struct Http {
    lanes: Lanes,
    limits: Limits,
    credentials: Vec<Credentials>,
    parsing: Semaphore,
    large: Semaphore,
}

impl Http {
    /// A client by the reader's settings; an error is a sentence.
    pub fn new(settings: &NetworkSettings, limits: Limits) -> Result<Self, String> {
        Self::within(settings, limits, &Surroundings::real())
    }

    /// The same in other surroundings.
    pub fn within(
        settings: &NetworkSettings,
        limits: Limits,
        around: &Surroundings,
    ) -> Result<Self, String> {
        Ok(Self {
            lanes: Lanes::new(settings, &limits, around)?,
            limits,
            credentials: settings.credentials.clone(),
            parsing: Semaphore::new(PARSED_AT_ONCE),
            large: Semaphore::new(1),
        })
    }

    /// Performs one fetch. It always ends, at the latest at the total time-out.
    pub async fn fetch(&self, request: Request) -> Fetched {
        self.fetch_traced(request, Trace::default()).await.0
    }

    /// The same, with the decoded body of the last answer as it came.
    pub async fn fetch_kept(&self, request: Request) -> (Fetched, Vec<u8>) {
        self.fetch_traced(request, Trace { keeps: true, ..Trace::default() }).await
    }

    async fn fetch_traced(&self, request: Request, mut trace: Trace) -> (Fetched, Vec<u8>) {
        let started = clock::now();
        let total = self.limits.total;
        let timed = tokio::time::timeout(total, self.exchange(&request, &mut trace)).await;
        let result = timed.unwrap_or(Err(Failure::Timeout {
            phase: "the whole answer",
            seconds: total.as_secs(),
        }));
        let Trace { wire_bytes, hops, conditional, kept, .. } = trace;
        (Fetched { started, wire_bytes, hops, conditional, result }, kept)
    }

    async fn exchange(&self, request: &Request, trace: &mut Trace) -> Result<Answer, Failure> {
        let mut url = parse_url(&request.url)?;
        let word = Word::of(&request.address_source);
        word.check(&url, request.allow_insecure)?;
        let keys = Keys::taken_from(&mut url, &self.credentials);
        let mut way = Way::new(url, word);
        loop {
            let arrived = self.ask(&way, request, &keys, trace).await?;
            let public = arrived.public;
            let (status, head) = (arrived.response.status(), arrived.response.headers());
            let (answer, turn) = if let Some(turn) = Turn::of_head(status, head)? {
                (unread(&way.at, &arrived), Some(turn))
            } else {
                let answer = self.answer(way.at.clone(), arrived, request.kind, trace).await?;
                let turn = Turn::of_document(&answer);
                (answer, turn)
            };
            let Some(turn) = turn else { return Ok(answer) };
            let hop = way.turn(&turn, public, request, self.steps())?;
            let wait = redirects::wait(&answer);
            if wait > self.limits.redirect_wait_max {
                return Ok(answer);
            }
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            trace.hops.push(hop);
        }
    }

    const fn steps(&self) -> Steps {
        Steps {
            all_max: self.limits.redirects_max,
            documents_max: self.limits.redirect_documents_max,
        }
    }

    async fn ask(
        &self,
        way: &Way,
        request: &Request,
        keys: &Keys<'_>,
        trace: &mut Trace,
    ) -> Result<Arrived, Failure> {
        let known = request.validators.as_ref();
        trace.conditional = known.is_some_and(|validators| validators.speak_for(way.at.as_str()));
        let headers = exchange::headers(request, &way.at);
        let attempt = || {
            self.lanes.send(&way.at, way.word.allowed(&way.at), |client| {
                keys.get(client, &way.at).headers(headers.clone())
            })
        };
        let mut sent = attempt().await;
        // The connection that redirected is used again, and may have been hung up on meanwhile (RFC 9112 §9.3.1).
        let is_stale = matches!(&sent, Err(Unsent::Broken { error, .. }) if is_hung_up(error));
        if is_stale && way.stays_with_its_server() {
            sent = attempt().await;
        }
        sent.map_err(|unsent| match unsent {
            Unsent::Refused(refusal) => way.word.refused(&refusal),
            Unsent::Broken { error, through } => {
                failure(&error, &way.at, through.as_deref(), &self.limits)
            }
        })
    }

    async fn answer(
        &self,
        url: Url,
        arrived: Arrived,
        kind: RequestKind,
        trace: &mut Trace,
    ) -> Result<Answer, Failure> {
        let answer = unread(&url, &arrived);
        if !(200..300).contains(&answer.status) {
            return Ok(answer);
        }
        let mut response = arrived.response;
        let content_type = joined(response.headers(), &header::CONTENT_TYPE);
        let limits = self.limits.of(kind);
        let (bytes, turn) = self.read(&url, &mut response, limits, trace).await?;
        drop(response);
        if trace.keeps {
            trace.kept.clone_from(&bytes);
        }
        if kind == RequestKind::Picture {
            return Ok(Answer { body: AnswerBody::Picture(Arc::new(bytes)), ..answer });
        }
        let _turns = (turn, self.parsing.acquire().await);
        let read = tokio::task::spawn_blocking(move || {
            if kind == RequestKind::Page {
                return AnswerBody::Article(extract(&bytes, url.as_str(), content_type.as_deref()));
            }
            let listing = (kind == RequestKind::Listing).then(|| read_listing(&bytes)).flatten();
            listing.map_or_else(
                || read_body(&bytes, url.as_str(), content_type.as_deref()),
                AnswerBody::Listing,
            )
        });
        let body =
            read.await.map_err(|_| Failure::Protocol("the answer could not be read".into()))?;
        Ok(Answer { body, ..answer })
    }

    /// Reads and decodes the body as it comes over the wire, within the limits (SPEC D.8). A large one waits
    /// for its turn and keeps it.
    async fn read(
        &self,
        url: &Url,
        response: &mut Response,
        limits: BodyLimits,
        trace: &mut Trace,
    ) -> Result<(Vec<u8>, Option<SemaphorePermit<'_>>), Failure> {
        trace.wire_bytes = 0;
        let encoding = joined(response.headers(), &header::CONTENT_ENCODING).unwrap_or_default();
        let mut decoding = Decoding::new(&encoding, limits)?;
        decoding.announced(response.content_length())?;
        let mut turn = None;
        loop {
            let chunk = response.chunk().await;
            let chunk = chunk.map_err(|error| failure(&error, url, None, &self.limits))?;
            let Some(chunk) = chunk else { return Ok((decoding.finish()?, turn)) };
            let taken = decoding.take(&chunk);
            trace.wire_bytes = decoding.wire_bytes();
            taken?;
            if turn.is_none() && decoding.decoded_bytes() > LARGE_BYTES {
                turn = self.large.acquire().await.ok();
            }
        }
    }
}

/// What a fetch leaves behind although it fails.
#[derive(Debug, Default)]
struct Trace {
    wire_bytes: u64,
    hops: Vec<Hop>,
    conditional: bool,
    /// The body is wanted as it came.
    keeps: bool,
    kept: Vec<u8>,
}

/// The head of an answer.
fn unread(url: &Url, arrived: &Arrived) -> Answer {
    Answer {
        status: arrived.response.status().as_u16(),
        url: url.to_string(),
        public: arrived.public,
        received: clock::now(),
        headers: answer_headers(arrived.response.headers()),
        body: AnswerBody::Unread,
    }
}

fn parse_url(text: &str) -> Result<Url, Failure> {
    let url = Url::parse(text).map_err(|error| {
        Failure::Address(format!("'{}' is no address: {error}", without_login(text)))
    })?;
    if matches!(url.scheme(), "http" | "https") {
        return Ok(url);
    }
    let shown = without_login(text);
    Err(Failure::Address(format!("'{shown}' cannot be asked: only http and https can")))
}

//! One fetch: conditional GET, redirects by hand, everything within a limit, the body parsed off the loop.

use std::time::Duration;

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode};
use tokio::sync::Semaphore;

use super::body::{self, BodyLimits};
use super::clock;
use crate::app::fetching::{
    Answer, AnswerBody, AnswerHeaders, Failure, Fetched, Hop, Manner, Request,
};
use crate::app::settings::NetworkSettings;
use crate::app::subscription::Validators;
use crate::feed::discover::{discover, page_title};
use crate::feed::{self, Kind, Origin};

/// Sent unless the reader configured another: no platform, no library (SPEC D.1). The address belongs to
/// nobody, as the `.example` names of the documents do; a release puts the project's own in its place.
const USER_AGENT: &str =
    concat!("backissue/", env!("CARGO_PKG_VERSION"), " (+https://backissue.example/)");
/// Sent with every request (SPEC D.1, D.4 rule 11: never varied).
const ACCEPT: &str = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1";
/// What [`body::decode`] decodes.
const ACCEPT_ENCODING: &str = "gzip, deflate, br";
/// Header lines of an answer at most.
const HEADERS_MAX: usize = 256;

/// Time-outs and sizes (SPEC 0); tests inject smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until a connection stands.
    pub connect: Duration,
    /// Until the next byte.
    pub idle: Duration,
    /// For the whole fetch, redirects and body included.
    pub total: Duration,
    /// Redirects followed (SPEC 0, `REDIRECT_MAX`).
    pub redirects_max: usize,
    /// Bodies.
    pub body: BodyLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(20),
            total: Duration::from_secs(90),
            redirects_max: 8,
            body: BodyLimits::default(),
        }
    }
}

/// Documents decoded and parsed at once: each may take several times its size in memory.
const PARSED_AT_ONCE: usize = 4;

/// The HTTP client.
#[derive(Debug)]
pub struct Http {
    client: Client,
    limits: Limits,
    parsing: Semaphore,
}

impl Http {
    /// A client by the reader's settings; an error is a sentence.
    pub fn new(settings: &NetworkSettings, limits: Limits) -> Result<Self, String> {
        // Whoever installed a provider before us installed this one.
        rustls::crypto::ring::default_provider().install_default().ok();
        let agent = settings.user_agent.as_deref().unwrap_or(USER_AGENT);
        let builder = || -> Result<reqwest::ClientBuilder, String> {
            let mut builder = Client::builder()
                .user_agent(agent)
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .referer(false)
                .connect_timeout(limits.connect)
                .read_timeout(limits.idle)
                .pool_max_idle_per_host(1)
                .pool_idle_timeout(Duration::from_secs(30))
                .http1_ignore_invalid_headers_in_responses(true)
                .http1_allow_spaces_after_header_name_in_responses(true)
                .http1_allow_obsolete_multiline_headers_in_responses(true)
                .http1_max_headers(HEADERS_MAX);
            if let Some(proxy) = &settings.proxy {
                let proxy = reqwest::Proxy::all(proxy)
                    .map_err(|error| format!("the proxy '{proxy}' cannot be used: {error}"))?;
                builder = builder.proxy(proxy);
            }
            Ok(builder)
        };
        // The platform's certificates where there are any, those of the Mozilla programme else.
        let client = builder()?.build().or_else(|_| {
            let mut roots = rustls::RootCertStore::empty();
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            let mut tls =
                rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
            tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
            builder()?
                .tls_backend_preconfigured(tls)
                .build()
                .map_err(|error| format!("no HTTP client: {error}"))
        })?;
        Ok(Self { client, limits, parsing: Semaphore::new(PARSED_AT_ONCE) })
    }

    /// Performs one fetch. It always ends, at the latest at the total time-out.
    pub async fn fetch(&self, request: Request) -> Fetched {
        let started = clock::now();
        let mut trace = Trace::default();
        let total = self.limits.total;
        let timed = tokio::time::timeout(total, self.exchange(&request, &mut trace)).await;
        let result = timed.unwrap_or(Err(Failure::Timeout {
            phase: "the whole answer",
            seconds: total.as_secs(),
        }));
        let Trace { wire_bytes, hops, conditional } = trace;
        Fetched { started, wire_bytes, hops, conditional, result }
    }

    async fn exchange(&self, request: &Request, trace: &mut Trace) -> Result<Answer, Failure> {
        let mut url = parse_url(&request.url)?;
        let mut seen = vec![url.clone()];
        loop {
            let known = request.validators.as_ref();
            trace.conditional = known.is_some_and(|validators| validators.speak_for(url.as_str()));
            let response = self.send(&url, request).await?;
            let status = response.status();
            if !is_redirect(status) {
                return self.answer(url, response, trace).await;
            }
            let next = redirect_target(&url, &response)?;
            if seen.contains(&next) {
                return Err(Failure::Redirect(format!("it leads back to {next}")));
            }
            if trace.hops.len() >= self.limits.redirects_max {
                return Err(Failure::Redirect(format!(
                    "more than {} in a row",
                    self.limits.redirects_max
                )));
            }
            trace.hops.push(Hop {
                status: status.as_u16(),
                to: next.to_string(),
                by_document: false,
            });
            seen.push(next.clone());
            url = next;
        }
    }

    async fn send(&self, url: &url::Url, request: &Request) -> Result<Response, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(ACCEPT));
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(ACCEPT_ENCODING));
        if request.manner == Manner::Fresh {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        if let Some(validators) = &request.validators {
            put_validators(&mut headers, validators, url.as_str());
        }
        let sent = self.client.get(url.clone()).headers(headers).send().await;
        sent.map_err(|error| self.failure(&error, url))
    }

    async fn answer(
        &self,
        url: url::Url,
        mut response: Response,
        trace: &mut Trace,
    ) -> Result<Answer, Failure> {
        let status = response.status().as_u16();
        let received = clock::now();
        let headers = answer_headers(response.headers());
        if !(200..300).contains(&status) {
            return Ok(Answer {
                status,
                url: url.into(),
                public: false,
                received,
                headers,
                body: AnswerBody::Unread,
            });
        }
        let encoding = joined(response.headers(), &header::CONTENT_ENCODING).unwrap_or_default();
        let content_type = joined(response.headers(), &header::CONTENT_TYPE);
        let wire = self.read(&url, &mut response, trace).await?;
        let limits = self.limits.body;
        let address = url.to_string();
        let _turn = self.parsing.acquire().await;
        let read = tokio::task::spawn_blocking(move || {
            let bytes = body::decode(wire, &encoding, limits)?;
            Ok(read_body(&bytes, &address, content_type.as_deref()))
        });
        let body =
            read.await.map_err(|_| Failure::Protocol("the answer could not be read".into()))??;
        Ok(Answer { status, url: url.into(), public: false, received, headers, body })
    }

    /// Reads the body as it comes over the wire, within the limit.
    async fn read(
        &self,
        url: &url::Url,
        response: &mut Response,
        trace: &mut Trace,
    ) -> Result<Vec<u8>, Failure> {
        let wire_max = self.limits.body.wire_max;
        let too_large = || Failure::TooLarge(format!("more than {} MiB", wire_max >> 20));
        let stated = response.content_length().and_then(|length| usize::try_from(length).ok());
        if stated.is_some_and(|length| length > wire_max) {
            return Err(too_large());
        }
        let mut wire = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failure(&error, url))? {
            wire.extend_from_slice(&chunk);
            trace.wire_bytes = u64::try_from(wire.len()).unwrap_or(u64::MAX);
            if wire.len() > wire_max {
                return Err(too_large());
            }
        }
        Ok(wire)
    }

    /// What the library's error means, in the reader's words.
    fn failure(&self, error: &reqwest::Error, url: &url::Url) -> Failure {
        let host = url.host_str().unwrap_or_default().to_owned();
        let chain = chain_of(error);
        if error.is_timeout() && error.is_connect() {
            return Failure::Timeout {
                phase: "a connection",
                seconds: self.limits.connect.as_secs(),
            };
        }
        if error.is_timeout() {
            return Failure::Timeout {
                phase: "the next byte",
                seconds: self.limits.idle.as_secs(),
            };
        }
        if let Some(tls) = find::<rustls::Error>(error) {
            return Failure::Tls(tls.to_string());
        }
        if error.is_dns() || chain.contains("dns error") || chain.contains("failed to lookup") {
            return Failure::Name(host);
        }
        if error.is_connect() {
            let reason = find::<std::io::Error>(error).map(|io| format!("{host} ({})", io.kind()));
            return Failure::Connect(reason.unwrap_or(host));
        }
        if error.is_body() || error.is_decode() || chain.contains("message completed") {
            return Failure::CutOff;
        }
        Failure::Protocol(chain)
    }
}

/// What a fetch leaves behind although it fails.
#[derive(Debug, Default)]
struct Trace {
    wire_bytes: u64,
    hops: Vec<Hop>,
    conditional: bool,
}

fn parse_url(text: &str) -> Result<url::Url, Failure> {
    let url = url::Url::parse(text)
        .map_err(|error| Failure::Address(format!("'{text}' is no address: {error}")))?;
    if matches!(url.scheme(), "http" | "https") {
        Ok(url)
    } else {
        Err(Failure::Address(format!("'{text}' cannot be asked: only http and https can")))
    }
}

const fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Where a redirect points: resolved, without fragment, and only to http or https (SPEC D.3).
fn redirect_target(from: &url::Url, response: &Response) -> Result<url::Url, Failure> {
    let bad = |why: &str| Failure::Redirect(why.to_owned());
    let location =
        response.headers().get(header::LOCATION).ok_or_else(|| bad("it names no address"))?;
    let location =
        std::str::from_utf8(location.as_bytes()).map_err(|_| bad("its address cannot be read"))?;
    let mut to = from.join(location.trim()).map_err(|_| bad("its address cannot be read"))?;
    to.set_fragment(None);
    if !matches!(to.scheme(), "http" | "https") {
        return Err(Failure::Redirect(format!("it leads to '{}:'", to.scheme())));
    }
    if from.scheme() == "https" && to.scheme() == "http" {
        return Err(Failure::Redirect(format!("it leads from https to the insecure {to}")));
    }
    if !to.username().is_empty() || to.password().is_some() {
        return Err(bad("its address carries credentials"));
    }
    Ok(to)
}

/// Validators go only to the address that gave them, byte for byte (SPEC D.4 rules 1 to 3).
fn put_validators(headers: &mut HeaderMap, validators: &Validators, url: &str) {
    if !validators.speak_for(url) {
        return;
    }
    let lines = [
        (header::IF_NONE_MATCH, &validators.etag),
        (header::IF_MODIFIED_SINCE, &validators.last_modified),
    ];
    for (name, bytes) in lines {
        if let Some(value) = bytes.as_deref().and_then(|bytes| HeaderValue::from_bytes(bytes).ok())
        {
            headers.insert(name, value);
        }
    }
}

fn answer_headers(headers: &HeaderMap) -> AnswerHeaders {
    let bytes = |name: HeaderName| headers.get(name).map(|value| value.as_bytes().to_vec());
    AnswerHeaders {
        etag: bytes(header::ETAG),
        last_modified: bytes(header::LAST_MODIFIED),
        cache_control: joined(headers, &header::CACHE_CONTROL),
        expires: joined(headers, &header::EXPIRES),
        date: joined(headers, &header::DATE),
        age: joined(headers, &header::AGE),
        retry_after: joined(headers, &header::RETRY_AFTER),
        im: None,
        delta_base: None,
    }
}

/// All lines of one header, joined by commas (RFC 9110 §5.3).
fn joined(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let lines: Vec<String> = headers
        .get_all(name)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect();
    (!lines.is_empty()).then(|| lines.join(", "))
}

/// A decoded body as what it turns out to be. The body decides, not its `Content-Type` (SPEC D.1).
pub fn read_body(bytes: &[u8], url: &str, content_type: Option<&str>) -> AnswerBody {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return AnswerBody::Empty;
    }
    let document = feed::parse(bytes, &Origin { url: Some(url), content_type });
    if document.kind == Kind::None && looks_like_html(bytes, content_type) {
        return AnswerBody::Page { title: page_title(bytes), candidates: discover(bytes, url) };
    }
    AnswerBody::Document(Box::new(document))
}

fn looks_like_html(bytes: &[u8], content_type: Option<&str>) -> bool {
    let head = bytes.get(..bytes.len().min(2048)).unwrap_or_default().to_ascii_lowercase();
    let marks: [&[u8]; 4] = [b"<!doctype html", b"<html", b"<head", b"<body"];
    if memchr::memmem::find(&head, b"<opml").is_some() {
        return false;
    }
    let marked = marks.iter().any(|mark| memchr::memmem::find(&head, mark).is_some());
    marked || content_type.is_some_and(|text| text.to_ascii_lowercase().contains("html"))
}

/// The messages of an error and of everything below it, in one line.
fn chain_of(error: &reqwest::Error) -> String {
    let mut parts = vec![error.to_string()];
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        parts.push(inner.to_string());
        source = inner.source();
    }
    parts.join(": ")
}

/// The first error of a kind below another. I/O errors keep what they stand for inside, not below.
fn find<'a, T: std::error::Error + 'static>(
    error: &'a (dyn std::error::Error + 'static),
) -> Option<&'a T> {
    if let Some(found) = error.downcast_ref::<T>() {
        return Some(found);
    }
    let inside = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    let inside = inside.map(|inner| -> &(dyn std::error::Error + 'static) { inner });
    inside.and_then(find).or_else(|| error.source().and_then(find))
}

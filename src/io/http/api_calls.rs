//! Requests to the API of an account's server. Redirects are not followed, so that the login is sent only to the server that the
//! user named.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::{
    AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use reqwest::{Client, RequestBuilder};
use url::Url;

use super::address_guard::Trust;
use super::body::joined_header;
use super::client::{FetchTrace, Http, parse_url};
use super::clients::SendError;
use super::failures::classify_error;
use super::request_headers;
use crate::engine::poll::fetch::{
    self, AddressSource, FetchFailure, FetchId, FetchRequest, RequestKind,
};
use backissue_core::accounts::api_call::Verb;

/// How a request authenticates.
#[derive(Clone)]
pub enum ApiLogin {
    /// Value of the `Authorization` header.
    Authorization(String),
    /// Value of the `X-Auth-Token` header.
    Token(String),
    /// User and password (RFC 7617).
    Basic(String, String),
}

impl std::fmt::Debug for ApiLogin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("ApiLogin")
    }
}

impl ApiLogin {
    /// Replaces the login among the headers. [`RequestBuilder::basic_auth`] sets the header of [`Self::Basic`].
    fn add_to(&self, headers: &mut HeaderMap) -> Result<(), FetchFailure> {
        let (name, value) = match self {
            Self::Authorization(value) => (AUTHORIZATION, value),
            Self::Token(value) => (HeaderName::from_static("x-auth-token"), value),
            Self::Basic(..) => {
                headers.remove(AUTHORIZATION);
                return Ok(());
            }
        };
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| FetchFailure::Address("the login cannot be sent".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(())
    }
}

/// A request to an API.
#[derive(Debug, Clone)]
pub struct ApiRequest {
    /// Address.
    pub url: String,
    /// Method and kind of the body.
    pub verb: Verb,
    /// The body, which may be empty.
    pub body: String,
    /// The login to send, if any.
    pub login: Option<ApiLogin>,
    /// Time limit for the request and its answer.
    pub time: Duration,
}

impl ApiRequest {
    fn build(&self, client: &Client, url: Url, headers: HeaderMap) -> RequestBuilder {
        let built = match self.verb {
            Verb::Get => client.get(url),
            Verb::PostForm | Verb::PostJson => client.post(url).body(self.body.clone()),
            Verb::Put => client.put(url).body(self.body.clone()),
            Verb::Delete => client.delete(url),
        };
        let built = built.headers(headers);
        match &self.login {
            Some(ApiLogin::Basic(user, password)) => built.basic_auth(user, Some(password)),
            Some(ApiLogin::Authorization(_) | ApiLogin::Token(_)) | None => built,
        }
    }

    const fn content_type(&self) -> Option<&'static str> {
        match self.verb {
            Verb::PostForm => Some("application/x-www-form-urlencoded"),
            Verb::PostJson | Verb::Put if !self.body.is_empty() => Some("application/json"),
            Verb::Get | Verb::PostJson | Verb::Put | Verb::Delete => None,
        }
    }

    const fn method(&self) -> &'static str {
        match self.verb {
            Verb::Get => "GET",
            Verb::PostForm | Verb::PostJson => "POST",
            Verb::Put => "PUT",
            Verb::Delete => "DELETE",
        }
    }
}

/// The answer of an API.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApiAnswer {
    /// HTTP status.
    pub status: u16,
    /// Decoded body.
    pub body: Vec<u8>,
    /// Size of the body on the wire, in bytes.
    pub wire_bytes: u64,
    /// Target of a redirect, as an absolute address.
    pub location: Option<String>,
    /// `Retry-After`.
    pub retry_after: Option<String>,
    /// Whether a proxy in front of the server seems to require a login of its own (RFC 7617).
    pub asks_basic: bool,
    /// Name of the protection service that answered instead of the server, if any.
    pub wall: Option<&'static str>,
    /// Time on the server according to `Date`, in Unix seconds.
    pub date: Option<i64>,
}

impl Http {
    /// Sends a request to an API and reads the answer, within the limits of a feed document.
    pub async fn call(&self, request: &ApiRequest) -> Result<ApiAnswer, FetchFailure> {
        let asked = tokio::time::timeout(request.time, self.call_untimed(request)).await;
        let seconds = request.time.as_secs();
        asked.unwrap_or(Err(FetchFailure::Timeout { phase: "whole response", seconds }))
    }

    async fn call_untimed(&self, request: &ApiRequest) -> Result<ApiAnswer, FetchFailure> {
        let url = parse_url(&request.url)?;
        let trust = Trust::from_source(&AddressSource::Typed);
        trust.check(&url, true)?;
        let typed = FetchRequest {
            kind: RequestKind::Anything,
            ..FetchRequest::typed(FetchId(0), request.url.clone())
        };
        let mut headers = request_headers::headers(&typed, &url);
        self.origins.add_to(&mut headers, &url, None).await?;
        if let Some(login) = &request.login {
            login.add_to(&mut headers)?;
        }
        if let Some(kind) = request.content_type() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        let sent = self.clients.send(&url, trust.allowed(&url), |client| {
            request.build(client, url.clone(), headers.clone())
        });
        let arrived = sent.await.map_err(|unsent| match unsent {
            SendError::Refused(refusal) => trust.explain_refusal(&refusal),
            SendError::Broken { error, through } => {
                classify_error(&error, &url, through.as_deref(), &self.limits)
            }
        })?;
        let mut response = arrived.response;
        let text = |name| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let (location, retry_after) = (text(LOCATION), text(RETRY_AFTER));
        let date = text(DATE).and_then(|date| httpdate::parse_http_date(&date).ok());
        let date = date.map(|date| DateTime::<Utc>::from(date).timestamp());
        let status = response.status().as_u16();
        let challenge = joined_header(response.headers(), &WWW_AUTHENTICATE).unwrap_or_default();
        // With `google-bad-token`, servers of the Google Reader API state that they reject their own login.
        let asks_basic = challenge.to_ascii_lowercase().contains("basic")
            && !response.headers().contains_key("google-bad-token");
        let wall = fetch::named_by_headers(status, |name| {
            joined_header(response.headers(), &HeaderName::from_static(name))
        });
        let (limits, mut trace) = (self.limits.body_limits(typed.kind), FetchTrace::default());
        let (decoding, _turn) = self.receive_body(&url, &mut response, limits, &mut trace).await?;
        let body = decoding.finish()?;
        tracing::debug!(
            "account: {} {} answered {status}, {} bytes",
            request.method(),
            url.path(),
            trace.wire_bytes
        );
        let location = location.and_then(|to| Url::options().base_url(Some(&url)).parse(&to).ok());
        Ok(ApiAnswer {
            status,
            body,
            wire_bytes: trace.wire_bytes,
            location: location.map(|to| to.to_string()),
            retry_after,
            asks_basic,
            wall: wall.map(|wall| wall.service),
            date,
        })
    }
}

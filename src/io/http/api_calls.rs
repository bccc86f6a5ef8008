//! Requests to the API of an account's server. Redirects are not followed: a login and a password go only where the user said.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER};
use url::Url;

use super::client::{FetchTrace, Http, parse_url};
use super::clients::SendError;
use super::failures::classify_error;
use super::request_headers;
use super::trust::Trust;
use crate::engine::poll::fetch::{AddressSource, FetchFailure, FetchId, FetchRequest, RequestKind};

/// Time limit of a request. Servers on slow disks need seconds for a change of many marks.
const TIME_MAX: Duration = Duration::from_mins(2);

/// A request to an API.
#[derive(Debug, Clone)]
pub struct ApiRequest {
    /// Address.
    pub url: String,
    /// Urlencoded form; with a form, the request is a POST.
    pub form: Option<String>,
    /// Value of the `Authorization` header.
    pub authorization: Option<String>,
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
}

impl Http {
    /// Sends a request to an API and reads the answer, within the limits of a feed document.
    pub async fn call(&self, request: &ApiRequest) -> Result<ApiAnswer, FetchFailure> {
        let asked = tokio::time::timeout(TIME_MAX, self.call_untimed(request)).await;
        let seconds = TIME_MAX.as_secs();
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
        if let Some(value) = &request.authorization {
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| FetchFailure::Address("the login cannot be sent".to_owned()))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        if request.form.is_some() {
            let form = HeaderValue::from_static("application/x-www-form-urlencoded");
            headers.insert(CONTENT_TYPE, form);
        }
        let sent = self.clients.send(&url, trust.allowed(&url), |client| {
            let built = match &request.form {
                Some(form) => client.post(url.clone()).body(form.clone()),
                None => client.get(url.clone()),
            };
            built.headers(headers.clone())
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
        let status = response.status().as_u16();
        let (limits, mut trace) = (self.limits.body_limits(typed.kind), FetchTrace::default());
        let (decoding, _turn) = self.receive_body(&url, &mut response, limits, &mut trace).await?;
        let body = decoding.finish()?;
        tracing::debug!(
            "account: {} {} answered {status}, {} bytes",
            if request.form.is_some() { "POST" } else { "GET" },
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
        })
    }
}

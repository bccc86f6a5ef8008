//! Requests files whose bodies are read piece by piece, because they may be larger than the memory and take hours.

use reqwest::Response;
use reqwest::header::HeaderMap;
use url::Url;

use super::client::{FetchTrace, Http, parse_url, unread_answer};
use super::failures::classify_error;
use super::limits::Limits;
use super::redirects::{self, Redirect, RedirectLimits, RedirectPath};
use super::request_headers::FetchCredentials;
use super::response_body::answer_headers;
use super::trust::Trust;
use crate::engine::poll::fetch::{AnswerHeaders, FetchFailure, FetchRequest};

/// Maximum number of redirects to a file: podcasts pass through the servers of several companies that count listeners.
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

    /// Returns the headers that matter for waits.
    pub(in crate::io) fn times(&self) -> AnswerHeaders {
        answer_headers(self.response.status(), self.response.headers())
    }

    /// Waits for the next piece of the body; `None` at its end.
    pub(in crate::io) async fn next_piece(
        &mut self,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, FetchFailure> {
        let piece = self.response.chunk().await;
        piece.map_err(|error| classify_error(&error, &self.url, None, &self.limits))
    }
}

impl Http {
    /// Requests a file and follows redirects, until a response is no redirect. Its body is not read. `more` are further headers.
    pub(in crate::io) async fn open_file(
        &self,
        request: &FetchRequest,
        more: &HeaderMap,
    ) -> Result<OpenFile, FetchFailure> {
        let opening = tokio::time::timeout(self.limits.total, self.open_untimed(request, more));
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
            tokio::time::sleep(wait.min(self.limits.redirect_wait_max)).await;
        }
    }
}

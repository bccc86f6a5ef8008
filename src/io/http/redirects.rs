//! Follows redirects, by status or by document, and reads how long they ask to wait (SPEC D.3, D.5).

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{self, HeaderMap};
use url::Url;

use super::trust::{Trust, carries_credentials};
use crate::engine::poll::fetch::{Answer, AnswerBody, FetchFailure, FetchRequest, Hop};
use crate::feed::{Kind, NewLocation};
use crate::schedule::WaitHeader;

/// The addresses that a fetch has been redirected through.
#[derive(Debug)]
pub(super) struct RedirectPath {
    /// The address of the next request.
    pub(super) at: Url,
    /// Who named that address.
    pub(super) trust: Trust,
    seen: Vec<Url>,
    by_document: usize,
}

/// Most redirects that are followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct RedirectLimits {
    /// SPEC 0, `REDIRECT_MAX`.
    pub(super) all_max: usize,
    /// Those by document (SPEC 0, `XML_REDIRECT_MAX`).
    pub(super) documents_max: usize,
}

impl RedirectPath {
    pub(super) fn new(at: Url, trust: Trust) -> Self {
        Self { seen: vec![at.clone()], at, trust, by_document: 0 }
    }

    /// Whether the last redirect stayed on the same server.
    pub(super) fn stays_with_its_server(&self) -> bool {
        let before = self.seen.iter().rev().nth(1);
        before.is_some_and(|before| before.origin() == self.at.origin())
    }

    /// Follows a redirect, if that is allowed. `public`: the response came from a public address.
    pub(super) fn follow(
        &mut self,
        turn: &Redirect,
        public: bool,
        request: &FetchRequest,
        steps: RedirectLimits,
    ) -> Result<Hop, FetchFailure> {
        let to = resolve_target(&self.at, &turn.location)?;
        if carries_credentials(&to) {
            return Err(bad_redirect("its address carries credentials"));
        }
        let trust = Trust::Supplied { by: Some(self.at.clone()), public };
        trust.check(&to, request.allow_insecure)?;
        if self.seen.contains(&to) {
            return Err(FetchFailure::Redirect(format!("it leads back to {to}")));
        }
        if self.seen.len() > steps.all_max {
            return Err(FetchFailure::Redirect(format!("more than {} in a row", steps.all_max)));
        }
        self.by_document += usize::from(turn.by_document);
        if self.by_document > steps.documents_max {
            let max = steps.documents_max;
            return Err(FetchFailure::Redirect(format!("more than {max} by documents in a row")));
        }
        self.seen.push(to.clone());
        (self.at, self.trust) = (to.clone(), trust);
        Ok(Hop { status: turn.status, to: to.into(), by_document: turn.by_document })
    }
}

/// A redirect as the server stated it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    status: u16,
    location: String,
    by_document: bool,
}

impl Redirect {
    /// Reads the redirect from the head of a response; `None`: it is no redirect.
    pub(super) fn from_head(
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, FetchFailure> {
        let status = status.as_u16();
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let location =
            headers.get(header::LOCATION).ok_or_else(|| bad_redirect("it names no address"))?;
        let location =
            std::str::from_utf8(location.as_bytes()).map_err(|_| unreadable_address())?;
        Ok(Some(Self { status, location: location.to_owned(), by_document: false }))
    }

    /// Reads a redirect document, which counts as a 301 (SPEC D.5). One with an empty address says that the feed is
    /// gone; that is no redirect.
    pub(super) fn from_document(answer: &Answer) -> Option<Self> {
        let (200 | 203, AnswerBody::Document(document)) = (answer.status, &answer.body) else {
            return None;
        };
        match (document.kind, &document.new_location) {
            (Kind::Redirect, Some(NewLocation::At(location))) => {
                Some(Self { status: 301, location: location.clone(), by_document: true })
            }
            _ => None,
        }
    }
}

/// Resolves the target of a redirect, without its fragment; only http and https are allowed.
fn resolve_target(from: &Url, location: &str) -> Result<Url, FetchFailure> {
    let mut to = from.join(location.trim()).map_err(|_| unreadable_address())?;
    to.set_fragment(None);
    if matches!(to.scheme(), "http" | "https") {
        return Ok(to);
    }
    Err(FetchFailure::Redirect(format!("it leads to '{}:'", to.scheme())))
}

fn bad_redirect(why: &str) -> FetchFailure {
    FetchFailure::Redirect(why.to_owned())
}

fn unreadable_address() -> FetchFailure {
    bad_redirect("its address cannot be read")
}

/// Returns the wait that a redirect asks for before it is followed (SPEC D.3).
pub(super) fn requested_wait(answer: &Answer) -> Duration {
    let stated =
        crate::schedule::Wait::of_answer(answer.status, &answer.headers.times(), answer.received);
    let seconds = stated.filter(|wait| wait.stated_by == WaitHeader::RetryAfter);
    Duration::from_secs(seconds.map_or(0, |wait| u64::from(wait.seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: &str, location: &str, expected: Result<&str, &str>) {
        let got = resolve_target(&Url::parse(from).unwrap(), location);
        let got = got.map(String::from).map_err(|failure| failure.to_string());
        assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned), "{location}");
    }

    /// SPEC D.3: resolution, fragment, schemes.
    #[test]
    fn a_location_is_resolved_and_only_http_and_https_are_left() {
        let from = "https://a.example/dir/feed?x=1";
        check(from, "new", Ok("https://a.example/dir/new"));
        check(from, " ../new#part ", Ok("https://a.example/new"));
        check(from, "//b.example/f", Ok("https://b.example/f"));
        check(from, "HTTP://b.example", Ok("http://b.example/"));
        check(from, "http://", Err("bad redirect: its address cannot be read"));
        check(from, "file:///etc/hostname", Err("bad redirect: it leads to 'file:'"));
        check(from, "gopher://b.example", Err("bad redirect: it leads to 'gopher:'"));
    }
}

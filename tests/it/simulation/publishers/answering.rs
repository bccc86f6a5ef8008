//! A publisher's answers to requests, and the time that each answer takes.

use backissue::engine::poll::fetch::{
    AnswerBody, AnswerHeaders, CONNECTING, FetchFailure, FetchRequest, Hop, RequestKind,
    ServerAnswer,
};
use backissue::io::http::read_body;
use chrono::{DateTime, TimeDelta, Utc};

use super::documents::Page;
use super::{Caching, Fault, Offer, Publisher, Tags};
use crate::support::dice::Dice;

/// The values of `If-None-Match` and `If-Modified-Since` that a request sent.
type SentTags = (Option<Vec<u8>>, Option<Vec<u8>>);

/// An answer that the publisher will give after a delay.
#[derive(Debug, Clone)]
pub struct Response {
    pub hops: Vec<Hop>,
    pub result: Result<ServerAnswer, FetchFailure>,
    pub takes: TimeDelta,
    /// Whether validators were sent to the address that answered.
    pub conditional: bool,
}

impl Publisher {
    /// Checks whether an address is one of this publisher's.
    pub fn has(&self, url: &str) -> bool {
        url.contains(&format!(".example/p{}/", self.number))
    }

    /// Returns the answer to a request that is sent at `at`.
    pub fn answer(&mut self, request: &FetchRequest, at: DateTime<Utc>) -> Response {
        let moment = u64::try_from(at.timestamp_millis()).unwrap();
        let mut dice = Dice::of(self.seed ^ moment, "answer", self.number);
        let mut takes = TimeDelta::milliseconds(dice.between(80, 2500));
        let mut hops = Vec::new();
        let is_document = request.url.contains("/feed-");
        let (url, gone) = if is_document {
            self.follow(&request.url, at, &mut hops)
        } else {
            (request.url.clone(), false)
        };
        let fault = if gone { Some(Fault::Status(404, None)) } else { self.fault_at(&url, at) };
        let known = request.validators.as_ref().filter(|known| known.speak_for(&url));
        let sent = known.map(|known| (known.etag.clone(), known.last_modified.clone()));
        let conditional = known.is_some();
        match fault {
            Some(Fault::Slow) => takes += TimeDelta::seconds(dice.between(20, 85)),
            Some(Fault::Silence) => takes = TimeDelta::seconds(10),
            Some(_) | None => {}
        }
        let result = match fault {
            Some(fault) => match self.failed(fault, &url, at) {
                Some(result) => result,
                None => Ok(self.answered(request, &url, at, sent, Some(fault), &mut dice)),
            },
            None => Ok(self.answered(request, &url, at, sent, None, &mut dice)),
        };
        Response { hops, result, takes, conditional }
    }

    /// Follows the redirects from an address at `at`, including a temporary one. Returns the final address, and whether nothing
    /// is served there: its redirect has ended, or the move has not happened yet.
    fn follow(&self, url: &str, at: DateTime<Utc>, hops: &mut Vec<Hop>) -> (String, bool) {
        let asked = url.rsplit('-').next().and_then(|moves| moves.parse::<usize>().ok());
        let (mut moves, now) = (asked.unwrap_or(0), self.moves_by(at));
        let mut url = url.to_owned();
        while moves < now {
            let step = &self.moves[moves];
            if step.until <= at {
                return (url, true);
            }
            moves += 1;
            url = self.address(moves);
            hops.push(Hop { status: step.status, to: url.clone(), by_document: false });
        }
        if self.episode_at(at) == Some(Fault::Elsewhere) {
            url = url.replace("/feed-", "/copy/feed-");
            hops.push(Hop { status: 302, to: url.clone(), by_document: false });
        }
        (url, moves > now)
    }

    fn episode_at(&self, at: DateTime<Utc>) -> Option<Fault> {
        let here = self.episodes.iter().filter(|it| it.fault != Fault::OtherIds);
        here.rev().find(|it| it.from <= at && at < it.until).map(|it| it.fault)
    }

    fn fault_at(&self, url: &str, at: DateTime<Utc>) -> Option<Fault> {
        let episode = self.episode_at(at).filter(|fault| *fault != Fault::Elsewhere);
        let Some(archive) = archive_of(url) else { return episode };
        let lost = self.lost_archives.get(&archive);
        let lost = lost.filter(|(until, _)| until.is_none_or(|until| at < until));
        // A fault of the whole host also affects the archives on it.
        let down = episode.filter(|fault| {
            matches!(fault, Fault::Name | Fault::Refused | Fault::Silence | Fault::Slow)
        });
        lost.map(|(_, fault)| *fault).or(down)
    }

    /// Returns the answer that a fault causes; `None` if the fault still delivers a document.
    fn failed(
        &self,
        fault: Fault,
        url: &str,
        at: DateTime<Utc>,
    ) -> Option<Result<ServerAnswer, FetchFailure>> {
        let host = self.host.clone();
        let answer = |status: u16, body: AnswerBody, headers: AnswerHeaders| {
            Ok(ServerAnswer {
                status,
                url: url.to_owned(),
                public: true,
                received: at,
                headers,
                body,
            })
        };
        let nothing = AnswerHeaders::default;
        Some(match fault {
            Fault::Status(status, wait) => {
                let retry_after = wait.map(|seconds| seconds.to_string());
                answer(status, AnswerBody::Unread, AnswerHeaders { retry_after, ..nothing() })
            }
            Fault::Name => Err(FetchFailure::Name(host)),
            Fault::Refused => Err(FetchFailure::Connect(host)),
            Fault::Silence => Err(FetchFailure::Timeout { phase: CONNECTING, seconds: 10 }),
            Fault::Cut => Err(FetchFailure::CutOff),
            Fault::TooLarge => Err(FetchFailure::TooLarge("more than 16 MiB".into())),
            Fault::Nonsense => answer(200, read_body(b"\x01 nothing <", url, None), self.tag(at)),
            Fault::Page => {
                let page = b"<html><head><title>Soon</title></head><body>Back soon</body></html>";
                answer(200, read_body(page, url, Some("text/html")), self.tag(at))
            }
            Fault::Empty => answer(200, AnswerBody::Empty, nothing()),
            Fault::Slow | Fault::NoEntries | Fault::Elsewhere | Fault::OtherIds => return None,
        })
    }

    fn answered(
        &mut self,
        request: &FetchRequest,
        url: &str,
        at: DateTime<Utc>,
        sent: Option<SentTags>,
        fault: Option<Fault>,
        dice: &mut Dice,
    ) -> ServerAnswer {
        let head = |status, body, headers| ServerAnswer {
            status,
            url: url.to_owned(),
            public: true,
            received: at,
            headers,
            body,
        };
        if let Some(pages) = self.older(url, at) {
            let page = pages.first();
            let body = page.map_or(AnswerBody::Unread, |page| self.body(url, at, page));
            let status = if body == AnswerBody::Unread { 404 } else { 200 };
            return head(status, body, AnswerHeaders::default());
        }
        let headers = AnswerHeaders { ..self.timed(at) };
        let tag = self.tag(at);
        if self.is_same(sent.as_ref(), &tag, dice) {
            let headers =
                AnswerHeaders { etag: tag.etag, last_modified: tag.last_modified, ..headers };
            return head(304, AnswerBody::Unread, headers);
        }
        let mut page = self.subscription(at, 0);
        if fault == Some(Fault::NoEntries) {
            page.items.clear();
        }
        let known = sent.and_then(|(etag, _)| etag).and_then(|etag| number_in(&etag));
        let delta = request.kind == RequestKind::Delta && self.deltas && known.is_some();
        let is_plain = !matches!(self.offer, Offer::Complete) && self.tags == Tags::Both;
        let (status, im) = if delta && is_plain && fault.is_none() {
            // Keep only the entries published or edited since the revision that the request names.
            page.items.truncate(self.revision(at).saturating_sub(known.unwrap_or(0)).max(1));
            (226, Some("feed".to_owned()))
        } else {
            (200, None)
        };
        let body = self.body(url, at, &page);
        let headers =
            AnswerHeaders { etag: tag.etag, last_modified: tag.last_modified, im, ..headers };
        head(status, body, headers)
    }

    /// Returns the document at the address of an archive or an older page; empty if there is no such archive.
    fn older(&self, url: &str, at: DateTime<Utc>) -> Option<Vec<Page>> {
        if let Some(archive) = archive_of(url) {
            return Some(self.archive(at, archive).into_iter().collect());
        }
        let page: usize = url.split("/page/").nth(1)?.parse().ok()?;
        Some(vec![self.older_page(at, page)])
    }

    fn body(&mut self, url: &str, at: DateTime<Utc>, page: &Page) -> AnswerBody {
        let text = self.write(at, page);
        if let Some((known, same, body)) = &self.read
            && known == url
            && *same == text
        {
            return body.clone();
        }
        let body = read_body(text.as_bytes(), url, None);
        self.read = Some((url.to_owned(), text, body.clone()));
        body
    }

    /// Returns the document's validators as answer headers.
    fn tag(&self, at: DateTime<Utc>) -> AnswerHeaders {
        let etag = |text: String| Some(text.into_bytes());
        let date = || Some(http_date(self.changed(at)).into_bytes());
        let revision = format!("\"r{}\"", self.revision(at));
        let (etag, last_modified) = match self.tags {
            Tags::None => (None, None),
            Tags::Etag | Tags::Unasked => (etag(revision), None),
            Tags::Date => (None, date()),
            Tags::Both | Tags::Deaf => (etag(revision), date()),
            Tags::Stuck => (etag("W/\"always\"".to_owned()), None),
            Tags::Restless => (etag(format!("\"t{}\"", at.timestamp_millis())), date()),
        };
        AnswerHeaders { etag, last_modified, ..AnswerHeaders::default() }
    }

    /// Checks whether the publisher answers 304 to the validators sent.
    fn is_same(&self, sent: Option<&SentTags>, tag: &AnswerHeaders, dice: &mut Dice) -> bool {
        let Some((etag, date)) = sent else {
            return self.tags == Tags::Unasked && dice.one_in(9);
        };
        match self.tags {
            Tags::None | Tags::Restless | Tags::Deaf => false,
            Tags::Stuck => etag.is_some(),
            Tags::Etag | Tags::Unasked | Tags::Both | Tags::Date => match etag {
                Some(_) => *etag == tag.etag,
                None => date.is_some() && *date == tag.last_modified,
            },
        }
    }

    /// Returns the answer's headers about its cache lifetime.
    fn timed(&self, at: DateTime<Utc>) -> AnswerHeaders {
        let mut headers = AnswerHeaders::default();
        match self.caching {
            Caching::Nothing => {}
            Caching::MaxAge(seconds) => headers.cache_control = Some(format!("max-age={seconds}")),
            Caching::Expires(seconds) => {
                headers.date = Some(http_date(at));
                headers.expires = Some(http_date(at + TimeDelta::seconds(seconds)));
            }
            Caching::NoCache => headers.cache_control = Some("no-cache, max-age=7200".into()),
            Caching::Aged(seconds, age) => {
                headers.cache_control = Some(format!("public, max-age={seconds}"));
                headers.age = Some(age.to_string());
            }
            Caching::Nonsense => {
                headers.cache_control = Some("max-age=soon".into());
                headers.expires = Some("-1".into());
            }
        }
        headers
    }
}

/// Returns the archive number in an address; `None` if it is not an archive's address.
pub fn archive_of(url: &str) -> Option<usize> {
    url.split("/archive/").nth(1)?.split('-').next()?.parse().ok()
}

/// Returns the revision number in one of this publisher's `ETag`s.
fn number_in(etag: &[u8]) -> Option<usize> {
    String::from_utf8_lossy(etag).strip_prefix("\"r")?.strip_suffix('"')?.parse().ok()
}

fn http_date(at: DateTime<Utc>) -> String {
    at.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

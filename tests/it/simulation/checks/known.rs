//! The observer's knowledge of a feed: the publisher's last statements that the next request must respect.

use backissue::engine::poll::fetch::{FetchRequest, Fetched, RequestKind, ServerAnswer};
use backissue_core::history::FeedKey;
use chrono::TimeDelta;

use super::headers::lifetime_of;
use super::moments::{Moment, Wait};

/// What the observer knows of one feed.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Cache lifetime of the last good answer.
    pub lifetime: Wait,
    /// Pause that the last `Retry-After` header requested.
    pub wait: Wait,
    pub gone: bool,
    /// Time of the last answer that served the feed.
    pub answered: Option<Moment>,
    /// The address of the last document that had an `ETag`, and that `ETag`.
    pub etag: Option<(String, Vec<u8>)>,
    /// The time since which all answers for this feed have been 304.
    pub only_304_since: Option<Moment>,
    /// Number of consecutive documents with the same `ETag` that the request had sent; after the limit no `ETag` is sent for a
    /// month.
    pub same_tags: u32,
}

impl Known {
    /// Checks that a request sends the known validators (SPEC D.4), except in the cases listed here.
    pub fn judge_validators(
        &self,
        request: &FetchRequest,
        now: Moment,
        wanted: bool,
        feed: FeedKey,
    ) -> Result<(), String> {
        let Some((url, etag)) = &self.etag else { return Ok(()) };
        // The program counts the eight days from answers, the observer from requests; an answer takes up to two minutes.
        let patience = TimeDelta::days(8) - TimeDelta::minutes(2);
        let is_stuck =
            self.only_304_since.is_some_and(|since| !since.is_well_within(patience, now));
        let excepted = is_stuck
            || self.same_tags >= 2
            || (wanted && request.kind == RequestKind::Fresh)
            || *url != request.url;
        let sent = request.validators.as_ref().and_then(|sent| sent.etag.as_ref());
        if excepted || sent == Some(etag) {
            return Ok(());
        }
        let sent = sent.map(|sent| String::from_utf8_lossy(sent));
        let etag = String::from_utf8_lossy(etag);
        Err(format!(
            "feed {feed} is asked with the tag {sent:?} after it gave {etag}, 304 since {:?}",
            self.only_304_since
        ))
    }

    /// Checks whether an answer proves that the publisher still serves the feed.
    pub fn is_good(fetched: &Fetched, answer: &ServerAnswer) -> bool {
        match answer.status {
            200 | 226 => answer.body.feed().is_some(),
            304 => fetched.conditional,
            _ => false,
        }
    }

    /// Updates what is known of a feed from an answer.
    pub fn learn(
        &mut self,
        request: &FetchRequest,
        (fetched, answer): (&Fetched, &ServerAnswer),
        (waits, is_again): (Wait, bool),
        now: Moment,
    ) {
        match answer.status {
            200 | 226 if answer.body.feed().is_some() => {
                self.lifetime = lifetime_of(&answer.headers, now);
                self.wait = None;
                self.answered = Some(now);
                // The user had resumed the feed, and this answer shows that it is not gone.
                self.gone = false;
                self.only_304_since = None;
                let sent = request.validators.as_ref().filter(|sent| sent.speak_for(&answer.url));
                let sent = sent.and_then(|sent| sent.etag.clone());
                let is_same = sent.is_some() && sent == answer.headers.etag;
                self.same_tags = if is_same { self.same_tags + 1 } else { self.same_tags };
                self.etag = answer.headers.etag.clone().map(|etag| (answer.url.clone(), etag));
            }
            304 if fetched.conditional => {
                self.lifetime = lifetime_of(&answer.headers, now).or(self.lifetime);
                self.wait = None;
                self.answered = Some(now);
                self.gone = false;
                self.only_304_since.get_or_insert(now);
            }
            410 if fetched.hops.is_empty() => self.gone = true,
            412 | 416 => self.etag = None,
            _ => {
                self.wait = waits.or(self.wait);
                // If the second request of a poll fails, the data of the first was not stored either, so its lifetime does not
                // apply.
                self.lifetime = self.lifetime.filter(|_| !is_again);
            }
        }
    }
}

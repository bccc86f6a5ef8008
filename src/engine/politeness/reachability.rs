//! Whether there is a network at all: three hosts in a row that cannot be reached are not three broken feeds
//! (SPEC B.4.4, G.32).

use chrono::{DateTime, TimeDelta, Utc};

use super::host_queue::{is_loopback, site_of};
use crate::engine::feeds::subscription::FeedState;
use crate::engine::poll::fetch::{FailureClass, Fetched};
use crate::history::FeedKey;

/// Different hosts in a row that cannot be reached.
const SUSPECTS_MAX: usize = 3;

/// A host that could not be reached longer ago says nothing about now.
const SUSPICION: TimeDelta = TimeDelta::minutes(15);

/// What is known of the network.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reachability {
    /// Since when there is none.
    pub offline_since: Option<DateTime<Utc>>,
    /// Hosts that could not be reached since the last answer, with the feeds as they were before.
    suspects: Vec<Suspect>,
    /// The site that answered last, and when.
    answered: Option<(String, DateTime<Utc>)>,
    /// The last other one.
    answered_before: Option<(String, DateTime<Utc>)>,
}

/// A feed whose host could not be reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// The feed.
    pub feed: FeedKey,
    /// Its state before the attempt.
    pub before: Box<FeedState>,
    site: String,
    at: DateTime<Utc>,
}

/// What the end of a fetch says about the network.
#[derive(Debug, Clone, PartialEq)]
pub enum Sign {
    /// It is there: somebody out there answered.
    Online,
    /// Nothing is known yet; the attempt counts.
    Unclear,
    /// There is none: neither this attempt nor those of these feeds counts.
    Offline(Vec<Suspect>),
}

impl Reachability {
    /// Takes note of how a fetch ended.
    pub fn note(
        &mut self,
        now: DateTime<Utc>,
        url: &str,
        fetched: &Fetched,
        feed: Option<(FeedKey, &FeedState)>,
    ) -> Sign {
        // This machine can be reached without any network.
        if is_loopback(url) {
            return Sign::Unclear;
        }
        match &fetched.result {
            Ok(answer) if answer.status == 511 => self.lost(now),
            Err(failure) if failure.class() == FailureClass::Unreachable => {
                self.suspect(now, url, feed)
            }
            Ok(_) | Err(_) => self.found(now, url),
        }
    }

    /// The machine was asleep: what failed before says nothing.
    pub fn forget(&mut self) {
        self.suspects.clear();
    }

    fn found(&mut self, now: DateTime<Utc>, url: &str) -> Sign {
        (self.offline_since, self.suspects) = (None, Vec::new());
        let site = site_of(url);
        if self.answered.as_ref().is_none_or(|(last, _)| *last != site) {
            self.answered_before = self.answered.take();
        }
        self.answered = Some((site, now));
        Sign::Online
    }

    /// Whether another site than that of `url` answered a moment ago.
    pub fn others_answer(&self, now: DateTime<Utc>, url: &str) -> bool {
        let site = site_of(url);
        let answers = [&self.answered, &self.answered_before].into_iter().flatten();
        answers
            .into_iter()
            .any(|(other, at)| *other != site && now.signed_duration_since(*at) <= SUSPICION)
    }

    fn lost(&mut self, now: DateTime<Utc>) -> Sign {
        self.offline_since.get_or_insert(now);
        Sign::Offline(std::mem::take(&mut self.suspects))
    }

    fn suspect(
        &mut self,
        now: DateTime<Utc>,
        url: &str,
        feed: Option<(FeedKey, &FeedState)>,
    ) -> Sign {
        if self.offline_since.is_some() {
            return self.lost(now);
        }
        let site = site_of(url);
        self.suspects.retain(|suspect| now.signed_duration_since(suspect.at) <= SUSPICION);
        let others = self.suspects.iter().filter(|suspect| suspect.site != site);
        let mut sites: Vec<&str> = others.map(|suspect| suspect.site.as_str()).collect();
        sites.sort_unstable();
        sites.dedup();
        if sites.len().saturating_add(1) >= SUSPECTS_MAX {
            return self.lost(now);
        }
        if let Some((feed, before)) = feed {
            self.suspects.push(Suspect { feed, before: Box::new(before.clone()), site, at: now });
        }
        Sign::Unclear
    }
}

//! Whether there is a network at all: three hosts in a row that cannot be reached, while nobody answers, are not three
//! broken feeds (SPEC B.4.4, G.32).

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use super::host_queue::{is_loopback, site_of};
use crate::engine::change::feed_change::FeedChange;
use crate::engine::feeds::subscription::FeedState;
use crate::engine::poll::fetch::{FailureClass, Fetched};
use backissue_core::history::FeedKey;

/// Different hosts in a row that cannot be reached.
const SUSPECTS_MAX: usize = 3;

/// A host that could not be reached longer ago says nothing about now.
const SUSPICION: TimeDelta = TimeDelta::minutes(15);

/// Where somebody answered within this time there is a network, however many hosts cannot be reached.
const ANSWERED_LATELY: TimeDelta = TimeDelta::minutes(1);

/// What is known of the network.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reachability {
    /// Since when there is none.
    pub offline_since: Option<DateTime<Utc>>,
    /// It is there, but lets nobody through without a sign-in: its answers are not those of publishers.
    pub wants_sign_in: bool,
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
    /// It speaks against the network: the feed was well before, and nobody had answered lately.
    counts: bool,
}

/// What the end of a fetch says about the network.
#[derive(Debug, Clone, PartialEq)]
pub enum Sign {
    /// It is there: somebody out there answered.
    Online,
    /// Nothing is known yet; the attempt counts.
    Unclear,
    /// It may be gone, and others are still being asked: the attempt counts, and nobody else is asked until they ended.
    Doubtful,
    /// There is none: neither this attempt nor those of these feeds counts.
    Offline(Vec<Suspect>),
}

impl Reachability {
    /// Takes note of how a fetch ended, while other `sites` are being asked. `feed`: the one that was polled, as it was
    /// before.
    pub fn note<'a>(
        &mut self,
        now: DateTime<Utc>,
        url: &str,
        fetched: &Fetched,
        feed: Option<(FeedKey, &FeedState)>,
        sites: impl IntoIterator<Item = &'a str>,
    ) -> Sign {
        // This machine can be reached without any network.
        if is_loopback(url) {
            return Sign::Unclear;
        }
        match &fetched.result {
            Ok(answer) if answer.status == 511 => {
                self.wants_sign_in = true;
                self.lost(now)
            }
            Err(failure) if failure.class() == FailureClass::Unreachable => {
                self.suspect(now, url, feed, sites)
            }
            Ok(_) | Err(_) => self.found(now, url),
        }
    }

    /// The machine was asleep, or its clock was set: what failed or answered before says nothing.
    pub fn forget(&mut self) {
        self.suspects.clear();
        (self.answered, self.answered_before) = (None, None);
    }

    fn found(&mut self, now: DateTime<Utc>, url: &str) -> Sign {
        (self.offline_since, self.suspects) = (None, Vec::new());
        self.wants_sign_in = false;
        let site = site_of(url);
        if self.answered.as_ref().is_none_or(|(last, _)| *last != site) {
            self.answered_before = self.answered.take();
        }
        self.answered = Some((site, now));
        Sign::Online
    }

    /// The reader answered something about a feed whose host could not be reached: what it may go back to holds that too.
    pub fn follow_answer(&mut self, feed: FeedKey, changed: &FeedChange) {
        for suspect in self.suspects.iter_mut().filter(|suspect| suspect.feed == feed) {
            changed.reversed().revert_state(&mut suspect.before);
        }
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

    /// A host cannot be reached. A feed that failed before says nothing about the network, nor does any while others
    /// answer; without a network what they lost by it is given back all the same.
    fn suspect<'a>(
        &mut self,
        now: DateTime<Utc>,
        url: &str,
        feed: Option<(FeedKey, &FeedState)>,
        under_way: impl IntoIterator<Item = &'a str>,
    ) -> Sign {
        if self.offline_since.is_some() {
            return self.lost(now);
        }
        let site = site_of(url);
        self.suspects.retain(|suspect| now.signed_duration_since(suspect.at) <= SUSPICION);
        let answered = self.answered.iter();
        let answers =
            answered.into_iter().any(|(_, at)| now.signed_duration_since(*at) <= ANSWERED_LATELY);
        let failed_before = feed.is_some_and(|(_, before)| before.facts.failures > 0);
        let counts = !answers && !failed_before;
        let silent: BTreeSet<&str> =
            self.suspects.iter().map(|suspect| suspect.site.as_str()).chain([&*site]).collect();
        let against = self.suspects.iter().filter(|suspect| suspect.counts);
        let against = against.map(|suspect| suspect.site.as_str()).chain(counts.then_some(&*site));
        let enough = against.collect::<BTreeSet<_>>().len() >= SUSPECTS_MAX;
        let sign = if answers || !enough {
            Sign::Unclear
        } else if under_way.into_iter().any(|other| !silent.contains(other)) {
            Sign::Doubtful
        } else {
            return self.lost(now);
        };
        if let Some((feed, before)) = feed {
            let before = Box::new(before.clone());
            self.suspects.push(Suspect { feed, before, site, at: now, counts });
        }
        sign
    }
}

#[cfg(test)]
#[path = "reachability_tests.rs"]
mod tests;

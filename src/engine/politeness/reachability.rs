//! Detects a missing network: if three different hosts cannot be reached and no other host responds, the network is down, and the
//! feeds did not fail (SPEC B.4.4, G.32).

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use super::host_queue::{is_loopback, site_of};
use crate::engine::change::feed_change::{Direction, FeedChange};
use crate::engine::feeds::subscription::FeedState;
use crate::engine::poll::fetch::Fetched;
use backissue_core::history::FeedKey;

/// Number of different unreachable sites after which the network counts as down, if no other host responded.
const SUSPECTS_MAX: usize = 3;

/// Time after which an unreachable host is no longer a sign of a missing network.
const SUSPICION: TimeDelta = TimeDelta::minutes(15);

/// If any host responded within this time, the network counts as up, regardless of unreachable hosts.
const ANSWERED_LATELY: TimeDelta = TimeDelta::minutes(1);

/// State of the network.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reachability {
    /// Time since which there is no network.
    pub offline_since: Option<DateTime<Utc>>,
    /// `true` if the network requires a sign-in, so that responses do not come from publishers.
    pub wants_sign_in: bool,
    /// Hosts that could not be reached since the last response, with the earlier states of their feeds.
    suspects: Vec<Suspect>,
    /// The site that responded last, and the time of the response.
    answered: Option<(String, DateTime<Utc>)>,
    /// The site that responded last except the site in `answered`, and the time of the response.
    answered_before: Option<(String, DateTime<Utc>)>,
}

/// A feed whose host could not be reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspect {
    /// The feed.
    pub feed: FeedKey,
    /// State of the feed before the failed request.
    pub before: Box<FeedState>,
    site: String,
    at: DateTime<Utc>,
    /// `true` if the failure is a sign of a missing network, because the feed had no failures before and no host responded
    /// recently.
    counts: bool,
}

/// State of the network as indicated by a completed fetch.
#[derive(Debug, Clone, PartialEq)]
pub enum Sign {
    /// The network is up, because a host responded.
    Online,
    /// The state of the network is unknown. The fetch counts.
    Unclear,
    /// The network may be down, and requests to other sites are under way. The fetch counts, and no new request starts until those
    /// requests end.
    Doubtful,
    /// The network is down. Neither this fetch nor the earlier failed fetches of these feeds count.
    Offline(Vec<Suspect>),
}

impl Reachability {
    /// Records the result of a fetch and returns what it shows about the network. `feed` is the polled feed with its state before
    /// the poll; `sites` are the sites with a request under way.
    pub fn note<'a>(
        &mut self,
        now: DateTime<Utc>,
        url: &str,
        fetched: &Fetched,
        feed: Option<(FeedKey, &FeedState)>,
        sites: impl IntoIterator<Item = &'a str>,
    ) -> Sign {
        // This machine can be reached without a network, so a response from it shows nothing.
        if is_loopback(url) {
            return Sign::Unclear;
        }
        match &fetched.result {
            Ok(answer) if answer.status == 511 => {
                self.wants_sign_in = true;
                self.lost(now)
            }
            Err(failure) if failure.is_unreachable() => self.suspect(now, url, feed, sites),
            Ok(_) | Err(_) => self.found(now, url),
        }
    }

    /// Discards the results of earlier fetches, because the machine was asleep or its clock was set.
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

    /// Applies a change by the user to the earlier state of a feed whose host could not be reached, or reverts it there.
    pub fn follow_answer(&mut self, feed: FeedKey, changed: &FeedChange, direction: Direction) {
        for suspect in self.suspects.iter_mut().filter(|suspect| suspect.feed == feed) {
            changed.set_state(&mut suspect.before, direction);
        }
    }

    /// Checks whether a site other than the site of `url` responded recently.
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

    /// Records that a host could not be reached. This is no sign of a missing network if the feed also failed before or if other
    /// hosts respond. If the network turns out to be down, the earlier states of all feeds with unreachable hosts are restored.
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

//! Who may ask whom now: one queue a site, few requests at a time, a pause between them (SPEC 0, B.4 rule 5).
//!
//! Kept here and not at the network's edge, so that the simulator sees every decision.

use std::collections::{BTreeMap, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};

use super::fetching::{FetchId, Purpose};
use super::poll_log::PollCause;
use super::settings::NetworkSettings;

/// A fetch that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Where to.
    pub url: String,
    /// What for.
    pub purpose: Purpose,
    /// Why.
    pub cause: PollCause,
}

/// A fetch under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InFlight {
    /// What was asked.
    pub waiting: Waiting,
    /// The site it went to.
    site: String,
}

/// The queue of one site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Site {
    waiting: VecDeque<Waiting>,
    in_flight: usize,
    /// Not before this; `None`: at once.
    free_at: Option<DateTime<Utc>>,
    /// No spacing and no limit of one (loopback under `space_loopback = false`).
    unlimited: bool,
}

/// All queues, and what is under way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traffic {
    sites: BTreeMap<String, Site>,
    in_flight: BTreeMap<FetchId, InFlight>,
    last_id: u64,
    /// The site served last: the next round starts behind it, so that no site starves another.
    served: Option<String>,
    /// Nothing starts before this (spread at start-up, SPEC A.9).
    pub not_before: Option<DateTime<Utc>>,
}

impl Traffic {
    /// Puts a fetch at the end of its site's queue.
    pub fn enqueue(&mut self, waiting: Waiting, settings: &NetworkSettings) {
        let key = site_of(&waiting.url);
        let site = self.sites.entry(key).or_default();
        site.unlimited = !settings.space_loopback && is_loopback(&waiting.url);
        site.waiting.push_back(waiting);
    }

    /// Starts what may start at `now`: at most `parallel` at once in all, and for each site its own limit.
    pub fn start(
        &mut self,
        now: DateTime<Utc>,
        settings: &NetworkSettings,
    ) -> Vec<(FetchId, Waiting)> {
        let mut started = Vec::new();
        if self.not_before.is_some_and(|instant| now < instant) {
            return started;
        }
        loop {
            let free = settings.parallel.saturating_sub(self.in_flight.len());
            let mut names = self.ready(now, settings);
            names.truncate(free);
            if names.is_empty() {
                return started;
            }
            for name in names {
                let Some(site) = self.sites.get_mut(&name) else { continue };
                let Some(waiting) = site.waiting.pop_front() else { continue };
                site.in_flight = site.in_flight.saturating_add(1);
                self.last_id = self.last_id.saturating_add(1);
                let id = FetchId(self.last_id);
                let in_flight = InFlight { waiting: waiting.clone(), site: name.clone() };
                self.in_flight.insert(id, in_flight);
                self.served = Some(name);
                started.push((id, waiting));
            }
        }
    }

    /// The sites that may be asked at `now`, beginning behind the one served last.
    fn ready(&self, now: DateTime<Utc>, settings: &NetworkSettings) -> Vec<String> {
        let ready = |site: &Site| {
            let limit = if site.unlimited { settings.parallel } else { settings.host_parallel };
            let rested = site.unlimited || site.free_at.is_none_or(|instant| instant <= now);
            !site.waiting.is_empty() && site.in_flight < limit && rested
        };
        let names = |(name, site): (&String, &Site)| ready(site).then(|| name.clone());
        let Some(served) = &self.served else {
            return self.sites.iter().filter_map(names).collect();
        };
        let behind = self
            .sites
            .range::<String, _>((std::ops::Bound::Excluded(served), std::ops::Bound::Unbounded));
        let up_to = self.sites.range::<String, _>(..=served);
        behind.chain(up_to).filter_map(names).collect()
    }

    /// Takes a fetch that ended out of the books; `None` if it is not known (a late answer).
    pub fn end(
        &mut self,
        id: FetchId,
        now: DateTime<Utc>,
        settings: &NetworkSettings,
    ) -> Option<InFlight> {
        let ended = self.in_flight.remove(&id)?;
        if let Some(site) = self.sites.get_mut(&ended.site) {
            site.in_flight = site.in_flight.saturating_sub(1);
            let pause = TimeDelta::milliseconds(
                i64::try_from(settings.host_spacing_ms).unwrap_or(i64::MAX / 2),
            );
            site.free_at = now.checked_add_signed(pause);
        }
        Some(ended)
    }

    /// When something that waits may start, if nothing else happens; `None`: nothing waits, or only for an end.
    pub fn next_start(&self, settings: &NetworkSettings) -> Option<DateTime<Utc>> {
        if self.in_flight.len() >= settings.parallel {
            return None;
        }
        let open = |site: &&Site| {
            !site.waiting.is_empty() && (site.unlimited || site.in_flight < settings.host_parallel)
        };
        let earliest = self.sites.values().filter(open).map(|site| site.free_at).min()?;
        let earliest = earliest.unwrap_or(DateTime::UNIX_EPOCH);
        Some(self.not_before.map_or(earliest, |instant| earliest.max(instant)))
    }

    /// Forgets what waits for one purpose, e.g. a feed that was unsubscribed.
    pub fn drop_waiting(&mut self, drop: impl Fn(&Purpose) -> bool) {
        for site in self.sites.values_mut() {
            site.waiting.retain(|waiting| !drop(&waiting.purpose));
        }
    }
}

/// The site an address belongs to: its host and port.
pub fn site_of(url: &str) -> String {
    let Ok(url) = url::Url::parse(url) else { return String::new() };
    let host = url.host_str().unwrap_or_default().to_owned();
    url.port().map_or_else(|| host.clone(), |port| format!("{host}:{port}"))
}

/// Whether an address names this machine.
pub fn is_loopback(url: &str) -> bool {
    match url::Url::parse(url).ok().as_ref().and_then(url::Url::host) {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::settings::Settings;
    use crate::history::FeedKey;

    fn at(ms: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(1_700_000_000_000 + ms).unwrap()
    }

    fn wish(url: &str, feed: u32) -> Waiting {
        Waiting { url: url.into(), purpose: Purpose::Poll(FeedKey(feed)), cause: PollCause::Due }
    }

    fn feeds(started: &[(FetchId, Waiting)]) -> Vec<u32> {
        let number = |waiting: &Waiting| match waiting.purpose {
            Purpose::Poll(feed) => feed.0,
            Purpose::Discover(_) => 0,
        };
        started.iter().map(|(_, waiting)| number(waiting)).collect()
    }

    #[test]
    fn a_site_is_asked_one_request_at_a_time_with_a_pause_between() {
        let settings = Settings::default().network;
        let mut traffic = Traffic::default();
        for feed in 1..=3 {
            traffic.enqueue(wish("https://a.example/f", feed), &settings);
        }
        let first = traffic.start(at(0), &settings);
        assert_eq!(feeds(&first), [1]);
        assert!(traffic.start(at(5000), &settings).is_empty(), "while one is under way");
        traffic.end(first[0].0, at(6000), &settings).unwrap();
        assert!(traffic.start(at(6999), &settings).is_empty(), "within the pause");
        assert_eq!(traffic.next_start(&settings), Some(at(7000)));
        assert_eq!(feeds(&traffic.start(at(7000), &settings)), [2]);
    }

    #[test]
    fn no_more_than_the_global_limit_are_under_way() {
        let settings = NetworkSettings { parallel: 2, ..Settings::default().network };
        let mut traffic = Traffic::default();
        for feed in 1..=5 {
            traffic.enqueue(wish(&format!("https://h{feed}.example/"), feed), &settings);
        }
        let started = traffic.start(at(0), &settings);
        assert_eq!(feeds(&started), [1, 2]);
        assert_eq!(traffic.next_start(&settings), None, "only an end can let the next one start");
        traffic.end(started[1].0, at(10), &settings).unwrap();
        assert_eq!(feeds(&traffic.start(at(10), &settings)), [3]);
    }

    #[test]
    fn sites_take_turns() {
        let settings =
            NetworkSettings { parallel: 1, host_spacing_ms: 0, ..Settings::default().network };
        let mut traffic = Traffic::default();
        for feed in [11, 12] {
            traffic.enqueue(wish("https://a.example/", feed), &settings);
        }
        traffic.enqueue(wish("https://b.example/", 21), &settings);
        let mut order = Vec::new();
        for step in 0..3 {
            let started = traffic.start(at(step), &settings);
            order.extend(feeds(&started));
            traffic.end(started[0].0, at(step), &settings).unwrap();
        }
        assert_eq!(order, [11, 21, 12]);
    }

    #[test]
    fn loopback_is_free_of_spacing_only_when_the_setting_says_so() {
        for (space_loopback, expected) in [(true, 1), (false, 3)] {
            let settings = NetworkSettings { space_loopback, ..Settings::default().network };
            let mut traffic = Traffic::default();
            for feed in 1..=3 {
                traffic.enqueue(wish("http://127.0.0.1:8080/f", feed), &settings);
            }
            assert_eq!(traffic.start(at(0), &settings).len(), expected);
        }
    }

    #[test]
    fn a_late_answer_is_harmless() {
        let settings = Settings::default().network;
        assert_eq!(Traffic::default().end(FetchId(9), at(0), &settings), None);
    }

    #[test]
    fn nothing_starts_before_the_spread_at_start_up() {
        let settings = Settings::default().network;
        let mut traffic = Traffic { not_before: Some(at(3000)), ..Traffic::default() };
        traffic.enqueue(wish("https://a.example/", 1), &settings);
        assert!(traffic.start(at(2999), &settings).is_empty());
        assert_eq!(traffic.next_start(&settings), Some(at(3000)));
        assert_eq!(traffic.start(at(3000), &settings).len(), 1);
    }
}

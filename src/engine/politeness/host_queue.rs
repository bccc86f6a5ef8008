//! Request queue with one queue per site, a limit of parallel requests, and a pause between requests (SPEC 0, B.4 rule 5).
//!
//! The queue belongs to the engine, not to the network layer, so that the simulator sees every decision.
//!
//! If three different hosts cannot be reached and no other host responds, the network is down, and the feeds did not fail (SPEC
//! B.4.4, G.32).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use backissue_core::feed::address::owned_domain;
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::history::FeedKey;
use backissue_core::schedule::Wait;
use backissue_core::schedule::limits::RETRY_AFTER_CAP_SECONDS;
use chrono::{DateTime, TimeDelta, Utc};

use crate::engine::change::value::{Direction, FeedChange};
use crate::engine::feeds::subscription::FeedState;
use crate::engine::poll::fetch::{FetchId, Fetched, Purpose};
use crate::engine::poll::poll_log::PollCause;
use crate::engine::settings::NetworkSettings;

/// A fetch that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Address to fetch.
    pub url: String,
    /// Purpose of the fetch, for example a poll.
    pub purpose: Purpose,
    /// Cause of the poll, if the fetch is for a poll.
    pub cause: PollCause,
}

impl Waiting {
    /// Checks whether it is for a page or a picture that nobody waits for.
    pub fn is_ahead(&self) -> bool {
        let is_part = matches!(self.purpose, Purpose::Picture(_) | Purpose::FullText(_));
        is_part && self.cause == PollCause::Due
    }
}

/// A fetch under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InFlight {
    /// Fetch that was queued.
    pub waiting: Waiting,
    /// Site that receives the request.
    site: String,
}

/// Default maximum number of parallel requests to one site.
const HOST_PARALLEL: usize = 1;
/// Default maximum number of parallel requests to a site on this machine that needs no pauses.
const UNSPACED_PARALLEL: usize = 6;

/// Returns the maximum number of parallel requests to one site. `unspaced` is `true` for a site on this machine that needs no
/// pauses.
pub fn parallel_to_site(settings: &NetworkSettings, unspaced: bool) -> usize {
    let usual = if unspaced { UNSPACED_PARALLEL } else { HOST_PARALLEL };
    settings.host_parallel.unwrap_or(usual)
}

/// Waiting requests of one site, and the times from which it may receive requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Site {
    waiting: VecDeque<Waiting>,
    /// Waiting requests for pictures, which are sent after those in `waiting`.
    pictures: VecDeque<Waiting>,
    /// Waiting requests for archives and for pages and pictures to be fetched ahead, which are sent after all other requests.
    archives: VecDeque<Waiting>,
    in_flight: usize,
    /// Earliest time of the next request to the site; `None` means at once.
    free_at: Option<DateTime<Utc>>,
    /// Earliest time of the next request for an archive; `None` means at once.
    archives_at: Option<DateTime<Utc>>,
    /// End of the wait of a host of the site, before which no archive is requested.
    archives_held: Option<DateTime<Utc>>,
    /// `true` if requests need no pauses (loopback under `space_loopback = false`).
    unspaced: bool,
    /// `true` if the site is on this machine and needs no network.
    local: bool,
}

impl Site {
    fn has_waiting(&self) -> bool {
        self.is_spaced_shortly() || !self.archives.is_empty()
    }

    /// Checks whether a request that is not for an archive is waiting. Only the short pause applies to such a request.
    fn is_spaced_shortly(&self) -> bool {
        !self.waiting.is_empty() || !self.pictures.is_empty()
    }

    /// Returns the earliest time at which the site may receive the next waiting request; `None` means at once.
    fn next_at(&self) -> Option<DateTime<Utc>> {
        match (self.unspaced, self.is_spaced_shortly()) {
            (true, true) => None,
            (true, false) => self.archives_held,
            (false, true) => self.free_at,
            (false, false) => self.archives_at.max(self.free_at).max(self.archives_held),
        }
    }

    fn may_ask(&self, now: DateTime<Utc>) -> bool {
        self.has_waiting() && self.next_at().is_none_or(|instant| instant <= now)
    }

    /// Checks whether the limit of parallel requests to the site allows one more request.
    fn has_room(&self, settings: &NetworkSettings) -> bool {
        self.in_flight < parallel_to_site(settings, self.unspaced)
    }

    /// Removes and returns the next request if the pause of the site is over. Requests for archives come after all others.
    fn take_next(&mut self, now: DateTime<Utc>) -> Option<Waiting> {
        if !self.may_ask(now) {
            return None;
        }
        let before_archives = self.waiting.pop_front().or_else(|| self.pictures.pop_front());
        before_archives.or_else(|| self.archives.pop_front())
    }
}

/// Queues of all sites, and the fetches under way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostQueue {
    sites: BTreeMap<String, Site>,
    in_flight: BTreeMap<FetchId, InFlight>,
    last_id: u64,
    /// Site that received the last request. The next round starts with the site after it, so that every site gets its turn.
    served: Option<String>,
    /// Earliest time of any request, because polls are spread at start-up (SPEC A.9) and requests pause after waking up (G.32).
    pub not_before: Option<DateTime<Utc>>,
    /// Hosts that asked for a wait, with the wait that ends last.
    held: BTreeMap<Host, Wait>,
    /// Set if the network is down or may be down: the time from which one request may test the network (SPEC B.4.4).
    pub probe_at: Option<DateTime<Utc>>,
}

/// Reason that a waiting request has not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsFor {
    /// The delay at start-up or the pause after waking up, which ends at this time.
    Start(DateTime<Utc>),
    /// The network is down or may be down, and is tested at this time.
    Network(DateTime<Utc>),
    /// Another request to the same site is under way.
    Site,
    /// The pause between two requests to the same site, which ends at this time.
    Spacing(DateTime<Utc>),
    /// The turn of the site, because requests to other sites come first.
    Turn,
}

impl HostQueue {
    /// Appends a fetch to the queue of its site.
    pub fn enqueue(&mut self, waiting: Waiting, settings: &NetworkSettings) {
        let key = site_of(&waiting.url);
        let site = self.sites.entry(key).or_default();
        site.local = is_loopback(&waiting.url);
        let is_web = FeedSource::web_part(&waiting.url).is_some();
        site.unspaced = !is_web || (!settings.space_loopback && site.local);
        let queue = match waiting.purpose {
            Purpose::Archive(_) => &mut site.archives,
            // A page or a picture that nobody waits for.
            Purpose::FullText(_) | Purpose::Picture(_) if waiting.cause == PollCause::Due => {
                &mut site.archives
            }
            Purpose::Picture(_) => &mut site.pictures,
            Purpose::Poll(_) | Purpose::FullText(_) | Purpose::Discover(_) => &mut site.waiting,
        };
        queue.push_back(waiting);
    }

    /// Records a request that was sent to a site before start-up, so that the pause after that request is kept.
    pub fn asked_before(&mut self, url: &str, at: DateTime<Utc>, settings: &NetworkSettings) {
        let pause = i64::try_from(settings.host_spacing_ms).map(TimeDelta::milliseconds);
        let site = self.sites.entry(site_of(url)).or_default();
        site.free_at = site.free_at.max(pause.ok().and_then(|pause| at.checked_add_signed(pause)));
    }

    /// Starts the fetches allowed at `now`, within [`NetworkSettings::begun_max`] and the limit of each site.
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
            let free = settings.begun_max().saturating_sub(self.in_flight.len());
            let mut names = self.ready(now, settings);
            names.truncate(free);
            if self.probe_at.is_some() {
                self.keep_one_probe(&mut names, now);
            }
            if names.is_empty() {
                return started;
            }
            for name in names {
                let Some(site) = self.sites.get_mut(&name) else { continue };
                let Some(waiting) = site.take_next(now) else { continue };
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

    /// Without a network, removes all sites from `names` except those on this machine, and except one other site per minute to test
    /// the network.
    fn keep_one_probe(&mut self, names: &mut Vec<String>, now: DateTime<Utc>) {
        let sites = &self.sites;
        let local = |name: &String| sites.get(name).is_some_and(|site| site.local);
        let asking = self.in_flight.values().any(|flight| !local(&flight.site));
        let mut free = !asking && self.probe_at.is_some_and(|instant| instant <= now);
        let before = free;
        names.retain(|name| local(name) || std::mem::replace(&mut free, false));
        if before && !free {
            self.probe_at = now.checked_add_signed(PROBE_EVERY);
        }
    }

    /// Returns the sites that may receive a request at `now`, starting with the site after the one that received the last request.
    fn ready<'a>(&'a self, now: DateTime<Utc>, settings: &NetworkSettings) -> Vec<String> {
        let ready = |site: &Site| site.has_room(settings) && site.may_ask(now);
        // If there are fewer free requests than sites, sites with polls come before sites with only archives.
        let polls_first = |mut ready: Vec<(&String, &Site)>| -> Vec<String> {
            ready.sort_by_key(|(_, site)| site.waiting.is_empty());
            ready.into_iter().map(|(name, _)| name.clone()).collect()
        };
        let names = |(name, site): (&'a String, &'a Site)| ready(site).then_some((name, site));
        let Some(served) = &self.served else {
            return polls_first(self.sites.iter().filter_map(names).collect());
        };
        let behind = self
            .sites
            .range::<String, _>((std::ops::Bound::Excluded(served), std::ops::Bound::Unbounded));
        let up_to = self.sites.range::<String, _>(..=served);
        polls_first(behind.chain(up_to).filter_map(names).collect())
    }

    /// Handles a change of the clock: no pause may last longer from now than its full length, and the delay at start-up ends.
    pub fn clock_was_set(&mut self, now: DateTime<Utc>, settings: &NetworkSettings) {
        let later = |pause: u64| {
            let pause = i64::try_from(pause).unwrap_or(i64::MAX / 2);
            now.checked_add_signed(TimeDelta::milliseconds(pause))
        };
        let (short, long) = (later(settings.host_spacing_ms), later(settings.archive_spacing_ms));
        for site in self.sites.values_mut() {
            site.free_at = site.free_at.min(short);
            site.archives_at = site.archives_at.min(long.max(short));
            // The server stated this wait, so it ends early only if it is longer than any wait can be.
            let longest = now.checked_add_signed(TimeDelta::seconds(RETRY_AFTER_CAP_SECONDS));
            site.archives_held = site.archives_held.filter(|held| Some(*held) <= longest);
        }
        self.not_before = None;
    }

    /// Removes a fetch that ended from the fetches under way. Returns `None` for an unknown fetch, whose response came too late.
    pub fn end(
        &mut self,
        id: FetchId,
        now: DateTime<Utc>,
        settings: &NetworkSettings,
    ) -> Option<InFlight> {
        let ended = self.in_flight.remove(&id)?;
        if let Some(site) = self.sites.get_mut(&ended.site) {
            site.in_flight = site.in_flight.saturating_sub(1);
            let after = |pause: u64| {
                let pause = i64::try_from(pause).unwrap_or(i64::MAX / 2);
                now.checked_add_signed(TimeDelta::milliseconds(pause))
            };
            site.free_at = after(settings.host_spacing_ms);
            site.archives_at = after(settings.archive_spacing_ms.max(settings.host_spacing_ms));
        }
        Some(ended)
    }

    /// Returns the sites that have a request under way and are not on this machine.
    pub fn sites_under_way(&self) -> impl Iterator<Item = &str> {
        let out_there = self.in_flight.values().filter(|flight| !is_loopback(&flight.waiting.url));
        out_there.map(|flight| flight.site.as_str())
    }

    /// Returns the earliest time at which a waiting request may start. Returns `None` if no request waits, or if the limits require
    /// that another request ends first.
    pub fn next_start(&self, settings: &NetworkSettings) -> Option<DateTime<Utc>> {
        if self.in_flight.len() >= settings.begun_max() {
            return None;
        }
        let open = |site: &&Site| site.has_waiting() && site.has_room(settings);
        let probe = |site: &Site| self.probe_at.filter(|_| !site.local);
        let free_at = |site: &Site| site.next_at().max(probe(site));
        let earliest = self.sites.values().filter(open).map(free_at).min()?;
        let earliest = earliest.unwrap_or(DateTime::UNIX_EPOCH);
        Some(self.not_before.map_or(earliest, |instant| earliest.max(instant)))
    }

    /// Returns the reason that a request for this address has not started.
    pub fn waits_for(&self, url: &str, now: DateTime<Utc>, settings: &NetworkSettings) -> WaitsFor {
        let site = self.sites.get(&site_of(url));
        let spacing = site.and_then(|site| site.free_at).filter(|&instant| now < instant);
        if let Some(instant) = self.not_before.filter(|&instant| now < instant) {
            WaitsFor::Start(instant)
        } else if let Some(instant) = self.probe_at.filter(|_| !is_loopback(url)) {
            WaitsFor::Network(instant)
        } else if site.is_some_and(|site| !site.has_room(settings)) {
            WaitsFor::Site
        } else {
            spacing.map_or(WaitsFor::Turn, WaitsFor::Spacing)
        }
    }

    /// Checks whether a request that this queue does not start itself may be sent to a site now. The error is the reason to wait.
    pub fn may_ask_beside(
        &self,
        url: &str,
        now: DateTime<Utc>,
        settings: &NetworkSettings,
    ) -> Result<(), WaitsFor> {
        let unspaced = self.sites.get(&site_of(url)).is_some_and(|site| site.unspaced);
        match self.waits_for(url, now, settings) {
            WaitsFor::Turn => Ok(()),
            WaitsFor::Spacing(_) if unspaced => Ok(()),
            wait @ (WaitsFor::Start(_)
            | WaitsFor::Network(_)
            | WaitsFor::Site
            | WaitsFor::Spacing(_)) => Err(wait),
        }
    }

    /// Records that the host of an address asked for a wait.
    pub fn hold(&mut self, now: DateTime<Utc>, url: &str, wait: Wait) {
        let Some(host) = host_of(url) else { return };
        if let Some(site) = self.sites.get_mut(&site_of(url)) {
            site.archives_held = site.archives_held.max(wait.end());
        }
        self.held.retain(|_, wait| wait.end() > Some(now));
        let held = self.held.entry(host).or_insert(wait);
        *held = wait.or_longer(Some(*held));
    }

    /// Returns the wait that a host asked for, if it is not over.
    pub fn held(&self, now: DateTime<Utc>, host: &Host) -> Option<Wait> {
        self.held.get(host).copied().filter(|wait| wait.end() > Some(now))
    }

    /// Lets a picture that is to be fetched ahead wait with the pictures of the screen, or treats the request under way like one of
    /// the screen. Returns `false` if the picture is not being fetched ahead.
    pub fn hurry_picture(&mut self, url: &str) -> bool {
        let is_meant = |waiting: &Waiting| {
            waiting.url == url
                && waiting.cause == PollCause::Due
                && matches!(waiting.purpose, Purpose::Picture(_))
        };
        if let Some(site) = self.sites.get_mut(&site_of(url))
            && let Some(place) = site.archives.iter().position(is_meant)
            && let Some(waiting) = site.archives.remove(place)
        {
            site.pictures.push_back(Waiting { cause: PollCause::Asked, ..waiting });
            return true;
        }
        let mut flights = self.in_flight.values_mut().map(|flight| &mut flight.waiting);
        let under_way = flights.find(|waiting| is_meant(waiting));
        under_way.map(|waiting| waiting.cause = PollCause::Asked).is_some()
    }

    /// Checks whether a picture waits or is being fetched.
    pub fn has_picture(&self, url: &str) -> bool {
        let waiting = self.sites.get(&site_of(url)).into_iter();
        let waiting = waiting.flat_map(|site| site.pictures.iter().chain(&site.archives));
        let under_way = self.in_flight.values().map(|flight| &flight.waiting);
        let is_meant = |it: &Waiting| it.url == url && matches!(it.purpose, Purpose::Picture(_));
        waiting.chain(under_way).any(is_meant)
    }

    /// Removes and returns the waiting requests that match, for example those of a feed that was unsubscribed.
    pub fn take_waiting(&mut self, take: impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        let mut taken = Vec::new();
        for site in self.sites.values_mut() {
            for queue in [&mut site.waiting, &mut site.pictures, &mut site.archives] {
                // Remove the requests in place, because unsubscribing from many feeds calls this method once per feed.
                let mut place = 0_usize;
                while let Some(waiting) = queue.get(place) {
                    if take(waiting) {
                        taken.extend(queue.remove(place));
                    } else {
                        place = place.saturating_add(1);
                    }
                }
            }
        }
        taken
    }

    /// Drops the waiting requests with a matching purpose and returns their number.
    pub fn drop_waiting(&mut self, drop: impl Fn(&Purpose) -> bool) -> usize {
        self.take_waiting(|waiting| drop(&waiting.purpose)).len()
    }
}

/// Host and port. A wait that a server asks for applies to all addresses with the same host and port.
pub type Host = (String, Option<u16>);

/// Returns the host and port of an address.
pub fn host_of(url: &str) -> Option<Host> {
    let url = url::Url::parse(FeedSource::web_part(url)?).ok()?;
    Some((url.host_str()?.to_owned(), url.port_or_known_default()))
}

/// Returns the site of an address: the registrable domain of its host according to the public suffix list. An IP address or a
/// name without a registrable domain is its own site, together with its port. All files and programs are one site.
pub fn site_of(url: &str) -> String {
    let Some(url) = FeedSource::web_part(url) else { return "this machine".to_owned() };
    let Ok(url) = url::Url::parse(url) else { return String::new() };
    if let Some(url::Host::Domain(name)) = url.host()
        && let Some(domain) = owned_domain(name.trim_end_matches('.'))
    {
        return domain.to_owned();
    }
    let host = url.host_str().unwrap_or_default().to_owned();
    url.port().map_or_else(|| host.clone(), |port| format!("{host}:{port}"))
}

/// Checks whether an address is on this machine. Files and programs are.
pub fn is_loopback(url: &str) -> bool {
    let Some(url) = FeedSource::web_part(url) else { return true };
    match url::Url::parse(url).ok().as_ref().and_then(url::Url::host) {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        None => false,
    }
}

/// Interval between requests that test whether the network is back (SPEC B.4.4).
pub const PROBE_EVERY: TimeDelta = TimeDelta::seconds(60);

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
#[path = "host_queue_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "reachability_tests.rs"]
mod reachability_tests;

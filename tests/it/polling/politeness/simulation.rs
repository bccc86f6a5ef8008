//! Fourteen simulated days against publishers that give every answer in SPEC D, chosen by seed: no requested wait, host limit,
//! gone feed or validator is ever disregarded. An independent observer checks the requests.

use std::collections::BTreeMap;

use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::feeds::subscription::SavedSubscription;
use backissue::engine::poll::fetch::{
    AnswerBody, AnswerHeaders, CONNECTING, FetchFailure, FetchId, FetchRequest, Fetched, Hop,
    RequestKind, ServerAnswer,
};
use backissue::engine::request::{Effect, Input, Request};
use backissue::engine::settings::Settings;
use backissue::engine::state::Engine;
use backissue::engine::update::{next_wake, update};
use backissue_core::feed::page_feeds::PageLeads;
use backissue_core::feed::{Entry, FeedDocument, FeedHead, Kind};
use backissue_core::history::Counters;
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use crate::support::store_port::BareStore;
use crate::support::world::start;

const DAYS: i64 = 14;
const HOSTS: u64 = 20;
const FEEDS_A_HOST: u64 = 10;

/// Pseudo-random number generator that yields the same sequence in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.roll().is_multiple_of(chances)
    }
}

/// What the observer knows of an address: the validators that must be sent and the waits that must be respected.
#[derive(Default)]
struct Observed {
    etag: Option<Vec<u8>>,
    /// The time since which all answers from this address have been 304.
    only_304_since: Option<DateTime<Utc>>,
    not_before: Option<DateTime<Utc>>,
    last_try: Option<DateTime<Utc>>,
    gone: bool,
    /// Whether the last answer allows one immediate second request.
    may_repeat: bool,
}

/// The end of the pause that a host requested, and the time when its last answer ended.
type ObservedHost = (Option<DateTime<Utc>>, Option<DateTime<Utc>>);

#[derive(Default)]
struct Counts {
    requests: u64,
    conditional: u64,
    by_status: BTreeMap<u16, u64>,
    unanswered: u64,
    restarts: u64,
    in_floor: u64,
    two_at_once: u64,
    too_close: u64,
    to_gone: u64,
    without_validator: u64,
    duplicates: u64,
}

struct Simulation {
    engine: Engine,
    now: DateTime<Utc>,
    dice: Dice,
    /// The subscriptions as last written; this map replaces the store.
    store: BareStore,
    under_way: BTreeMap<(DateTime<Utc>, FetchId), FetchRequest>,
    observed: BTreeMap<String, Observed>,
    hosts: BTreeMap<String, ObservedHost>,
    counts: Counts,
}

fn host_of(url: &str) -> String {
    url.split('/').nth(2).unwrap_or_default().to_owned()
}

fn engine(saved: Vec<SavedSubscription>, now: DateTime<Utc>) -> Engine {
    let mut settings = Settings::default();
    settings.poll.start_spread_seconds = 60;
    Engine::new(settings, Tz::UTC, 7, saved, now)
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let mut simulation = Self {
            engine: engine(Vec::new(), start()),
            now: start(),
            dice: Dice(seed),
            store: BareStore::default(),
            under_way: BTreeMap::new(),
            observed: BTreeMap::new(),
            hosts: BTreeMap::new(),
            counts: Counts::default(),
        };
        let wanted = (0..HOSTS * FEEDS_A_HOST).map(|n| Subscribe {
            address: format!("https://host{}.example/f{n}", n % HOSTS),
            ..Subscribe::default()
        });
        simulation.tell(Input::Request(Request::Import(wanted.collect())));
        simulation
    }

    fn run(mut self) -> Counts {
        let end = start() + TimeDelta::days(DAYS);
        self.tell(Input::Tick);
        while self.now < end {
            let wake = next_wake(&self.engine, self.now).max(self.now + TimeDelta::milliseconds(1));
            match self.under_way.first_key_value().map(|(key, _)| *key) {
                Some(key) if key.0 <= wake => {
                    self.now = key.0.max(self.now);
                    let request = self.under_way.remove(&key).unwrap();
                    self.answer(key.1, &request);
                }
                _ => {
                    self.now = wake;
                    self.tell(Input::Tick);
                }
            }
            if self.under_way.is_empty() && self.dice.one_in(4000) {
                self.restart();
            }
        }
        self.counts
    }

    /// Restarts the program; only the data that it had sent to the store is kept.
    fn restart(&mut self) {
        self.counts.restarts += 1;
        let saved = self.store.records.iter().map(|(key, record)| SavedSubscription {
            key: *key,
            record: record.clone(),
            state: self.store.states.get(key).cloned().unwrap_or_default(),
            history: Default::default(),
            counters: Counters::default(),
        });
        self.engine = engine(saved.collect(), self.now);
        self.tell(Input::Tick);
    }

    fn tell(&mut self, input: Input) {
        let mut waiting = vec![input];
        while let Some(input) = waiting.pop() {
            for effect in update(&mut self.engine, self.now, input).effects {
                waiting.extend(self.perform(effect));
            }
        }
    }

    fn perform(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Fetch(request) => {
                self.observe_request(&request);
                let takes =
                    TimeDelta::milliseconds(100 + i64::try_from(self.dice.roll() % 3000).unwrap());
                self.under_way.insert((self.now + takes, request.id), request);
                None
            }
            Effect::Store(work) => self.store.perform(*work),
            _ => None,
        }
    }

    /// Checks that a request respects everything observed so far.
    fn observe_request(&mut self, request: &FetchRequest) {
        let (now, counts) = (self.now, &mut self.counts);
        counts.requests += 1;
        counts.conditional += u64::from(request.validators.is_some());
        let host = host_of(&request.url);
        let busy = self.under_way.values().any(|other| host_of(&other.url) == host);
        counts.two_at_once += u64::from(busy);
        let (pause, free) = self.hosts.entry(host).or_default();
        counts.in_floor += u64::from(pause.is_some_and(|until| now < until));
        counts.too_close += u64::from(free.is_some_and(|end| now - end < TimeDelta::seconds(1)));
        let seen = self.observed.entry(request.url.clone()).or_default();
        counts.to_gone += u64::from(seen.gone);
        let repeated = std::mem::take(&mut seen.may_repeat);
        let early = seen.not_before.is_some_and(|until| now < until);
        counts.in_floor += u64::from(early && !repeated);
        let soon = seen.last_try.is_some_and(|at| now - at < TimeDelta::minutes(5));
        counts.duplicates += u64::from(soon && !repeated);
        let stuck = seen.only_304_since.is_some_and(|since| now - since >= TimeDelta::days(8));
        let sent = request.validators.as_ref().filter(|known| known.speak_for(&request.url));
        let needed =
            seen.etag.is_some() && !stuck && request.kind != RequestKind::Fresh && !repeated;
        counts.without_validator += u64::from(needed && sent.is_none());
        if stuck && sent.is_none() {
            seen.only_304_since = Some(now);
        }
        seen.last_try = Some(now);
    }

    fn answer(&mut self, id: FetchId, request: &FetchRequest) {
        let (hops, result) = self.publisher(request);
        let (now, last) = (self.now, hops.last().map_or(&request.url, |hop: &Hop| &hop.to).clone());
        let known = request.validators.as_ref().is_some_and(|known| known.speak_for(&last));
        if let Ok(answer) = &result {
            *self.counts.by_status.entry(answer.status).or_default() += 1;
            self.observe_answer(request, &last, answer);
        } else {
            self.counts.unanswered += 1;
            // If no host was reached and the user did not request the poll, the attempt does not count as a failure.
            let unreached =
                matches!(&result, Err(FetchFailure::Name(_) | FetchFailure::Timeout { .. }));
            let seen = self.observed.entry(request.url.clone()).or_default();
            seen.last_try = seen.last_try.filter(|_| !unreached);
        }
        self.hosts.entry(host_of(&request.url)).or_default().1 = Some(now);
        let started = now;
        let fetched = Fetched { started, wire_bytes: 0, hops, conditional: known, result };
        self.tell(Input::Fetched(id, Box::new(fetched)));
    }

    /// Records the validators and waits of an answer that the next request must respect.
    fn observe_answer(&mut self, request: &FetchRequest, url: &str, answer: &ServerAnswer) {
        let now = self.now;
        let asked =
            |text: Option<&String>| text.and_then(|text| text.parse().ok()).map(TimeDelta::seconds);
        let retry = asked(answer.headers.retry_after.as_ref()).map(|wait| now + wait);
        if answer.status == 429 {
            let until = retry.unwrap_or(now + TimeDelta::hours(1));
            self.hosts.entry(host_of(&request.url)).or_default().0 = Some(until);
        }
        let age =
            answer.headers.cache_control.as_deref().and_then(|text| text.strip_prefix("max-age="));
        let fresh =
            age.and_then(|text| text.parse().ok()).map(|life| now + TimeDelta::seconds(life));
        let usable =
            matches!(&answer.body, AnswerBody::Document(document) if document.kind.is_feed());
        let seen = self.observed.entry(request.url.clone()).or_default();
        // A 410 reached through a redirect does not end the feed (SPEC D.2).
        seen.gone |= answer.status == 410 && url == request.url;
        seen.may_repeat = matches!(answer.status, 406 | 412 | 421)
            || (answer.status == 400 && request.kind == RequestKind::Delta)
            // All documents have one entry, so no delta is smaller than the largest verified one (SPEC D.7).
            || answer.status == 226;
        if answer.status == 429 && retry.is_some() {
            // The stated wait replaces the minimum interval (SPEC B.4 rule 3).
            seen.last_try = None;
        }
        seen.not_before = match answer.status {
            200 | 226 if usable => fresh,
            304 => fresh,
            _ => retry.max(seen.not_before),
        };
        let seen = self.observed.entry(url.to_owned()).or_default();
        match answer.status {
            200 if usable => {
                seen.etag.clone_from(&answer.headers.etag);
                seen.only_304_since = None;
            }
            // The request that verifies a delta replaces its validators.
            226 if usable => (seen.etag, seen.only_304_since) = (None, None),
            304 => {
                seen.only_304_since.get_or_insert(now);
            }
            406 | 412 => seen.etag = None,
            _ => {}
        }
    }

    /// Returns the publisher's redirects and answer for a request, chosen by the random number generator.
    fn publisher(
        &mut self,
        request: &FetchRequest,
    ) -> (Vec<Hop>, Result<ServerAnswer, FetchFailure>) {
        let mut url = request.url.clone();
        let mut hops = Vec::new();
        let number: u64 = url.rsplit('f').next().unwrap().trim_end_matches('m').parse().unwrap();
        let host = host_of(&url);
        if number % 17 == 3 && !url.ends_with('m') {
            let status = [301, 308, 302, 307][usize::try_from(number % 4).unwrap()];
            url = format!("https://{host}/f{number}m");
            hops.push(Hop { status, to: url.clone(), by_document: false });
        }
        let failed = match self.dice.roll() % 60 {
            0 => Some(FetchFailure::Timeout { phase: CONNECTING, seconds: 10 }),
            1 => Some(FetchFailure::Connect(host)),
            2 => Some(FetchFailure::Name(host)),
            3 => Some(FetchFailure::CutOff),
            4 => Some(FetchFailure::TooLarge("more than 16 MiB".into())),
            _ => None,
        };
        if let Some(failure) = failed {
            return (hops, Err(failure));
        }
        let sent = request.validators.as_ref().filter(|known| known.speak_for(&url));
        let sent = sent.and_then(|known| known.etag.clone());
        let hour = (self.now - start()).num_hours().unsigned_abs();
        let etag = format!("\"{number}-{}\"", hour / (1 + number % 40)).into_bytes();
        let stuck = number % 23 == 5;
        let (status, retry_after) = self.status(number, sent.is_some(), request.kind);
        let status = match status {
            200 if sent.as_ref() == Some(&etag) || (stuck && sent.is_some()) => 304,
            200 if request.kind == RequestKind::Delta
                && sent.is_some()
                && number.is_multiple_of(5) =>
            {
                226
            }
            status => status,
        };
        let body = match status {
            200 | 226 if self.dice.one_in(90) => {
                AnswerBody::Page { title: None, candidates: vec![], leads: PageLeads::default() }
            }
            200 | 226 => AnswerBody::Document(Box::new(document(number))),
            _ => AnswerBody::Unread,
        };
        let headers = AnswerHeaders {
            etag: (!number.is_multiple_of(9) && matches!(status, 200 | 226 | 304)).then_some(etag),
            cache_control: number
                .is_multiple_of(6)
                .then(|| format!("max-age={}", 600 * (1 + number % 30))),
            retry_after: retry_after.map(|seconds| seconds.to_string()),
            im: (status == 226).then(|| "feed".to_owned()),
            ..AnswerHeaders::default()
        };
        let answer = ServerAnswer { status, url, public: true, received: self.now, headers, body };
        (hops, Ok(answer))
    }

    fn status(&mut self, number: u64, conditional: bool, kind: RequestKind) -> (u16, Option<u64>) {
        match (number % 20, self.dice.roll() % 100) {
            (_, 0) => (429, Some(60 * (1 + self.dice.roll() % 300))),
            (_, 1) => (429, None),
            (_, 2) => (503, Some(60 * (1 + self.dice.roll() % 300))),
            (_, 3) => (500, None),
            (_, 4) if conditional => (412, None),
            (_, 5) => (421, None),
            (_, 6) if kind == RequestKind::Delta => (400, None),
            (_, 7) => (406, None),
            (_, 8) if number.is_multiple_of(3) => (410, None),
            (7, _) => (404, None),
            (8, _) => (401, None),
            (9, 0..50) => (403, None),
            _ => (200, None),
        }
    }
}

fn document(number: u64) -> FeedDocument {
    FeedDocument {
        kind: Kind::Atom,
        head: FeedHead { id: Some(format!("urn:{number}")), ..FeedHead::default() },
        hints: backissue_core::feed::Hints {
            ttl_minutes: number.is_multiple_of(2).then(|| 10 + u32::try_from(number).unwrap()),
            ..Default::default()
        },
        entries: vec![Entry { id: "e".into(), ..Entry::default() }],
        ..FeedDocument::default()
    }
}

#[expect(clippy::print_stdout, reason = "the figures are for information")]
#[test]
fn fourteen_simulated_days_are_polite_to_all() {
    for seed in [1] {
        let counts = Simulation::new(seed).run();
        println!(
            "seed {seed}: {} requests in {DAYS} days, {} conditional, {} unanswered, {} restarts; by status {:?}",
            counts.requests,
            counts.conditional,
            counts.unanswered,
            counts.restarts,
            counts.by_status
        );
        println!(
            "  inside a floor {}, two at once to a host {}, within a second {}, to a gone feed {}, \
             without a known validator {}, twice in one poll {}",
            counts.in_floor,
            counts.two_at_once,
            counts.too_close,
            counts.to_gone,
            counts.without_validator,
            counts.duplicates
        );
        let disregards = [
            counts.in_floor,
            counts.two_at_once,
            counts.too_close,
            counts.to_gone,
            counts.without_validator,
            counts.duplicates,
        ];
        assert_eq!(disregards, [0; 6], "seed {seed}");
        assert!(
            counts.requests > 20_000 && counts.restarts > 5,
            "seed {seed}: too little happened"
        );
        for status in [200, 226, 304, 400, 401, 403, 404, 406, 410, 412, 421, 429, 500, 503] {
            assert!(counts.by_status.contains_key(&status), "seed {seed}: never {status}");
        }
    }
}

//! Thirty days of three hundred feeds with all kinds of hints on a simulated clock: every poll happens as planned, and no feed is
//! polled more often than its publisher recommends.
//!
//! `cargo test --test it simulation -- --nocapture` prints, for each kind of feed, the polls per day beside the recommended
//! number.

use std::collections::BTreeMap;

use backissue::engine::feeds::setting_row::FeedSettings;
use backissue::engine::feeds::subscription::{SavedSubscription, SubscriptionRecord};
use backissue::engine::poll::fetch::{
    AnswerBody, AnswerHeaders, FetchFailure, Fetched, ServerAnswer,
};
use backissue::engine::request::{Effect, Input};
use backissue::engine::settings::Settings;
use backissue::engine::state::Engine;
use backissue::engine::update::update;
use backissue::io::http::read_body;
use backissue_core::history::{Counters, FeedKey};
use backissue_core::schedule::Pace;
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

use crate::feed_care::plans::{RULES, hinting};
use crate::support::store_port::{BareStore, polled_feed};
use crate::support::world::start;

const DAYS: i64 = 30;
const FEEDS: u32 = 300;
/// Hints with an interval of four hours that skip some morning hours and Sundays.
const WINDOWS: &str = "<ttl>240</ttl><skipHours><hour>6</hour><hour>7</hour><hour>8</hour></skipHours>\
    <skipDays><day>Sunday</day></skipDays>";
const SLOTS: &str = "<updatePeriod xmlns=\"http://purl.org/rss/1.0/modules/syndication/\">daily</updatePeriod>\
    <updateFrequency xmlns=\"http://purl.org/rss/1.0/modules/syndication/\">4</updateFrequency>";
const BASE: &str = "<updateBase xmlns=\"http://purl.org/rss/1.0/modules/syndication/\">2026-01-05T00:00:00Z</updateBase>";

/// Recommended polls per day under `RULES`. Thirty days from a Monday have 22 working days: nine hours with two polls each, and
/// one poll each morning that shortens the four-hour interval of the night; the other hours have a quarter of a poll.
const RULES_A_DAY: f64 = (22.0 * 19.0 + (720.0 - 22.0 * 9.0) / 4.0) / 30.0;

/// How a publisher answers requests.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Publisher {
    /// Every request succeeds.
    Well,
    /// Every request succeeds, with this `Cache-Control` header.
    Fresh(&'static str),
    /// Every fifth request is answered with this error status and `Retry-After` header.
    Refusing(u16, Option<&'static str>),
    /// No request is answered.
    Silent,
    /// The feed is gone (410) from the tenth request on.
    Ending,
}

/// A kind of feed: hints, publisher and user settings. `recommended` is the number of polls per day that follows from the hints,
/// the user's pace and the user's interval bounds, before server waits and skipped hours are applied.
struct Kind {
    name: &'static str,
    hints: String,
    publisher: Publisher,
    feed_settings: FeedSettings,
    recommended: f64,
    /// Whether the number of polls must equal `recommended`, not only stay below it.
    exact: bool,
}

fn kinds() -> Vec<Kind> {
    let kind = |name, hints: &str, publisher, feed_settings: FeedSettings, recommended, exact| {
        Kind { name, hints: hints.into(), publisher, feed_settings, recommended, exact }
    };
    let pace = |pace| FeedSettings { pace: Some(pace), ..FeedSettings::default() };
    let (none, rules) = (FeedSettings::default, RULES_A_DAY);
    let (well, slots) = (Publisher::Well, format!("{SLOTS}{BASE}"));
    let fixed = FeedSettings { fixed_minutes: Some(360), ..none() };
    let bounded = FeedSettings { min_minutes: Some(360), ..none() };
    vec![
        kind("no hint", "", well, none(), 24.0, true),
        kind("ttl 240", "<ttl>240</ttl>", well, none(), 6.0, true),
        kind("ttl 240, more often", "<ttl>240</ttl>", well, pace(Pace::More), 12.0, true),
        kind("ttl 240, less often", "<ttl>240</ttl>", well, pace(Pace::Less), 3.0, true),
        kind("ttl a week, held at a day", "<ttl>10080</ttl>", well, none(), 1.0, true),
        kind("ttl 60, held at 6 h", "<ttl>60</ttl>", well, bounded, 4.0, false),
        kind("fixed 6 h", "<ttl>30</ttl>", well, fixed, 4.0, true),
        kind("rules", RULES, well, none(), rules, false),
        kind("sy, four times a day", SLOTS, well, none(), 4.0, true),
        kind("sy with a base", &slots, well, none(), 4.0, true),
        kind("ttl 240 and windows", WINDOWS, well, none(), 6.0, false),
        kind(
            "ttl 60, fresh for 4 h",
            "<ttl>60</ttl>",
            Publisher::Fresh("max-age=14400"),
            none(),
            24.0,
            false,
        ),
        kind(
            "ttl 240, 503 at times",
            "<ttl>240</ttl>",
            Publisher::Refusing(503, Some("21600")),
            none(),
            6.0,
            false,
        ),
        kind(
            "ttl 240, 500 at times",
            "<ttl>240</ttl>",
            Publisher::Refusing(500, None),
            none(),
            6.0,
            false,
        ),
        kind("nobody there", "", Publisher::Silent, none(), 24.0, false),
        kind("gone after nine polls", "<ttl>60</ttl>", Publisher::Ending, none(), 24.0, false),
    ]
}

/// The running simulation: an engine, and a publisher for each feed.
struct Simulation {
    engine: Engine,
    now: DateTime<Utc>,
    kinds: Vec<Kind>,
    documents: Vec<AnswerBody>,
    /// The next poll time of each feed that was computed after its last poll.
    planned: BTreeMap<FeedKey, Option<DateTime<Utc>>>,
    polls: BTreeMap<FeedKey, Vec<DateTime<Utc>>>,
}

impl Simulation {
    fn new() -> Self {
        let kinds = kinds();
        let saved = (1..=FEEDS).map(|number| {
            let kind = &kinds[number as usize % kinds.len()];
            let record = SubscriptionRecord {
                url: format!("https://host{number}.example/feed"),
                feed_settings: kind.feed_settings.clone(),
                added: start(),
                ..SubscriptionRecord::default()
            };
            let (state, counters) = (Box::default(), Counters::default());
            SavedSubscription {
                key: FeedKey(number),
                record,
                state,
                counters,
                history: Default::default(),
            }
        });
        let mut settings = Settings::default();
        settings.poll.start_spread_seconds = 0;
        // This test covers hints stated by publishers; there is no store from which a rhythm could be learned.
        settings.poll.learn = false;
        let engine = Engine::new(settings, Tz::UTC, 7, saved.collect(), start());
        let document = |kind: &Kind| {
            let text = hinting(kind.name, &kind.hints);
            read_body(text.as_bytes(), "https://host.example/feed", None)
        };
        let documents = kinds.iter().map(document).collect();
        let planned = engine.feeds.iter().map(|(key, feed)| (*key, feed.plan.next_poll)).collect();
        Self { engine, now: start(), kinds, documents, planned, polls: BTreeMap::new() }
    }

    /// Runs the engine from one wake time to the next until `end`.
    fn run(&mut self, end: DateTime<Utc>) {
        self.tell(Input::Tick);
        while let Some(next) = self.engine.timetable.next().filter(|at| *at < end) {
            assert!(next > self.now, "the timetable contains a past deadline");
            self.now = next;
            self.tell(Input::Tick);
        }
    }

    fn tell(&mut self, input: Input) {
        let mut waiting = vec![input];
        while let Some(input) = waiting.pop() {
            for effect in update(&mut self.engine, self.now, input).effects {
                waiting.extend(self.answer(effect));
            }
        }
    }

    fn answer(&mut self, effect: Effect) -> Option<Input> {
        match effect {
            Effect::Fetch(request) => {
                let number = request.url.trim_start_matches("https://host").split('.').next();
                let feed = FeedKey(number.and_then(|number| number.parse().ok()).unwrap());
                assert_eq!(
                    self.planned[&feed],
                    Some(self.now),
                    "feed {feed}, {}",
                    self.kind(feed).name
                );
                self.polls.entry(feed).or_default().push(self.now);
                let result = self.result(feed, request.url);
                let fetched = Fetched {
                    started: self.now,
                    wire_bytes: 0,
                    hops: Vec::new(),
                    conditional: false,
                    result,
                };
                Some(Input::Fetched(request.id, Box::new(fetched)))
            }
            Effect::Store(work) => {
                let feed = polled_feed(&work)?;
                let stored = BareStore::default().perform(*work)?;
                let effects = update(&mut self.engine, self.now, stored).effects;
                assert!(effects.is_empty(), "{effects:?}");
                let plan = self.engine.feeds[&feed].plan;
                self.planned.insert(feed, plan.next_poll);
                assert!(plan.next_poll != Some(self.now), "not due again at once: {plan:?}");
                None
            }
            _ => None,
        }
    }

    fn kind(&self, feed: FeedKey) -> &Kind {
        &self.kinds[feed.0 as usize % self.kinds.len()]
    }

    fn result(&self, feed: FeedKey, url: String) -> Result<ServerAnswer, FetchFailure> {
        let asked = self.polls[&feed].len();
        let publisher = self.kind(feed).publisher;
        let (status, cache_control, retry_after) = match publisher {
            Publisher::Fresh(words) => (200, Some(words.to_owned()), None),
            Publisher::Refusing(status, wait) if asked.is_multiple_of(5) => {
                (status, None, wait.map(str::to_owned))
            }
            Publisher::Well | Publisher::Refusing(..) => (200, None, None),
            Publisher::Silent => return Err(FetchFailure::Connect("the host (refused)".into())),
            Publisher::Ending => (if asked >= 10 { 410 } else { 200 }, None, None),
        };
        let body = if status == 200 {
            self.documents[feed.0 as usize % self.kinds.len()].clone()
        } else {
            AnswerBody::Unread
        };
        let headers = AnswerHeaders { cache_control, retry_after, ..AnswerHeaders::default() };
        Ok(ServerAnswer { status, url, public: true, received: self.now, headers, body })
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "a table for a manual run")]
fn thirty_days_of_three_hundred_feeds_are_polled_as_planned() {
    let mut simulation = Simulation::new();
    simulation.run(start() + TimeDelta::days(DAYS));
    println!("{:28} {:>5} {:>10} {:>12}", "kind", "feeds", "polls/day", "recommended");
    for (place, kind) in simulation.kinds.iter().enumerate() {
        let of_kind = |feed: &FeedKey| feed.0 as usize % simulation.kinds.len() == place;
        let counts: Vec<usize> = simulation
            .polls
            .iter()
            .filter(|(feed, _)| of_kind(feed))
            .map(|(_, polls)| polls.len())
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "a few thousand polls")]
        let a_day = counts.iter().sum::<usize>() as f64 / counts.len() as f64 / DAYS as f64;
        let (name, recommended) = (kind.name, kind.recommended);
        println!("{name:28} {:>5} {a_day:>10.2} {recommended:>12.2}", counts.len());
        assert!(!counts.is_empty(), "{name}");
        // The first poll after subscribing comes on top of the recommended number.
        assert!(a_day <= recommended * 1.03 + 0.04, "{name}: {a_day} polls a day");
        assert!(!kind.exact || a_day >= recommended * 0.97, "{name}: {a_day} polls a day");
    }
    spared(&simulation);
}

/// Checks that skipped hours, cache lifetimes, requested pauses and ended feeds were respected.
fn spared(simulation: &Simulation) {
    use chrono::{Datelike, Timelike, Weekday};
    for (feed, polls) in &simulation.polls {
        let kind = simulation.kind(*feed);
        // The hints are not yet known at the first poll.
        let later = polls.iter().skip(1);
        if kind.hints == WINDOWS {
            let skipped =
                |at: &DateTime<Utc>| (6..=8).contains(&at.hour()) || at.weekday() == Weekday::Sun;
            assert!(!later.clone().any(skipped), "feed {feed}");
        }
        let least = match kind.publisher {
            Publisher::Fresh(_) => TimeDelta::hours(4),
            Publisher::Well | Publisher::Refusing(..) | Publisher::Silent | Publisher::Ending => {
                TimeDelta::minutes(15)
            }
        };
        assert!(polls.windows(2).all(|pair| pair[1] - pair[0] >= least), "feed {feed}");
        if kind.publisher == Publisher::Ending {
            assert_eq!(polls.len(), 10, "feed {feed}: never again after the 410");
        }
        for (place, at) in polls.iter().enumerate() {
            let refused = kind.publisher == Publisher::Refusing(503, Some("21600"));
            if refused && (place + 1).is_multiple_of(5) && place + 1 < polls.len() {
                assert!(polls[place + 1] - *at >= TimeDelta::hours(6), "feed {feed}");
            }
        }
    }
}

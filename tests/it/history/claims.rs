//! What the program says about a feed's history agrees with what was published and served, whatever the publisher does (SPEC C.8).

use std::collections::{BTreeMap, BTreeSet};

use backissue::engine::request::Request;
use backissue_core::history::{Gap, HistoryStatus};
use chrono::{DateTime, TimeDelta, Utc};
use proptest::prelude::*;

use super::journeys::{FEED, subscribe};
use crate::support::world::{Scripted, World, start};

const HOME: &str = "https://press.example/feed";
const SECOND: &str = "https://new.example/feed";
const STRANGER: &str = "https://stranger.example/feed";
/// Number of entries in a full archive.
const PER_ARCHIVE: usize = 4;

/// The way a publisher offers its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The subscription document contains all entries and is marked as complete.
    Complete,
    /// RFC 5005 archives contain the entries that are no longer in the subscription document and `overlap` entries that still are.
    /// The newest archive gets further entries at the same address if `grows`; otherwise it is filled with newer entries at once.
    Archived { overlap: usize, grows: bool },
    /// Archives that are filled at once, linked by `previous` as in draft -05.
    ByPrevious,
    /// A paged feed, whose further pages do not exist.
    Paged,
}

/// What the publisher or the user does between two polls.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// Publishes this number of entries; entries that leave the subscription document are archived at once.
    Publish(usize),
    /// Publishes this number of entries without updating the archives.
    PublishLate(usize),
    /// Changes the number of entries in the subscription document.
    Resize(usize),
    /// Answers requests for one of the archives with an error status.
    Refuse(usize, u16),
    /// Makes all archives available again.
    Heal,
    /// Redirects the feed's address, with this status, to another publisher's complete feed.
    LeadAway(u16),
    /// Serves the feed at another host, and redirects the feed's address to it with this status.
    Move(u16),
    /// Serves the feed at its original address again.
    ComeHome,
    /// The user lets the archive walk continue.
    GoOn,
}

/// A publisher whose entries are all available in its documents, unless an act makes some of them unavailable.
#[derive(Debug, Clone)]
struct Publisher {
    form: Form,
    window: usize,
    /// Number of published entries; entry 1 is the oldest.
    published: usize,
    /// Number of entries in the archives: entry 1 up to this one.
    archived: usize,
    refused: BTreeMap<usize, u16>,
    led: Option<(u16, &'static str)>,
    /// Whether the feed is also served at the address `SECOND`.
    has_moved: bool,
}

impl Publisher {
    fn new(form: Form, window: usize, published: usize) -> Self {
        let refused = BTreeMap::new();
        let mut this =
            Self { form, window, published, archived: 0, refused, led: None, has_moved: false };
        this.bring_up_to_date();
        this
    }

    fn first_in_window(&self) -> usize {
        match self.form {
            Form::Complete => 1,
            _ => self.published.saturating_sub(self.window) + 1,
        }
    }

    fn bring_up_to_date(&mut self) {
        let left = self.first_in_window() - 1;
        let archived = match self.form {
            Form::Complete | Form::Paged => 0,
            Form::Archived { overlap, grows: true } => left + overlap,
            Form::Archived { overlap, grows: false } => {
                (left + overlap).div_ceil(PER_ARCHIVE) * PER_ARCHIVE
            }
            Form::ByPrevious => left.div_ceil(PER_ARCHIVE) * PER_ARCHIVE,
        };
        self.archived = self.archived.max(archived.min(self.published));
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Publish(count) => {
                self.published += count;
                self.bring_up_to_date();
            }
            Act::PublishLate(count) => self.published += count,
            Act::Resize(window) => {
                self.window = window;
                self.bring_up_to_date();
            }
            Act::Refuse(archive, status) => {
                self.refused.insert(1 + archive % self.archives().max(1), status);
            }
            Act::Heal => self.refused.clear(),
            Act::LeadAway(status) => self.led = Some((status, STRANGER)),
            Act::Move(status) => (self.led, self.has_moved) = (Some((status, SECOND)), true),
            Act::ComeHome => self.led = None,
            Act::GoOn => {}
        }
    }

    fn is_whole(&self) -> bool {
        self.form == Form::Complete || self.archived + 1 >= self.first_in_window()
    }

    fn is_led_away(&self) -> bool {
        self.led.is_some_and(|(_, to)| to == STRANGER)
    }

    fn archives(&self) -> usize {
        self.archived.div_ceil(PER_ARCHIVE)
    }

    fn archive_url(archive: usize) -> String {
        format!("https://press.example/archive/{archive}")
    }

    /// Returns what the server answers at each address now.
    fn network(&self) -> BTreeMap<String, Served> {
        let mut network = BTreeMap::new();
        let current = self.current();
        let home = match self.led {
            None => current.clone(),
            Some((status, to)) => Served { leads: Some((status, to)), ..Served::default() },
        };
        network.insert(HOME.to_owned(), home);
        if self.has_moved {
            network.insert(SECOND.to_owned(), current);
        }
        let foreign = Served::of(1_000..=1_099, "<fh:complete/>", None, "urn:stranger");
        network.insert(STRANGER.to_owned(), foreign);
        for archive in 1..=self.archives() {
            let served = match self.refused.get(&archive) {
                Some(status) => Served { status: *status, ..Served::default() },
                None => self.archive(archive),
            };
            network.insert(Self::archive_url(archive), served);
        }
        network
    }

    fn current(&self) -> Served {
        let entries = self.first_in_window()..=self.published;
        let newest = (self.archives() > 0).then(|| Self::archive_url(self.archives()));
        match self.form {
            Form::Complete => Served::of(entries, "<fh:complete/>", None, "urn:press"),
            Form::Archived { .. } => {
                Served::of(entries, "", Some(("prev-archive", newest)), "urn:press")
            }
            Form::ByPrevious => Served::of(entries, "", Some(("previous", newest)), "urn:press"),
            Form::Paged => {
                let next = Some("https://press.example/2".to_owned());
                Served::of(entries, "", Some(("next", next)), "urn:press")
            }
        }
    }

    fn archive(&self, archive: usize) -> Served {
        let last = (archive * PER_ARCHIVE).min(self.archived);
        let entries = (archive - 1) * PER_ARCHIVE + 1..=last;
        let older = (archive > 1).then(|| Self::archive_url(archive - 1));
        if self.form == Form::ByPrevious {
            return Served::of(entries, "", Some(("previous", older)), "urn:press");
        }
        let marks = format!("<fh:archive/><link rel='current' href='{HOME}'/>");
        Served::of(entries, &marks, Some(("prev-archive", older)), "urn:press")
    }
}

/// What the server answers at an address: a redirect, an error status or a document.
#[derive(Debug, Clone, Default)]
struct Served {
    status: u16,
    leads: Option<(u16, &'static str)>,
    body: String,
    /// Address of the older document to which this document links.
    older: Option<String>,
    /// Dates of the oldest and the newest entry in this document.
    dates: Option<(DateTime<Utc>, DateTime<Utc>)>,
}

impl Served {
    /// Returns an Atom document with the entries of this range, newest first, and a link to an older document.
    fn of(
        entries: std::ops::RangeInclusive<usize>,
        marks: &str,
        older: Option<(&str, Option<String>)>,
        id: &str,
    ) -> Self {
        let (rel, older) = older.unwrap_or_default();
        let link = older.as_ref().map(|url| format!("<link rel='{rel}' href='{url}'/>"));
        let (oldest, newest) = (*entries.start(), *entries.end());
        let dates = (oldest <= newest).then(|| (date(oldest), date(newest)));
        let entry = |number: usize| {
            let date = date(number).to_rfc3339();
            format!(
                "<entry><id>urn:{number}</id><title>E {number}</title><updated>{date}</updated></entry>"
            )
        };
        let entries: String = entries.rev().map(entry).collect();
        let body = format!(
            "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0'>\
             <id>{id}</id><title>Press</title>{marks}{}{entries}</feed>",
            link.unwrap_or_default(),
        );
        Self { status: 200, leads: None, body, older, dates }
    }
}

/// Returns the date of an entry; consecutive entries are two days apart.
fn date(number: usize) -> DateTime<Utc> {
    start() - TimeDelta::days(400) + TimeDelta::days(2 * i64::try_from(number).unwrap())
}

/// What the server has sent, for comparison with the program's claims.
#[derive(Default)]
struct Log {
    /// Status of the last response for each address.
    statuses: BTreeMap<String, u16>,
    /// Addresses of the archives that were sent with status 200.
    sent: BTreeSet<String>,
    /// For each linked address, the dates of the oldest entries in the sent documents that link to it.
    linked: BTreeMap<String, BTreeSet<String>>,
    oldest: BTreeSet<String>,
    newest: BTreeSet<String>,
}

fn day(date: DateTime<Utc>) -> String {
    date.format("%Y-%m-%d").to_string()
}

impl Log {
    fn note(&mut self, url: &str, network: &BTreeMap<String, Served>) {
        let Some(served) = network.get(url) else {
            self.statuses.insert(url.to_owned(), 404);
            return;
        };
        if let Some((_, to)) = served.leads {
            return self.note(to, network);
        }
        self.statuses.insert(url.to_owned(), served.status);
        if let (200, Some((oldest, newest))) = (served.status, served.dates) {
            self.oldest.insert(day(oldest));
            self.newest.insert(day(newest));
            let linked = served.older.as_ref().map(|older| self.linked.entry(older.clone()));
            linked.map(|dates| dates.or_default().insert(day(oldest)));
            if url.contains("/archive/") {
                self.sent.insert(url.to_owned());
            }
        }
    }

    /// Checks every status, number and date in the text of a gap against the log.
    fn check(&self, gap: &Gap) -> Result<(), TestCaseError> {
        let text = gap.text();
        let url = &gap.edge.url;
        if let Some(rest) = text.strip_prefix("entries before ") {
            let (date, why) = rest.split_once(" missing: ").unwrap();
            // The date may come from a document with a link to any address: if documents overlap, the gap is below all of them,
            // even if the later one links elsewhere.
            let stated = self.linked.values().flatten().any(|stated| stated == date);
            prop_assert!(stated, "{text}: {:?}", self.linked);
            if let Some(status) = why.strip_prefix(&format!("archive {url} answered ")) {
                prop_assert_eq!(
                    self.statuses.get(url).map(u16::to_string).unwrap_or_default(),
                    status
                );
            }
        }
        if let Some(rest) = text.strip_prefix("entries may have been missed between ") {
            let (from, until) = rest.split_once(" and ").unwrap();
            prop_assert!(self.newest.contains(from) && self.oldest.contains(until), "{}", text);
        }
        if let Some(rest) = text.strip_prefix("older archives exist (") {
            let fetched: usize = rest.split(' ').next().unwrap().parse().unwrap();
            prop_assert!(fetched <= self.sent.len(), "{}: {:?}", text, self.sent);
        }
        Ok(())
    }
}

fn forms() -> impl Strategy<Value = Form> {
    prop_oneof![
        1 => Just(Form::Complete),
        6 => (0..9_usize, any::<bool>()).prop_map(|(overlap, grows)| Form::Archived { overlap, grows }),
        2 => Just(Form::ByPrevious),
        1 => Just(Form::Paged),
    ]
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let archive = (0..8_usize, prop_oneof![Just(404_u16), Just(403), Just(410), Just(500)]);
    let redirect = prop_oneof![Just(301_u16), Just(302), Just(307), Just(308)];
    let act = prop_oneof![
        5 => (0..16_usize).prop_map(Act::Publish),
        4 => (0..16_usize).prop_map(Act::PublishLate),
        1 => (3..9_usize).prop_map(Act::Resize),
        3 => archive.prop_map(|(archive, status)| Act::Refuse(archive, status)),
        2 => Just(Act::Heal),
        1 => redirect.clone().prop_map(Act::LeadAway),
        1 => redirect.prop_map(Act::Move),
        2 => Just(Act::ComeHome),
        3 => Just(Act::GoOn),
    ];
    proptest::collection::vec(act, 1..12)
}

/// Subscribes, performs the acts, and checks the program's claims after each act.
fn live(mut publisher: Publisher, acts: &[Act]) -> Result<(), TestCaseError> {
    let mut world = World::new(80, 24);
    let mut log = Log::default();
    let mut noted = 0;
    // Numbers of the newest archive at polls at which the archives and the subscription document together contained all entries. If
    // there was no such poll, a feed reader cannot know that its history has a gap.
    let mut sound = BTreeSet::new();
    for (number, act) in std::iter::once(&Act::Publish(0)).chain(acts).enumerate() {
        publisher.act(*act);
        let network = publisher.network();
        world.network = network
            .iter()
            .map(|(url, served)| {
                let leads = served.leads.map(|(status, to)| (status, to.to_owned()));
                let (status, body) = (served.status, served.body.clone());
                (url.clone(), Scripted { status, body, leads, ..Scripted::default() })
            })
            .collect();
        if number == 0 {
            subscribe(&mut world, HOME);
        } else if matches!(act, Act::GoOn) {
            world.tell(Request::MoreHistory(FEED, None));
        } else {
            world.pass(TimeDelta::hours(25));
            world.poll(FEED);
        }
        world.rest();
        for url in &world.asked()[noted..] {
            log.note(url, &network);
            let is_read = matches!(*url, HOME | SECOND) && !publisher.is_led_away();
            sound.extend((is_read && publisher.is_whole()).then(|| publisher.archives()));
        }
        noted = world.asked().len();
        let feed = world.feed(1);
        let said = feed.history.status();
        let total = usize::try_from(feed.counters.total).unwrap();
        let whole = total == publisher.published;
        if matches!(said, HistoryStatus::Complete(_)) && sound.contains(&publisher.archives()) {
            prop_assert!(
                whole,
                "step {number}, {:?}: {} of {} entries are here",
                act,
                total,
                publisher.published
            );
        }
        prop_assert!(total <= publisher.published, "a stranger's entries are here");
        if let HistoryStatus::Partial { archives, .. } = said {
            prop_assert_eq!(archives as usize, log.sent.len(), "step {}: {}", number, said.text());
        }
        let gaps: Vec<&Gap> = feed.history.gaps.values().collect();
        if let HistoryStatus::CompleteExcept(missing) = said {
            prop_assert_eq!(missing, gaps.iter().filter(|gap| gap.counts()).count());
        }
        for gap in gaps {
            log.check(gap)?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn claimed_history_agrees_with_the_publisher(
        form in forms(),
        window in 3..9_usize,
        published in 1..24_usize,
        acts in acts(),
    ) {
        live(Publisher::new(form, window, published), &acts)?;
    }
}

#[test]
fn newest_archive_that_grew_is_read_again() {
    let publisher = Publisher::new(Form::Archived { overlap: 4, grows: false }, 3, 3);
    let acts = [
        Act::Publish(12),
        Act::LeadAway(301),
        Act::Publish(2),
        Act::PublishLate(7),
        Act::Move(301),
        Act::Resize(3),
    ];
    live(publisher, &acts).unwrap();
}

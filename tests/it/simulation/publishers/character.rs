//! Creates the publishers of a seed: format, validators, caching, hints, entries, moves and faults of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use chrono::{DateTime, TimeDelta, Utc};

use super::{Caching, Dates, Episode, Fault, FaultKind, Form, Item, Move, Offer, Publisher, Tags};
use crate::support::dice::Dice;

const SY: &str = "http://purl.org/rss/1.0/modules/syndication/";
const RULE: &str = "tag:backissue.example,2026:schedule";

impl Publisher {
    /// Creates publisher `number` of a seed for a scenario of this number of days. Only faults of these kinds occur.
    pub fn new(
        seed: u64,
        number: u64,
        start: DateTime<Utc>,
        days: i64,
        kinds: &BTreeSet<FaultKind>,
    ) -> Self {
        let dice = |stream| Dice::of(seed, stream, number);
        let mut character = dice("character");
        let form = *character.pick(&[Form::Rss, Form::Rss, Form::Atom, Form::Rdf, Form::Json]);
        let offer = offer(&mut character);
        let window = match offer {
            Offer::Complete => character.between(3, 12),
            Offer::Nothing | Offer::Archives { .. } | Offer::Pages => character.between(2, 20),
        };
        let liars = kinds.contains(&FaultKind::Liars);
        let tags = tags(&mut character, liars);
        let caching = caching(&mut character);
        let dates =
            *character.pick(&[Dates::Published, Dates::WithUpdates, Dates::None, Dates::Future]);
        let deltas = character.one_in(4);
        // Two of three publishers have a host of their own; the others share host 0.
        let host = if character.one_in(3) { 0 } else { number + 1 };
        let moves = if kinds.contains(&FaultKind::Moves) {
            moves(&mut dice("moves"), start, days)
        } else {
            Vec::new()
        };
        let mut episodes = episodes(&mut dice("episodes"), start, days);
        episodes.retain(|episode| kinds.contains(&episode.fault.kind()));
        let mut hints = vec![(start - TimeDelta::days(365), hints(&mut dice("hints"), form))];
        let mut later = dice("later hints");
        if later.one_in(3) {
            let at = start + TimeDelta::hours(later.between(1, days * 24));
            hints.push((at, self::hints(&mut later, form)));
        }
        let lost = kinds.contains(&FaultKind::LostArchives);
        let items = items(&mut dice("items"), start, days, liars);
        Self {
            number,
            seed,
            host: format!("host{host}.example"),
            form,
            offer,
            tags,
            caching,
            hints,
            items,
            window: usize::try_from(window).unwrap(),
            dates,
            deltas,
            episodes,
            lost_archives: if lost {
                lost_archives(&mut dice("lost"), start, days)
            } else {
                BTreeMap::new()
            },
            moves,
            read: None,
        }
    }
}

fn offer(dice: &mut Dice) -> Offer {
    match dice.roll(8) {
        0 => Offer::Complete,
        1 => Offer::Pages,
        2..=5 => Offer::Archives {
            entries: usize::try_from(dice.between(2, 12)).unwrap(),
            churns: dice.one_in(4),
        },
        _ => Offer::Nothing,
    }
}

fn tags(dice: &mut Dice, liars: bool) -> Tags {
    match dice.roll(12) {
        0 => Tags::None,
        1 => Tags::Date,
        2..=3 => Tags::Etag,
        4 if liars => Tags::Deaf,
        5 if liars => Tags::Stuck,
        6 if liars => Tags::Restless,
        7 if liars => Tags::Unasked,
        _ => Tags::Both,
    }
}

fn caching(dice: &mut Dice) -> Caching {
    match dice.roll(9) {
        0 => Caching::MaxAge(dice.between(1, 300) * 60),
        1 => Caching::MaxAge(dice.between(1, 300) * 3600),
        2 => Caching::MaxAge(31_536_000),
        3 => Caching::Expires(dice.between(-60, 600) * 60),
        4 => Caching::NoCache,
        5 => Caching::Aged(dice.between(1, 50) * 600, dice.between(0, 50) * 300),
        6 => Caching::Nonsense,
        _ => Caching::Nothing,
    }
}

/// Generates the markup of publisher hints of all kinds, some of them invalid; each publisher has only a few.
fn hints(dice: &mut Dice, form: Form) -> String {
    let mut text = String::new();
    let mut put = |markup: String| text.push_str(&markup);
    if form == Form::Json {
        return text;
    }
    if dice.one_in(3) {
        put(format!("<ttl>{}</ttl>", dice.pick(&["30", " 60\n", "120", "240", "1440", "0", "5"])));
    }
    if dice.one_in(4) {
        let hours: String =
            (0..dice.between(1, 9)).map(|_| format!("<hour>{}</hour>", dice.roll(25))).collect();
        put(format!("<skipHours>{hours}</skipHours>"));
    }
    if dice.one_in(5) {
        let day = dice.pick(&["Sunday", "saturday", "Mon", "Funday"]);
        put(format!("<skipDays><day>{day}</day></skipDays>"));
    }
    if dice.one_in(4) {
        let period = dice.pick(&["hourly", "daily", " weekly ", "monthly", "yearly", "often"]);
        let frequency = dice.pick(&["1", "2", "4", "24", "0", "-3"]);
        put(format!("<updatePeriod xmlns=\"{SY}\">{period}</updatePeriod>"));
        put(format!("<updateFrequency xmlns=\"{SY}\">{frequency}</updateFrequency>"));
        if dice.one_in(2) {
            let base = dice.pick(&["2000-01-01T12:00+00:00", "2030-06-01T07:20Z", "2026-03", "x"]);
            put(format!("<updateBase xmlns=\"{SY}\">{base}</updateBase>"));
        }
    }
    if dice.one_in(3) {
        put(rules(dice));
    }
    if form == Form::Atom && dice.one_in(3) {
        let rate = dice.pick(&["900000", "3600000", "900", "soon"]);
        put(format!("<refreshRate>{rate}</refreshRate>"));
    }
    if dice.one_in(6) {
        put("<generator>WordPress</generator>".to_owned());
    }
    text
}

/// Generates interval rules by hour and day (SPEC A.5), in several time zones.
fn rules(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..dice.between(1, 4) {
        let minutes = dice.pick(&["30", "60", "240", "600", "1440", "0", "x"]);
        write!(text, "<interval xmlns=\"{RULE}\"").unwrap();
        if dice.one_in(2) {
            let (first, last) = (dice.roll(25), dice.roll(25));
            write!(text, " starthour=\"{first}\" endhour=\"{last}\"").unwrap();
        }
        if dice.one_in(2) {
            write!(text, " startday=\"{}\" endday=\"{}\"", dice.roll(8), dice.roll(9)).unwrap();
        }
        if dice.one_in(2) {
            let zone = dice.pick(&["+05:30", "-11:00", "Europe/Berlin", "America/New_York", "no"]);
            write!(text, " tz=\"{zone}\"").unwrap();
        }
        write!(text, ">{minutes}</interval>").unwrap();
    }
    text
}

/// Generates the entries of a publisher, dated from a few months before the scenario to its end. `liars`: some entries change or
/// vanish later.
fn items(dice: &mut Dice, start: DateTime<Utc>, days: i64, liars: bool) -> Vec<Item> {
    let before = dice.between(0, 70);
    let mut at = start - TimeDelta::days(before) - TimeDelta::hours(1);
    let hours = dice.between(2, 60);
    let mut items = Vec::new();
    let end = start + TimeDelta::days(days);
    while at < end && items.len() < 400 {
        let later = |dice: &mut Dice| at + TimeDelta::hours(dice.between(1, 24 * 12));
        let edited = dice.one_in(8).then(|| later(dice));
        let vanishes = (liars && dice.one_in(12)).then(|| later(dice));
        items.push(Item { at, edited, vanishes });
        // Occasionally many entries are published within minutes, as after a holiday.
        let flood = dice.one_in(30);
        at += TimeDelta::minutes(if flood { 1 } else { dice.between(1, hours * 120) });
    }
    items
}

fn moves(dice: &mut Dice, start: DateTime<Utc>, days: i64) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut at = start;
    while dice.one_in(4) {
        at += TimeDelta::hours(dice.between(5, (days * 24 / 2).max(6)));
        let status = *dice.pick(&[301, 308, 301]);
        let until = at + TimeDelta::days(dice.between(1, 30));
        moves.push(Move { at, status, until, abroad: dice.one_in(4) });
    }
    moves
}

fn episodes(dice: &mut Dice, start: DateTime<Utc>, days: i64) -> Vec<Episode> {
    let mut episodes = Vec::new();
    let mut at = start + TimeDelta::hours(dice.between(0, 60));
    while at < start + TimeDelta::days(days) {
        let fault = fault(dice);
        let hours = match fault {
            Fault::OtherIds => 24 * 1000,
            _ if dice.one_in(12) => dice.between(100, 24 * 40),
            _ => dice.between(1, 30),
        };
        let until = at + TimeDelta::hours(hours);
        episodes.push(Episode { from: at, until, fault });
        at += TimeDelta::hours(hours.min(60) + dice.between(1, 24 * 7));
    }
    episodes
}

fn fault(dice: &mut Dice) -> Fault {
    let wait = match dice.roll(3) {
        0 => None,
        1 => Some(dice.between(1, 100) * 60),
        _ => Some(dice.between(1, 100) * 3600),
    };
    match dice.roll(30) {
        0..=2 => Fault::Status(429, wait),
        3..=5 => Fault::Status(503, wait),
        6 => Fault::Status(500, None),
        7..=8 => Fault::Status(404, None),
        9 => Fault::Status(410, None),
        10 => Fault::Status(*dice.pick(&[401, 402, 403, 451, 407]), wait),
        11 => Fault::Status(*dice.pick(&[400, 405, 406, 414, 415, 431]), None),
        12 => Fault::Status(*dice.pick(&[412, 416, 421]), None),
        13 => Fault::Status(*dice.pick(&[204, 206, 300, 408, 425, 511, 502]), wait),
        14 => Fault::Name,
        15 => Fault::Refused,
        16..=17 => Fault::Silence,
        18..=19 => Fault::Slow,
        20 => Fault::Cut,
        21 => Fault::TooLarge,
        22..=23 => Fault::Nonsense,
        24 => Fault::Page,
        25 => Fault::Empty,
        26 => Fault::NoEntries,
        27..=28 => Fault::Elsewhere,
        _ => Fault::OtherIds,
    }
}

fn lost_archives(
    dice: &mut Dice,
    start: DateTime<Utc>,
    days: i64,
) -> BTreeMap<usize, (Option<DateTime<Utc>>, Fault)> {
    let mut lost = BTreeMap::new();
    for archive in 0..100 {
        if !dice.one_in(12) {
            continue;
        }
        let until = dice.one_in(2).then(|| start + TimeDelta::hours(dice.between(1, days * 24)));
        let fault = match dice.roll(7) {
            0 => Fault::Status(403, None),
            1 => Fault::Status(404, None),
            2 => Fault::Status(410, None),
            3 => Fault::Status(503, Some(dice.between(60, 90_000))),
            4 => Fault::Silence,
            5 => Fault::Cut,
            _ => Fault::Nonsense,
        };
        lost.insert(archive, (until, fault));
    }
    lost
}

//! Recomputes each number and time that `plan`, `history`, `lint` and `doctor` print; a number that no rule covers is an error.

mod publisher;

use std::collections::BTreeMap;

use backissue::io::clock;
use chrono::{DateTime, Datelike, NaiveDateTime, TimeDelta, Utc};
use regex::{Captures, Regex};

use self::publisher::Publisher;
use crate::support::binary::Program;
use crate::support::dice::Dice;
use crate::support::site::{Site, answer};

/// Parses an interval such as `1 d 2 h 3 min 4 s` into seconds.
fn seconds(words: &str) -> i64 {
    let parts: Vec<&str> = words.trim().split(' ').collect();
    let part = |pair: &[&str]| {
        let unit = match pair[1].trim_end_matches(',') {
            "d" => 86_400,
            "h" => 3600,
            "min" => 60,
            "s" => 1,
            other => panic!("no unit: {other} in {words}"),
        };
        pair[0].parse::<i64>().unwrap() * unit
    };
    parts.chunks(2).map(part).sum()
}

/// Parses a time such as `Wed 25 Nov 13:48:17`; the weekday decides whether it is in this year or the next.
fn instant(words: &str) -> DateTime<Utc> {
    let this = clock::now().year();
    let mut years = [this, this + 1].into_iter().map(|year| format!("{year} {words}"));
    let time = |text: String| NaiveDateTime::parse_from_str(&text, "%Y %a %e %b %H:%M:%S").ok();
    years.find_map(time).unwrap_or_else(|| panic!("no time: {words}")).and_utc()
}

fn near(told: i64, is: i64, apart: i64) -> bool {
    (told - is).abs() <= apart
}

/// What the rules know when they check a line.
struct Facts<'a> {
    publisher: &'a Publisher,
    /// Times just before and just after the poll.
    polled: (DateTime<Utc>, DateTime<Utc>),
    /// Values that rules noted from earlier lines, by name: Unix times, intervals, and counts of lines.
    noted: BTreeMap<&'static str, i64>,
}

/// A function that checks whether the numbers in a line are right.
type Holds = fn(&Captures<'_>, &mut Facts<'_>) -> bool;

/// A regular expression for a line, and the check of its numbers.
type Rule = (&'static str, Holds);

const SPAN: &str = r"((?:\d+ (?:d|h|min|s)\b ?)+)";
const AT: &str = r"(\w{3} +\d+ \w{3} \d\d:\d\d:\d\d)";

fn number(found: &Captures<'_>, group: usize) -> i64 {
    found[group].parse().unwrap()
}

/// Checks whether the feed was polled at the time `told`, to the second.
fn is_logged(told: DateTime<Utc>, facts: &Facts<'_>) -> bool {
    let (before, after) = facts.polled;
    before - TimeDelta::seconds(1) <= told && told <= after
}

/// Rules for the lines that `plan` prints.
#[expect(clippy::too_many_lines, reason = "a table")]
fn plan_rules() -> Vec<Rule> {
    vec![
        (r"^(?:Feed \d+|http://\S+)$", |_, _| true),
        (r"^Next poll in (\d+) minutes?, because", |found, facts| {
            facts.noted.insert("in", number(found, 1));
            true
        }),
        (
            r"^Next poll (?:around|tomorrow around|today around) (\d\d):(\d\d), because",
            |found, facts| {
                facts.noted.insert("around", number(found, 1) * 60 + number(found, 2));
                true
            },
        ),
        (r"^Next poll on [\w ]+ around (\d\d):(\d\d), because", |found, facts| {
            facts.noted.insert("around", number(found, 1) * 60 + number(found, 2));
            true
        }),
        (r"^  recommended +SPAN: the publisher's ttl of SPAN$", |found, facts| {
            let ttl = facts.publisher.ttl_minutes.unwrap() * 60;
            facts.noted.insert("interval", ttl);
            (seconds(&found[1]), seconds(&found[2])) == (ttl, ttl)
        }),
        (
            r"^  recommended +SPAN: the publisher updates (.+): every SPAN(?:\(it overrides ttl SPAN\))?$",
            |found, facts| {
                let told = seconds(&found[1]);
                facts.noted.insert("interval", told);
                let times = facts.publisher.times_a_day.unwrap();
                let stated = match &found[2] {
                    "once a day" => 1,
                    "twice a day" => 2,
                    other => other.split(' ').next().unwrap().parse().unwrap(),
                };
                let ttl = found.get(4).map(|span| seconds(span.as_str()) / 60);
                ttl == facts.publisher.ttl_minutes
                    && stated == times
                    && seconds(&found[3]) == told
                    && near(told, 86_400 / times, 1)
            },
        ),
        (
            r"^  recommended +SPAN: no interval is stated or known, so the default of 1 h$",
            |found, facts| {
                facts.noted.insert("interval", 3600);
                facts.publisher.stated_interval().is_none() && seconds(&found[1]) == 3600
            },
        ),
        (
            r"^  recommended +SPAN: learned from (?:how often it posts|when it posts)$",
            |found, facts| {
                let told = seconds(&found[1]);
                facts.noted.insert("interval", told);
                facts.publisher.stated_interval().is_none() && (900..=86_400).contains(&told)
            },
        ),
        (r"^  next update +AT → AT: SPAN after the last poll$", |found, facts| {
            let (from, to) = (instant(&found[1]), instant(&found[2]));
            let span = seconds(&found[3]);
            facts.noted.insert("next", to.timestamp());
            is_logged(from, facts)
                && (to - from).num_seconds() == span
                && facts.noted.get("interval") == Some(&span)
        }),
        (r"^  spread +AT: no shift this time \(at most SPAN\)$", |found, facts| {
            facts.noted.get("next") == Some(&instant(&found[1]).timestamp())
        }),
        (
            r"^  next update +AT → AT: the next poll of the learned plan, SPAN after the last one$",
            |found, facts| {
                let (from, to) = (instant(&found[1]), instant(&found[2]));
                facts.noted.insert("next", to.timestamp());
                is_logged(from, facts) && (to - from).num_seconds() == seconds(&found[3])
            },
        ),
        (
            r"^  next update +AT: never fetched successfully: counted from the last attempt$",
            |found, facts| {
                facts.publisher.refuses.is_some() && is_logged(instant(&found[1]), facts)
            },
        ),
        (
            r"^  back-off +AT → AT: (\d+) failures? in a row: SPAN after the last attempt, (?:as after a success: failures must not make polls more frequent|the minimum after such a response)(?:, plus a random SPAN)?$",
            |found, facts| {
                let (from, to) = (instant(&found[1]), instant(&found[2]));
                let spread = found.get(5).map_or(0, |span| seconds(span.as_str()));
                let told = seconds(&found[4]) + spread;
                facts.noted.insert("next", to.timestamp());
                number(found, 3) == 1 && is_logged(from, facts) && (to - from).num_seconds() == told
            },
        ),
        (
            r"^  spread +AT → AT: SPAN (earlier|later) \(at most SPAN\), so that",
            |found, facts| {
                let (from, to) = (instant(&found[1]), instant(&found[2]));
                let (span, most) = (seconds(&found[3]), seconds(&found[5]));
                let moved = if &found[4] == "later" { span } else { -span };
                let before = facts.noted.insert("next", to.timestamp());
                before == Some(from.timestamp())
                    && (to - from).num_seconds() == moved
                    && span <= most
            },
        ),
        (
            r"^  cache lifetime +AT(?: → AT)?: the server says that its response is fresh for SPAN(.*)$",
            |found, facts| {
                let to = found.get(2).map_or_else(|| instant(&found[1]), |to| instant(to.as_str()));
                let fresh = seconds(&found[3]);
                let (before, after) = facts.polled;
                let is_over = before + TimeDelta::seconds(fresh - 1) <= to && after <= to;
                facts.noted.insert("next", to.timestamp());
                Some(fresh) == facts.publisher.max_age_seconds && is_over && after < to
            },
        ),
        (r"^learned from (\d+) publications? in (\d+) (days?|weeks): ", |found, facts| {
            let publisher = facts.publisher;
            let window = publisher.now - TimeDelta::weeks(12);
            let dates = (0..publisher.entries).map(|place| publisher.date(place));
            let recent: Vec<_> = dates.filter(|date| *date > window).collect();
            let hours = (publisher.now - *recent.last().unwrap()).num_hours();
            let days =
                if found[3].starts_with("week") { number(found, 2) * 7 } else { number(found, 2) };
            let rounded = if found[3].starts_with("week") { 84 + 24 } else { 36 };
            number(found, 1) == i64::try_from(recent.len()).unwrap()
                && near(days * 24, hours, rounded)
        }),
    ]
}

/// Rules for the lines that `history` prints.
fn history_rules() -> Vec<Rule> {
    vec![
        (r"^\d+ '(?:Feed \d+|http\S+)' \S+$", |_, _| true),
        (
            r"^  history complete except 1 gap(?:: (\d+) archives? back to (\d{4}))?$",
            |found, facts| {
                let publisher = facts.publisher;
                let is_broken = publisher.readable() < publisher.archives.len();
                is_broken && reach(found, 1, publisher)
            },
        ),
        (r"^  complete history: (\d+) archives? back to (\d{4})$", |found, facts| {
            let publisher = facts.publisher;
            publisher.readable() == publisher.archives.len() && reach(found, 1, publisher)
        }),
        (r"^ +(\d+) (?:entries|entry) +(\S+) to (\S+)  http://\S+?(/\d+/\d+)$", |found, facts| {
            let publisher = facts.publisher;
            let place = (0..publisher.readable())
                .find(|&place| publisher.archive_path(place) == found[4])
                .unwrap();
            let places = publisher.places(place);
            let day = |place| publisher.date(place).format("%Y-%m-%d").to_string();
            number(found, 1) == places.end - places.start
                && found[2] == day(places.end - 1)
                && found[3] == day(places.start)
        }),
        (
            r"^  ┄┄┄ entries before (\S+) missing: archive http://\S+?(/\d+/\d+) answered (\d+) · no automatic retry$",
            |found, facts| {
                let publisher = facts.publisher;
                let readable = publisher.readable();
                let oldest = publisher.date(publisher.kept() - 1).format("%Y-%m-%d").to_string();
                found[1] == oldest
                    && found[2] == publisher.archive_path(readable)
                    && &found[3] == "403"
            },
        ),
    ]
}

/// Checks two groups of a match: the number of archives read, and the year of their oldest entry.
fn reach(found: &Captures<'_>, group: usize, publisher: &Publisher) -> bool {
    let Some(archives) = found.get(group) else { return publisher.readable() == 0 };
    let year = publisher.date(publisher.kept() - 1).year();
    archives.as_str() == publisher.readable().to_string() && found[group + 1] == year.to_string()
}

/// Rules for the lines that `lint` prints.
#[expect(clippy::too_many_lines, reason = "a table")]
fn lint_rules() -> Vec<Rule> {
    vec![
        (r"^Feed \d+$", |_, _| true),
        (r"^  note +document: an RSS feed, .*; (\d+) entries, (\d+) bytes$", |found, facts| {
            let publisher = facts.publisher;
            let size = publisher.body(&publisher.path()).unwrap().len();
            number(found, 1) == publisher.entries && found[2] == size.to_string()
        }),
        (r"^  note +ttl: every SPAN; (?:readers follow it|overruled by sy)$", |found, facts| {
            Some(seconds(&found[1])) == facts.publisher.ttl_minutes.map(|ttl| ttl * 60)
        }),
        (r"^  note +sy: daily, (\d+) updates?: every SPAN, ", |found, facts| {
            let times = facts.publisher.times_a_day.unwrap();
            number(found, 1) == times && near(seconds(&found[2]), 86_400 / times, 1)
        }),
        (
            r"^  note +feed: a reader with default settings that polled on Monday \S+ 10:00 UTC polls again on \w+(?: \S+)? (\d\d):(\d\d)[:, ].*\(settled by \w+, without jitter\): (\d+) polls? a week$",
            |found, facts| {
                let publisher = facts.publisher;
                let stated = publisher.stated_interval().unwrap_or(3600).clamp(900, 86_400);
                let fresh = publisher.max_age_seconds.unwrap_or(0);
                let every = stated.max(fresh.min(6 * 3600));
                let told = number(found, 1) * 60 + number(found, 2) - 600;
                let week = 7 * 86_400;
                near(told.rem_euclid(1440), every / 60 % 1440, 1)
                    && near(number(found, 3), week / every, 1)
            },
        ),
        (
            r"^  note +feed: an entry appears about every SPAN, and the entries go back SPAN(?:; readers .*)?$",
            |found, facts| {
                let publisher = facts.publisher;
                let every = publisher.step_hours * 3600;
                let reach = every * (publisher.entries - 1);
                // `lint` rounds intervals of a week or more to whole days.
                let is_near =
                    |told: i64, is: i64| near(told, is, if is < 7 * 86_400 { 60 } else { 43_200 });
                is_near(seconds(&found[1]), every) && is_near(seconds(&found[2]), reach)
            },
        ),
        (r"^  note +prev-archive '\S+': the archive before this document$", |_, _| true),
        (
            r"^  error +prev-archive 'http://\S+?(/\d+/\d+)': the archive answered (\d+): ",
            |found, facts| {
                found[1] == facts.publisher.archive_path(facts.publisher.readable())
                    && &found[2] == "403"
            },
        ),
        (r"^           at http://\S+$", |_, _| true),
        (
            r"^  note +chain: (\d+) archives? with (\d+) (?:entries|entry) could be read, (?:and the chain ends there, )?back to (\S+?)(?:; .*|: .*)?$",
            |found, facts| {
                let publisher = facts.publisher;
                let oldest = publisher.date(publisher.kept() - 1).format("%Y-%m-%d").to_string();
                found[1] == publisher.readable().to_string()
                    && number(found, 2) == publisher.kept() - publisher.entries
                    && found[3] == oldest
            },
        ),
        (r"^  (?:note|warning) +max-age: .*SPAN.*$", |found, facts| {
            Some(seconds(&found[1])) == facts.publisher.max_age_seconds
        }),
        (r"^  warning +Content-Type: none: .*\(and in (\d+) more documents?\)$", |found, facts| {
            found[1] == facts.publisher.readable().to_string()
        }),
        (
            r"^  note +Cache-Control: no lifetime: .*\(and in (\d+) more documents?\)$",
            |found, facts| {
                number(found, 1) + 1 == i64::try_from(facts.publisher.readable()).unwrap()
            },
        ),
        (
            r"^  note +next-archive: none, although there is a newer archive \(and in (\d+) more documents?\)$",
            |found, facts| {
                // `lint` reports the oldest document of a complete chain in a separate line.
                let publisher = facts.publisher;
                let readable = i64::try_from(publisher.readable()).unwrap();
                let is_whole = publisher.readable() == publisher.archives.len();
                number(found, 1) + 2 == readable - i64::from(is_whole)
            },
        ),
        (r"^(\d+) errors?, (\d+) warnings?, (\d+) notes?$", |found, facts| {
            let told = ["error", "warning", "note"]
                .map(|level| facts.noted.get(level).copied().unwrap_or(0));
            told == [number(found, 1), number(found, 2), number(found, 3)]
        }),
    ]
}

/// Returns the lines that violate their rule, and the lines with a digit outside addresses that no rule matches.
fn wrong_lines(text: &str, rules: &[(Regex, Holds)], facts: &mut Facts<'_>) -> Vec<String> {
    let mut wrong = Vec::new();
    for line in text.lines() {
        for level in ["error", "warning", "note"] {
            if line.starts_with(&format!("  {level} ")) {
                *facts.noted.entry(level).or_default() += 1;
            }
        }
        let found = rules.iter().find_map(|(form, holds)| Some((form.captures(line)?, holds)));
        match found {
            Some((found, holds)) if holds(&found, facts) => {}
            Some(_) => wrong.push(format!("not so: {line}")),
            None if line.contains(|char: char| char.is_ascii_digit()) => {
                wrong.push(format!("no rule: {line}"));
            }
            None => {}
        }
    }
    wrong
}

fn compiled(rules: Vec<Rule>) -> Vec<(Regex, Holds)> {
    let whole = |form: &str| Regex::new(&form.replace("SPAN", SPAN).replace("AT", AT)).unwrap();
    rules.into_iter().map(|(form, holds)| (whole(form), holds)).collect()
}

/// Checks that the time of the next poll in the first line of `plan` is the time at which its last step arrives.
fn is_announced(facts: &Facts<'_>, asked: DateTime<Utc>) -> bool {
    let noted = |name| facts.noted.get(name).copied();
    let next = noted("next").and_then(|next| DateTime::from_timestamp(next, 0));
    match (next, noted("in"), noted("around")) {
        (Some(next), Some(minutes), None) => near(minutes * 60, (next - asked).num_seconds(), 61),
        (Some(next), None, Some(minute)) => {
            let of_day = next.timestamp().rem_euclid(86_400) / 60;
            let apart = (of_day - minute).rem_euclid(1440);
            apart.min(1440 - apart) <= 8
        }
        _ => false,
    }
}

#[test]
fn reported_numbers_agree_with_the_server_log() {
    let now = clock::now();
    let mut dice = Dice::of(1, "sentences", 0);
    let publishers: Vec<Publisher> =
        (1..=12).map(|number| Publisher::thrown(&mut dice, number, now)).collect();
    let served = publishers.clone();
    let site = Site::start(move |request| {
        let number =
            request.path().split('/').nth(1).and_then(|number| number.parse::<usize>().ok());
        let publisher = number.and_then(|number| served.get(number.wrapping_sub(1)));
        let Some(publisher) = publisher else { return answer(404, &[], "") };
        let fresh = publisher.max_age_seconds.map(|age| format!("max-age={age}"));
        let headers: Vec<(&str, &str)> =
            fresh.iter().map(|fresh| ("cache-control", fresh.as_str())).collect();
        match publisher.body(request.path()) {
            Ok(body) => answer(200, &headers, body),
            Err(status) => answer(status, &[], ""),
        }
    });
    let program = Program::new();
    let addresses: Vec<String> =
        publishers.iter().map(|publisher| site.at(&publisher.path())).collect();
    program.run_with(&["import", "-"], addresses.join("\n").as_bytes()).with(0);
    let before = clock::now();
    program.run(&["poll"]);
    let polled = (before, clock::now());
    let (plan, history, lint) =
        (compiled(plan_rules()), compiled(history_rules()), compiled(lint_rules()));
    let mut wrong = Vec::new();
    for publisher in &publishers {
        let name = publisher.number.to_string();
        let facts = || Facts { publisher, polled, noted: BTreeMap::new() };
        let mut told = |command: &str, text: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                wrong.push(format!("{command}: {lines:#?}\n{text}\n{publisher:?}"));
            }
        };
        let (asked, text) = (clock::now(), program.run(&["plan", &name]).with(0).out);
        let mut of_plan = facts();
        let mut lines = wrong_lines(&text, &plan, &mut of_plan);
        if publisher.refuses.is_none() && !is_announced(&of_plan, asked) {
            lines.push("the first line names another time than the last step".to_owned());
        }
        told("plan", &text, lines);
        let text = program.run(&["history", &name]).out;
        told("history", &text, wrong_lines(&text, &history, &mut facts()));
        if publisher.refuses.is_none() {
            let text = program.run(&["lint", &site.at(&publisher.path())]).out;
            told("lint", &text, wrong_lines(&text, &lint, &mut facts()));
        }
    }
    let text = program.run(&["doctor"]).out;
    let entries: i64 = publishers.iter().map(Publisher::kept).sum();
    let of_store = format!("store: {} subscriptions, {entries} entries, ", publishers.len());
    let search = Regex::new(
        r"search: (\d+) entries indexed, \d+ kB, (?:(\d+) entries not indexed yet|up to date)",
    )
    .unwrap();
    let indexed = search.captures(&text).map(|found| {
        number(&found, 1) + found.get(2).map_or(0, |behind| behind.as_str().parse::<i64>().unwrap())
    });
    if !text.contains(&of_store) || indexed != Some(entries) {
        wrong.push(format!("doctor: {of_store} and {indexed:?} in\n{text}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

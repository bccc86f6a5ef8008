//! Reads valid and invalid hints of feeds.

use super::*;
use crate::feed::{Origin, parse};

const SPACES: &str = "xmlns:sy='http://purl.org/rss/1.0/modules/syndication/' xmlns:sched='tag:backissue.example,2026:schedule' \
                      xmlns:atom='http://www.w3.org/2005/Atom'";

fn rss(head: &str) -> Hints {
    let document =
        format!("<rss version='2.0' {SPACES}><channel><title>t</title>{head}</channel></rss>");
    parse(document.as_bytes(), &Origin::default()).hints
}

fn flaws(head: &str) -> Vec<String> {
    let document =
        format!("<rss version='2.0' {SPACES}><channel><title>t</title>{head}</channel></rss>");
    let flaws = parse(document.as_bytes(), &Origin::default()).flaws;
    flaws.into_iter().map(|flaw| format!("{} {}", flaw.element, flaw.text)).collect()
}

#[test]
fn a_ttl_is_a_positive_whole_number_of_minutes() {
    for (text, expected) in [
        ("60", Some(60)),
        (" \n120\t", Some(120)),
        ("527040", Some(527_040)),
        ("527041", None),
        ("0", None),
        ("-1", None),
        ("", None),
        ("1.5", None),
        ("60 minutes", None),
    ] {
        assert_eq!(rss(&format!("<ttl>{text}</ttl>")).ttl_minutes, expected, "{text:?}");
    }
    assert_eq!(rss("<ttl>5</ttl><ttl>7</ttl>").ttl_minutes, Some(5));
    assert_eq!(rss("<item><ttl>5</ttl></item><image><ttl>6</ttl></image>").ttl_minutes, None);
    assert_eq!(rss("</channel><ttl>5</ttl><channel>").ttl_minutes, None);
    assert_eq!(flaws("<ttl>soon</ttl>"), ["ttl soon"]);
}

#[test]
fn skipped_hours_and_days_are_read_singly() {
    let hints = rss(
        "<skipHours><hour> 09 </hour><hour>24</hour><hour>x</hour><hour>25</hour></skipHours><skipHours><hour>3</hour></skipHours>",
    );
    assert_eq!(hints.skip_hours, [0, 3, 9]);
    let hints =
        rss("<skipDays><day> sunday</day><day>Mon</day><day>Tu</day><day>Noday</day></skipDays>");
    assert_eq!(hints.skip_days, [DayOfWeek::Monday, DayOfWeek::Sunday]);
    assert_eq!(flaws("<skipHours><hour>25</hour></skipHours>"), ["skipHours 25"]);
    let many: Vec<String> = (0..40).map(|hour| format!("<hour>{}</hour>", hour / 2)).collect();
    assert_eq!(rss(&format!("<skipHours>{}</skipHours>", many.concat())).skip_hours.len(), 12);
}

fn sy_of(head: &str) -> Option<(&'static str, u32, Option<i64>)> {
    rss(head).sy.map(|sy| (sy.period.word(), sy.frequency, sy.base.map(|base| base.timestamp())))
}

#[test]
fn syndication_hints_have_defaults_and_bad_parts_cost_no_more_than_themselves() {
    const NOON: i64 = 946_728_000;
    for (head, expected) in [
        ("<sy:updatePeriod>\n\thourly\t</sy:updatePeriod>", Some(("hourly", 1, None))),
        (
            "<sy:updateFrequency>2</sy:updateFrequency><sy:updatePeriod>Weekly</sy:updatePeriod>",
            Some(("weekly", 2, None)),
        ),
        ("<sy:updateBase>2000-01-01T12:00+00:00</sy:updateBase>", Some(("daily", 1, Some(NOON)))),
        ("<sy:updateBase>2006-01-25+14:00+02:00</sy:updateBase>", Some(("daily", 1, None))),
        (
            "<sy:updatePeriod>fortnightly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>",
            None,
        ),
        (
            "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>0</sy:updateFrequency>",
            Some(("daily", 1, None)),
        ),
        (
            "<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>100000</sy:updateFrequency>",
            Some(("daily", 1, None)),
        ),
        ("<sy:updateFrequency>-1</sy:updateFrequency>", None),
        ("", None),
    ] {
        assert_eq!(sy_of(head), expected, "{head}");
    }
}

#[test]
fn interval_rules_are_normalised_and_bad_ones_dropped() {
    let one = |attributes: &str, minutes: &str| {
        let hints = rss(&format!("<sched:interval {attributes}>{minutes}</sched:interval>"));
        hints.intervals.into_iter().next().map(|rule| {
            let zone = match rule.zone {
                Zone::Utc => "UTC".to_owned(),
                Zone::Offset(minutes) => minutes.to_string(),
                Zone::Named(name) => name,
            };
            (rule.minutes, rule.start_hour, rule.end_hour, rule.start_day, rule.end_day, zone)
        })
    };
    let rule = |hours: [Option<u8>; 2], days: [Option<u8>; 2], zone: &str| {
        Some((30, hours[0], hours[1], days[0], days[1], zone.to_owned()))
    };
    let none = [None, None];
    for (attributes, expected) in [
        ("", rule(none, none, "UTC")),
        ("starthour='24' endhour='24' tz='gmt'", rule([Some(0), Some(23)], none, "UTC")),
        ("startday='0' endday='6' tz='Z'", rule(none, [Some(7), Some(6)], "UTC")),
        ("starthour=' 22 ' endhour='2' tz='+05:45'", rule([Some(22), Some(2)], none, "345")),
        ("tz='-14:00'", rule(none, none, "-840")),
        ("tz='+00:00'", rule(none, none, "UTC")),
        ("tz='+14:01'", rule(none, none, "UTC")),
        ("tz='Europe/Berlin'", rule(none, none, "Europe/Berlin")),
        ("tz='Mars/Olympus'", rule(none, none, "UTC")),
        ("starthour='25'", None),
        ("startday='8'", None),
        ("endday='Friday'", None),
    ] {
        assert_eq!(one(attributes, " 30 "), expected, "{attributes}");
    }
    for minutes in ["0", "-5", "1.5", "", "527041"] {
        assert_eq!(one("", minutes), None, "{minutes}");
    }
    assert_eq!(rss(&"<sched:interval>5</sched:interval>".repeat(100)).intervals.len(), RULES_MAX);
}

#[test]
fn rules_without_a_namespace_count_only_alone() {
    let minutes = |head: &str| -> Vec<u32> {
        rss(head).intervals.into_iter().map(|rule| rule.minutes).collect()
    };
    assert_eq!(minutes("<interval starthour='4'>30</interval><interval>240</interval>"), [30, 240]);
    assert_eq!(minutes("<interval>240</interval><sched:interval>60</sched:interval>"), [60]);
    let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><title/><interval>45</interval></feed>";
    assert_eq!(parse(atom.as_bytes(), &Origin::default()).hints.intervals[0].minutes, 45);
}

#[test]
fn offers_of_push_and_refresh_rates_are_noted() {
    assert!(rss("<cloud domain='x'/>").offers_push);
    assert!(rss("<atom:link rel='hub' href='http://hub.example/'/>").offers_push);
    assert!(!rss("<atom:link rel='self' href='http://a.example/'/>").offers_push);
    let rate =
        |text: &str| rss(&format!("<atom:refreshRate>{text}</atom:refreshRate>")).refresh_rate_ms;
    assert_eq!((rate("900000"), rate("15"), rate("x")), (Some(900_000), None, None));
}

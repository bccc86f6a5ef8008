//! Checks how valid and invalid polling hints are read.

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
    let document = format!(
        "<rss version='2.0' {SPACES}><channel><title>t</title>{head}<item/></channel></rss>"
    );
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
fn syndication_hints_have_defaults_and_drop_bad_parts() {
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

/// Returns the flaws stored with the hints of a document, each written as `element text`.
fn kept_flaws(document: &str) -> Vec<String> {
    let hints = parse(document.as_bytes(), &Origin::default()).hints;
    hints.flaws.into_iter().map(|flaw| format!("{} {}", flaw.element, flaw.text)).collect()
}

#[test]
fn dropped_hints_are_kept_as_flaws() {
    let head = "<ttl>60 minutes</ttl><skipHours><hour>25</hour></skipHours><skipDays><day>Noday</day></skipDays>\
                <sched:interval starthour='99'>30</sched:interval><sy:updatePeriod>often</sy:updatePeriod>\
                <atom:refreshRate>5</atom:refreshRate>";
    let document =
        format!("<rss version='2.0' {SPACES}><channel><title>t</title>{head}</channel></rss>");
    assert_eq!(
        kept_flaws(&document),
        [
            "ttl 60 minutes",
            "skipHours 25",
            "skipDays Noday",
            "interval 99",
            "refreshRate 5",
            "sy:updatePeriod often"
        ]
    );
    let json = "{\"version\":\"https://jsonfeed.org/version/1.1\",\"items\":[],\
                \"_schedule\":{\"intervals\":[{\"minutes\":30,\"starthour\":99}]}}";
    assert_eq!(kept_flaws(json), ["interval 99"]);
}

#[test]
fn flaws_of_hints_are_kept_although_the_entries_have_many() {
    let bad_dates = "<item><pubDate>never</pubDate></item>".repeat(200);
    let rules = "<sched:interval>5</sched:interval>".repeat(100);
    let document = format!(
        "<rss {SPACES}><channel><title>t</title>{bad_dates}{rules}<ttl>soon</ttl></channel></rss>"
    );
    let read = parse(document.as_bytes(), &Origin::default());
    let reasons: Vec<&str> = read.hints.flaws.iter().map(|flaw| flaw.reason.as_str()).collect();
    assert_eq!(
        reasons,
        ["more than 64 rules: the rest was left out", "not a number of minutes from 1 to 527 040"]
    );
    assert!(reasons.iter().all(|reason| read.flaws.iter().any(|flaw| flaw.reason == *reason)));
}

#[test]
fn a_ttl_that_looks_like_seconds_is_noted_and_counts() {
    let item = |hour: u8| {
        format!(
            "<item><guid>{hour}</guid><pubDate>Mon, 02 Mar 2026 {hour}:00:00 GMT</pubDate></item>"
        )
    };
    let feed = |ttl: u32, hours: &[u8]| {
        let items: Vec<String> = hours.iter().map(|hour| item(*hour)).collect();
        format!("<rss><channel><title>t</title><ttl>{ttl}</ttl>{}</channel></rss>", items.concat())
    };
    let hourly = feed(3_600, &[10, 11, 12, 13]);
    assert_eq!(kept_flaws(&hourly), ["ttl 3600"]);
    let read = parse(hourly.as_bytes(), &Origin::default());
    assert_eq!((read.hints.ttl_minutes, read.flaws.len()), (Some(3_600), 0));
    assert_eq!(kept_flaws(&feed(590, &[10, 11, 12, 13])), Vec::<String>::new());
    assert_eq!(kept_flaws(&feed(3_600, &[10, 11])), Vec::<String>::new(), "two dates say nothing");
    assert_eq!(kept_flaws(&feed(600, &[10, 12, 14])), Vec::<String>::new());
}

#[test]
fn hints_store_their_flaws_and_old_records_are_read() {
    let hints = rss("<ttl>soon</ttl>");
    let stored = serde_json::to_string(&hints).expect("hints as text");
    assert_eq!(serde_json::from_str::<Hints>(&stored).expect("hints"), hints);
    let before: Hints = serde_json::from_str("{\"ttl_minutes\":60}").expect("hints");
    assert_eq!(before, rss("<ttl>60</ttl>"));
}

#[test]
fn a_delta_replaces_the_flaws_of_the_hints_it_has() {
    let mut hints = rss("<ttl>soon</ttl><skipHours><hour>25</hour></skipHours>");
    hints.overlay(rss("<ttl>60</ttl>"));
    let left: Vec<&str> = hints.flaws.iter().map(|flaw| flaw.element.as_str()).collect();
    assert_eq!((left, hints.ttl_minutes), (vec!["skipHours"], Some(60)));
    hints.overlay(rss("<skipHours><hour>26</hour></skipHours>"));
    assert_eq!(hints.flaws.iter().map(|flaw| flaw.text.as_str()).collect::<Vec<_>>(), ["26"]);
}

#[test]
fn an_offer_of_push_is_noted_in_every_format() {
    let offers = |document: &str| parse(document.as_bytes(), &Origin::default()).hints.offers_push;
    let hub = "<link rel='HUB' href='http://hub.example/'/>";
    for document in [
        format!("<feed xmlns='http://www.w3.org/2005/Atom'>{hub}</feed>"),
        format!("<rss><channel><atom10:{}</channel></rss>", &hub[1..]),
        "<rss><channel><cloud domain='c.example' port='80' path='/' registerProcedure='p' protocol='http-post'/></channel></rss>".to_owned(),
        format!("<rdf:RDF><channel><a:{}</channel></rdf:RDF>", &hub[1..]),
        "{\"version\":\"https://jsonfeed.org/version/1\",\"hubs\":[{\"type\":\"WebSub\",\"url\":\"http://hub.example/\"}]}".to_owned(),
    ] {
        assert!(offers(&document), "{document}");
    }
    assert!(!offers(&format!("<feed><entry>{hub}</entry></feed>")), "not the hub of an entry");
}

#[test]
fn unusual_hours_and_days_are_read_when_unambiguous() {
    for skips in ["7 8 9", " 7, 8,9\n"] {
        let hints = rss(&format!("<skipHours>{skips}</skipHours>"));
        assert_eq!(hints.skip_hours, [7, 8, 9], "{skips}");
    }
    assert_eq!(
        rss("<skipDays>Monday Sun</skipDays>").skip_days,
        [DayOfWeek::Monday, DayOfWeek::Sunday]
    );
    assert_eq!(flaws("<skipHours>7 to 9</skipHours>"), ["skipHours to"]);
    assert_eq!(flaws("<skipHours><hours>7</hours><hours>8</hours></skipHours>"), ["hours "]);
}

#[test]
fn first_of_two_hints_counts_and_second_is_a_flaw() {
    let rates =
        "<atom:refreshRate>60000</atom:refreshRate><atom:refreshRate>90000</atom:refreshRate>";
    assert_eq!(rss(rates).refresh_rate_ms, Some(60_000));
    assert_eq!(flaws(rates), ["refreshRate 90000"]);
    assert_eq!(flaws("<ttl>5</ttl><ttl>7</ttl>"), ["ttl 7"]);
    let rules = "<interval>30</interval><sched:interval startHour='9'>60</sched:interval>";
    let read = rss(rules).intervals;
    assert_eq!((read.len(), read[0].minutes, read[0].start_hour), (1, 60, Some(9)));
    assert_eq!(flaws(rules), ["interval "]);
}

#[test]
fn json_schedule_ignores_case_and_flags_invalid_values() {
    let read = |schedule: &str| {
        let document = format!(
            "{{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[],\"_schedule\":{schedule}}}"
        );
        parse(document.as_bytes(), &Origin::default()).hints
    };
    let rule = &read("{\"intervals\":[{\"minutes\":30,\"startHour\":9}]}").intervals[0];
    assert_eq!((rule.minutes, rule.start_hour), (30, Some(9)));
    let flaws = read("\"hourly\"").flaws;
    assert_eq!((flaws[0].element.as_str(), flaws[0].text.as_str()), ("_schedule", "hourly"));
}

#[test]
fn cdf_channel_schedule_becomes_an_interval() {
    for (time, expected) in [
        ("<INTERVALTIME DAY='1'/>", vec![1440]),
        ("<IntervalTime HOUR='2' MIN='30'/><EARLIESTTIME HOUR='1'/>", vec![150]),
        ("<INTERVALTIME HOUR='often'/>", vec![]),
        ("<INTERVALTIME/>", vec![]),
        ("", vec![]),
    ] {
        let document = format!(
            "<CHANNEL HREF='/c'><SCHEDULE STARTDATE='2026-03-02'>{time}</SCHEDULE><ITEM HREF='/1'/></CHANNEL>"
        );
        let hints = parse(document.as_bytes(), &Origin::default()).hints;
        let minutes: Vec<u32> = hints.intervals.iter().map(|rule| rule.minutes).collect();
        assert_eq!(
            (minutes, hints.flaws.is_empty()),
            (expected.clone(), !expected.is_empty()),
            "{time}"
        );
    }
}

//! Parses dates in the forms that feeds use, and texts that are not dates.

use super::*;

fn check(text: &str, expected: &str) {
    let read = parse_date(text).map(|date| date.format("%Y-%m-%dT%H:%M:%SZ").to_string());
    assert_eq!(read.as_deref().unwrap_or(""), expected, "{text:?}");
}

#[test]
fn mail_dates_and_their_faults_are_read() {
    for (text, expected) in [
        ("Mon, 02 Mar 2026 10:00:00 GMT", "2026-03-02T10:00:00Z"),
        ("Tue, 2 March 2026 10:00 +0100", "2026-03-02T09:00:00Z"),
        ("2 Mar 26 10:00:00 PST", "2026-03-02T18:00:00Z"),
        ("Mo, 02 Mär 2026 10:00:00 MEZ", "2026-03-02T09:00:00Z"),
        ("lun. 02 mars 2026 10:00:00 +0100", "2026-03-02T09:00:00Z"),
        ("mardi 03 mars 2026", "2026-03-03T00:00:00Z"),
        ("Mon, 02 Mar 2026", "2026-03-02T00:00:00Z"),
        ("Mon, 02 Mar 2026 24:00:00 GMT", "2026-03-03T00:00:00Z"),
        ("Mon, 02 Mar 2026 10:00:00 GMT+0200", "2026-03-02T08:00:00Z"),
        ("Mon, 02 Mar 2026 10:00:00 +0200 (CEST)", "2026-03-02T08:00:00Z"),
        ("Monday, 02-Mar-26 10:00:00 GMT", "2026-03-02T10:00:00Z"),
        ("Mon Mar  2 10:00:00 2026", "2026-03-02T10:00:00Z"),
        ("Mon Mar 02 10:00:00 -0500 2026", "2026-03-02T15:00:00Z"),
        ("March 2nd, 2026 4:05 PM", "2026-03-02T16:05:00Z"),
        ("3/2/2026 12:05:00 AM", "2026-03-02T00:05:00Z"),
        ("02.03.2026 10:00", "2026-03-02T10:00:00Z"),
        ("Mon, 02 Mar 2026 10:00:00 Nowhere/Land", "2026-03-02T10:00:00Z"),
        ("Mon, 2026/03/02 10:00:00 EST", "2026-03-02T15:00:00Z"),
        ("02 Mar 26 1500 GMT", "2026-03-02T15:00:00Z"),
        ("Mon, 02 Mar 126 10:00:00 GMT", "2026-03-02T10:00:00Z"),
    ] {
        check(text, expected);
    }
}

#[test]
fn machine_dates_are_read_in_full_and_in_part() {
    for (text, expected) in [
        ("2026-03-02T10:00:00Z", "2026-03-02T10:00:00Z"),
        ("2026-03-02t10:00:00.75+05:30", "2026-03-02T04:30:00Z"),
        ("2000-01-01T12:00+00:00", "2000-01-01T12:00:00Z"),
        ("2026-03-02 10:00:00", "2026-03-02T10:00:00Z"),
        ("2026-03-02T10:00", "2026-03-02T10:00:00Z"),
        ("2026-03-02 10:00:00 -0500", "2026-03-02T15:00:00Z"),
        ("2026-03-02T10:00:00 UTC", "2026-03-02T10:00:00Z"),
        ("2026-03-02T24:00:00Z", "2026-03-03T00:00:00Z"),
        ("2026-03-02T23:59:60Z", "2026-03-02T23:59:59Z"),
        ("2026-03-02", "2026-03-02T00:00:00Z"),
        ("2026-03", "2026-03-01T00:00:00Z"),
        ("2026", "2026-01-01T00:00:00Z"),
        ("20260302", "2026-03-02T00:00:00Z"),
        ("20260302T100000Z", "2026-03-02T10:00:00Z"),
        ("2026-061", "2026-03-02T00:00:00Z"),
        ("26-061", "2026-03-02T00:00:00Z"),
        ("2026-3-2", "2026-03-02T00:00:00Z"),
        ("2026-03-02T10:00:00+01:00[Europe/Berlin]", "2026-03-02T09:00:00Z"),
        ("1772445600", "2026-03-02T10:00:00Z"),
        ("1772445600000", "2026-03-02T10:00:00Z"),
    ] {
        check(text, expected);
    }
}

const NO_DATES: [&str; 99] = [
    "",
    "soon",
    "0000-00-00T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "12026-03-02",
    "2026-13-02",
    "2026-02-30",
    "2026-03-02T10:00:61Z",
    "2006-01-25+14:00+02:00",
    "Mon, 99 Mar 2026 10:00:00 GMT",
    "Mon, 02 Mar 2026 1:2:3:4 GMT",
    "Mon, 02 Mar 2026 10:00:00 +zz:00",
    "Mon, Mar x 2026 10:00:00",
    "10:00:00",
    "3 hours ago",
    "vor 3 Stunden",
    "hace 2 días",
    "2 days ago",
    "yesterday at 9:15",
    "today",
    "just now",
    "1.2.3",
    "1.2.3.4",
    "v1.2.3",
    "10.0.19041.1",
    "$12.50",
    "12,50 €",
    "12.50",
    "Version 2021.1",
    "2021 in review",
    "The best of 2021",
    "Windows 10 May 2021 Update",
    "Issue 5, July 2021",
    "July 2021",
    "5 July",
    "July 5",
    "5 de 2021",
    "Maybe 5, 2021",
    "Marathon 5 2021",
    "Top 10 of 2021",
    "10 things to do in March 2021",
    "5 July 2021 will be great",
    "On 5 July 2021 we go",
    "World Cup 2022 12:00",
    "Mon",
    "Monday",
    "09:15",
    "9:15 PM",
    "PM",
    "12/2021",
    "05/07",
    "1/2",
    "05/07/21/22",
    "99/99/9999",
    "32/01/2021",
    "2021-00-05",
    "2021-13-45",
    "0001-01-01",
    "0000-01-01",
    "Mon, 01 Jan 0001 00:00:00 +0000",
    "Mon, 01 Jan 0001 00:00:00 +0100",
    "Mon, 01 Jan 0000 00:00:00 +0000",
    "01/01/0001",
    "1 January 0001",
    "1 Jan 0001 00:00",
    "01.01.0001 00:00:00",
    "1/1/0001 12:00:00 AM",
    "Wed, 30 Nov -0001 00:00:00 +0000",
    "-0001-11-30T00:00:00Z",
    "Sun, 31 Dec 0000 23:00:00 +0000",
    "0002-01-01T00:00:00+01:00",
    "00/00/0000",
    "0000-00-00 00:00:00",
    "Invalid date",
    "Invalid Date",
    "NaN",
    "null",
    "undefined",
    "192.168.1.10",
    "192.168.10.20",
    "555-1234",
    "555-12-1234",
    "+1 555 123 4567",
    "ISBN 978-3-16-148410-0",
    "http://example.com/2021/07/05/",
    "2021/07/05/some-title",
    "Chapter 3: 12.10.2021 and more",
    "5 July 2021 9:15 foo bar",
    "10:15 at the 5 of 2021",
    "Mon, 05 Jul 2021 25:00:00 GMT",
    "Mon, 05 Jul 2021 09:60:00 GMT",
    "Mon, 31 Feb 2021 09:15:00 GMT",
    "5 July 2021 13 pm",
    "12 12 12",
    "1 2 3",
    "a 5 July",
    "Sat 5 2021 10:00",
    "June\u{2013}July 5 2021",
    "24/7/365",
];

#[test]
fn invalid_date_gives_none() {
    for text in NO_DATES {
        check(text, "");
    }
    check(&"9".repeat(5_000), "");
}

#[test]
fn date_without_zone_or_time_is_flagged() {
    // Date, whether it lacks a zone, whether it lacks a time.
    let cases = [
        ("Mon, 02 Mar 2026 10:00:00 GMT", false, false),
        ("Mon, 02 Mar 2026 10:00:00 +0100", false, false),
        ("Mon, 02 Mar 2026 10:00:00 EST", false, false),
        (" Mon, 02 Mar 2026 10:00 ", true, false),
        ("2026-03-02T10:00:00Z", false, false),
        ("2026-03-02T10:00-05:00", false, false),
        ("2026-03-02T10:00:00.25", true, false),
        ("2026-03-02 10:00", true, false),
        ("2026-03-02", false, true),
        ("2026", false, true),
        ("2 Mar 2026", false, true),
        ("1772445600", false, false),
        ("soon", false, false),
    ];
    for (text, no_zone, no_time) in cases {
        assert_eq!((has_no_zone(text), has_no_time(text)), (no_zone, no_time), "{text}");
    }
}

#[test]
fn ambiguous_date_follows_the_document_or_rfc_822() {
    let read = |text: &str, order| {
        let read = read_date(text, order).unwrap();
        (read.at.format("%m-%d").to_string(), read.is_ambiguous)
    };
    let (day_first, month_first) = (Some(DateOrder::DayFirst), Some(DateOrder::MonthFirst));
    // Date, its month and day when read alone, its month and day in a document with the month first, whether it is ambiguous.
    for (text, alone, in_document, is_ambiguous) in [
        ("05/07/2021", "07-05", "05-07", true),
        ("05-07-2021", "07-05", "05-07", true),
        ("09:15 07/05/2021", "05-07", "07-05", true),
        ("7/5/21, 9:15 AM", "07-05", "07-05", true),
        ("05/05/2021", "05-05", "05-05", false),
        ("05.07.2021", "07-05", "07-05", false),
        ("05/07/2021 09h15", "07-05", "07-05", false),
        ("5/7/2021 9:15 \u{3bc}\u{3bc}", "07-05", "07-05", false),
        ("5/7/2021 9:15 p. m.", "07-05", "07-05", false),
        ("Mon 07/05/2021", "07-05", "07-05", false),
        ("mar 06/07/2021", "07-06", "07-06", false),
        ("04/05/2021 à 9h15", "05-04", "05-04", false),
        ("15/07/2021", "07-15", "07-15", false),
        ("07-15-2021", "07-15", "07-15", false),
        ("2021/07/05", "07-05", "07-05", false),
        ("5 July 2021", "07-05", "07-05", false),
    ] {
        assert_eq!(read(text, None), (alone.to_owned(), is_ambiguous), "{text}");
        assert_eq!(read(text, month_first), (in_document.to_owned(), is_ambiguous), "{text}");
    }
    assert_eq!(read("7/5/21, 9:15 AM", day_first), ("05-07".to_owned(), true));
}

#[test]
fn most_dates_of_a_document_show_its_order() {
    for (texts, expected) in [
        (&[][..], None),
        (&["05/07/2021", "Mon, 05 Jul 2021 09:15:00 -0400", "2021-07-15", "5.7.2021"], None),
        (&["15/07/2021", "05/07/2021"], Some(DateOrder::DayFirst)),
        (&["05/07/2021 09h15"], Some(DateOrder::DayFirst)),
        (&["07-15-2021"], Some(DateOrder::MonthFirst)),
        (&["7/5/2021 9:15 PM", "7/6/2021 9:15 a.m."], Some(DateOrder::MonthFirst)),
        (&["5/7/2021 9:15 \u{3bc}\u{3bc}"], Some(DateOrder::DayFirst)),
        (&["Mon 07/05/2021"], Some(DateOrder::MonthFirst)),
        (&["15/07/2021", "07/15/2021"], None),
        (&["15/07/2021", "07/15/2021", "7/5/2021 9:15 PM"], Some(DateOrder::MonthFirst)),
        (&["\u{661}\u{665}/\u{667}/\u{662}\u{660}\u{662}\u{661}"], Some(DateOrder::DayFirst)),
    ] {
        assert_eq!(order_of(texts.iter().copied()), expected, "{texts:?}");
    }
}

#[test]
fn offset_is_read_where_a_date_ends_with_one() {
    for (text, expected) in [
        ("Mon, 05 Jul 2021 09:30:00 +0100", Some(60)),
        ("2021-07-05T09:30:00-05:30", Some(-330)),
        ("2021-07-05T09:30:00+00:00", Some(0)),
        ("2021-07-05T09:30:00Z", None),
        ("Mon, 05 Jul 2021 09:30:00 GMT", None),
        ("05-07-2021", None),
        ("5 July-2021", None),
        ("09:30:00 +1e00", None),
        ("", None),
    ] {
        assert_eq!(stated_offset(text), expected, "{text}");
    }
}

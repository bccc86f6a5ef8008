//! Checks that the program computes the worked examples of interval rules in the specification (SPEC A.6).

use chrono::{DateTime, Datelike, Duration, NaiveDateTime, NaiveTime, Utc};

use backissue_core::feed::{self, Origin};
use backissue_core::schedule::{Facts, decide, plan_json};

use super::pages::{page, table_rows};

/// The rule sets that the worked examples refer to by letter, as elements of the schedule extension (SPEC H.1).
const RULE_SETS: [(&str, &str); 5] = [
    (
        "P",
        "<s:interval>240</s:interval>\
         <s:interval starthour='9' endhour='17' startday='1' endday='5'>30</s:interval>\
         <s:interval starthour='4' endhour='4'>30</s:interval>",
    ),
    (
        "O",
        "<s:interval>240</s:interval>\
         <s:interval starthour='9' endhour='17' startday='1' endday='5'>30</s:interval>\
         <s:interval starthour='12' endhour='12'>120</s:interval>",
    ),
    (
        "W",
        "<s:interval>180</s:interval>\
         <s:interval starthour='22' endhour='2' startday='5' endday='6'>20</s:interval>",
    ),
    ("V", "<s:interval>360</s:interval><s:interval startday='6' endday='1'>60</s:interval>"),
    (
        "T",
        "<s:interval>240</s:interval>\
         <s:interval starthour='9' endhour='20' startday='1' endday='5' tz='-08:00'>30</s:interval>",
    ),
];

/// Parses a time such as `Mon 03-02 10:00` from the tables of examples; the year is 2026.
fn stated(text: &str) -> DateTime<Utc> {
    let (_, date) = text.split_once(' ').unwrap();
    NaiveDateTime::parse_from_str(&format!("2026-{date}"), "%Y-%m-%d %H:%M").unwrap().and_utc()
}

/// Parses a time from the tables that may lack its date, such as `Mon 10:00`: then it is the first such time after `last`.
fn following(text: &str, last: DateTime<Utc>) -> DateTime<Utc> {
    let words: Vec<&str> = text.split(' ').collect();
    let [day, clock] = words.as_slice() else { return stated(text) };
    let time = NaiveTime::parse_from_str(clock, "%H:%M").unwrap();
    (0..8)
        .map(|days| (last.date_naive() + Duration::days(days)).and_time(time).and_utc())
        .find(|at| *at > last && at.weekday().to_string() == *day)
        .unwrap()
}

/// Returns the next poll that the schedule computes, and its kind and binding interval in minutes as the tables write them.
fn computed(document: &str, last: DateTime<Utc>) -> (DateTime<Utc>, String) {
    let hints = feed::parse(document.as_bytes(), &Origin::default()).hints;
    let facts = Facts { hints, last_ok: Some(last), last_try: Some(last), ..Facts::default() };
    let plan = decide(&facts, last, 0.0);
    let told = plan_json(&plan);
    let kind = told["kind"].as_str().unwrap();
    let kind = format!("{}{} {}", kind[..1].to_uppercase(), &kind[1..], told["binding_minutes"]);
    (plan.next_poll.unwrap(), kind)
}

#[test]
fn interval_rule_examples_match_the_program() {
    let text = page("docs/specification.md");
    let mut count = 0;
    for (letter, rules) in RULE_SETS {
        let (_, rest) = text.split_once(&format!("\n**{letter}**, ")).unwrap();
        let (_, rest) = rest.split_once("\n\n").unwrap();
        let (table, _) = rest.split_once("\n\n").unwrap();
        let document = format!(
            "<rss version=\"2.0\" xmlns:s=\"tag:backissue.example,2026:schedule\"><channel>\
             <title>{letter}</title>{rules}</channel></rss>"
        );
        for row in table_rows(table) {
            let last = stated(&row[1]);
            let expected = (following(&row[3], last), row[4].clone());
            assert_eq!(computed(&document, last), expected, "{letter}: {row:?}");
            count += 1;
        }
    }
    assert_eq!(count, 37);
}

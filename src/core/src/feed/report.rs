//! Writes a feed document as one JSON object for `parse --json` (UX 5).

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::document::{Enclosure, Entry, FeedDocument, HistoryLinks, Link, NewLocation};
use super::flaws::Flaw;
use super::hints::{Hints, IntervalRule, Zone};
use crate::words::rfc_3339;

/// Converts a document to the JSON object defined in UX 5. Absent values are null, and times are written as RFC 3339 in UTC.
pub fn report(document: &FeedDocument) -> Value {
    json!({
        "kind": document.kind.word(),
        "role": document.role.word(),
        "feed": feed_json(document),
        "entries": document.entries.iter().map(entry_json).collect::<Vec<_>>(),
        "flaws": document.flaws.iter().map(flaw_json).collect::<Vec<_>>(),
    })
}

fn feed_json(document: &FeedDocument) -> Value {
    let head = &document.head;
    let Hints { ttl_minutes, skip_hours, skip_days, sy, refresh_rate_ms, intervals, .. } =
        &document.hints;
    json!({
        "id": head.id,
        "title": head.title,
        "link": head.link,
        "updated": time_text(head.updated),
        "published": time_text(head.published),
        "subtitle": head.subtitle,
        "language": head.language,
        "rights": head.rights,
        "author": head.author,
        "generator": head.generator,
        "ttl": ttl_minutes,
        "skip_hours": skip_hours,
        "skip_days": skip_days.iter().map(|day| day.name()).collect::<Vec<_>>(),
        "update_period": sy.map(|sy| sy.period.word()),
        "update_frequency": sy.map(|sy| sy.frequency),
        "update_base": time_text(sy.and_then(|sy| sy.base)),
        "refresh_rate_ms": refresh_rate_ms,
        "intervals": intervals.iter().map(rule_json).collect::<Vec<_>>(),
        "history": history_json(&document.history),
        "links": document.links.iter().map(link_json).collect::<Vec<_>>(),
        "new_location": document.new_location.as_ref().map(new_location_text),
    })
}

/// Returns the new URL of the feed, or an empty string if the feed no longer exists.
fn new_location_text(location: &NewLocation) -> &str {
    match location {
        NewLocation::At(address) => address,
        NewLocation::Gone => "",
    }
}

fn history_json(history: &HistoryLinks) -> Value {
    json!({
        "complete": history.complete,
        "archive": history.archive,
        "self": history.this,
        "current": history.current,
        "prev_archive": history.prev_archive,
        "next_archive": history.next_archive,
        "first": history.first,
        "last": history.last,
        "next": history.next,
        "previous": history.previous,
    })
}

fn link_json(link: &Link) -> Value {
    json!({ "rel": link.rel, "href": link.href, "type": link.media_type })
}

fn rule_json(rule: &IntervalRule) -> Value {
    json!({
        "minutes": rule.minutes,
        "starthour": rule.start_hour,
        "endhour": rule.end_hour,
        "startday": rule.start_day,
        "endday": rule.end_day,
        "tz": zone_text(&rule.zone),
    })
}

fn zone_text(zone: &Zone) -> String {
    match zone {
        Zone::Utc => "UTC".to_owned(),
        Zone::Offset(minutes) => {
            let sign = if *minutes < 0 { '-' } else { '+' };
            let minutes = minutes.unsigned_abs();
            format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        }
        Zone::Named(name) => name.clone(),
    }
}

fn entry_json(entry: &Entry) -> Value {
    json!({
        "id": entry.id,
        "title": entry.title,
        "link": entry.link,
        "published": time_text(entry.published),
        "updated": time_text(entry.updated),
        "author": entry.author,
        "summary": entry.summary,
        "content": entry.content,
        "shown": entry.shown,
        "enclosures": entry.enclosures.iter().map(enclosure_json).collect::<Vec<_>>(),
        "categories": entry.categories,
    })
}

fn enclosure_json(enclosure: &Enclosure) -> Value {
    json!({ "url": enclosure.url, "type": enclosure.media_type, "length": enclosure.length })
}

fn flaw_json(flaw: &Flaw) -> Value {
    json!({ "element": flaw.element, "text": flaw.text, "reason": flaw.reason })
}

fn time_text(time: Option<DateTime<Utc>>) -> Option<String> {
    time.map(rfc_3339)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::hints::{DayOfWeek, Period, SyHint};

    #[test]
    fn absent_values_are_null_and_lists_are_empty() {
        let report = report(&FeedDocument::default());
        assert_eq!(report["kind"], "none");
        assert_eq!(report["role"], "plain");
        assert!(report["feed"]["title"].is_null() && report["feed"]["update_period"].is_null());
        assert_eq!(report["entries"], json!([]));
    }

    #[test]
    fn hints_are_written_as_programs_expect_them() {
        let rule = IntervalRule {
            minutes: 30,
            start_hour: Some(9),
            end_hour: None,
            start_day: None,
            end_day: None,
            zone: Zone::Offset(-570),
        };
        let document = FeedDocument {
            hints: Hints {
                skip_days: vec![DayOfWeek::Sunday],
                sy: Some(SyHint {
                    period: Period::Hourly,
                    frequency: 2,
                    base: Some(DateTime::UNIX_EPOCH),
                }),
                intervals: vec![rule],
                ..Hints::default()
            },
            new_location: Some(NewLocation::Gone),
            ..FeedDocument::default()
        };
        let feed = &report(&document)["feed"];
        assert_eq!(feed["skip_days"], json!(["Sunday"]));
        assert_eq!(feed["update_base"], "1970-01-01T00:00:00Z");
        assert_eq!(
            feed["intervals"],
            json!([{ "minutes": 30, "starthour": 9, "endhour": null, "startday": null, "endday": null, "tz": "-09:30" }])
        );
        assert_eq!(feed["new_location"], "");
    }
}

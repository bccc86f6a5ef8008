//! Events as JSON for scripts: one object per event, one event per line.

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use super::entries::entry_view::time;
use super::feeds::subscription::SubscriptionRecord;
use super::poll::poll_log::{PollOutcome, PollResult};
use super::request::{Event, NoticeLevel};
use super::state::Engine;
use backissue_core::history::FeedKey;

/// Returns an event as a JSON object with the name of the event (`event`), the time (`at`), the number, title, and address of the
/// feed, and the event's own fields. Returns `None` for an event that scripts do not need.
pub fn event_line(engine: &Engine, event: &Event, now: DateTime<Utc>) -> Option<Value> {
    let (name, feed, own) = match event {
        Event::Polled(result) => {
            (poll_name(result)?, Some(result.feed), poll_fields(engine, result))
        }
        Event::Recovered { feed, since } => {
            ("recovered", Some(*feed), json!({ "failing_since": time(Some(*since)) }))
        }
        Event::Moved { feed, from, to } => {
            ("moved", Some(*feed), json!({ "from": from, "to": to }))
        }
        Event::MoveProposed { feed, from, to } => {
            ("move_proposed", Some(*feed), json!({ "from": from, "to": to }))
        }
        Event::GapOpened { feed, gap, text, missing } => {
            let own = json!({ "gap": gap.0.to_string(), "text": text, "missing": missing });
            ("gap_opened", Some(*feed), own)
        }
        Event::GapClosed { feed, gap, missing } => {
            let own = json!({ "gap": gap.0.to_string(), "missing": missing });
            ("gap_closed", Some(*feed), own)
        }
        Event::WalkEnded { feed, archives, new } => {
            ("walk_ended", Some(*feed), json!({ "archives": archives, "new": new }))
        }
        Event::SubscriptionAdded(feed) => ("subscribed", Some(*feed), json!({})),
        Event::SubscriptionEnded(feed) => ("unsubscribed", Some(*feed), json!({})),
        Event::Notice { level: NoticeLevel::Trouble, text, .. } => {
            ("trouble", None, json!({ "text": text }))
        }
        // The events above contain the same information for scripts, or only a screen needs these events.
        Event::Notice { level: NoticeLevel::Info, .. }
        | Event::Indexed { .. }
        | Event::Refused(_)
        | Event::Asked(..)
        | Event::FeedsChanged
        | Event::FeedListChanged
        | Event::PlansChanged
        | Event::FeedSettingsChanged(_)
        | Event::ChooseFeed(_)
        | Event::OfferPlain(_)
        | Event::Subscribed { .. }
        | Event::Updated { .. }
        | Event::ListsChanged
        | Event::CountersChanged
        | Event::MarksChanged(_)
        | Event::FiltersChanged
        | Event::SearchesPutBack
        | Event::PageFetched { .. }
        | Event::PageDropped(..)
        | Event::PictureFetched(..)
        | Event::PictureDropped(..) => return None,
    };
    let mut line = Map::new();
    line.insert("event".into(), json!(name));
    line.insert("at".into(), time(Some(now)));
    line.extend(feed_fields(engine, feed));
    if let Value::Object(own) = own {
        line.extend(own);
    }
    Some(Value::Object(line))
}

/// Returns the fields with the number, title, and address of a feed. The values are null for `None`.
fn feed_fields(engine: &Engine, feed: Option<FeedKey>) -> [(String, Value); 3] {
    let known = feed.and_then(|feed| engine.feeds.get(&feed).or_else(|| engine.ended.get(&feed)));
    let record = known.map(|feed| &feed.record);
    [
        ("feed".into(), json!(feed)),
        ("title".into(), json!(record.map(SubscriptionRecord::shown_title))),
        ("url".into(), json!(record.map(|record| record.url.as_str()))),
    ]
}

/// Returns the event name for the result of a poll. Returns `None` for a skipped poll, because the client that requested the poll
/// already got the reason.
const fn poll_name(result: &PollResult) -> Option<&'static str> {
    match result.outcome {
        PollOutcome::Read if result.new > 0 => Some("new_entries"),
        PollOutcome::Read | PollOutcome::NotModified => Some("polled"),
        PollOutcome::Failed => Some("poll_failed"),
        PollOutcome::Skipped => None,
    }
}

fn poll_fields(engine: &Engine, result: &PollResult) -> Value {
    let since = engine.feeds.get(&result.feed).and_then(|feed| feed.state.failing_since);
    json!({
        "outcome": result.word(),
        "new": result.new,
        "edited": result.edited,
        "status": result.status,
        "wire_bytes": result.wire_bytes,
        "conditional": result.conditional,
        "reason": result.reason,
        "failing_since": time(since),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::feeds::subscription::{FeedState, SavedSubscription};
    use crate::engine::settings::Settings;
    use backissue_core::history::{Counters, GapKey};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;
    const FEED: FeedKey = FeedKey(7);

    fn engine() -> Engine {
        let saved = SavedSubscription {
            key: FEED,
            record: SubscriptionRecord {
                url: "https://a.example/feed".into(),
                title: Some("Orchard".into()),
                ..SubscriptionRecord::default()
            },
            state: Box::new(FeedState { failing_since: Some(NOW), ..FeedState::default() }),
            history: std::sync::Arc::default(),
            counters: Counters::default(),
        };
        Engine::new(Settings::default(), chrono_tz::Tz::UTC, 0, vec![saved], NOW)
    }

    fn polled(outcome: PollOutcome, new: u32, reason: Option<&str>) -> Event {
        let empty = PollResult::empty(FEED, outcome, reason.map(str::to_owned));
        Event::Polled(Box::new(PollResult { new, ..empty }))
    }

    /// Name and value of a field that only this event has.
    type OwnField = (&'static str, Value);

    /// Returns an example of each event for scripts, with the name of the event and one of its own fields.
    fn events() -> Vec<(Event, &'static str, Option<OwnField>)> {
        let (from, to) = (String::from("https://a.example/"), String::from("https://b.example/"));
        let missing = String::from("https://a.example/1");
        let gap = GapKey(u64::MAX);
        vec![
            (polled(PollOutcome::Read, 2, None), "new_entries", Some(("new", json!(2)))),
            (polled(PollOutcome::Read, 0, None), "polled", Some(("outcome", json!("read")))),
            (
                polled(PollOutcome::NotModified, 0, None),
                "polled",
                Some(("outcome", json!("not_modified"))),
            ),
            (
                polled(PollOutcome::Failed, 0, Some("it answered 500")),
                "poll_failed",
                Some(("failing_since", json!("1970-01-01T00:00:00Z"))),
            ),
            (
                Event::Recovered { feed: FEED, since: NOW },
                "recovered",
                Some(("failing_since", json!("1970-01-01T00:00:00Z"))),
            ),
            (
                Event::Moved { feed: FEED, from: from.clone(), to: to.clone() },
                "moved",
                Some(("to", json!(to))),
            ),
            (
                Event::MoveProposed { feed: FEED, from: from.clone(), to },
                "move_proposed",
                Some(("from", json!(from))),
            ),
            (
                Event::GapOpened { feed: FEED, gap, text: "404".into(), missing: missing.clone() },
                "gap_opened",
                Some(("gap", json!("18446744073709551615"))),
            ),
            (
                Event::GapClosed { feed: FEED, gap, missing: missing.clone() },
                "gap_closed",
                Some(("missing", json!(missing))),
            ),
            (
                Event::WalkEnded { feed: FEED, archives: 3, new: 40 },
                "walk_ended",
                Some(("archives", json!(3))),
            ),
            (Event::SubscriptionAdded(FEED), "subscribed", None),
            (Event::SubscriptionEnded(FEED), "unsubscribed", None),
        ]
    }

    #[test]
    fn every_script_event_has_its_name_feed_and_fields() {
        let engine = engine();
        for (event, name, own) in events() {
            let line = event_line(&engine, &event, NOW).unwrap();
            assert_eq!(line["event"], name);
            assert_eq!(line["at"], "1970-01-01T00:00:00Z");
            let feed = (&line["feed"], &line["title"], &line["url"]);
            assert_eq!(feed, (&json!(7), &json!("Orchard"), &json!("https://a.example/feed")));
            if let Some((field, value)) = own {
                assert_eq!(line[field], value, "{name}");
            }
            assert!(!line.to_string().contains('\n'));
        }
    }

    #[test]
    fn troubles_are_emitted_and_screen_events_are_not() {
        let engine = engine();
        let line = event_line(&engine, &Event::trouble("the disk is full"), NOW).unwrap();
        assert_eq!((&line["event"], &line["feed"]), (&json!("trouble"), &Value::Null));
        let skipped = polled(PollOutcome::Skipped, 0, Some("it is not due"));
        let told =
            [Event::info("3 read"), Event::PlansChanged, Event::Refused("no".into()), skipped];
        for event in told {
            assert_eq!(event_line(&engine, &event, NOW), None);
        }
    }

    #[test]
    fn unsubscribed_feed_still_has_its_title() {
        let mut engine = engine();
        engine.ended = std::mem::take(&mut engine.feeds);
        let line = event_line(&engine, &Event::SubscriptionEnded(FEED), NOW).unwrap();
        assert_eq!(line["title"], "Orchard");
    }
}

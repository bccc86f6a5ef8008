//! Reads what a person types for a feed, which is its number, its address, or an unambiguous part of its title, and for dates and
//! times.

use backissue_core::feed::address::without_logins;
use backissue_core::history::FeedKey;
use backissue_core::search::When;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::session::Failure;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::state::Engine;
use crate::io::clock;

/// A group of feeds that a name is looked up in, as error messages describe it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LookupScope {
    /// Singular and plural noun for the feeds.
    words: [&'static str; 2],
    /// The command that lists the feeds, to suggest in error messages.
    listed_by: &'static str,
}

/// All subscriptions.
pub(super) const SUBSCRIPTIONS: LookupScope =
    LookupScope { words: ["subscription", "subscriptions"], listed_by: "backissue feeds" };
/// The feeds unsubscribed within the last week.
pub(super) const REMOVED: LookupScope = LookupScope {
    words: ["feed removed in the last week", "removed feeds"],
    listed_by: "backissue feeds --removed",
};

/// Returns the subscription whose number, address or part of its title is `typed`.
pub(super) fn find_subscription(engine: &Engine, typed: &str) -> Result<FeedKey, Failure> {
    let records = engine.feeds.values().map(|feed| (feed.key, &feed.record));
    find_feed(records, typed, SUBSCRIPTIONS)
}

/// Returns the named subscriptions, without duplicates. All names are resolved before any subscription is changed.
pub(super) fn find_subscriptions(
    engine: &Engine,
    typed: &[String],
) -> Result<Vec<FeedKey>, Failure> {
    let records = engine.feeds.values().map(|feed| (feed.key, &feed.record));
    find_feeds(&records, typed, SUBSCRIPTIONS)
}

/// Returns the named feeds, without duplicates.
pub(super) fn find_feeds<'r>(
    records: &(impl Iterator<Item = (FeedKey, &'r SubscriptionRecord)> + Clone),
    typed: &[String],
    among: LookupScope,
) -> Result<Vec<FeedKey>, Failure> {
    let (found, mut unknown) = find_each(records, typed, among);
    if unknown.is_empty() { Ok(found) } else { Err(unknown.swap_remove(0)) }
}

/// Looks up each name. Returns the found feeds, without duplicates, and an error for each other name.
pub(super) fn find_each<'r>(
    records: &(impl Iterator<Item = (FeedKey, &'r SubscriptionRecord)> + Clone),
    typed: &[String],
    among: LookupScope,
) -> (Vec<FeedKey>, Vec<Failure>) {
    let (mut found, mut unknown) = (Vec::with_capacity(typed.len()), Vec::new());
    for typed in typed {
        match find_feed(records.clone(), typed, among) {
            Ok(feed) if found.contains(&feed) => {}
            Ok(feed) => found.push(feed),
            Err(why) => unknown.push(why),
        }
    }
    (found, unknown)
}

/// Returns the feed that `typed` names.
fn find_feed<'r>(
    records: impl Iterator<Item = (FeedKey, &'r SubscriptionRecord)> + Clone,
    typed: &str,
    among: LookupScope,
) -> Result<FeedKey, Failure> {
    // Remove logins, because stored addresses contain none and error messages must not show any.
    let typed = &without_logins(typed.trim());
    let bare = typed.trim_end_matches('/');
    if bare.is_empty() {
        return Err(Failure::new(format!(
            "'{typed}' is not the name of a {}; '{}' lists them",
            among.words[0], among.listed_by
        )));
    }
    let number = typed.parse().ok().map(FeedKey);
    if let Some((key, _)) = records.clone().find(|(key, _)| Some(*key) == number) {
        return Ok(key);
    }
    if typed.bytes().all(|byte| byte.is_ascii_digit()) {
        // If no feed has this number, fail instead of searching the titles, which may contain numbers, as in "Top 30".
        return Err(Failure::new(format!(
            "no {} has the number {typed}; '{}' lists them",
            among.words[0], among.listed_by
        )));
    }
    let address = |record: &SubscriptionRecord| {
        record.url == *typed || record.url.trim_end_matches('/') == bare
    };
    if let Some((key, _)) = records.clone().find(|(_, record)| address(record)) {
        return Ok(key);
    }
    let wanted = typed.to_lowercase();
    let exact = find_matching(records.clone(), |title| title == wanted);
    let partial = if exact.is_empty() {
        find_matching(records, |title| title.contains(&wanted))
    } else {
        exact
    };
    match partial.as_slice() {
        [(only, _)] => Ok(*only),
        [] => Err(Failure::new(format!(
            "no {} is called '{typed}'; '{}' lists them",
            among.words[0], among.listed_by
        ))),
        several => {
            let listed = several.iter().take(5);
            let names: Vec<String> =
                listed.map(|(key, record)| format!("{key} '{}'", record.shown_title())).collect();
            Err(Failure::new(format!(
                "'{typed}' matches {} {} ({}); name one by its number",
                several.len(),
                among.words[1],
                names.join(", ")
            )))
        }
    }
}

fn find_matching<'r>(
    records: impl Iterator<Item = (FeedKey, &'r SubscriptionRecord)>,
    fits: impl Fn(&str) -> bool,
) -> Vec<(FeedKey, &'r SubscriptionRecord)> {
    records.filter(|(_, record)| fits(&record.shown_title().to_lowercase())).collect()
}

/// Parses an instant, or a date or period as in a query, in the time zone of the user.
pub(super) fn parse_instant(typed: &str) -> Result<DateTime<Utc>, Failure> {
    parse_at(typed, clock::precise_now(), clock::zone())
}

fn parse_at(typed: &str, now: DateTime<Utc>, zone: Tz) -> Result<DateTime<Utc>, Failure> {
    if let Ok(instant) = DateTime::parse_from_rfc3339(typed) {
        return Ok(instant.to_utc());
    }
    match When::typed(typed, zone).map(|when| when.fixed(now)) {
        Some(When::At(instant)) => Ok(instant),
        Some(When::Ago(_)) | None => Err(Failure::new(format!(
            "'{typed}' is not a date; write 2026, 2026-03, 2026-03-01, 2026-03-01T12:00:00Z, or 7d for seven days ago"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(typed: &str) -> Result<FeedKey, Failure> {
        let records = records();
        find_feed(records.iter().map(|(key, record)| (*key, record)), typed, SUBSCRIPTIONS)
    }

    fn records() -> [(FeedKey, SubscriptionRecord); 3] {
        let record = |url: &str, title: &str| SubscriptionRecord {
            url: url.into(),
            title: Some(title.into()),
            ..SubscriptionRecord::default()
        };
        [
            (FeedKey(1), record("https://a.example/feed", "Orchard Notes")),
            (FeedKey(2), record("https://b.example/feed", "Orchard")),
            (FeedKey(7), record("https://c.example/feed", "Bell Tower 30")),
        ]
    }

    #[test]
    fn a_feed_is_found_by_number_address_title_or_part_of_it() {
        for (typed, expected) in [
            ("7", 7),
            ("https://a.example/feed/", 1),
            ("https://me:secret@a.example/feed", 1),
            ("orchard", 2),
            ("notes", 1),
            ("bell tower", 7),
            ("tower 30", 7),
        ] {
            assert_eq!(find(typed).unwrap(), FeedKey(expected), "{typed}");
        }
    }

    #[test]
    fn ambiguous_or_unknown_feed_is_reported() {
        assert!(
            find("or").unwrap_err().sentence.contains("matches 2 subscriptions"),
            "Orchard and Orchard Notes"
        );
        for typed in ["", " ", "/", "//", "30", "99999999999"] {
            assert!(find(typed).is_err(), "{typed:?}");
        }
        assert!(find("e").unwrap_err().sentence.contains("matches 2"));
        assert!(find("9").unwrap_err().sentence.contains("no subscription"));
        let sentence = find("https://me:secret@d.example/").unwrap_err().sentence;
        assert!(sentence.contains("'https://d.example/'"), "{sentence}");
    }

    #[test]
    fn dates_are_read_as_in_a_query_and_an_instant_is_exact() {
        let now = "2026-03-08T10:00:00Z".parse().unwrap();
        let read = |typed: &str| parse_at(typed, now, Tz::UTC);
        for (typed, expected) in [
            ("2026", "2026-01-01T00:00:00+00:00"),
            ("7d", "2026-03-01T10:00:00+00:00"),
            ("2026-03-01", "2026-03-01T00:00:00+00:00"),
            ("2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00+00:00"),
        ] {
            assert_eq!(read(typed).unwrap().to_rfc3339(), expected);
        }
        assert!(read("March").unwrap_err().sentence.contains("is not a date"));
    }
}

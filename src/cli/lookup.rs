//! Finding a feed by what a person types: its number, its address, or an unambiguous part of its title.

use std::collections::BTreeMap;

use super::session::Failure;
use crate::engine::feeds::subscription::SubscriptionRecord;
use crate::engine::state::Engine;
use crate::history::FeedKey;

/// The feed meant by `typed`.
pub(super) fn find_feed(
    records: &BTreeMap<FeedKey, SubscriptionRecord>,
    typed: &str,
) -> Result<FeedKey, Failure> {
    let typed = typed.trim();
    if let Some(key) = typed.parse().ok().map(FeedKey).filter(|key| records.contains_key(key)) {
        return Ok(key);
    }
    let address = |record: &SubscriptionRecord| {
        record.url == typed || record.url.trim_end_matches('/') == typed.trim_end_matches('/')
    };
    if let Some((key, _)) = records.iter().find(|(_, record)| address(record)) {
        return Ok(*key);
    }
    let wanted = typed.to_lowercase();
    let exact: Vec<FeedKey> = find_matching(records, |title| title == wanted);
    let partial = if exact.is_empty() {
        find_matching(records, |title| title.contains(&wanted))
    } else {
        exact
    };
    match partial.as_slice() {
        [only] => Ok(*only),
        [] => Err(Failure::new(format!(
            "no subscription is called '{typed}'; 'backissue feeds' lists them"
        ))),
        several => {
            let names: Vec<String> = several
                .iter()
                .take(5)
                .filter_map(|key| Some(format!("{key} '{}'", records.get(key)?.shown_title())))
                .collect();
            Err(Failure::new(format!(
                "'{typed}' fits {} subscriptions ({}); name one by its number",
                several.len(),
                names.join(", ")
            )))
        }
    }
}

/// The subscription meant by `typed`.
pub(super) fn find_subscription(engine: &Engine, typed: &str) -> Result<FeedKey, Failure> {
    let records = engine.feeds.iter().map(|(key, feed)| (*key, feed.record.clone()));
    find_feed(&records.collect(), typed)
}

fn find_matching(
    records: &BTreeMap<FeedKey, SubscriptionRecord>,
    fits: impl Fn(&str) -> bool,
) -> Vec<FeedKey> {
    let hits = records.iter().filter(|(_, record)| fits(&record.shown_title().to_lowercase()));
    hits.map(|(key, _)| *key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> BTreeMap<FeedKey, SubscriptionRecord> {
        let record = |url: &str, title: &str| SubscriptionRecord {
            url: url.into(),
            title: Some(title.into()),
            ..SubscriptionRecord::default()
        };
        BTreeMap::from([
            (FeedKey(1), record("https://a.example/feed", "Orchard Notes")),
            (FeedKey(2), record("https://b.example/feed", "Orchard")),
            (FeedKey(7), record("https://c.example/feed", "Bell Tower")),
        ])
    }

    #[test]
    fn a_feed_is_found_by_number_address_title_or_part_of_it() {
        for (typed, expected) in [
            ("7", 7),
            ("https://a.example/feed/", 1),
            ("orchard", 2),
            ("notes", 1),
            ("bell tower", 7),
        ] {
            assert_eq!(find_feed(&records(), typed).unwrap(), FeedKey(expected), "{typed}");
        }
    }

    #[test]
    fn what_fits_several_or_none_is_told() {
        assert!(
            find_feed(&records(), "or").unwrap_err().sentence.contains("fits 2 subscriptions"),
            "Orchard and Orchard Notes"
        );
        assert!(find_feed(&records(), "e").unwrap_err().sentence.contains("fits 2"));
        assert!(find_feed(&records(), "9").unwrap_err().sentence.contains("no subscription"));
    }
}

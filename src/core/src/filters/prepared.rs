//! Filters with parsed queries, ready to match entries.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::entry_filter::EntryFilter;
use crate::search::{Condition, FeedNames, Subject, parse};

/// Filters with their queries parsed, in the original order of the filters.
#[derive(Debug, Clone, Default)]
pub struct PreparedFilters {
    filters: Vec<Prepared>,
}

#[derive(Debug, Clone)]
struct Prepared {
    filter: EntryFilter,
    condition: Condition,
}

impl PreparedFilters {
    /// Parses the queries of the filters. A filter with an invalid query matches nothing.
    pub fn new(filters: &[EntryFilter], zone: Tz) -> Self {
        let prepared = filters.iter().filter_map(|filter| {
            let condition = parse(&filter.query, false, zone).ok()?.condition;
            Some(Prepared { filter: filter.clone(), condition })
        });
        Self { filters: prepared.collect() }
    }

    /// Returns the unexpired filters that apply to a feed.
    #[must_use]
    pub fn for_feed(&self, feed: &FeedNames<'_>, now: DateTime<Utc>) -> Self {
        let looks = |ready: &&Prepared| {
            !ready.filter.is_over(now) && ready.filter.scope.covers(feed.key, feed.tags)
        };
        Self { filters: self.filters.iter().filter(looks).cloned().collect() }
    }

    /// Checks whether there are no filters.
    pub const fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// Checks whether any filter has a condition on the text of entries.
    pub fn looks_at_texts(&self) -> bool {
        self.filters.iter().any(|ready| ready.condition.looks_at_bodies())
    }

    /// Checks whether any filter has a condition on labels.
    pub fn looks_at_labels(&self) -> bool {
        self.filters.iter().any(|ready| ready.condition.looks_at_labels())
    }

    /// Returns the filters that match an entry, in their order. Each filter sees what the filters before it did to the entry. The
    /// filters must already be limited to the entry's feed.
    pub fn hits(&self, entry: &Subject<'_>) -> Vec<&EntryFilter> {
        let (mut flags, mut labels) = (entry.flags, entry.labels.to_vec());
        let mut hits = Vec::new();
        for Prepared { filter, condition } in &self.filters {
            if condition.holds(&Subject { flags, labels: &labels, ..*entry }) {
                flags = filter.action.done_to(flags);
                labels.extend(filter.action.label().map(str::to_owned));
                hits.push(filter);
            }
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::Entry;
    use crate::filters::{Action, FilterScope};
    use crate::history::rank::{Position, Rank};
    use crate::history::{EntryBody, FeedKey, Flags, KeptEntry};
    use crate::search::EntryTexts;

    fn at(day: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + day * 86_400, 0).unwrap()
    }

    /// Returns the numbers of the filters that match an entry of a feed with the tag `garden`, listed a day ago.
    fn hits(filters: &[EntryFilter]) -> Vec<u32> {
        let rank = Rank::new(None, None, Position::Subscription, at(0));
        let entry = Entry {
            title: Some("Sponsored: ladders".into()),
            author: Some("Ann Orchard".into()),
            link: Some("https://shop.example/ladder".into()),
            categories: vec!["Late pruning".into()],
            ..Entry::default()
        };
        let kept = KeptEntry::from_copy(&entry, at(0), rank);
        let body = EntryBody {
            content: Some("<p>Buy a <b>ladder</b> now</p>".into()),
            ..EntryBody::default()
        };
        let tags = ["garden".to_owned()];
        let feed = FeedNames {
            key: FeedKey(1),
            title: "Orchard Notes",
            address: "https://orchard.example/feed",
            tags: &tags,
        };
        let judge = PreparedFilters::new(filters, Tz::UTC).for_feed(&feed, at(1));
        let texts = EntryTexts::new(&kept, Some(&body));
        let (flags, listed) = (Flags::NEW, at(0).timestamp());
        let subject = Subject { feed, flags, listed, labels: &[], texts: &texts, now: at(1) };
        judge.hits(&subject).iter().map(|filter| filter.id).collect()
    }

    fn filter(query: &str) -> EntryFilter {
        EntryFilter { query: query.into(), ..EntryFilter::default() }
    }

    #[test]
    fn a_filter_matches_by_its_query() {
        for (query, hit) in [
            ("sponsored", true),
            ("ladders OR frost", true),
            ("sponsor", false),
            ("*sponsor*", true),
            ("sponsored author:ann \"buy a ladder\"", true),
            ("\"<b>ladder\"", false),
            ("*\"<b>\"*", false),
            ("sponsored author:bob", false),
            ("text:/\\bnow$/", true),
            ("title:/^sponsored/ -author:bob", true),
            ("/(/", false),
            ("link:shop.example category:pruning", true),
            ("category:\"pruning late\"", false),
            ("feed:orchard tag:garden is:unread", true),
            ("-feed:orchard", false),
            ("age:<2d", true),
            ("age:>2d", false),
            ("label:later", false),
        ] {
            assert_eq!(!hits(&[filter(query)]).is_empty(), hit, "{query}");
        }
    }

    #[test]
    fn filter_applies_only_to_its_feeds_and_period() {
        let hit = |scope, until| !hits(&[EntryFilter { scope, until, ..filter("") }]).is_empty();
        assert!(hit(FilterScope::Feed(FeedKey(1)), None));
        assert!(!hit(FilterScope::Feed(FeedKey(2)), None));
        assert!(hit(FilterScope::Tag("garden".into()), Some(at(2))));
        assert!(!hit(FilterScope::Tag("garden".into()), Some(at(1))));
        assert!(!hit(FilterScope::Tag("sound".into()), None));
    }

    #[test]
    fn a_filter_sees_what_earlier_filters_did() {
        let first =
            EntryFilter { id: 1, action: Action::Label("Ad".into()), ..filter("sponsored") };
        let second = EntryFilter { id: 2, action: Action::Read, ..filter("label:ad is:unread") };
        let third = EntryFilter { id: 3, ..filter("is:unread") };
        assert_eq!(hits(&[first.clone(), second.clone(), third.clone()]), [1, 2]);
        assert_eq!(hits(&[third, second, first]), [3, 1]);
    }
}

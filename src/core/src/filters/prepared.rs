//! Filters with parsed patterns, ready to match entries.

use chrono::{DateTime, Utc};

use super::entry_filter::EntryFilter;
use super::pattern::Pattern;
use super::subject::FilterSubject;
use crate::history::FeedKey;

/// Filters with their patterns parsed, in the original order of the filters.
#[derive(Debug, Clone, Default)]
pub struct PreparedFilters {
    filters: Vec<Prepared>,
}

#[derive(Debug, Clone)]
struct Prepared {
    filter: EntryFilter,
    title: Pattern,
    author: Pattern,
    text: Pattern,
}

impl Prepared {
    fn new(filter: &EntryFilter) -> Option<Self> {
        let read = |typed: &str| Pattern::read(typed).ok();
        let (title, author, text) =
            (read(&filter.title)?, read(&filter.author)?, read(&filter.text)?);
        Some(Self { filter: filter.clone(), title, author, text })
    }

    /// Checks whether an entry matches the filter. The entry's text is checked last, because preparing it takes longest.
    fn hits(&self, entry: &FilterSubject<'_>) -> bool {
        self.title.is_in(entry.title(), || entry.plain_title())
            && self.author.is_in(entry.author(), || entry.plain_author())
            && (self.text.is_any() || self.text.is_in(entry.text(), || entry.plain_text()))
    }
}

impl PreparedFilters {
    /// Parses the patterns of the filters. A filter with an invalid pattern matches nothing.
    pub fn new(filters: &[EntryFilter]) -> Self {
        Self { filters: filters.iter().filter_map(Prepared::new).collect() }
    }

    /// Returns the unexpired filters that apply to a feed with these tags.
    #[must_use]
    pub fn for_feed(&self, feed: FeedKey, tags: &[String], now: DateTime<Utc>) -> Self {
        let looks =
            |ready: &&Prepared| !ready.filter.is_over(now) && ready.filter.scope.covers(feed, tags);
        Self { filters: self.filters.iter().filter(looks).cloned().collect() }
    }

    /// Checks whether there are no filters.
    pub const fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    /// Checks whether any filter has a condition on the text of entries.
    pub fn looks_at_texts(&self) -> bool {
        self.filters.iter().any(|ready| !ready.text.is_any())
    }

    /// Returns the filters that match an entry. The filters must already be limited to the entry's feed.
    pub fn hits(&self, entry: &FilterSubject<'_>) -> impl Iterator<Item = &EntryFilter> {
        self.filters.iter().filter(|ready| ready.hits(entry)).map(|ready| &ready.filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::Entry;
    use crate::filters::FilterScope;
    use crate::history::rank::{Position, Rank};
    use crate::history::{EntryBody, KeptEntry};

    fn at(day: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + day * 86_400, 0).unwrap()
    }

    fn kept(title: &str, author: &str) -> KeptEntry {
        let rank = Rank::new(None, None, Position::Subscription, at(0));
        let entry =
            Entry { title: Some(title.into()), author: Some(author.into()), ..Entry::default() };
        KeptEntry::from_copy(&entry, at(0), rank)
    }

    fn hit(filter: EntryFilter) -> bool {
        let kept = kept("Sponsored: ladders", "Ann Orchard");
        let body =
            EntryBody { content: Some("<p>Buy a <b>ladder</b> now</p>".into()), summary: None };
        let judge = PreparedFilters::new(&[filter]).for_feed(FeedKey(1), &["garden".into()], at(1));
        let subject = FilterSubject::new(FeedKey(1), &kept, Some(&body));
        judge.hits(&subject).next().is_some()
    }

    #[test]
    fn all_conditions_of_a_filter_must_match() {
        let filter = |title: &str, author: &str, text: &str| EntryFilter {
            title: title.into(),
            author: author.into(),
            text: text.into(),
            ..EntryFilter::default()
        };
        assert!(hit(filter("sponsored", "", "")));
        assert!(hit(filter("sponsored", "ann", "\"buy a ladder\"")));
        assert!(!hit(filter("sponsored", "ann", "\"<b>ladder\"")), "markup is no text");
        assert!(!hit(filter("sponsored", "bob", "")));
        assert!(hit(filter("", "", "/\\bnow$/")));
        assert!(!hit(filter("/(/", "", "")), "what cannot be read hits nothing");
    }

    #[test]
    fn filter_applies_only_to_its_feeds_and_period() {
        let filter = |scope, until| EntryFilter { scope, until, ..EntryFilter::default() };
        assert!(hit(filter(FilterScope::Feed(FeedKey(1)), None)));
        assert!(!hit(filter(FilterScope::Feed(FeedKey(2)), None)));
        assert!(hit(filter(FilterScope::Tag("garden".into()), Some(at(2)))));
        assert!(!hit(filter(FilterScope::Tag("garden".into()), Some(at(1)))));
        assert!(!hit(filter(FilterScope::Tag("sound".into()), None)));
    }
}

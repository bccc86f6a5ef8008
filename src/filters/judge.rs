//! Rules made ready to look at entries.

use chrono::{DateTime, Utc};

use super::pattern::Pattern;
use super::rule::EntryFilter;
use super::subject::FilterSubject;
use crate::history::FeedKey;

/// Rules with their patterns read, in their order.
#[derive(Debug, Clone, Default)]
pub struct PreparedFilters {
    rules: Vec<Prepared>,
}

#[derive(Debug, Clone)]
struct Prepared {
    rule: EntryFilter,
    title: Pattern,
    author: Pattern,
    text: Pattern,
}

impl Prepared {
    fn new(rule: &EntryFilter) -> Option<Self> {
        let read = |typed: &str| Pattern::read(typed).ok();
        let (title, author, text) = (read(&rule.title)?, read(&rule.author)?, read(&rule.text)?);
        Some(Self { rule: rule.clone(), title, author, text })
    }

    /// Whether an entry fits; the text is looked at last.
    fn hits(&self, entry: &FilterSubject<'_>) -> bool {
        self.title.is_in(entry.title(), || entry.plain_title())
            && self.author.is_in(entry.author(), || entry.plain_author())
            && (self.text.is_any() || self.text.is_in(entry.text(), || entry.plain_text()))
    }
}

impl PreparedFilters {
    /// Makes rules ready; one that cannot be read hits nothing.
    pub fn new(rules: &[EntryFilter]) -> Self {
        Self { rules: rules.iter().filter_map(Prepared::new).collect() }
    }

    /// Those of the rules that look at a feed with these tags, now.
    #[must_use]
    pub fn for_feed(&self, feed: FeedKey, tags: &[String], now: DateTime<Utc>) -> Self {
        let looks =
            |ready: &&Prepared| !ready.rule.is_over(now) && ready.rule.scope.covers(feed, tags);
        Self { rules: self.rules.iter().filter(looks).cloned().collect() }
    }

    /// No rule is among them.
    pub const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether texts are looked at.
    pub fn looks_at_texts(&self) -> bool {
        self.rules.iter().any(|ready| !ready.text.is_any())
    }

    /// The rules that hit an entry of a feed they look at.
    pub fn hits(&self, entry: &FilterSubject<'_>) -> impl Iterator<Item = &EntryFilter> {
        self.rules.iter().filter(|ready| ready.hits(entry)).map(|ready| &ready.rule)
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

    fn hit(rule: EntryFilter) -> bool {
        let kept = kept("Sponsored: ladders", "Ann Orchard");
        let body =
            EntryBody { content: Some("<p>Buy a <b>ladder</b> now</p>".into()), summary: None };
        let judge = PreparedFilters::new(&[rule]).for_feed(FeedKey(1), &["garden".into()], at(1));
        let subject = FilterSubject::new(FeedKey(1), &kept, Some(&body));
        judge.hits(&subject).next().is_some()
    }

    #[test]
    fn all_conditions_of_a_rule_must_fit() {
        let rule = |title: &str, author: &str, text: &str| EntryFilter {
            title: title.into(),
            author: author.into(),
            text: text.into(),
            ..EntryFilter::default()
        };
        assert!(hit(rule("sponsored", "", "")));
        assert!(hit(rule("sponsored", "ann", "\"buy a ladder\"")));
        assert!(!hit(rule("sponsored", "ann", "\"<b>ladder\"")), "markup is no text");
        assert!(!hit(rule("sponsored", "bob", "")));
        assert!(hit(rule("", "", "/\\bnow$/")));
        assert!(!hit(rule("/(/", "", "")), "what cannot be read hits nothing");
    }

    #[test]
    fn a_rule_looks_only_at_its_feeds_and_only_in_its_time() {
        let rule = |scope, until| EntryFilter { scope, until, ..EntryFilter::default() };
        assert!(hit(rule(FilterScope::Feed(FeedKey(1)), None)));
        assert!(!hit(rule(FilterScope::Feed(FeedKey(2)), None)));
        assert!(hit(rule(FilterScope::Tag("garden".into()), Some(at(2)))));
        assert!(!hit(rule(FilterScope::Tag("garden".into()), Some(at(1)))));
        assert!(!hit(rule(FilterScope::Tag("sound".into()), None)));
    }
}

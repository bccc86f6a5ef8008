//! The conditions of a query as a tree, and how a tree is judged if only some of its leaves are known: names of feeds, tags and
//! labels, and instants as typed in a query.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, NaiveTime, TimeZone, Utc};
use chrono_tz::Tz;

use super::text_test::{EntryRegex, EntryTexts, Term, TextTest};
use crate::feed::dates::calendar::{Period, day_start};
use crate::history::{FeedKey, Flags};
use crate::words::frequency::{Frequency, RateLimit};

/// A condition that an entry meets or does not meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// All of these conditions hold. Without conditions, every entry matches.
    All(Vec<Self>),
    /// At least one of these conditions holds.
    Any(Vec<Self>),
    /// The condition does not hold.
    Not(Box<Self>),
    /// A single test.
    Leaf(Leaf),
}

/// A single test of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leaf {
    /// A test of its texts.
    Text(TextTest),
    /// A test of the names of its feed, tags or labels.
    Name(NameTest),
    /// A test of how often its feed publishes.
    Rate(RateLimit),
    /// A test of its feed, its marks or its date, which lists know without reading the entry.
    Row(RowTest),
}

/// A test of the feed, the marks or the date of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowTest {
    /// The entry has a state.
    Is(EntryState),
    /// The entry is listed at this instant or later.
    Since(When),
    /// The entry is listed before this instant.
    Before(When),
    /// The entry belongs to one of these feeds. Names of feeds and tags are replaced by this when they are looked up.
    InFeeds(BTreeSet<FeedKey>),
}

/// A state of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// The entry is not read.
    Unread,
    Read,
    /// The entry is starred.
    Starred,
    /// The publisher edited the entry, and its previous text is kept.
    Edited,
    /// A filter hides the entry.
    Hidden,
    /// The result is a gap in a feed's history instead of an entry.
    Gap,
}

/// Everything about an entry that a condition can refer to.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'e> {
    /// The feed of the entry.
    pub feed: QueriedFeed<'e>,
    /// Marks of the entry.
    pub flags: Flags,
    /// Date that the entry is listed under, in Unix seconds.
    pub listed: i64,
    /// Labels of the entry.
    pub labels: &'e [String],
    /// Texts of the entry.
    pub texts: &'e EntryTexts<'e>,
    /// The current time, from which ages are counted.
    pub now: DateTime<Utc>,
}

impl Default for Condition {
    fn default() -> Self {
        Self::All(Vec::new())
    }
}

impl Condition {
    /// Joins conditions that must all hold. The ones that are quick to check come first.
    pub(super) fn all(mut parts: Vec<Self>) -> Self {
        parts.sort_by_key(Self::cost);
        match parts.pop() {
            Some(only) if parts.is_empty() => only,
            last => {
                parts.extend(last);
                Self::All(parts)
            }
        }
    }

    /// Joins conditions of which one must hold; `None` if there are none.
    pub(super) fn any(mut parts: Vec<Self>) -> Option<Self> {
        parts.sort_by_key(Self::cost);
        let last = parts.pop()?;
        if parts.is_empty() {
            return Some(last);
        }
        parts.push(last);
        Some(Self::Any(parts))
    }

    pub(super) fn negated(self) -> Self {
        if let Self::Not(inner) = self { *inner } else { Self::Not(Box::new(self)) }
    }

    /// A rough measure of the time that the condition takes to check.
    fn cost(&self) -> usize {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().map(Self::cost).fold(1, usize::saturating_add)
            }
            Self::Not(inner) => inner.cost(),
            Self::Leaf(Leaf::Row(_)) => 0,
            Self::Leaf(Leaf::Name(_) | Leaf::Rate(_)) => 1,
            Self::Leaf(Leaf::Text(test)) => test.cost(),
        }
    }

    /// Judges the condition by its leaves. A leaf for which `known` returns `None` is unknown; the result is `None` if it depends
    /// on unknown leaves.
    pub fn judge<K>(&self, known: &mut K) -> Option<bool>
    where
        K: FnMut(&Leaf) -> Option<bool>,
    {
        let mut doubt = false;
        match self {
            Self::All(parts) => {
                for part in parts {
                    match part.judge(known) {
                        Some(false) => return Some(false),
                        Some(true) => {}
                        None => doubt = true,
                    }
                }
                (!doubt).then_some(true)
            }
            Self::Any(parts) => {
                for part in parts {
                    match part.judge(known) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => doubt = true,
                    }
                }
                (!doubt).then_some(false)
            }
            Self::Not(inner) => inner.judge(known).map(|holds| !holds),
            Self::Leaf(leaf) => known(leaf),
        }
    }

    /// Checks whether an entry meets the condition.
    pub fn holds(&self, entry: &Subject<'_>) -> bool {
        let mut known = |leaf: &Leaf| {
            Some(match leaf {
                Leaf::Text(test) => test.holds(entry.texts),
                Leaf::Name(test) => test.holds(&entry.feed, entry.labels),
                Leaf::Rate(limit) => limit.holds(entry.feed.frequency),
                Leaf::Row(test) => test.holds(entry.feed.key, entry.flags, entry.listed, entry.now),
            })
        };
        self.judge(&mut known) == Some(true)
    }

    /// Calls `visit` for each leaf, with `true` if the leaf is not negated.
    fn each_leaf<'c>(&'c self, wanted: bool, visit: &mut dyn FnMut(&'c Leaf, bool)) {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.each_leaf(wanted, visit);
                }
            }
            Self::Not(inner) => inner.each_leaf(!wanted, visit),
            Self::Leaf(leaf) => visit(leaf, wanted),
        }
    }

    /// Returns the words and phrases of the condition, each with `true` if it is not negated.
    pub fn terms(&self) -> Vec<(&Term, bool)> {
        let mut terms = Vec::new();
        self.each_leaf(true, &mut |leaf, wanted| {
            if let Leaf::Text(TextTest::Words(term)) = leaf {
                terms.push((term, wanted));
            }
        });
        terms
    }

    /// Returns the tests of texts in their order.
    pub fn text_tests(&self) -> Vec<&TextTest> {
        let mut tests = Vec::new();
        self.each_leaf(true, &mut |leaf, _| {
            if let Leaf::Text(test) = leaf {
                tests.push(test);
            }
        });
        tests
    }

    /// Checks whether any leaf is accepted by `is`.
    pub(crate) fn has_leaf(&self, mut is: impl FnMut(&Leaf, bool) -> bool) -> bool {
        let mut found = false;
        self.each_leaf(true, &mut |leaf, wanted| found |= is(leaf, wanted));
        found
    }

    /// Checks whether every entry matches: there is no condition, or only an expression that matches every text.
    pub fn is_everything(&self) -> bool {
        self.judge(&mut |leaf| match leaf {
            Leaf::Text(test) => test.is_everywhere().then_some(true),
            Leaf::Name(_) | Leaf::Rate(_) | Leaf::Row(_) => None,
        }) == Some(true)
    }

    /// Checks whether the condition asks for labels, which filters or users add to entries.
    pub fn looks_at_labels(&self) -> bool {
        self.has_leaf(|leaf, _| {
            matches!(leaf, Leaf::Name(test) if matches!(test.kind, NameKind::Label | NameKind::Tag))
        })
    }

    /// Checks whether the condition asks for the text of entries.
    pub fn looks_at_bodies(&self) -> bool {
        self.has_leaf(|leaf, _| matches!(leaf, Leaf::Text(test) if test.field().has_body()))
    }
}

impl RowTest {
    /// Checks an entry of a feed with these marks that is listed at this time, in Unix seconds.
    pub fn holds(&self, feed: FeedKey, flags: Flags, listed: i64, now: DateTime<Utc>) -> bool {
        match self {
            Self::Is(EntryState::Unread) => flags.is_unread(),
            Self::Is(EntryState::Read) => flags.is_read(),
            Self::Is(EntryState::Starred) => flags.is_starred(),
            Self::Is(EntryState::Edited) => flags.is_edited(),
            Self::Is(EntryState::Hidden) => flags.is_hidden(),
            Self::Is(EntryState::Gap) => false,
            Self::Since(when) => listed >= when.seconds(now),
            Self::Before(when) => listed < when.seconds(now),
            Self::InFeeds(feeds) => feeds.contains(&feed),
        }
    }
}

/// A test of the name of a feed, tag or label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameTest {
    /// Whose name is tested.
    pub kind: NameKind,
    /// What the name must be.
    pub pattern: NamePattern,
    /// Where the test is in the query.
    pub at: NamePosition,
}

/// A part of a query by its characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NamePosition {
    /// Number of characters before the part.
    pub from: usize,
    /// Number of characters before the end of the part.
    pub to: usize,
}

/// Whose name is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    Feed,
    /// A tag of the feed, or a label of the entry.
    Tag,
    /// A label of the entry.
    Label,
}

/// What a name must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePattern {
    /// A name in lower case: a part of the title or address of a feed, or its number; or a whole tag or label.
    Is(String),
    /// A regular expression that matches a part of the name.
    Regex(EntryRegex),
}

/// What a query can ask of a feed.
#[derive(Debug, Clone, Copy)]
pub struct QueriedFeed<'f> {
    /// Number of the feed.
    pub key: FeedKey,
    /// Title as lists show it.
    pub title: &'f str,
    pub address: &'f str,
    /// Tags of the feed.
    pub tags: &'f [String],
    /// How often the feed publishes.
    pub frequency: Frequency,
}

impl NameTest {
    /// Checks the names of a feed and of the labels of an entry.
    pub fn holds(&self, feed: &QueriedFeed<'_>, labels: &[String]) -> bool {
        match self.kind {
            NameKind::Feed => self.is_called(feed),
            NameKind::Tag => self.is_tagged(feed) || labels.iter().any(|one| self.is_label(one)),
            NameKind::Label => labels.iter().any(|label| self.is_label(label)),
        }
    }

    /// Checks whether the pattern is a part of a feed's title or address, or the number of the feed.
    pub fn is_called(&self, feed: &QueriedFeed<'_>) -> bool {
        match &self.pattern {
            NamePattern::Is(name) => {
                let has = |text: &str| text.to_lowercase().contains(name.as_str());
                has(feed.title) || has(feed.address) || name.parse() == Ok(feed.key.0)
            }
            NamePattern::Regex(regex) => regex.is_in(feed.title) || regex.is_in(feed.address),
        }
    }

    /// Checks whether a feed has the tag or a tag nested in it.
    pub fn is_tagged(&self, feed: &QueriedFeed<'_>) -> bool {
        feed.tags.iter().any(|tag| match &self.pattern {
            NamePattern::Is(name) => {
                let tag = tag.to_lowercase();
                let below = tag.strip_prefix(name.as_str());
                below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            NamePattern::Regex(regex) => regex.is_in(tag),
        })
    }

    /// Checks whether a label has the name.
    pub fn is_label(&self, label: &str) -> bool {
        match &self.pattern {
            NamePattern::Is(name) => label.to_lowercase() == *name,
            NamePattern::Regex(regex) => regex.is_in(label),
        }
    }
}

/// An instant in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// A fixed instant.
    At(DateTime<Utc>),
    /// A period before the current time.
    Ago(Period),
}

impl When {
    /// Parses an instant: the start of the year `2014`, of the month `2014-03` or of the day `2014-03-05`, or the
    /// time `2014-03-05 07:30` or `2014-03-05T07:30`; or the time `7d`, `2w`,
    /// `6m` or `1y` before now.
    pub fn typed(typed: &str, zone: Tz) -> Option<Self> {
        if let Some(period) = Period::typed(typed) {
            return Some(Self::Ago(period));
        }
        if let Some((day, time)) = typed.split_once(['T', ' ']) {
            let time = NaiveTime::parse_from_str(time, "%H:%M").ok()?;
            let local = NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()?.and_time(time);
            // At the end of summer time, a time occurs twice; in a gap of the clock, none does.
            let at = zone.from_local_datetime(&local).earliest();
            return Some(Self::At(
                at.map_or_else(|| day_start(local.date(), zone), |at| at.to_utc()),
            ));
        }
        let whole = match typed.bytes().filter(|byte| *byte == b'-').count() {
            0 => format!("{typed}-01-01"),
            1 => format!("{typed}-01"),
            _ => typed.to_owned(),
        };
        Some(Self::At(day_start(NaiveDate::parse_from_str(&whole, "%Y-%m-%d").ok()?, zone)))
    }

    /// Returns the same instant, no longer counted from the current time.
    #[must_use]
    pub fn fixed(self, now: DateTime<Utc>) -> Self {
        Self::At(match self {
            Self::At(at) => at,
            // A period that is longer than the calendar excludes nothing.
            Self::Ago(period) => period.before(now).unwrap_or(DateTime::<Utc>::MIN_UTC),
        })
    }

    /// Returns the instant in Unix seconds.
    pub(super) fn seconds(self, now: DateTime<Utc>) -> i64 {
        match self.fixed(now) {
            Self::At(at) => at.timestamp(),
            Self::Ago(_) => i64::MIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_months_days_and_spans_are_read() {
        let now = "2026-03-02T10:00:00Z".parse().unwrap();
        for (typed, expected) in [
            ("2014", "2014-01-01T00:00:00Z"),
            ("2014-03", "2014-03-01T00:00:00Z"),
            ("2014-03-05", "2014-03-05T00:00:00Z"),
            ("2014-03-05 07:30", "2014-03-05T07:30:00Z"),
            ("2014-03-05T07:30", "2014-03-05T07:30:00Z"),
            ("7d", "2026-02-23T10:00:00Z"),
            ("2W", "2026-02-16T10:00:00Z"),
            ("1m", "2026-02-02T10:00:00Z"),
            ("3y", "2023-03-02T10:00:00Z"),
            ("12h", "2026-03-01T22:00:00Z"),
        ] {
            let expected: DateTime<Utc> = expected.parse().unwrap();
            let read = When::typed(typed, Tz::UTC).unwrap();
            assert_eq!(read.fixed(now), When::At(expected), "{typed}");
            assert_eq!(read.seconds(now), expected.timestamp(), "{typed}");
        }
        for typed in ["", "d", "x7d", "2014-13", "2014-02-30", "4294967295y", "1-2-3-4", "日"] {
            assert_eq!(When::typed(typed, Tz::UTC), None, "{typed}");
        }
        let long = When::typed("4000000000d", Tz::UTC).unwrap();
        assert_eq!(long.fixed(now), When::At(DateTime::<Utc>::MIN_UTC));
        let vienna = When::typed("2014", Tz::Europe__Vienna).unwrap();
        assert_eq!(vienna, When::At("2013-12-31T23:00:00Z".parse().unwrap()));
    }
}

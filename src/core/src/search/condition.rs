//! The conditions of a query as a tree, and how a tree is judged if only some of its leaves are known.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::entry_texts::EntryTexts;
use super::name_test::{FeedNames, NameKind, NameTest};
use super::text_test::{Term, TextTest};
use super::when::When;
use crate::history::{FeedKey, Flags};

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
    /// A filter hides the entry.
    Hidden,
    /// The result is a gap in a feed's history instead of an entry.
    Gap,
}

/// Everything about an entry that a condition can refer to.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'e> {
    /// The feed of the entry.
    pub feed: FeedNames<'e>,
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
            Self::Leaf(Leaf::Name(_)) => 1,
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
    pub(super) fn has_leaf(&self, mut is: impl FnMut(&Leaf, bool) -> bool) -> bool {
        let mut found = false;
        self.each_leaf(true, &mut |leaf, wanted| found |= is(leaf, wanted));
        found
    }

    /// Checks whether every entry matches: there is no condition, or only an expression that matches every text.
    pub fn is_everything(&self) -> bool {
        self.judge(&mut |leaf| match leaf {
            Leaf::Text(test) => test.is_everywhere().then_some(true),
            Leaf::Name(_) | Leaf::Row(_) => None,
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
            Self::Is(EntryState::Hidden) => flags.is_hidden(),
            Self::Is(EntryState::Gap) => false,
            Self::Since(when) => listed >= when.seconds(now),
            Self::Before(when) => listed < when.seconds(now),
            Self::InFeeds(feeds) => feeds.contains(&feed),
        }
    }
}

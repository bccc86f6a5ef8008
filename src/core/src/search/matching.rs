//! Queries in the form used by the store: names of feeds and tags are looked up, and ages are counted from an instant.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::condition::{
    Condition, EntryState, Leaf, NameKind, NamePattern, NameTest, QueriedFeed, RowTest,
};
use super::fields::{FlawKind, QueryFlaw};
use super::parse_query::Query;
use super::text_test::TextTest;
use crate::history::{FeedKey, Flags};

/// A query in which the names of feeds and tags are looked up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matching {
    /// What entries must meet.
    pub condition: Condition,
    /// Feeds that can have entries that meet the condition.
    pub feeds: BTreeSet<FeedKey>,
    /// Whether hidden entries are found too.
    pub hidden: bool,
    /// Maximum number of entries whose texts are read for it, the newest ones; `None` reads as many as necessary.
    pub texts_max: Option<usize>,
}

/// The names that a query can refer to.
#[derive(Debug, Clone, Copy)]
pub struct KnownNames<'n> {
    /// All feeds.
    pub feeds: &'n [QueriedFeed<'n>],
    /// All labels that an entry can have.
    pub labels: &'n [String],
}

impl KnownNames<'_> {
    fn feeds_that(&self, fits: impl Fn(&QueriedFeed<'_>) -> bool) -> BTreeSet<FeedKey> {
        self.feeds.iter().filter(|feed| fits(feed)).map(|feed| feed.key).collect()
    }
}

impl Matching {
    /// Looks up the names in a query. Returns an error for the name of a feed or tag that nothing has.
    pub fn new(query: Query, names: KnownNames<'_>, now: DateTime<Utc>) -> Result<Self, QueryFlaw> {
        let hidden = query.finds_hidden();
        let condition = looked_up(query.condition, names, now)?;
        let mut matching = Self { condition, feeds: BTreeSet::new(), hidden, texts_max: None };
        matching.limit_to(names.feeds.iter().map(|feed| feed.key));
        Ok(matching)
    }

    /// Limits the query to these feeds, except those that cannot have a matching entry.
    pub fn limit_to(&mut self, feeds: impl Iterator<Item = FeedKey>) {
        let condition = &self.condition;
        let mut possible = |key: &FeedKey| {
            let mut known = |leaf: &Leaf| match leaf {
                Leaf::Row(RowTest::InFeeds(feeds)) => Some(feeds.contains(key)),
                Leaf::Row(_) | Leaf::Text(_) | Leaf::Name(_) | Leaf::Rate(_) => None,
            };
            condition.judge(&mut known) != Some(false)
        };
        self.feeds = feeds.filter(&mut possible).collect();
    }

    /// Adds a test that entries must pass too.
    pub fn also(&mut self, test: RowTest) {
        let before = std::mem::take(&mut self.condition);
        self.condition = Condition::all(vec![before, row(test)]);
    }

    /// Checks whether an entry with these flags can be a search result. A hidden entry can be one only if the query asks for
    /// hidden entries.
    pub const fn shows(&self, flags: Flags) -> bool {
        flags.is_findable() && (!flags.is_hidden() || self.hidden)
    }

    /// Checks whether the query has words, which the index knows.
    pub fn has_words(&self) -> bool {
        !self.condition.terms().is_empty()
    }

    /// Checks whether the query has phrases, parts of words, links or regular expressions, for which the texts of entries must be
    /// read.
    pub fn reads_texts(&self) -> bool {
        let is_word = |test: &&TextTest| matches!(test, TextTest::Words(term) if !term.is_phrase());
        !self.condition.text_tests().iter().all(is_word)
    }

    /// Checks whether the query searches for gaps instead of entries.
    pub fn wants_gaps(&self) -> bool {
        let gap = Condition::Leaf(Leaf::Row(RowTest::Is(EntryState::Gap)));
        if let Condition::All(parts) = &self.condition {
            parts.contains(&gap)
        } else {
            self.condition == gap
        }
    }

    /// Checks whether a gap that is listed under a date meets the condition. Conditions on texts and marks do not apply to it.
    pub fn fits_gap(&self, feed: FeedKey, listed: DateTime<Utc>) -> bool {
        let mut known = |leaf: &Leaf| match leaf {
            Leaf::Row(RowTest::Is(EntryState::Gap)) => Some(true),
            Leaf::Row(RowTest::Is(_)) | Leaf::Text(_) | Leaf::Name(_) | Leaf::Rate(_) => None,
            Leaf::Row(test) => Some(test.holds(feed, Flags::OLD, listed.timestamp(), listed)),
        };
        self.feeds.contains(&feed) && self.condition.judge(&mut known) != Some(false)
    }
}

fn looked_up(
    condition: Condition,
    names: KnownNames<'_>,
    now: DateTime<Utc>,
) -> Result<Condition, QueryFlaw> {
    let each = |parts: Vec<Condition>| {
        parts.into_iter().map(|part| looked_up(part, names, now)).collect::<Result<Vec<_>, _>>()
    };
    Ok(match condition {
        Condition::All(parts) => Condition::All(each(parts)?),
        Condition::Any(parts) => Condition::Any(each(parts)?),
        Condition::Not(inner) => Condition::Not(Box::new(looked_up(*inner, names, now)?)),
        Condition::Leaf(Leaf::Name(test)) => named(test, names)?,
        Condition::Leaf(Leaf::Rate(limit)) => {
            row(RowTest::InFeeds(names.feeds_that(|feed| limit.holds(feed.frequency))))
        }
        Condition::Leaf(Leaf::Row(RowTest::Since(when))) => row(RowTest::Since(when.fixed(now))),
        Condition::Leaf(Leaf::Row(RowTest::Before(when))) => row(RowTest::Before(when.fixed(now))),
        Condition::Leaf(leaf @ (Leaf::Text(_) | Leaf::Row(_))) => Condition::Leaf(leaf),
    })
}

const fn row(test: RowTest) -> Condition {
    Condition::Leaf(Leaf::Row(test))
}

/// Looks up a name. The test of a label stays, because only the store knows the labels of entries.
fn named(test: NameTest, names: KnownNames<'_>) -> Result<Condition, QueryFlaw> {
    let feeds = |fits: &dyn Fn(&QueriedFeed<'_>) -> bool| names.feeds_that(fits);
    let is_label = names.labels.iter().any(|label| test.is_label(label));
    let (feeds, flaw): (_, fn(String) -> FlawKind) = match test.kind {
        NameKind::Feed => (feeds(&|feed| test.is_called(feed)), FlawKind::NoFeed),
        NameKind::Tag => (feeds(&|feed| test.is_tagged(feed)), FlawKind::NoTag),
        // A label may be asked for before the first entry has it.
        NameKind::Label => return Ok(Condition::Leaf(Leaf::Name(test))),
    };
    let is_known = !feeds.is_empty() || (is_label && test.kind != NameKind::Feed);
    if let (false, false, NamePattern::Is(name)) = (is_known, names.feeds.is_empty(), &test.pattern)
    {
        return Err(QueryFlaw { at: test.at, why: flaw(name.clone()) });
    }
    let label = (is_label && test.kind != NameKind::Feed)
        .then(|| Condition::Leaf(Leaf::Name(NameTest { kind: NameKind::Label, ..test })));
    let in_feeds = row(RowTest::InFeeds(feeds));
    Ok(match label {
        Some(label) => Condition::Any(vec![in_feeds, label]),
        None => in_feeds,
    })
}

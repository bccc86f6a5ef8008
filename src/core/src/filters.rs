//! Entry filters: which entries they match, what they do to them, and when they expire. Has no side effects; the `io` module passes
//! entries to it and writes the results.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::feed::dates::calendar::{Period, day_start};
use crate::history::{FeedKey, Flag, Flags};
use crate::search::{Condition, Leaf, QueriedFeed, QueryFlaw, Subject, parse};
use crate::{InputFlaw, flaw};

/// Maximum length of a label in characters.
const LABEL_CHARS_MAX: usize = 60;

/// An entry filter. It matches the entries of its feeds that meet its query. An empty query matches every entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredFilter")]
pub struct EntryFilter {
    /// Unique number of the filter.
    pub id: u32,
    /// Action to apply to matching entries.
    pub action: Action,
    /// The feeds that the filter applies to.
    #[serde(rename = "reach")]
    pub scope: FilterScope,
    /// Query that entries must meet, as typed by the user.
    pub query: String,
    /// Time at which the filter expires; `None` if it never does.
    pub until: Option<DateTime<Utc>>,
}

/// A filter as it is stored. Filters once had patterns for the title, the author's name and the text instead of a query.
#[derive(Default, Deserialize)]
#[serde(default)]
struct StoredFilter {
    id: u32,
    action: Action,
    reach: FilterScope,
    query: String,
    title: String,
    author: String,
    text: String,
    until: Option<DateTime<Utc>>,
}

impl From<StoredFilter> for EntryFilter {
    fn from(stored: StoredFilter) -> Self {
        let StoredFilter { id, action, reach: scope, query, title, author, text, until } = stored;
        let patterns = [("title", title), ("author", author), ("text", text)];
        let patterns = patterns.iter().map(|(field, pattern)| pattern_query(field, pattern));
        let parts: Vec<String> =
            [query].into_iter().chain(patterns).filter(|part| !part.is_empty()).collect();
        Self { id, action, scope, query: parts.join(" "), until }
    }
}

/// The action that a filter applies to an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Hides the entry from every list except the list of hidden entries. A starred entry is shown in spite of this action.
    #[default]
    Hide,
    /// Marks the entry as read.
    Read,
    Star,
    /// Adds this label to the entry. Lists show the label, and `tag:` in a search finds it.
    Label(String),
    /// Downloads the first attached file of a new entry.
    Download,
}

/// The feeds that a filter applies to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FilterScope {
    /// All feeds.
    #[default]
    Everywhere,
    /// One feed.
    Feed(FeedKey),
    /// The feeds with this tag or with a tag below it.
    Tag(String),
    /// No feed: the user chooses each entry. Such a filter is a label that is set by hand.
    ByHand,
}

impl Action {
    /// Returns the flags that an entry with the given flags has after the action.
    #[must_use]
    pub const fn done_to(&self, flags: Flags) -> Flags {
        match self {
            Self::Hide => flags.with(Flag::Hidden, true),
            Self::Read => flags.with(Flag::Read, true),
            Self::Star => flags.with(Flag::Starred, true),
            Self::Label(_) | Self::Download => flags,
        }
    }

    /// Returns the label that the action adds, if any.
    pub fn label(&self) -> Option<&str> {
        match self {
            Self::Label(label) => Some(label),
            Self::Hide | Self::Read | Self::Star | Self::Download => None,
        }
    }

    /// Describes the action as shown in a list of filters.
    pub fn words(&self) -> String {
        match self {
            Self::Hide => "hide".into(),
            Self::Read => "mark read".into(),
            Self::Star => "star".into(),
            Self::Label(label) => format!("label #{label}"),
            Self::Download => "download".into(),
        }
    }

    /// Describes the state in which the action leaves an entry, such as `hidden`.
    pub fn done_words(&self) -> String {
        match self {
            Self::Hide => "hidden".into(),
            Self::Read => "marked read".into(),
            Self::Star => "starred".into(),
            Self::Label(label) => format!("labelled #{label}"),
            Self::Download => "downloaded if new".into(),
        }
    }
}

impl FilterScope {
    /// Checks whether the filter applies to a feed with these tags.
    pub fn covers(&self, feed: FeedKey, tags: &[String]) -> bool {
        match self {
            Self::Everywhere => true,
            Self::ByHand => false,
            Self::Feed(only) => *only == feed,
            Self::Tag(wanted) => tags.iter().any(|tag| {
                let below = tag.strip_prefix(wanted.as_str());
                below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }),
        }
    }
}

impl EntryFilter {
    /// Checks whether the filter has expired at the time `now`.
    pub fn is_over(&self, now: DateTime<Utc>) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// Returns an error if the filter is invalid.
    pub fn check(&self) -> Result<(), FilterFlaw> {
        // The zone changes nothing about whether a query is understood.
        let condition = parse(&self.query, false, Tz::UTC).map_err(FilterFlaw::Query)?.condition;
        let typed = self.query.trim();
        if condition.is_everything() && !typed.is_empty() {
            return Err(FilterFlaw::NoWord(typed.to_owned()));
        }
        if typed.is_empty() && self.scope == FilterScope::Everywhere {
            return Err(FilterFlaw::HitsAll);
        }
        match self.action.label() {
            Some(label) if label.trim().is_empty() => Err(FilterFlaw::NoLabel),
            Some(label) if label.chars().count() > LABEL_CHARS_MAX => Err(FilterFlaw::LongLabel),
            Some(_) | None => Ok(()),
        }
    }

    /// Describes the filter's conditions, such as `sponsored, in 'Orchard Notes'`. `feed` is the title of the feed to which the
    /// filter is limited.
    pub fn describe(&self, feed: Option<&str>) -> String {
        let query = Some(self.query.trim().to_owned()).filter(|query| !query.is_empty());
        let scope = match &self.scope {
            FilterScope::Everywhere => None,
            FilterScope::Feed(_) => Some(format!("in '{}'", feed.unwrap_or("a removed feed"))),
            FilterScope::Tag(tag) => Some(format!("tag {tag}")),
            FilterScope::ByHand => Some("by hand".to_owned()),
        };
        [query, scope].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Why a filter is invalid. Each variant prints as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterFlaw {
    /// The query is not understood.
    #[error(transparent)]
    Query(QueryFlaw),
    /// The filter has no query and is not limited to certain feeds, so it would match every entry of every feed.
    #[error("this would match every entry: add a feed, or words to look for")]
    HitsAll,
    /// The query contains no word, so it would match every entry.
    #[error("'{0}' contains no word and would match every entry: enter a word to look for")]
    NoWord(String),
    /// No label was entered for an action that adds a label.
    #[error("enter the label to add to the entries")]
    NoLabel,
    /// The label is too long.
    #[error("this label is too long: use one or two words")]
    LongLabel,
}

/// Returns the query that matches the same entries as a pattern for a field; an empty one if the pattern contains no word.
pub fn pattern_query(field: &str, pattern: &str) -> String {
    let pattern = pattern.trim();
    let between = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    if let Some(expression) = between.filter(|expression| !expression.is_empty()) {
        return format!("{field}:/{}/", escaped(expression));
    }
    let parts = pattern.split(['"', '“', '”']).enumerate();
    let words = parts.flat_map(|(place, part)| {
        let quoted = place % 2 == 1;
        let whole = quoted.then(|| part.trim()).into_iter();
        let single = (!quoted).then(|| part.split_whitespace()).into_iter().flatten();
        whole.chain(single)
    });
    let words = words.filter(|word| !word.is_empty()).map(|word| {
        if word.chars().all(char::is_alphanumeric) {
            format!("{field}:*{word}*")
        } else {
            format!("{field}:*\"{word}\"*")
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Escapes the slashes of a regular expression that are not escaped yet.
fn escaped(expression: &str) -> String {
    let (mut out, mut after_backslash) = (String::with_capacity(expression.len()), false);
    for char in expression.chars() {
        if char == '/' && !after_backslash {
            out.push('\\');
        }
        out.push(char);
        after_backslash = char == '\\' && !after_backslash;
    }
    out
}

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
    pub fn for_feed(&self, feed: &QueriedFeed<'_>, now: DateTime<Utc>) -> Self {
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

    /// Checks whether any filter has a condition on how often feeds publish.
    pub fn looks_at_rates(&self) -> bool {
        let mut conditions = self.filters.iter().map(|ready| &ready.condition);
        conditions.any(|condition| condition.has_leaf(|leaf, _| matches!(leaf, Leaf::Rate(_))))
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

/// Parses the expiry time of a filter: a number of days, weeks, months or years from now, or the last day on which the
/// filter applies. Returns `Ok(None)` for an empty string, which means that the filter never expires. The error is a full
/// sentence.
pub fn read_until(
    typed: &str,
    now: DateTime<Utc>,
    zone: Tz,
) -> Result<Option<DateTime<Utc>>, InputFlaw> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Ok(None);
    }
    let until = Period::typed(typed)
        .and_then(|period| period.after(now))
        .or_else(|| end_of_day(typed, zone));
    match until {
        None => {
            Err(flaw!("'{typed}' is not a time: write 7d, 2w, 6m, 1y, or a day like 2027-01-31"))
        }
        Some(until) if until <= now => Err(flaw!("'{typed}' is in the past")),
        Some(until) => Ok(Some(until)),
    }
}

/// Formats the last day on which a filter applies, in the form that [`read_until`] parses.
pub fn until_text(until: DateTime<Utc>, zone: Tz) -> String {
    let last = until.checked_sub_signed(TimeDelta::seconds(1)).unwrap_or(until);
    last.with_timezone(&zone).format("%Y-%m-%d").to_string()
}

/// Returns the first instant after a day, given as `2026-03-02`.
fn end_of_day(typed: &str, zone: Tz) -> Option<DateTime<Utc>> {
    let day = NaiveDate::parse_from_str(typed, "%Y-%m-%d").ok()?.succ_opt()?;
    Some(day_start(day, zone))
}

#[cfg(test)]
mod tests {
    use crate::words::frequency::Frequency;
    use chrono::TimeZone;

    use super::*;
    use crate::feed::Entry;
    use crate::filters::{Action, FilterScope};
    use crate::history::kept::{Position, Rank};
    use crate::history::{EntryBody, FeedKey, Flags, KeptEntry};
    use crate::search::EntryTexts;

    #[test]
    fn a_filter_stored_with_patterns_becomes_one_with_a_query() {
        let stored = r#"{"id":7,"action":{"Label":"ad"},"reach":{"Tag":"news"},"title":"sale now","text":"/a\\/b/"}"#;
        let filter: EntryFilter = serde_json::from_str(stored).unwrap();
        assert_eq!(filter.scope, FilterScope::Tag("news".into()));
        assert_eq!((filter.id, filter.action.label()), (7, Some("ad")));
        assert_eq!(filter.query, "title:*sale* title:*now* text:/a\\/b/");
        let json = serde_json::to_value(&filter).unwrap();
        assert_eq!((&json["reach"]["Tag"], json.get("title")), (&"news".into(), None));
        assert_eq!(serde_json::from_value::<EntryFilter>(json).unwrap(), filter);
    }

    #[test]
    fn a_filter_is_named_by_what_it_looks_for() {
        let filter = EntryFilter {
            query: " sponsored ".into(),
            scope: FilterScope::Feed(FeedKey(1)),
            ..EntryFilter::default()
        };
        assert_eq!(filter.describe(Some("Orchard Notes")), "sponsored, in 'Orchard Notes'");
        let filter = EntryFilter { scope: FilterScope::Tag("a/b".into()), ..filter };
        assert_eq!(filter.describe(None), "sponsored, tag a/b");
    }

    #[test]
    fn a_tag_reaches_the_tags_below_it() {
        let tags = ["garden/trees".to_owned(), "sound".to_owned()];
        for (wanted, fits) in [
            ("garden", true),
            ("garden/trees", true),
            ("sound", true),
            ("gard", false),
            ("garden/tr", false),
            ("trees", false),
        ] {
            assert_eq!(FilterScope::Tag(wanted.into()).covers(FeedKey(1), &tags), fits, "{wanted}");
        }
    }

    #[test]
    fn filter_matching_all_or_lacking_a_label_is_refused() {
        let filter = EntryFilter::default();
        assert_eq!(filter.check(), Err(FilterFlaw::HitsAll));
        let filter = EntryFilter { scope: FilterScope::Feed(FeedKey(1)), ..filter };
        assert_eq!(filter.check(), Ok(()));
        let filter = EntryFilter { action: Action::Label("  ".into()), ..filter };
        assert_eq!(filter.check(), Err(FilterFlaw::NoLabel));
        for typed in
            ["\"", "\"\"", "\" \"", "“”", "++", "/.*/", "/()/ OR frost", "title:/.*/", "/^$/"]
        {
            let filter =
                EntryFilter { action: Action::Hide, query: typed.into(), ..filter.clone() };
            assert_eq!(filter.check(), Err(FilterFlaw::NoWord(typed.into())));
        }
        for typed in ["title:/^$/", "/.*/ frost", "-frost", "/f.*/"] {
            let filter =
                EntryFilter { action: Action::Hide, query: typed.into(), ..filter.clone() };
            assert_eq!(filter.check(), Ok(()), "{typed}");
        }
        let filter = EntryFilter { query: "a text:/(/".into(), ..filter };
        let said = filter.check().unwrap_err().to_string();
        assert!(said.starts_with("character 8: '/(/' is not a valid regular expression"), "{said}");
    }

    #[test]
    fn applying_a_filter_twice_changes_nothing_more() {
        for action in [Action::Hide, Action::Read, Action::Star, Action::Label("x".into())] {
            for flags in [Flags::NEW, Flags::OLD] {
                let once = action.done_to(flags);
                assert_eq!(action.done_to(once), once);
            }
        }
        assert_eq!(Action::Read.done_to(Flags::OLD), Flags::OLD, "it counts as read already");
    }

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
        let feed = QueriedFeed {
            key: FeedKey(1),
            title: "Orchard Notes",
            address: "https://orchard.example/feed",
            tags: &tags,
            frequency: Frequency::default(),
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

    #[test]
    fn times_are_parsed_as_people_write_them() {
        let now = Utc.with_ymd_and_hms(2026, 3, 2, 10, 0, 0).unwrap();
        for (typed, expected) in [
            ("7d", Some("2026-03-09")),
            ("2w", Some("2026-03-16")),
            ("1m", Some("2026-04-02")),
            ("1Y", Some("2027-03-02")),
            ("2026-03-02", Some("2026-03-02")),
            ("", None),
        ] {
            let read = read_until(typed, now, Tz::Europe__Berlin).unwrap();
            let text = read.map(|until| until_text(until, Tz::Europe__Berlin));
            assert_eq!(text.as_deref(), expected, "{typed}");
        }
        for (typed, part) in [
            ("2026-03-01", "in the past"),
            ("0d", "in the past"),
            ("soon", "is not a time"),
            ("99999999999d", "is not a time"),
            ("é", "is not a time"),
        ] {
            let why = read_until(typed, now, Tz::UTC).unwrap_err();
            assert!(why.contains(part), "{typed}: {why}");
        }
    }
}

#[cfg(test)]
mod old_pattern_tests {
    use chrono_tz::Tz;
    use proptest::prelude::*;
    use regex::RegexBuilder;

    use super::*;
    use crate::search::{EntryTexts, Leaf, folded, parse};

    /// Checks a title as filters with patterns did.
    fn matched_before(pattern: &str, title: &str) -> bool {
        let pattern = pattern.trim();
        let between = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        if let Some(expression) = between.filter(|expression| !expression.is_empty()) {
            let regex = RegexBuilder::new(expression).case_insensitive(true).build();
            return regex.is_ok_and(|regex| regex.is_match(title));
        }
        pattern.split(['"', '“', '”']).enumerate().all(|(place, part)| {
            let has = |word: &str| folded(title).contains(&folded(word));
            if place % 2 == 1 { has(part.trim()) } else { part.split_whitespace().all(has) }
        })
    }

    fn matches(pattern: &str, title: &str) -> bool {
        let query = parse(&pattern_query("title", pattern), false, Tz::UTC).unwrap();
        let mut texts = EntryTexts::default();
        texts.title = title;
        let mut known = |leaf: &Leaf| match leaf {
            Leaf::Text(test) => Some(test.holds(&texts)),
            Leaf::Name(_) | Leaf::Rate(_) | Leaf::Row(_) => None,
        };
        query.condition.judge(&mut known).unwrap()
    }

    #[test]
    fn stored_patterns_become_queries() {
        for (pattern, query) in [
            ("sponsored", "title:*sponsored*"),
            (" a  \"late frost\" x", "title:*a* title:*\"late frost\"* title:*x*"),
            ("it's", "title:*\"it's\"*"),
            ("/^a/b\\/c$/", "title:/^a\\/b\\/c$/"),
            ("//", "title:*\"//\"*"),
            ("\"\"", ""),
            ("", ""),
        ] {
            assert_eq!(pattern_query("title", pattern), query);
        }
    }

    #[test]
    fn words_match_anywhere_and_expressions_as_written() {
        for (pattern, title, hit) in [
            ("sponsor", "Sponsored: a word", true),
            ("word sponsored", "Sponsored: a word", true),
            ("word missing", "Sponsored: a word", false),
            ("\"a word\"", "Sponsored: a word", true),
            ("\"word a\"", "Sponsored: a word", false),
            ("\"a word", "Sponsored: a word", true),
            ("CAFÉ", "at the cafe", true),
            ("東京", "新東京都庁", true),
            ("", "anything", true),
            ("/^spons?ored/", "Sponsored: a word", true),
            ("/^word/", "Sponsored: a word", false),
            ("/ab|word$/", "Sponsored: a word", true),
            ("/", "and/or", true),
            ("//", "and/or", false),
            ("/etc", "see /etc for it", true),
        ] {
            assert_eq!(matches(pattern, title), hit, "{pattern} in {title}");
            assert_eq!(matched_before(pattern, title), hit, "{pattern} in {title}");
        }
    }

    proptest! {
        #[test]
        fn a_pattern_keeps_its_meaning_as_a_query(
            pattern in r#"((a|b|é| |"|\*|\(|\)|:|-|OR |/|\\/|x{2}){0,8})"#,
            title in "[abéx*():/ -]{0,12}",
        ) {
            let query = pattern_query("title", &pattern);
            // Patterns that could not be saved have no meaning to keep.
            if parse(&query, false, Tz::UTC).is_ok() {
                prop_assert_eq!(matches(&pattern, &title), matched_before(&pattern, &title), "{}", query);
            } else {
                prop_assert!(pattern.trim().starts_with('/'), "{}", query);
            }
        }
    }
}

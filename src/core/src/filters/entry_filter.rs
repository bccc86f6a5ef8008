//! A single entry filter: which entries it matches and what it does to them.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::filter_flaw::FilterFlaw;
use super::old_pattern::pattern_query;
use crate::history::{FeedKey, Flag, Flags};
use crate::search::parse;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}

//! One filter of the reader: which entries it hits, and what it does to them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::pattern::{FilterFlaw, Pattern};
use crate::history::{FeedKey, Flag, Flags};

/// Characters of a label.
const LABEL_CHARS_MAX: usize = 60;

/// A filter. All of its conditions must fit; an empty one fits everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EntryFilter {
    /// Its number, that no other one has.
    pub id: u32,
    /// What is done to the entries it hits.
    pub action: Action,
    /// Whose entries it looks at.
    #[serde(rename = "reach")]
    pub scope: FilterScope,
    /// What the title must hold, as typed; see [`Pattern::read`].
    pub title: String,
    /// What the author's name must hold.
    pub author: String,
    /// What the text must hold.
    pub text: String,
    /// From this instant on it does nothing any more; `None`: it holds for good.
    pub until: Option<DateTime<Utc>>,
}

/// What a filter does to an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// It is in no list, except that of hidden entries; a star shows it all the same.
    #[default]
    Hide,
    /// It is marked read.
    Read,
    Star,
    /// It carries a label, by which lists show it and `tag:` finds it.
    Label(String),
}

/// Whose entries a filter looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FilterScope {
    /// Those of all feeds.
    #[default]
    Everywhere,
    /// Those of one feed.
    Feed(FeedKey),
    /// Those of the feeds with a tag, or with one below it.
    Tag(String),
}

impl Action {
    /// The marks of an entry after this was done to it.
    #[must_use]
    pub const fn done_to(&self, flags: Flags) -> Flags {
        match self {
            Self::Hide => flags.with(Flag::Hidden, true),
            Self::Read => flags.with(Flag::Read, true),
            Self::Star => flags.with(Flag::Starred, true),
            Self::Label(_) => flags,
        }
    }

    /// The label it gives.
    pub fn label(&self) -> Option<&str> {
        match self {
            Self::Label(label) => Some(label),
            Self::Hide | Self::Read | Self::Star => None,
        }
    }

    /// What it does, as a list says it.
    pub fn words(&self) -> String {
        match self {
            Self::Hide => "hide".into(),
            Self::Read => "mark read".into(),
            Self::Star => "star".into(),
            Self::Label(label) => format!("label #{label}"),
        }
    }

    /// What was done to entries.
    pub fn done_words(&self) -> String {
        match self {
            Self::Hide => "hidden".into(),
            Self::Read => "marked read".into(),
            Self::Star => "starred".into(),
            Self::Label(label) => format!("labelled #{label}"),
        }
    }
}

impl FilterScope {
    /// Whether a feed with these tags is looked at.
    pub fn covers(&self, feed: FeedKey, tags: &[String]) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Feed(only) => *only == feed,
            Self::Tag(wanted) => tags.iter().any(|tag| {
                let below = tag.strip_prefix(wanted.as_str());
                below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }),
        }
    }
}

impl EntryFilter {
    /// Whether its time is over.
    pub fn is_over(&self, now: DateTime<Utc>) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// Why it cannot be, if it cannot.
    pub fn check(&self) -> Result<(), FilterFlaw> {
        let patterns = [&self.title, &self.author, &self.text];
        for typed in patterns {
            if Pattern::read(typed)?.is_any() && !typed.trim().is_empty() {
                return Err(FilterFlaw::NoWord(typed.clone()));
            }
        }
        let empty = patterns.iter().all(|typed| typed.trim().is_empty());
        if empty && self.scope == FilterScope::Everywhere {
            return Err(FilterFlaw::HitsAll);
        }
        match self.action.label() {
            Some(label) if label.trim().is_empty() => Err(FilterFlaw::NoLabel),
            Some(label) if label.chars().count() > LABEL_CHARS_MAX => Err(FilterFlaw::LongLabel),
            Some(_) | None => Ok(()),
        }
    }

    /// What it looks for, in a few words: `title ~ sponsored, in 'Orchard Notes'`. `feed`: the title of the feed it
    /// is about.
    pub fn describe(&self, feed: Option<&str>) -> String {
        let condition = |name: &str, typed: &str| {
            let typed = typed.trim();
            (!typed.is_empty()).then(|| format!("{name} ~ {typed}"))
        };
        let scope = match &self.scope {
            FilterScope::Everywhere => None,
            FilterScope::Feed(_) => Some(format!("in '{}'", feed.unwrap_or("a removed feed"))),
            FilterScope::Tag(tag) => Some(format!("tag {tag}")),
        };
        let parts = [
            condition("title", &self.title),
            condition("author", &self.author),
            condition("text", &self.text),
            scope,
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_keeps_the_field_names_it_was_stored_under() {
        let stored = r#"{"id":7,"action":{"Label":"ad"},"reach":{"Tag":"news"},"title":"sale"}"#;
        let filter: EntryFilter = serde_json::from_str(stored).unwrap();
        assert_eq!(filter.scope, FilterScope::Tag("news".into()));
        assert_eq!((filter.id, filter.action.label()), (7, Some("ad")));
        assert_eq!(serde_json::to_value(&filter).unwrap()["reach"]["Tag"], "news");
    }

    #[test]
    fn a_filter_is_named_by_what_it_looks_for() {
        let filter = EntryFilter {
            title: " sponsored ".into(),
            scope: FilterScope::Feed(FeedKey(1)),
            ..EntryFilter::default()
        };
        assert_eq!(filter.describe(Some("Orchard Notes")), "title ~ sponsored, in 'Orchard Notes'");
        let filter =
            EntryFilter { author: "Ann".into(), scope: FilterScope::Tag("a/b".into()), ..filter };
        assert_eq!(filter.describe(None), "title ~ sponsored, author ~ Ann, tag a/b");
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
    fn a_filter_that_would_hit_everything_or_gives_no_label_is_refused() {
        let filter = EntryFilter::default();
        assert_eq!(filter.check(), Err(FilterFlaw::HitsAll));
        let filter = EntryFilter { scope: FilterScope::Feed(FeedKey(1)), ..filter };
        assert_eq!(filter.check(), Ok(()));
        let filter = EntryFilter { action: Action::Label("  ".into()), ..filter };
        assert_eq!(filter.check(), Err(FilterFlaw::NoLabel));
        for typed in ["\"", "\"\"", "\" \"", "“”"] {
            let no_word = Err(FilterFlaw::NoWord(typed.into()));
            let filter = EntryFilter { action: Action::Hide, ..filter.clone() };
            assert_eq!(EntryFilter { title: typed.into(), ..filter.clone() }.check(), no_word);
            assert_eq!(EntryFilter { author: typed.into(), ..filter.clone() }.check(), no_word);
            assert_eq!(EntryFilter { text: typed.into(), ..filter }.check(), no_word);
        }
        let filter = EntryFilter { text: "/(/".into(), ..filter };
        assert!(matches!(filter.check(), Err(FilterFlaw::Regex { .. })));
    }

    #[test]
    fn what_is_done_twice_changes_nothing_more() {
        for action in [Action::Hide, Action::Read, Action::Star, Action::Label("x".into())] {
            for flags in [Flags::NEW, Flags::OLD] {
                let once = action.done_to(flags);
                assert_eq!(action.done_to(once), once);
            }
        }
        assert_eq!(Action::Read.done_to(Flags::OLD), Flags::OLD, "it counts as read already");
    }
}

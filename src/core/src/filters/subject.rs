//! An entry as seen by filters. Its text is stripped of markup and folded only if a filter needs it.

use std::cell::OnceCell;

use crate::feed::text::{one_line, strip_markup};
use crate::history::{EntryBody, FeedKey, KeptEntry};
use crate::search::folded;

/// Maximum number of characters of an entry's text that filters examine. Matching regular expressions against longer texts
/// would slow down polls.
const TEXT_CHARS_MAX: usize = 100_000;

#[derive(Debug)]
pub struct FilterSubject<'e> {
    pub feed: FeedKey,
    title: &'e str,
    author: &'e str,
    body: Option<&'e EntryBody>,
    text: OnceCell<String>,
    plain_title: OnceCell<String>,
    plain_author: OnceCell<String>,
    plain_text: OnceCell<String>,
}

impl<'e> FilterSubject<'e> {
    /// Creates a subject from the feed, the kept form and the text of an entry.
    pub fn new(feed: FeedKey, kept: &'e KeptEntry, body: Option<&'e EntryBody>) -> Self {
        Self {
            feed,
            title: kept.title.as_deref().unwrap_or_default(),
            author: kept.author.as_deref().unwrap_or_default(),
            body,
            text: OnceCell::new(),
            plain_title: OnceCell::new(),
            plain_author: OnceCell::new(),
            plain_text: OnceCell::new(),
        }
    }

    /// Returns the entry's title, or an empty string if the entry has none.
    pub(super) const fn title(&self) -> &'e str {
        self.title
    }

    /// Returns the author's name, or an empty string if the entry has none.
    pub(super) const fn author(&self) -> &'e str {
        self.author
    }

    /// Returns the entry's text on one line, without markup.
    pub(super) fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let markup = self.body.and_then(EntryBody::text).unwrap_or_default();
            one_line(&strip_markup(markup), TEXT_CHARS_MAX)
        })
    }

    pub(super) fn plain_title(&self) -> &str {
        self.plain_title.get_or_init(|| folded(self.title))
    }

    pub(super) fn plain_author(&self) -> &str {
        self.plain_author.get_or_init(|| folded(self.author))
    }

    pub(super) fn plain_text(&self) -> &str {
        self.plain_text.get_or_init(|| folded(self.text()))
    }
}

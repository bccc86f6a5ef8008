//! Finds entries of several feeds that are the same article, so that a list can show them as one row.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use super::folded;
use crate::feed::outgoing::is_tracker;
use crate::history::{EntryKey, FeedKey};

/// Maximum difference between the dates of entries with the same title, in seconds: two days.
pub const NEAR_SECONDS: u64 = 2 * 86_400;
/// Minimum length of a title that can show that entries are the same article, in characters. Shorter ones repeat: "Links".
const TITLE_CHARS_MIN: usize = 12;

/// Finds the same articles among entries that are given one by one, in the order of a list.
#[derive(Debug)]
pub struct SameArticles<'t> {
    /// Tags of the feeds; `None` if titles are not compared.
    tags: Option<&'t BTreeMap<FeedKey, Vec<String>>>,
    by_address: BTreeMap<String, EntryKey>,
    by_title: BTreeMap<String, Vec<(i64, EntryKey)>>,
    /// Feeds of the entries that are shown as the row of this entry, and its own.
    feeds: BTreeMap<EntryKey, BTreeSet<FeedKey>>,
}

impl<'t> SameArticles<'t> {
    /// Starts with no entries. With the tags of the feeds, titles are compared as well, if the feeds of the entries share a tag.
    pub const fn new(tags: Option<&'t BTreeMap<FeedKey, Vec<String>>>) -> Self {
        Self {
            tags,
            by_address: BTreeMap::new(),
            by_title: BTreeMap::new(),
            feeds: BTreeMap::new(),
        }
    }

    /// Takes the next entry of the list. Returns the earlier entry of another feed that is the same article: it has the same
    /// address or, if their feeds share a tag and their dates are near, the same title. Returns `None` if there is none.
    ///
    /// `listed` is the date of the entry in Unix seconds. Two entries of one feed are never the same article.
    pub fn take(
        &mut self,
        key: EntryKey,
        link: Option<&str>,
        title: &str,
        listed: i64,
    ) -> Option<EntryKey> {
        let address = link.and_then(article_address);
        let title = self.tags.map(|_| folded(title.trim())).unwrap_or_default();
        let by_address = address.as_ref().and_then(|address| self.by_address.get(address)).copied();
        let found = by_address.or_else(|| {
            let titled = self.by_title.get(&title).into_iter().flatten();
            let is_same = |(other, known): &&(i64, EntryKey)| {
                other.abs_diff(listed) <= NEAR_SECONDS && self.share_a_tag(known.feed, key.feed)
            };
            titled.into_iter().find(is_same).map(|(_, known)| *known)
        });
        if let Some(shown) = found
            && self.feeds.entry(shown).or_default().insert(key.feed)
        {
            return Some(shown);
        }
        self.feeds.entry(key).or_default().insert(key.feed);
        if let Some(address) = address {
            self.by_address.entry(address).or_insert(key);
        }
        if title.chars().nth(TITLE_CHARS_MIN - 1).is_some() {
            self.by_title.entry(title).or_default().push((listed, key));
        }
        None
    }

    fn share_a_tag(&self, one: FeedKey, other: FeedKey) -> bool {
        let tags = |feed| self.tags.and_then(|tags| tags.get(&feed)).into_iter().flatten();
        tags(one).any(|tag| tags(other).any(|known| known == tag))
    }
}

/// Returns an address in a form that is equal for the same page: without scheme, `www.`, slash at the end, and parameters that only
/// tell where a reader came from. The fragment stays, because the comments of a page differ by it. Returns `None` for an address that
/// names no page, such as the front page of a site.
pub fn article_address(link: &str) -> Option<String> {
    let url = Url::parse(link).ok().filter(|url| url.scheme().starts_with("http"))?;
    let host = url.host_str()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = url.path().trim_end_matches('/');
    let mut kept: Vec<String> = url
        .query_pairs()
        .filter(|(name, _)| !is_tracker(name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    kept.sort();
    let names_a_page = !path.is_empty() || !kept.is_empty();
    let fragment = url.fragment().unwrap_or_default();
    names_a_page.then(|| format!("{host}{port}{path}?{}#{fragment}", kept.join("&")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    #[test]
    fn addresses_of_one_page_are_equal() {
        for (link, same) in [
            ("https://www.site.example/a/", "http://site.example/a#"),
            ("https://site.example/a?utm_source=x&id=2", "https://site.example/a?id=2&fbclid=9"),
            ("https://site.example/?p=7", "http://SITE.example?p=7"),
        ] {
            assert_eq!(article_address(link), article_address(same), "{link} {same}");
            assert!(article_address(link).is_some(), "{link}");
        }
        let other = [
            ("https://site.example/a", "https://site.example/b"),
            ("https://site.example/?p=7", "https://site.example/?p=8"),
            ("https://site.example/a", "https://site.example:8080/a"),
            ("https://site.example/a", "https://site.example/a#comment-7"),
        ];
        for (link, other) in other {
            assert_ne!(article_address(link), article_address(other), "{link} {other}");
        }
        for link in ["https://site.example/", "mailto:a@b.example", "not a link", ""] {
            assert_eq!(article_address(link), None, "{link}");
        }
    }

    #[test]
    fn the_same_article_is_found_by_address_or_title() {
        let tag = |tag: &str| vec![tag.to_owned()];
        let tags = BTreeMap::from([
            (FeedKey(1), tag("bees")),
            (FeedKey(2), tag("bees")),
            (FeedKey(3), tag("towers")),
        ]);
        let mut same = SameArticles::new(Some(&tags));
        let key = |feed, seq| EntryKey { feed: FeedKey(feed), seq };
        let a = Some("https://site.example/a");
        let title = "How the Wax is Warmed";
        for (name, entry, link, title, listed, expected) in [
            ("the first", key(1, 0), a, title, 10 * DAY, None),
            ("by address", key(3, 0), a, "Another", 99 * DAY, Some(key(1, 0))),
            ("by title", key(2, 0), None, "how the wax is warmed", 9 * DAY, Some(key(1, 0))),
            ("once for a feed", key(2, 1), None, title, 9 * DAY, None),
            ("no shared tag", key(3, 1), None, title, 10 * DAY, None),
            ("same feed", key(1, 1), a, title, 10 * DAY, None),
            ("too old", key(2, 2), None, title, 5 * DAY, None),
            ("short title", key(1, 3), None, "Links", 10 * DAY, None),
            ("short title again", key(2, 3), None, "Links", 10 * DAY, None),
        ] {
            assert_eq!(same.take(entry, link, title, listed), expected, "{name}");
        }
    }

    #[test]
    fn titles_are_compared_only_if_wanted() {
        let mut same = SameArticles::new(None);
        let key = |feed, seq| EntryKey { feed: FeedKey(feed), seq };
        let (a, title) = (Some("https://site.example/a"), "How the Wax is Warmed");
        assert_eq!(same.take(key(1, 0), a, title, 0), None);
        assert_eq!(same.take(key(2, 0), None, title, 0), None);
        assert_eq!(same.take(key(3, 0), a, "Another", 0), Some(key(1, 0)));
    }
}

//! Finds entries of several feeds that are the same article, or whose texts link to the same page, so that a list can show them as one
//! row.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use url::Url;

use super::folded;
use crate::feed::content::markup::{Piece, walk_markup};
use crate::feed::fingerprint::article_address;
use crate::feed::identity::identity_hash;
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

/// Maximum difference between the dates of entries that share a row, in seconds: three days.
const APART_MAX: u64 = 3 * 86_400;
/// Maximum number of feeds with a link. A page that more feeds link to is a service, not a story.
const FEEDS_MAX: usize = 8;
/// Maximum number of pages that an entry about one story links to. An entry with more of them is a list of links.
const LINKS_MAX: usize = 12;

/// An entry of the last days whose text links to pages of other sites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinksInside {
    /// Number of the entry in its feed.
    pub seq: u32,
    /// Date that it is listed under, in Unix seconds.
    pub listed: i64,
    /// Hashes of the addresses of the pages.
    pub links: Vec<u64>,
}

/// Entries without a row of their own, because they link to the same page as an earlier entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoldedEntries {
    /// The entries, the earliest first.
    pub entries: Vec<EntryKey>,
    /// Hashes of the pages that they and the earlier entry link to.
    pub links: BTreeSet<u64>,
}

/// Returns the hashes of the pages of other sites that a text links to. Returns nothing for a list of links.
pub fn links_inside(text: &str, own: Option<&str>) -> Vec<u64> {
    let site = |link: &str| Url::parse(link).ok().and_then(|url| url.host_str().map(str::to_owned));
    let own = own.and_then(site);
    let mut links = BTreeSet::new();
    walk_markup(text, |piece| {
        if let Piece::Open(tag) = piece
            && tag.name() == "a"
            && links.len() <= LINKS_MAX
            && let Some(link) = tag.attribute("href")
            && let Some(address) = article_address(link)
            && site(link) != own
        {
            links.insert(identity_hash(&address));
        }
    });
    if links.len() > LINKS_MAX { Vec::new() } else { links.into_iter().collect() }
}

/// Folds the entries of a list: each under the earliest one of at most three days before that links to the same page. A page that
/// a feed links to in several entries shows nothing, and neither does one that more than eight feeds link to.
///
/// `known` is everything known of the last days, also of entries that are not in the list; `apart` has the pages whose entries are
/// not the same story.
pub fn fold_entries(
    known: &BTreeMap<FeedKey, Vec<LinksInside>>,
    listed: &BTreeSet<EntryKey>,
    apart: &BTreeSet<u64>,
) -> BTreeMap<EntryKey, FoldedEntries> {
    let of_feed = |(&feed, inside)| std::iter::repeat(feed).zip(inside);
    let all = || known.iter().flat_map(of_feed);
    let keys = all().map(|(feed, one): (_, &LinksInside)| (EntryKey { feed, seq: one.seq }, one));
    let in_list = keys.filter(|(key, _)| listed.contains(key));
    let mut entries: Vec<_> = in_list.map(|(key, one)| (one.listed, key, &one.links)).collect();
    // A page that two entries of the list link to is rare. Only for these, all feeds are looked through.
    let mut linked: Vec<u64> =
        entries.iter().flat_map(|(.., links)| links.iter().copied()).collect();
    linked.sort_unstable();
    let several = linked.chunk_by(|one, other| one == other).filter(|same| same.len() > 1);
    let several: BTreeSet<u64> = several.filter_map(|same| same.first().copied()).collect();
    let held = all().flat_map(|(feed, one)| one.links.iter().map(move |&link| (link, feed)));
    let mut holders: Vec<_> = held.filter(|(link, _)| several.contains(link)).collect();
    holders.sort_unstable();
    let of_links = holders.chunk_by(|(one, _), (other, _)| one == other);
    let of_stories = of_links.filter(|held| {
        let is_repeated = held.windows(2).any(|pair| pair.first() == pair.last());
        (2..=FEEDS_MAX).contains(&held.len()) && !is_repeated
    });
    let stories = of_stories.filter_map(|held| held.first()).map(|(link, _)| *link);
    let stories: BTreeSet<u64> = stories.filter(|link| !apart.contains(link)).collect();
    entries.sort_unstable();
    let mut earliest: BTreeMap<u64, (i64, EntryKey)> = BTreeMap::new();
    let mut folded: BTreeMap<EntryKey, FoldedEntries> = BTreeMap::new();
    for (date, key, links) in entries {
        let shared = || links.iter().copied().filter(|link| stories.contains(link));
        let near = |link: u64| {
            let (before, shown) = *earliest.get(&link)?;
            let fold = folded.get(&shown);
            let has_feed = |fold: &FoldedEntries| {
                let mut feeds = fold.entries.iter().map(|entry| entry.feed).chain([shown.feed]);
                fold.entries.len() >= FEEDS_MAX - 1 || feeds.any(|feed| feed == key.feed)
            };
            let fits = before.abs_diff(date) <= APART_MAX && !fold.is_some_and(has_feed);
            fits.then_some((shown, link))
        };
        if let Some((shown, link)) = shared().find_map(near) {
            let fold = folded.entry(shown).or_default();
            fold.entries.push(key);
            fold.links.insert(link);
        } else {
            earliest.extend(shared().map(|link| (link, (date, key))));
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

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

#[cfg(test)]
mod inside_links_tests {
    use super::*;

    const DAY: i64 = 86_400;

    #[test]
    fn pages_of_other_sites_are_found_unless_there_are_many() {
        let own = Some("https://me.example/wax");
        let found = |text: &str| links_inside(text, own).len();
        for (text, count) in [
            (
                "<a href='https://site.example/a'>a</a> <A HREF='http://www.site.example/a/'>b</A>",
                1,
            ),
            ("<a href='https://site.example/'>home</a> <a href='#note'>1</a> <a>x</a>", 0),
            ("<a href='https://me.example/about'>about</a> https://site.example/a", 0),
        ] {
            assert_eq!(found(text), count, "{text}");
        }
        let many = |count: u32| {
            let links = (0..count).map(|n| format!("<a href='https://site.example/{n}'>n</a>"));
            links.collect::<Vec<_>>().concat()
        };
        assert_eq!((found(&many(12)), found(&many(13))), (12, 0));
    }

    /// Folds entries, given by feed, number, day and links, all of which are in the list.
    fn fold(entries: &[(u32, u32, i64, &[u64])], apart: &[u64]) -> Vec<(u32, Vec<u32>)> {
        let mut known: BTreeMap<FeedKey, Vec<LinksInside>> = BTreeMap::new();
        let mut listed = BTreeSet::new();
        for &(feed, seq, day, links) in entries {
            let inside = LinksInside { seq, listed: day * DAY, links: links.to_vec() };
            known.entry(FeedKey(feed)).or_default().push(inside);
            listed.insert(EntryKey { feed: FeedKey(feed), seq });
        }
        let folded = fold_entries(&known, &listed, &apart.iter().copied().collect());
        let feeds = |fold: &FoldedEntries| fold.entries.iter().map(|key| key.feed.0).collect();
        folded.iter().map(|(key, fold)| (key.feed.0, feeds(fold))).collect()
    }

    #[test]
    fn entries_fold_under_the_earliest_that_links_to_the_same_page() {
        let story: [(u32, u32, i64, &[u64]); 3] =
            [(1, 0, 2, &[7]), (2, 0, 1, &[7, 8]), (3, 0, 3, &[7])];
        assert_eq!(fold(&story, &[]), [(2, vec![1, 3])]);
        assert_eq!(fold(&story, &[7]), []);
        assert_eq!(fold(&[(1, 0, 1, &[7]), (2, 0, 5, &[7])], &[]), [], "four days");
        assert_eq!(fold(&[(1, 0, 1, &[7]), (1, 1, 1, &[7]), (2, 0, 1, &[7])], &[]), [], "a footer");
        let feeds = |count| (1..=count).map(|feed| (feed, 0, 1, &[7_u64][..])).collect::<Vec<_>>();
        assert_eq!(fold(&feeds(8), &[]), [(1, (2..=8).collect())]);
        assert_eq!(fold(&feeds(9), &[]), [], "a service");
    }
}

//! Reads an OPML document as a feed that contains an entry for each listed feed, so that a subscription to a list shows what appears
//! in it and what disappears.

use super::read_opml::read_opml;
use super::subscription_list::OpmlFeed;
use crate::feed::address::is_web;
use crate::feed::document::{DocumentRole, FeedDocument, FeedHead, HistoryLinks, Kind};
use crate::feed::entry::Entry;
use crate::feed::flaws::Flaws;
use crate::feed::hints::Hints;
use crate::feed::outgoing::escaped_attribute;
use crate::feed::xml::tree_builder::ENTRIES_MAX;

/// Interval between two looks at a list, in minutes: a day.
const LIST_MINUTES: u32 = 24 * 60;

/// Reads a list as a feed. Returns `None` if the document is not OPML, or lists no feed.
pub(in crate::feed) fn read_list_feed(bytes: &[u8], flaws: &mut Flaws) -> Option<FeedDocument> {
    let list = read_opml(bytes).ok()?;
    let feeds = list.outlines.iter().filter(|feed| is_web(&feed.xml_url)).take(ENTRIES_MAX);
    let entries: Vec<Entry> = feeds.map(entry_of).collect();
    if entries.is_empty() {
        return None;
    }
    // What was found wrong before was that this is not a feed.
    *flaws = Flaws::default();
    if list.broken.is_some() {
        flaws.truncated("opml");
    }
    Some(FeedDocument {
        kind: Kind::Opml,
        role: DocumentRole::Complete,
        head: FeedHead { title: list.title, ..FeedHead::default() },
        hints: Hints { ttl_minutes: Some(LIST_MINUTES), ..Hints::default() },
        history: HistoryLinks { complete: true, ..HistoryLinks::default() },
        entries,
        ..FeedDocument::default()
    })
}

fn entry_of(feed: &OpmlFeed) -> Entry {
    let address = escaped_attribute(&feed.xml_url);
    let site = feed.html_url.as_deref().filter(|site| is_web(site)).map(|site| {
        let site = escaped_attribute(site);
        format!("<p>Site: <a href=\"{site}\">{site}</a></p>")
    });
    let text =
        format!("<p>Feed: <a href=\"{address}\">{address}</a></p>{}", site.unwrap_or_default());
    Entry {
        id: feed.xml_url.clone(),
        title: Some(feed.title.clone().unwrap_or_else(|| feed.xml_url.clone())),
        link: Some(feed.xml_url.clone()),
        summary: Some(text),
        categories: feed.tags.clone(),
        ..Entry::default()
    }
}

#[cfg(test)]
mod tests {
    use crate::feed::{Kind, Origin, parse};

    #[test]
    fn a_list_is_a_complete_feed_with_an_entry_for_each_feed() {
        let list = "<?xml version=\"1.0\"?><opml version=\"2.0\"><head><title>Friends</title></head><body>\
            <outline text=\"garden\"><outline text=\"A &amp; B\" xmlUrl=\"https://a.example/feed?x=1&amp;y=2\" \
            htmlUrl=\"https://a.example/\"/></outline>\
            <outline xmlUrl=\"https://b.example/\"/><outline xmlUrl=\"exec:rm\"/></body></opml>";
        let document = parse(list.as_bytes(), &Origin::default());
        assert_eq!((document.kind, document.history.complete), (Kind::Opml, true));
        assert_eq!(document.head.title.as_deref(), Some("Friends"));
        assert_eq!(document.hints.ttl_minutes, Some(1440));
        let read: Vec<_> = document.entries.iter().map(|entry| entry.title.as_deref()).collect();
        assert_eq!(read, [Some("A & B"), Some("https://b.example/")]);
        let first = &document.entries[0];
        assert_eq!(first.link.as_deref(), Some("https://a.example/feed?x=1&y=2"));
        assert_eq!(first.categories, ["garden"]);
        assert!(first.summary.as_ref().unwrap().contains("x=1&amp;y=2"), "{first:?}");
        assert!(!document.is_truncated());
    }

    #[test]
    fn a_cut_off_list_withdraws_nothing() {
        let list =
            "<opml><body><outline xmlUrl=\"https://a.example/\"/><outline xmlUrl=\"https://b";
        assert!(parse(list.as_bytes(), &Origin::default()).is_truncated());
        for other in ["<opml><body></body></opml>", "<html><body>opml</body></html>"] {
            assert_eq!(parse(other.as_bytes(), &Origin::default()).kind, Kind::None, "{other}");
        }
    }
}

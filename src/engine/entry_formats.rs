//! Entries in the forms of other programs: bookmarks of browsers, and items of a JSON Feed. The head section of a published feed is
//! made of what is stored about its subscription.

use std::collections::{BTreeMap, BTreeSet};

use backissue_core::feed::identity::identity_hash;
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::feed::outgoing::{
    escaped_attribute, outgoing_id, outgoing_link, outgoing_markup, outgoing_name, outgoing_title,
};
use backissue_core::feed::text::{TITLE_MAX, one_line};
use backissue_core::feed::{Enclosure, IntervalRule};
use backissue_core::history::FeedKey;
use backissue_core::history::address::carries_login_or_query;
use backissue_core::publish::PublishedFeed;
use chrono::{DateTime, SubsecRound, Utc};
use serde_json::{Map, Value, json};
use url::Url;

use crate::engine::entries::entry_view::{EntryView, time};
use crate::engine::feeds::subscription::Subscription;
use crate::engine::state::Engine;

/// First lines of a file of bookmarks.
pub const BOOKMARKS_HEAD: &str = "<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=UTF-8\">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>";
/// Last line of a file of bookmarks.
pub const BOOKMARKS_END: &str = "</DL><p>";
/// First lines of a JSON Feed, up to its items.
pub const JSON_FEED_HEAD: &str = "{
\"version\": \"https://jsonfeed.org/version/1.1\",
\"title\": \"Entries of backissue\",
\"items\": [";
/// Last line of a JSON Feed.
pub const JSON_FEED_END: &str = "]}";

/// Returns the lines of a bookmark. An entry without a web page has none.
pub fn bookmark(view: &EntryView) -> Option<String> {
    let EntryView { entry, feed, labels, .. } = view;
    let kept = &entry.kept;
    let link = kept.link.as_deref()?;
    if !["http://", "https://"].iter().any(|scheme| link.starts_with(scheme)) {
        return None;
    }
    let tags = if labels.is_empty() {
        String::new()
    } else {
        // A comma separates tags.
        let labels: Vec<String> = labels.iter().map(|label| label.replace(',', " ")).collect();
        format!(" TAGS=\"{}\"", escaped(&labels.join(",")))
    };
    Some(format!(
        "    <DT><A HREF=\"{}\" ADD_DATE=\"{}\"{tags}>{}</A>\n    <DD>{}",
        escaped(link),
        kept.listed().timestamp().max(0),
        escaped(kept.shown_title()),
        escaped(&feed.title),
    ))
}

fn escaped(text: &str) -> String {
    escaped_attribute(&one_line(text, TITLE_MAX.saturating_mul(4)))
}

/// Returns an item of a JSON Feed. `ids` are those of earlier items: the id of an item occurs once, although two feeds may have the
/// same.
pub fn json_feed_item(view: &EntryView, ids: &mut BTreeSet<String>) -> Value {
    let EntryView { entry, feed, labels, .. } = view;
    let kept = &entry.kept;
    let feed_url = outgoing_link(&feed.url);
    let mut id = kept.id.clone();
    if ids.contains(&id) {
        id = format!("{} {id}", feed_url.as_deref().unwrap_or_default());
    }
    ids.insert(id.clone());
    let time_of = |at: Option<DateTime<Utc>>| time(at.map(|at| at.trunc_subsecs(0)));
    let author = kept.author.as_ref().map(|name| json!([{ "name": name }]));
    let fields = [
        ("id", json!(id)),
        ("url", json!(kept.link)),
        ("title", json!(kept.title)),
        ("content_html", json!(view.text().1)),
        ("date_published", time_of(kept.published)),
        ("date_modified", time_of(kept.updated)),
        ("authors", author.unwrap_or_default()),
        ("language", json!(feed.language)),
        ("tags", list(kept.categories.iter().map(|tag| json!(tag)))),
        ("attachments", list(kept.enclosures.iter().map(attachment))),
        (
            "_backissue",
            json!({
                "feed_url": feed_url.unwrap_or_default(),
                "feed_title": feed.title,
                "id": kept.id,
                "read": entry.flags.is_read(),
                "starred": entry.flags.is_starred(),
                "labels": labels,
            }),
        ),
    ];
    object(fields)
}

fn attachment(file: &Enclosure) -> Value {
    object([
        ("url", json!(file.url)),
        ("mime_type", json!(file.media_type)),
        ("size_in_bytes", json!(file.length)),
        ("duration_in_seconds", json!(file.duration_seconds)),
    ])
}

/// Returns a list, or nothing if it is empty.
fn list(values: impl Iterator<Item = Value>) -> Value {
    let values: Vec<Value> = values.collect();
    if values.is_empty() { Value::Null } else { Value::Array(values) }
}

/// Returns an object of the fields that have a value.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(given.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

/// Maximum length of the readable part of a folder name, in characters.
const FOLDER_CHARS_MAX: usize = 60;

/// Returns the head section of a published copy. `base` is the address of its folder, or empty.
pub fn published_feed(
    feed: &Subscription,
    base: &str,
    schedule: Option<(Vec<IntervalRule>, u32)>,
) -> PublishedFeed {
    let Subscription { record, state, .. } = feed;
    let stated = &state.stated;
    // A query may contain a key that only this subscriber has.
    let is_open = |url: &Url| matches!(url.scheme(), "http" | "https") && url.query().is_none();
    let source = Url::parse(&record.url).ok().filter(is_open);
    let source = source.as_ref().and_then(|url| outgoing_link(url.as_str()));
    let made_up = || format!("urn:backissue:feed:{:016x}", identity_hash(first_address(feed)));
    let name = |text: &Option<String>| text.as_deref().map(outgoing_name);
    PublishedFeed {
        id: state.feed_id.clone().filter(|id| outgoing_id(id) == *id).unwrap_or_else(made_up),
        title: outgoing_title(record.title.as_deref().or(record.own_title.as_deref()), &record.url),
        subtitle: stated.subtitle.as_deref().map(outgoing_markup),
        site: record.site.as_deref().and_then(outgoing_link),
        language: stated.language.clone(),
        rights: name(&stated.rights),
        author: name(&stated.author),
        source,
        base: base.to_owned(),
        schedule,
        since: record.added,
    }
}

/// Returns the name of the folder of each feed's published documents. If several feeds have the same name, all but the first of
/// these subscriptions add their number. `feeds` are all subscriptions in the order of their numbers, so that a name does not
/// depend on which feeds are published at the same time, and stays when more feeds are subscribed to.
pub fn folder_names<'f>(
    feeds: impl Iterator<Item = &'f Subscription>,
) -> BTreeMap<FeedKey, String> {
    let mut taken = BTreeSet::new();
    let named = feeds.map(|feed| {
        let mut name = folder_name(feed);
        while !taken.insert(name.clone()) {
            name = format!("{name}-{}", feed.key.0);
        }
        (feed.key, name)
    });
    named.collect()
}

/// Returns the name that suits the folder of a feed. It stays the same if the feed moves or gets another title.
fn folder_name(feed: &Subscription) -> String {
    let address = first_address(feed);
    let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let readable = url.as_ref().map_or_else(
        || "feed".to_owned(),
        |url| format!("{}{}", url.host_str().unwrap_or_default(), url.path()),
    );
    let name = plain_name(&readable);
    let name = name.trim_matches(['-', '.']);
    let has_more = url.is_none_or(|url| url.query().is_some()) || name.len() > FOLDER_CHARS_MAX;
    let name: String = name.chars().take(FOLDER_CHARS_MAX).collect();
    if has_more { format!("{name}-{:08x}", identity_hash(address) >> 32) } else { name }
}

/// Returns a text as a part of a file name: letters and digits in lower case, and a hyphen for anything else.
fn plain_name(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        let is_plain = c.is_ascii_alphanumeric() || c == '.';
        if is_plain {
            name.push(c.to_ascii_lowercase());
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    name
}

/// Returns the head section of a feed with chosen entries of several feeds, and the name of its folder. `what` says how the entries are
/// chosen. Its id differs from those of other readers, who may choose in the same way.
pub fn published_selection(
    engine: &Engine,
    (what, title): (&str, &str),
    base: &str,
    since: DateTime<Utc>,
) -> (PublishedFeed, String) {
    let hash = identity_hash(&format!("{:016x} {what}", engine.salt));
    let name: String = plain_name(title).chars().take(FOLDER_CHARS_MAX).collect();
    let folder = format!("{}-{:08x}", name.trim_matches(['-', '.']), identity_hash(what) >> 32);
    let feed = PublishedFeed {
        id: format!("urn:backissue:selection:{hash:016x}"),
        title: outgoing_name(title),
        base: if base.is_empty() { String::new() } else { format!("{base}{folder}/") },
        since,
        ..PublishedFeed::default()
    };
    (feed, folder)
}

/// Checks whether the entries of a feed may be meant for its subscriber only: its address has a login or a query, a program writes it,
/// requests to it carry a login, a cookie or a header, or it belongs to an account.
pub fn may_be_private(engine: &Engine, feed: &Subscription) -> bool {
    let network = &engine.settings.network;
    let addresses = feed.record.former.iter().map(|former| &former.url).chain([&feed.record.url]);
    feed.record.feed_settings.account.is_some()
        || addresses.into_iter().any(|address| {
            let origin = Url::parse(address).map(|url| url.origin().ascii_serialization());
            let is_it = |one: &str| one == address || origin.as_deref() == Ok(one);
            FeedSource::of(address) != FeedSource::Web
                || carries_login_or_query(address)
                || network.credentials.iter().any(|one| is_it(&one.origin))
                || network.origins.iter().any(|one| is_it(&one.origin))
        })
}

/// Returns the oldest known address of a feed.
fn first_address(feed: &Subscription) -> &str {
    feed.record.former.first().map_or(&feed.record.url, |former| &former.url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::feeds::subscription::{FormerAddress, SubscriptionRecord};

    fn feed(url: &str) -> Subscription {
        let record = SubscriptionRecord { url: url.to_owned(), ..SubscriptionRecord::default() };
        Subscription::new(FeedKey(1), record)
    }

    #[test]
    fn folder_names_are_readable_and_stay_when_a_feed_moves() {
        for (url, name) in [
            ("https://orchard.example/feed.xml", "orchard.example-feed.xml"),
            ("https://Orchard.example/blog//a%20b/", "orchard.example-blog-a-20b"),
            ("https://orchard.example/../../etc", "orchard.example-etc"),
        ] {
            assert_eq!(folder_name(&feed(url)), name);
        }
        let secret = folder_name(&feed("https://orchard.example/?key=a"));
        assert!(secret.starts_with("orchard.example-") && secret.len() == 24, "{secret}");
        assert_ne!(secret, folder_name(&feed("https://orchard.example/?key=b")));
        assert!(folder_name(&feed("exec:date")).starts_with("feed-"));
        let mut moved = feed("https://new.example/");
        moved.record.former.push(FormerAddress {
            url: "https://orchard.example/feed.xml".into(),
            until: DateTime::UNIX_EPOCH,
            public: true,
            by_user: false,
        });
        assert_eq!(folder_name(&moved), "orchard.example-feed.xml");
    }

    #[test]
    fn feeds_of_equal_names_have_folders_of_their_own() {
        let addresses = [
            "https://orchard.example/a/b",
            "https://orchard.example/a-b-3",
            "http://orchard.example/a/b",
            "https://orchard.example/a-b",
        ];
        let numbered = (1_u32..)
            .zip(addresses)
            .map(|(number, url)| Subscription { key: FeedKey(number), ..feed(url) });
        let feeds: Vec<Subscription> = numbered.collect();
        let names = folder_names(feeds.iter());
        let expected = [
            "orchard.example-a-b",
            "orchard.example-a-b-3",
            "orchard.example-a-b-3-3",
            "orchard.example-a-b-4",
        ];
        assert_eq!(names.into_values().collect::<Vec<_>>(), expected);
        let first = folder_names(feeds.iter().take(1));
        assert_eq!(first[&FeedKey(1)], expected[0], "a later subscription does not rename it");
    }

    #[test]
    fn keys_and_commands_in_addresses_are_not_published() {
        for url in ["https://orchard.example/feed?key=secret", "exec:secret"] {
            let published = published_feed(&feed(url), "", None);
            assert!(!published.id.contains("secret"), "{published:?}");
            assert_eq!(published.source, None);
        }
        let open = published_feed(&feed("https://orchard.example/feed"), "", None);
        assert_eq!(open.source.as_deref(), Some("https://orchard.example/feed"));
    }
}

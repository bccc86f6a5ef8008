//! Writes a planned document as Atom (RFC 4287). Characters that XML does not allow are left out.

use chrono::{DateTime, SecondsFormat, SubsecRound, Utc};

use super::plan::{DocumentPlan, DocumentRank, PlannedLink, SUBSCRIPTION_NAME};
use crate::feed::outgoing::{
    outgoing_id, outgoing_link, outgoing_markup, outgoing_name, push_escaped,
};
use crate::feed::{Enclosure, IntervalRule, Tombstone, Zone};
use crate::history::{EntryBody, KeptEntry};

/// The element by which a published document is recognised. It has no version, so that a new version does not change archives.
pub const GENERATOR_MARK: &str = "<generator>backissue</generator>";
const START: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>";
/// Namespaces of all documents.
const ROOT: &str = "<feed xmlns=\"http://www.w3.org/2005/Atom\" xmlns:fh=\"http://purl.org/syndication/history/1.0\" \
                    xmlns:at=\"http://purl.org/atompub/tombstones/1.0\" xmlns:sched=\"tag:backissue.example,2026:schedule\" \
                    xmlns:rss=\"http://backend.userland.com/rss2\" xmlns:itunes=\"http://www.itunes.com/dtds/podcast-1.0.dtd\" \
                    xmlns:media=\"http://search.yahoo.com/mrss/\"";
/// Media type of an Atom document.
const ATOM: &str = "application/atom+xml";

/// The head section of a published feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublishedFeed {
    /// Id of the feed: the publisher's own one, else the address of the feed.
    pub id: String,
    /// Title as plain text.
    pub title: String,
    /// Subtitle with markup.
    pub subtitle: Option<String>,
    /// Address of the website.
    pub site: Option<String>,
    /// Language tag.
    pub language: Option<String>,
    /// Rights statement.
    pub rights: Option<String>,
    /// Name of the author of the feed.
    pub author: Option<String>,
    /// Address of the feed that the entries come from, if it may be published.
    pub source: Option<String>,
    /// Address of the folder in which the documents will be, with a slash at its end; empty for relative links.
    pub base: String,
    /// Rules and flat interval in minutes, if the documents state a schedule.
    pub schedule: Option<(Vec<IntervalRule>, u32)>,
    /// Time of the last change for a document without entries.
    pub since: DateTime<Utc>,
}

/// An entry to publish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublishedEntry {
    /// The publisher's own id.
    pub id: String,
    /// Title as plain text.
    pub title: Option<String>,
    pub link: Option<String>,
    pub comments: Option<String>,
    pub author: Option<String>,
    pub published: Option<DateTime<Utc>>,
    /// Time of the last change. Atom requires one, so [`PublishedEntry::of`] derives it if the publisher stated none.
    pub updated: DateTime<Utc>,
    /// Summary with markup.
    pub summary: Option<String>,
    /// Content with markup.
    pub content: Option<String>,
    pub enclosures: Vec<Enclosure>,
    pub categories: Vec<String>,
    /// The feed that the entry comes from, in a feed with entries of several feeds.
    pub source: Option<PublishedFeed>,
}

impl PublishedEntry {
    /// Creates an entry to publish from its kept copy and its text.
    pub fn of(kept: KeptEntry, body: Option<EntryBody>) -> Self {
        let (kept, body) = outgoing_entry(kept, body);
        let listed = kept.listed();
        let body = body.unwrap_or_default();
        let edited = body.previous.as_ref().map(|previous| previous.at);
        Self {
            // Without a stated time, the time at which an edit was found is the best one known. It does not move an entry without dates.
            updated: kept.updated.or(edited.filter(|_| kept.published.is_some())).unwrap_or(listed),
            id: kept.id,
            title: kept.title,
            link: kept.link,
            comments: kept.comments,
            author: kept.author,
            published: kept.published,
            summary: body.summary,
            content: body.content,
            enclosures: kept.enclosures,
            categories: kept.categories,
            source: None,
        }
    }
}

/// Returns an entry with its texts as it may leave this machine: without the secrets of its subscriber in addresses.
pub fn outgoing_entry(kept: KeptEntry, body: Option<EntryBody>) -> (KeptEntry, Option<EntryBody>) {
    let name = |text: Option<String>| text.as_deref().map(outgoing_name);
    let link = |address: Option<String>| address.as_deref().and_then(outgoing_link);
    let markup = |text: Option<String>| text.as_deref().map(outgoing_markup);
    let file = |file: Enclosure| Some(Enclosure { url: outgoing_link(&file.url)?, ..file });
    let body = body.map(|body| EntryBody {
        summary: markup(body.summary),
        content: markup(body.content),
        ..body
    });
    let kept = KeptEntry {
        id: outgoing_id(&kept.id),
        title: name(kept.title),
        excerpt: name(kept.excerpt),
        link: link(kept.link),
        comments: link(kept.comments),
        author: name(kept.author),
        enclosures: kept.enclosures.into_iter().filter_map(file).collect(),
        categories: kept.categories.iter().map(|category| outgoing_name(category)).collect(),
        ..kept
    };
    (kept, body)
}

/// Writes a document. `entries` and `tombstones` are those that the plan lists, in its order.
pub fn write_document(
    feed: &PublishedFeed,
    plan: &DocumentPlan,
    entries: &[PublishedEntry],
    tombstones: &[Tombstone],
) -> String {
    let mut xml = XmlText::default();
    xml.line(START);
    let language = feed.language.as_deref().filter(|tag| is_language(tag));
    xml.line(&format!(
        "{ROOT}{}>",
        language.map(|tag| format!(" xml:lang=\"{tag}\"")).unwrap_or_default()
    ));
    write_head(&mut xml, feed, plan, updated_of(feed, entries, tombstones));
    write_links(&mut xml, feed, plan);
    if plan.rank != DocumentRank::Archive {
        write_schedule(&mut xml, feed);
    }
    for tombstone in tombstones {
        let when = date(tombstone.when);
        xml.empty("at:deleted-entry", &[("ref", Some(&tombstone.id)), ("when", Some(&when))]);
    }
    for entry in entries {
        write_entry(&mut xml, entry);
    }
    xml.line("</feed>");
    xml.into_text()
}

/// Returns the time of the last change of a document. It depends on nothing but its content.
fn updated_of(
    feed: &PublishedFeed,
    entries: &[PublishedEntry],
    tombstones: &[Tombstone],
) -> DateTime<Utc> {
    let deleted = tombstones.iter().map(|tombstone| tombstone.when);
    let changes = entries.iter().map(|entry| entry.updated).chain(deleted);
    changes.max().unwrap_or_else(|| feed.since.trunc_subsecs(0))
}

fn write_head(
    xml: &mut XmlText,
    feed: &PublishedFeed,
    plan: &DocumentPlan,
    updated: DateTime<Utc>,
) {
    // The generator is first, so that the start of a file tells whether it may be replaced.
    xml.line(GENERATOR_MARK);
    xml.element("id", &[], &feed.id);
    xml.element("title", &[("type", Some("text"))], &feed.title);
    if let Some(subtitle) = &feed.subtitle {
        xml.element("subtitle", &[("type", Some("html"))], subtitle);
    }
    xml.element("updated", &[], &date(updated));
    xml.line("<author>");
    // Atom requires an author of the feed, unless each entry has one.
    xml.element("name", &[], feed.author.as_deref().unwrap_or(&feed.title));
    xml.line("</author>");
    if let Some(rights) = &feed.rights {
        xml.element("rights", &[("type", Some("text"))], rights);
    }
    match plan.rank {
        DocumentRank::Archive => xml.empty("fh:archive", &[]),
        DocumentRank::Complete => xml.empty("fh:complete", &[]),
        DocumentRank::Subscription => {}
    }
}

fn write_links(xml: &mut XmlText, feed: &PublishedFeed, plan: &DocumentPlan) {
    let mut link = |rel: &str, kind: &str, href: &str| {
        xml.empty("link", &[("rel", Some(rel)), ("type", Some(kind)), ("href", Some(href))]);
    };
    let at = |name: &str| format!("{}{name}", feed.base);
    link("self", ATOM, &at(&plan.name));
    if let Some(site) = &feed.site {
        link("alternate", "text/html", site);
    }
    if let Some(source) = &feed.source {
        link("via", "application/xml", source);
    }
    if plan.rank == DocumentRank::Archive {
        link("current", ATOM, &at(SUBSCRIPTION_NAME));
    }
    let sides = [("prev-archive", &plan.prev), ("next-archive", &plan.next)];
    for (rel, side) in sides {
        if let Some(PlannedLink { name, .. }) = side {
            link(rel, ATOM, &at(name));
        }
    }
    for side in [&plan.prev, &plan.next].into_iter().flatten().filter(|side| side.is_missing) {
        xml.empty("sched:missing", &[("href", Some(&at(&side.name)))]);
    }
}

fn write_schedule(xml: &mut XmlText, feed: &PublishedFeed) {
    let Some((rules, flat)) = &feed.schedule else { return };
    xml.element("rss:ttl", &[], &flat.to_string());
    for rule in rules {
        let number = |value: Option<u8>| value.map(|value| value.to_string());
        let zone = match &rule.zone {
            Zone::Utc => None,
            Zone::Offset(minutes) => {
                let sign = if *minutes < 0 { '-' } else { '+' };
                let minutes = minutes.unsigned_abs();
                Some(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
            }
            Zone::Named(name) => Some(name.clone()),
        };
        let [start_hour, end_hour, start_day, end_day] =
            [rule.start_hour, rule.end_hour, rule.start_day, rule.end_day].map(number);
        let attributes = [
            ("starthour", start_hour.as_deref()),
            ("endhour", end_hour.as_deref()),
            ("startday", start_day.as_deref()),
            ("endday", end_day.as_deref()),
            ("tz", zone.as_deref()),
        ];
        xml.element("sched:interval", &attributes, &rule.minutes.to_string());
    }
}

fn write_entry(xml: &mut XmlText, entry: &PublishedEntry) {
    xml.line("<entry>");
    xml.element("id", &[], &entry.id);
    xml.element("title", &[("type", Some("text"))], entry.title.as_deref().unwrap_or_default());
    if let Some(published) = entry.published {
        xml.element("published", &[], &date(published));
    }
    xml.element("updated", &[], &date(entry.updated));
    if let Some(feed) = &entry.source {
        xml.line("<source>");
        xml.element("id", &[], &feed.id);
        xml.element("title", &[("type", Some("text"))], &feed.title);
        if let Some(address) = &feed.source {
            xml.empty("link", &[("rel", Some("self")), ("href", Some(address))]);
        }
        xml.line("</source>");
    }
    if let Some(author) = &entry.author {
        xml.line("<author>");
        xml.element("name", &[], author);
        xml.line("</author>");
    }
    for category in &entry.categories {
        xml.empty("category", &[("term", Some(category))]);
    }
    let pages = [("alternate", &entry.link), ("replies", &entry.comments)];
    for (rel, page) in pages {
        if let Some(page) = page {
            xml.empty("link", &[("rel", Some(rel)), ("href", Some(page))]);
        }
    }
    write_enclosures(xml, &entry.enclosures);
    if let Some(summary) = &entry.summary {
        xml.element("summary", &[("type", Some("html"))], summary);
    }
    match &entry.content {
        Some(content) => xml.element("content", &[("type", Some("html"))], content),
        // An entry has a link to its page or a content, even if that is empty (RFC 4287 section 4.1.2).
        None if entry.link.is_none() => xml.element("content", &[("type", Some("text"))], ""),
        None => {}
    }
    xml.line("</entry>");
}

/// Writes the attached files as links. Atom has no playing time, so a further element of a podcast vocabulary states it.
fn write_enclosures(xml: &mut XmlText, enclosures: &[Enclosure]) {
    let later_time = enclosures.iter().skip(1).any(|file| file.duration_seconds.is_some());
    for file in enclosures {
        let length = file.length.map(|length| length.to_string());
        let kind = file.media_type.as_deref().filter(|kind| is_media_type(kind));
        let is_picture = kind.is_some_and(|kind| kind.starts_with("image/"));
        if later_time && !is_picture {
            let duration = file.duration_seconds.map(|seconds| seconds.to_string());
            let described = [
                ("url", Some(file.url.as_str())),
                ("type", kind),
                ("fileSize", length.as_deref()),
                ("duration", duration.as_deref()),
            ];
            xml.empty("media:content", &described);
        }
        let linked = [
            ("rel", Some("enclosure")),
            ("type", kind),
            ("length", length.as_deref()),
            ("href", Some(file.url.as_str())),
        ];
        xml.empty("link", &linked);
    }
    let first = enclosures.first().and_then(|file| file.duration_seconds);
    if let Some(seconds) = first.filter(|_| !later_time) {
        xml.element("itunes:duration", &[], &seconds.to_string());
    }
}

/// Checks whether a media type has the form that Atom requires.
fn is_media_type(text: &str) -> bool {
    text.split_once('/').is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty())
}

/// Checks whether a language tag has the form that XML requires of `xml:lang`.
pub fn is_language(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let is_part = |part: &str| (1..=8).contains(&part.len());
    let first = parts
        .next()
        .is_some_and(|part| is_part(part) && part.bytes().all(|b| b.is_ascii_alphabetic()));
    first && parts.all(|part| is_part(part) && part.bytes().all(|b| b.is_ascii_alphanumeric()))
}

fn date(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// A growing XML document, with one element in each line.
#[derive(Debug, Default)]
pub(super) struct XmlText(String);

/// Name and value of an attribute; without a value it is left out.
pub(super) type Attribute<'a> = (&'a str, Option<&'a str>);

impl XmlText {
    /// Adds a line as it is.
    pub(super) fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// Adds an element without content.
    pub(super) fn empty(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        self.start(name, attributes);
        self.0.push_str("/>\n");
    }

    /// Adds an element that contains only text.
    pub(super) fn element(&mut self, name: &str, attributes: &[Attribute<'_>], text: &str) {
        self.start(name, attributes);
        self.0.push('>');
        push_escaped(&mut self.0, text, false);
        self.line(&format!("</{name}>"));
    }

    fn start(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        self.0.push('<');
        self.0.push_str(name);
        for (name, value) in attributes {
            let Some(value) = value else { continue };
            for part in [" ", name, "=\""] {
                self.0.push_str(part);
            }
            push_escaped(&mut self.0, value, true);
            self.0.push('"');
        }
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

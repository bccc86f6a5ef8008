//! Finds what to report to publishers although this program can read it. Oddities are constructs that other readers may read
//! differently. Breaches are broken rules of RSS 2.0, Atom (RFC 4287) and JSON Feed 1.1; other readers lose the part in question,
//! or show something else.

use std::borrow::Cow;
use std::collections::BTreeSet;

use chrono::DateTime;
use serde_json::Value;
use url::Url;

use super::dates::date::{self, parse_date};
use super::flaws::Flaws;
use super::parse::Origin;
use super::xml::fields::{self, FeedField};
use super::xml::names::Ns;
use super::xml::tree::XmlElement;
use super::xml::tree_builder;
use super::xml::xml_feed::{FeedParts, is_permanent_guid};
use super::{decode, json_feed, text};
use crate::feed::address::has_scheme;
use crate::feed::content::absolute_addresses::make_addresses_absolute;
use crate::feed::xml::tree_builder::ENTRIES_MAX;

/// Maximum length of the quoted text of an oddity, in characters.
const TEXT_MAX: usize = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OddityKind {
    /// An entry without `guid`, `atom:id` or `rdf:about`. [`Oddity::text`] is the entry's title.
    NoId,
    /// A `guid` that is not a URL although `isPermaLink` is true or missing (RSS 2.0).
    NotPermanent,
    /// A numeric ID (JSON Feed), read as text.
    NumericId,
    /// A date with a time but no zone, read as UTC.
    NoZone,
    /// A date without a time, read as midnight UTC.
    NoTime,
    /// A readable date that is not written as its feed format requires (RFC 3339 in Atom, RFC 822 in RSS).
    OddForm,
    /// Hour 24 in `skipHours`, read as 0 (SPEC G.1).
    Hour24,
    /// A repeated `ttl`. Only the first one is used (SPEC G.13).
    SecondTtl,
    /// A hint or archive marker outside the head section. It is ignored (SPEC G.12). [`Oddity::text`] is the name of its parent
    /// element.
    Misplaced,
    /// A namespace of an extension's draft or of Atom before version 1.0 (SPEC G.9).
    OldNamespace,
    /// An `rss` version other than 2.0, or no version (SPEC G.10).
    OldVersion,
}

/// Something that occurs at least once in a document and is reported to its publisher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting<K> {
    pub kind: K,
    /// Name of the element as written.
    pub element: String,
    /// Text of the first occurrence, made safe to display.
    pub text: String,
    /// Number of occurrences, at least 1.
    pub count: usize,
}

/// An oddity that occurs at least once in a document.
pub type Oddity = Sighting<OddityKind>;

/// Finds the oddities of a document. The document must be one that [`super::parse()`] recognises as a feed.
pub fn find_oddities(bytes: &[u8], origin: &Origin<'_>) -> Vec<Oddity> {
    let mut oddities = Sightings::default();
    look_through(bytes, origin, &mut |source| match source {
        Source::Json(value) => oddities.look_through_json(value),
        Source::Xml(root) => oddities.look_through_xml(root),
    });
    oddities.0
}

/// Finds the rules of its format that a document breaks although it can be read. The document must be one that
/// [`super::parse()`] recognises as a feed.
pub fn find_breaches(bytes: &[u8], origin: &Origin<'_>) -> Vec<Breach> {
    let mut breaches = Sightings::default();
    look_through(bytes, origin, &mut |source| match source {
        Source::Json(value) => breaches.check_json(value),
        Source::Xml(root) => breaches.check_xml(root),
    });
    breaches.0
}

/// What a document consists of.
enum Source<'s> {
    Json(&'s Value),
    Xml(XmlElement<'s, 's>),
}

/// Decodes a document and passes its content to `look`, unless it has none.
fn look_through(bytes: &[u8], origin: &Origin<'_>, look: &mut dyn FnMut(Source<'_>)) {
    let mut ignored = Flaws::default();
    let document = decode::decode(bytes, origin.content_type, &mut ignored);
    let document = document.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if document.starts_with('{') {
        if let Ok(value) = json_feed::read_first_value(document) {
            look(Source::Json(&value));
        }
    } else {
        let tree = tree_builder::build_tree(document, &mut ignored);
        if let Some(root) = tree.root() {
            look(Source::Xml(root));
        }
    }
}

/// Sightings so far, one per kind and element.
#[derive(Debug)]
struct Sightings<K>(Vec<Sighting<K>>);

impl<K> Default for Sightings<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: PartialEq> Sightings<K> {
    fn add(&mut self, kind: K, element: &str, offending: &str) {
        let element = text::one_line(element, 60);
        let known = self.0.iter_mut().find(|seen| seen.kind == kind && seen.element == element);
        if let Some(seen) = known {
            seen.count += 1;
            return;
        }
        let start: String = offending.chars().take(TEXT_MAX * 2).collect();
        let text = text::one_line(&start, TEXT_MAX);
        self.0.push(Sighting { kind, element, text, count: 1 });
    }
}

impl Sightings<OddityKind> {
    fn look_through_xml(&mut self, root: XmlElement<'_, '_>) {
        let parts = FeedParts::find(root);
        self.check_root(root);
        for head in &parts.heads {
            self.check_dates(*head, fields::HEAD);
            self.check_head_hints(*head);
        }
        for entry in &parts.entries {
            self.check_identity(*entry);
            self.check_dates(*entry, fields::ENTRY);
        }
        let is_head = root.local() == "feed" || !root.children().any(is_channel);
        self.find_misplaced(root, is_head && root.local() != "entry", true);
    }

    fn check_root(&mut self, root: XmlElement<'_, '_>) {
        let prefix = root.raw().split_once(':').map(|(prefix, _)| format!("xmlns:{prefix}"));
        let declared = root.attribute(prefix.as_deref().unwrap_or("xmlns")).unwrap_or_default();
        if root.local() == "feed" && declared != "http://www.w3.org/2005/Atom" {
            self.add(OddityKind::OldNamespace, root.raw(), &declared);
        }
        let version = root.attribute("version").unwrap_or_default();
        if root.local() == "rss" && version != "2.0" {
            self.add(OddityKind::OldVersion, root.raw(), &version);
        }
    }

    fn check_head_hints(&mut self, head: XmlElement<'_, '_>) {
        for second in head.children().filter(|child| child.is(Ns::Rss, "ttl")).skip(1) {
            self.add(OddityKind::SecondTtl, second.raw(), &second.text());
        }
        for hours in head.children().filter(|child| child.is(Ns::Rss, "skiphours")) {
            for hour in hours.children().filter(|hour| hour.text().trim() == "24") {
                self.add(OddityKind::Hour24, hours.raw(), &hour.text());
            }
        }
    }

    fn check_identity(&mut self, entry: XmlElement<'_, '_>) {
        let fills = |element: XmlElement<'_, '_>, wanted| {
            fields::ENTRY
                .iter()
                .any(|(ns, local, field, _)| *field == wanted && element.is(*ns, local))
        };
        let id = entry.children().find(|child| fills(*child, FeedField::Id) && !child.is_blank());
        let about = entry.attribute("about").is_some_and(|about| !about.is_empty());
        if id.is_none() && !about {
            let title = entry.children().find(|child| fills(*child, FeedField::Title));
            let title = title.map(|title| text::plain_line(&title.text(), TEXT_MAX));
            self.add(OddityKind::NoId, entry.raw(), &title.unwrap_or_default());
        }
        let Some(guid) = id.filter(|id| id.is(Ns::Rss, "guid")) else { return };
        if is_permanent_guid(guid) && !has_scheme(guid.text().trim()) {
            self.add(OddityKind::NotPermanent, guid.raw(), &guid.text());
        }
    }

    fn check_dates(&mut self, parent: XmlElement<'_, '_>, table: &[fields::FieldRow]) {
        for element in parent.children() {
            let is_date = table.iter().any(|(ns, local, field, _)| {
                matches!(field, FeedField::Published | FeedField::Updated) && element.is(*ns, local)
            });
            if is_date {
                self.check_date(element.ns(), element.raw(), &element.text());
            }
        }
    }

    fn check_date(&mut self, ns: Ns, element: &str, written: &str) {
        let written = written.trim();
        if parse_date(written).is_none() {
            return;
        }
        let is_odd = (ns == Ns::Atom && DateTime::parse_from_rfc3339(written).is_err())
            || (ns == Ns::Rss && DateTime::parse_from_rfc2822(written).is_err());
        if date::has_no_time(written) {
            self.add(OddityKind::NoTime, element, written);
        } else if date::has_no_zone(written) {
            self.add(OddityKind::NoZone, element, written);
        } else if is_odd {
            self.add(OddityKind::OddForm, element, written);
        }
    }

    /// Records hints outside the head section, which feed readers ignore. Skips the `source` of an Atom entry, because it describes
    /// another feed.
    fn find_misplaced(&mut self, parent: XmlElement<'_, '_>, is_head: bool, is_root: bool) {
        for child in parent.children() {
            if !is_head && is_hint(child) {
                self.add(OddityKind::Misplaced, child.raw(), parent.raw());
            }
            if !child.is(Ns::Atom, "source") {
                self.find_misplaced(child, is_root && is_channel(child), false);
            }
        }
    }

    fn look_through_json(&mut self, value: &Value) {
        let items = value.get("items").and_then(Value::as_array).into_iter().flatten();
        for item in items.take(ENTRIES_MAX) {
            if let Some(Value::Number(number)) = item.get("id") {
                self.add(OddityKind::NumericId, "id", &number.to_string());
            }
            for key in ["date_published", "date_modified"] {
                if let Some(written) = item.get(key).and_then(Value::as_str) {
                    self.check_date(Ns::Atom, key, written);
                }
            }
        }
    }
}

fn is_channel(element: XmlElement<'_, '_>) -> bool {
    element.local() == "channel"
}

/// Checks whether an element is a polling hint or an archive marker (SPEC A.0, A.2, A.4).
fn is_hint(element: XmlElement<'_, '_>) -> bool {
    match (element.ns(), element.local()) {
        (Ns::Rss, "ttl" | "skiphours" | "skipdays")
        | (Ns::Sy, "updateperiod" | "updatefrequency" | "updatebase")
        | (Ns::Atom, "refreshrate")
        | (Ns::Schedule, "interval")
        | (Ns::History, "archive" | "complete" | "incremental" | "stateful" | "prev") => true,
        (Ns::Atom, "link") => {
            let rel = element.attribute("rel").unwrap_or_default().to_ascii_lowercase();
            matches!(rel.as_str(), "prev-archive" | "next-archive" | "current")
        }
        _ => false,
    }
}

/// A rule that a document breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreachKind {
    /// A text of RSS or JSON Feed with a relative address in its markup. [`Sighting::element`] is the element of the text.
    RelativeText,
    /// A relative address in an element or attribute of RSS or JSON Feed.
    RelativeAddress,
    /// An attached file without an address, a size or a media type, as far as the format requires them. [`Sighting::text`] lists what
    /// is missing.
    BareAttachment,
    /// A second element where the format allows one.
    Repeated,
    /// An Atom text with markup, without a `type`, so that it is plain text.
    UntypedMarkup,
    /// A `type` of an Atom text that Atom does not define.
    UnknownType,
    /// An Atom text of the type `xhtml` that does not consist of one `div`.
    NoDiv,
    /// A second `alternate` link of the same media type and language (Atom).
    SecondAlternate,
    /// A JSON Feed whose `version` is not one of the defined addresses.
    OtherVersion,
    /// A JSON Feed item with a title or a summary but neither `content_html` nor `content_text`.
    NoContent,
}

/// A rule that a document breaks at least once.
pub type Breach = Sighting<BreachKind>;

/// Elements that an RSS channel or item has at most once.
const RSS_ONCE: [&str; 5] = ["title", "link", "description", "guid", "pubdate"];
/// Elements that an Atom feed or entry has at most once.
const ATOM_ONCE: [&str; 8] =
    ["id", "title", "subtitle", "updated", "published", "summary", "content", "rights"];
/// Elements of Atom whose content is a text.
const ATOM_TEXTS: [&str; 5] = ["title", "subtitle", "summary", "rights", "content"];
/// Text that is escaped twice or is markup: parts that plain text rarely contains.
const MARKUP_PARTS: [&str; 8] = ["</", "<br", "<img", "&amp;", "&lt;", "&quot;", "&nbsp;", "&#"];
/// The addresses that name the versions of JSON Feed.
const JSON_VERSIONS: [&str; 2] =
    ["https://jsonfeed.org/version/1", "https://jsonfeed.org/version/1.1"];
/// Address against which relative addresses are resolved to find them. No such site exists.
const NOWHERE: &str = "https://base.invalid/";

impl Sightings<BreachKind> {
    fn check_xml(&mut self, root: XmlElement<'_, '_>) {
        let parts = FeedParts::find(root);
        let places = || parts.heads.iter().map(|head| (*head, true));
        let places = || places().chain(parts.entries.iter().map(|entry| (*entry, false)));
        if matches!(root.local(), "feed" | "entry") {
            // The drafts before Atom 1.0 had other rules for texts.
            let is_final = root.attribute("version").is_none();
            for (place, _) in places() {
                self.check_once(place, Ns::Atom, &ATOM_ONCE);
                self.check_alternates(place);
                let texts = place.children().filter(|child| child.ns() == Ns::Atom && is_final);
                texts.for_each(|text| self.check_text(text));
            }
            return;
        }
        // With a base, addresses may be relative.
        let has_base = |element: XmlElement<'_, '_>| element.attribute("xml:base").is_some();
        let may_be_relative = has_base(root) || parts.heads.iter().any(|head| has_base(*head));
        for (place, is_head) in places() {
            self.check_once(place, Ns::Rss, &RSS_ONCE);
            for child in place.children() {
                self.check_attachment(child);
                if !may_be_relative && !has_base(place) && !has_base(child) {
                    self.check_addresses(child, is_head);
                }
            }
        }
    }

    fn check_once(&mut self, place: XmlElement<'_, '_>, ns: Ns, names: &[&str]) {
        let mut seen = BTreeSet::new();
        for child in place.children().filter(|child| child.ns() == ns && !child.is_blank()) {
            let local = child.local();
            if names.contains(&local) && !seen.insert(local) {
                self.add(BreachKind::Repeated, child.raw(), &child.text());
            }
        }
    }

    fn check_alternates(&mut self, place: XmlElement<'_, '_>) {
        let mut seen = BTreeSet::new();
        for link in place.children().filter(|child| child.is(Ns::Atom, "link")) {
            let attribute = |name| link.attribute(name).unwrap_or_default().to_ascii_lowercase();
            let is_alternate = matches!(attribute("rel").as_str(), "" | "alternate");
            if is_alternate && !seen.insert((attribute("type"), attribute("hreflang"))) {
                let href = link.attribute("href").unwrap_or_default();
                self.add(BreachKind::SecondAlternate, link.raw(), &href);
            }
        }
    }

    /// Checks the type of an Atom text. The content of an entry may also have a media type.
    fn check_text(&mut self, element: XmlElement<'_, '_>) {
        if !ATOM_TEXTS.contains(&element.local()) || element.attribute("mode").is_some() {
            return;
        }
        let stated = element.attribute("type").map(|kind| kind.to_ascii_lowercase());
        match stated.as_deref() {
            None => {
                let text = element.text();
                let is_linked = element.attribute("src").is_some();
                if !is_linked && MARKUP_PARTS.iter().any(|part| text.contains(part)) {
                    self.add(BreachKind::UntypedMarkup, element.raw(), &text);
                }
            }
            Some("xhtml") => {
                let mut children = element.children();
                let is_div = children.next().is_some_and(|child| child.local() == "div");
                if !is_div || children.next().is_some() {
                    self.add(BreachKind::NoDiv, element.raw(), &element.text());
                }
            }
            Some("text" | "html") => {}
            Some(kind) => {
                let is_content = element.local() == "content" && kind != "text/html";
                if !is_content && element.attribute("src").is_none() {
                    self.add(BreachKind::UnknownType, element.raw(), kind);
                }
            }
        }
    }

    fn check_attachment(&mut self, element: XmlElement<'_, '_>) {
        if !element.is(Ns::Rss, "enclosure") {
            return;
        }
        let lacks = |name: &&str| element.attribute(name).is_none_or(|value| value.is_empty());
        let missing: Vec<&str> = ["url", "length", "type"].into_iter().filter(lacks).collect();
        if !missing.is_empty() {
            self.add(BreachKind::BareAttachment, element.raw(), &missing.join(", "));
        }
    }

    fn check_addresses(&mut self, element: XmlElement<'_, '_>, is_head: bool) {
        let address = match (element.ns(), element.local()) {
            (Ns::Rss, "link" | "comments") => element.text(),
            (Ns::Rss, "enclosure") => element.attribute("url").unwrap_or_default(),
            (Ns::Rss, "description") | (Ns::Content, "encoded") if !is_head => {
                self.check_markup(element.raw(), &element.text());
                return;
            }
            _ => return,
        };
        self.check_address(element.raw(), address.trim());
    }

    fn check_address(&mut self, element: &str, address: &str) {
        if !address.is_empty() && !has_scheme(address) {
            self.add(BreachKind::RelativeAddress, element, address);
        }
    }

    fn check_markup(&mut self, element: &str, markup: &str) {
        let resolved = make_addresses_absolute(Cow::Borrowed(markup), || Url::parse(NOWHERE).ok());
        if let Some((_, after)) = resolved.split_once(NOWHERE) {
            let end = after.find(['"', '\'', ' ', '>']).unwrap_or(after.len());
            self.add(BreachKind::RelativeText, element, after.get(..end).unwrap_or_default());
        }
    }

    fn check_json(&mut self, feed: &Value) {
        let text = |value: &Value, key: &str| {
            value.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
        };
        let version = text(feed, "version");
        if !JSON_VERSIONS.contains(&version.as_str()) {
            self.add(BreachKind::OtherVersion, "version", &version);
        }
        for key in ["home_page_url", "feed_url", "next_url"] {
            self.check_address(key, &text(feed, key));
        }
        let items = feed.get("items").and_then(Value::as_array).into_iter().flatten();
        for item in items.take(ENTRIES_MAX) {
            for key in ["url", "external_url"] {
                self.check_address(key, &text(item, key));
            }
            self.check_markup("content_html", &text(item, "content_html"));
            let has = |key| !text(item, key).is_empty();
            let is_bare = !has("content_html") && !has("content_text");
            if is_bare && (has("title") || has("summary")) {
                self.add(BreachKind::NoContent, "content_html", &text(item, "title"));
            }
            let files = item.get("attachments").and_then(Value::as_array).into_iter().flatten();
            for file in files {
                let lacks = |key: &&str| text(file, key).is_empty();
                let missing: Vec<&str> = ["url", "mime_type"].into_iter().filter(lacks).collect();
                if !missing.is_empty() {
                    self.add(BreachKind::BareAttachment, "attachments", &missing.join(", "));
                }
                self.check_address("attachments", &text(file, "url"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses `document` and compares its oddities with `expected`. Each oddity is written as `kind element text count`; oddities
    /// are separated by commas.
    fn check(document: &str, expected: &str) {
        let seen = find_oddities(document.as_bytes(), &Origin::default());
        let seen: Vec<String> = seen
            .iter()
            .map(|seen| format!("{:?} {} {} {}", seen.kind, seen.element, seen.text, seen.count))
            .collect();
        assert_eq!(seen.join(","), expected, "{document}");
    }

    fn rss(inside: &str) -> String {
        format!(
            "<rss version='2.0' xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'><channel>{inside}</channel></rss>"
        )
    }

    #[test]
    fn missing_and_non_address_ids_are_noted() {
        check(&rss("<item><title>A &amp;amp; B</title></item><item/>"), "NoId item A & B 2");
        check(&rss("<item><guid>7</guid></item>"), "NotPermanent guid 7 1");
        check(&rss("<item><guid isPermaLink='true'>a/7</guid></item>"), "NotPermanent guid a/7 1");
        check(&rss("<item><guid isPermaLink='false'>7</guid></item>"), "");
        check(&rss("<item><guid>https://a.example/7</guid></item>"), "");
        check("<rdf:RDF xmlns='http://purl.org/rss/1.0/'><item rdf:about='u'/></rdf:RDF>", "");
        check(
            "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{\"id\":7}]}",
            "NumericId id 7 1",
        );
    }

    #[test]
    fn date_oddities_of_zone_time_and_form_are_noted() {
        let date = |text: &str| rss(&format!("<pubDate>{text}</pubDate>"));
        check(&date("Mon, 02 Mar 2026 10:00:00 GMT"), "");
        check(&date("Mon, 02 Mar 2026 10:00:00"), "NoZone pubDate Mon, 02 Mar 2026 10:00:00 1");
        check(&date("2026-03-02T10:00:00"), "NoZone pubDate 2026-03-02T10:00:00 1");
        check(&date("2 Mar 2026"), "NoTime pubDate 2 Mar 2026 1");
        check(&date("2026-03-02T10:00:00Z"), "OddForm pubDate 2026-03-02T10:00:00Z 1");
        check(&date("no date at all"), "");
        let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><updated>Mon, 02 Mar 2026 10:00:00 GMT</updated></feed>";
        check(atom, "OddForm updated Mon, 02 Mar 2026 10:00:00 GMT 1");
        check(&atom.replace("Mon, 02 Mar 2026 10:00:00 GMT", "2026-03-02T10:00:00.5+01:00"), "");
    }

    #[test]
    fn hints_outside_the_head_section_are_seen() {
        check(
            &rss(
                "<image><ttl>5</ttl></image><item><guid>a:1</guid><sy:updatePeriod>daily</sy:updatePeriod></item>",
            ),
            "Misplaced ttl image 1,Misplaced sy:updatePeriod item 1",
        );
        check(
            "<rss version='2.0'><ttl>5</ttl><channel><ttl>6</ttl></channel></rss>",
            "Misplaced ttl rss 1",
        );
        check(
            "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>a</id><link rel='prev-archive' href='x'/>\
             <source><link rel='current' href='y'/></source></entry></feed>",
            "Misplaced link entry 1",
        );
    }

    #[test]
    fn second_ttls_hour_24_and_old_formats_are_seen() {
        check(
            &rss("<ttl>5</ttl><ttl>6</ttl><skipHours><hour> 24 </hour></skipHours>"),
            "SecondTtl ttl 6 1,Hour24 skipHours 24 1",
        );
        check("<rss version='0.92'><channel/></rss>", "OldVersion rss 0.92 1");
        check(
            "<feed xmlns='http://purl.org/atom/ns#'/>",
            "OldNamespace feed http://purl.org/atom/ns# 1",
        );
        check("<a:feed xmlns:a='http://www.w3.org/2005/Atom'/>", "");
    }
}

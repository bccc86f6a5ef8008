//! Finds oddities to report to publishers: constructs that this program reads but other readers may read differently.

use chrono::DateTime;
use serde_json::Value;

mod breaches;

pub use breaches::{Breach, BreachKind};

use super::dates::date::{self, parse_date};
use super::encoding::decode;
use super::flaws::Flaws;
use super::parse::Origin;
use super::xml::fields::{self, FeedField};
use super::xml::names::Ns;
use super::xml::tree::XmlElement;
use super::xml::tree_builder;
use super::xml::xml_feed::{FeedParts, is_permanent_guid};
use super::{address, json_feed, text};

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
        if is_permanent_guid(guid) && !address::has_scheme(guid.text().trim()) {
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
        for item in items.take(tree_builder::ENTRIES_MAX) {
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

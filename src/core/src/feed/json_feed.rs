//! Reads JSON Feed 1 and 1.1 value by value, so that a value of the wrong type affects nothing else (SPEC G.39).

use chrono::{DateTime, Utc};
use serde_json::Value;
use url::Url;

use super::address;
use super::content::absolute_addresses::make_addresses_absolute;
use super::dates::date::{DateOrder, order_of, parse_date, read_date, stated_offset};
use super::document::{Enclosure, Entry, FeedDocument, FeedHead, HistoryLinks, Kind, Link};
use super::flaws::{AMBIGUOUS_DATE, Flaws, HintFlaws, NOT_A_DATE, OTHER_JSON};
use super::hints::{Hints, IntervalRule};
use super::identity::{self, EntryIds, StatedIdentity};
use super::text::{self, NAME_MAX, TITLE_MAX};
use super::xml::constructs::unescaped_if_twice;
use super::xml::schedule_hints::{self, StatedRule};
use super::xml::tree_builder::{ENTRIES_MAX, is_oldest_first};
use super::xml::{attachments, links};

/// Maximum number of values kept from a list in a JSON Feed item, such as its attachments.
const LIST_MAX: usize = 100;

/// Maximum number of JSON values in one document. Each parsed value takes far more memory than its text.
const VALUES_MAX: usize = 1_000_000;

/// Reads a JSON Feed document that was fetched from `url`.
pub(super) fn read_json_feed(document: &str, url: Option<&Url>, flaws: &mut Flaws) -> FeedDocument {
    if memchr::memchr3_iter(b',', b'[', b'{', document.as_bytes()).nth(VALUES_MAX).is_some() {
        flaws.add("document", "", "too many values");
        return FeedDocument::default();
    }
    let value = match read_first_value(document) {
        Ok(value) => value,
        Err(error) => {
            if error.is_eof() {
                flaws.truncated("{");
            }
            flaws.add("document", "", &format!("not JSON: {error}"));
            return FeedDocument::default();
        }
    };
    let version = read_line(&value, "version").unwrap_or_default();
    if !version.contains("jsonfeed.org") && !value.get("items").is_some_and(Value::is_array) {
        flaws.add("document", &version, OTHER_JSON);
        return FeedDocument::default();
    }
    let base = url.cloned().or_else(|| Url::parse(&read_line(&value, "feed_url")?).ok());
    let links = feed_links(&value, base.as_ref());
    let history = read_history(&links, url);
    FeedDocument {
        kind: Kind::Json,
        role: links::classify_role(&history),
        head: read_head(&value, base.as_ref()),
        hints: read_hints(&value, flaws),
        history,
        links,
        entries: read_entries(&value, base.as_ref(), flaws),
        ..FeedDocument::default()
    }
}

/// Parses the first JSON value in a text and ignores the text after it. Line ends inside strings, which JSON forbids, are read as
/// spaces. Lone surrogates, which some programs write, become U+FFFD.
pub(super) fn read_first_value(document: &str) -> Result<Value, serde_json::Error> {
    let first = |text: &str| {
        serde_json::Deserializer::from_str(text)
            .into_iter::<Value>()
            .next()
            .unwrap_or(Ok(Value::Null))
    };
    first(document).or_else(|error| {
        let repaired = without_lone_surrogates(&document.replace(['\n', '\r', '\t'], " "));
        if repaired == document { Err(error) } else { first(&repaired).map_err(|_| error) }
    })
}

/// Replaces each escaped lone surrogate with the escape for U+FFFD.
fn without_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let pair = |text: &str| Some((surrogate_escape(text)?, surrogate_escape(text.get(6..)?)?));
        let taken = match (surrogate_escape(tail), pair(tail)) {
            (Some(_), Some((high, low))) if high < 0xdc00 && low >= 0xdc00 => 12,
            (Some(_), _) => {
                out.push_str("\\ufffd");
                rest = tail.get(6..).unwrap_or_default();
                continue;
            }
            // Copy the backslash together with the escaped character, which may itself be a backslash.
            (None, _) => tail.char_indices().nth(2).map_or(tail.len(), |(end, _)| end),
        };
        let (escape, after) = tail.split_at(taken);
        out.push_str(escape);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Returns the surrogate from an escape such as `\ud83d` at the start of a text.
fn surrogate_escape(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok().filter(|code| (0xd800..0xe000).contains(code))
}

/// Returns a string or number as text, or `None` if it is blank.
fn scalar_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text::safe_text(text).into_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

fn read_line(value: &Value, key: &str) -> Option<String> {
    scalar_text(value.get(key)?).map(|text| text.trim().to_owned())
}

/// Reads the plain text stored under `key`, such as a title, as one line.
fn read_shown_line(value: &Value, key: &str, max: usize) -> Option<String> {
    Some(text::one_line(&scalar_text(value.get(key)?)?, max)).filter(|line| !line.is_empty())
}

fn read_link(value: &Value, key: &str, base: Option<&Url>) -> Option<String> {
    address::resolve_address(&read_line(value, key)?, base)
}

fn list_values<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn read_head(value: &Value, base: Option<&Url>) -> FeedHead {
    FeedHead {
        title: read_shown_line(value, "title", TITLE_MAX),
        link: read_link(value, "home_page_url", base),
        subtitle: read_shown_line(value, "description", TITLE_MAX * 4),
        language: read_shown_line(value, "language", NAME_MAX),
        author: read_authors(value).next(),
        rights: read_shown_line(value, "copyright", TITLE_MAX),
        ..FeedHead::default()
    }
}

/// Reads the names of the authors from `authors` (version 1.1) or `author` (version 1).
fn read_authors(value: &Value) -> impl Iterator<Item = String> {
    let name = |author: &Value| {
        read_shown_line(author, "name", NAME_MAX)
            .or_else(|| Some(author).filter(|a| a.is_string()).and_then(scalar_text))
    };
    let one = move || value.get("author").and_then(name);
    let mut all = list_values(value, "authors").take(LIST_MAX).filter_map(name).peekable();
    let one = if all.peek().is_none() { one() } else { None };
    all.chain(one)
}

fn feed_links(value: &Value, base: Option<&Url>) -> Vec<Link> {
    let rels = [("home_page_url", "alternate"), ("feed_url", "self"), ("next_url", "next")];
    let link = |(key, rel): (&str, &str)| {
        Some(Link { rel: rel.to_owned(), href: read_link(value, key, base)?, media_type: None })
    };
    rels.into_iter().filter_map(link).collect()
}

fn read_history(links: &[Link], url: Option<&Url>) -> HistoryLinks {
    let named = |rel: &str| links.iter().find(|link| link.rel == rel).map(|link| link.href.clone());
    let this = named("self");
    let own = this.as_deref().and_then(|this| Url::parse(this).ok());
    // A `next_url` that points to the document itself would cause an endless loop.
    let elsewhere = |href: &String| {
        ![url, own.as_ref()].into_iter().flatten().any(|own| address::same_document(href, own))
    };
    HistoryLinks { next: named("next").filter(elsewhere), this, ..HistoryLinks::default() }
}

fn read_hints(value: &Value, flaws: &mut Flaws) -> Hints {
    let mut flaws = HintFlaws::new(flaws);
    let hints = Hints {
        intervals: value
            .get("_schedule")
            .map(|schedule| read_rules(schedule, &mut flaws))
            .unwrap_or_default(),
        offers_push: list_values(value, "hubs").next().is_some(),
        expired: value.get("expired") == Some(&Value::Bool(true)),
        generator: read_shown_line(value, "_generator", NAME_MAX),
        ..Hints::default()
    };
    Hints { flaws: flaws.into_list(), ..hints }
}

/// Reads the interval rules in the `_schedule` extension (SPEC H.1).
fn read_rules(schedule: &Value, flaws: &mut HintFlaws<'_>) -> Vec<IntervalRule> {
    let mut rules = Vec::new();
    if !schedule.get("intervals").is_some_and(Value::is_array) {
        let text = schedule.as_str().unwrap_or_default();
        flaws.add("_schedule", text, "not an object with a list of intervals: dropped");
    }
    for rule in list_values(schedule, "intervals") {
        let field = |name: &str| {
            let mut names = rule.as_object()?.keys();
            read_line(rule, names.find(|stated| stated.eq_ignore_ascii_case(name))?)
        };
        let stated = StatedRule {
            minutes: field("minutes").unwrap_or_default(),
            start_hour: field("starthour"),
            end_hour: field("endhour"),
            start_day: field("startday"),
            end_day: field("endday"),
            zone: field("tz"),
        };
        schedule_hints::add_rule(&mut rules, &stated, flaws);
    }
    rules
}

fn read_entries(value: &Value, base: Option<&Url>, flaws: &mut Flaws) -> Vec<Entry> {
    let mut entries = Vec::new();
    match value.get("items") {
        None => flaws.add("items", "", "no entries: there is no list of items"),
        Some(Value::Array(items)) if items.is_empty() => {
            flaws.add("items", "", "no entries: the list of items is empty");
        }
        Some(Value::Array(_)) => {}
        Some(_) => flaws.add("items", "", "no entries: this is not a list"),
    }
    let items: Vec<&Value> = list_values(value, "items").collect();
    let surplus = items.len().saturating_sub(ENTRIES_MAX);
    if surplus > 0 {
        flaws.add("items", "", super::flaws::TOO_MANY_ENTRIES);
    }
    let date = |item: &Value| {
        let stated = read_line(item, "date_published").or_else(|| read_line(item, "date_modified"));
        parse_date(&stated?)
    };
    let dates = ["date_published", "date_modified"];
    let texts = items.iter().flat_map(|item| dates.map(|key| item.get(key)?.as_str()));
    let order = order_of(texts.flatten());
    let left_out = if is_oldest_first(items.iter().map(|item| date(item))) { surplus } else { 0 };
    let page = read_link(value, "home_page_url", base).and_then(|page| address::web_url(&page));
    let within = ItemContext { base, page, order };
    let mut first_authors = Vec::new();
    for item in items.into_iter().skip(left_out).take(ENTRIES_MAX) {
        match read_line(item, "id") {
            Some(id) => {
                first_authors.push(read_authors(item).next());
                entries.push(Entry { id, ..read_entry(item, &within, flaws) });
            }
            None => flaws.add(
                "item",
                &read_shown_line(item, "title", NAME_MAX).unwrap_or_default(),
                "without id: discarded",
            ),
        }
    }
    let stated: Vec<StatedIdentity<'_>> = entries
        .iter()
        .zip(&first_authors)
        .map(|(entry, author)| StatedIdentity {
            id: Some(&entry.id),
            link: entry.link.as_deref(),
            title: entry.title.as_deref(),
            text: entry.content.as_deref(),
            author: author.as_deref(),
            has_more: entry.published.is_some(),
        })
        .collect();
    let EntryIds { ids, shared } = identity::entry_ids(&stated);
    for id in shared {
        flaws.add("item", &id, identity::SHARED_ID);
    }
    entries.into_iter().zip(ids).map(|(entry, id)| Entry { id, ..entry }).collect()
}

/// Properties of the document that affect how its items are read.
struct ItemContext<'u> {
    /// URL of the document, against which relative URLs in items are resolved.
    base: Option<&'u Url>,
    /// Home page of the feed.
    page: Option<Url>,
    /// Whether numeric dates in this document start with the day or with the month.
    order: Option<DateOrder>,
}

/// Reads all fields of an item except its ID.
fn read_entry(item: &Value, within: &ItemContext<'_>, flaws: &mut Flaws) -> Entry {
    let ItemContext { base, order, .. } = *within;
    let markup = |key: &str| {
        item.get(key).and_then(scalar_text).map(|markup| text::safe_text(&markup).into_owned())
    };
    let plain = || {
        markup("content_text").map(|plain| {
            let mut escaped = String::with_capacity(plain.len());
            text::push_escaped(&mut escaped, &plain, false);
            escaped
        })
    };
    let link = read_link(item, "url", base).or_else(|| read_link(item, "external_url", base));
    let page = read_link(item, "url", base).and_then(|page| address::web_url(&page));
    let text_base = page.as_ref().or(within.page.as_ref()).or(base);
    let external = read_link(item, "external_url", base).filter(|url| Some(url) != link.as_ref());
    let mut entry = Entry {
        title: read_shown_line(item, "title", TITLE_MAX),
        link,
        comments: None,
        author: text::joined_names(read_authors(item)),
        published: read_stated_date(item, "date_published", order, flaws),
        offset_minutes: read_line(item, "date_published")
            .or_else(|| read_line(item, "date_modified"))
            .and_then(|text| stated_offset(&text)),
        updated: read_stated_date(item, "date_modified", order, flaws),
        summary: markup("summary"),
        content: markup("content_html")
            .map(|html| make_addresses_absolute(html.into(), || text_base.cloned()).into_owned())
            .or_else(plain),
        enclosures: read_enclosures(item, base),
        categories: list_values(item, "tags")
            .take(LIST_MAX)
            .filter_map(scalar_text)
            .map(|tag| text::one_line(&tag, NAME_MAX))
            .collect(),
        ..Entry::default()
    };
    if item.get("content_html").is_some_and(Value::is_string) {
        let markup = entry.content.as_deref().and_then(unescaped_if_twice);
        let absolute = |html: String| make_addresses_absolute(html.into(), || text_base.cloned());
        entry.shown = markup.map(|html| absolute(html).into_owned());
    }
    if let Some(link) = external.and_then(|address| missing_link(&entry, &address)) {
        entry.add_shown(&link);
    }
    entry
}

/// Returns a link to the page that the item is about, unless the text contains it.
fn missing_link(entry: &Entry, address: &str) -> Option<String> {
    let mut escaped = String::with_capacity(address.len());
    text::push_escaped(&mut escaped, address, false);
    let shown = entry.body().unwrap_or_default();
    let is_missing = !shown.contains(&escaped) && !shown.contains(address);
    is_missing.then(|| format!("<a href=\"{escaped}\">{escaped}</a>"))
}

fn read_stated_date(
    item: &Value,
    key: &str,
    order: Option<DateOrder>,
    flaws: &mut Flaws,
) -> Option<DateTime<Utc>> {
    let text = read_line(item, key)?;
    let date = read_date(&text, order);
    if date.is_none() {
        flaws.add(key, &text, NOT_A_DATE);
    }
    if date.is_some_and(|date| date.is_ambiguous) {
        flaws.add_once(key, &text, AMBIGUOUS_DATE);
    }
    date.map(|date| date.at)
}

/// Reads the attachments of an item and puts playable files first.
fn read_enclosures(item: &Value, base: Option<&Url>) -> Vec<Enclosure> {
    let files = list_values(item, "attachments").take(LIST_MAX);
    let mut enclosures: Vec<Enclosure> =
        files.filter_map(|file| read_enclosure(file, base)).collect();
    enclosures.sort_by_key(|file| {
        attachments::place(file.media_type.as_deref().unwrap_or_default(), &file.url)
    });
    enclosures
}

fn read_enclosure(file: &Value, base: Option<&Url>) -> Option<Enclosure> {
    let number = |key: &str| file.get(key).and_then(read_whole_number);
    Some(Enclosure {
        url: read_link(file, "url", base)?,
        media_type: read_shown_line(file, "mime_type", NAME_MAX),
        length: number("size_in_bytes"),
        duration_seconds: number("duration_in_seconds")
            .and_then(|seconds| u32::try_from(seconds).ok()),
    })
}

/// Reads a whole number, even if it is written as a string. Ignores a fraction.
fn read_whole_number(value: &Value) -> Option<u64> {
    let text = scalar_text(value)?;
    text.split('.').next().unwrap_or_default().trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::feed::{DocumentRole, Kind, Origin, parse};

    fn read(document: &str) -> crate::feed::FeedDocument {
        parse(
            document.as_bytes(),
            &Origin { url: Some("https://a.example/feed.json"), content_type: None },
        )
    }

    fn items(items: &str) -> crate::feed::FeedDocument {
        read(&format!("{{\"version\":\"http://jsonfeed.org/version/1\",\"items\":[{items}]}}"))
    }

    #[test]
    fn wrongly_typed_values_are_dropped_alone() {
        let read = items(
            r#"{"id":1.5,"title":[],"url":"x","tags":["a",null,2],"date_published":"soon","attachments":[{"url":"y","size_in_bytes":"12"},{}]},
               {"title":"no id"},{"id":" "},{"id":"2","content_text":"1 < 2","authors":[{},{"name":"Ada"}],"external_url":"http://b.example"}"#,
        );
        assert_eq!(read.kind, Kind::Json);
        let [first, second] = read.entries.as_slice() else { panic!("two entries") };
        assert_eq!((first.id.as_str(), first.title.as_deref()), ("1.5", None));
        assert_eq!(first.link.as_deref(), Some("https://a.example/x"));
        assert_eq!(first.categories, ["a", "2"]);
        assert_eq!(first.enclosures.iter().map(|file| file.length).collect::<Vec<_>>(), [Some(12)]);
        assert_eq!(second.content.as_deref(), Some("1 &lt; 2"));
        assert_eq!(
            (second.author.as_deref(), second.link.as_deref()),
            (Some("Ada"), Some("http://b.example"))
        );
        assert_eq!(read.flaws.len(), 3);
    }

    #[test]
    fn lone_surrogate_costs_one_character() {
        let read = items(
            r#"{"id":"1","title":"cut \ud83d off"},{"id":"2","title":"\ude00 \\ud83d \ud83d\ude00"},{"id":"3","title":"\ud83d\ud83d\ude00\ud8"}"#,
        );
        assert_eq!(read.kind, Kind::None, "an escape that is cut short is no JSON");
        let read = items(
            r#"{"id":"1","title":"cut \ud83d off"},{"id":"2","title":"\ude00 \\ud83d \ud83d\ude00"},{"id":"3","title":"\uD83D\uD83D\uDE00"}"#,
        );
        let titles: Vec<_> = read.entries.iter().filter_map(|e| e.title.as_deref()).collect();
        assert_eq!(titles, ["cut \u{fffd} off", "\u{fffd} \\ud83d 😀", "\u{fffd}😀"]);
    }

    #[test]
    fn texts_are_made_safe_and_line_ends_inside_them_allowed() {
        let read = items(
            "{\"id\":\"a\\u001b[31m\",\"title\":\"t\\u202e\nu\",\"content_html\":\"<a href='z'>\\u0007</a>\"}",
        );
        assert_eq!(read.entries[0].id, "a[31m");
        assert_eq!(read.entries[0].title.as_deref(), Some("t u"));
        assert_eq!(read.entries[0].content.as_deref(), Some("<a href='https://a.example/z'></a>"));
    }

    #[test]
    fn authors_and_the_page_that_an_item_is_about_are_read() {
        let read = items(
            r#"{"id":"1","url":"/1","external_url":"https://b.example/x?a&b","content_text":"a\nb","authors":[{"name":"Ada"},{"name":"Bo"}]},
               {"id":"2","external_url":"https://b.example/x","content_html":"<p>c</p>","author":{"name":"Cy"}},
               {"id":"3","url":"/3","external_url":"https://b.example/x","content_html":"<p>c</p>"}"#,
        );
        let author = |at: usize| read.entries[at].author.as_deref();
        assert_eq!([author(0), author(1), author(2)], [Some("Ada, Bo"), Some("Cy"), None]);
        let link = "<a href=\"https://b.example/x?a&amp;b\">https://b.example/x?a&amp;b</a>";
        let kept = |at: usize| read.entries[at].kept_texts()[1].unwrap_or_default();
        assert_eq!(read.entries[0].body(), Some("a\nb"), "it stays as the publisher wrote it");
        assert_eq!(kept(0), format!("a\nb\n\n{link}"));
        assert_eq!(kept(1), "<p>c</p>");
        assert!(kept(2).starts_with("<p>c</p><p><a href="), "{}", kept(2));
    }

    #[test]
    fn next_page_equal_to_the_feed_is_ignored() {
        let page = |next: &str| {
            read(&format!(
                "{{\"version\":\"https://jsonfeed.org/version/1.1\",\"next_url\":\"{next}\",\"expired\":true}}"
            ))
        };
        assert_eq!(page("feed.json#x").history.next, None);
        assert_eq!(page("?p=2").history.next.as_deref(), Some("https://a.example/feed.json?p=2"));
        assert_eq!(page("?p=2").role, DocumentRole::Paged);
        assert!(page("?p=2").hints.expired);
    }
}

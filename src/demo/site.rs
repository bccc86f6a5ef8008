//! The web site of the demo: the response of each address at each point in time, and its pages: the front page, one page per feed,
//! and one per entry. The numbered pages of the kitchen's diary, which its feed does not link to, are as in `WordPress`: six pages
//! of ten older entries.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use chrono::{DateTime, SubsecRound as _, Utc};
use feed_rs::model::{Entry, Feed, Text};

use super::catalogue::{
    Access, DOCUMENTS, DemoOffer, DemoValidators, Document, ENCLOSED, MOVED, OFFERS, RSS,
};
use super::template::{Edition, Expansion, TemplateContext, expand};
use super::{accepts_gzip, gzip, names};

/// Minimum size in bytes of a body that is compressed.
const GZIP_BYTES_MIN: usize = 512;
const HTML: &str = "text/html; charset=utf-8";

/// The demo web site. Its response depends only on the request and the time.
#[derive(Debug)]
pub struct DemoSite {
    base: String,
    started: DateTime<Utc>,
    healed: AtomicBool,
}

/// The parts of a GET request that can affect the response.
#[derive(Debug, Clone, Copy, Default)]
pub struct DemoRequest<'a> {
    pub path: &'a str,
    pub query: Option<&'a str>,
    pub if_none_match: Option<&'a str>,
    pub if_modified_since: Option<&'a str>,
    pub accept_encoding: Option<&'a str>,
    /// `A-IM` (RFC 3229).
    pub a_im: Option<&'a str>,
}

/// A complete HTTP response except for its length. Header names are lowercase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// A feed that the demo is initially subscribed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoSubscription {
    pub url: String,
    pub tags: Vec<String>,
    /// Short description of what the feed demonstrates.
    pub note: &'static str,
}

impl DemoSite {
    /// Creates the site. `base` is the scheme, host and port, without a trailing slash.
    pub fn new(base: impl Into<String>, started: DateTime<Utc>) -> Self {
        Self {
            base: base.into(),
            started: started.trunc_subsecs(0),
            healed: AtomicBool::new(false),
        }
    }

    /// Returns the initial subscriptions, in the order in which they should be listed.
    pub fn subscriptions(&self) -> Vec<DemoSubscription> {
        let subscription = |offer: &DemoOffer| DemoSubscription {
            url: format!("{}{}", self.base, offer.address),
            tags: offer.tags.iter().map(ToString::to_string).collect(),
            note: offer.note,
        };
        OFFERS.iter().map(subscription).collect()
    }

    /// Makes the archive that answers 403 available from now on, regardless of how long the demo has run.
    pub fn heal(&self) {
        self.healed.store(true, Ordering::Relaxed);
    }

    /// Returns the response to a GET request at `now`. A time before the start of the demo counts as the start.
    pub fn answer(&self, request: &DemoRequest<'_>, now: DateTime<Utc>) -> DemoAnswer {
        let stage = TemplateContext { base: &self.base, started: self.started, now };
        let address = match request.query {
            Some(query) => format!("{}?{query}", request.path),
            None => request.path.to_owned(),
        };
        let mut answer = if let Some(document) = DOCUMENTS.iter().find(|d| d.address == address) {
            self.document(document, request, stage)
        } else if let Some((_, to)) = MOVED.iter().find(|(from, _)| *from == address) {
            let mut moved = plain(301, HTML, notice("Moved permanently", to));
            moved.set("location", format!("{}{to}", self.base));
            moved
        } else if let Some((_, kind, bytes)) = ENCLOSED.iter().find(|(at, ..)| *at == address) {
            plain(200, kind, bytes.to_vec())
        } else if let Some(page) = page(&address) {
            plain(200, RSS, expand(&page, stage, Edition::Feed).text)
        } else if let Some(html) = at(&address, stage) {
            plain(200, HTML, html)
        } else {
            plain(404, HTML, notice("Not found", "Nothing is published here."))
        };
        answer.set("date", http_date(now));
        if answer.body.len() >= GZIP_BYTES_MIN && accepts_gzip(request.accept_encoding) {
            answer.compress();
        }
        answer
    }

    fn document(
        &self,
        document: &Document,
        request: &DemoRequest<'_>,
        stage: TemplateContext<'_>,
    ) -> DemoAnswer {
        let whole = expand(document.template, stage, Edition::Feed);
        let tag = format!("\"{}-{}\"", document.name, whole.changes);
        let tag_known = request.if_none_match.is_some_and(|tags| names(tags, &tag));
        let running = stage.now - stage.started;
        let forbidden = match document.access {
            Access::Open => None,
            Access::ForbiddenFor(span) => {
                let healed = running >= span || self.healed.load(Ordering::Relaxed);
                (!healed).then_some((403, "This volume is being repaired and returns in a minute."))
            }
            Access::GoneAfter(span) => {
                (tag_known || running >= span).then_some((410, "This feed has ended."))
            }
        };
        if let Some((status, words)) = forbidden {
            return plain(status, HTML, notice("Not available", words));
        }

        let mut answer = if is_known(request, tag_known, document.validators, whole.changed) {
            DemoAnswer { status: 304, headers: Vec::new(), body: Vec::new() }
        } else if let Some(delta) = delta(document, request, stage, &whole) {
            let mut delta = plain(226, document.media_type, delta);
            delta.set("im", "feed".to_owned());
            delta
        } else {
            plain(200, document.media_type, whole.text)
        };
        if document.validators != DemoValidators::Date {
            answer.set("etag", tag);
        }
        if document.validators != DemoValidators::Tag {
            answer.set("last-modified", http_date(whole.changed));
        }
        if let Some(cache_control) = document.cache_control {
            answer.set("cache-control", cache_control.to_owned());
        }
        answer
    }
}

impl DemoAnswer {
    /// Returns the value of the header with this lowercase name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    fn set(&mut self, name: &str, value: String) {
        self.headers.push((name.to_owned(), value));
    }

    /// Compresses the body. The compressed bytes differ from the original bytes, so the entity tag becomes weak (RFC 9110
    /// §8.8.1).
    fn compress(&mut self) {
        let Some(body) = gzip(&self.body) else { return };
        self.body = body;
        for (_, tag) in self.headers.iter_mut().filter(|(name, _)| name == "etag") {
            *tag = format!("W/{tag}");
        }
        self.set("content-encoding", "gzip".to_owned());
        self.set("vary", "accept-encoding".to_owned());
    }
}

fn plain(status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> DemoAnswer {
    let headers = vec![("content-type".to_owned(), media_type.to_owned())];
    DemoAnswer { status, headers, body: body.into() }
}

/// Checks whether the request's validators match. The date is compared only if the request contains no entity tag (RFC 9110
/// §13.1.3).
fn is_known(
    request: &DemoRequest<'_>,
    tag_known: bool,
    validators: DemoValidators,
    changed: DateTime<Utc>,
) -> bool {
    match (request.if_none_match, request.if_modified_since) {
        (Some(_), _) => tag_known && validators != DemoValidators::Date,
        (None, Some(date)) => {
            let since = httpdate::parse_http_date(date).map(DateTime::<Utc>::from);
            validators != DemoValidators::Tag && since.is_ok_and(|since| since >= changed)
        }
        (None, None) => false,
    }
}

/// Returns the entries added since the state that the request's tag identifies, if the request accepts a delta.
fn delta(
    document: &Document,
    request: &DemoRequest<'_>,
    stage: TemplateContext<'_>,
    whole: &Expansion,
) -> Option<String> {
    let asked = request.a_im?.split(',').any(|im| im.trim().eq_ignore_ascii_case("feed"));
    let tags = request.if_none_match?;
    let known = (0..whole.changes)
        .rev()
        .find(|changes| names(tags, &format!("\"{}-{changes}\"", document.name)))?;
    (asked && document.deltas).then(|| expand(document.template, stage, Edition::Since(known)).text)
}

fn http_date(instant: DateTime<Utc>) -> String {
    httpdate::fmt_http_date(SystemTime::from(instant))
}

/// Returns the HTML page at an address, if there is one.
pub(super) fn at(address: &str, stage: TemplateContext<'_>) -> Option<String> {
    if address == "/" {
        return Some(front());
    }
    let url = format!("{}{address}", stage.base);
    let folder = address.get(..=address.get(1..)?.find('/')? + 1)?;
    DOCUMENTS.iter().filter(|document| document.address.starts_with(folder)).find_map(|document| {
        let feed = read(document, stage)?;
        if address == folder {
            return Some(home(&feed, document));
        }
        feed.entries
            .iter()
            .find(|entry| leads_to(entry, &url))
            .map(|entry| entry_page(&feed, entry))
    })
}

/// Returns a page with a single sentence, for responses that are not successful.
pub(super) fn notice(title: &str, sentence: &str) -> String {
    html(title, "", &format!("<h1>{title}</h1>\n<p>{sentence}</p>"))
}

fn front() -> String {
    let head: String = OFFERS.iter().map(|o| alternate(o.title, o.media_type, o.address)).collect();
    let rows: String = OFFERS.iter().map(offer).collect();
    let body = format!(
        "<h1>The demo publisher</h1>\n<p>Every feed here is invented, and shows one way of \
         publishing.</p>\n<ul>\n{rows}</ul>"
    );
    html("The demo publisher of backissue", &head, &body)
}

fn offer(DemoOffer { address, title, note, .. }: &DemoOffer) -> String {
    format!("<li><a href=\"{address}\">{}</a>: {}</li>\n", escaped(title), escaped(note))
}

fn home(feed: &Feed, document: &Document) -> String {
    let title = plain_text(feed.title.as_ref());
    let rows: String = feed.entries.iter().map(row).collect();
    let head = alternate(&title, document.media_type, document.address);
    html(&title, &head, &format!("<h1>{}</h1>\n<ul>\n{rows}</ul>", escaped(&title)))
}

fn row(entry: &Entry) -> String {
    let title = escaped(&plain_text(entry.title.as_ref()));
    match entry.links.first() {
        Some(link) => format!("<li><a href=\"{}\">{title}</a></li>\n", escaped(&link.href)),
        None => format!("<li>{title}</li>\n"),
    }
}

fn entry_page(feed: &Feed, entry: &Entry) -> String {
    let title = plain_text(entry.title.as_ref());
    let content = entry.content.as_ref().and_then(|content| content.body.clone());
    let summary = entry.summary.as_ref().map(|summary| summary.content.clone());
    let article = content.or(summary).unwrap_or_default();
    let home = escaped(&plain_text(feed.title.as_ref()));
    let body = format!(
        "<nav><a href=\"./\">{home}</a></nav>\n<article>\n<h1>{}</h1>\n{article}\n</article>",
        escaped(&title)
    );
    html(&title, "", &body)
}

fn read(document: &Document, stage: TemplateContext<'_>) -> Option<Feed> {
    let text = expand(document.template, stage, Edition::Page).text;
    feed_rs::parser::parse(text.as_bytes()).ok()
}

fn leads_to(entry: &Entry, url: &str) -> bool {
    entry.links.iter().any(|link| link.href == url)
}

fn plain_text(text: Option<&Text>) -> String {
    text.map(|text| text.content.clone()).unwrap_or_default()
}

fn alternate(title: &str, media_type: &str, address: &str) -> String {
    let kind = media_type.split(';').next().unwrap_or(media_type);
    let title = escaped(title);
    format!("<link rel=\"alternate\" type=\"{kind}\" title=\"{title}\" href=\"{address}\">\n")
}

fn html(title: &str, head: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>{}</title>\n{head}</head>\n<body>\n{body}\n</body>\n</html>\n",
        escaped(title)
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Address of the pages, before their numbers. The feed itself is page 1.
const PAGES: &str = "/kitchen/feed.xml?paged=";
const LAST_PAGE: usize = 7;
const PER_PAGE: usize = 10;
/// Age of the newest entry of page 2, and time between two entries, in days.
const AGE: (usize, usize) = (70, 7);
const DISHES: [&str; 10] = [
    "Barley broth",
    "Pickled beans",
    "A pie of leeks",
    "Oatcakes",
    "Smoked eel",
    "Baked apples",
    "Split peas",
    "Nettle soup",
    "Potted cheese",
    "Plum jam",
];
const NOTES: [&str; 6] = [
    "for a wet night",
    "with what was left",
    "as my aunt made it",
    "for twelve and a dog",
    "on the small stove",
    "and what I would change",
];

/// Returns the template of the page at an address, if there is one.
pub(super) fn page(address: &str) -> Option<String> {
    let number: usize = address.strip_prefix(PAGES)?.parse().ok()?;
    if !(2..=LAST_PAGE).contains(&number) {
        return None;
    }
    let mut items = String::new();
    let first = (number - 2) * PER_PAGE;
    for place in first..first + PER_PAGE {
        let dish = DISHES.get(place % DISHES.len())?;
        let note = NOTES.get(place / DISHES.len() % NOTES.len())?;
        let days = AGE.0 + place * AGE.1;
        // Writing to a string cannot fail.
        let _ = write!(
            items,
            "<item><title>{dish}, {note}</title><link>{{{{base}}}}/kitchen/old/{place}</link>\
             <guid isPermaLink=\"false\">kitchen-old-{place}</guid><pubDate>{{{{ago:{days}d:rfc822}}}}</pubDate>\
             <description>{dish}, {note}: the page has become hard to read, but the onions are legible.</description></item>"
        );
    }
    Some(format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel>\
         <title>A Kitchen by the Locks</title><link>{{{{base}}}}/kitchen/</link>\
         <generator>https://wordpress.org/?v=6.5</generator>\n{items}</channel></rss>\n"
    ))
}

#[cfg(test)]
#[path = "site_tests.rs"]
mod tests;

//! The web pages of the demo: the front page, one page per feed, and one per entry.

use feed_rs::model::{Entry, Feed, Text};

use super::catalogue::{DOCUMENTS, DemoOffer, Document, OFFERS};
use super::template::{Edition, TemplateContext, expand};

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
    let title = plain(feed.title.as_ref());
    let rows: String = feed.entries.iter().map(row).collect();
    let head = alternate(&title, document.media_type, document.address);
    html(&title, &head, &format!("<h1>{}</h1>\n<ul>\n{rows}</ul>", escaped(&title)))
}

fn row(entry: &Entry) -> String {
    let title = escaped(&plain(entry.title.as_ref()));
    match entry.links.first() {
        Some(link) => format!("<li><a href=\"{}\">{title}</a></li>\n", escaped(&link.href)),
        None => format!("<li>{title}</li>\n"),
    }
}

fn entry_page(feed: &Feed, entry: &Entry) -> String {
    let title = plain(entry.title.as_ref());
    let content = entry.content.as_ref().and_then(|content| content.body.clone());
    let summary = entry.summary.as_ref().map(|summary| summary.content.clone());
    let article = content.or(summary).unwrap_or_default();
    let home = escaped(&plain(feed.title.as_ref()));
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

fn plain(text: Option<&Text>) -> String {
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

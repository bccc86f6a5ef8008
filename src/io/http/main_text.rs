//! Finds the text of a web page by what its markup says: `main` and `article`, and the data for search engines.

use dom_query::{Document, Selection};
use serde_json::Value;
use url::Url;

use backissue_core::feed::content::absolute_addresses::make_addresses_absolute;
use backissue_core::feed::outgoing::escaped_text;

/// Words in the class or ID of elements that contain the comments of visitors or other articles.
const BESIDE: &str =
    "comments comment respond disqus related recommended recommendations sidebar breadcrumbs";

/// Words in the class or ID of short elements that advertise or ask for consent.
const ASKING: &str = "cookie cookies consent gdpr newsletter signup subscribe share sharing sharedaddy ad ads \
     advert advertisement sponsor promo popup modal";

/// Maximum length of an element that only asks for something, in bytes.
const ASKING_BYTES_MAX: usize = 600;

/// Elements that may be no part of the article. Some pages consist of one form.
const PARTS: &str = "div, section, aside, ul, ol, li, article, footer, header, nav, form, dialog";

/// Elements that show where the article is. An element around one of them is not removed.
const KEPT: &str = "main, h1, [itemprop=articleBody], .e-content, .entry-content";

/// Removes the parts of a page that do not belong to its article.
pub(super) fn remove_surroundings(page: &Document) {
    page.select("script:not([type='application/ld+json']):not([type^='math/tex']), style").remove();
    for element in &page.select(PARTS) {
        let names = [element.attr_or("class", ""), element.attr_or("id", "")];
        let mut words = names
            .iter()
            .flat_map(|names| names.split([' ', '-', '_']))
            .map(str::to_ascii_lowercase);
        let is_beside = words.clone().any(|word| is_in(BESIDE, &word));
        let is_asking = (element.is("form, dialog") || words.any(|word| is_in(ASKING, &word)))
            && element.text().len() <= ASKING_BYTES_MAX;
        let is_beside = is_beside || element.is("nav");
        if (is_beside || is_asking) && !element.select(KEPT).exists() && !element.is(KEPT) {
            element.remove();
        }
    }
}

fn is_in(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Returns the element with the article of a page: the only `article`, the only one with the heading of the page, or `main`.
pub(super) fn find_root(page: &Document) -> Option<Selection<'_>> {
    let within_main = page.select("main article, [role=main] article, [itemprop=articleBody]");
    let articles =
        if within_main.exists() { within_main } else { page.select("article, .h-entry, .hentry") };
    let is_outer = |article: &Selection<'_>| !article.is("article *, .h-entry *, .hentry *");
    let mut outer: Vec<Selection<'_>> = articles.iter().filter(is_outer).collect();
    if outer.len() > 1 {
        outer.retain(|article| article.select("h1").exists());
    }
    if outer.len() == 1
        && let Some(article) = outer.pop()
    {
        return Some(article);
    }
    Some(page.select("main, [role=main]").first()).filter(Selection::exists)
}

/// Returns the HTML inside an element, with absolute addresses. The heading with the title of the page is left out, because the
/// reader shows the title of the entry above the text.
pub(super) fn inner_html(page: &Document, root: &Selection<'_>, url: &str) -> String {
    let (title, heading) = (page.select("title").text(), root.select("h1"));
    if heading.length() == 1 && title.trim().contains(heading.text().trim()) {
        heading.remove();
    }
    root.select("aside, footer nav, [role=navigation], button").remove();
    make_addresses_absolute(root.inner_html().as_ref().into(), || Url::parse(url).ok()).into_owned()
}

/// Returns the text that a page states as data for search engines (`articleBody` in JSON-LD), as paragraphs.
pub(super) fn stated_text(page: &Document) -> Option<String> {
    let scripts = page.select("script[type='application/ld+json']");
    let data = scripts.iter().filter_map(|script| serde_json::from_str(&script.text()).ok());
    let text = data.filter_map(|data: Value| article_body(&data, 0)).max_by_key(String::len)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Some(lines.fold(String::new(), |text, line| text + "<p>" + &escaped_text(line) + "</p>\n"))
}

/// Maximum depth at which `articleBody` is looked for.
const DATA_DEPTH_MAX: usize = 4;

fn article_body(data: &Value, depth: usize) -> Option<String> {
    if depth > DATA_DEPTH_MAX {
        return None;
    }
    if let Some(own) = data.get("articleBody").and_then(Value::as_str) {
        return Some(own.to_owned());
    }
    let inner: Vec<&Value> = match data {
        Value::Array(values) => values.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    inner.into_iter().find_map(|value| article_body(value, depth.saturating_add(1)))
}

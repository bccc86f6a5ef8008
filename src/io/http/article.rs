//! Extracts the article from a web page. It is in the element that the markup marks as the article, or in the data for search
//! engines; otherwise it is what Firefox's reader view would show.
//!
//! The extraction library is very slow on deep nesting (over a minute for 20,000 nested `div` elements) and may panic. Deep or
//! large trees are therefore rejected first, and a panic becomes an error.

use std::cell::Cell;

use backissue_core::feed::content::absolute_addresses::make_addresses_absolute;
use backissue_core::feed::outgoing::escaped_text;
use backissue_core::feed::page_text;
use backissue_core::feed::text::strip_markup;
use dom_query::{Document, Selection};
use dom_smoothie::{Config, Readability};
use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, ParseError, StartTag, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer,
    TokenizerOpts,
};
use html5ever::tree_builder::{Tracer, TreeBuilder, TreeBuilderOpts, TreeSink};
use serde_json::Value;
use url::Url;

use crate::io::panics::catch_panic;

/// Maximum size of a page from which an article is extracted, bytes.
pub(in crate::io) const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Minimum length of an article, in non-blank characters.
const LETTERS_MIN: usize = 140;

/// How many times longer another text must be to replace the text in the element that the markup marks.
const LONGER: usize = 3;

/// Returns the article of a web page as HTML. The error explains why no article was found.
pub fn extract_article(
    bytes: &[u8],
    url: &str,
    content_type: Option<&str>,
) -> Result<String, String> {
    let named = content_type.unwrap_or_default().to_ascii_lowercase();
    let is_page = named.is_empty() || named.contains("html") || named.contains("text/plain");
    if !is_page {
        let kind = named.split(';').next().unwrap_or_default().trim().to_owned();
        return Err(format!("the link leads to {kind}, not to a page"));
    }
    if bytes.len() > PAGE_BYTES_MAX {
        return Err("the page is larger than 4 MiB".to_owned());
    }
    let html = page_text(bytes, content_type);
    // Some pages, such as threads of comments, consist only of parts that are usually removed. If no article is found, read the
    // page without removing them.
    let found = catch_panic(|| read(&html, url, true).or_else(|_| read(&html, url, false)));
    found.unwrap_or_else(|| Err("the page could not be read".to_owned()))
}

fn read(html: &str, url: &str, has_surroundings: bool) -> Result<String, String> {
    let nothing = || "no text was found on the page".to_owned();
    let config = Config {
        max_elements_to_parse: ELEMENTS_MAX,
        // Keep the `class` attributes, because they name the programming languages of code blocks.
        keep_classes: true,
        ..Config::default()
    };
    let mut page = Readability::new("", Some(url), Some(config)).map_err(|_| nothing())?;
    // Discard the tree of the empty page that the library was created with. The next call then takes an empty tree to build the
    // page in.
    drop(std::mem::take(&mut page.doc));
    let empty = std::mem::take(&mut page.doc);
    let built = build_tree(html, empty, |tree| tree.tree.len());
    page.doc = built.ok_or("the page is nested too deeply or too large to extract its text")?;
    let stated = stated_text(&page.doc).unwrap_or_default();
    if has_surroundings {
        remove_surroundings(&page.doc);
    }
    let root = find_root(&page.doc);
    let named = root.map(|root| inner_html(&page.doc, &root, url)).unwrap_or_default();
    let found = page.parse().map(|article| article.content.to_string()).unwrap_or_default();
    choose(named, stated, found).ok_or_else(nothing)
}

/// Chooses the text of a page: the text in the element that the markup marks, unless another text is much longer.
fn choose(named: String, stated: String, found: String) -> Option<String> {
    let [of_named, of_stated, of_found] = [&named, &stated, &found].map(|html| letters(html));
    let longest = of_stated.max(of_found);
    // The whole article may be a picture with a caption.
    let is_enough =
        of_named > 0 && (of_named >= LETTERS_MIN || named.contains("<p") || named.contains("<img"));
    if is_enough && of_named.saturating_mul(LONGER) >= longest {
        return Some(named);
    }
    let (longer, count) =
        if of_stated >= of_found { (stated, of_stated) } else { (found, of_found) };
    (count >= LETTERS_MIN || (count > 0 && of_named == 0 && count == of_stated)).then_some(longer)
}

/// Returns the number of non-blank characters of a text.
fn letters(html: &str) -> usize {
    strip_markup(html).chars().filter(|char| !char.is_whitespace()).count()
}

/// Words in the class or ID of elements that contain the comments of visitors or other articles.
const BESIDE: &str =
    "comments comment respond disqus related recommended recommendations sidebar breadcrumbs";

/// Words in the class or ID of short elements that advertise something or request consent.
const ASKING: &str = "cookie cookies consent gdpr newsletter signup subscribe share sharing sharedaddy ad ads \
     advert advertisement sponsor promo popup modal";

/// Maximum length in bytes of the text of an element that is removed because of these words.
const ASKING_BYTES_MAX: usize = 600;

/// Elements that are checked and may be removed. A `form` may contain the whole page.
const PARTS: &str = "div, section, aside, ul, ol, li, article, footer, header, nav, form, dialog";

/// Elements that show where the article is. An element that contains one of them is not removed.
const KEPT: &str = "main, h1, [itemprop=articleBody], .e-content, .entry-content";

/// Removes the parts of a page that do not belong to its article.
fn remove_surroundings(page: &Document) {
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
fn find_root(page: &Document) -> Option<Selection<'_>> {
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
fn inner_html(page: &Document, root: &Selection<'_>, url: &str) -> String {
    let (title, heading) = (page.select("title").text(), root.select("h1"));
    if heading.length() == 1 && title.trim().contains(heading.text().trim()) {
        heading.remove();
    }
    root.select("aside, footer nav, [role=navigation], button").remove();
    make_addresses_absolute(root.inner_html().as_ref().into(), || Url::parse(url).ok()).into_owned()
}

/// Returns the text that a page states as data for search engines (`articleBody` in JSON-LD), as paragraphs.
fn stated_text(page: &Document) -> Option<String> {
    let scripts = page.select("script[type='application/ld+json']");
    let data = scripts.iter().filter_map(|script| serde_json::from_str(&script.text()).ok());
    let text = data.filter_map(|data: Value| article_body(&data, 0)).max_by_key(String::len)?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Some(lines.fold(String::new(), |text, line| text + "<p>" + &escaped_text(line) + "</p>\n"))
}

/// Maximum depth at which `articleBody` is searched for.
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

/// Maximum number of elements open at the same time. An element that a browser would reopen counts twice.
const OPEN_MAX: usize = 300;
/// Maximum number of start tags in a page.
const ELEMENTS_MAX: usize = 50_000;
/// Maximum number of nodes in a tree: elements, including reopened ones, texts and comments.
const NODES_MAX: usize = 4 * ELEMENTS_MAX;
/// Maximum number of blanks, quotes and slashes in one tag, because the tokenizer compares each attribute with all earlier ones.
const SEPARATORS_MAX: usize = 8_000;
/// Number of bytes between two checks of the tree.
const CHUNK_BYTES: usize = 256;

/// Builds the tree of a page. Returns `None` if the page is too deep or too large. `nodes` is a function that counts the nodes of
/// a tree.
fn build_tree<S: TreeSink>(html: &str, tree: S, nodes: impl Fn(&S) -> usize) -> Option<S::Output> {
    let options = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let watched = CountingTree {
        builder: TreeBuilder::new(tree, options),
        elements: Cell::new(0),
        reported: Cell::new(false),
    };
    let tokenizer = Tokenizer::new(watched, TokenizerOpts::default());
    let input = BufferQueue::default();
    let (mut rest, mut separators) = (html, 0_usize);
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary(CHUNK_BYTES));
        rest = after;
        input.push_back(StrTendril::from_slice(chunk));
        // Continue when the tokenizer pauses: it pauses at scripts, which are not run, and at declarations of the encoding, which
        // is already known.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        if tokenizer.sink.reported.take() {
            separators = 0;
        }
        let more = chunk.bytes().filter(|byte| b" \t\r\n\x0C\"'/".contains(byte)).count();
        separators = separators.saturating_add(more);
        let is_too_large = separators > SEPARATORS_MAX
            || tokenizer.sink.elements.get() > ELEMENTS_MAX
            || nodes(&tokenizer.sink.builder.sink) > NODES_MAX;
        if is_too_large || tokenizer.sink.count_open() > OPEN_MAX {
            return None;
        }
    }
    tokenizer.end();
    Some(tokenizer.sink.builder.sink.finish())
}

/// A tree builder that also counts elements and tokens.
struct CountingTree<S: TreeSink> {
    builder: TreeBuilder<S::Handle, S>,
    elements: Cell<usize>,
    /// Set when the tokenizer has reported a token since the last check.
    reported: Cell<bool>,
}

impl<S: TreeSink> CountingTree<S> {
    /// Counts the open elements and the elements that will be reopened.
    fn count_open(&self) -> usize {
        let counter = Counter { count: Cell::new(0), of: std::marker::PhantomData };
        self.builder.trace_handles(&counter);
        counter.count.get()
    }
}

impl<S: TreeSink> TokenSink for CountingTree<S> {
    type Handle = S::Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<S::Handle> {
        if !matches!(token, ParseError(_)) {
            self.reported.set(true);
        }
        if matches!(&token, TagToken(tag) if tag.kind == StartTag) {
            self.elements.update(|elements| elements.saturating_add(1));
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

struct Counter<H> {
    count: Cell<usize>,
    of: std::marker::PhantomData<H>,
}

impl<H> Tracer for Counter<H> {
    type Handle = H;

    fn trace_handle(&self, _: &H) {
        self.count.update(|count| count.saturating_add(1));
    }
}

#[cfg(test)]
mod tests {
    use crate::io::http::article::*;

    const URL: &str = "https://a.example/posts/1";

    fn page(text: &str) -> String {
        format!(
            "<!doctype html><html><head><title>Wax - Site</title></head><body><nav><a href='/'>Home</a><a href='/about'>About</a></nav>\
             <div class='sidebar'><ul><li>Other posts</li></ul></div><article><h1>Wax</h1>{text}</article><footer>Imprint</footer></body></html>"
        )
    }

    #[test]
    fn article_is_extracted_without_page_chrome() {
        let words =
            "Grafting wax is warmed slowly, in water, and never over a flame, for it burns. "
                .repeat(8);
        let html = page(&format!(
            "<p>{words}</p><p>{words}<a href='2'>more</a></p><img src='/wax.png' alt='wax'>"
        ));
        let text = extract_article(html.as_bytes(), URL, Some("text/html; charset=utf-8")).unwrap();
        assert!(text.contains("Grafting wax"), "{text}");
        assert!(!text.contains("Imprint") && !text.contains("Other posts"), "{text}");
        assert!(text.contains("https://a.example/posts/2"), "{text}");
    }

    #[test]
    fn what_the_markup_names_is_taken_without_its_surroundings() {
        let comment = "<li class='comment'><article class='comment-body'><p>VISITOR says, at length, that it was so.</p></article></li>".repeat(15);
        let chrome = "<div id='cookie-banner' class='consent'>COOKIE</div>";
        let page = |inside: &str| {
            format!(
                "<html><head><title>Gate - Site</title></head><body>{chrome}<main>{inside}</main></body></html>"
            )
        };
        let short = page(&format!(
            "<article class='hentry'><h1>Gate</h1><div class='entry-content'><p>POST moved.</p><pre><span class='comment'># KEPT</span></pre></div></article>\
             <div id='comments' class='comments-area'><ol>{comment}</ol></div>"
        ));
        let text = extract_article(short.as_bytes(), URL, None).unwrap();
        assert!(text.contains("POST moved.") && text.contains("KEPT"), "{text}");
        assert!(
            !text.contains("VISITOR") && !text.contains("COOKIE") && !text.contains("<h1"),
            "{text}"
        );
        let image = page(
            "<article><figure><img src='/a.png' alt='ALT'><figcaption>C</figcaption></figure></article>",
        );
        let text = extract_article(image.as_bytes(), URL, None).unwrap();
        assert!(text.contains("https://a.example/a.png"), "{text}");
        let others = "<section><article><h2>Other</h2>TEASER</article></section>".repeat(8);
        let post = "POST moved to the north shore. ".repeat(9);
        let beside = page(&format!("<article><h1>Gate</h1><p>{post}</p></article>{others}"));
        let text = extract_article(beside.as_bytes(), URL, None).unwrap();
        assert!(text.contains("POST moved to") && !text.contains("TEASER"), "{text}");
        let thread = page(&format!("<ol>{comment}</ol>"));
        let text = extract_article(thread.as_bytes(), URL, None).unwrap();
        assert_eq!(text.matches("VISITOR").count(), 15, "{text}");
        let data = format!(
            "<script type='application/ld+json'>{{\"@graph\":[{{\"articleBody\":\"BODY & more\"}}]}}</script>{}",
            page("<div id=root></div>")
        );
        let text = extract_article(data.as_bytes(), URL, None).unwrap();
        assert_eq!(text.trim(), "<p>BODY &amp; more</p>");
    }

    #[test]
    fn header_only_encoding_is_honoured() {
        let words =
            "Größe und Übermut gehen selten gut zusammen, sagte der Gärtner zur Tür. ".repeat(8);
        let html = page(&format!("<p>{words}</p><p>{words}</p>"));
        let (bytes, _, _) = encoding_rs::WINDOWS_1252.encode(&html);
        let text = extract_article(&bytes, URL, Some("text/html; charset=ISO-8859-1")).unwrap();
        assert!(text.contains("Größe und Übermut"), "{text}");
    }

    #[test]
    fn non_article_page_is_refused_with_a_reason() {
        let many = "<i></i>".repeat(60_000);
        let large = "x".repeat(PAGE_BYTES_MAX + 1);
        for (body, content_type, why) in [
            ("%PDF", "application/pdf", "leads to application/pdf, not"),
            ("", "text/html", "no text was found"),
            ("<p>Log in", "text/html", "no text was found"),
            (&many, "text/html", "too deeply or too large"),
            (&large, "text/html", "larger than 4 MiB"),
        ] {
            let told = extract_article(body.as_bytes(), URL, Some(content_type)).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }

    #[test]
    fn page_deeper_than_its_tags_suggest_is_refused() {
        for nested in [
            "<div>",
            "<div></x>",
            "<div/>",
            "<div><object></div></object>",
            "<span><div></span>",
            "<rt>",
            "<template>",
            "<svg><tr><link>",
        ] {
            let page = nested.repeat(16_000) + "text";
            let told = extract_article(page.as_bytes(), URL, Some("text/html")).unwrap_err();
            assert!(told.contains("too deeply or too large"), "{nested}: {told}");
        }
    }

    #[test]
    fn page_reopening_elements_repeatedly_is_refused() {
        let opened = |number| format!("<div><b id={number}><object></b></object></div>");
        let opened: String = (0..10_000).map(opened).collect();
        let page = opened + &"<div>x</div>".repeat(10_000);
        let told = extract_article(page.as_bytes(), URL, Some("text/html")).unwrap_err();
        assert!(told.contains("too deeply or too large"), "{told}");
    }

    #[test]
    fn a_tag_with_too_many_attributes_is_refused() {
        let attributes: Vec<String> = (0..400_000).map(|number| format!(" a{number}")).collect();
        let page = format!("<p{}>text", attributes.concat());
        let told = extract_article(page.as_bytes(), URL, Some("text/html")).unwrap_err();
        assert!(told.contains("too deeply or too large"), "{told}");
    }
}

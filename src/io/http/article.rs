//! Extracts the article from a web page, in the same way as Firefox's reader view.
//!
//! The extraction library is very slow on deep nesting (over a minute for 20,000 nested `div` elements) and may panic. Deep or
//! large trees are therefore rejected first, and a panic becomes an error.

use dom_smoothie::{Config, Readability};

use super::page_tree::{ELEMENTS_MAX, build_tree};
use crate::io::panics::catch_panic;
use backissue_core::feed::page_text;

/// Maximum size of a page from which an article is extracted, bytes.
pub(in crate::io) const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Minimum length of an article, in non-blank characters.
const LETTERS_MIN: usize = 140;

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
    let found = catch_panic(|| read(&html, url));
    found.unwrap_or_else(|| Err("the page could not be read".to_owned()))
}

fn read(html: &str, url: &str) -> Result<String, String> {
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
    let article = page.parse().map_err(|_| nothing())?;
    let letters = article.text_content.chars().filter(|char| !char.is_whitespace()).count();
    if letters < LETTERS_MIN {
        return Err(nothing());
    }
    Ok(article.content.to_string())
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

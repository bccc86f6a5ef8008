//! Renders the body of an entry, which is HTML or plain text, as lines.

use std::borrow::Cow;

use super::body_reader::{EntryBlocks, TextUse, read};
use super::colouring::colour;
use super::elements::{HtmlElement, element};
use super::lines::{lay_out, remark};
use super::model::{Column, Rendered};
use backissue_core::feed::content::absolute_addresses::without_data_values;
use backissue_core::feed::content::markup::{Piece, walk_markup};
use backissue_core::feed::content::markup_starts::{Place, has_markup};

/// Maximum length of the markup in bytes, not counting pictures embedded as data. Further markup is dropped.
const MARKUP_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Minimum length of the lines in plain text that was wrapped to a fixed width, in characters. Such line breaks have no meaning and
/// are removed.
const WRAPPED_CHARS_MIN: usize = 50;

/// Lays out the HTML of an entry in a column.
///
/// Relative references are resolved against `base`, an absolute URL. No line is wider than `column`, except lines that scroll
/// sideways. In a column narrower than two cells, nothing is shown. The result does not contain a list of the links as text; see
/// [`Rendered::links`].
pub fn render(html: &str, base: Option<&str>, column: Column) -> Rendered {
    if column.width < 2 {
        return Rendered::default();
    }
    let (mut body, is_cut) = read_body(html, base, TextUse::Screen);
    colour(&mut body.blocks);
    let mut lines = lay_out(&body.blocks, column);
    if is_cut {
        lines.push(remark("… the rest is not shown (more than 2 MB)", column.width));
    }
    let (targets, inside) = body.links.into_targets();
    Rendered { lines, links: targets, inside, images: body.images, enclosures: Vec::new() }
}

/// Returns the addresses of the pictures in the HTML of an entry, in the order of the text, as [`Rendered::images`] has them.
pub fn picture_addresses(html: &str, base: Option<&str>) -> Vec<String> {
    let (body, _) = read_body(html, base, TextUse::File);
    body.images.into_iter().map(|image| image.url).collect()
}

/// Reads the body of an entry, and returns whether it was too long and therefore cut.
pub(super) fn read_body(html: &str, base: Option<&str>, use_of: TextUse) -> (EntryBlocks, bool) {
    let html =
        if html.len() > MARKUP_BYTES_MAX { without_data_values(html) } else { Cow::Borrowed(html) };
    let shown = html.get(..html.floor_char_boundary(MARKUP_BYTES_MAX)).unwrap_or_default();
    let body = match as_paragraphs(shown) {
        Some(paragraphs) => read(&paragraphs, base, use_of),
        None => read(shown, base, use_of),
    };
    (body, shown.len() < html.len())
}

/// Converts plain text with paragraphs separated by empty lines to HTML. Returns `None` if the text already contains HTML
/// paragraphs.
fn as_paragraphs(text: &str) -> Option<String> {
    if !has_markup(text, Place::Body) {
        return Some(paragraphs(&text.replace('<', "&lt;")));
    }
    let mut has_blocks = false;
    if text.contains('\n') {
        walk_markup(text, |piece| {
            if let Piece::Open(tag) = piece {
                let unknown = matches!(tag.name(), "span" | "font" | "small" | "abbr");
                let known = element(tag.name());
                has_blocks |= known.is_some_and(|e| e.is_block() || e == HtmlElement::Hidden)
                    || (known.is_none() && !unknown);
            }
        });
        return (!has_blocks).then(|| paragraphs(text));
    }
    None
}

/// Puts each paragraph of plain text into a `p` element. Line breaks within a paragraph are kept, unless the text seems to be
/// wrapped to a fixed width.
fn paragraphs(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut markup = String::with_capacity(text.len() + 64);
    let mut paragraph: Vec<&str> = Vec::new();
    for line in text.split('\n').chain([""]) {
        if !line.trim().is_empty() {
            paragraph.push(line);
            continue;
        }
        if let Some((last, all_but_last)) = paragraph.split_last() {
            let is_long = |line: &&str| line.chars().count() >= WRAPPED_CHARS_MIN;
            // A single long line is weak evidence that the text was wrapped, so the next line must also continue the sentence.
            let goes_on = || last.trim_start().starts_with(char::is_lowercase);
            let is_wrapped = all_but_last.iter().all(is_long)
                && (all_but_last.len() > 1 || (all_but_last.len() == 1 && goes_on()));
            markup.push_str("<p>");
            markup.push_str(&paragraph.join(if is_wrapped { "\n" } else { "<br>" }));
            paragraph.clear();
        }
    }
    markup
}

//! Renders the body of an entry, which is HTML or plain text, as lines, with comments, strings and keywords highlighted in code
//! blocks.
//!
//! The synoptic crate finds these pieces of code line by line, with regular expressions that take linear time. This module
//! assigns roles to the pieces, and the theme provides the colours.

use std::borrow::Cow;

use backissue_core::feed::content::absolute_addresses::without_data_values;
use backissue_core::feed::content::markup::{Piece, walk_markup};
use backissue_core::feed::content::markup_starts::{Place, has_markup};
use backissue_core::feed::parse::catch_library_panic;
use synoptic::TokOpt;

use super::body_reader::{EntryBlocks, TextUse, read};
use super::elements::{HtmlElement, element};
use super::lines::{lay_out, remark};
use super::model::{Block, Column, Item, Language, Rendered, Role, Syntax, TextRun};

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
        lines.push(remark("… the rest is not shown (more than 2 MB)", column));
    }
    let (targets, inside) = body.links.into_targets();
    Rendered { lines, links: targets, inside, images: body.images, enclosures: Vec::new() }
}

/// Returns the addresses of the pictures in the HTML of an entry, in the order of the text, which is the order of
/// [`Rendered::images`].
pub fn picture_addresses(html: &str, base: Option<&str>) -> Vec<String> {
    let (body, _) = read_body(html, base, TextUse::File);
    body.images.into_iter().map(|image| image.url).collect()
}

/// Parses the body of an entry, and returns whether it was cut because it was too long.
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

/// Maximum number of lines of highlighted code per text. Further code is shown without highlighting.
const LINES_MAX: usize = 2_000;
const BYTES_MAX: usize = 256 * 1024;
/// Maximum length of a highlighted line in bytes. Some regular expressions look back to the beginning of the line, which takes too
/// long in longer lines.
const LINE_BYTES_MAX: usize = 1000;

/// Assigns roles to the pieces of code in all code blocks.
pub(super) fn colour(blocks: &mut [Block]) {
    let mut room = Room { lines: LINES_MAX, bytes: BYTES_MAX };
    room.colour(blocks);
}

/// The number of lines and bytes of code that may still be highlighted.
struct Room {
    lines: usize,
    bytes: usize,
}

impl Room {
    fn colour(&mut self, blocks: &mut [Block]) {
        for block in blocks {
            match block {
                Block::Preformatted { runs, language: Some(language) } => {
                    self.colour_code(runs, *language);
                }
                Block::Quote(blocks) | Block::Indented(blocks) => self.colour(blocks),
                Block::List(items) => {
                    for Item { blocks, .. } in items {
                        self.colour(blocks);
                    }
                }
                Block::Table(table) => {
                    for cell in table.rows.iter_mut().flatten() {
                        self.colour(&mut cell.blocks);
                    }
                }
                Block::Preformatted { language: None, .. } | Block::Text { .. } | Block::Rule => {}
            }
        }
    }

    fn colour_code(&mut self, runs: &mut Vec<TextRun>, language: Language) {
        let code: String =
            runs.iter().filter(|run| is_code(run)).map(|run| run.text.as_str()).collect();
        let lines = code.split('\n').count();
        let long = code.split('\n').any(|line| line.len() > LINE_BYTES_MAX);
        if lines > self.lines || code.len() > self.bytes || long {
            return;
        }
        self.lines -= lines;
        self.bytes -= code.len();
        // If the highlighter panics, the code is shown without highlighting.
        let pieces = catch_library_panic(|| pieces(&code, language));
        if let Some(Some(pieces)) = pieces {
            *runs = split(runs, pieces);
        }
    }
}

/// Checks whether a run is code. Link numbers and pictures within a code block are not code.
fn is_code(run: &TextRun) -> bool {
    run.look.role == Role::Preformatted
}

/// Splits the code of a block into pieces. Each piece has its length in characters, including line feeds, and its role. Returns
/// `None` if the lengths do not add up to the length of the code.
fn pieces(code: &str, language: Language) -> Option<Vec<(usize, Syntax)>> {
    // Each tab is replaced by one space, so that the lengths of the pieces stay correct. The layout expands tabs later.
    let lines: Vec<String> = code.split('\n').map(|line| line.replace('\t', " ")).collect();
    let mut highlighter = synoptic::from_extension(language.0, 1)?;
    highlighter.run(&lines);
    let mut pieces = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let mut told = String::with_capacity(line.len());
        for piece in highlighter.line(place, line) {
            let (text, syntax) = match piece {
                TokOpt::Some(text, name) => (text, syntax(&name)),
                TokOpt::None(text) => (text, Syntax::Other),
            };
            told.push_str(&text);
            pieces.push((text.chars().count(), syntax));
        }
        if told != *line {
            return None;
        }
        pieces.push((1, Syntax::Other));
    }
    Some(pieces)
}

/// Converts a token name of the highlighter to a role.
fn syntax(name: &str) -> Syntax {
    match name {
        "comment" | "quote" => Syntax::Comment,
        "string" | "character" | "header" | "link" | "image" | "insertion" => Syntax::Text,
        "keyword" | "kw" | "tag" | "heading" | "table" | "deletion" => Syntax::Keyword,
        "digit" | "boolean" | "math" => Syntax::Number,
        "function" | "struct" | "macro" | "attribute" | "key" | "namespace" => Syntax::Name,
        _ => Syntax::Other,
    }
}

/// Splits runs at the boundaries of the pieces, and assigns the role of each piece to its runs.
fn split(runs: &[TextRun], pieces: Vec<(usize, Syntax)>) -> Vec<TextRun> {
    let mut pieces = pieces.into_iter();
    let (mut left, mut syntax) = pieces.next().unwrap_or_default();
    let mut coloured: Vec<TextRun> = Vec::new();
    for run in runs {
        if !is_code(run) {
            coloured.push(run.clone());
            continue;
        }
        let mut begun: Option<TextRun> = None;
        for char in run.text.chars() {
            while left == 0 {
                let Some(next) = pieces.next() else { break };
                (left, syntax) = next;
            }
            left = left.saturating_sub(1);
            let role = Role::Syntax(syntax);
            if let Some(done) = begun.take_if(|begun| begun.look.role != role) {
                coloured.push(done);
            }
            let mut look = run.look;
            look.role = role;
            begun.get_or_insert_with(|| TextRun { text: String::new(), look }).text.push(char);
        }
        coloured.extend(begun);
    }
    coloured
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::html::{Column, render};

    const WIDE: Column = Column { slides: true, ..Column::fixed(200) };

    /// Returns the code of a body with each piece written as `k<…>`, where the letter represents the role of the piece.
    fn told(html: &str) -> String {
        let rendered = render(html, None, WIDE);
        let spans = rendered.lines.iter().flat_map(|line| &line.spans);
        spans
            .map(|span| {
                let letter = [
                    (Role::Syntax(Syntax::Comment), "c"),
                    (Role::Syntax(Syntax::Text), "s"),
                    (Role::Syntax(Syntax::Keyword), "k"),
                    (Role::Syntax(Syntax::Number), "n"),
                    (Role::Syntax(Syntax::Name), "f"),
                    (Role::Preformatted, "p"),
                ];
                let letter = letter.iter().find(|(role, _)| *role == span.role);
                letter.map_or(span.text.clone(), |(_, letter)| format!("{letter}<{}>", span.text))
            })
            .collect()
    }

    #[test]
    fn pieces_of_code_have_roles() {
        for (html, expected) in [
            (
                "<pre class=language-rust>let x = \"é\\n漢\"; // c</pre>",
                "k<let> x = s<\"é\\n漢\">; c<// c>",
            ),
            (
                "<pre class=language-python>def f(): # no\n\treturn 12</pre>",
                "k<def> f<f>(): c<# no>    k<return> n<12>",
            ),
            ("<pre class=language-json>{\"a\": true}</pre>", "{s<\"a\">: n<true>}"),
            ("<pre>let x = 1;</pre>", "p<let x = 1;>"),
        ] {
            assert_eq!(told(html), expected, "{html}");
        }
    }

    #[test]
    fn comment_spans_lines_and_links_stay_links() {
        let html =
            "<pre class=language-c>/* a\nb */ int <a href='http://a.example/'>x</a> = 1;</pre>";
        assert_eq!(told(html), "c</* a>c<b */> k<int> x[1] = n<1>;");
        let rendered = render(html, None, WIDE);
        assert!(rendered.lines[1].spans.iter().any(|span| span.link == Some(1)));
    }

    #[test]
    fn overlong_code_is_shown_without_colours() {
        let long = "let x = 1;\n".repeat(1_500);
        let html = format!("<pre class=language-rust>{long}</pre>").repeat(2);
        let rendered = render(&html, None, WIDE);
        let coloured = rendered
            .lines
            .iter()
            .filter(|line| line.spans.iter().any(|span| matches!(span.role, Role::Syntax(_))));
        assert_eq!(coloured.count(), 1_500);
        assert_eq!(rendered.lines.len(), 3_001);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        #[test]
        fn no_code_panics_and_none_is_lost(
            code in "([\"'`{}()#/*\\\\<>=:%$@ \t\n\u{301}漢é👩‍🚀a-f0-3-]|let|fn |/\\*|\\*/|\"\"\"|<!--|-->|=begin|<<EOF){0,80}",
            place in 0_usize..36,
        ) {
            const NAMES: [&str; 36] = ["asm", "bash", "c", "c++", "c#", "css", "svg", "dart", "diff", "go", "haskell",
                "html", "java", "js", "json", "kotlin", "latex", "lua", "md", "matlab", "nu", "perl", "php", "prolog",
                "python", "r", "ruby", "rust", "scala", "sql", "swift", "toml", "ts", "vb", "xml", "yaml"];
            let escaped = code.replace('&', "&amp;").replace('<', "&lt;");
            let plain = render(&format!("<pre>{escaped}</pre>"), None, WIDE);
            let html = format!("<pre class='language-{}'>{escaped}</pre>", NAMES[place]);
            let coloured = render(&html, None, WIDE);
            let text = |lines: &[crate::ui::reader::lines::StyledLine]| -> Vec<String> {
                lines.iter().map(crate::ui::reader::lines::StyledLine::text).collect()
            };
            prop_assert_eq!(text(&coloured.lines), text(&plain.lines));
        }
    }
}

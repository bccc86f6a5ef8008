//! Calls a function for each tag and text of an HTML fragment, using html5ever's tokenizer.
//!
//! No tree is built, so the run time is linear in the input size at any nesting depth. The contents of `script`, `style` and
//! similar elements are not reported, because they are not readable text.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{
    BufferQueue, CharacterTokens, CommentToken, DoctypeToken, EOFToken, NullCharacterToken,
    ParseError, StartTag, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

use super::markup_starts::{MarkupStarts, Place, has_markup};
use crate::feed::xml::references::join_surrogate_references;

/// A tag or a piece of text in HTML.
#[derive(Debug, Clone, Copy)]
pub enum Piece<'a> {
    Open(&'a Tag),
    /// An end tag, as the element name in lower case.
    Close(&'a str),
    /// Text with character references resolved. One run of text may be split into several pieces.
    Text(&'a str),
}

/// A start tag. Element and attribute names are in lower case, and character references in attribute values are resolved.
#[derive(Debug)]
pub struct Tag(html5ever::tokenizer::Tag);

impl Tag {
    /// Returns the element name in lower case.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the value of the attribute `name`, which must be in lower case.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.0.attrs.iter().find(|a| &*a.name.local == name).map(|a| &*a.value)
    }

    /// Returns the names and values of the attributes.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.attrs.iter().map(|attribute| (&*attribute.name.local, &*attribute.value))
    }

    /// Checks whether the tag begins a formula in TeX, which `MathJax` draws.
    pub fn is_tex(&self) -> bool {
        self.name() == "script"
            && self.attribute("type").is_some_and(|kind| kind.starts_with("math/tex"))
    }

    /// Checks whether the tag was written as `<name/>`.
    pub const fn is_self_closing(&self) -> bool {
        self.0.self_closing
    }
}

/// Number of bytes passed to the tokenizer at a time.
const CHUNK_BYTES: usize = 1_024;

/// Maximum number of blanks, quotes and slashes in a tag. A tag with more of them is dropped, because the tokenizer compares each
/// attribute with all earlier ones, which would take too long.
const SEPARATORS_MAX: usize = 2_000;

/// Calls `visit` for each tag and each piece of text in `html`, in order. A `<` that does not begin an HTML tag is text.
pub fn walk_markup(html: &str, visit: impl FnMut(Piece<'_>)) {
    let html = &*join_surrogate_references(html);
    let html = &*escape_text(html);
    let sink = PieceSink {
        visit: RefCell::new(visit),
        raw: Cell::new(false),
        reported: Cell::new(false),
        closes: find_closed_elements(html),
    };
    let mut rest = html;
    while !rest.is_empty() {
        rest = walk_until_endless_tag(rest, &sink);
    }
}

/// Adds a paragraph to the text of an entry. A text without markup stays plain, so that its line breaks are still shown.
pub(in crate::feed) fn add_paragraph(text: &mut String, inline: &str) {
    let is_plain = !text.is_empty() && !has_markup(text, Place::Body);
    let (before, after) = if is_plain { ("\n\n", "") } else { ("<p>", "</p>") };
    text.extend([before, inline, after]);
}

/// Escapes each `<` that does not begin a tag or other markup, so that the tokenizer treats it as text.
fn escape_text(html: &str) -> Cow<'_, str> {
    let mut starts = MarkupStarts::new(html, Place::Body);
    let mut out = String::new();
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = memchr::memchr(b'<', html.as_bytes().get(from..).unwrap_or_default()) {
        let at = from + at;
        let rest = html.get(at..).unwrap_or_default();
        from = at + 1;
        if starts.is_markup(at) {
            from = at + raw_length(rest);
            continue;
        }
        out.push_str(html.get(copied..at).unwrap_or_default());
        out.push_str("&lt;");
        copied = at + 1;
    }
    if copied == 0 {
        return Cow::Borrowed(html);
    }
    out.push_str(html.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns the length of the CDATA section or `xmp` element at the start of `html`, or 0 if there is none. Inside them, an escaped
/// `<` would be displayed as `&lt;`, so `<` must not be escaped.
fn raw_length(html: &str) -> usize {
    let starts =
        |start: &str| html.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
    let end = if starts("<![cdata[") {
        memchr::memmem::find(html.as_bytes(), b"]]>")
    } else if starts("<xmp") {
        memchr::memmem::find(html.as_bytes(), b"</xmp")
    } else {
        None
    };
    end.unwrap_or(1)
}

/// Passes `html` to the tokenizer up to a tag with too many attributes. Returns the text after this tag, or an empty string if
/// there is no such tag.
fn walk_until_endless_tag<'a, V>(html: &'a str, sink: &PieceSink<V>) -> &'a str
where
    V: FnMut(Piece<'_>),
{
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut rest = html;
    let mut separators = 0;
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary(CHUNK_BYTES));
        rest = after;
        input.push_back(StrTendril::from_slice(chunk));
        // The tokenizer returns early only if the sink requests it for a script or an encoding, which `PieceSink` never does.
        while matches!(tokenizer.feed(&input), TokenizerResult::Script(())) {}
        if sink.reported.take() {
            separators = 0;
        }
        separators += chunk.bytes().filter(|byte| b" \t\n\"'/".contains(byte)).count();
        if separators > SEPARATORS_MAX {
            let end = rest.find('>').map_or(rest.len(), |at| at + 1);
            return rest.get(end..).unwrap_or_default();
        }
    }
    tokenizer.end();
    ""
}

/// Elements whose content is raw text without tags.
const RAW: [(&str, Raw); 8] = [
    ("script", Raw::Hidden),
    ("style", Raw::Hidden),
    ("iframe", Raw::HiddenIfClosed),
    ("noembed", Raw::HiddenIfClosed),
    ("noframes", Raw::HiddenIfClosed),
    ("xmp", Raw::Shown),
    ("textarea", Raw::Hidden),
    ("title", Raw::References),
];

/// How the content of a raw-text element is handled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Raw {
    /// The content is not reported. An unclosed element hides the rest of the text, as in a browser.
    Hidden,
    /// The content is not reported. If the element is never closed, its content is parsed as markup instead, so that the following
    /// text is not lost.
    HiddenIfClosed,
    /// The content is reported unchanged.
    Shown,
    /// The content is reported with character references resolved.
    References,
}

/// Checks for each element of [`RAW`] whether its end tag occurs anywhere in the text.
fn find_closed_elements(html: &str) -> [bool; RAW.len()] {
    let mut closed = [false; RAW.len()];
    for (at, _) in html.match_indices("</") {
        let after = html.get(at + 2..).unwrap_or_default().as_bytes();
        for ((name, _), closed) in RAW.iter().zip(&mut closed) {
            *closed |= after
                .get(..name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()));
        }
    }
    closed
}

struct PieceSink<V> {
    visit: RefCell<V>,
    /// Whether the current position is inside a raw-text element whose text is not reported.
    raw: Cell<bool>,
    /// Whether a tag or text was reported since this flag was last cleared.
    reported: Cell<bool>,
    closes: [bool; RAW.len()],
}

impl<V: FnMut(Piece<'_>)> PieceSink<V> {
    fn report(&self, piece: Piece<'_>) {
        (self.visit.borrow_mut())(piece);
    }

    fn open_tag(&self, tag: html5ever::tokenizer::Tag) -> TokenSinkResult<()> {
        let tag = Tag(tag);
        self.report(Piece::Open(&tag));
        if tag.is_self_closing() {
            return TokenSinkResult::Continue;
        }
        let found = RAW.iter().zip(self.closes).find(|((name, _), _)| *name == tag.name());
        let Some((&(_, raw), closed)) = found else {
            return TokenSinkResult::Continue;
        };
        let kind = match raw {
            Raw::Hidden if tag.name() == "script" => ScriptData,
            Raw::Hidden => Rawtext,
            Raw::HiddenIfClosed | Raw::Shown if closed => Rawtext,
            Raw::References if closed => Rcdata,
            Raw::HiddenIfClosed | Raw::Shown | Raw::References => {
                return TokenSinkResult::Continue;
            }
        };
        let is_hidden = matches!(raw, Raw::Hidden | Raw::HiddenIfClosed);
        self.raw.set(is_hidden && !tag.is_tex());
        TokenSinkResult::RawData(kind)
    }
}

impl<V: FnMut(Piece<'_>)> TokenSink for &PieceSink<V> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if !matches!(token, ParseError(_)) {
            self.reported.set(true);
        }
        match token {
            TagToken(tag) if tag.kind == StartTag => return self.open_tag(tag),
            TagToken(tag) => {
                self.raw.set(false);
                self.report(Piece::Close(&tag.name));
            }
            CharacterTokens(text) => {
                if !self.raw.get() {
                    self.report(Piece::Text(&text));
                }
            }
            DoctypeToken(_) | CommentToken(_) | NullCharacterToken | EOFToken | ParseError(_) => {}
        }
        TokenSinkResult::Continue
    }

    /// Returns true, so that the tokenizer recognises CDATA sections. HTML does not define them, but publishers write them.
    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::feed::content::markup::*;

    fn pieces(html: &str) -> String {
        let mut seen = String::new();
        walk_markup(html, |piece| match piece {
            Piece::Open(tag) => {
                seen.push('<');
                seen.push_str(tag.name());
                if let Some(href) = tag.attribute("href") {
                    seen.push('=');
                    seen.push_str(href);
                }
                seen.push('>');
            }
            Piece::Close(name) => {
                seen.push('/');
                seen.push_str(name);
            }
            Piece::Text(text) => seen.push_str(text),
        });
        seen
    }

    #[test]
    fn tags_text_and_references_are_reported() {
        assert_eq!(pieces("a<B HREF=x&amp;y>&lt;c&gt;</b>"), "a<b=x&y><c>/b");
        assert_eq!(pieces("&#xD83D;&#xDE80; &#55357; Vec<T>"), "🚀 \u{fffd} Vec<T>");
    }

    #[test]
    fn comments_and_what_runs_are_not_text() {
        assert_eq!(
            pieces("1<!-- <b> -->2<script>if (a<b) {}</script>3<style>p{}</style>"),
            "12<script>/script3<style>/style"
        );
    }

    #[test]
    fn an_iframe_hides_its_inside_only_if_it_is_closed() {
        assert_eq!(pieces("<iframe><b>x</iframe>y"), "<iframe>/iframey");
        assert_eq!(pieces("<iframe href=u>y<b>"), "<iframe=u>y<b>");
        assert_eq!(pieces("<iframe/>y<p></iframe>"), "<iframe>y<p>/iframe");
    }

    #[test]
    fn cdata_sections_are_text() {
        assert_eq!(pieces("a<![CDATA[<b>]]>c"), "a<b>c");
    }

    #[test]
    fn a_tag_without_end_is_dropped_and_the_rest_is_read() {
        let attributes: Vec<String> = (0..5_000).map(|n| format!(" a{n}=1")).collect();
        let attributes = attributes.concat();
        assert_eq!(pieces(&format!("x<a{attributes}>y<b>z")), "xy<b>z");
        let long = format!("<img alt='{}'>x<b>", "data:x+y/".repeat(1_000));
        assert_eq!(pieces(&long), "<img>x<b>");
    }

    #[test]
    fn deep_nesting_takes_no_stack() {
        let mut depth = 0;
        walk_markup(&"<div>".repeat(100_000), |_| depth += 1);
        assert_eq!(depth, 100_000);
    }
}

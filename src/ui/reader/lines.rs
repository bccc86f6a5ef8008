//! A text laid out as terminal lines, which the renderer produces and the reader pane shows.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A body laid out for one width.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Lines, each at most as wide as requested unless it scrolls sideways.
    pub lines: Vec<StyledLine>,
    /// Link targets. The link numbered `n` in the text is `links[n - 1]`.
    pub links: Vec<LinkTarget>,
    /// The pictures in text order. [`StyledSpan::image`] also counts from 1.
    pub images: Vec<ImageTarget>,
    /// Numbers of the links to attached files.
    pub enclosures: Vec<u16>,
}

/// Returns the width of a text in cells, summed over its graphemes as the screen draws them. The width of a whole Arabic text
/// would be smaller, because letters are joined.
pub fn cells(text: &str) -> usize {
    if text.is_ascii() {
        return text.width();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// One terminal line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyledLine {
    /// Spans from left to right.
    pub spans: Vec<StyledSpan>,
    /// Set if the line belongs to a block that is wider than requested and scrolls sideways.
    pub slide: Option<Slide>,
}

/// The part of a line that scrolls sideways (see [`super::sideways`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slide {
    /// Number of leading spans that do not scroll: bars, bullets, indents.
    pub stays: usize,
    /// Width in cells of the widest line of the block, without the fixed spans.
    pub cells: usize,
}

impl From<Vec<StyledSpan>> for StyledLine {
    /// Creates a line that does not scroll sideways.
    fn from(spans: Vec<StyledSpan>) -> Self {
        Self { spans, slide: None }
    }
}

impl StyledLine {
    /// Returns the text without its styles.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// Returns the number of the link at a column, counted from 0.
    pub fn link_at(&self, column: usize) -> Option<u16> {
        let mut end = 0_usize;
        let at = self.spans.iter().find(|span| {
            end = end.saturating_add(cells(&span.text));
            column < end
        });
        at.and_then(|span| span.link)
    }
}

/// A piece of a line in one style.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyledSpan {
    /// Text without control characters, tabs and bidi controls.
    pub text: String,
    /// Role of the text.
    pub role: Role,
    /// Style of the text.
    pub style: Style,
    /// Number of the link that the span belongs to, from 1.
    pub link: Option<u16>,
    /// Number of the picture that the span represents, from 1.
    pub image: Option<u16>,
}

/// The role of a span. If several apply, the span has the last one in this list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Running text.
    #[default]
    Text,
    /// A `figcaption` or a table caption.
    Caption,
    /// A heading, 1 to 6.
    Heading(u8),
    /// The text of a link.
    Link,
    /// Code within running text.
    Code,
    /// A line of a preformatted block.
    Preformatted,
    /// A piece of code in a known language.
    Syntax(Syntax),
    /// The alternative text of a picture.
    Image,
    /// A line that represents an embedded page, a video or an audio file.
    Embed,
    /// A link number, `[1]`.
    LinkNumber,
    /// A bullet or number of a list.
    ListMarker,
    /// The bar beside a quotation.
    QuoteBar,
    /// A horizontal rule.
    Rule,
    /// A line of a table border.
    TableBorder,
    /// The sign before a continued preformatted line.
    WrapMark,
    /// A note by the program about omitted content.
    Note,
}

/// The syntactic role of a piece of code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Syntax {
    /// Anything else.
    #[default]
    Other,
    /// A comment.
    Comment,
    /// A string or a character.
    Text,
    /// A keyword.
    Keyword,
    /// A number or another constant.
    Number,
    /// A function, type, macro or attribute.
    Name,
}

/// The style of a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent properties of a typeface")]
pub struct Style {
    /// `strong`, `b`, `th`, `dt`, `summary`, headings.
    pub bold: bool,
    /// `em`, `i`, `cite`, captions.
    pub italic: bool,
    /// `ins`, `u`.
    pub underlined: bool,
    /// `s`, `del`.
    pub struck: bool,
    /// Within a quotation.
    pub quoted: bool,
}

/// A link that can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTarget {
    /// Absolute URL with the scheme `http`, `https` or `mailto`, in ASCII without control characters (SPEC G.52).
    pub url: String,
}

/// A picture of the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageTarget {
    /// Absolute URL, `http` or `https`.
    pub url: String,
    /// Alternative text, possibly empty.
    pub alt: String,
    /// Width and height declared in the markup.
    pub declared: Option<(u32, u32)>,
}

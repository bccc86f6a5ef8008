//! The text of an entry, laid out as terminal lines: produced by the renderer, shown by the reader pane.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The text of an entry, laid out for one width.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Lines, each at most as wide as requested unless it scrolls sideways.
    pub lines: Vec<StyledLine>,
    /// Targets of the links. The link with number `n` in the text is `links[n - 1]`.
    pub links: Vec<LinkTarget>,
    /// Targets of the links to a place in the text itself, such as a footnote. The one with number `n` in the text is
    /// `inside[n - INSIDE_FIRST]`.
    pub inside: Vec<LinkTarget>,
    /// The pictures in the order of the text. The picture with number `n` in [`StyledSpan::image`] is `images[n - 1]`.
    pub images: Vec<ImageTarget>,
    /// Numbers of the links to attached files.
    pub enclosures: Vec<u16>,
}

/// Number of the first link to a place in the text itself; see [`Rendered::inside`].
pub const INSIDE_FIRST: u16 = 20_000;

impl Rendered {
    /// Returns the target of a link by its number in the text.
    pub fn target(&self, number: u16) -> Option<&LinkTarget> {
        let place = |first: u16| number.checked_sub(first).map(usize::from);
        let inside = place(INSIDE_FIRST).map(|place| self.inside.get(place));
        inside.unwrap_or_else(|| self.links.get(place(1)?))
    }

    /// Returns the line to which a link within the text leads.
    pub fn line_of(&self, number: u16) -> Option<usize> {
        let leads = |line: &StyledLine| line.spans.iter().any(|span| span.anchor == Some(number));
        self.lines.iter().position(leads)
    }
}

/// Returns the width of a text in cells: the sum of the widths of its graphemes, because the terminal draws each of them
/// separately. The width of a whole Arabic text would be smaller, because joined letters count as one.
pub fn cells(text: &str) -> usize {
    if text.is_ascii() {
        return text.width();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// One line of the laid-out text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyledLine {
    /// Spans from left to right.
    pub spans: Vec<StyledSpan>,
    /// Set if the line belongs to a block that is wider than the requested width and therefore scrolls sideways.
    pub slide: Option<Slide>,
}

/// Describes which part of a line scrolls sideways (see [`super::find_in_text`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slide {
    /// Number of leading spans that do not scroll: bars, bullets, indents.
    pub stays: usize,
    /// Width of the widest line in the block, in cells, not counting the spans that do not scroll.
    pub cells: usize,
}

impl From<Vec<StyledSpan>> for StyledLine {
    /// Creates a line that does not scroll sideways.
    fn from(spans: Vec<StyledSpan>) -> Self {
        Self { spans, slide: None }
    }
}

impl StyledLine {
    /// Returns the text of the line without its styles.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// Returns the number of the link at a column (from 0) of the line.
    pub fn link_at(&self, column: usize) -> Option<u16> {
        let mut end = 0_usize;
        let at = self.spans.iter().find(|span| {
            end = end.saturating_add(cells(&span.text));
            column < end
        });
        at.and_then(|span| span.link)
    }
}

/// A part of a line that has one style.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyledSpan {
    /// The text. It contains no control characters, tabs or bidirectional formatting characters.
    pub text: String,
    /// Kind of text, which determines the colours.
    pub role: Role,
    /// Typeface of the text.
    pub style: Style,
    /// Number of the link that the span belongs to, counted from 1. `None` if it is not part of a link.
    pub link: Option<u16>,
    /// Number of the picture that the span is a placeholder for, counted from 1.
    pub image: Option<u16>,
    /// Number of the link within the text that leads to this span.
    pub anchor: Option<u16>,
}

/// The kind of text in a span, which determines its colours. If several kinds apply, the span has the last of them in this list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Running text.
    #[default]
    Text,
    /// A `figcaption` or the caption of a table.
    Caption,
    /// A heading, with its level from 1 to 6.
    Heading(u8),
    /// The text of a link.
    Link,
    /// Code within a sentence.
    Code,
    /// A line of a preformatted block.
    Preformatted,
    /// A piece of code in a known programming language.
    Syntax(Syntax),
    /// The placeholder of a picture: its alternative text.
    Image,
    /// The placeholder of an embedded page, a video or an audio file.
    Embed,
    /// The number after the text of a link, such as `[1]`.
    LinkNumber,
    /// The bullet or number before an item of a list.
    ListMarker,
    /// The bar beside a quotation.
    QuoteBar,
    /// A horizontal rule.
    Rule,
    /// A part of a table border.
    TableBorder,
    /// The mark at the beginning of a line that continues a preformatted line.
    WrapMark,
    /// A note by the program about omitted content.
    Note,
}

/// The kind of a piece of code, for syntax highlighting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Syntax {
    /// Code without highlighting.
    #[default]
    Other,
    /// A comment.
    Comment,
    /// A string or character literal.
    Text,
    /// A keyword.
    Keyword,
    /// A number or another constant.
    Number,
    /// A function, type, macro or attribute.
    Name,
}

/// The typeface of a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent properties of a typeface")]
pub struct Style {
    /// Bold, as for `strong`, `b`, `th`, `dt`, `summary` and headings.
    pub bold: bool,
    /// Italic, as for `em`, `i`, `cite` and captions.
    pub italic: bool,
    /// Underlined, as for `ins` and `u`.
    pub underlined: bool,
    /// Struck through, as for `s` and `del`.
    pub struck: bool,
    /// `true` within a quotation.
    pub quoted: bool,
}

/// A link that can be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTarget {
    /// Absolute URL with the scheme `http`, `https` or `mailto`, in ASCII and without control characters. Other links are never
    /// passed on, because they may not be safe to open (SPEC G.52).
    pub url: String,
}

/// A picture in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageTarget {
    /// Absolute URL with the scheme `http` or `https`.
    pub url: String,
    /// Alternative text. Empty if the markup contains none.
    pub alt: String,
    /// Width and height in pixels, as declared in the markup.
    pub declared: Option<(u32, u32)>,
}

//! A text laid out as lines of a terminal: what the renderer yields and the reader pane shows.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A body laid out for one width.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Lines, each at most as wide as asked, unless it can be moved sideways.
    pub lines: Vec<StyledLine>,
    /// What may be opened; the link numbered `n` in the text is `links[n - 1]`.
    pub links: Vec<LinkTarget>,
    /// The pictures, in order of the text; [`StyledSpan::image`] counts from 1 too.
    pub images: Vec<ImageTarget>,
    /// The numbers of the links that are attached files.
    pub enclosures: Vec<u16>,
}

/// How many cells a text takes, grapheme by grapheme as the screen is filled: the width of a whole Arabic text is
/// less, where letters are joined into one.
pub fn cells(text: &str) -> usize {
    if text.is_ascii() {
        return text.width();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// One line of the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyledLine {
    /// From left to right.
    pub spans: Vec<StyledSpan>,
    /// It belongs to a block that is wider than was asked for, and is moved sideways with it.
    pub slide: Option<Slide>,
}

/// What of a line is moved sideways (see [`super::sideways`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slide {
    /// Spans at its beginning that stay where they are: bars, bullets, indents.
    pub stays: usize,
    /// Cells of the widest line of the block, without what stays.
    pub cells: usize,
}

impl From<Vec<StyledSpan>> for StyledLine {
    /// A line that stays where it is.
    fn from(spans: Vec<StyledSpan>) -> Self {
        Self { spans, slide: None }
    }
}

impl StyledLine {
    /// The text without its styles.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// The number of the link at a column, from 0.
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
    /// Free of control characters, tabs and bidi controls.
    pub text: String,
    /// What the text is.
    pub role: Role,
    /// How it is written.
    pub style: Style,
    /// The number of the link it belongs to, from 1.
    pub link: Option<u16>,
    /// The number of the picture it stands for, from 1.
    pub image: Option<u16>,
}

/// What a span is. Where several hold, the last one in this list is named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Running text.
    #[default]
    Text,
    /// A `figcaption` or a table's caption.
    Caption,
    /// A heading, 1 to 6.
    Heading(u8),
    /// The text of a link.
    Link,
    /// Code within running text.
    Code,
    /// A line of a preformatted block.
    Preformatted,
    /// A piece of code whose language is known.
    Syntax(Syntax),
    /// The alternative text of a picture.
    Image,
    /// A line that stands for a frame, a film or a sound.
    Embed,
    /// A link's number, `[1]`.
    LinkNumber,
    /// A bullet or number of a list.
    ListMarker,
    /// The bar beside a quotation.
    QuoteBar,
    /// A rule across the column.
    Rule,
    /// A line of a table's border.
    TableBorder,
    /// The sign before the continuation of a preformatted line.
    WrapMark,
    /// A remark of ours: what was left out.
    Note,
}

/// What a piece of code is.
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
    /// A function, a type, a macro, an attribute.
    Name,
}

/// How a span is written.
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

/// A link that may be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkTarget {
    /// Absolute, of the scheme `http`, `https` or `mailto`, ASCII without control characters
    /// (SPEC G.52).
    pub url: String,
}

/// A picture of the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageTarget {
    /// Absolute, `http` or `https`.
    pub url: String,
    /// Its alternative text, possibly empty.
    pub alt: String,
    /// Width and height as the markup declares them.
    pub declared: Option<(u32, u32)>,
}

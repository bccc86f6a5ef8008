//! A text laid out as lines of a terminal: what the renderer yields and the reader pane shows.

use unicode_width::UnicodeWidthStr;

/// A body laid out for one width.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Lines, each at most as wide as asked.
    pub lines: Vec<StyledLine>,
    /// What may be opened; the link numbered `n` in the text is `links[n - 1]`.
    pub links: Vec<LinkTarget>,
    /// The pictures, in order of the text; [`StyledSpan::image`] counts from 1 too.
    pub images: Vec<ImageTarget>,
    /// The numbers of the links that are attached files.
    pub enclosures: Vec<u16>,
}

/// One line of the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StyledLine {
    /// From left to right.
    pub spans: Vec<StyledSpan>,
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
            end = end.saturating_add(span.text.width());
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

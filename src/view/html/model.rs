//! The blocks of an entry's body: an intermediate form between the HTML tags and the laid-out lines.

pub(super) use crate::ui::reader::lines::{
    INSIDE_FIRST, ImageTarget, LinkTarget, Rendered, Role, Slide, Style, StyledLine, StyledSpan,
    Syntax,
};

use super::language::Language;

/// The column in which text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Width in cells.
    pub width: usize,
    /// `true` if tables and preformatted lines that are too wide scroll sideways ([`StyledLine::slide`]). If `false`, they are
    /// wrapped.
    pub slides: bool,
}

impl Column {
    /// Creates a column in which nothing scrolls sideways; all wide content is wrapped.
    pub(super) const fn fixed(width: usize) -> Self {
        Self { width, slides: false }
    }

    /// Returns the column that remains beside a bar or an indent with a width of `by` cells.
    pub(super) const fn narrower(self, by: usize) -> Self {
        Self { width: self.width.saturating_sub(by), ..self }
    }
}

/// The format of a span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub role: Role,
    pub style: Style,
    pub link: Option<u16>,
    pub image: Option<u16>,
    /// Number of the link to a place in the text that leads here.
    pub anchor: Option<u16>,
}

impl Look {
    pub(super) const fn with_role(role: Role) -> Self {
        Self {
            role,
            style: Style {
                bold: false,
                italic: false,
                underlined: false,
                struck: false,
                quoted: false,
            },
            link: None,
            image: None,
            anchor: None,
        }
    }

    pub(super) const fn span(self, text: String) -> StyledSpan {
        let Self { role, style, link, image, anchor } = self;
        StyledSpan { text, role, style, link, image, anchor }
    }
}

/// A piece of text in one format. A line feed in it is a forced line break.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextRun {
    pub text: String,
    pub look: Look,
}

/// The direction of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum TextDirection {
    /// The first letter decides.
    #[default]
    Auto,
    Rightward,
    /// Right-to-left.
    Leftward,
}

/// A block of an entry's body.
#[derive(Debug)]
pub(super) enum Block {
    /// A paragraph, caption or heading. If it is `loose`, blank lines separate it from adjacent blocks.
    Text {
        runs: Vec<TextRun>,
        loose: bool,
        direction: TextDirection,
    },
    Preformatted {
        runs: Vec<TextRun>,
        language: Option<Language>,
    },
    Rule,
    /// A quotation: blocks with a bar on their left.
    Quote(Vec<Self>),
    /// Indented blocks, such as a definition in a `dl`.
    Indented(Vec<Self>),
    List(Vec<Item>),
    Table(HtmlTable),
}

/// An item of a list.
#[derive(Debug)]
pub(super) struct Item {
    /// Bullet or number of the item, without the space after it.
    pub marker: String,
    pub blocks: Vec<Block>,
}

/// A table as written in the markup: rows of cells that can span several rows or columns.
#[derive(Debug, Default)]
pub(super) struct HtmlTable {
    pub rows: Vec<Vec<Cell>>,
    /// `true` if the table is only used to arrange its contents (`role=presentation`).
    pub layout_only: bool,
}

/// A cell of a table.
#[derive(Debug)]
pub(super) struct Cell {
    pub header: bool,
    pub columns: usize,
    pub rows: usize,
    pub align: Align,
    pub blocks: Vec<Block>,
}

/// The horizontal alignment of the text in a table cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Align {
    #[default]
    Left,
    Centre,
    Right,
}

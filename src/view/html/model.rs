//! The blocks of a body, an intermediate form between its tags and the laid-out lines.

pub(super) use crate::ui::reader::lines::{
    ImageTarget, LinkTarget, Rendered, Role, Slide, Style, StyledLine, StyledSpan, Syntax,
};

use super::language::Language;

/// The column that a text is laid out in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Width in cells.
    pub width: usize,
    /// `true` if tables and preformatted lines that are too wide keep their form and scroll sideways ([`StyledLine::slide`]).
    /// Otherwise they are wrapped.
    pub slides: bool,
}

impl Column {
    /// Creates a column in which all wide content is wrapped.
    pub(super) const fn fixed(width: usize) -> Self {
        Self { width, slides: false }
    }

    /// Returns the part of the column beside a bar or an indent.
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
        }
    }

    pub(super) const fn span(self, text: String) -> StyledSpan {
        StyledSpan { text, role: self.role, style: self.style, link: self.link, image: self.image }
    }
}

/// Text in one format. A line feed is a forced line break.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextRun {
    pub text: String,
    pub look: Look,
}

/// A block of the body.
#[derive(Debug)]
pub(super) enum Block {
    /// A paragraph. A `loose` one has blank lines around it.
    Text {
        runs: Vec<TextRun>,
        loose: bool,
    },
    Preformatted {
        runs: Vec<TextRun>,
        language: Option<Language>,
    },
    Rule,
    /// A quotation: blocks beside a bar.
    Quote(Vec<Self>),
    /// Indented blocks (a definition).
    Indented(Vec<Self>),
    List(Vec<Item>),
    Table(Table),
}

/// An item of a list.
#[derive(Debug)]
pub(super) struct Item {
    /// Bullet or number, without the space after it.
    pub marker: String,
    pub blocks: Vec<Block>,
}

/// A table as it is in the markup: rows of cells, with unresolved spans.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub rows: Vec<Vec<Cell>>,
    /// `true` if the table is used for layout only (`role=presentation`).
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

/// The alignment of a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Align {
    #[default]
    Left,
    Centre,
    Right,
}

//! The blocks that rendering goes through, from tags to lines.

pub(super) use crate::ui::reader::lines::ImageTarget;
pub(super) use crate::ui::reader::lines::LinkTarget;
pub(super) use crate::ui::reader::lines::Rendered;
pub(super) use crate::ui::reader::lines::Role;
pub(super) use crate::ui::reader::lines::Slide;
pub(super) use crate::ui::reader::lines::Style;
pub(super) use crate::ui::reader::lines::StyledLine;
pub(super) use crate::ui::reader::lines::StyledSpan;
pub(super) use crate::ui::reader::lines::Syntax;

use super::language::Language;

/// The room that a text is laid out in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Cells.
    pub width: usize,
    /// Tables and preformatted lines that are wider keep their form and are moved sideways
    /// ([`StyledLine::slide`]); otherwise they are broken.
    pub slides: bool,
}

impl Column {
    /// Room in which nothing is wider than it.
    pub(super) const fn fixed(width: usize) -> Self {
        Self { width, slides: false }
    }

    /// The room beside a bar or an indent.
    pub(super) const fn narrower(self, by: usize) -> Self {
        Self { width: self.width.saturating_sub(by), ..self }
    }
}

/// The properties of a span apart from its text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub role: Role,
    pub style: Style,
    pub link: Option<u16>,
    pub image: Option<u16>,
}

impl Look {
    pub(super) const fn of(role: Role) -> Self {
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

/// A stretch of text in one look; a line feed is a forced line break.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TextRun {
    pub text: String,
    pub look: Look,
}

/// A block of the body.
#[derive(Debug)]
pub(super) enum Block {
    /// A paragraph; a `loose` one keeps a blank line from its neighbours.
    Text { runs: Vec<TextRun>, loose: bool },
    /// Lines kept as typed.
    Preformatted { runs: Vec<TextRun>, language: Option<Language> },
    /// A rule across the column.
    Rule,
    /// Blocks beside a bar.
    Quote(Vec<Self>),
    /// Blocks moved to the right (a definition).
    Indented(Vec<Self>),
    /// A list.
    List(Vec<Item>),
    /// A table.
    Table(Table),
}

/// An item of a list.
#[derive(Debug)]
pub(super) struct Item {
    /// Bullet or number, without the blank after it.
    pub marker: String,
    pub blocks: Vec<Block>,
}

/// A table as written: cells in rows, spans not yet laid out.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub rows: Vec<Vec<Cell>>,
    /// A table that only arranges things (`role=presentation`).
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

/// Where a cell's text stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Align {
    #[default]
    Left,
    Centre,
    Right,
}

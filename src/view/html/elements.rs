//! What each HTML element does to the text, as one table.

/// What an element does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// A block of its own with a blank line around it.
    Paragraph,
    /// A block of its own, without a blank line.
    Plain,
    /// A heading of this level.
    Heading(u8),
    /// `figcaption`.
    Caption,
    /// `summary`.
    Summary,
    Quote,
    List(ListKind),
    /// `dl`.
    Definitions,
    Item,
    Term,
    Definition,
    Preformatted,
    Rule,
    Break,
    WordBreak,
    Table(TablePart),
    /// A link, or a place that can be linked to.
    Anchor,
    Image,
    /// Something that plays or shows another page: the word for it.
    Embed(&'static str),
    /// A possible address of the player around it.
    Source,
    Input,
    /// Text around the inside: before and after.
    Around(&'static str, &'static str),
    Format(Format),
    /// Neither the element nor its inside is shown.
    Hidden,
}

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListKind {
    Bullets,
    Numbers,
}

/// Which part of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TablePart {
    Whole,
    Caption,
    Row,
    Cell,
    HeaderCell,
}

/// A property of running text that elements switch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Bold,
    Italic,
    Underlined,
    Struck,
    Code,
    Raised,
}

impl Format {
    pub(super) const COUNT: usize = 6;
}

impl Element {
    /// Whether the text before it and after it stand on lines of their own.
    pub(super) const fn is_block(self) -> bool {
        !matches!(
            self,
            Self::Anchor
                | Self::Image
                | Self::WordBreak
                | Self::Source
                | Self::Input
                | Self::Around(..)
                | Self::Format(_)
                | Self::Hidden
        )
    }
}

/// What the element of this name does; `None`: nothing, its inside is read on.
pub(super) fn element(name: &str) -> Option<Element> {
    ELEMENTS.iter().find(|(names, _)| names.split(' ').any(|n| n == name)).map(|(_, e)| *e)
}

/// Names, separated by blanks, and what they do; the frequent ones first.
const ELEMENTS: &[(&str, Element)] = &[
    ("a", Element::Anchor),
    ("p", Element::Paragraph),
    ("br", Element::Break),
    ("strong b", Element::Format(Format::Bold)),
    ("em i cite dfn var", Element::Format(Format::Italic)),
    ("li", Element::Item),
    ("img image", Element::Image),
    ("code tt kbd samp", Element::Format(Format::Code)),
    (
        "div section article header footer main aside nav address details fieldset form center \
         hgroup legend search dialog body html",
        Element::Plain,
    ),
    ("td", Element::Table(TablePart::Cell)),
    ("tr", Element::Table(TablePart::Row)),
    ("ul menu dir", Element::List(ListKind::Bullets)),
    ("ol", Element::List(ListKind::Numbers)),
    ("blockquote", Element::Quote),
    ("pre listing xmp", Element::Preformatted),
    ("h1", Element::Heading(1)),
    ("h2", Element::Heading(2)),
    ("h3", Element::Heading(3)),
    ("h4", Element::Heading(4)),
    ("h5", Element::Heading(5)),
    ("h6", Element::Heading(6)),
    ("figure", Element::Paragraph),
    ("figcaption", Element::Caption),
    ("summary", Element::Summary),
    ("hr", Element::Rule),
    ("table", Element::Table(TablePart::Whole)),
    ("th", Element::Table(TablePart::HeaderCell)),
    ("caption", Element::Table(TablePart::Caption)),
    ("dl", Element::Definitions),
    ("dt", Element::Term),
    ("dd", Element::Definition),
    ("sup", Element::Format(Format::Raised)),
    ("s del strike", Element::Format(Format::Struck)),
    ("u ins", Element::Format(Format::Underlined)),
    ("wbr", Element::WordBreak),
    ("iframe frame embed object", Element::Embed("embedded")),
    ("video", Element::Embed("video")),
    ("audio", Element::Embed("audio")),
    ("source", Element::Source),
    ("input", Element::Input),
    ("q", Element::Around("“", "”")),
    ("rt", Element::Around("(", ")")),
    (
        "script style title template select datalist textarea svg noembed noframes rp map \
         annotation annotation-xml",
        Element::Hidden,
    ),
];

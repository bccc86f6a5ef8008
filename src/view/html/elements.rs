//! The table of HTML elements, with the effect of each element on the text.

/// The effect of an HTML element on the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HtmlElement {
    /// A block with blank lines around it.
    Paragraph,
    /// A block without blank lines.
    Plain,
    Heading(u8),
    /// `figcaption`.
    Caption,
    /// `summary`.
    Summary,
    Quote,
    List(HtmlList),
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
    /// `a`, which is a link or a link target.
    Anchor,
    Image,
    /// A player or an embedded page. The word describes it in the text.
    Embed(&'static str),
    /// `source`, which may specify the address of the enclosing player.
    Source,
    Input,
    /// An element whose contents are surrounded by these two texts.
    Around(&'static str, &'static str),
    Format(Format),
    /// An element that is not shown, and neither are its contents.
    Hidden,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HtmlList {
    Bullets,
    Numbers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TablePart {
    Whole,
    Caption,
    Row,
    Cell,
    HeaderCell,
}

/// A format for text within a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Bold,
    Italic,
    Underlined,
    Struck,
    Code,
    Raised,
    Lowered,
}

impl Format {
    pub(super) const COUNT: usize = 7;
}

impl HtmlElement {
    /// Checks whether the element begins and ends a line.
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

/// Looks up an element by its name. Returns `None` if the element has no effect on the text.
pub(super) fn element(name: &str) -> Option<HtmlElement> {
    ELEMENTS.iter().find(|(names, _)| names.split(' ').any(|n| n == name)).map(|(_, e)| *e)
}

/// Element names, separated by spaces, and their effects. Frequent elements come first.
const ELEMENTS: &[(&str, HtmlElement)] = &[
    ("a", HtmlElement::Anchor),
    ("p", HtmlElement::Paragraph),
    ("br", HtmlElement::Break),
    ("strong b", HtmlElement::Format(Format::Bold)),
    ("em i cite dfn var", HtmlElement::Format(Format::Italic)),
    ("li", HtmlElement::Item),
    ("img image amp-img amp-anim", HtmlElement::Image),
    ("code tt kbd samp", HtmlElement::Format(Format::Code)),
    (
        "div section article header footer main aside nav address details fieldset form center \
         hgroup legend search dialog body html",
        HtmlElement::Plain,
    ),
    ("td", HtmlElement::Table(TablePart::Cell)),
    ("tr", HtmlElement::Table(TablePart::Row)),
    ("ul menu dir", HtmlElement::List(HtmlList::Bullets)),
    ("ol", HtmlElement::List(HtmlList::Numbers)),
    ("blockquote", HtmlElement::Quote),
    ("pre listing xmp", HtmlElement::Preformatted),
    ("h1", HtmlElement::Heading(1)),
    ("h2", HtmlElement::Heading(2)),
    ("h3", HtmlElement::Heading(3)),
    ("h4", HtmlElement::Heading(4)),
    ("h5", HtmlElement::Heading(5)),
    ("h6", HtmlElement::Heading(6)),
    ("figure", HtmlElement::Paragraph),
    ("figcaption", HtmlElement::Caption),
    ("summary", HtmlElement::Summary),
    ("hr", HtmlElement::Rule),
    ("table", HtmlElement::Table(TablePart::Whole)),
    ("th", HtmlElement::Table(TablePart::HeaderCell)),
    ("caption", HtmlElement::Table(TablePart::Caption)),
    ("dl", HtmlElement::Definitions),
    ("dt", HtmlElement::Term),
    ("dd", HtmlElement::Definition),
    ("sup", HtmlElement::Format(Format::Raised)),
    ("sub", HtmlElement::Format(Format::Lowered)),
    ("s del strike", HtmlElement::Format(Format::Struck)),
    ("u ins", HtmlElement::Format(Format::Underlined)),
    ("wbr", HtmlElement::WordBreak),
    (
        "iframe frame embed object amp-iframe amp-twitter amp-instagram amp-gist amp-soundcloud",
        HtmlElement::Embed("embedded"),
    ),
    (
        "video amp-video amp-youtube lite-youtube youtube-video amp-vimeo lite-vimeo vimeo-video \
         amp-dailymotion",
        HtmlElement::Embed("video"),
    ),
    ("audio amp-audio", HtmlElement::Embed("audio")),
    ("source", HtmlElement::Source),
    ("input", HtmlElement::Input),
    ("q", HtmlElement::Around("“", "”")),
    ("rt", HtmlElement::Around("(", ")")),
    (
        "script style title template select datalist textarea svg noembed noframes rp map \
         annotation annotation-xml",
        HtmlElement::Hidden,
    ),
];

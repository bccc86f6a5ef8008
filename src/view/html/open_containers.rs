//! The containers (lists, items, quotations, tables) that are open while markup is parsed.
//!
//! Also parses the attributes of single tags, and finds the end tag of an element.

use backissue_core::feed::content::html_names::is_void;
use backissue_core::feed::content::markup::Tag;

use super::elements::HtmlList;
use super::flow::{Spaces, TextState};
use super::model::{Align, Block, Cell, HtmlTable, Item, TextDirection};

/// Maximum nesting depth of containers. The contents of more deeply nested containers are added to the innermost allowed one.
const FRAMES_MAX: usize = 64;

/// The kind of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    Body,
    Quote,
    Definitions,
    Definition,
    List,
    Item,
    Table,
    TableCaption,
    Row,
    Cell,
}

impl Container {
    /// Checks whether this container is a boundary for an end tag of `inner`: the tag does not close containers outside this one.
    const fn holds(self, inner: Self) -> bool {
        match inner {
            Self::Item => matches!(self, Self::List | Self::Cell | Self::TableCaption),
            Self::Definition => matches!(self, Self::Definitions | Self::Cell | Self::List),
            Self::Row | Self::Cell | Self::TableCaption => matches!(self, Self::Table),
            Self::Quote | Self::Definitions | Self::List => {
                matches!(self, Self::Cell | Self::TableCaption)
            }
            Self::Table | Self::Body => false,
        }
    }
}

/// An open container, with its contents so far.
#[derive(Debug)]
pub(super) struct OpenContainer {
    holds: ContainerContents,
    blocks: Vec<Block>,
    /// Format of the text outside the container, which is restored when the container ends.
    outside: TextState,
}

#[derive(Debug)]
pub(super) enum ContainerContents {
    Body,
    Quote,
    Definitions,
    Definition,
    List { numbering: Numbering, items: Vec<Item> },
    Item { marker: String },
    Table(HtmlTable),
    TableCaption,
    Row(Vec<Cell>),
    Cell { header: bool, columns: usize, rows: usize, align: Align },
}

impl ContainerContents {
    const fn container(&self) -> Container {
        match self {
            Self::Body => Container::Body,
            Self::Quote => Container::Quote,
            Self::Definitions => Container::Definitions,
            Self::Definition => Container::Definition,
            Self::List { .. } => Container::List,
            Self::Item { .. } => Container::Item,
            Self::Table(_) => Container::Table,
            Self::TableCaption => Container::TableCaption,
            Self::Row(_) => Container::Row,
            Self::Cell { .. } => Container::Cell,
        }
    }
}

/// The stack of open containers. The first one is the whole body.
#[derive(Debug)]
pub(super) struct OpenContainers {
    open: Vec<OpenContainer>,
    /// Number of open containers that are nested too deeply (see [`FRAMES_MAX`]) and are therefore not on the stack.
    beyond: usize,
}

impl OpenContainers {
    pub(super) fn new() -> Self {
        let body = OpenContainer {
            holds: ContainerContents::Body,
            blocks: Vec::new(),
            outside: TextState::default(),
        };
        Self { open: vec![body], beyond: 0 }
    }

    pub(super) fn push(&mut self, holds: ContainerContents, outside: TextState) {
        if self.open.len() >= FRAMES_MAX {
            self.beyond += 1;
        } else {
            self.open.push(OpenContainer { holds, blocks: Vec::new(), outside });
        }
    }

    /// Checks whether a container of this kind is open and an end tag at the current position would close it.
    pub(super) fn is_open(&self, container: Container) -> bool {
        self.find(container).is_some()
    }

    /// Returns the kind of the innermost container.
    pub(super) fn top(&self) -> Container {
        self.open.last().map_or(Container::Body, |frame| frame.holds.container())
    }

    /// Returns the number of open lists.
    pub(super) fn lists(&self) -> usize {
        self.open.iter().filter(|frame| frame.holds.container() == Container::List).count()
    }

    /// Returns the marker of the next item in the innermost list. `value` is the item number that the markup specifies, if any.
    pub(super) fn next_marker(&mut self, value: Option<i64>) -> String {
        self.open
            .iter_mut()
            .rev()
            .find_map(|frame| {
                let ContainerContents::List { numbering, .. } = &mut frame.holds else {
                    return None;
                };
                Some(numbering.next(value))
            })
            .unwrap_or_default()
    }

    /// Adds a block to the innermost container.
    pub(super) fn add(&mut self, block: Block) {
        if let Some(frame) = self.open.last_mut() {
            frame.blocks.push(block);
        }
    }

    /// Closes the innermost container of this kind and all containers inside it. Returns the format of the text outside it. Returns
    /// `None` if there is no such container.
    pub(super) fn close(&mut self, container: Container) -> Option<TextState> {
        if self.beyond > 0 {
            self.beyond -= 1;
            return None;
        }
        let at = self.find(container)?;
        let mut outside = None;
        while self.open.len() > at.max(1) {
            outside = self.pop();
        }
        outside
    }

    /// Closes all open containers and returns the blocks of the body.
    pub(super) fn finish(mut self) -> Vec<Block> {
        while self.open.len() > 1 {
            self.pop();
        }
        self.open.pop().map(|body| body.blocks).unwrap_or_default()
    }

    fn find(&self, container: Container) -> Option<usize> {
        for (at, frame) in self.open.iter().enumerate().rev() {
            let met = frame.holds.container();
            if met == container {
                return Some(at);
            }
            if met.holds(container) {
                return None;
            }
        }
        None
    }

    /// Closes the innermost container and adds its contents to the enclosing one. Returns the format of the text outside it.
    fn pop(&mut self) -> Option<TextState> {
        let OpenContainer { holds, blocks, outside } = self.open.pop()?;
        let parent = self.open.last_mut()?;
        match holds {
            ContainerContents::Body
            | ContainerContents::Definitions
            | ContainerContents::TableCaption => parent.blocks.extend(blocks),
            ContainerContents::Quote if blocks.is_empty() => {}
            ContainerContents::Quote => parent.blocks.push(Block::Quote(blocks)),
            ContainerContents::Definition => parent.blocks.push(Block::Indented(blocks)),
            ContainerContents::List { mut numbering, mut items } => {
                numbering.count_down(&mut items);
                let list = (!items.is_empty()).then_some(Block::List(items));
                // A list directly inside another list belongs to the previous item.
                let into = if let ContainerContents::List { items, .. } = &mut parent.holds {
                    items.last_mut().map(|item| &mut item.blocks)
                } else {
                    None
                };
                into.unwrap_or(&mut parent.blocks).extend(blocks.into_iter().chain(list));
            }
            ContainerContents::Table(mut table) => {
                parent.blocks.extend(blocks);
                table.drop_empty();
                if !table.rows.is_empty() {
                    parent.blocks.push(Block::Table(table));
                }
            }
            ContainerContents::Item { marker } => {
                if let ContainerContents::List { items, .. } = &mut parent.holds {
                    items.push(Item { marker, blocks });
                } else {
                    parent.blocks.extend(blocks);
                }
            }
            ContainerContents::Row(cells) => {
                parent.blocks.extend(blocks);
                if let ContainerContents::Table(table) = &mut parent.holds
                    && !cells.is_empty()
                {
                    table.rows.push(cells);
                }
            }
            ContainerContents::Cell { header, columns, rows, align } => {
                if let ContainerContents::Row(cells) = &mut parent.holds {
                    cells.push(Cell { header, columns, rows, align, blocks });
                } else {
                    parent.blocks.extend(blocks);
                }
            }
        }
        Some(outside)
    }
}

/// How the items of a list are marked.
#[derive(Debug)]
pub(super) enum Numbering {
    Bullet(&'static str),
    Number {
        next: i64,
        step: i64,
        form: char,
        /// For a list that counts down to 1, the number that the markup specifies for each item. `None` for other lists.
        stated: Option<Vec<Option<i64>>>,
    },
}

/// Maximum absolute value of an item number.
const NUMBER_MAX: i64 = 1_000_000_000;

impl Numbering {
    /// Determines how the items of a list are marked. `form` is the `type` attribute of an `ol`; `depth` is the number of enclosing
    /// lists.
    pub(super) fn new(
        kind: HtmlList,
        start: Option<i64>,
        reversed: bool,
        form: char,
        depth: usize,
    ) -> Self {
        match kind {
            HtmlList::Bullets => Self::Bullet(match depth % 3 {
                0 => "•",
                1 => "◦",
                _ => "–",
            }),
            HtmlList::Numbers => {
                let next = start.unwrap_or(1).clamp(-NUMBER_MAX, NUMBER_MAX);
                let stated = (reversed && start.is_none()).then(Vec::new);
                Self::Number { next, step: if reversed { -1 } else { 1 }, form, stated }
            }
        }
    }

    /// Numbers the items of a finished list that counts down to 1.
    fn count_down(&mut self, items: &mut [Item]) {
        let Self::Number { next, stated, .. } = self else { return };
        let Some(stated) = stated.take() else { return };
        *next = i64::try_from(items.len()).unwrap_or(NUMBER_MAX);
        for (item, value) in items.iter_mut().zip(stated) {
            item.marker = self.next(value);
        }
    }

    fn next(&mut self, value: Option<i64>) -> String {
        match self {
            Self::Bullet(sign) => (*sign).to_owned(),
            Self::Number { next, step, form, stated } => {
                if let Some(stated) = stated {
                    stated.push(value);
                }
                let number = value.unwrap_or(*next).clamp(-NUMBER_MAX, NUMBER_MAX);
                *next = number + *step;
                let text = match form {
                    'a' => letters(number, 'a'),
                    'A' => letters(number, 'A'),
                    'i' => roman(number).map(|text| text.to_lowercase()),
                    'I' => roman(number),
                    _ => None,
                };
                text.map_or_else(|| format!("{number}."), |text| format!("{text}."))
            }
        }
    }
}

/// Formats an item number as letters: 1 is `a`, 26 is `z`, 27 is `aa`. Returns `None` for numbers that cannot be formatted.
fn letters(number: i64, first: char) -> Option<String> {
    let mut rest = u32::try_from(number).ok().filter(|&n| n > 0 && n < 100_000)?;
    let mut letters = Vec::new();
    while rest > 0 {
        letters.push(char::from_u32(u32::from(first) + (rest - 1) % 26)?);
        rest = (rest - 1) / 26;
    }
    Some(letters.into_iter().rev().collect())
}

fn roman(number: i64) -> Option<String> {
    const SIGNS: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let mut rest = Some(number).filter(|n| (1..4000).contains(n))?;
    let mut text = String::new();
    for (value, sign) in SIGNS {
        while rest >= value {
            text.push_str(sign);
            rest -= value;
        }
    }
    Some(text)
}

/// An element whose end tag has not been found yet, with the number of open elements of the same name (itself and those inside it).
pub(super) struct Nested {
    name: String,
    depth: usize,
}

impl Nested {
    pub(super) fn new(tag: &Tag) -> Self {
        Self { name: tag.name().to_owned(), depth: 1 }
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// Checks whether a start tag implies the end of this element.
    pub(super) fn is_ended_by(&self, tag: &Tag) -> bool {
        self.name == tag.name()
            && matches!(tag.name(), "p" | "li" | "td" | "th" | "tr" | "dt" | "dd")
    }

    pub(super) fn open(&mut self, tag: &Tag) {
        self.depth += usize::from(self.name == tag.name() && !tag.is_self_closing());
    }

    /// Handles an end tag. Returns `true` if it is the end tag of this element.
    pub(super) fn close(&mut self, name: &str) -> bool {
        self.depth -= usize::from(self.name == name);
        self.depth == 0
    }
}

/// Checks whether the element has contents and an end tag.
pub(super) fn has_inside(tag: &Tag) -> bool {
    !tag.is_self_closing() && !is_void(tag.name())
}

/// Checks whether the attributes of an element hide it and its contents. The text of a formula that Wikipedia hides counts as
/// visible, because a terminal shows it better than the picture of the formula.
pub(super) fn is_hidden(tag: &Tag) -> bool {
    let is_formula = || tag.attribute("class").is_some_and(|class| class.contains("mathml-a11y"));
    (tag.attribute("hidden").is_some() || style(tag, "display").as_deref() == Some("none"))
        && !is_formula()
}

/// Returns the last value of a property in the `style` attribute, in lower case.
fn style(tag: &Tag, property: &str) -> Option<String> {
    let mut values = tag.attribute("style")?.split(';').filter_map(|pair| {
        let (name, value) = pair.split_once(':')?;
        name.trim().eq_ignore_ascii_case(property).then_some(value)
    });
    let value = values.next_back()?.to_ascii_lowercase();
    Some(value.replace("!important", "").trim().to_owned())
}

/// Returns how the style of an element shows spaces. Returns `None` if the style does not specify this.
pub(super) fn spaces(tag: &Tag) -> Option<Spaces> {
    match style(tag, "white-space")?.as_str() {
        "pre" => Some(Spaces::Kept),
        "pre-wrap" | "break-spaces" | "-moz-pre-wrap" => Some(Spaces::Wrapped),
        "pre-line" => Some(Spaces::Lines),
        "normal" | "nowrap" | "initial" => Some(Spaces::Collapsed),
        _ => None,
    }
}

/// Returns the direction that an element declares for its text.
pub(super) fn direction(tag: &Tag) -> Option<TextDirection> {
    let stated = tag.attribute("dir").map(|dir| dir.trim().to_ascii_lowercase());
    match stated.or_else(|| style(tag, "direction"))?.as_str() {
        "rtl" => Some(TextDirection::Leftward),
        "ltr" => Some(TextDirection::Rightward),
        "auto" => Some(TextDirection::Auto),
        _ => None,
    }
}

/// Checks by its class whether an element inside a code block contains a line number.
pub(super) fn is_line_number(tag: &Tag) -> bool {
    const NAMES: [&str; 5] = ["ln", "lnt", "gutter", "gl", "lno"];
    const PARTS: [&str; 6] = ["lineno", "line-no", "linenum", "line-num", "hljs-ln-n", "blob-num"];
    let class = tag.attribute("class").unwrap_or_default().to_ascii_lowercase().replace('_', "-");
    !matches!(tag.name(), "pre" | "code")
        && class
            .split_whitespace()
            .any(|name| NAMES.contains(&name) || PARTS.iter().any(|part| name.contains(part)))
}

/// Parses an attribute whose value is an integer. Returns `None` if it is missing or invalid.
pub(super) fn number(tag: &Tag, attribute: &str) -> Option<i64> {
    tag.attribute(attribute)?.trim().parse().ok()
}

/// Parses the tag of a table cell. The numbers of rows and columns that the cell spans are limited.
pub(super) fn cell(tag: &Tag, header: bool) -> ContainerContents {
    let span = |name: &str, max: usize| {
        tag.attribute(name).and_then(|span| span.trim().parse().ok()).unwrap_or(1).clamp(1, max)
    };
    let styled = style(tag, "text-align").unwrap_or_default();
    let asked = tag.attribute("align").unwrap_or_default().to_ascii_lowercase();
    let is = |word: &str| asked == word || styled == word;
    let align = match () {
        () if is("right") || is("end") => Align::Right,
        () if is("center") => Align::Centre,
        () => Align::Left,
    };
    ContainerContents::Cell {
        header,
        columns: span("colspan", 64),
        rows: span("rowspan", 1_000),
        align,
    }
}

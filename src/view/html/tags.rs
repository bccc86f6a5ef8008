//! Parses the attributes of single HTML tags, and finds the end tag of an element.

use super::model::Align;
use super::open_containers::ContainerContents;
use backissue_core::feed::content::html_names::is_void;
use backissue_core::feed::content::markup::Tag;

/// An element whose end tag has not been found yet, with the number of open elements of the same name (itself and those inside it).
pub(super) struct Nested {
    name: String,
    depth: usize,
}

impl Nested {
    pub(super) fn new(tag: &Tag) -> Self {
        Self { name: tag.name().to_owned(), depth: 1 }
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

/// Checks whether the attributes of an element hide it and its contents.
pub(super) fn is_hidden(tag: &Tag) -> bool {
    let by_style = |style: &str| {
        let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
        style.to_ascii_lowercase().contains("display:none")
    };
    tag.attribute("hidden").is_some() || tag.attribute("style").is_some_and(by_style)
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
    let style = tag.attribute("style").unwrap_or_default().to_ascii_lowercase();
    let asked = tag.attribute("align").unwrap_or_default().to_ascii_lowercase();
    let after = style.split("text-align:").nth(1).unwrap_or_default().trim_start();
    let is = |word: &str| asked == word || after.starts_with(word);
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

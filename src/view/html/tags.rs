//! Parses the attributes of single HTML tags, and finds the end tag of an element.

use super::flow::Spaces;
use super::model::{Align, TextDirection};
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

/// Checks whether the attributes of an element hide it and its contents. Wikipedia hides the text of a formula, which terminals
/// show better than its picture.
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

/// Returns how the style of an element shows spaces, or `None` if it does not say so.
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

/// Checks whether an element inside a code block contains the number of a line, by its class.
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

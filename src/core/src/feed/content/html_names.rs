//! Names of current and obsolete HTML elements, with a category that determines what counts as a tag of the element.

/// Category of an HTML element. It determines whether a word in angle brackets is a tag of this element or ordinary text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::feed) enum ElementKind {
    /// The element has an end tag, which careless publishers omit.
    Usual,
    /// The element has no end tag and needs no attributes: `br`.
    Break,
    /// The element has no end tag and is meaningless without attributes: `img`.
    Void,
    /// The element is part of a page's structure, or hides or replaces its own content. A tag without attributes and without a
    /// matching end tag is probably just a mention of the element in the text.
    Special,
    /// The element contains markup in another language, such as SVG.
    Foreign,
}

/// Returns the category of the element `name`, ignoring case, or `None` if HTML has no such element.
pub(in crate::feed) fn element_kind(name: &str) -> Option<ElementKind> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let at = PACKED.binary_search(&packed(name.as_bytes())).ok()?;
    ELEMENTS.get(at).map(|(_, kind)| *kind)
}

/// The names as numbers in the same order, because numbers are compared faster.
#[expect(clippy::indexing_slicing, reason = "computed when the program is compiled")]
const PACKED: [u128; ELEMENTS.len()] = {
    let mut all = [0; ELEMENTS.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = packed(ELEMENTS[at].0.as_bytes());
        at += 1;
    }
    all
};

/// Returns a lower-case name as a number. A name of more than [`NAME_BYTES_MAX`] bytes does not fit.
const fn packed(name: &[u8]) -> u128 {
    let (mut number, mut rest, mut place) = (0, name, 0);
    while place < NAME_BYTES_MAX {
        number <<= 8;
        if let Some((first, behind)) = rest.split_first() {
            number |= first.to_ascii_lowercase() as u128;
            rest = behind;
        }
        place += 1;
    }
    number
}

/// Checks whether an element has neither content nor an end tag.
pub fn is_void(name: &str) -> bool {
    matches!(element_kind(name), Some(Void | Break))
}

/// Length of the longest element name in [`ELEMENTS`], in bytes.
const NAME_BYTES_MAX: usize = 10;

use ElementKind::{Break, Foreign, Special, Usual, Void};

/// Elements of the HTML Living Standard (section 4) and its list of obsolete elements (section 16.2), sorted by name.
const ELEMENTS: &[(&str, ElementKind)] = &[
    ("a", Usual),
    ("abbr", Special),
    ("acronym", Special),
    ("address", Special),
    ("applet", Special),
    ("area", Void),
    ("article", Usual),
    ("aside", Usual),
    ("audio", Special),
    ("b", Usual),
    ("base", Void),
    ("basefont", Void),
    ("bdi", Special),
    ("bdo", Special),
    ("bgsound", Void),
    ("big", Usual),
    ("blink", Special),
    ("blockquote", Usual),
    ("body", Special),
    ("br", Break),
    ("button", Special),
    ("canvas", Special),
    ("caption", Usual),
    ("center", Usual),
    ("cite", Usual),
    ("code", Usual),
    ("col", Void),
    ("colgroup", Usual),
    ("data", Special),
    ("datalist", Special),
    ("dd", Usual),
    ("del", Usual),
    ("details", Usual),
    ("dfn", Special),
    ("dialog", Special),
    ("dir", Special),
    ("div", Usual),
    ("dl", Usual),
    ("dt", Usual),
    ("em", Usual),
    ("embed", Void),
    ("fieldset", Special),
    ("figcaption", Usual),
    ("figure", Usual),
    ("font", Usual),
    ("footer", Usual),
    ("form", Special),
    ("frame", Void),
    ("frameset", Special),
    ("h1", Usual),
    ("h2", Usual),
    ("h3", Usual),
    ("h4", Usual),
    ("h5", Usual),
    ("h6", Usual),
    ("head", Special),
    ("header", Usual),
    ("hgroup", Special),
    ("hr", Break),
    ("html", Special),
    ("i", Usual),
    ("iframe", Special),
    ("image", Void),
    ("img", Void),
    ("input", Void),
    ("ins", Usual),
    ("isindex", Void),
    ("kbd", Special),
    ("keygen", Void),
    ("label", Special),
    ("legend", Special),
    ("li", Usual),
    ("link", Void),
    ("listing", Special),
    ("main", Special),
    ("map", Special),
    ("mark", Usual),
    ("marquee", Special),
    ("math", Foreign),
    ("menu", Special),
    ("meta", Void),
    ("meter", Special),
    ("multicol", Special),
    ("nav", Special),
    ("nobr", Special),
    ("noembed", Special),
    ("noframes", Special),
    ("noscript", Special),
    ("object", Special),
    ("ol", Usual),
    ("optgroup", Special),
    ("option", Special),
    ("output", Special),
    ("p", Usual),
    ("param", Void),
    ("picture", Special),
    ("plaintext", Special),
    ("portal", Special),
    ("pre", Usual),
    ("progress", Special),
    ("q", Usual),
    ("rb", Special),
    ("rp", Special),
    ("rt", Special),
    ("rtc", Special),
    ("ruby", Special),
    ("s", Usual),
    ("samp", Special),
    ("script", Special),
    ("search", Special),
    ("section", Usual),
    ("select", Special),
    ("slot", Special),
    ("small", Usual),
    ("source", Void),
    ("spacer", Break),
    ("span", Usual),
    ("strike", Usual),
    ("strong", Usual),
    ("style", Special),
    ("sub", Usual),
    ("summary", Special),
    ("sup", Usual),
    ("svg", Foreign),
    ("table", Usual),
    ("tbody", Usual),
    ("td", Usual),
    ("template", Special),
    ("textarea", Special),
    ("tfoot", Usual),
    ("th", Usual),
    ("thead", Usual),
    ("time", Special),
    ("title", Special),
    ("tr", Usual),
    ("track", Void),
    ("tt", Usual),
    ("u", Usual),
    ("ul", Usual),
    ("var", Special),
    ("video", Special),
    ("wbr", Break),
    ("xmp", Special),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_found_in_any_case() {
        assert!(ELEMENTS.is_sorted_by(|(a, _), (b, _)| a < b));
        assert_eq!(ELEMENTS.iter().map(|(name, _)| name.len()).max(), Some(NAME_BYTES_MAX));
        assert_eq!(element_kind("BlockQuote"), Some(Usual));
        assert_eq!(element_kind("string"), None);
        assert_eq!(element_kind("\u{17f}trong"), None);
    }
}

//! Distinguishes a `<` that begins markup from one that is text.
//!
//! Publishers write `Vec<T>`, `k<n` and `<ada@a.example>` where HTML is expected. If every `<` before a letter began a tag,
//! these words would disappear and could even reverse the meaning of a sentence. Therefore only the start or end tag of a known
//! HTML element, a comment or a declaration counts as markup.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::html_names::{ElementKind, element_kind};

/// Maximum length of an element name to check, in bytes.
const NAME_BYTES_MAX: usize = 40;

/// Where a text comes from. This determines how strict the check for a tag is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A title, name or other line that is always complete. An element that needs an end tag must have one, as in `<b>bold</b>`
    /// but not in `the <b> tag`.
    Line,
    /// Body text that may be cut at any point. HTML elements may be open at its end.
    Body,
}

/// Finds the positions in a text where markup begins.
pub struct MarkupStarts<'a> {
    text: &'a str,
    place: Place,
    /// Position of the last `>` in the text.
    last_close: Option<usize>,
    /// Position where the last comment of the text ends, computed on first use.
    last_comment: OnceCell<Option<usize>>,
    /// Positions of the last end tag for each lower-case element name, computed on first use.
    end_tags: Option<BTreeMap<String, usize>>,
    /// Lower-case names of the start tags found so far. Some end tags count as markup only after a matching start tag.
    opened: BTreeSet<String>,
    /// End of the current `svg` or `math` element. Up to this position everything that looks like a tag is a tag.
    foreign_until: usize,
}

impl<'a> MarkupStarts<'a> {
    pub fn new(text: &'a str, place: Place) -> Self {
        Self {
            text,
            place,
            last_close: memchr::memrchr(b'>', text.as_bytes()),
            last_comment: OnceCell::new(),
            end_tags: None,
            opened: BTreeSet::new(),
            foreign_until: 0,
        }
    }

    /// Returns the next position at or after `from` where markup begins. `from` must not decrease from one call to the next.
    pub fn next(&mut self, from: usize) -> Option<usize> {
        let rest = self.text.as_bytes().get(from..)?;
        memchr::memchr_iter(b'<', rest).map(|at| from + at).find(|at| self.is_markup(*at))
    }

    /// Checks whether the `<` at the byte offset `at` begins markup.
    pub(crate) fn is_markup(&mut self, at: usize) -> bool {
        let text = self.text;
        let Some(tail) = text.get(at + 1..) else { return false };
        let is_closed = self.last_close.is_some_and(|close| close > at);
        match tail.as_bytes().first() {
            Some(b'!') => self.is_declaration(at, tail, is_closed),
            Some(b'?') => is_closed && starts_with(tail, "?xml"),
            Some(b'/') => {
                let inner = tail.get(1..).unwrap_or_default();
                is_closed && name(inner).is_some_and(|name| self.is_end_tag(at, name, inner))
            }
            Some(byte) if byte.is_ascii_alphabetic() => {
                name(tail).is_some_and(|name| self.is_start_tag(at, name, tail, is_closed))
            }
            Some(_) | None => false,
        }
    }

    fn is_declaration(&self, at: usize, tail: &str, is_closed: bool) -> bool {
        if tail.starts_with("!--") {
            let text = self.text.as_bytes();
            let last = *self.last_comment.get_or_init(|| memchr::memmem::rfind(text, b"-->"));
            // In body text an unclosed comment hides the rest of the text, as in a browser.
            return self.place == Place::Body
                || last.is_some_and(|last| last > at)
                || tail.get(3..).is_some_and(|rest| rest.trim_ascii().is_empty());
        }
        // A title can mention a doctype declaration, so a declaration counts as markup only in body text.
        let is_doctype = starts_with(tail, "!doctype") && self.place == Place::Body;
        starts_with(tail, "![cdata[") || (is_doctype && is_closed)
    }

    fn is_start_tag(&mut self, at: usize, name: &str, tail: &str, is_closed: bool) -> bool {
        if at < self.foreign_until {
            return true;
        }
        let attributes = tail.get(name.len()..).unwrap_or_default();
        let Some(has_attributes) = find_attributes(attributes) else { return false };
        if !is_closed {
            // This may be a tag that was cut off at the end of an excerpt.
            return self.place == Place::Body && has_attributes && element_kind(name).is_some();
        }
        let kind = element_kind(name);
        let is_tag = match kind {
            Some(ElementKind::Void) => {
                has_attributes && (self.place == Place::Body || name.eq_ignore_ascii_case("img"))
            }
            Some(ElementKind::Break) => true,
            Some(ElementKind::Usual) => self.place == Place::Body || self.has_end_tag(at, name),
            Some(ElementKind::Special) => {
                self.has_end_tag(at, name) || (self.place == Place::Body && has_attributes)
            }
            Some(ElementKind::Foreign) => {
                self.enter_foreign(at, name) || (self.place == Place::Body && has_attributes)
            }
            None => is_custom(name) && (self.has_end_tag(at, name) || is_empty_tag(attributes)),
        };
        // An end tag of any other element counts in any case.
        let is_checked =
            !matches!(kind, Some(ElementKind::Usual | ElementKind::Break | ElementKind::Void));
        if is_tag && is_checked {
            self.opened.insert(name.to_ascii_lowercase());
        }
        is_tag
    }

    fn is_end_tag(&self, at: usize, name: &str, inner: &str) -> bool {
        if at < self.foreign_until {
            return true;
        }
        let after = inner.get(name.len()..).unwrap_or_default().trim_ascii_start();
        if !after.starts_with('>') {
            return false;
        }
        let was_opened = || self.opened.contains(&name.to_ascii_lowercase());
        match element_kind(name) {
            Some(ElementKind::Usual | ElementKind::Break) => true,
            // `</body>` after the last word is a remnant of page markup. Within a sentence `</body>` is part of the text.
            Some(ElementKind::Special | ElementKind::Void | ElementKind::Foreign) => {
                let rest = after.get(1..).unwrap_or_default().trim_ascii_start();
                was_opened() || rest.is_empty() || rest.starts_with('<')
            }
            None => is_custom(name) && was_opened(),
        }
    }

    /// Treats everything from `at` to the end tag of this `svg` or `math` element as markup.
    fn enter_foreign(&mut self, at: usize, name: &str) -> bool {
        let end = self.end_tag_after(at, name);
        self.foreign_until = end.map_or(self.foreign_until, |end| end + 1);
        end.is_some()
    }

    fn has_end_tag(&mut self, at: usize, name: &str) -> bool {
        self.end_tag_after(at, name).is_some()
    }

    /// Returns the position of the last end tag with this name if it is after `at`.
    fn end_tag_after(&mut self, at: usize, name: &str) -> Option<usize> {
        let text = self.text;
        let end_tags = self.end_tags.get_or_insert_with(|| find_end_tags(text));
        end_tags.get(&name.to_ascii_lowercase()).copied().filter(|end| *end > at)
    }
}

/// Checks whether a text contains any markup.
pub fn has_markup(text: &str, place: Place) -> bool {
    MarkupStarts::new(text, place).next(0).is_some()
}

fn find_end_tags(text: &str) -> BTreeMap<String, usize> {
    memchr::memmem::find_iter(text.as_bytes(), b"</")
        .filter_map(|at| Some((name(text.get(at + 2..)?)?.to_ascii_lowercase(), at)))
        .collect()
}

/// Returns the element name at the start of a text, or `None` if there is no valid one.
fn name(text: &str) -> Option<&str> {
    let end = text
        .bytes()
        .take(NAME_BYTES_MAX + 1)
        .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'))
        .unwrap_or(text.len());
    let name = text.get(..end).filter(|name| (1..=NAME_BYTES_MAX).contains(&name.len()))?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':' | b'_' | b'.');
    (name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(fits)).then_some(name)
}

/// Checks for the name of a custom element (`my-widget`) or a name with a prefix (`o:p`, which Word writes).
pub(in crate::feed) fn is_custom(name: &str) -> bool {
    let has_prefix =
        |(_, local): (&str, &str)| local.starts_with(|c: char| c.is_ascii_alphabetic());
    name.contains('-') || name.split_once(':').is_some_and(has_prefix)
}

fn is_empty_tag(attributes: &str) -> bool {
    attributes.split('>').next().is_some_and(|inside| inside.ends_with('/'))
}

/// Checks whether the text after an element name contains attributes. Returns `None` if the text cannot be part of a tag, as in
/// `a<b and c>d`.
fn find_attributes(text: &str) -> Option<bool> {
    const WITHOUT_VALUE: [&str; 24] = [
        "allowfullscreen",
        "async",
        "autoplay",
        "checked",
        "compact",
        "controls",
        "default",
        "defer",
        "disabled",
        "download",
        "hidden",
        "inert",
        "ismap",
        "itemscope",
        "loop",
        "multiple",
        "muted",
        "nowrap",
        "open",
        "playsinline",
        "readonly",
        "required",
        "reversed",
        "selected",
    ];
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
    let end = text.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '/' | '>' | '<'));
    let (name, after) = text.split_at_checked(end.unwrap_or(text.len()))?;
    if name.is_empty() {
        return after.starts_with('>').then_some(false);
    }
    let has_value = after.trim_ascii_start().starts_with('=');
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || "_:@[(*#\"'".contains(c));
    let is_known = || WITHOUT_VALUE.iter().any(|known| name.eq_ignore_ascii_case(known));
    (starts && (has_value || name.contains(['-', '"', '\'']) || is_known())).then_some(true)
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Removes everything from each markup start to the next `>` and compares the remaining text with `expected`.
    fn check(place: Place, text: &str, expected: &str) {
        let mut starts = MarkupStarts::new(text, place);
        let (mut out, mut from) = (String::new(), 0);
        while let Some(at) = starts.next(from) {
            out.push_str(&text[from..at]);
            from = text[at..].find('>').map_or(text.len(), |end| at + end + 1);
        }
        out.push_str(&text[from..]);
        assert_eq!(out, expected, "{place:?} {text:?}");
    }

    #[test]
    fn unknown_html_names_are_text() {
        for text in [
            "<tinker>",
            "Vec<T> beats LinkedList<T>",
            "HashMap<String, Vec<u8>>",
            "all k<n and every p>2",
            "if a<b and c>d then x<y",
            "Ada <ada@a.example>, see <https://a.example/> or <mailto:ada@a.example>",
            "Let $a<b<c$ be integers with $c>7$",
            "git checkout <branch-name>, then cd <my_dir>",
            "std::vector<std::string> v; x<<y; 1 <2> 3; <3",
            "i<p.length; q>r",
            "<?php echo 1 ?> and <!important> and </T>",
            "read <stdin> or <b\u{e9}ta>",
        ] {
            check(Place::Line, text, text);
            check(Place::Body, text, text);
        }
    }

    #[test]
    fn elements_of_html_are_markup() {
        for (text, expected) in [
            ("a <b>bold</b> <I class=x>move</I>", "a bold move"),
            ("one<br>two<br/>three<hr>", "onetwothree"),
            ("<img src='x'><a href=\"y\" target=_blank>link</a>", "link"),
            ("<!-- hidden -->x<?xml version='1.0'?>", "x"),
            ("<my-widget a=1>text</my-widget><o:p></o:p><fb:like href=x />", "text"),
            ("<svg><path d='x'/><g></g></svg><math><mi>n</mi></math>", "n"),
            ("<ol reversed><li>x</li></ol>", "x"),
        ] {
            check(Place::Line, text, expected);
            check(Place::Body, text, expected);
        }
    }

    #[test]
    fn a_line_needs_the_end_tag_and_a_text_does_not() {
        for (text, line, body) in [
            ("The <b> tag", "The <b> tag", "The  tag"),
            ("<blink>", "<blink>", "<blink>"),
            ("<p>one<p>two", "<p>one<p>two", "onetwo"),
            (
                "Use <head>, <script> and <table>",
                "Use <head>, <script> and <table>",
                "Use <head>, <script> and ",
            ),
            ("before </body> and after", "before </body> and after", "before </body> and after"),
            ("text</p></body></html>", "text", "text"),
            ("cut <a href='x", "cut <a href='x", "cut "),
            ("1 <b", "1 <b", "1 <b"),
            ("the <img> tag", "the <img> tag", "the <img> tag"),
            ("<!DOCTYPE html> explained", "<!DOCTYPE html> explained", " explained"),
            ("<input type=date> in forms", "<input type=date> in forms", " in forms"),
            ("what does <!-- do?", "what does <!-- do?", "what does "),
        ] {
            check(Place::Line, text, line);
            check(Place::Body, text, body);
        }
    }
}

//! Tells a `<` that begins markup from one that is text.
//!
//! Publishers write `Vec<T>`, `k<n` and `<ada@a.example>` where HTML is expected. If every `<` before a letter began a
//! tag, these words would vanish, and a sentence could say the opposite of what was written. So only the start or end
//! of an element that HTML has, a comment or a declaration counts as markup.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::html_names::{ElementKind, element_kind};

/// Longest name of an element looked at, in bytes.
const NAME_BYTES_MAX: usize = 40;

/// The kind of text. It decides how strict the check for a tag is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A title, a name, or another line, which is written whole: an element that needs an end tag must have one, as
    /// in `<b>bold</b>` and not in `the <b> tag`.
    Line,
    /// A text, which may have been cut anywhere: elements of HTML may be open at its end.
    Body,
}

/// Finds the places in a text where markup begins.
pub struct MarkupStarts<'a> {
    text: &'a str,
    place: Place,
    /// Where the last `>` is.
    last_close: Option<usize>,
    /// Where the last comment ends, once it was asked for.
    last_comment: OnceCell<Option<usize>>,
    /// Where the last end tag of each name is, once it was asked for. Names are in lower case.
    end_tags: Option<BTreeMap<String, usize>>,
    /// Names of start tags that were found, in lower case, where an end tag needs one before it.
    opened: BTreeSet<String>,
    /// Up to here everything that looks like a tag is one: the inside of `svg` and `math`.
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

    /// Returns the next place from `from` on where markup begins. Call it from the front to the back.
    pub fn next(&mut self, from: usize) -> Option<usize> {
        let rest = self.text.as_bytes().get(from..)?;
        memchr::memchr_iter(b'<', rest).map(|at| from + at).find(|at| self.is_markup(*at))
    }

    /// Whether the `<` at `at` begins markup.
    pub fn is_markup(&mut self, at: usize) -> bool {
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
            // An open comment takes the rest of a text, as in a browser.
            return self.place == Place::Body
                || last.is_some_and(|last| last > at)
                || tail.get(3..).is_some_and(|rest| rest.trim_ascii().is_empty());
        }
        // A title may be about the declaration.
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
            // A tag in which an excerpt was cut off.
            return self.place == Place::Body && has_attributes && element_kind(name).is_some();
        }
        let is_tag = match element_kind(name) {
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
        if is_tag && !matches!(element_kind(name), Some(ElementKind::Break | ElementKind::Void)) {
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
            // `</body>` after the last word is what a program left there; in a sentence it is a word.
            Some(ElementKind::Special | ElementKind::Void | ElementKind::Foreign) => {
                let rest = after.get(1..).unwrap_or_default().trim_ascii_start();
                was_opened() || rest.is_empty() || rest.starts_with('<')
            }
            None => is_custom(name) && was_opened(),
        }
    }

    /// Takes everything up to the end of an `svg` or `math` for markup.
    fn enter_foreign(&mut self, at: usize, name: &str) -> bool {
        let end = self.end_tag_after(at, name);
        self.foreign_until = end.map_or(self.foreign_until, |end| end + 1);
        end.is_some()
    }

    fn has_end_tag(&mut self, at: usize, name: &str) -> bool {
        self.end_tag_after(at, name).is_some()
    }

    /// Where the last end tag of this name is, if it is after `at`.
    fn end_tag_after(&mut self, at: usize, name: &str) -> Option<usize> {
        let text = self.text;
        let end_tags = self.end_tags.get_or_insert_with(|| find_end_tags(text));
        end_tags.get(&name.to_ascii_lowercase()).copied().filter(|end| *end > at)
    }
}

/// Whether a text has markup at all.
pub fn has_markup(text: &str, place: Place) -> bool {
    MarkupStarts::new(text, place).next(0).is_some()
}

fn find_end_tags(text: &str) -> BTreeMap<String, usize> {
    memchr::memmem::find_iter(text.as_bytes(), b"</")
        .filter_map(|at| Some((name(text.get(at + 2..)?)?.to_ascii_lowercase(), at)))
        .collect()
}

/// The element name at the start of a text; `None` if there is no valid one.
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

/// Whether this is the name of a custom element (`my-widget`), or has a prefix (`o:p`, which Word writes).
pub(in crate::feed) fn is_custom(name: &str) -> bool {
    let has_prefix =
        |(_, local): (&str, &str)| local.starts_with(|c: char| c.is_ascii_alphabetic());
    name.contains('-') || name.split_once(':').is_some_and(has_prefix)
}

fn is_empty_tag(attributes: &str) -> bool {
    attributes.split('>').next().is_some_and(|inside| inside.ends_with('/'))
}

/// Looks at what follows the name of an element: whether attributes do, or `None` where no tag goes on like this, as
/// in `a<b and c>d`.
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

    /// Checks what is left when everything that begins markup is taken out up to the next `>`.
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
    fn what_html_does_not_have_is_text_everywhere() {
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

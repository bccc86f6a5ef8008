//! Replaces references to entities that a document declares in the internal subset of its document type declaration (XML 1.0 §4.4).
//!
//! External entities are never loaded. Limits ensure that entities cannot make a document much longer or slow to read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::feed::characters::is_harmless;
use crate::feed::flaws::Flaws;

/// Maximum distance from the start of a document to its document type declaration, in bytes.
const START_BYTES: usize = 4_096;
/// Maximum number of entity declarations read from one document.
const ENTITIES_MAX: usize = 300;
/// Maximum length of the fully expanded text of an entity, in bytes.
const VALUE_BYTES_MAX: usize = 16 << 10;
/// Maximum number of references that are resolved inside the values of entities.
const INNER_MAX: usize = 10_000;
/// Maximum number of bytes by which replaced references may lengthen a document.
const ADDED_BYTES_MAX: usize = 1 << 20;
/// Maximum depth of entities that refer to other entities.
const DEPTH_MAX: u8 = 4;
/// Entities that a declaration cannot redefine (XML 1.0 §4.6).
const PREDEFINED: [&str; 5] = ["lt", "gt", "amp", "quot", "apos"];

/// Replaces references to entities that the document declares. Other references are left unchanged.
pub(in crate::feed) fn replace_internal_entities<'a>(
    document: &'a str,
    flaws: &mut Flaws,
) -> Cow<'a, str> {
    let Some((subset, body)) = split_at_subset(document) else { return Cow::Borrowed(document) };
    let mut entities = Entities::read(subset);
    if entities.declared.is_empty() {
        return Cow::Borrowed(document);
    }
    let mut out = String::with_capacity(body.len());
    let mut added = 0;
    let mut sections = Sections::default();
    let mut rest = body;
    while let Some(at) = memchr::memchr2(b'&', b'<', rest.as_bytes()) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let value = reference(tail).and_then(|name| Some((name, entities.expand(name)?)));
        let taken = match value {
            Some((name, value)) if added + value.len() <= ADDED_BYTES_MAX => {
                added += value.len();
                out.push_str(&value);
                name.len() + 2
            }
            Some(_) => {
                let reason = "entities make the document too long: the rest are not expanded";
                flaws.add_once("document", "", reason);
                out.push('&');
                1
            }
            None => {
                let literal = sections.length(tail);
                out.push_str(tail.get(..literal).unwrap_or_default());
                literal
            }
        };
        rest = tail.get(taken..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Finds the ends of CDATA sections and comments, in which references are not replaced.
#[derive(Default)]
struct Sections {
    /// For CDATA sections and for comments: whether the rest of the text contains no end mark, so that it is not searched for
    /// again.
    unclosed: [bool; 2],
}

impl Sections {
    /// Returns the length of the CDATA section or comment at the start of `text`, or 1 if there is none.
    fn length(&mut self, text: &str) -> usize {
        let kinds = [("<![CDATA[", "]]>"), ("<!--", "-->")];
        for ((start, end), unclosed) in kinds.into_iter().zip(&mut self.unclosed) {
            let Some(inside) = text.strip_prefix(start).filter(|_| !*unclosed) else { continue };
            if let Some(length) = memchr::memmem::find(inside.as_bytes(), end.as_bytes()) {
                return start.len() + length + end.len();
            }
            *unclosed = true;
        }
        1
    }
}

/// Returns the internal subset of the document type declaration, and the text after the declaration.
fn split_at_subset(document: &str) -> Option<(&str, &str)> {
    let start = document.get(..document.floor_char_boundary(START_BYTES)).unwrap_or_default();
    let at = memchr::memmem::find(start.as_bytes(), b"<!DOCTYPE")?;
    let declared = document.get(at..)?;
    let open = memchr::memchr2(b'[', b'>', declared.as_bytes())?;
    let subset = declared.get(open..)?.strip_prefix('[')?;
    let end = subset_length(subset)?;
    let body = subset.get(end..)?;
    Some((subset.get(..end)?, body.get(memchr::memchr(b'>', body.as_bytes())? + 1..)?))
}

/// Returns the length of the internal subset, which ends at a `]` outside quotes and comments.
fn subset_length(subset: &str) -> Option<usize> {
    let bytes = subset.as_bytes();
    let mut at = 0;
    while let Some(next) = memchr::memchr3(b']', b'"', b'\'', bytes.get(at..)?) {
        let here = at + next;
        let comment = memchr::memmem::find(bytes.get(at..here)?, b"<!--");
        if let Some(comment) = comment {
            let inside = bytes.get(at + comment..)?;
            at += comment + memchr::memmem::find(inside, b"-->")? + 3;
            continue;
        }
        let byte = *bytes.get(here)?;
        at = here + 1;
        if byte != b']' {
            at += memchr::memchr(byte, bytes.get(at..)?)? + 1;
        } else if bytes.get(at..)?.trim_ascii_start().starts_with(b">") {
            return Some(here);
        }
    }
    None
}

/// The entities that a document declares. They are expanded when first used.
struct Entities<'a> {
    declared: BTreeMap<&'a str, String>,
    expanded: BTreeMap<String, Option<Rc<str>>>,
    /// Number of references that were resolved inside the values of entities.
    inner: usize,
}

impl<'a> Entities<'a> {
    /// Reads the declarations `<!ENTITY name "value">` in the internal subset. If a name is declared twice, the first declaration
    /// counts. Numeric references in a value are replaced immediately (XML 1.0 §4.5).
    fn read(subset: &'a str) -> Self {
        let mut declared = BTreeMap::new();
        let outside_comments = subset.split("<!--").enumerate().map(|(at, part)| match at {
            0 => part,
            _ => part.split_once("-->").map_or("", |(_, after)| after),
        });
        let declarations = outside_comments.flat_map(|part| part.split("<!ENTITY").skip(1));
        for declaration in declarations.take(ENTITIES_MAX) {
            let declaration = declaration.trim_start();
            let Some((name, after)) = declaration.split_once(|c: char| c.is_whitespace()) else {
                continue;
            };
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
            let Some(value) = quote.and_then(|quote| after.get(1..)?.split(quote).next()) else {
                continue;
            };
            if value.len() <= VALUE_BYTES_MAX && !PREDEFINED.contains(&name) {
                declared.entry(name).or_insert_with(|| resolve_numbers(value));
            }
        }
        Self { declared, expanded: BTreeMap::new(), inner: 0 }
    }

    /// Returns the replacement text of the entity `name`, or `None` if the entity is not declared or its text is too long.
    fn expand(&mut self, name: &str) -> Option<Rc<str>> {
        self.expand_within(name, DEPTH_MAX)
    }

    fn expand_within(&mut self, name: &str, depth: u8) -> Option<Rc<str>> {
        if let Some(known) = self.expanded.get(name) {
            return known.clone();
        }
        let value = self.declared.get(name)?.clone();
        // While an entity is being expanded, a reference to it is not replaced, which prevents endless recursion.
        self.expanded.insert(name.to_owned(), None);
        let expanded = depth.checked_sub(1).and_then(|depth| self.expand_value(&value, depth));
        let expanded = expanded.map(Rc::from);
        self.expanded.insert(name.to_owned(), expanded.clone());
        expanded
    }

    fn expand_value(&mut self, value: &str, depth: u8) -> Option<String> {
        let mut out = String::with_capacity(value.len());
        let mut rest = value;
        while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
            let (before, tail) = rest.split_at(at);
            out.push_str(before);
            let inner = reference(tail).filter(|name| self.declared.contains_key(name));
            let taken = if let Some(inner) = inner {
                self.inner += 1;
                out.push_str(&self.expand_within(inner, depth)?);
                inner.len() + 2
            } else {
                out.push('&');
                1
            };
            if out.len() > VALUE_BYTES_MAX || self.inner > INNER_MAX {
                return None;
            }
            rest = tail.get(taken..).unwrap_or_default();
        }
        out.push_str(rest);
        Some(out)
    }
}

/// Replaces the numeric references (`&#8217;`) in the value of an entity.
fn resolve_numbers(value: &str) -> String {
    let mut parts = value.split("&#");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let read = part.split_once(';').and_then(|(number, after)| {
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            Some((char::from_u32(code.ok()?)?, after))
        });
        match read {
            Some((character, after)) => {
                out.extend(Some(character).filter(|c| is_harmless(*c)));
                out.push_str(after);
            }
            None => out.extend(["&#", part]),
        }
    }
    out
}

/// Returns the name in the entity reference (`&name;`) at the start of a text.
fn reference(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('&')?;
    let name = inside.get(..inside.bytes().take(64).position(|byte| byte == b';')?)?;
    name.starts_with(|c: char| c.is_alphabetic() || c == '_').then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(document: &str, expected: &str) {
        assert_eq!(
            replace_internal_entities(document, &mut Flaws::default()),
            expected,
            "{document}"
        );
    }

    #[test]
    fn entities_that_a_document_declares_are_replaced() {
        check(
            "<!DOCTYPE feed [<!ENTITY site \"Harbour &amp; Sons\"><!ENTITY all '&site; &#8212; &nosuch;'>]><t>&all; &site &lt;</t>",
            "<t>Harbour &amp; Sons — &nosuch; &site &lt;</t>",
        );
        check(
            "<!DOCTYPE x SYSTEM 'y' [ <!ENTITY a 'b'> <!ENTITY a 'c'> ] ><t><![CDATA[&a;]]>&a;<!-- &a; --></t>",
            "<t><![CDATA[&a;]]>b<!-- &a; --></t>",
        );
        check(
            "<!DOCTYPE x [<!ENTITY lt '&#38;#60;'><!-- it's ]> <!ENTITY no 'n'> --><!ENTITY a ']>&#64;'>]><t>&lt;&a;&no;</t>",
            "<t>&lt;]>@&no;</t>",
        );
    }

    #[test]
    fn nothing_external_is_read_and_nothing_grows_without_bound() {
        for document in [
            "<!DOCTYPE feed [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><t>&x;</t>",
            "<!DOCTYPE feed [<!ENTITY % p 'q'>]><t>&p;</t>",
            "<!DOCTYPE feed><t>&x;</t>",
            "<t>&x;</t>",
        ] {
            check(document, document);
        }
        let mut laughs = "<!DOCTYPE t [<!ENTITY a0 'ha ha ha ha ha ha ha ha'>".to_owned();
        for n in 1..20 {
            let value = format!("&a{};", n - 1).repeat(10);
            laughs = [laughs, format!("<!ENTITY a{n} '{value}'>")].concat();
        }
        for n in [2, 3, 10, 19] {
            let document = format!("{laughs}]><t>{}</t>", format!("&a{n};").repeat(5_000));
            let read = replace_internal_entities(&document, &mut Flaws::default());
            assert!(read.len() < 2 * ADDED_BYTES_MAX, "{n}: {}", read.len());
        }
        let empty = format!(
            "<!DOCTYPE t [<!ENTITY a ''><!ENTITY b '{}'><!ENTITY c '{}'>]><t>{}</t>",
            "&a;".repeat(3_000),
            "&b;".repeat(3_000),
            "&c;".repeat(3_000)
        );
        assert!(replace_internal_entities(&empty, &mut Flaws::default()).len() < empty.len());
        check("<!DOCTYPE t [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><t>&a;</t>", "<t>&a;</t>");
    }
}

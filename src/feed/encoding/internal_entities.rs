//! Replaces the entities that a document declares itself, in the internal subset of its document type (XML 1.0 §4.4).
//!
//! Nothing external is loaded, and no declaration makes a document much longer.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::feed::flaws::Flaws;

/// How far into a document its document type may begin, in bytes.
const START_BYTES: usize = 4_096;
/// How many entities of one document are read.
const ENTITIES_MAX: usize = 300;
/// Longest value of an entity once everything in it is replaced, in bytes.
const VALUE_BYTES_MAX: usize = 16 << 10;
/// How many bytes all replacements of one document may add.
const ADDED_BYTES_MAX: usize = 1 << 20;
/// How deeply entities may stand in entities.
const DEPTH_MAX: u8 = 4;

/// Replaces the references to a document's own entities. Those of other entities stay as they are.
pub(in crate::feed) fn replace_internal_entities<'a>(
    document: &'a str,
    flaws: &mut Flaws,
) -> Cow<'a, str> {
    let Some((subset, body)) = split_at_subset(document) else { return Cow::Borrowed(document) };
    let entities = read_entities(subset);
    if entities.is_empty() {
        return Cow::Borrowed(document);
    }
    let mut out = String::with_capacity(body.len());
    let mut added = 0;
    let mut rest = body;
    while let Some(at) = memchr::memchr2(b'&', b'<', rest.as_bytes()) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let literal = literal_length(tail);
        let value =
            reference(tail).and_then(|name| Some((name, expand(name, &entities, DEPTH_MAX)?)));
        let taken = match value {
            Some((name, value)) if added + value.len() <= ADDED_BYTES_MAX => {
                added += value.len();
                out.push_str(&value);
                name.len() + 2
            }
            Some(_) => {
                flaws.add_once(
                    "document",
                    "",
                    "its entities make it too long: the rest stay as they are",
                );
                out.push('&');
                1
            }
            None => {
                out.push_str(tail.get(..literal).unwrap_or_default());
                literal
            }
        };
        rest = tail.get(taken..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// How much of a text that starts with `<` or `&` has no references: a CDATA section, a comment, else one character.
fn literal_length(text: &str) -> usize {
    let up_to = |start: &str, end: &str| {
        let inside = text.strip_prefix(start)?;
        let length = memchr::memmem::find(inside.as_bytes(), end.as_bytes())?;
        Some(start.len() + length + end.len())
    };
    up_to("<![CDATA[", "]]>").or_else(|| up_to("<!--", "-->")).unwrap_or(1)
}

/// The internal subset, and what follows the document type.
fn split_at_subset(document: &str) -> Option<(&str, &str)> {
    let start = document.get(..document.floor_char_boundary(START_BYTES)).unwrap_or_default();
    let at = memchr::memmem::find(start.as_bytes(), b"<!DOCTYPE")?;
    let declared = document.get(at..)?;
    let open = memchr::memchr2(b'[', b'>', declared.as_bytes())?;
    let subset = declared.get(open..)?.strip_prefix('[')?;
    let closes = |at: &usize| {
        subset.get(at + 1..).is_some_and(|after| after.trim_ascii_start().starts_with('>'))
    };
    let end = memchr::memchr_iter(b']', subset.as_bytes()).find(closes)?;
    let body = subset.get(end..)?;
    Some((subset.get(..end)?, body.get(memchr::memchr(b'>', body.as_bytes())? + 1..)?))
}

/// Reads `<!ENTITY name "value">`. Of two declarations of one name the first counts.
fn read_entities(subset: &str) -> BTreeMap<&str, &str> {
    let mut entities = BTreeMap::new();
    for declaration in subset.split("<!ENTITY").skip(1).take(ENTITIES_MAX) {
        let declaration = declaration.trim_start();
        let Some((name, after)) = declaration.split_once(|c: char| c.is_whitespace()) else {
            continue;
        };
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            continue;
        };
        let value = after.get(1..).and_then(|after| after.split(quote).next());
        if let Some(value) = value.filter(|value| value.len() <= VALUE_BYTES_MAX) {
            entities.entry(name).or_insert(value);
        }
    }
    entities
}

/// The name of the reference at the start of a text.
fn reference(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('&')?;
    let name = inside.get(..inside.bytes().take(64).position(|byte| byte == b';')?)?;
    name.starts_with(|c: char| c.is_alphabetic() || c == '_').then_some(name)
}

/// The text that stands for an entity, with the entities in it replaced; `None`: it is not declared, or too long.
fn expand(name: &str, entities: &BTreeMap<&str, &str>, depth: u8) -> Option<String> {
    let value = entities.get(name)?;
    let depth = depth.checked_sub(1)?;
    let mut out = String::with_capacity(value.len());
    let mut rest = *value;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let taken = if let Some(inner) = reference(tail).filter(|name| entities.contains_key(name))
        {
            out.push_str(&expand(inner, entities, depth)?);
            inner.len() + 2
        } else {
            out.push('&');
            1
        };
        rest = tail.get(taken..).unwrap_or_default();
        if out.len() > VALUE_BYTES_MAX {
            return None;
        }
    }
    out.push_str(rest);
    Some(out)
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
            "<t>Harbour &amp; Sons &#8212; &nosuch; &site &lt;</t>",
        );
        check(
            "<!DOCTYPE x SYSTEM 'y' [ <!ENTITY a 'b'> <!ENTITY a 'c'> ] ><t><![CDATA[&a;]]>&a;<!-- &a; --></t>",
            "<t><![CDATA[&a;]]>b<!-- &a; --></t>",
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
        check("<!DOCTYPE t [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><t>&a;</t>", "<t>&a;</t>");
    }
}

//! Splits an XML document, which may be broken, into tags, text and CDATA sections. Anything that cannot be markup is text.
//!
//! Document type declarations are skipped: for feeds, `internal_entities` replaces the declared entities beforehand, and external
//! entities are never loaded. Each search is bounded, or its result is remembered, so the run time is linear in the input.

use memchr::{memchr, memchr2, memmem};

/// Maximum length of an attribute value that contains `<`, in bytes. In a longer one the closing quote is assumed to be missing.
const ATTRIBUTE_BYTES_MAX: usize = 64 << 10;
/// Maximum number of attributes read per element.
const ATTRIBUTES_MAX: usize = 64;

/// A tag, text or CDATA section of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::feed) enum Token<'a> {
    /// A start tag or an empty-element tag.
    Start {
        name: &'a str,
        attributes: Vec<(&'a str, &'a str)>,
        empty: bool,
    },
    End {
        name: &'a str,
    },
    /// Text whose character references are not yet resolved.
    Text(&'a str),
    /// Content of a CDATA section, in which there are no character references.
    Cdata(&'a str),
}

/// Splits a document into tokens. Comments, processing instructions and document type declarations are skipped.
#[derive(Debug)]
pub(in crate::feed) struct Lexer<'a> {
    input: &'a str,
    at: usize,
    comment_end: EndMark,
    instruction_end: EndMark,
    cdata_end: EndMark,
    subset_end: EndMark,
    /// Reason for the last repair, in which malformed markup was treated as text or cut short. The caller clears this field.
    pub(in crate::feed) repaired: Option<&'static str>,
}

impl<'a> Lexer<'a> {
    pub(in crate::feed) const fn new(input: &'a str) -> Self {
        Self {
            input,
            at: 0,
            comment_end: EndMark::new("-->"),
            instruction_end: EndMark::new("?>"),
            cdata_end: EndMark::new("]]>"),
            subset_end: EndMark::new("]>"),
            repaired: None,
        }
    }

    /// Returns the next token, or `None` at the end of the document. `open` is the name of the innermost open element, because an
    /// unclosed CDATA section ends at the end tag of this element.
    pub(in crate::feed) fn next(&mut self, open: Option<&str>) -> Option<Token<'a>> {
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return None;
            }
            if !rest.starts_with('<') {
                return Some(self.take_text(0));
            }
            let kind = rest.as_bytes().get(1).copied().unwrap_or(0);
            match kind {
                b'!' if rest.starts_with("<![CDATA[") => return Some(self.take_cdata(open)),
                b'!' | b'?' => self.at += self.skipped_length(rest),
                b'/' if rest.get(2..).is_some_and(starts_name) => return self.take_end_tag(),
                _ if rest.get(1..).is_some_and(starts_name) => {
                    return Some(self.take_start_tag().unwrap_or_else(|scanned| {
                        self.repaired = Some("an invalid tag was read as text");
                        self.take_text(scanned.max(1))
                    }));
                }
                _ => {
                    self.repaired = Some("a stray < was read as text");
                    return Some(self.take_text(1));
                }
            }
        }
    }

    fn rest(&self) -> &'a str {
        self.input.get(self.at..).unwrap_or("")
    }

    /// Returns the text up to the next `<` as a token. The token has at least `least` bytes, so the text itself may begin with `<`.
    fn take_text(&mut self, least: usize) -> Token<'a> {
        let rest = self.rest();
        let end = memchr(b'<', rest.as_bytes().get(least..).unwrap_or_default())
            .map_or(rest.len(), |at| at + least);
        self.at += end;
        Token::Text(rest.get(..end).unwrap_or(""))
    }

    /// Returns the length of the comment, processing instruction or declaration at the start of `rest`.
    fn skipped_length(&mut self, rest: &str) -> usize {
        let (input, at, bytes) = (self.input, self.at, rest.as_bytes());
        let plain = || memchr(b'>', bytes).map_or(bytes.len(), |end| end + 1);
        let end = if rest.starts_with("<!--") {
            self.comment_end.find_after(input, at)
        } else if rest.starts_with("<?") {
            self.instruction_end.find_after(input, at)
        } else if memchr2(b'[', b'>', bytes).is_some_and(|end| bytes.get(end) == Some(&b'[')) {
            self.subset_end.find_after(input, at)
        } else {
            return plain();
        };
        end.map_or_else(
            || {
                self.repaired = Some("an unclosed comment or instruction was left out");
                plain()
            },
            |end| end - at,
        )
    }

    fn take_cdata(&mut self, open: Option<&str>) -> Token<'a> {
        const START: &str = "<![CDATA[";
        let inner = self.rest().get(START.len()..).unwrap_or("");
        let end = self
            .cdata_end
            .find_after(self.input, self.at + START.len())
            .map(|end| end - self.at - START.len());
        let body = end.and_then(|end| inner.get(..end - 3)).unwrap_or(inner);
        let suspicious = end.is_none() || memmem::find(body.as_bytes(), START.as_bytes()).is_some();
        if suspicious && let Some(cut) = open.and_then(|name| find_end_tag(body, name)) {
            self.repaired = Some("an unclosed CDATA section was closed");
            self.at += START.len() + cut;
            return Token::Cdata(body.get(..cut).unwrap_or(""));
        }
        self.at += START.len() + end.unwrap_or(inner.len());
        Token::Cdata(body)
    }

    fn take_end_tag(&mut self) -> Option<Token<'a>> {
        let rest = self.rest();
        let inner = rest.get(2..)?;
        let name = inner.get(..name_end(inner))?;
        let after = inner.get(name.len()..)?;
        // An end tag without its `>` ends before the next tag.
        let end = memchr2(b'>', b'<', after.as_bytes())
            .map_or(after.len(), |at| at + usize::from(after.as_bytes().get(at) == Some(&b'>')));
        self.at += 2 + name.len() + end;
        Some(Token::End { name })
    }

    /// Reads a start tag. If the text after `<` is not a tag, the error is the number of bytes that were examined.
    fn take_start_tag(&mut self) -> Result<Token<'a>, usize> {
        let rest = self.rest();
        let inner = rest.get(1..).unwrap_or("");
        let name = inner.get(..name_end(inner)).unwrap_or("");
        // The following texts are not tags: `<https://a.example>`, `<ada@a.example>`, `Map<String, u8>`.
        let is_word = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | 0x80..)
        };
        if name.ends_with(':') || !name.bytes().all(is_word) {
            return Err(1);
        }
        let mut attributes = Vec::new();
        let mut tail = inner.get(name.len()..).unwrap_or("");
        loop {
            tail = tail.trim_ascii_start();
            if let Some(after) = tail.strip_prefix('>') {
                return Ok(self.finish_start_tag(name, attributes, false, after));
            }
            if let Some(after) = tail.strip_prefix("/>") {
                return Ok(self.finish_start_tag(name, attributes, true, after));
            }
            let scanned = rest.len() - tail.len();
            if tail.is_empty() || tail.starts_with('<') {
                return Err(scanned);
            }
            let (attribute, after) = read_attribute(tail).ok_or(scanned)?;
            if attributes.len() < ATTRIBUTES_MAX && !attribute.0.is_empty() {
                attributes.push(attribute);
            }
            tail = after;
        }
    }

    fn finish_start_tag(
        &mut self,
        name: &'a str,
        attributes: Vec<(&'a str, &'a str)>,
        empty: bool,
        after: &str,
    ) -> Token<'a> {
        self.at = self.input.len() - after.len();
        Token::Start { name, attributes, empty }
    }
}

/// Reads the first attribute in the text of a tag. Returns the attribute and the text after it, or `None` if the text cannot be
/// part of a tag.
fn read_attribute(text: &str) -> Option<((&str, &str), &str)> {
    let end = text
        .find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '<' | '/' | '"' | '\''));
    let (name, after) = text.split_at_checked(end.unwrap_or(text.len()))?;
    if name.is_empty() && !after.starts_with('=') {
        // Skip a stray quote or slash inside the tag.
        let mut rest = after.chars();
        return rest.next().filter(|c| *c != '<').map(|_| (("", ""), rest.as_str()));
    }
    let Some(value) = after.trim_ascii_start().strip_prefix('=') else {
        return Some(((name, ""), after));
    };
    let value = value.trim_ascii_start();
    let (value, after) = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => read_quoted_value(value.get(1..)?, quote),
        _ => value.split_at_checked(
            value
                .find(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '<'))
                .unwrap_or(value.len()),
        )?,
    };
    Some(((name, value), after))
}

/// Reads an attribute value up to its closing quote. Returns the value and the text after it. If a tag begins before the closing
/// quote, this quote is assumed to be missing, and the value ends at the first `>` or `<`.
fn read_quoted_value(text: &str, quote: char) -> (&str, &str) {
    let window = text.as_bytes().get(..ATTRIBUTE_BYTES_MAX).unwrap_or(text.as_bytes());
    let quote = u8::try_from(quote).unwrap_or(b'"');
    let close = memchr(quote, window).or_else(|| {
        let next = memchr2(quote, b'<', text.as_bytes())?;
        (text.as_bytes().get(next) == Some(&quote)).then_some(next)
    });
    let body = close.and_then(|at| text.get(..at));
    let closed = body.filter(|body| {
        !memchr(b'>', body.as_bytes())
            .is_some_and(|at| body.get(at..).is_some_and(|tail| tail.contains('<')))
    });
    if let Some(value) = closed {
        return (value, text.get(value.len() + 1..).unwrap_or(""));
    }
    let end = memchr2(b'>', b'<', text.as_bytes()).unwrap_or(text.len());
    let value = text.get(..end).unwrap_or("");
    (value.trim_end_matches(['/', '"', '\'']), text.get(end..).unwrap_or(""))
}

/// Searches for the next occurrence of a mark such as `-->` and remembers where it ends.
#[derive(Debug)]
struct EndMark {
    mark: &'static str,
    /// Start position and result of the last search, if there was one.
    known: Option<(usize, Option<usize>)>,
}

impl EndMark {
    const fn new(mark: &'static str) -> Self {
        Self { mark, known: None }
    }

    fn find_after(&mut self, input: &str, at: usize) -> Option<usize> {
        if let Some((from, found)) = self.known
            && from <= at
            && found.is_none_or(|found| found >= at + self.mark.len())
        {
            return found;
        }
        let tail = input.as_bytes().get(at..).unwrap_or_default();
        let found =
            memmem::find(tail, self.mark.as_bytes()).map(|found| at + found + self.mark.len());
        self.known = Some((at, found));
        found
    }
}

/// Returns the position of `</name` in a text.
fn find_end_tag(text: &str, name: &str) -> Option<usize> {
    memmem::find_iter(text.as_bytes(), b"</").find(|&at| {
        text.get(at + 2..)
            .and_then(|tail| tail.strip_prefix(name))
            .is_some_and(|tail| tail.starts_with(|c: char| c == '>' || c.is_ascii_whitespace()))
    })
}

fn starts_name(text: &str) -> bool {
    text.starts_with(|c: char| {
        c.is_ascii_alphabetic() || c == '_' || (c > '\u{bf}' && c.is_alphabetic())
    })
}

fn name_end(text: &str) -> usize {
    text.bytes()
        .position(|b| {
            b.is_ascii_whitespace() || matches!(b, b'>' | b'/' | b'<' | b'=' | b'"' | b'\'')
        })
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use crate::feed::xml::lexer::*;

    fn shown(input: &str) -> String {
        let mut lexer = Lexer::new(input);
        let mut out = Vec::new();
        while let Some(token) = lexer.next(Some("d")) {
            out.push(match token {
                Token::Start { name, attributes, empty } => {
                    let attributes: Vec<String> =
                        attributes.iter().map(|(name, value)| format!(" {name}={value}")).collect();
                    format!("<{name}{}{}>", attributes.concat(), if empty { "/" } else { "" })
                }
                Token::End { name } => format!("</{name}>"),
                Token::Text(text) => format!("{text:?}"),
                Token::Cdata(text) => format!("[{text}]"),
            });
        }
        out.join(" ")
    }

    fn check(input: &str, expected: &str) {
        assert_eq!(shown(input), expected, "{input}");
    }

    #[test]
    fn well_formed_markup_is_cut_into_tokens() {
        check(
            "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY x '<>'> ]><a b=\"1\" c = '2>'><!-- <x> -->t<e/></a>",
            "<a b=1 c=2>> \"t\" <e/> </a>",
        );
        check("<d><![CDATA[a <b> ]] &amp;]]></d>", "<d> [a <b> ]] &amp;] </d>");
        check("<x:a y:z='1'/>", "<x:a y:z=1/>");
    }

    #[test]
    fn invalid_markup_is_text() {
        check("<t>1 < 2 <3 a<b</t>", "<t> \"1 \" \"< 2 \" \"<3 a\" \"<b\" </t>");
        check("a & b", "\"a & b\"");
        check("<", "\"<\"");
        check("<a b='", "\"<a b='\"");
        check("</ >", "\"</ >\"");
    }

    #[test]
    fn broken_tags_are_closed_as_soon_as_they_can_be() {
        check("<a href=\"x>text</a><b c=\"y\">", "<a href=x> \"text\" </a> <b c=y>");
        check("<a x=1 y checked>t</a <b>", "<a x=1 y= checked=> \"t\" </a> <b>");
        check("<a \"x\">t", "<a x=> \"t\"");
        check("<d><![CDATA[open</d><d><![CDATA[x]]></d>", "<d> [open] </d> <d> [x] </d>");
        check("<d><![CDATA[open</d>", "<d> [open] </d>");
        check("<!-- open <a>t", "\"t\"");
    }

    #[test]
    fn searches_that_fail_are_not_repeated() {
        for unit in [
            "<!--",
            "<!-- >",
            "<? >",
            "<![CDATA[</d>",
            "<!a[>",
            "<a b=\"<c\" ",
            "<a b='>",
            "<a b='<",
            "</a",
            "<a ",
            "\"<a",
        ] {
            let input = unit.repeat(40_000);
            let mut lexer = Lexer::new(&input);
            let mut count = 0;
            while lexer.next(Some("d")).is_some() {
                count += 1;
            }
            assert!(count <= input.len(), "{unit}");
        }
    }
}

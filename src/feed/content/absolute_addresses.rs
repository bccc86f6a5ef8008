//! Makes the addresses inside markup absolute, because a stored entry no longer knows the address of its document.

use std::borrow::Cow;

use url::Url;

use crate::feed::xml::references;
use crate::feed::{address, text};

/// Attributes that hold one address.
const ATTRIBUTES: [&str; 3] = ["href", "src", "poster"];
/// Length of the longest of them.
const NAME_BYTES_MAX: usize = 6;

/// Resolves the relative addresses in markup.
pub(in crate::feed) fn make_addresses_absolute<'a>(
    markup: Cow<'a, str>,
    base: Option<&Url>,
) -> Cow<'a, str> {
    let Some(base) = base else { return markup };
    let mut out = String::new();
    let mut copied = 0;
    for equals in memchr::memchr_iter(b'=', markup.as_bytes()) {
        let Some((start, value)) = address_at(&markup, equals) else { continue };
        if start < copied || is_settled(value) {
            continue;
        }
        let Some(joined) =
            base.join(&references::resolve(value)).ok().filter(|url| !url.cannot_be_a_base())
        else {
            continue;
        };
        out.push_str(markup.get(copied..start).unwrap_or_default());
        text::push_escaped_attribute(&mut out, joined.as_str());
        copied = start + value.len();
    }
    if copied == 0 {
        return markup;
    }
    out.push_str(markup.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Whether an address stays as it is: it is absolute or leads to a place inside the entry.
fn is_settled(value: &str) -> bool {
    let value = value.trim();
    value.is_empty() || value.starts_with('#') || address::has_scheme(value)
}

/// Returns the address in the attribute whose `=` is at `equals`, and where it begins.
fn address_at(markup: &str, equals: usize) -> Option<(usize, &str)> {
    let before = markup.get(..equals)?.trim_ascii_end();
    let name_start = before.len().saturating_sub(NAME_BYTES_MAX + 1);
    let tail = before.as_bytes().get(name_start..)?;
    let blank =
        tail.iter().rposition(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''))?;
    let name = tail.get(blank + 1..)?;
    if !ATTRIBUTES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes())) {
        return None;
    }
    let after = markup.get(equals + 1..)?;
    let blanks = after.len() - after.trim_ascii_start().len();
    let quote = *after.as_bytes().get(blanks).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let start = equals + 1 + blanks + 1;
    let inner = markup.get(start..)?;
    let window = inner.as_bytes().get(..ADDRESS_BYTES_MAX).unwrap_or(inner.as_bytes());
    let end = memchr::memchr(quote, window)?;
    Some((start, inner.get(..end)?))
}

/// Longest address looked at.
const ADDRESS_BYTES_MAX: usize = 4_096;

#[cfg(test)]
mod tests {
    use crate::feed::content::absolute_addresses::*;

    fn check(markup: &str, expected: &str) {
        let base = Url::parse("https://a.example/dir/feed").expect("an address");
        assert_eq!(
            make_addresses_absolute(Cow::Borrowed(markup), Some(&base)),
            expected,
            "{markup}"
        );
    }

    #[test]
    fn relative_addresses_inside_tags_become_absolute() {
        check(
            "<a href=\"x?a=1&amp;b=2\">x</a><img alt='' src='/y.png'>",
            "<a href=\"https://a.example/dir/x?a=1&amp;b=2\">x</a><img alt='' src='https://a.example/y.png'>",
        );
        check("<A HREF = \"../z\">", "<A HREF = \"https://a.example/z\">");
    }

    #[test]
    fn all_else_stays_as_it_is() {
        for markup in [
            "<a href=\"http://b.example\">",
            "<a href=\"#note\">",
            "a = \"b\" xhref=\"c\"",
            "<a href=",
            "<a href='x",
            "<a href=\"mailto:a@b.example\">",
            "é=\"x\"",
        ] {
            check(markup, markup);
        }
    }
}

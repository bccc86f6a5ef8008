//! Makes URLs inside markup absolute, because a stored entry no longer has the URL of the document from which it was read. Removes
//! images embedded as `data:` URLs, which can make up most of the bytes of an entry but contain no readable text.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::ops::{Deref, Range};

use url::Url;

use crate::feed::xml::references;
use crate::feed::{address, text};

/// Checks whether an HTML attribute contains a single URL. This includes attributes of lazily loaded images.
fn is_address(name: &str) -> bool {
    let known: &[&str] = match name.len() {
        3 => &["src"],
        4 => &["href", "data"],
        6 => &["poster"],
        8 => &["data-src"],
        13 => &["data-lazy-src", "data-original"],
        14 => &["data-orig-file"],
        _ => return false,
    };
    known.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Maximum length of a URL in markup that is resolved, in bytes. Longer URLs are left unchanged.
const ADDRESS_BYTES_MAX: usize = 4_096;

/// Resolves the relative URLs in the tags of markup. Calls `base` only if the markup contains a relative URL.
pub fn make_addresses_absolute(
    markup: Cow<'_, str>,
    base: impl FnOnce() -> Option<Url>,
) -> Cow<'_, str> {
    let base = LazyCell::new(base);
    rewrite_attributes(markup, |name, written| absolute_value(name, written, &base))
}

/// Replaces the values of attributes in the tags of markup. `rewrite` gets the name and the value as written, and returns the new value
/// unless the value stays.
pub(in crate::feed) fn rewrite_attributes(
    markup: Cow<'_, str>,
    rewrite: impl Fn(&str, &str) -> Option<String>,
) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut from = 0;
    for at in memchr::memchr_iter(b'<', markup.as_bytes()) {
        if at < from {
            continue;
        }
        let mut tag = TagScan::new(&markup, at + 1);
        while let Some((name, value)) = tag.next_attribute() {
            let written = markup.get(value.clone()).unwrap_or_default();
            let Some(new) = rewrite(name, written) else { continue };
            out.push_str(markup.get(copied..value.start).unwrap_or_default());
            text::push_escaped(&mut out, &new, true);
            copied = value.end;
        }
        from = tag.at;
    }
    if copied == 0 {
        return markup;
    }
    out.push_str(markup.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns the value `written` of the attribute `name` with its URLs made absolute, or `None` if the value does not change.
pub(in crate::feed) fn absolute_value(
    name: &str,
    written: &str,
    base: &dyn Deref<Target = Option<Url>>,
) -> Option<String> {
    if written.len() > ADDRESS_BYTES_MAX {
        return None;
    }
    if is_address(name) {
        return absolute(written, base);
    }
    let is_set = name.eq_ignore_ascii_case("srcset");
    is_set.then(|| rewrite_srcset(written, |address| absolute(address, base))).flatten()
}

/// Replaces the URLs in the value of a `srcset`. `rewrite` returns the new URL unless it stays.
pub(in crate::feed) fn rewrite_srcset(
    written: &str,
    rewrite: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let written = references::resolve(written);
    let mut changed = false;
    let candidates: Vec<String> = written
        .split(", ")
        .map(|candidate| {
            let (address, size) =
                candidate.trim().split_once(' ').unwrap_or((candidate.trim(), ""));
            let new = rewrite(address);
            changed |= new.is_some();
            let address = new.unwrap_or_else(|| address.to_owned());
            [address.as_str(), size].join(" ").trim_end().to_owned()
        })
        .collect();
    changed.then(|| candidates.join(", "))
}

/// Resolves the URL `written`. Returns `None` if the URL is absolute or points to a place inside the entry (`#note`).
fn absolute(written: &str, base: &dyn Deref<Target = Option<Url>>) -> Option<String> {
    let written = written.trim_ascii();
    // Fast path: most URLs are absolute.
    if written.starts_with("https://") || written.starts_with("http://") {
        return None;
    }
    if written.is_empty() || written.starts_with('#') || address::has_scheme(written) {
        return None;
    }
    let address = references::resolve(written);
    let address = address.trim();
    if address.is_empty() || address.starts_with('#') || address::has_scheme(address) {
        return None;
    }
    base.deref()
        .as_ref()?
        .join(address)
        .ok()
        .filter(|url| !url.cannot_be_a_base())
        .map(String::from)
}

/// Returns the value of the attribute `wanted` from the tag at the start of `markup`, as written.
pub(in crate::feed) fn attribute<'a>(markup: &'a str, wanted: &str) -> Option<&'a str> {
    let mut tag = TagScan::new(markup, 1);
    while let Some((name, value)) = tag.next_attribute() {
        if name.eq_ignore_ascii_case(wanted) {
            return markup.get(value);
        }
    }
    None
}

/// Scans the attributes of one tag.
struct TagScan<'a> {
    markup: &'a str,
    at: usize,
    in_tag: bool,
}

impl<'a> TagScan<'a> {
    /// Starts to scan the tag whose element name begins at the byte offset `at`.
    fn new(markup: &'a str, at: usize) -> Self {
        let mut scan = Self { markup, at, in_tag: false };
        scan.in_tag = scan.byte().is_some_and(|byte| byte.is_ascii_alphabetic());
        if scan.in_tag {
            scan.skip_until(|byte| !byte.is_ascii_alphanumeric());
            scan.in_tag = scan.byte() != Some(b'>');
        }
        scan
    }

    /// Returns the name of the next attribute that has a value, and the byte range of this value.
    fn next_attribute(&mut self) -> Option<(&'a str, Range<usize>)> {
        while self.in_tag {
            self.skip_until(|byte| !byte.is_ascii_whitespace() && byte != b'/');
            let start = self.at;
            self.skip_until(|byte| {
                byte.is_ascii_whitespace() || matches!(byte, b'=' | b'/' | b'>' | b'<')
            });
            let name = self.markup.get(start..self.at)?;
            self.skip_until(|byte| !byte.is_ascii_whitespace());
            match self.byte()? {
                b'=' => {}
                b'>' | b'<' => {
                    self.in_tag = false;
                    break;
                }
                _ => continue,
            }
            self.at += 1;
            self.skip_until(|byte| !byte.is_ascii_whitespace());
            let value = self.take_value()?;
            return Some((name, value));
        }
        None
    }

    fn take_value(&mut self) -> Option<Range<usize>> {
        let quote = self.byte().filter(|byte| matches!(byte, b'"' | b'\''));
        let Some(quote) = quote else {
            let start = self.at;
            self.skip_until(|byte| byte.is_ascii_whitespace() || byte == b'>');
            return Some(start..self.at);
        };
        let start = self.at + 1;
        let length = memchr::memchr(quote, self.markup.as_bytes().get(start..)?)?;
        self.at = start + length + 1;
        Some(start..start + length)
    }

    fn byte(&self) -> Option<u8> {
        self.markup.as_bytes().get(self.at).copied()
    }

    fn skip_until(&mut self, stop: impl Fn(u8) -> bool) {
        let bytes = self.markup.as_bytes();
        while let Some(&byte) = bytes.get(self.at)
            && !stop(byte)
        {
            self.at += 1;
        }
    }
}

/// Maximum length of a `data:` URL that is kept unchanged, in bytes.
const SHORT: usize = 256;

/// Returns markup without the contents of `data:` URLs, so that a size limit counts only readable content.
pub fn without_data_values(markup: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for at in memchr::memmem::find_iter(markup.as_bytes(), b"data:") {
        let before = markup.as_bytes().get(at.wrapping_sub(1)).copied().unwrap_or_default();
        if at < copied || !matches!(before, b'"' | b'\'' | b'(' | b'=' | b',' | b' ') {
            continue;
        }
        let value = markup.get(at..).unwrap_or_default();
        let ends = |byte: u8| {
            byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b')' | b'<' | b'>')
        };
        let length = value.bytes().position(ends).unwrap_or(value.len());
        if length > SHORT {
            out.push_str(markup.get(copied..at).unwrap_or_default());
            out.push_str("data:,");
            copied = at + length;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(markup);
    }
    out.push_str(markup.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use crate::feed::content::absolute_addresses::*;

    fn check(markup: &str, expected: &str) {
        let base = Url::parse("https://a.example/dir/feed").expect("an address");
        assert_eq!(
            make_addresses_absolute(Cow::Borrowed(markup), || Some(base)),
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
        check(
            "<a id=q href=x.html>x</a><img alt=y src=../y.png>",
            "<a id=q href=https://a.example/dir/x.html>x</a><img alt=y src=https://a.example/y.png>",
        );
        check(
            "<img src='data:,' data-src='/a.jpg' srcset='/a.jpg 1x, b.jpg 2x'><object data=c>",
            "<img src='data:,' data-src='https://a.example/a.jpg' srcset='https://a.example/a.jpg 1x, https://a.example/dir/b.jpg 2x'><object data=https://a.example/dir/c>",
        );
    }

    #[test]
    fn all_else_stays_as_it_is() {
        for markup in [
            "<a href=\"http://b.example\">",
            "<a href=\"#note\">",
            "a = \"b\" xhref=\"c\"",
            "<a href=",
            "<a href='x",
            "write href=\"x\" or &lt;a href='x'&gt; or src=y",
            "<p title=\"a href='x'\">",
            "1 < 2 href='x'",
            "<a href=\"mailto:a@b.example\">",
            "é=\"x\"",
        ] {
            check(markup, markup);
        }
    }
}

#[cfg(test)]
mod data_values_tests {
    use super::*;

    #[test]
    fn long_data_urls_are_removed_and_the_rest_stays() {
        let picture = format!("data:image/png;base64,{}", "iVBORw0KGgo+/".repeat(100));
        let markup = format!(
            "a <img src=\"{picture}\" alt=\"x\"> b <p style='background:url({picture})'>c</p>"
        );
        assert_eq!(
            without_data_values(&markup),
            "a <img src=\"data:,\" alt=\"x\"> b <p style='background:url(data:,)'>c</p>"
        );
        for text in ["data: 1, 2", "<img src='data:image/gif;base64,R0lGOD'>", "mydata:x"] {
            assert_eq!(without_data_values(text), text);
        }
    }
}

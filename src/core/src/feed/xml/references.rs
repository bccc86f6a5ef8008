//! Resolves character references such as `&eacute;` and `&#8217;`, including malformed references that publishers write.

use std::borrow::Cow;

use html5ever::data::NAMED_ENTITIES;

use crate::feed::characters::is_harmless;

/// Maximum length of the name in a character reference, in bytes.
const NAME_BYTES_MAX: usize = 32;

/// Resolves the character references of `text` once. Drops references to control characters.
pub(in crate::feed) fn resolve(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_resolved(&mut out, text);
    out
}

/// Appends `text` with its character references resolved once. Other text is unchanged.
pub(in crate::feed) fn push_resolved(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        rest = tail.get(push_reference(out, tail)..).unwrap_or("");
    }
    out.push_str(rest);
}

/// Appends the character for the reference at the start of `text`, which begins with `&`. Returns the length of the reference in
/// bytes.
fn push_reference(out: &mut String, text: &str) -> usize {
    let inner = text.get(1..).unwrap_or("");
    let Some(end) = inner.bytes().take(NAME_BYTES_MAX).position(|byte| byte == b';') else {
        return push_unfinished(out, inner);
    };
    let name = inner.get(..end).unwrap_or("");
    if let Some(code) = number(name) {
        if let Some((character, taken)) =
            bytes_as_references(text, code).or_else(|| surrogates_as_references(text, code))
        {
            out.push(character);
            return taken;
        }
        if let Some(character) = from_number(code) {
            out.extend(Some(character).filter(|c| is_harmless(*c)));
            return end + 2;
        }
    } else if push_named(out, name) {
        return end + 2;
    }
    push_unfinished(out, inner)
}

/// Appends the character for a reference without a semicolon, which HTML allows for the oldest names. Returns the length of the
/// reference in bytes. In a URL, `&copy=1` is a parameter and not a reference.
fn push_unfinished(out: &mut String, inner: &str) -> usize {
    let length = inner.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let (name, after) = inner.split_at_checked(length).unwrap_or_default();
    let is_word = !after.starts_with(['=', ';', '-', '_']) && (2..=6).contains(&length);
    let known = is_word.then(|| NAMED_ENTITIES.get(name)).flatten().filter(|codes| codes.0 != 0);
    let known = known.and_then(|codes| char::from_u32(codes.0));
    out.push(known.unwrap_or('&'));
    known.map_or(1, |_| 1 + length)
}

fn push_named(out: &mut String, name: &str) -> bool {
    let usual = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        _ => {
            // The table also contains the beginnings of names. They have the code 0 and are not references.
            let known = NAMED_ENTITIES.get(format!("{name};").as_str());
            let Some(&(first, second)) = known.filter(|codes| codes.0 != 0) else { return false };
            let codes = [first, second].into_iter().filter(|&code| code != 0);
            let characters = codes.filter_map(char::from_u32);
            out.extend(characters.filter(|c| is_harmless(*c)));
            return true;
        }
    };
    out.push(usual);
    true
}

/// Returns the character code in a numeric reference.
fn number(name: &str) -> Option<u32> {
    let number = name.strip_prefix('#')?;
    match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => number.parse().ok(),
    }
}

/// Returns the character with the code of a numeric reference. As in HTML, the codes 0x80 to 0x9F mean windows-1252 characters.
fn from_number(code: u32) -> Option<char> {
    match code {
        0 => None,
        0x80..=0x9f => Some(windows_1252(code)),
        _ => char::from_u32(code),
    }
}

/// Returns the windows-1252 character with a code from 0x80 to 0x9F.
pub(in crate::feed) fn windows_1252(code: u32) -> char {
    const HIGH: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
    let at = usize::try_from(code.saturating_sub(0x80)).unwrap_or_default();
    HIGH.chars().nth(at).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Reads a character whose UTF-8 bytes are each written as a reference (`&#226;&#128;&#166;`), as some programs do. `first` is the
/// code in the first reference. Returns the character and the length of its references in `text`, in bytes.
fn bytes_as_references(text: &str, first: u32) -> Option<(char, usize)> {
    let length = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let mut bytes = Vec::with_capacity(length);
    let mut taken = 0;
    while bytes.len() < length {
        let inner = text.get(taken..)?.strip_prefix('&')?;
        let end = inner.bytes().take(NAME_BYTES_MAX).position(|byte| byte == b';')?;
        bytes.push(u8::try_from(number(inner.get(..end)?)?).ok()?);
        taken += end + 2;
    }
    let character = std::str::from_utf8(&bytes).ok()?.chars().next().filter(|c| is_harmless(*c))?;
    Some((character, taken))
}

/// Replaces pairs of references to surrogates with the characters that the pairs represent, because HTML does not support
/// references to surrogates.
pub(in crate::feed) fn join_surrogate_references(html: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    for at in memchr::memmem::find_iter(html.as_bytes(), b"&#") {
        let tail = html.get(at..).unwrap_or_default();
        let end = tail.bytes().take(NAME_BYTES_MAX).position(|byte| byte == b';');
        let code = end.and_then(|end| number(tail.get(1..end)?));
        let found =
            code.filter(|_| at >= copied).and_then(|code| surrogates_as_references(tail, code));
        if let Some((character, taken)) = found {
            out.push_str(html.get(copied..at).unwrap_or_default());
            out.push(character);
            copied = at + taken;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(html);
    }
    out.push_str(html.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Reads a character written as references to two surrogates (`&#55357;&#56832;`). `first` is the code in the first reference. A
/// lone surrogate becomes U+FFFD. Returns the character and the length of its references in `text`, in bytes.
fn surrogates_as_references(text: &str, first: u32) -> Option<(char, usize)> {
    let is_high = (0xd800..0xdc00).contains(&first);
    let end = text.find(';').filter(|_| is_high || (0xdc00..0xe000).contains(&first))? + 1;
    let second = || {
        let inner = text.get(end..)?.strip_prefix('&')?;
        let length = inner.bytes().take(NAME_BYTES_MAX).position(|byte| byte == b';')?;
        let low = number(inner.get(..length)?).filter(|low| (0xdc00..0xe000).contains(low))?;
        let code = 0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00);
        Some((char::from_u32(code)?, end + length + 2))
    };
    let pair = is_high.then(second).flatten();
    Some(pair.unwrap_or((char::REPLACEMENT_CHARACTER, end)))
}

#[cfg(test)]
mod tests {
    use crate::feed::xml::references::*;

    #[test]
    fn references_are_resolved_once() {
        for (text, expected) in [
            ("&lt;b&gt; &amp;amp; &quot;", "<b> &amp; \""),
            ("&eacute;&scaron;&alpha;&nbsp;&hellip;", "éšα\u{a0}…"),
            ("&#8217; &#x41; &#X41; &#146;", "’ A A ’"),
            ("&#226;&#128;&#166; &#195;&#169; &#195;x", "… é Ãx"),
            ("a & b &nosuch; &; &#; &#0;", "a & b &nosuch; &; &#; &#0;"),
            ("&#55357;&#56832; &#xD83D;&#xDE80; &#xd800;x &#xdc00;&", "😀 🚀 \u{fffd}x \u{fffd}&"),
            ("&copy 2024 &amp Sons&nbsp&lt", "© 2024 & Sons\u{a0}<"),
            ("?a=1&copy=2&notit &alpha x &ampere", "?a=1&copy=2&notit &alpha x &ampere"),
            ("&#27;&#x202e;&#155;x", "›x"),
            ("&", "&"),
        ] {
            assert_eq!(resolve(text), expected, "{text}");
        }
    }
}

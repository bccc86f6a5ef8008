//! Decodes a web page with the charset that it declares.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Decodes a page with the first of these encodings that fits: the one of its byte order mark; UTF-16, recognised by its byte
/// pattern; UTF-8, if the bytes are valid UTF-8 and not plain ASCII, regardless of the declared charset; the declared charset;
/// windows-1252.
pub(in crate::feed) fn to_text(bytes: &[u8], declared: Option<&str>) -> String {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return decode(encoding, bytes.get(length..).unwrap_or_default());
    }
    match bytes {
        [0, b'<', ..] => return decode(UTF_16BE, bytes),
        [b'<', 0, ..] => return decode(UTF_16LE, bytes),
        _ => {}
    }
    let declared = declared
        .and_then(|label| Encoding::for_label(label.trim().as_bytes()))
        .filter(|encoding| *encoding != UTF_16BE && *encoding != UTF_16LE);
    match (std::str::from_utf8(bytes), declared) {
        (Ok(text), _) if !text.is_ascii() => text.to_owned(),
        (_, Some(encoding)) if encoding != UTF_8 => decode(encoding, bytes),
        (Ok(text), _) => text.to_owned(),
        // If there are several valid multi-byte characters before the first invalid byte, the text is damaged UTF-8. Otherwise it
        // is more likely in a Latin encoding.
        (Err(error), _) if is_mostly_utf8(bytes, error.valid_up_to()) => decode(UTF_8, bytes),
        (Err(_), _) => decode(WINDOWS_1252, bytes),
    }
}

/// Returns the name of the encoding that a page declares in a `meta` element or XML declaration near its start.
pub(in crate::feed) fn html_charset(html: &[u8]) -> Option<String> {
    let start = html.get(..2_048).unwrap_or(html);
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let (_, after) = start.split_once("charset=").or_else(|| start.split_once("encoding="))?;
    let label: String = after
        .trim_start_matches(['"', '\'', ' '])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || "-_:.".contains(*c))
        .collect();
    (!label.is_empty()).then_some(label)
}

/// Checks whether the first `valid` bytes, which are valid UTF-8, contain at least four multi-byte characters.
fn is_mostly_utf8(bytes: &[u8], valid: usize) -> bool {
    bytes.get(..valid).unwrap_or_default().iter().filter(|byte| **byte >= 0xC2).count() >= 4
}

fn decode(encoding: &'static Encoding, bytes: &[u8]) -> String {
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

#[cfg(test)]
mod tests {
    use crate::feed::encoding::charset::*;

    #[test]
    fn declarations_are_read() {
        assert_eq!(html_charset(b"<meta charset='Big5'>").as_deref(), Some("big5"));
        let old = b"<meta content='text/html; charset=iso-8859-2' http-equiv=content-type>";
        assert_eq!(html_charset(old).as_deref(), Some("iso-8859-2"));
        assert_eq!(html_charset(b"<p>x"), None);
    }

    #[test]
    fn the_encoding_is_found() {
        let cases: [(&[u8], Option<&str>, &str); 11] = [
            (b"\xEF\xBB\xBFa\xC3\xA9", Some("iso-8859-1"), "a\u{e9}"),
            (b"\xFF\xFEa\0", None, "a"),
            (b"\xFE\xFF\0a", None, "a"),
            (b"<\0a\0", None, "<a"),
            (b"\0<\0a", None, "<a"),
            (b"caf\xC3\xA9", Some("iso-8859-1"), "caf\u{e9}"),
            (b"caf\xE9", Some("utf-8"), "caf\u{e9}"),
            (b"caf\xE9", None, "caf\u{e9}"),
            (b"\xCF\xF0\xE8", Some(" windows-1251 "), "При"),
            (b"\x1B$BF|\x1B(B", Some("iso-2022-jp"), "日"),
            (b"plain", Some("utf-16"), "plain"),
        ];
        for (bytes, declared, expected) in cases {
            assert_eq!(to_text(bytes, declared), expected, "{bytes:?} {declared:?}");
        }
    }
}

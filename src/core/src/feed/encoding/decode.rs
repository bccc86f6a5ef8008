//! Decodes the bytes of a document to text: chooses the charset, and removes characters that are not allowed in any document.

use std::borrow::Cow;

use chardetng::EncodingDetector;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::damaged_utf8;
use crate::feed::flaws::{Flaws, REMOVED_CONTROLS};
use crate::feed::text;

/// Maximum size of a document, in bytes (SPEC D.8). The rest of a larger document is dropped.
pub(in crate::feed) const BODY_BYTES_MAX: usize = 32 << 20;
/// Number of bytes at the start of a document that are searched for an encoding declaration.
const DECLARATION_BYTES: usize = 1_024;

/// Decodes a document by its byte order mark, else by the charset of `Content-Type`, else by the XML declaration, else as UTF-8
/// (SPEC D.1). A charset that the bytes contradict is ignored.
pub(in crate::feed) fn decode<'a>(
    bytes: &'a [u8],
    content_type: Option<&str>,
    flaws: &mut Flaws,
) -> Cow<'a, str> {
    let bytes = bytes.get(..BODY_BYTES_MAX).map_or(bytes, |head| {
        flaws.add("document", "", "longer than 32 MiB: the rest was left out");
        head
    });
    let text = decode_by_statement(bytes, content_type, flaws);
    without_controls(text, flaws)
}

fn decode_by_statement<'a>(
    bytes: &'a [u8],
    content_type: Option<&str>,
    flaws: &mut Flaws,
) -> Cow<'a, str> {
    if let Some(text) = utf32(bytes) {
        return Cow::Owned(text);
    }
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(bytes.get(mark..).unwrap_or_default()).0;
    }
    if let Some(encoding) = utf16_by_shape(bytes) {
        return encoding.decode_without_bom_handling(bytes).0;
    }
    let http =
        content_type.and_then(charset_parameter).and_then(|label| find_encoding(&label, flaws));
    let declared = declared_label(bytes).and_then(|label| find_encoding(label, flaws));
    let stated = http.or(declared);
    let utf8 = simdutf8::basic::from_utf8(bytes);
    match (stated, utf8) {
        (None, Ok(text)) => Cow::Borrowed(text),
        (Some(encoding), Ok(text)) if encoding == UTF_8 => Cow::Borrowed(text),
        (Some(encoding), Ok(text)) if !bytes.is_ascii() => {
            flaws.add("encoding", encoding.name(), "the bytes are UTF-8 and were read as such");
            Cow::Borrowed(text)
        }
        (Some(encoding), Ok(_)) => encoding.decode_without_bom_handling(bytes).0,
        (Some(encoding), Err(_)) if encoding != UTF_8 => {
            if encoding.is_single_byte() && damaged_utf8::is_clearly_utf8(bytes) {
                flaws.add("encoding", encoding.name(), "the bytes are UTF-8 except for a few");
                return String::from_utf8_lossy(bytes);
            }
            let (text, failed) = encoding.decode_without_bom_handling(bytes);
            if failed {
                return weigh_contradiction(
                    bytes,
                    text,
                    declared.filter(|other| *other != encoding),
                    flaws,
                );
            }
            text
        }
        (_, Err(_)) => invalid_utf8(bytes, declared, flaws),
    }
}

/// Chooses the text of a document that is invalid in the charset of its `Content-Type`. If the bytes are valid in the encoding
/// `other`, which the document declares, the document is decoded with this encoding. Otherwise `text`, the result of decoding with
/// the charset, is kept.
fn weigh_contradiction<'a>(
    bytes: &'a [u8],
    text: Cow<'a, str>,
    other: Option<&'static Encoding>,
    flaws: &mut Flaws,
) -> Cow<'a, str> {
    if let Some((better, false)) = other.map(|encoding| encoding.decode_without_bom_handling(bytes))
    {
        flaws.add(
            "encoding",
            "",
            "the charset in the HTTP header does not match the bytes; the one declared in the document does",
        );
        return better;
    }
    flaws.add("encoding", "", "some bytes are invalid in the stated encoding");
    text
}

/// Decodes bytes that should be UTF-8 but are not. If they are damaged UTF-8, the damaged characters are replaced. Otherwise the
/// declared encoding is used, or an encoding is guessed if none is declared.
fn invalid_utf8<'a>(
    bytes: &'a [u8],
    declared: Option<&'static Encoding>,
    flaws: &mut Flaws,
) -> Cow<'a, str> {
    let bytes = damaged_utf8::join_surrogates(bytes);
    if let Ok(text) = std::str::from_utf8(&bytes) {
        flaws.add("encoding", "cesu-8", "surrogate pairs were read as the characters they mean");
        return Cow::Owned(text.to_owned());
    }
    let other = declared.filter(|encoding| *encoding != UTF_8);
    if let Some(encoding) = other.filter(|_| !damaged_utf8::is_clearly_utf8(&bytes)) {
        let (text, failed) = encoding.decode_without_bom_handling(&bytes);
        if !failed {
            flaws.add(
                "encoding",
                "utf-8",
                "the bytes are not UTF-8; the declared encoding matches",
            );
            return Cow::Owned(text.into_owned());
        }
    }
    let mut detector = EncodingDetector::new();
    detector.feed(&bytes, true);
    let guess = detector.guess(None, false);
    if damaged_utf8::is_damaged_utf8(&bytes, guess) {
        flaws.add("encoding", "utf-8", "bytes that are not UTF-8 were replaced");
        return Cow::Owned(String::from_utf8_lossy(&bytes).into_owned());
    }
    flaws.add("encoding", guess.name(), "the bytes are not UTF-8; this encoding was guessed");
    Cow::Owned(guess.decode_without_bom_handling(&bytes).0.into_owned())
}

/// Recognises UTF-16 without a byte order mark by a zero byte next to a first character `<`, space or line feed.
fn utf16_by_shape(bytes: &[u8]) -> Option<&'static Encoding> {
    match *bytes.first_chunk::<4>()? {
        [b'<' | b' ' | b'\n', 0, other, 0] if other != 0 => Some(UTF_16LE),
        [0, b'<' | b' ' | b'\n', 0, other] if other != 0 => Some(UTF_16BE),
        _ => None,
    }
}

/// Decodes UTF-32, which is recognised by its byte order mark or by the bytes of a leading `<`.
fn utf32(bytes: &[u8]) -> Option<String> {
    let read: fn([u8; 4]) -> u32 = match *bytes.first_chunk::<4>()? {
        [0xff, 0xfe, 0, 0] | [b'<', 0, 0, 0] => u32::from_le_bytes,
        [0, 0, 0xfe, 0xff] | [0, 0, 0, b'<'] => u32::from_be_bytes,
        _ => return None,
    };
    let text: String = bytes
        .chunks_exact(4)
        .filter_map(|chunk| chunk.first_chunk::<4>())
        .map(|chunk| char::from_u32(read(*chunk)).unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    Some(text)
}

/// Finds the encoding with this name. UTF-16 is not accepted, because the bytes of a UTF-16 document would already have revealed
/// it.
fn find_encoding(label: &str, flaws: &mut Flaws) -> Option<&'static Encoding> {
    let label = label.trim();
    let found = Encoding::for_label_no_replacement(label.as_bytes())
        .or_else(|| Encoding::for_label_no_replacement(find_alias(label)?.as_bytes()));
    if found.is_none() && !label.is_empty() {
        flaws.add_once("encoding", label, "unknown encoding");
    }
    found.filter(|encoding| *encoding != UTF_16LE && *encoding != UTF_16BE)
}

/// Returns the standard name for an encoding name that is missing from the WHATWG list.
fn find_alias(label: &str) -> Option<&'static str> {
    const ALIASES: [(&str, &str); 8] = [
        ("utf_8", "utf-8"),
        ("utf8mb4", "utf-8"),
        ("latin-1", "iso-8859-1"),
        ("latin_1", "iso-8859-1"),
        ("mac-cyrillic", "x-mac-cyrillic"),
        ("macroman", "macintosh"),
        ("cp932", "shift_jis"),
        ("cp936", "gbk"),
    ];
    ALIASES.iter().find(|(from, _)| label.eq_ignore_ascii_case(from)).map(|(_, to)| *to)
}

/// Returns the `charset` parameter of a `Content-Type` value.
pub(in crate::feed) fn charset_parameter(content_type: &str) -> Option<String> {
    if let Ok(media_type) = mediatype::MediaType::parse(content_type.trim()) {
        use mediatype::ReadParams as _;
        return media_type
            .get_param(mediatype::names::CHARSET)
            // Some servers put the charset in single quotes, which have no special meaning in a header.
            .map(|value| value.unquoted_str().trim_matches('\'').to_owned());
    }
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        name.trim().eq_ignore_ascii_case("charset").then(|| value.to_owned())
    })
}

/// Returns the encoding name in the XML declaration of a document.
fn declared_label(bytes: &[u8]) -> Option<&str> {
    let head = bytes.get(..DECLARATION_BYTES).unwrap_or(bytes);
    let start = memchr::memmem::find(head, b"<?xml")?;
    let declaration = head.get(start..)?;
    let declaration = declaration.get(..memchr::memchr(b'>', declaration)?)?;
    let after = declaration.get(memchr::memmem::find(declaration, b"encoding")? + 8..)?;
    let after = after.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let quote = *after.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let value = after.get(1..)?;
    let value = value.get(..memchr::memchr(quote, value)?)?;
    std::str::from_utf8(value).ok()
}

/// Removes characters that XML forbids or that could control a terminal or hide text (SPEC G.52): C0 and C1 controls, DEL and bidi
/// controls. Line ends and tabs are kept.
fn without_controls<'a>(text: Cow<'a, str>, flaws: &mut Flaws) -> Cow<'a, str> {
    if !may_hold_controls(text.as_bytes()) {
        return text;
    }
    flaws.add("document", "", REMOVED_CONTROLS);
    Cow::Owned(text::safe_text(&text).into_owned())
}

fn may_hold_controls(bytes: &[u8]) -> bool {
    // Branch-free code lets the compiler check many bytes of a chunk at a time.
    let control = |byte: u8| {
        let white = u8::from(byte == b'\n') | u8::from(byte == b'\r') | u8::from(byte == b'\t');
        (u8::from(byte < 0x20) & (white ^ 1)) | u8::from(byte == 0x7f)
    };
    bytes.chunks(1_024).any(|chunk| chunk.iter().fold(0, |found, byte| found | control(*byte)) != 0)
        || memchr::memchr3_iter(0xc2, 0xd8, 0xe2, bytes).any(|at| {
            matches!(
                bytes.get(at..).unwrap_or_default(),
                [0xc2, 0x80..=0x9f, ..]
                    | [0xd8, 0x9c, ..]
                    | [0xe2, 0x80, 0xaa..=0xae, ..]
                    | [0xe2, 0x81, 0xa6..=0xa9, ..]
            )
        })
}

#[cfg(test)]
mod tests {
    use crate::feed::encoding::decode::*;

    fn check(bytes: &[u8], content_type: Option<&str>, expected: &str) {
        let mut flaws = Flaws::default();
        assert_eq!(decode(bytes, content_type, &mut flaws), expected, "{flaws:?}");
    }

    #[test]
    fn a_byte_order_mark_outranks_every_statement() {
        check(b"\xef\xbb\xbf<a>\xc3\xa9</a>", Some("text/xml; charset=iso-8859-1"), "<a>é</a>");
        check(b"\xff\xfe<\0a\0>\0\xe9\0", Some("text/xml; charset=utf-8"), "<a>é");
        check(b"\0<\0a\0>\0\xe9", None, "<a>é");
        check(b"\0\0\xfe\xff\0\0\0<\0\0\0a", None, "\u{feff}<a");
    }

    #[test]
    fn the_http_charset_outranks_the_declaration_where_it_fits() {
        let russian = b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xc4\xc1</a>";
        check(
            russian,
            Some("text/xml; charset=\"koi8-r\""),
            "<?xml version='1.0' encoding='iso-8859-1'?><a>да</a>",
        );
        check(russian, None, "<?xml version='1.0' encoding='iso-8859-1'?><a>ÄÁ</a>");
    }

    #[test]
    fn contradicted_encoding_is_ignored() {
        check(
            "<?xml version='1.0' encoding='iso-8859-1'?>é".as_bytes(),
            None,
            "<?xml version='1.0' encoding='iso-8859-1'?>é",
        );
        check(
            b"<?xml version='1.0' encoding='utf-16'?><a>x</a>",
            None,
            "<?xml version='1.0' encoding='utf-16'?><a>x</a>",
        );
        check(
            b"<?xml version='1.0' encoding='iso-8859-1'?>\xe9",
            Some("a/b; charset=utf-8"),
            "<?xml version='1.0' encoding='iso-8859-1'?>é",
        );
        check(b"<a>caf\xe9 na\xefve</a>", None, "<a>café naïve</a>");
    }

    #[test]
    fn damaged_characters_do_not_break_utf8_documents() {
        let stated = Some("application/rss+xml; charset=utf-8");
        for content_type in [None, stated] {
            check(b"\xc3\xa9\xc3\xa8 \xff \xe2\x82\xac", content_type, "éè \u{fffd} €");
            check(b"Caf\xc3\xa9: Ren\xc3...", content_type, "Café: Ren\u{fffd}...");
            check(
                b"Caf\xc3\xa9: Jos\xe9 Garc\xeda",
                content_type,
                "Café: Jos\u{fffd} Garc\u{fffd}a",
            );
            check(
                b"Mayor\xe2\x80\x99s bri\xe2\x80... and ha\xe2\x80... and \xf0\x9f\x98...",
                content_type,
                "Mayor’s bri\u{fffd}... and ha\u{fffd}... and \u{fffd}...",
            );
        }
        let latin =
            b"<?xml version='1.0' encoding='iso-8859-1'?>\xc3\xa9\xc3\xa8\xc3\xa0\xc3\xaf \xe9.";
        check(latin, None, "<?xml version='1.0' encoding='iso-8859-1'?>éèàï \u{fffd}.");
    }

    #[test]
    fn surrogate_pairs_in_utf8_are_read_as_characters() {
        check(b"open \xed\xa0\xbd\xed\xb8\x80 \xc3\xa9", None, "open 😀 é");
        check(b"lone \xed\xa0\xbd. \xc3\xa9", None, "lone \u{fffd}. é");
    }

    #[test]
    fn other_encodings_that_state_utf8_are_guessed() {
        let stated = Some("text/xml; charset=utf-8");
        let russian = "В центре города открылся новый музей «Восток» и рынок";
        check(&encoding_rs::WINDOWS_1251.encode(russian).0, stated, russian);
        let chinese = "今天的新闻是关于城市中心的新博物馆和市场的开放时间";
        check(&encoding_rs::GBK.encode(chinese).0, stated, chinese);
        let polish =
            "Wsp\u{f3}\u{142}praca szk\u{f3}\u{142} i p\u{f3}\u{142}ka na ksi\u{105}\u{17c}ki";
        check(&encoding_rs::WINDOWS_1250.encode(polish).0, stated, polish);
        let declared = format!("<?xml version='1.0' encoding='iso-8859-2'?>{polish}");
        check(&encoding_rs::ISO_8859_2.encode(&declared).0, stated, &declared);
        let french = "Un caf\u{e9} \u{e0} la cr\u{e8}me, d\u{e9}j\u{e0} vu";
        check(&encoding_rs::WINDOWS_1252.encode(french).0, stated, french);
    }

    #[test]
    fn controls_are_removed_and_line_ends_kept() {
        check(b"a\x1b[31m\x00b\r\n\tc\x7f", None, "a[31mb\r\n\tc");
        check("x\u{81}\u{202e}y\u{61c}«\u{92}".as_bytes(), None, "xy«’");
    }
}

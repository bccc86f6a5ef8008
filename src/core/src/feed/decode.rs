//! Decodes the bytes of a document or a web page to text.

use std::borrow::Cow;

use chardetng::EncodingDetector;
use encoding_rs::{
    Encoding, ISO_8859_2, ISO_8859_4, ISO_8859_10, ISO_8859_13, ISO_8859_14, ISO_8859_15,
    ISO_8859_16, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1250, WINDOWS_1252, WINDOWS_1254, WINDOWS_1257,
    WINDOWS_1258,
};

use crate::feed::flaws::{Flaws, REMOVED_CONTROLS};
use crate::feed::text;

/// Maximum size of a document, in bytes (SPEC D.8). The rest of a larger document is dropped.
const BODY_BYTES_MAX: usize = 32 << 20;
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
            if encoding.is_single_byte() && is_clearly_utf8(bytes) {
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
    let bytes = join_surrogates(bytes);
    if let Ok(text) = std::str::from_utf8(&bytes) {
        flaws.add("encoding", "cesu-8", "surrogate pairs were read as the characters they mean");
        return Cow::Owned(text.to_owned());
    }
    let other = declared.filter(|encoding| *encoding != UTF_8);
    if let Some(encoding) = other.filter(|_| !is_clearly_utf8(&bytes)) {
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
    if is_damaged_utf8(&bytes, guess) {
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

/// Encodings of languages with Latin letters. In text in these encodings a non-ASCII letter is very rarely followed by a byte from
/// 0x80 to 0xBF, so even one intact UTF-8 character is strong evidence of UTF-8.
const LATIN: [&Encoding; 12] = [
    WINDOWS_1252,
    WINDOWS_1250,
    WINDOWS_1254,
    WINDOWS_1257,
    WINDOWS_1258,
    ISO_8859_2,
    ISO_8859_4,
    ISO_8859_10,
    ISO_8859_13,
    ISO_8859_14,
    ISO_8859_15,
    ISO_8859_16,
];
/// Maximum number of damaged characters per intact one in damaged UTF-8, if the alternative encoding is in [`LATIN`].
const DAMAGED_FOR_ONE: usize = 8;
/// Number of bytes among which at least one is not ASCII, if the text is in a non-Latin script.
const ASCII_FOR_ONE: usize = 32;

/// Checks whether bytes that are not valid UTF-8 are damaged UTF-8 rather than text in `other`, the most likely alternative
/// encoding.
fn is_damaged_utf8(bytes: &[u8], other: &'static Encoding) -> bool {
    let (whole, damaged) = count_characters(bytes);
    if whole > damaged {
        return true;
    }
    if whole == 0 {
        return false;
    }
    if LATIN.contains(&other) {
        return damaged <= whole.saturating_mul(DAMAGED_FOR_ONE);
    }
    let beyond_ascii = bytes.iter().filter(|byte| !byte.is_ascii()).count();
    beyond_ascii.saturating_mul(ASCII_FOR_ONE) < bytes.len()
}

/// Checks whether bytes are UTF-8 with few damaged characters. If so, a declared encoding can be ignored.
fn is_clearly_utf8(bytes: &[u8]) -> bool {
    let (whole, damaged) = count_characters(bytes);
    whole >= 4 && damaged.saturating_mul(4) <= whole
}

/// Returns the number of intact and of damaged non-ASCII characters. A quotation mark or dash that was cut after its second byte,
/// or an emoji that was cut after its third byte, counts as intact, because such byte sequences occur only in UTF-8.
fn count_characters(bytes: &[u8]) -> (usize, usize) {
    bytes.utf8_chunks().fold((0, 0), |(whole, damaged), chunk| {
        let more = chunk.valid().bytes().filter(|byte| *byte >= 0xc0).count();
        match chunk.invalid() {
            [] => (whole + more, damaged),
            [0xe2, 0x80..=0x82] | [0xf0, 0x9f, _] => (whole + more + 1, damaged),
            _ => (whole + more, damaged + 1),
        }
    })
}

/// Replaces surrogate pairs that were encoded separately (CESU-8) with the characters they represent, and lone surrogates with
/// U+FFFD.
fn join_surrogates(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::new();
    let mut copied = 0;
    for at in memchr::memchr_iter(0xed, bytes) {
        if at < copied {
            continue;
        }
        let Some(high) = surrogate(bytes, at) else { continue };
        let low = surrogate(bytes, at + 3).filter(|_| high < 0xdc00).filter(|low| *low >= 0xdc00);
        let code = low.map(|low| 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00));
        let meant = code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(bytes.get(copied..at).unwrap_or_default());
        out.extend_from_slice(meant.encode_utf8(&mut [0; 4]).as_bytes());
        copied = at + if code.is_some() { 6 } else { 3 };
    }
    if copied == 0 {
        return Cow::Borrowed(bytes);
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns the surrogate encoded in the three bytes at the offset `at`, if there is one.
fn surrogate(bytes: &[u8], at: usize) -> Option<u32> {
    match *bytes.get(at..)?.first_chunk::<3>()? {
        [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf] => {
            Some(0xd000 | (u32::from(second & 0x3f) << 6) | u32::from(third & 0x3f))
        }
        _ => None,
    }
}

/// Decodes a page with the first of these encodings that fits: the one of its byte order mark; UTF-16, recognised by its byte
/// pattern; UTF-8, if the bytes are valid UTF-8 and not plain ASCII, regardless of the declared charset; the declared charset;
/// windows-1252.
pub(in crate::feed) fn to_text(bytes: &[u8], declared: Option<&str>) -> String {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return decode_with(encoding, bytes.get(length..).unwrap_or_default());
    }
    match bytes {
        [0, b'<', ..] => return decode_with(UTF_16BE, bytes),
        [b'<', 0, ..] => return decode_with(UTF_16LE, bytes),
        _ => {}
    }
    let declared = declared
        .and_then(|label| Encoding::for_label(label.trim().as_bytes()))
        .filter(|encoding| *encoding != UTF_16BE && *encoding != UTF_16LE);
    match (std::str::from_utf8(bytes), declared) {
        (Ok(text), _) if !text.is_ascii() => text.to_owned(),
        (_, Some(encoding)) if encoding != UTF_8 => decode_with(encoding, bytes),
        (Ok(text), _) => text.to_owned(),
        // If there are several valid multi-byte characters before the first invalid byte, the text is damaged UTF-8. Otherwise it
        // is more likely in a Latin encoding.
        (Err(error), _) if is_mostly_utf8(bytes, error.valid_up_to()) => decode_with(UTF_8, bytes),
        (Err(_), _) => decode_with(WINDOWS_1252, bytes),
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

fn decode_with(encoding: &'static Encoding, bytes: &[u8]) -> String {
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

#[cfg(test)]
mod tests {
    use crate::feed::decode::*;

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
        check(&WINDOWS_1250.encode(polish).0, stated, polish);
        let declared = format!("<?xml version='1.0' encoding='iso-8859-2'?>{polish}");
        check(&ISO_8859_2.encode(&declared).0, stated, &declared);
        let french = "Un caf\u{e9} \u{e0} la cr\u{e8}me, d\u{e9}j\u{e0} vu";
        check(&WINDOWS_1252.encode(french).0, stated, french);
    }

    #[test]
    fn controls_are_removed_and_line_ends_kept() {
        check(b"a\x1b[31m\x00b\r\n\tc\x7f", None, "a[31mb\r\n\tc");
        check("x\u{81}\u{202e}y\u{61c}«\u{92}".as_bytes(), None, "xy«’");
    }
}

#[cfg(test)]
mod charset_tests {
    use crate::feed::decode::*;

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

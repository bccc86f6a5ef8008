//! Distinguishes UTF-8 with damaged characters from text in another encoding, and repairs separately encoded surrogate pairs.

use std::borrow::Cow;

use encoding_rs::{
    Encoding, ISO_8859_2, ISO_8859_4, ISO_8859_10, ISO_8859_13, ISO_8859_14, ISO_8859_15,
    ISO_8859_16, WINDOWS_1250, WINDOWS_1252, WINDOWS_1254, WINDOWS_1257, WINDOWS_1258,
};

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
pub(super) fn is_damaged_utf8(bytes: &[u8], other: &'static Encoding) -> bool {
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
pub(super) fn is_clearly_utf8(bytes: &[u8]) -> bool {
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
pub(super) fn join_surrogates(bytes: &[u8]) -> Cow<'_, [u8]> {
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

//! Tells UTF-8 with damaged characters from text in another encoding, and repairs surrogate pairs.

use std::borrow::Cow;

use encoding_rs::{
    Encoding, ISO_8859_2, ISO_8859_4, ISO_8859_10, ISO_8859_13, ISO_8859_14, ISO_8859_15,
    ISO_8859_16, WINDOWS_1250, WINDOWS_1252, WINDOWS_1254, WINDOWS_1257, WINDOWS_1258,
};

/// Encodings of languages in Latin letters. In them a letter beyond ASCII is hardly ever followed by a byte from 0x80
/// to 0xBF, so that one whole character of UTF-8 says much.
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
/// For each whole character so many may be damaged, if the other encoding is one of [`LATIN`].
const DAMAGED_FOR_ONE: usize = 8;
/// In a text in other letters at least one byte of so many is not ASCII.
const ASCII_FOR_ONE: usize = 32;

/// Whether bytes that are not valid UTF-8 are UTF-8 with damaged characters rather than text in `other`, the most
/// likely encoding otherwise.
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

/// Whether bytes are UTF-8 with few damaged characters, whatever they state.
pub(super) fn is_clearly_utf8(bytes: &[u8]) -> bool {
    let (whole, damaged) = count_characters(bytes);
    whole >= 4 && damaged.saturating_mul(4) <= whole
}

/// Counts the characters beyond ASCII that are whole, and the damaged ones. A quotation mark or dash that was cut after its
/// second byte, and an emoji that was cut after its third, count as whole: only UTF-8 has such beginnings.
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

/// Turns surrogate pairs that were encoded one by one (CESU-8) into the characters they mean, and surrogates without
/// their other half into U+FFFD.
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

/// The surrogate that is encoded in the three bytes at `at`.
fn surrogate(bytes: &[u8], at: usize) -> Option<u32> {
    match *bytes.get(at..)?.first_chunk::<3>()? {
        [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf] => {
            Some(0xd000 | (u32::from(second & 0x3f) << 6) | u32::from(third & 0x3f))
        }
        _ => None,
    }
}

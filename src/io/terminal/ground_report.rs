//! Decodes the report with which a terminal answers the question for its background colour (OSC 11 of xterm).

use crate::ui::theme::colours::is_light;

/// The beginning of the terminal's report of its background colour, after `ESC ]`.
const GROUND_REPORT: &[u8] = b"11;rgb:";

/// Maximum length of a report, bytes.
const REPORT_MAX: usize = 64;

/// Checks whether the bytes after `ESC ]` are the beginning of a report, and not keys.
fn is_report(rest: &[u8]) -> bool {
    let known = rest.len().min(GROUND_REPORT.len());
    rest.get(..known) == GROUND_REPORT.get(..known)
}

/// Returns the length of a report after `ESC ]` with its end, 0 if its end has not arrived, or `None` if it is no report.
pub(super) fn report_length(rest: &[u8]) -> Option<usize> {
    if !is_report(rest) {
        return None;
    }
    let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b));
    match end {
        Some(at) if rest.get(at) == Some(&0x07) => at.checked_add(1),
        Some(at) => match rest.get(at.saturating_add(1)) {
            Some(b'\\') => at.checked_add(2),
            Some(_) => None,
            None => Some(0),
        },
        None if rest.len() < REPORT_MAX => Some(0),
        None => None,
    }
}

/// Decodes a report of the background colour: `11;rgb:` and three hexadecimal numbers with one to four digits each. Returns `true` if
/// the colour is light.
pub(super) fn read_report(report: &[u8]) -> Option<bool> {
    let text = std::str::from_utf8(report.strip_prefix(GROUND_REPORT)?).ok()?;
    let text = text.trim_end_matches(['\u{7}', '\u{1b}', '\\']);
    let mut parts = text.split('/').map(|part| {
        let value = u32::from_str_radix(part, 16).ok().filter(|_| part.len() <= 4)?;
        let most = (1_u32 << (4 * part.len())).saturating_sub(1);
        u8::try_from(value.saturating_mul(255).checked_div(most)?).ok()
    });
    let mut part = || parts.next().flatten();
    let (red, green, blue) = (part()?, part()?, part()?);
    Some(is_light(red, green, blue))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_and_keys_are_not_reports() {
        for (bytes, length, light) in [
            ("11;rgb:1616/1818/1d1d\x1b\\", Some(23), Some(false)),
            ("11;rgb:ff/fa/f7\x07j", Some(16), Some(true)),
            ("11;rgb:f/f/f\x07", Some(13), Some(true)),
            ("11;rgb:fffff/f/f\x07", Some(17), None),
            ("11;rgb:ff/fa", Some(0), None),
            ("11;rgb:ff/fa/f7\x1b", Some(0), None),
            ("11;rgb:ff/fa/f7\x1bx", None, None),
            ("", Some(0), None),
            ("x", None, None),
            ("12;rgb:ff/fa/f7\x07", None, None),
        ] {
            assert_eq!(report_length(bytes.as_bytes()), length, "{bytes:?}");
            let report = length.and_then(|length| bytes.as_bytes().get(..length));
            assert_eq!(report.and_then(read_report), light, "{bytes:?}");
        }
    }
}

//! Decodes the report with which a terminal answers the question for its background colour (OSC 11 of xterm).

use crate::ui::theme::colours::is_light;

/// The beginning of the terminal's report of its background colour, after `ESC ]`.
const GROUND_REPORT: &[u8] = b"11;rgb:";

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
    fn reports_are_read_and_nothing_else() {
        for (report, light) in [
            ("11;rgb:1616/1818/1d1d\x1b\\", Some(false)),
            ("11;rgb:ff/fa/f7\x07", Some(true)),
            ("11;rgb:f/f/f\x07", Some(true)),
            ("11;rgb:fffff/f/f\x07", None),
            ("11;rgb:ff/fa\x07", None),
            ("12;rgb:ff/fa/f7\x07", None),
            ("\x07", None),
        ] {
            assert_eq!(read_report(report.as_bytes()), light, "{report:?}");
        }
    }
}

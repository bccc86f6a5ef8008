//! Classes of Unicode characters: which ones may reach a terminal (SPEC G.52), and which ones nobody sees.

/// Whether a character may stand in a text of several lines: no control and no bidi character but line ends and tabs.
pub(super) const fn is_harmless(c: char) -> bool {
    match c {
        ' '..='~' | '\n' | '\r' | '\t' => true,
        _ => c > '\u{9f}' && !is_bidi_control(c),
    }
}

/// Whether a character must not reach the screen: C0 and C1 controls, bidi controls, invisible
/// characters that can hide or reorder text, tags, and fillers that look like nothing.
///
/// Zero-width joiners and variation selectors may: scripts and emoji need them.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{AD}'
                | '\u{34F}'
                | '\u{61C}'
                | '\u{115F}'..='\u{1160}'
                | '\u{17B4}'..='\u{17B5}'
                | '\u{180B}'..='\u{180F}'
                | '\u{200B}'
                | '\u{200E}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{3164}'
                | '\u{FEFF}'
                | '\u{FFA0}'
                | '\u{FFF9}'..='\u{FFFC}'
                | '\u{1D173}'..='\u{1D17A}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}

/// Characters that change the direction of what follows them, and so can hide what a text says.
pub const fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

/// Invisible characters that are part of a script's spelling or of an emoji when they stand alone.
pub(super) const fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}')
}

/// Invisible characters that no visible text needs.
pub(super) const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
}

pub(super) const fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Which way an element moves its text off the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// `sup`.
    Up,
    /// `sub`.
    Down,
}

impl Shift {
    /// The shift of an element.
    pub(super) fn of(name: &str) -> Option<Self> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("sup") { Some(Self::Up) } else { is("sub").then_some(Self::Down) }
    }

    /// Writes `text` with the raised or lowered characters of Unicode. Words stay as they are (`4th`, `CO max`); what
    /// cannot be shifted but follows a letter or digit gets a sign before it (`x^a/b`).
    pub fn apply(self, text: &str, before: Option<char>) -> String {
        const PLAIN: &str = "0123456789+-−=()ni";
        const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ";
        const LOWERED: &str = "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₙᵢ";
        let (shifted, sign) = match self {
            Self::Up => (RAISED, '^'),
            Self::Down => (LOWERED, '_'),
        };
        let shift =
            |c: char| PLAIN.chars().zip(shifted.chars()).find(|(p, _)| *p == c).map(|(_, s)| s);
        let is_joined = before.is_some_and(char::is_alphanumeric);
        if text.chars().all(|c| c.is_ascii_digit())
            || (is_joined && text.chars().all(|c| shift(c).is_some()))
        {
            return text.chars().filter_map(shift).collect();
        }
        let is_word = text
            .chars()
            .all(|c| c.is_alphabetic() || c.is_whitespace() || "[](),*†‡®™".contains(c));
        if is_word || !is_joined { text.to_owned() } else { format!("{sign}{text}") }
    }
}

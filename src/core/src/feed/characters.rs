//! Unicode character classes: characters that may be written to a terminal (SPEC G.52) and characters that are invisible.

/// Checks whether a character is allowed in multi-line text. Control and bidi characters are not allowed, except line ends and
/// tabs.
pub(super) const fn is_harmless(c: char) -> bool {
    match c {
        ' '..='~' | '\n' | '\r' | '\t' => true,
        _ => c > '\u{9f}' && !is_bidi_control(c),
    }
}

/// Checks whether a character must not be displayed: C0 and C1 controls, bidi controls, tags, blank fillers and invisible
/// characters that can hide or reorder text.
///
/// Zero-width joiners and variation selectors are allowed, because scripts and emoji need them.
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

/// Checks for a character that changes the direction of the following text and can therefore disguise it.
pub const fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

/// Checks for an invisible character that scripts and emoji need. It is allowed only directly after a visible character.
pub(super) const fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}')
}

/// Checks for an invisible character that visible text never needs.
pub(super) const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Tells the tag characters that make a black flag the flag of a part of a country, such as Wales, from those that hide text.
#[derive(Debug, Default)]
pub struct FlagTags {
    /// Number of tag characters that may still follow: six letters and digits of the code, and its end.
    left: u8,
}

impl FlagTags {
    /// Checks whether the next character of a text is part of such a flag, behind the black flag.
    pub const fn admits(&mut self, c: char) -> bool {
        let admitted = self.left > 0
            && matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}' | '\u{e007f}');
        self.left = match c {
            '\u{1f3f4}' => 7,
            '\u{e007f}' => 0,
            _ if admitted => self.left.saturating_sub(1),
            _ => 0,
        };
        admitted
    }
}

pub(super) const fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Direction in which an HTML element shifts its text: up (superscript) or down (subscript).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// Superscript (`sup`).
    Up,
    /// Subscript (`sub`).
    Down,
}

impl Shift {
    /// Returns the direction in which an element with this name shifts its text, or `None` for all elements except `sup` and `sub`.
    pub(super) fn of(name: &str) -> Option<Self> {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("sup") { Some(Self::Up) } else { is("sub").then_some(Self::Down) }
    }

    /// Converts a text of a formula to superscript or subscript characters. Returns `None` if a character has no such form.
    pub(super) fn of_formula(self, text: &str) -> Option<String> {
        const RAISED: (&str, &str) = (
            "0123456789+-−=()abcdefghijklmnoprstuvwxyzTβγδθφχ",
            "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀᵝᵞᵟᶿᵠᵡ",
        );
        const LOWERED: (&str, &str) =
            ("0123456789+-−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ");
        let (plain, shifted) = if self == Self::Up { RAISED } else { LOWERED };
        let shift =
            |c: char| plain.chars().zip(shifted.chars()).find(|(p, _)| *p == c).map(|(_, s)| s);
        text.chars().map(shift).collect()
    }

    /// Converts `text` to Unicode superscript or subscript characters. Leaves words unchanged (`4th`, `CO max`). If text cannot be
    /// converted and `before`, the character before it, is a letter or digit, puts a sign before the text (`x^a/b`).
    pub fn apply(self, text: &str, before: Option<char>) -> String {
        let is_joined = before.is_some_and(char::is_alphanumeric);
        let is_sign = |c: char| c.is_ascii_digit() || (is_joined && "+-−=()ni".contains(c));
        if text.chars().all(is_sign)
            && let Some(shifted) = self.of_formula(text)
        {
            return shifted;
        }
        let sign = if self == Self::Up { '^' } else { '_' };
        let is_word = text
            .chars()
            .all(|c| c.is_alphabetic() || c.is_whitespace() || "[](),*†‡®™".contains(c));
        if is_word || !is_joined { text.to_owned() } else { format!("{sign}{text}") }
    }
}

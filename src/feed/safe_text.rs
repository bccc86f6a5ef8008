//! Which characters of a publisher's text may reach a screen (SPEC G.52).

/// A text fit for one line of the screen: white space collapsed, hidden characters dropped, cut to
/// `chars_max` characters (with an ellipsis).
pub fn one_line(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let mut gap = usize::from(!line.is_empty());
        for c in word.chars().filter(|&c| !is_hidden(c)) {
            if length + gap >= chars_max {
                line.push('…');
                return line;
            }
            if gap == 1 {
                line.push(' ');
                length += 1;
                gap = 0;
            }
            line.push(c);
            length += 1;
        }
    }
    line
}

/// Whether a character must not reach the screen: C0 and C1 controls, bidi controls, invisible
/// characters that can hide or reorder text, tags, and fillers that look like nothing.
///
/// Zero-width joiners and variation selectors stay: scripts and emoji need them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_bidi_controls_and_invisible_characters_are_dropped() {
        let text = "a\u{1b}[31mb\u{202e}c\u{200b}d\u{feff}e\u{e0041}f\u{9b}g\u{ad}h";
        assert_eq!(one_line(text, 100), "a[31mbcdefgh");
    }

    #[test]
    fn white_space_is_collapsed_and_trimmed() {
        assert_eq!(one_line(" \n a \t b\u{a0}\u{2003}c ", 100), "a b c");
        assert_eq!(one_line("a \u{200b} b", 100), "a b");
    }

    #[test]
    fn a_long_text_is_cut_with_an_ellipsis() {
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdef", 3), "abc…");
        assert_eq!(one_line("ab cd ef", 5), "ab cd…");
        assert_eq!(one_line("", 0), "");
    }

    #[test]
    fn joiners_that_scripts_and_emoji_need_are_kept() {
        assert_eq!(one_line("👩\u{200d}🚀 ❤\u{fe0f}", 10), "👩\u{200d}🚀 ❤\u{fe0f}");
    }
}

//! Text cut and padded by cells, as wide as a terminal shows it.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Cells a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The text, cut to `max` cells with an ellipsis if it is longer. Never cuts a character in two.
pub(super) fn cut(text: &str, max: usize) -> String {
    if text.width() <= max {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0_usize;
    for grapheme in text.graphemes(true) {
        let cells = grapheme.width();
        if used.saturating_add(cells).saturating_add(1) > max {
            break;
        }
        kept.push_str(grapheme);
        used = used.saturating_add(cells);
    }
    if max > 0 {
        kept.push('…');
    }
    kept
}

/// The text cut or padded with blanks to exactly `cells` cells.
pub(super) fn fit(text: &str, cells: usize) -> String {
    let mut fitted = cut(text, cells);
    let missing = cells.saturating_sub(fitted.width());
    fitted.extend(std::iter::repeat_n(' ', missing));
    fitted
}

/// `left` and `right` at the two ends of `cells` cells; `left` gives way.
pub(super) fn ends(left: &str, right: &str, cells: usize) -> String {
    let right = cut(right, cells);
    let gap = usize::from(!right.is_empty());
    let room = cells.saturating_sub(right.width().saturating_add(gap));
    format!(
        "{}{}{right}",
        fit(left, room),
        " ".repeat(gap.min(cells.saturating_sub(right.width())))
    )
}

/// The text in lines of at most `max` cells, broken between words; what does not fit into `lines` is cut.
pub(super) fn wrap(text: &str, max: usize, lines: usize) -> Vec<String> {
    let mut wrapped: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && wrapped.len() < lines {
        let last = wrapped.len().saturating_add(1) == lines;
        let at = if last || rest.width() <= max { rest.len() } else { break_within(rest, max) };
        let (line, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
        wrapped.push(cut(line.trim_end(), max));
        rest = behind.trim_start();
    }
    wrapped
}

/// Where a line of at most `max` cells ends: behind its last blank, else within the word.
fn break_within(text: &str, max: usize) -> usize {
    let mut used = 0_usize;
    let mut blank = None;
    for (at, grapheme) in text.grapheme_indices(true) {
        if grapheme == " " {
            blank = Some(at);
        }
        used = used.saturating_add(grapheme.width());
        if used > max {
            // A single sign wider than the line still has to go somewhere.
            return blank.filter(|&at| at > 0).unwrap_or(at.max(grapheme.len()));
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_are_never_cut_in_two() {
        assert_eq!(cut("漢字かな", 5), "漢字…");
        assert_eq!(cut("漢字かな", 4), "漢…");
        assert_eq!(fit("漢字かな", 4), "漢… ");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn the_left_end_gives_way() {
        assert_eq!(ends("Orchard Notes", "6  2h", 12), "Orcha… 6  2h");
        assert_eq!(ends("x", "", 4), "x   ");
        assert_eq!(ends("x", "long", 3), "lo…");
    }

    #[test]
    fn titles_are_broken_between_words_and_cut_at_the_last_line() {
        assert_eq!(
            wrap("Nine candidates for harbour master", 16, 4),
            ["Nine candidates", "for harbour", "master"]
        );
        assert_eq!(
            wrap("Nine candidates for harbour master", 16, 2),
            ["Nine candidates", "for harbour mas…"]
        );
        assert_eq!(wrap("abcdefgh", 3, 9), ["abc", "def", "gh"]);
        assert_eq!(wrap("漢字かな", 3, 9), ["漢", "字", "か", "な"]);
        assert_eq!(wrap("", 3, 9), Vec::<String>::new());
    }
}

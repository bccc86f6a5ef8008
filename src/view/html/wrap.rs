//! Wraps running text to lines of a given width in terminal cells, at the positions that Unicode allows (UAX #14).

use std::iter::Peekable;

use unicode_linebreak::linebreaks;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

pub(super) use crate::ui::reader::lines::cells;
use backissue_core::feed::characters::{FlagTags, is_hidden};

use super::model::{Look, Role, StyledLine, TextRun};

/// Maximum number of code points per grapheme. Further code points are dropped, because stacked marks would cover other lines.
const GRAPHEME_CHARS_MAX: usize = 12;

/// Columns between the tab stops of preformatted text.
const TAB_STOP: usize = 4;

/// Mark at the beginning of a line that continues a preformatted line.
const WRAP_MARK: &str = "↳ ";

#[derive(Debug, Clone, Copy)]
struct Atom<'a> {
    text: &'a str,
    cells: usize,
    look: Look,
    /// `true` if a line may end after this grapheme.
    break_after: bool,
}

impl Atom<'_> {
    fn is_space(&self) -> bool {
        self.text == " "
    }
}

/// Wraps running text to lines of at most `width` cells (`width` is at least 1).
pub(super) fn wrap(runs: &[TextRun], width: usize) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    for line in forced_lines(runs) {
        let text: String = line.iter().map(|run| run.text.as_str()).collect();
        fit(&atoms(&text, &line, width), width, &mut lines);
    }
    lines
}

/// Returns the lines of preformatted text, with tabs expanded. A line that does not fit is continued on the next line, after a
/// mark.
pub(super) fn keep(runs: &[TextRun], width: usize) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    for line in forced_lines(runs) {
        let line = expand_tabs(&line);
        let text: String = line.iter().map(|run| run.text.as_str()).collect();
        let atoms = atoms(&text, &line, width);
        let mark = if width > 2 * cells(WRAP_MARK) { WRAP_MARK } else { "" };
        let mut drawn = StyledLine::default();
        let mut used = 0;
        for atom in &atoms {
            if used + atom.cells > width {
                lines.push(std::mem::take(&mut drawn));
                if !mark.is_empty() {
                    drawn.spans.push(Look::with_role(Role::WrapMark).span(mark.to_owned()));
                }
                used = cells(mark);
            }
            draw(&mut drawn, atom);
            used += atom.cells;
        }
        lines.push(drawn);
    }
    lines
}

/// Returns the width of the widest word and the width of the widest line (without wrapping) of running text, in cells.
pub(super) fn extent(runs: &[TextRun]) -> (usize, usize) {
    let (mut widest_word, mut widest_line) = (0, 0);
    for line in forced_lines(runs) {
        let text: String = line.iter().map(|run| run.text.as_str()).collect();
        let (mut word, mut whole) = (0, 0);
        for atom in atoms(&text, &line, usize::MAX) {
            whole += atom.cells;
            word += if atom.is_space() { 0 } else { atom.cells };
            widest_word = widest_word.max(word);
            if atom.break_after {
                word = 0;
            }
        }
        widest_line = widest_line.max(whole);
    }
    (widest_word, widest_line)
}

/// Checks whether running text is right-to-left. The first letter of the text determines this.
pub(super) fn reads_leftwards(runs: &[TextRun]) -> bool {
    // Labels of links and pictures are generated, so they are not considered.
    let ours = |role| matches!(role, Role::LinkNumber | Role::Image | Role::Embed);
    let of_text = runs.iter().filter(|run| !ours(run.look.role));
    is_leftward(of_text.flat_map(|run| run.text.chars()))
}

/// Checks whether a text is right-to-left. Its first letter determines this.
pub(in crate::view) fn is_leftward(mut text: impl Iterator<Item = char>) -> bool {
    text.find(|c| c.is_alphabetic()).is_some_and(|letter| {
        // These code point ranges contain Hebrew, Arabic, Syriac, Thaana, N'Ko and other right-to-left scripts (Unicode,
        // DerivedBidiClass).
        matches!(letter, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFF}'
            | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
    })
}

/// Checks whether the language with this tag is written right-to-left.
pub(in crate::view) fn is_leftward_language(tag: &str) -> bool {
    const LANGUAGES: [&str; 13] =
        ["ar", "he", "iw", "fa", "ur", "yi", "ps", "sd", "ug", "dv", "ckb", "arc", "syr"];
    let language = tag.split(['-', '_']).next().unwrap_or_default().trim();
    LANGUAGES.iter().any(|known| language.eq_ignore_ascii_case(known))
}

/// Splits runs of text at their line feeds.
fn forced_lines(runs: &[TextRun]) -> Vec<Vec<TextRun>> {
    let mut lines = vec![Vec::new()];
    for run in runs {
        for (at, part) in run.text.split('\n').enumerate() {
            if at > 0 {
                lines.push(Vec::new());
            }
            if let (Some(line), false) = (lines.last_mut(), part.is_empty()) {
                line.push(TextRun { text: part.to_owned(), look: run.look });
            }
        }
    }
    lines
}

fn expand_tabs(line: &[TextRun]) -> Vec<TextRun> {
    let mut column = 0;
    let mut expanded = Vec::with_capacity(line.len());
    for run in line {
        let mut text = String::with_capacity(run.text.len());
        for (at, part) in run.text.split('\t').enumerate() {
            if at > 0 {
                let gap = TAB_STOP - column % TAB_STOP;
                text.extend(std::iter::repeat_n(' ', gap));
                column += gap;
            }
            text.push_str(part);
            column += cells(part);
        }
        expanded.push(TextRun { text, look: run.look });
    }
    expanded
}

/// Splits a line into graphemes. A grapheme that is wider than `width` is replaced by an ellipsis.
fn atoms<'a>(text: &'a str, line: &[TextRun], width: usize) -> Vec<Atom<'a>> {
    let mut breaks = linebreaks(text).map(|(at, _)| at).peekable();
    let mut looks = line.iter().map(|run| (run.text.len(), run.look));
    let (mut end, mut look) = looks.next().unwrap_or_default();
    let mut atoms = Vec::with_capacity(text.len());
    for (at, grapheme) in text.grapheme_indices(true) {
        while at >= end {
            let Some((length, next)) = looks.next() else { break };
            end += length;
            look = next;
        }
        let break_after = breaks_at(&mut breaks, at + grapheme.len());
        atoms.push(atom(grapheme, look, break_after, width));
    }
    atoms
}

fn breaks_at(breaks: &mut Peekable<impl Iterator<Item = usize>>, end: usize) -> bool {
    let mut found = false;
    while breaks.next_if(|&at| at <= end).map(|at| found = at == end).is_some() {}
    found
}

fn atom(grapheme: &str, look: Look, break_after: bool, width: usize) -> Atom<'_> {
    if grapheme == "\u{A0}" {
        // A no-break space stays distinct from normal spaces, which are dropped at the end of a line. It is drawn as a space.
        return Atom { text: "\u{A0}", cells: 1, look, break_after };
    }
    if grapheme.chars().all(is_hidden) {
        return Atom { text: "", cells: 0, look, break_after };
    }
    let end = grapheme.char_indices().nth(GRAPHEME_CHARS_MAX).map(|(at, _)| at);
    let text = end.and_then(|end| grapheme.get(..end)).unwrap_or(grapheme);
    let cells = text.width();
    if cells > width {
        return Atom { text: "…", cells: 1, look, break_after };
    }
    Atom { text, cells, look, break_after }
}

/// Distributes graphemes to lines, with as many words per line as fit. A word that is wider than a line is split.
fn fit(atoms: &[Atom<'_>], width: usize, lines: &mut Vec<StyledLine>) {
    let mut start = 0;
    let mut used = 0;
    // Index after the last grapheme where the line may end, and the width of the line up to this index, in cells.
    let mut last_break: Option<(usize, usize)> = None;
    for (at, atom) in atoms.iter().enumerate() {
        while used + atom.cells > width && !atom.is_space() && at > start {
            let (end, before) = last_break.take().unwrap_or((at, used));
            lines.push(drawn(atoms.get(start..end).unwrap_or_default()));
            start = end;
            used -= before;
        }
        used += atom.cells;
        if atom.break_after {
            last_break = Some((at + 1, used));
        }
    }
    lines.push(drawn(atoms.get(start..).unwrap_or_default()));
}

/// Creates a line from graphemes. Spaces at its end are dropped.
fn drawn(atoms: &[Atom<'_>]) -> StyledLine {
    let blanks = atoms.iter().rev().take_while(|atom| atom.is_space() || atom.text.is_empty());
    let length = atoms.len() - blanks.count();
    let mut line = StyledLine::default();
    for atom in atoms.iter().take(length) {
        draw(&mut line, atom);
    }
    line
}

/// Adds a grapheme to a line. If it has the same format as the last span, it is added to this span.
fn draw(line: &mut StyledLine, atom: &Atom<'_>) {
    let text = if atom.text == "\u{A0}" { " " } else { atom.text };
    if text.is_empty() {
        return;
    }
    let mut flags = FlagTags::default();
    let shown = text.chars().filter(|&c| flags.admits(c) || !is_hidden(c));
    let same = |span: &&mut super::model::StyledSpan| {
        let &mut super::model::StyledSpan { role, style, link, image, anchor, .. } = *span;
        Look { role, style, link, image, anchor } == atom.look
    };
    if let Some(span) = line.spans.last_mut().filter(same) {
        span.text.extend(shown);
    } else {
        line.spans.push(atom.look.span(shown.collect()));
    }
}

//! Converts a drawn screen into an SVG picture for the README.
//!
//! Text is placed in cells of one size; each run of one style is one `text` element with a stated length, so that any monospaced
//! font fits. Border characters are drawn as lines, so that they meet.

use std::fmt::Write as _;

use backissue::ui::theme::colours::rgb;
use backissue::ui::theme::theme_roles::Ink;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

/// Size of a cell, in units of the picture.
const CELL: (usize, usize) = (8, 18);
/// Distance from the top of a cell to the text baseline.
const BASE: usize = 13;
/// Margin around the screen.
const MARGIN: usize = 8;

/// The picture's colours for cells that use the terminal's default colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paper {
    /// Text colour.
    pub ink: (u8, u8, u8),
    /// Background colour.
    pub ground: (u8, u8, u8),
}

/// Draws a screen; `title` describes it for people who cannot see it.
pub fn svg(buffer: &Buffer, paper: Paper, title: &str) -> String {
    let mut svg = head((buffer.area.width, buffer.area.height), paper, title);
    draw_screen(&mut svg, buffer, paper);
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// A screen of a recording.
pub struct Frame {
    /// What was drawn.
    pub buffer: Buffer,
    /// Time for which it is shown, in tenths of a second.
    pub tenths: usize,
    /// A line below the screen.
    pub caption: String,
}

/// Draws a recording, which repeats for ever. Where pictures do not move, its first screen is shown.
pub fn film(frames: &[Frame], paper: Paper, title: &str) -> String {
    let first = frames.first().unwrap().buffer.area;
    let mut svg = head((first.width, first.height + 2), paper, title);
    let all: usize = frames.iter().map(|frame| frame.tenths).sum();
    let mut begin = 0;
    for frame in frames {
        let end = begin + frame.tenths;
        // A part of the whole time, in ten thousandths.
        let part = |tenths: usize| format!("0.{:04}", tenths * 10_000 / all);
        let (values, times) = match (begin, end == all) {
            (0, _) => ("inline;none".to_owned(), format!("0;{}", part(end))),
            (_, true) => ("none;inline".to_owned(), format!("0;{}", part(begin))),
            (_, false) => {
                let times = format!("0;{};{}", part(begin), part(end));
                ("none;inline;none".to_owned(), times)
            }
        };
        let hidden = if begin == 0 { "" } else { " display=\"none\"" };
        writeln!(
            svg,
            "<g{hidden}><animate attributeName=\"display\" values=\"{values}\" keyTimes=\"{times}\" \
             calcMode=\"discrete\" dur=\"{}.{}s\" repeatCount=\"indefinite\"/>",
            all / 10,
            all % 10
        )
        .unwrap();
        draw_screen(&mut svg, &frame.buffer, paper);
        let y = usize::from(first.height + 1) * CELL.1 + BASE;
        writeln!(
            svg,
            "<text x=\"{}\" y=\"{y}\" font-weight=\"bold\">{}</text></g>",
            CELL.0,
            escaped(&frame.caption)
        )
        .unwrap();
        begin = end;
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// Begins a picture with room for this number of columns and rows.
fn head((columns, rows): (u16, u16), paper: Paper, title: &str) -> String {
    let width = usize::from(columns).saturating_mul(CELL.0).saturating_add(2 * MARGIN);
    let height = usize::from(rows).saturating_mul(CELL.1).saturating_add(2 * MARGIN);
    let (ground, ink) = (hex(paper.ground), hex(paper.ink));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{ground}\"/>\n\
         <g transform=\"translate({MARGIN} {MARGIN})\" fill=\"{ink}\" stroke=\"none\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"13.3\" \
         xml:space=\"preserve\">\n",
        escaped(title)
    )
}

fn draw_screen(svg: &mut String, buffer: &Buffer, paper: Paper) {
    let columns = usize::from(buffer.area.width).max(1);
    for (row, cells) in buffer.content.chunks(columns).enumerate() {
        for stretch in stretches(cells) {
            draw(svg, row, &stretch, paper);
        }
    }
}

/// Adjacent cells of one row with the same style.
struct Stretch<'c> {
    column: usize,
    cells: usize,
    text: String,
    look: &'c Cell,
}

/// Splits a row into runs of one style; border characters are separate.
fn stretches(cells: &[Cell]) -> Vec<Stretch<'_>> {
    let mut stretches: Vec<Stretch<'_>> = Vec::new();
    let mut hidden = 0_usize;
    for (column, cell) in cells.iter().enumerate() {
        if hidden > 0 {
            hidden -= 1;
            continue;
        }
        let wide = cell.symbol().width().max(1);
        hidden = wide - 1;
        let same = stretches.last_mut().filter(|last| {
            last.look.style() == cell.style()
                && is_drawn(last.text.as_str()) == is_drawn(cell.symbol())
        });
        if let Some(last) = same {
            last.cells += wide;
            last.text.push_str(cell.symbol());
        } else {
            let text = cell.symbol().to_owned();
            stretches.push(Stretch { column, cells: wide, text, look: cell });
        }
    }
    stretches
}

/// Checks whether a text starts with a border character.
fn is_drawn(text: &str) -> bool {
    text.chars().next().is_some_and(|sign| arms(sign).is_some())
}

fn draw(svg: &mut String, row: usize, stretch: &Stretch<'_>, paper: Paper) {
    let reversed = stretch.look.modifier.contains(Modifier::REVERSED);
    let (ink, ground) = (seen(stretch.look.fg, paper.ink), seen(stretch.look.bg, paper.ground));
    let (ink, ground) = if reversed { (ground, ink) } else { (ink, ground) };
    let (x, y) = (stretch.column * CELL.0, row * CELL.1);
    let length = stretch.cells * CELL.0;
    if ground != paper.ground {
        let rect = format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{length}\" height=\"{}\" fill=\"{}\"/>\n",
            CELL.1,
            hex(ground)
        );
        svg.push_str(&rect);
    }
    if is_drawn(&stretch.text) {
        draw_lines(svg, stretch, (x, y), ink);
    } else if !stretch.text.trim().is_empty() {
        draw_text(svg, stretch, (x, y), (ink, paper.ink));
    }
}

fn draw_text(
    svg: &mut String,
    stretch: &Stretch<'_>,
    (x, y): (usize, usize),
    (ink, usual): (Rgb, Rgb),
) {
    let modifier = stretch.look.modifier;
    let underlined = modifier.contains(Modifier::UNDERLINED);
    let mut attributes = String::new();
    for (set, attribute) in [
        (modifier.contains(Modifier::BOLD), " font-weight=\"bold\""),
        (modifier.contains(Modifier::ITALIC), " font-style=\"italic\""),
        (underlined, " text-decoration=\"underline\""),
        (modifier.contains(Modifier::CROSSED_OUT), " text-decoration=\"line-through\""),
        (modifier.contains(Modifier::DIM), " opacity=\".65\""),
    ] {
        if set {
            attributes.push_str(attribute);
        }
    }
    if ink != usual {
        write!(attributes, " fill=\"{}\"", hex(ink)).ok();
    }
    let y = y + BASE;
    for (column, piece) in pieces(&stretch.text, !underlined) {
        let (x, length) = (x + column * CELL.0, piece.width() * CELL.0);
        let text = escaped(piece);
        writeln!(
            svg,
            "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\"{attributes}>{text}</text>"
        )
        .ok();
    }
}

/// Splits a text into pieces with their columns and without surrounding blanks; `apart` also splits at runs of blanks. Each piece
/// is then placed by its own column, with any font.
fn pieces(text: &str, apart: bool) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let mut column = 0;
    let mut rest = text;
    loop {
        let word = rest.trim_start_matches(' ');
        column += rest.len() - word.len();
        if word.is_empty() {
            return pieces;
        }
        let whole = word.trim_end_matches(' ').len();
        let end = if apart { word.find("  ").unwrap_or(whole) } else { whole };
        let (piece, behind) = word.split_at_checked(end).unwrap_or((word, ""));
        pieces.push((column, piece));
        column += piece.width();
        rest = behind;
    }
}

/// Draws a border character as lines from the middle of its cell to the cell's edges.
fn draw_lines(svg: &mut String, stretch: &Stretch<'_>, (x, y): (usize, usize), ink: Rgb) {
    let mut path = String::new();
    let (half, middle) = (CELL.0 / 2, CELL.1 / 2);
    let mut dashed = false;
    let mut signs = stretch.text.chars().enumerate().peekable();
    while let Some((place, sign)) = signs.next() {
        let Some((up, down, left, right)) = arms(sign) else { continue };
        dashed |= sign == '┄';
        let (at_x, at_y) = (x + place * CELL.0 + half, y + middle);
        if matches!(sign, '─' | '┄') {
            // A run of these is one line.
            let mut last = place;
            while let Some((next, _)) = signs.next_if(|(_, next)| *next == sign) {
                last = next;
            }
            write!(path, "M{} {at_y}H{}", at_x - half, x + (last + 1) * CELL.0).ok();
            continue;
        }
        for (reaches, to_x, to_y) in [
            (up, at_x, y),
            (down, at_x, y + CELL.1),
            (left, at_x - half, at_y),
            (right, at_x + half, at_y),
        ] {
            if reaches {
                write!(path, "M{at_x} {at_y}L{to_x} {to_y}").ok();
            }
        }
    }
    let heavy = if stretch.text.contains('┃') { "3" } else { "1" };
    let stroke = if dashed { " stroke-dasharray=\"3 2\"" } else { "" };
    writeln!(svg, "<path d=\"{path}\" stroke=\"{}\" stroke-width=\"{heavy}\"{stroke}/>", hex(ink))
        .ok();
}

/// Returns the edges (up, down, left, right) that a border character touches; `None` for other characters.
const fn arms(sign: char) -> Option<(bool, bool, bool, bool)> {
    Some(match sign {
        '─' | '┄' => (false, false, true, true),
        '│' | '┃' => (true, true, false, false),
        '┌' => (false, true, false, true),
        '┐' => (false, true, true, false),
        '└' => (true, false, false, true),
        '┘' => (true, false, true, false),
        '├' => (true, true, false, true),
        '┤' => (true, true, true, false),
        '┬' => (false, true, true, true),
        '┴' => (true, false, true, true),
        '┼' => (true, true, true, true),
        _ => return None,
    })
}

type Rgb = (u8, u8, u8);

/// Converts a colour to RGB; `own` is the terminal's default colour.
fn seen(colour: Color, own: Rgb) -> Rgb {
    const NAMED: [Color; 16] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    if let Color::Rgb(red, green, blue) = colour {
        return (red, green, blue);
    }
    if let Color::Indexed(number) = colour {
        return rgb(Ink::Indexed(number));
    }
    let place = NAMED.iter().position(|named| *named == colour);
    place.and_then(|place| u8::try_from(place).ok()).map_or(own, |number| rgb(Ink::Ansi(number)))
}

fn hex((red, green, blue): Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    const PAPER: Paper = Paper { ink: (1, 2, 3), ground: (255, 255, 255) };

    fn picture(text: &str, style: Style) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, text, style);
        svg(&buffer, PAPER, "a <picture>")
    }

    #[test]
    fn svg_text_has_its_cell_width_and_is_escaped() {
        let picture = picture(" 漢<b", Style::new().add_modifier(Modifier::BOLD));
        assert!(picture.contains("<title>a &lt;picture&gt;</title>"));
        let text = "<text x=\"8\" y=\"13\" textLength=\"32\" lengthAdjust=\"spacingAndGlyphs\" font-weight=\"bold\">漢&lt;b</text>";
        assert!(picture.contains(text), "{picture}");
    }

    #[test]
    fn words_far_apart_are_placed_separately() {
        assert_eq!(pieces("  a b   漢  c ", true), [(2, "a b"), (8, "漢"), (12, "c")]);
        assert_eq!(pieces("  a b   c ", false), [(2, "a b   c")]);
        assert_eq!(pieces("   ", true), []);
    }

    #[test]
    fn background_is_a_rectangle_and_reverse_swaps_colours() {
        let shown = picture("x", Style::new().bg(Color::Rgb(4, 5, 6)));
        assert!(shown.contains("width=\"8\" height=\"18\" fill=\"#040506\""), "{shown}");
        let shown = picture("x", Style::new().add_modifier(Modifier::REVERSED));
        assert!(
            shown.contains("fill=\"#010203\"/>") && shown.contains("fill=\"#ffffff\">x<"),
            "{shown}"
        );
        assert!(!picture("x", Style::new()).contains("<rect x="));
    }

    #[test]
    fn borders_are_lines_from_edge_to_edge() {
        let shown = picture("─┘", Style::new().fg(Color::Red));
        assert!(
            shown.contains("<path d=\"M0 9H8M12 9L12 0M12 9L8 9\" stroke=\"#cd0000\""),
            "{shown}"
        );
    }
}

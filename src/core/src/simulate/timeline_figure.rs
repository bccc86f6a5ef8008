//! The timelines of histories as text, at most 80 columns of ASCII characters, and as SVG, in the manner of [`super::figures`].

use super::figures::{BLUE, GREEN, GREY, LEFT, ORANGE, SvgPage, sign};
use crate::history::timeline::{EntrySource, LEVELS, MonthCell, Timeline};

/// Names of the months above the columns, each with the space before the next one.
pub const MONTHS: &str = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";

/// Command that writes the picture.
const COMMAND: &str = "history --figure";
/// Sign for missing entries.
const HOLE: &str = "!";
const VIOLET: &str = "#a855f7";
const PINK: &str = "#db2777";
/// Width of a month, and height of a year and of the highest bar in it, in pixels.
const CELL: (f64, f64) = (48.0, 34.0);
const BAR: (f64, f64) = (28.0, 26.0);

/// Returns a timeline as text.
pub fn timeline_text(timeline: &Timeline, title: &str) -> String {
    let mut lines = vec![title.to_owned(), String::new(), format!("      {MONTHS}  total")];
    for row in &timeline.years {
        let months: String = row.months.iter().map(text_cell).collect();
        lines.push(format!("{:>4} |{months}|{:>6}", row.year, row.entries));
    }
    lines.extend(timeline.before.clone());
    lines.push(timeline.legend(HOLE));
    lines.join("\n")
}

fn text_cell(month: &MonthCell) -> String {
    // Five shades for eight heights; the highest has the darkest.
    let shade = sign((month.level * 5).div_ceil(LEVELS)).repeat(2);
    let letter = month.source.map_or(' ', EntrySource::letter);
    let hole = if month.is_hole { HOLE } else { " " };
    if month.entries == 0 {
        format!("{}{hole}", hole.repeat(3))
    } else {
        format!("{shade}{letter}{hole}")
    }
}

/// Returns timelines, each with its title, as an SVG document.
pub fn timelines_svg(timelines: &[(String, Timeline)]) -> String {
    let mut page = SvgPage::default();
    for (title, timeline) in timelines {
        page.title(title);
        draw(&mut page, timeline);
    }
    page.document(COMMAND)
}

fn draw(page: &mut SvgPage, timeline: &Timeline) {
    let column = |month: u8| LEFT + f64::from(month) * CELL.0;
    for (month, name) in (0_u8..).zip(MONTHS.split_whitespace()) {
        page.text((column(month), page.height - 6.0), "start", name);
    }
    for row in &timeline.years {
        let bottom = page.height + CELL.1 - 4.0;
        page.text((LEFT - 8.0, bottom), "end", &row.year.to_string());
        for (month, cell) in (0_u8..).zip(&row.months) {
            draw_month(page, (column(month), bottom), cell);
        }
        page.text((column(12), bottom), "start", &row.entries.to_string());
        page.height += CELL.1;
    }
    for line in timeline.before.iter().cloned().chain([timeline.legend("dashed:")]) {
        page.text((LEFT, page.height + 18.0), "start", &line);
        page.height += 22.0;
    }
    page.height += 8.0;
}

/// Draws a month: a frame if something is missing, a bar, and the letter of its source.
fn draw_month(page: &mut SvgPage, (x, bottom): (f64, f64), month: &MonthCell) {
    if month.is_hole {
        let (y, width) = (bottom - BAR.1, CELL.0 - 4.0);
        page.put(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width}\" height=\"{}\" fill=\"none\" stroke=\"{GREY}\" stroke-dasharray=\"3 3\"/>",
            BAR.1
        ));
    }
    let Some(source) = month.source else { return };
    let height = BAR.1 * f64::from(month.level) / f64::from(LEVELS);
    let (y, colour) = (bottom - height, colour(source));
    page.put(&format!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{}\" height=\"{height:.1}\" fill=\"{colour}\"/>",
        BAR.0
    ));
    page.text((x + BAR.0 + 3.0, bottom - 1.0), "start", &source.letter().to_string());
}

const fn colour(source: EntrySource) -> &'static str {
    match source {
        EntrySource::Feed => BLUE,
        EntrySource::Archive => GREEN,
        EntrySource::Page => ORANGE,
        EntrySource::Copy => VIOLET,
        EntrySource::InternetArchive => PINK,
    }
}

//! The week in the plan pane: 7 x 24 hours, each with a sign for the interval in force.
//!
//! ```text
//!      0     6     12    18
//! Mon  ····█····█████████······
//! █ 30 min, · 4 h, × the publisher asks not to poll
//! ```

use ratatui::text::{Line, Span};

use super::plan_lines::heading;
use crate::ui::state::plan_pane::{WeekHour, WeekPicture};
use crate::view::{cells, theme};
use backissue_core::words::duration_words;

/// Symbols for up to five intervals, shortest interval first. Fewer intervals are spread over the whole range of symbols.
const SHADES: [&str; 5] = ["█", "▓", "▒", "░", "·"];
/// Symbols for more than five intervals, shortest interval first. The last symbol is used for all further intervals.
const LETTERS: [&str; 12] = ["█", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "…"];
/// Symbol for an hour in which the publisher requests no polls.
const SKIPPED: &str = "×";
/// Number of cells before the first hour, for the name of the day.
const DAY_CELLS: usize = 5;
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Returns the lines of the chart. Returns no lines if there is no chart, because all hours have the same interval.
pub(in crate::view) fn week_lines(week: Option<&WeekPicture>, width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let Some(week) = week else { return lines };
    heading(&mut lines, "The week");
    let breadth = if width >= DAY_CELLS.saturating_add(48) { 2 } else { 1 };
    let hours = (0..24_usize).step_by(6).map(|hour| cells::fit(&hour.to_string(), breadth * 6));
    let hours: String = hours.collect();
    lines.push(Line::styled(format!("{}{hours}", " ".repeat(DAY_CELLS)), theme::DIM));
    for (day, (name, hours)) in (0_usize..).zip(DAYS.into_iter().zip(week.hours.chunks(24))) {
        let mut spans = vec![Span::styled(cells::fit(name, DAY_CELLS), theme::DIM)];
        for (hour, cell) in (0_usize..).zip(hours) {
            let now = week.now == Some(day.saturating_mul(24).saturating_add(hour));
            let style = if now { theme::SELECTED } else { theme::TEXT };
            spans.push(Span::styled(sign(week, *cell).repeat(breadth), style));
        }
        lines.push(Line::from(spans));
    }
    lines.extend(legend(week, width));
    lines
}

fn sign(week: &WeekPicture, hour: WeekHour) -> &'static str {
    if hour.skipped {
        return SKIPPED;
    }
    let place = week.intervals.iter().position(|seconds| *seconds == hour.interval_seconds);
    interval_sign(place.unwrap_or(0), week.intervals.len())
}

/// Returns the symbol for an interval, given its index (shortest first) and the number of intervals.
fn interval_sign(place: usize, count: usize) -> &'static str {
    if count <= SHADES.len() {
        let last = SHADES.len().saturating_sub(1);
        let shade = place.saturating_mul(last).checked_div(count.saturating_sub(1)).unwrap_or(0);
        return SHADES.get(shade).copied().unwrap_or_default();
    }
    LETTERS.get(place).or(LETTERS.last()).copied().unwrap_or_default()
}

fn legend(week: &WeekPicture, width: usize) -> Vec<Line<'static>> {
    let intervals = (0_usize..).zip(&week.intervals).map(|(place, seconds)| {
        format!(
            "{} {}",
            interval_sign(place, week.intervals.len()),
            duration_words(i64::from(*seconds))
        )
    });
    let skipped = week.hours.iter().any(|hour| hour.skipped);
    let skipped = skipped.then(|| format!("{SKIPPED} the publisher asks not to poll"));
    let now = week.now.map(|_| "the marked hour is now".to_owned());
    let text = intervals.chain(skipped).chain(now).collect::<Vec<_>>().join(", ");
    let lines = cells::wrap(&text, width, 6);
    lines.into_iter().map(|line| Line::styled(line, theme::DIM)).collect()
}

#[cfg(test)]
mod tests {
    use crate::view::overlays::plan_week::*;

    fn text(lines: &[Line<'_>]) -> Vec<String> {
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_hour_has_the_sign_of_its_interval() {
        let hour = |place: usize| WeekHour {
            interval_seconds: if place % 24 == 4 { 1800 } else { 14_400 },
            skipped: place >= 6 * 24,
        };
        let hours = (0..168).map(hour).collect();
        let week = WeekPicture { hours, now: Some(4), intervals: vec![1800, 14_400] };
        let lines = text(&week_lines(Some(&week), 37));
        assert_eq!(lines[2], "     0     6     12    18    ");
        assert_eq!(lines[3], "Mon  ····█···················");
        assert_eq!(lines[9], "Sun  ××××××××××××××××××××××××");
        assert_eq!(lines[10], "█ 30 min, · 4 h, × the publisher asks");
        assert!(lines.iter().all(|line| cells::width(line) <= 37));
    }

    #[test]
    fn uniform_week_is_not_drawn() {
        assert!(week_lines(None, 40).is_empty());
    }
}

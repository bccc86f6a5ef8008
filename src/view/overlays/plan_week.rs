//! The week in the plan pane: 7 x 24 hours, each with a symbol for the interval that applies.
//!
//! ```text
//!      0     6     12    18
//! Mon  ····█····█████████······
//! █ 30 min, · 4 h, × the publisher asks not to poll
//! ```
//!
//! The rhythm in the plan pane: a summary, and a picture of the week with expected and past publications and polls.
//!
//! ```text
//!      0           6           12          18
//! Mon  · · · · · · ░ ░•█◉▓○░ · · · · · ░ ▒•█◉░ · · · ·
//! █ busiest hours (up to about 3 entries a week) … · almost none
//! • published, ○ polled in the coming week, ◉ both
//! ```

use backissue_core::words::duration_words;
use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::ui::keys::key_bindings::Keymap;
use crate::ui::state::overlay::{
    HourSelection, PlanPane, RhythmHour, RhythmPicture, WeekHour, WeekPicture,
};
use crate::view::{cells, theme};

/// Symbols for up to five intervals, shortest interval first. Fewer intervals are spread over the whole range of symbols.
const WEEK_SHADES: [&str; 5] = ["█", "▓", "▒", "░", "·"];
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
    lines.extend(week_legend(week, width));
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
    if count <= WEEK_SHADES.len() {
        let last = WEEK_SHADES.len().saturating_sub(1);
        let shade = place.saturating_mul(last).checked_div(count.saturating_sub(1)).unwrap_or(0);
        return WEEK_SHADES.get(shade).copied().unwrap_or_default();
    }
    LETTERS.get(place).or(LETTERS.last()).copied().unwrap_or_default()
}

fn week_legend(week: &WeekPicture, width: usize) -> Vec<Line<'static>> {
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

/// Symbols for the number of expected publications in an hour, from none to the most. They are distinguishable without colours.
const SHADES: [(&str, Style); 5] = [
    ("·", theme::DIM),
    ("░", theme::HEAT[0]),
    ("▒", theme::HEAT[1]),
    ("▓", theme::HEAT[2]),
    ("█", theme::HEAT[3]),
];

/// Returns the summary of the learned rhythm, and the chart of the week.
pub(in crate::view) fn rhythm_lines(shown: &PlanPane, ink: LineInk<'_>) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    heading(&mut lines, "When it posts");
    let Some(rhythm) = &shown.page.rhythm else {
        lines.push(Line::styled("…", theme::DIM));
        return lines;
    };
    if rhythm.publications == 0 {
        lines.extend(sentence(rhythm.unknown, ink.width, theme::DIM));
        return lines;
    }
    if let Some(learned) = &rhythm.sentence {
        let not = rhythm.not_followed.map(|why| format!(" (not followed: {why})"));
        let text = format!("{learned}{}", not.unwrap_or_default());
        lines.extend(sentence(&text, ink.width, theme::TEXT));
    }
    // The first coming poll is skipped, because the top of the pane already shows it.
    let times: Vec<String> = rhythm.coming.iter().skip(1).map(|at| instant(*at, ink)).collect();
    if !times.is_empty() {
        let text = format!("later polls: {}", times.join(", "));
        lines.extend(sentence(&text, ink.width, theme::TEXT));
    }
    lines.extend(picture(rhythm, None, ink.width));
    lines.extend(sentence(
        &ink.keys.words("{own-rule} sets an interval for hours that you mark"),
        ink.width,
        theme::DIM,
    ));
    lines
}

/// Returns the contents of the pane while the user is marking hours: the chart of the week, and instructions.
pub(in crate::view) fn outline_lines(
    shown: &PlanPane,
    outline: HourSelection,
    ink: LineInk<'_>,
) -> Vec<Line<'static>> {
    let ((first_day, last_day), (first_hour, last_hour)) = outline.bounds();
    let day = |day: u8| DAYS.get(usize::from(day)).copied().unwrap_or_default();
    let days = if first_day == last_day {
        day(first_day).to_owned()
    } else {
        format!("{} to {}", day(first_day), day(last_day))
    };
    let marked = format!("{days}, {first_hour}:00 to {}:00", last_hour.saturating_add(1));
    let mut lines = vec![Line::styled(marked, theme::HEADING)];
    let text = if outline.corner.is_some() {
        "arrows extend it, Enter sets an interval, Esc starts over"
    } else {
        "arrows move, Space marks the first corner, Enter edits your rule for this hour, Esc cancels"
    };
    lines.extend(sentence(text, ink.width, theme::TEXT));
    if let Some(rhythm) = &shown.page.rhythm {
        let (day_at, hour_at) = outline.cursor;
        let place = usize::from(day_at).saturating_mul(24).saturating_add(usize::from(hour_at));
        if let Some(hour) = rhythm.hours.get(place) {
            let text =
                format!("{} {hour_at}:00: {}", day(day_at), hour_words(*hour, rhythm.foretold));
            lines.extend(sentence(&text, ink.width, theme::HEADING));
        }
        lines.extend(picture(rhythm, Some(outline), ink.width));
    }
    lines
}

/// Describes the publications and polls of an hour in words.
fn hour_words(hour: RhythmHour, foretold: bool) -> String {
    let published = match hour.published {
        0 => "nothing published so far".to_owned(),
        1 => "1 entry published so far".to_owned(),
        more => format!("{more} entries published so far"),
    };
    let expected = match hour.expected {
        _ if !foretold => None,
        ..0.05 => Some("almost nothing expected".to_owned()),
        weekly => Some(format!("about {weekly:.1} expected a week")),
    };
    let polled = hour.polled.then(|| "polled in the coming week".to_owned());
    [Some(published), expected, polled].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn picture(
    rhythm: &RhythmPicture,
    outline: Option<HourSelection>,
    width: usize,
) -> Vec<Line<'static>> {
    let breadth = if width >= DAY_CELLS.saturating_add(48) { 2 } else { 1 };
    let hours = (0..24_usize).step_by(6).map(|hour| cells::fit(&hour.to_string(), breadth * 6));
    let hours: String = hours.collect();
    let mut lines = vec![Line::styled(format!("{}{hours}", " ".repeat(DAY_CELLS)), theme::DIM)];
    for (day, (name, hours)) in (0_usize..).zip(DAYS.into_iter().zip(rhythm.hours.chunks(24))) {
        let mut spans = vec![Span::styled(cells::fit(name, DAY_CELLS), theme::DIM)];
        for (hour, cell) in (0_usize..).zip(hours) {
            let place = day.saturating_mul(24).saturating_add(hour);
            let lit = match outline {
                Some(outline) => outline.contains(place),
                None => rhythm.now == place,
            };
            spans.extend(hour_spans(*cell, breadth == 2, lit));
        }
        lines.push(Line::from(spans));
    }
    for text in legend(rhythm, breadth == 2) {
        lines.extend(sentence(&text, width, theme::DIM));
    }
    lines
}

/// Draws one hour: its shade, and a mark for publications and polls. If there is only one cell per hour, the mark replaces the
/// shade.
fn hour_spans(hour: RhythmHour, wide: bool, lit: bool) -> Vec<Span<'static>> {
    let (sign, style) = SHADES.get(usize::from(hour.shade)).copied().unwrap_or_default();
    let mark = match (hour.published > 0, hour.polled) {
        (true, true) => "◉",
        (true, false) => "•",
        (false, true) => "○",
        (false, false) => " ",
    };
    let light = |style: Style| if lit { style.patch(theme::SELECTED) } else { style };
    if wide {
        return vec![Span::styled(sign, light(style)), Span::styled(mark, light(theme::TEXT))];
    }
    let sign = if hour.published > 0 { "•" } else { sign };
    vec![Span::styled(sign, light(style))]
}

fn legend(rhythm: &RhythmPicture, wide: bool) -> Vec<String> {
    let busiest = rhythm.busiest;
    let most = if !rhythm.foretold {
        "█ busiest hours so far".to_owned()
    } else if busiest >= 1.5 {
        format!("█ busiest hours (up to about {busiest:.0} entries a week)")
    } else if busiest >= 0.67 {
        "█ busiest hours (up to about one entry a week)".to_owned()
    } else {
        let weeks = (1.0 / busiest.max(1e-3)).round();
        format!("█ busiest hours (up to about one entry every {weeks:.0} weeks)")
    };
    let marks = if wide {
        "• published, ○ polled in the coming week, ◉ both; the marked hour is now"
    } else {
        "• published; the marked hour is now"
    };
    vec![format!("{most}; ▓ ▒ ░ fewer entries, · almost none"), marks.to_owned()]
}

/// Maximum number of screen lines that a sentence can take.
pub(in crate::view) const SENTENCE_LINES: usize = 12;

/// The context that determines how lines of the plan pane are formatted.
#[derive(Debug, Clone, Copy)]
pub(in crate::view) struct LineInk<'a> {
    /// Available width in columns.
    pub(in crate::view) width: usize,
    /// Time zone of the displayed times.
    pub(in crate::view) zone: Tz,
    /// Current time.
    pub(in crate::view) now: DateTime<Utc>,
    /// `true` if times include seconds.
    pub(in crate::view) seconds: bool,
    /// The keys of commands.
    pub(in crate::view) keys: &'a Keymap,
}

/// Formats a time as briefly as possible. For times within six days, the day of the week replaces the date. Seconds are included
/// only if `ink` requests them and they are not zero.
pub(in crate::view) fn instant(at: DateTime<Utc>, ink: LineInk<'_>) -> String {
    let near = at.signed_duration_since(ink.now).num_days().abs() < 6;
    let day = if near { "%a" } else { "%-d %b %Y" };
    let whole = !ink.seconds || at.timestamp().rem_euclid(60) == 0;
    let time = if whole { "%H:%M" } else { "%H:%M:%S" };
    at.with_timezone(&ink.zone).format(&format!("{day} {time}")).to_string()
}

/// Adds an empty line and a heading to `lines`.
pub(in crate::view) fn heading(lines: &mut Vec<Line<'static>>, text: &'static str) {
    lines.push(Line::default());
    lines.push(Line::styled(text, theme::HEADING));
}

/// Wraps a text into lines.
pub(in crate::view) fn sentence(text: &str, width: usize, style: Style) -> Vec<Line<'static>> {
    let lines = cells::wrap(text, width, SENTENCE_LINES);
    lines.into_iter().map(|line| Line::styled(line, style)).collect()
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

#[cfg(test)]
mod plan_rhythm_tests {
    use crate::view::overlays::plan_week::*;

    #[test]
    fn hour_is_described_in_words() {
        let hour =
            RhythmHour { published: 2, expected: 1.25, polled: true, ..RhythmHour::default() };
        let words =
            "2 entries published so far, about 1.2 expected a week, polled in the coming week";
        assert_eq!(hour_words(hour, true), words);
        let quiet = "nothing published so far, almost nothing expected";
        assert_eq!(hour_words(RhythmHour::default(), true), quiet);
        assert_eq!(hour_words(RhythmHour::default(), false), "nothing published so far");
    }

    #[test]
    fn each_hour_shows_expected_and_observed_entries() {
        let hours = (0..168).map(|hour| RhythmHour {
            published: u32::from(hour % 24 == 9),
            expected: 0.0,
            shade: if hour % 24 == 9 { 4 } else { 0 },
            polled: hour % 24 >= 9 && hour % 24 < 11,
        });
        let rhythm = RhythmPicture {
            publications: 7,
            unknown: "",
            sentence: Some("learned".into()),
            not_followed: None,
            coming: Vec::new(),
            hours: hours.collect(),
            foretold: true,
            busiest: 1.0,
            now: 0,
        };
        let text = |width: usize| -> Vec<String> {
            picture(&rhythm, None, width).iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            text(60)[1].trim_end(),
            format!("Mon  {}█◉·○{}", "· ".repeat(9), "· ".repeat(13)).trim_end()
        );
        assert_eq!(text(40)[1], format!("Mon  {}•{}", "·".repeat(9), "·".repeat(14)));
        assert!(text(29).iter().all(|line| cells::width(line) <= 29));
        assert_eq!(text(120).len(), 1 + 7 + 2);
    }
}

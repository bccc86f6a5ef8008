//! Draws the figures with ASCII characters, at most 80 to a line.

use super::figures::{Activity, Axes, DelayCurve, FigurePage, legend_name, ticks};
use super::policies::PollPolicy;

/// Characters for the shades of an hour, from nothing published to the busiest hour.
const SIGNS: [char; 6] = [' ', '.', ':', '+', '#', '@'];
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Columns for an hour.
const HOUR_COLUMNS: usize = 2;
/// Columns and lines of the area in which delays are plotted. Lines are a multiple of four, for four labels.
const PLOT: (usize, usize) = (66, 16);
/// Columns before that area.
const LABEL_COLUMNS: usize = 7;

impl FigurePage {
    /// Returns the figures as lines of text.
    pub fn text(&self) -> String {
        let activity = self.activity.as_ref().map(|activity| {
            let title =
                format!("Publications by hour and weekday ({}): {}", self.zone, self.subject);
            format!("{title}\n\n{}", activity_lines(activity))
        });
        let delays = self.delays.as_ref().map(|curves| {
            let title =
                format!("Average delay of entries for each number of polls: {}", self.subject);
            format!("{title}\n\n{}", delay_lines(curves))
        });
        activity.into_iter().chain(delays).collect::<Vec<_>>().join("\n\n")
    }
}

fn activity_lines(activity: &Activity) -> String {
    let hours = (0..24).step_by(6).map(|hour| format!("{hour:<width$}", width = 6 * HOUR_COLUMNS));
    let head = format!("     {}   total", hours.collect::<String>());
    let mut lines = vec![head];
    for (name, hours) in DAYS.into_iter().zip(activity.days()) {
        let total: u64 = hours.iter().map(|&count| u64::from(count)).sum();
        let signs = hours.iter().map(|&count| sign(activity.shade(count)).repeat(HOUR_COLUMNS));
        lines.push(format!("{name} |{}|{total:>7}", signs.collect::<String>()));
    }
    let legend = activity.legend().into_iter();
    let legend: Vec<String> =
        legend.map(|(shade, least)| format!("{} {least}", sign(shade))).collect();
    lines.push(if legend.is_empty() {
        "nothing was published".to_owned()
    } else {
        format!("publications in the hour, at least: {}", legend.join("   "))
    });
    lines.join("\n")
}

fn sign(shade: u32) -> String {
    let place = usize::try_from(shade).unwrap_or(usize::MAX);
    SIGNS.get(place).or(SIGNS.last()).copied().unwrap_or_default().to_string()
}

fn delay_lines(curves: &[DelayCurve]) -> String {
    let Some(axes) = Axes::of(curves) else {
        return "nothing was published in the test days".to_owned();
    };
    let (columns, rows) = PLOT;
    let mut plot = vec![vec![' '; columns]; rows + 1];
    // The fixed interval is drawn last, because it is the line with which the others are compared.
    for curve in curves.iter().rev() {
        for point in &curve.points {
            let row = rows - place(axes.up(point.delay), rows);
            let column = place(axes.across(point.polls_a_day), columns - 1);
            if let Some(cell) = plot.get_mut(row).and_then(|row| row.get_mut(column)) {
                *cell = mark(curve.policy);
            }
        }
    }
    let mut lines = vec![format!("{:>LABEL_COLUMNS$}", "min")];
    for (row, cells) in (0_u8..).zip(&plot) {
        let part = 1.0 - f64::from(row) / f64::from(u8::try_from(rows).unwrap_or(u8::MAX));
        let label = format!("{:.0}", axes.top * part);
        let label = if row % 4 == 0 { label } else { String::new() };
        let cells: String = cells.iter().collect();
        lines.push(format!("{label:>LABEL_COLUMNS$} |{cells}").trim_end().to_owned());
    }
    lines.push(format!("{:LABEL_COLUMNS$} +{}", "", "-".repeat(columns)));
    let mut labels = " ".repeat(LABEL_COLUMNS + 2);
    for tick in ticks(curves) {
        let text = format!("{tick:.0}");
        let column = LABEL_COLUMNS + 2 + place(axes.across(tick), columns - 1);
        let column = column.min(LABEL_COLUMNS + 2 + columns - text.len());
        if labels.len() <= column {
            labels = format!("{labels:column$}{text}");
        }
    }
    lines.push(labels);
    let names: Vec<String> = curves
        .iter()
        .map(|curve| format!("{} {}", mark(curve.policy), legend_name(curve.policy)))
        .collect();
    lines.push(format!("{:LABEL_COLUMNS$}  polls a day     {}", "", names.join("   ")));
    lines.join("\n")
}

/// Returns the place of a part of a range in `0..=last`.
fn place(part: f64, last: usize) -> usize {
    let last = f64::from(u32::try_from(last).unwrap_or(u32::MAX));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1 of a line")]
    let place = (part.clamp(0.0, 1.0) * last).round() as usize;
    place
}

const fn mark(policy: PollPolicy) -> char {
    match policy {
        PollPolicy::Linear => 'o',
        PollPolicy::Learned => '*',
        PollPolicy::Rules => '+',
        PollPolicy::EntryFrequency => 'x',
        PollPolicy::Aimd => '~',
    }
}

//! Figures about the publication times of feeds, in the manner of the paper on interval rules: the activity in each hour of the
//! week (its Figure 2), and the delay of entries for each number of polls. They are drawn with ASCII characters, at most 80 to a
//! line, and as SVG, without scripts, fonts or a background of its own.

use chrono::{DateTime, Datelike, Timelike};
use chrono_tz::Tz;

use super::policies::{Conditions, ExperimentInputs, PollPolicy, Poller};
use super::source::SimulatedFeed;
use super::week_rules::{DAY, WEEK, real, whole};
use crate::feed::outgoing::escaped_text;

/// Number of points in a curve of delays.
const POINTS: u32 = 9;
/// Number of shades for the activity in an hour; shade 0 means that nothing was published.
const SHADES: u32 = 5;

/// The figures of some feeds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FigurePage {
    /// What the figures show: the title of a feed, or a number of feeds.
    pub subject: String,
    /// Name of the time zone of the activity.
    pub zone: String,
    /// Publications in each hour of the week, if that figure is shown.
    pub activity: Option<Activity>,
    /// Curves of delays in the test weeks, if that figure is shown.
    pub delays: Option<Vec<DelayCurve>>,
}

/// Numbers of publications in the 168 hours of the week, starting on Monday at 00:00.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity(Vec<u32>);

impl Activity {
    /// Counts the publications of feeds in a time zone.
    pub fn of(feeds: &[SimulatedFeed], zone: Tz) -> Self {
        let mut hours = vec![0_u32; 168];
        for feed in feeds {
            let inside = feed.minutes.iter().filter(|at| (feed.start..=feed.end).contains(at));
            for minute in inside {
                // An entry is visible from the minute after its publication.
                let published = DateTime::from_timestamp((minute - 1) * 60, 0);
                let Some(local) = published.map(|at| at.with_timezone(&zone)) else { continue };
                let hour = local.weekday().num_days_from_monday() * 24 + local.hour();
                let hour = usize::try_from(hour).unwrap_or(0);
                if let Some(count) = hours.get_mut(hour) {
                    *count = count.saturating_add(1);
                }
            }
        }
        Self(hours)
    }

    /// Returns the numbers of the 24 hours of each day, Monday first.
    pub(super) fn days(&self) -> impl Iterator<Item = &[u32]> {
        self.0.chunks(24)
    }

    /// Returns the shade of an hour with this number of publications, relative to the busiest hour.
    pub(super) fn shade(&self, count: u32) -> u32 {
        let shade = u64::from(count) * u64::from(SHADES);
        u32::try_from(shade.div_ceil(u64::from(self.busiest().max(1)))).unwrap_or(SHADES)
    }

    /// Returns each shade that some number of publications has, and the smallest such number.
    pub(super) fn legend(&self) -> Vec<(u32, u32)> {
        let mut legend: Vec<(u32, u32)> = Vec::new();
        for shade in 1..=SHADES {
            let least = u64::from(self.busiest()) * u64::from(shade - 1) / u64::from(SHADES) + 1;
            let least = u32::try_from(least).unwrap_or(u32::MAX);
            if self.shade(least) == shade && least <= self.busiest() {
                legend.push((shade, least));
            }
        }
        legend
    }

    /// Returns the number of publications in the busiest hour of the week.
    pub(super) fn busiest(&self) -> u32 {
        self.0.iter().copied().max().unwrap_or(0)
    }
}

/// The delays of one policy, in the order of the number of polls.
#[derive(Debug, Clone, PartialEq)]
pub struct DelayCurve {
    /// The policy.
    pub policy: PollPolicy,
    /// The delay for each number of polls; a single point for a policy whose number of polls cannot be chosen.
    pub points: Vec<DelayPoint>,
}

/// The mean delay of entries with a number of polls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DelayPoint {
    /// Mean number of polls a day.
    pub polls_a_day: f64,
    /// Mean time from the publication of an entry to the poll that finds it, in minutes.
    pub delay: f64,
}

impl DelayCurve {
    /// Returns the curves of a feed in the test weeks, for policies trained in the training weeks: a fixed interval, the learned
    /// plan, and the interval rules that the training weeks suggest. Returns `None` if nothing was published in the test weeks.
    pub fn of_feed(feed: &SimulatedFeed, conditions: &Conditions) -> Option<Vec<Self>> {
        let window = conditions.test(feed);
        let days = whole(window.end - window.start) / whole(DAY);
        let point = |policy, polls_per_week| {
            let given = ExperimentInputs { rules: None, polls_per_week };
            let poller = Poller::for_training(policy, feed, conditions, given);
            let figures = poller.figures(feed, window)?;
            // A run begins with a poll, so on average it has half a poll more than its length implies.
            let polls_a_day = (figures.polls - 0.5) / days.max(1e-9);
            Some(DelayPoint { polls_a_day, delay: figures.delay })
        };
        let (fewest, most) =
            (whole(WEEK) / whole(conditions.max), whole(WEEK) / whole(conditions.min));
        let budget =
            |number: u32| fewest * (most / fewest).powf(f64::from(number) / f64::from(POINTS - 1));
        let curve = |policy| {
            let points: Option<_> =
                (0..POINTS).map(|number| point(policy, Some(budget(number)))).collect();
            Some(Self { policy, points: points? })
        };
        let rules =
            Self { policy: PollPolicy::Rules, points: vec![point(PollPolicy::Rules, None)?] };
        Some(vec![curve(PollPolicy::Linear)?, curve(PollPolicy::Learned)?, rules])
    }

    /// Returns the means of the curves of feeds, each point by itself.
    pub fn mean(feeds: &[Vec<Self>]) -> Vec<Self> {
        let Some(first) = feeds.first() else { return Vec::new() };
        let mean = |curve: usize, point: usize| {
            let points = feeds.iter().filter_map(|curves| curves.get(curve)?.points.get(point));
            let sum = points.fold((0.0, 0.0), |(polls, delay), point| {
                (polls + point.polls_a_day, delay + point.delay)
            });
            let count = real(feeds.len());
            DelayPoint { polls_a_day: sum.0 / count, delay: sum.1 / count }
        };
        let curves = first.iter().enumerate().map(|(number, curve)| Self {
            policy: curve.policy,
            points: (0..curve.points.len()).map(|point| mean(number, point)).collect(),
        });
        curves.collect()
    }
}

/// Returns the name of a policy in the legend of a figure.
const fn legend_name(policy: PollPolicy) -> &'static str {
    match policy {
        PollPolicy::Linear => "fixed interval",
        PollPolicy::Learned => "learned plan",
        PollPolicy::Rules => "interval rules",
        PollPolicy::EntryFrequency | PollPolicy::Aimd => policy.word(),
    }
}

/// The ranges of the axes of a figure of delays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Axes {
    fewest: f64,
    most: f64,
    /// Delay at the top, in minutes: a multiple of 20, so that quarters are multiples of 5.
    pub(super) top: f64,
}

impl Axes {
    /// Returns the axes on which all points of the curves fit; `None` if there are no points.
    pub(super) fn of(curves: &[DelayCurve]) -> Option<Self> {
        let points = || curves.iter().flat_map(|curve| &curve.points);
        points().next()?;
        let polls = || points().map(|point| point.polls_a_day.max(1e-3));
        let highest = points().map(|point| point.delay).fold(0.0, f64::max);
        Some(Self {
            fewest: polls().fold(f64::INFINITY, f64::min),
            most: polls().fold(0.0, f64::max),
            top: ((highest / 20.0).ceil() * 20.0).max(20.0),
        })
    }

    /// Returns the position of a number of polls on the logarithmic axis, from 0 to 1.
    pub(super) fn across(&self, polls_a_day: f64) -> f64 {
        let whole = (self.most / self.fewest).ln();
        let part = (polls_a_day.max(1e-3) / self.fewest).ln();
        if whole > 1e-9 { (part / whole).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the height of a delay, from 0 to 1.
    pub(super) fn up(&self, delay: f64) -> f64 {
        (delay / self.top).clamp(0.0, 1.0)
    }
}

/// Returns every second number of polls of the first curve, for the labels of the axis.
pub(super) fn ticks(curves: &[DelayCurve]) -> impl Iterator<Item = f64> {
    let points = curves.first().map_or(&[][..], |curve| &curve.points);
    points.iter().step_by(2).map(|point| point.polls_a_day)
}

/// Characters for the shades of an hour, from nothing published to the busiest hour.
const SIGNS: [char; 6] = [' ', '.', ':', '+', '#', '@'];
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Columns for an hour.
const HOUR_COLUMNS: usize = 2;
/// Columns and lines of the area in which delays are plotted. Lines are a multiple of four, for four labels.
const PLOT_CELLS: (usize, usize) = (66, 16);
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

pub(super) fn sign(shade: u32) -> String {
    let place = usize::try_from(shade).unwrap_or(usize::MAX);
    SIGNS.get(place).or(SIGNS.last()).copied().unwrap_or_default().to_string()
}

fn delay_lines(curves: &[DelayCurve]) -> String {
    let Some(axes) = Axes::of(curves) else {
        return "nothing was published in the test days".to_owned();
    };
    let (columns, rows) = PLOT_CELLS;
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

/// The element by which a file with figures is recognised; the name of the command follows.
pub const FIGURE_MARK: &str = "<desc>backissue ";
/// Colour of texts and axes: its contrast is above 4.5 on white and on black.
pub(super) const GREY: &str = "#767676";
pub(super) const BLUE: &str = "#3b82f6";
pub(super) const ORANGE: &str = "#d97706";
pub(super) const GREEN: &str = "#059669";
/// Width of the picture and of its left margin, in pixels.
const WIDTH: f64 = 720.0;
pub(super) const LEFT: f64 = 52.0;
/// Width and height of an hour in the activity.
const CELL: (f64, f64) = (27.0, 22.0);
/// Width and height of the area in which delays are plotted.
const PLOT: (f64, f64) = (648.0, 260.0);
/// Height of a title with the labels below it, and of the labels and the legend below a figure.
const ABOVE: f64 = 60.0;
const BELOW: f64 = 60.0;

impl FigurePage {
    /// Returns the figures as an SVG document.
    pub fn svg(&self) -> String {
        let mut page = SvgPage::default();
        if let Some(activity) = &self.activity {
            page.title(&format!(
                "Publications by hour and weekday ({}): {}",
                self.zone, self.subject
            ));
            page.activity(activity);
        }
        if let Some(curves) = &self.delays {
            page.title(&format!(
                "Average delay of entries for each number of polls: {}",
                self.subject
            ));
            page.delays(curves);
        }
        page.document("simulate --figure")
    }
}

/// A growing picture: its elements, and its height so far in pixels.
#[derive(Debug, Default)]
pub(super) struct SvgPage {
    elements: String,
    pub(super) height: f64,
}

impl SvgPage {
    /// Returns the document that a command writes.
    pub(super) fn document(&self, command: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"13\" fill=\"{GREY}\" role=\"img\">\n{FIGURE_MARK}{command}</desc>\n{elements}</svg>\n",
            height = self.height,
            elements = self.elements
        )
    }

    pub(super) fn put(&mut self, element: &str) {
        self.elements.push_str(element);
        self.elements.push('\n');
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: &str, text: &str) {
        let text = escaped_text(text);
        self.put(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    pub(super) fn title(&mut self, title: &str) {
        self.text((LEFT, self.height + 24.0), "start", title);
        self.height += ABOVE;
    }

    fn activity(&mut self, activity: &Activity) {
        let top = self.height;
        for (number, hour) in (0_u8..24).step_by(3).zip(0_u8..) {
            let x = LEFT + f64::from(hour) * 3.0 * CELL.0;
            self.text((x, top - 6.0), "start", &format!("{number}"));
        }
        for (day, (name, hours)) in (0_u8..).zip(DAYS.into_iter().zip(activity.days())) {
            let y = top + f64::from(day) * CELL.1;
            self.text((LEFT - 8.0, y + 15.0), "end", name);
            for (hour, &count) in (0_u8..).zip(hours) {
                let x = LEFT + f64::from(hour) * CELL.0;
                self.cell((x, y), activity.shade(count));
            }
        }
        let y = top + 7.0 * CELL.1 + 16.0;
        let mut x = LEFT;
        self.text((x, y + 15.0), "start", "publications in the hour, at least:");
        x += 230.0;
        for (shade, least) in activity.legend() {
            self.cell((x, y), shade);
            self.text((x + CELL.0 + 6.0, y + 15.0), "start", &least.to_string());
            x += 80.0;
        }
        self.height = y + BELOW - 16.0;
    }

    /// Draws an hour; the opacity is its shade.
    fn cell(&mut self, (x, y): (f64, f64), shade: u32) {
        let opacity = 0.07 + 0.93 * f64::from(shade) / f64::from(SHADES);
        let (width, height) = (CELL.0 - 1.0, CELL.1 - 1.0);
        self.put(&format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width}\" height=\"{height}\" fill=\"{BLUE}\" fill-opacity=\"{opacity:.2}\"/>"
        ));
    }

    fn delays(&mut self, curves: &[DelayCurve]) {
        let (top, bottom) = (self.height, self.height + PLOT.1);
        let Some(axes) = Axes::of(curves) else {
            self.text((LEFT, top), "start", "nothing was published in the test days");
            self.height += BELOW;
            return;
        };
        self.text((LEFT - 8.0, top - 14.0), "end", "min");
        for quarter in 0..=4_u8 {
            let part = f64::from(quarter) / 4.0;
            let y = bottom - part * PLOT.1;
            self.text((LEFT - 8.0, y + 4.0), "end", &format!("{:.0}", axes.top * part));
            self.put(&format!(
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{GREY}\" stroke-opacity=\"0.4\"/>",
                LEFT + PLOT.0
            ));
        }
        for tick in ticks(curves) {
            let x = LEFT + axes.across(tick) * PLOT.0;
            self.text((x, bottom + 18.0), "middle", &format!("{tick:.0}"));
        }
        let mut x = LEFT + 130.0;
        self.text((LEFT, bottom + 42.0), "start", "polls a day");
        for curve in curves {
            let points: Vec<(f64, f64)> = curve
                .points
                .iter()
                .map(|point| {
                    let x = LEFT + axes.across(point.polls_a_day) * PLOT.0;
                    (x, bottom - axes.up(point.delay) * PLOT.1)
                })
                .collect();
            self.curve(curve.policy, &points);
            self.mark(curve.policy, (x, bottom + 38.0));
            self.text((x + 12.0, bottom + 42.0), "start", legend_name(curve.policy));
            x += 150.0;
        }
        self.height = bottom + BELOW;
    }

    fn curve(&mut self, policy: PollPolicy, points: &[(f64, f64)]) {
        let colour = colour(policy);
        let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        if line.len() > 1 {
            self.put(&format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                line.join(" ")
            ));
        }
        for point in points {
            self.mark(policy, *point);
        }
    }

    /// Draws a point. Its form distinguishes the curves without colours.
    fn mark(&mut self, policy: PollPolicy, (x, y): (f64, f64)) {
        let colour = colour(policy);
        self.put(&match policy {
            PollPolicy::Linear => {
                format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>")
            }
            PollPolicy::Learned => {
                format!("<path d=\"M{x:.1} {y:.1}m-4 -4h8v8h-8z\" fill=\"{colour}\"/>")
            }
            PollPolicy::Rules | PollPolicy::EntryFrequency | PollPolicy::Aimd => {
                format!("<path d=\"M{x:.1} {y:.1}m0 -6l6 11h-12z\" fill=\"{colour}\"/>")
            }
        });
    }
}

const fn colour(policy: PollPolicy) -> &'static str {
    match policy {
        PollPolicy::Linear => ORANGE,
        PollPolicy::Learned => BLUE,
        PollPolicy::Rules | PollPolicy::EntryFrequency | PollPolicy::Aimd => GREEN,
    }
}

//! Draws the figures as SVG: a self-contained document without scripts, fonts or a background of its own. All colours are readable
//! on light and on dark backgrounds.

use super::figures::{Activity, Axes, DelayCurve, FigurePage, SHADES, legend_name, ticks};
use super::policies::PollPolicy;
use crate::feed::outgoing::escaped_text;

/// The element by which a file with figures is recognised.
pub const FIGURE_MARK: &str = "<desc>backissue simulate --figure</desc>";
/// Colour of texts and axes: its contrast is above 4.5 on white and on black.
const GREY: &str = "#767676";
const BLUE: &str = "#3b82f6";
const ORANGE: &str = "#d97706";
const GREEN: &str = "#059669";
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Width of the picture and of its left margin, in pixels.
const WIDTH: f64 = 720.0;
const LEFT: f64 = 52.0;
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
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"13\" fill=\"{GREY}\" role=\"img\">\n{FIGURE_MARK}\n{elements}</svg>\n",
            height = page.height,
            elements = page.elements
        )
    }
}

/// A growing picture: its elements, and its height so far in pixels.
#[derive(Debug, Default)]
struct SvgPage {
    elements: String,
    height: f64,
}

impl SvgPage {
    fn put(&mut self, element: &str) {
        self.elements.push_str(element);
        self.elements.push('\n');
    }

    fn text(&mut self, (x, y): (f64, f64), anchor: &str, text: &str) {
        let text = escaped_text(text);
        self.put(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    fn title(&mut self, title: &str) {
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

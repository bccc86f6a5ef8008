//! Tests of the paper's table and figures with fixed publication times.

use chrono_tz::Tz;

use super::*;

/// The Monday 2026-01-05T00:00:00Z, in minutes since 1970.
const MONDAY: i64 = 1_767_571_200 / 60;
const DAY: i64 = 1440;
const CONDITIONS: Conditions =
    Conditions { min: 15, max: 240, train_days: 42, shifts: 5, jitter: false };

fn feed(name: &str, minutes: impl Iterator<Item = i64>) -> SimulatedFeed {
    SimulatedFeed {
        name: name.into(),
        start: MONDAY,
        end: MONDAY + 56 * DAY,
        minutes: minutes.map(|minute| MONDAY + minute).collect(),
        panel: String::new(),
    }
}

/// Returns a newsdesk that publishes every half hour from 9 to 15 on working days, and an almanac that publishes daily at 6.
fn feeds() -> [SimulatedFeed; 2] {
    let working_days = (0..56).filter(|day| day % 7 < 5);
    let desk = working_days
        .flat_map(|day| (0..12).map(move |number| day * DAY + 541 + number * 30 + day % 7 * 3));
    [feed("Newsdesk", desk), feed("Almanac & <Sons>", (0..56).map(|day| day * DAY + 361))]
}

fn page(feeds: &[SimulatedFeed], subject: &str) -> FigurePage {
    let curves = feeds.iter().filter_map(|feed| DelayCurve::of_feed(feed, &CONDITIONS));
    FigurePage {
        subject: subject.into(),
        zone: "UTC".into(),
        activity: Some(Activity::of(feeds, Tz::UTC)),
        delays: Some(DelayCurve::mean(&curves.collect::<Vec<_>>())),
    }
}

#[test]
fn table_three_compares_a_schedule_with_a_fixed_interval() {
    let wanted = Wanted { training: true, ..Wanted::default() };
    let score = |feed: &SimulatedFeed| {
        let given = ExperimentInputs::default();
        let outcome = experiment(feed, &[PollPolicy::Rules], &CONDITIONS, given, wanted);
        let (trained, tested) = outcome.scores[0];
        (trained.unwrap(), tested.unwrap())
    };
    let scores: Vec<(Score, Score)> = feeds().iter().map(score).collect();
    insta::assert_snapshot!("paper_table", paper_table("all 2 feeds", &scores).unwrap());
    assert_eq!(paper_table("none", &[]), None);
}

#[test]
fn figures_are_drawn_with_ascii_in_80_columns() {
    let text = page(&feeds(), "2 feeds").text();
    assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 80), "{text}");
    insta::assert_snapshot!("figures_text", text);
}

#[test]
fn figures_are_drawn_as_self_contained_svg() {
    let [_, almanac] = feeds();
    let svg = page(std::slice::from_ref(&almanac), &almanac.name).svg();
    assert!(svg.contains(FIGURE_MARK) && svg.contains("Almanac &amp; &lt;Sons&gt;"), "{svg}");
    for outside in ["<script", "href", "url(", "font-family=\"A"] {
        assert!(!svg.contains(outside), "{outside}");
    }
    insta::assert_snapshot!("figures_svg", svg);
}

#[test]
fn activity_is_counted_in_the_zone_shown() {
    let [_, almanac] = feeds();
    for (zone, hour) in [(Tz::UTC, 6), (Tz::Asia__Tokyo, 15), (Tz::America__New_York, 1)] {
        let activity = Activity::of(std::slice::from_ref(&almanac), zone);
        let busy: Vec<usize> = activity
            .days()
            .filter_map(|hours| hours.iter().position(|&count| count == 8))
            .collect();
        assert_eq!(busy, [hour; 7], "{zone}");
    }
}

#[test]
fn longer_intervals_mean_longer_delays() {
    let [desk, almanac] = feeds();
    let curves = DelayCurve::of_feed(&desk, &CONDITIONS).unwrap();
    assert_eq!(curves.iter().map(|curve| curve.points.len()).collect::<Vec<_>>(), [9, 9, 1]);
    let [fewest, most] = [curves[0].points[0], curves[0].points[8]];
    assert!((fewest.polls_a_day - 6.0).abs() < 0.3 && (most.polls_a_day - 96.0).abs() < 1.0);
    assert!(fewest.delay > 5.0 * most.delay, "{curves:?}");
    let learned = DelayCurve::of_feed(&almanac, &CONDITIONS).unwrap()[1].points[0];
    assert!(learned.delay < 60.0, "every day at the same time: {learned:?}");
}

#[test]
fn feeds_that_published_nothing_are_drawn_in_words() {
    let silent = feed("Silence", std::iter::empty());
    assert_eq!(DelayCurve::of_feed(&silent, &CONDITIONS), None);
    let page = page(&[silent], "Silence");
    assert!(page.text().contains("nothing was published\n"), "{}", page.text());
    assert!(page.text().ends_with("nothing was published in the test days"), "{}", page.text());
    assert!(page.svg().contains("nothing was published in the test days"));
}

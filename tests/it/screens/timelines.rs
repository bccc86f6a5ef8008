//! Timelines of five histories, as text and as a picture, and the timeline on the screen.

use backissue_core::feed::Entry;
use backissue_core::history::gap::{Edge, Newer};
use backissue_core::history::kept::{Position, Rank};
use backissue_core::history::timeline::{MonthCounts, Timeline};
use backissue_core::history::{Gap, KeptEntry, Limit, Reason};
use backissue_core::simulate::{timeline_text, timelines_svg};
use chrono::{DateTime, Months, NaiveDate, Utc};
use chrono_tz::Tz;

use super::pictures::compare;
use crate::support::demo_world::demo_world;

/// Entries of these numbers in consecutive months from the first of a year, with the position of their documents.
type Stretch = (i32, &'static [u32], Position);

const ARCHIVE: Position = Position::Archive { epoch: 1, depth: 0 };
const CAPTURE: Position = Position::Capture { taken: 0 };

fn day(text: &str) -> DateTime<Utc> {
    text.parse::<NaiveDate>().unwrap().and_hms_opt(12, 0, 0).unwrap().and_utc()
}

fn timeline(stretches: &[Stretch], gaps: &[Gap]) -> Timeline {
    let mut counts = MonthCounts::default();
    for (year, months, position) in stretches {
        for (month, count) in (0..).zip(*months) {
            let at = day(&format!("{year}-01-15")).checked_add_months(Months::new(month)).unwrap();
            let entry = Entry { published: Some(at), ..Entry::default() };
            let rank = Rank::new(Some(at), None, *position, day("2026-11-28"));
            let kept = KeptEntry::from_copy(&entry, day("2026-11-28"), rank);
            for _ in 0..*count {
                counts.add(&kept, Tz::UTC);
            }
        }
    }
    Timeline::of(&counts, gaps, Tz::UTC)
}

fn gap(reason: Reason, oldest: &str, older: Option<&str>) -> Gap {
    let newer = Newer { oldest: Some(day(oldest)), ..Newer::default() };
    let edge = Edge { newer, ..Edge::default() };
    Gap { older: older.map(day), ..Gap::new(edge, reason, day("2026-11-28")) }
}

fn five() -> Vec<(String, Timeline)> {
    const EVEN: &[u32] = &[4; 24];
    const RISING: &[u32] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 9, 6, 3, 0, 0, 1];
    let limit = Reason::Limit { limit: Limit::Documents, fetched: 20 };
    let told = [
        (
            "Complete, from archives",
            timeline(&[(2024, EVEN, ARCHIVE), (2026, &[4; 11], Position::Subscription)], &[]),
        ),
        (
            "Two archives are missing",
            timeline(
                &[
                    (2023, RISING, ARCHIVE),
                    (2025, RISING, ARCHIVE),
                    (2026, &[0, 0, 0, 0, 0, 0, 3, 2], Position::Subscription),
                ],
                &[
                    gap(Reason::Status(404), "2025-04-10", Some("2024-06-10")),
                    gap(Reason::Status(410), "2023-01-03", None),
                ],
            ),
        ),
        (
            "From the pages of the feed",
            timeline(
                &[(2024, RISING, Position::Page), (2026, RISING, Position::Subscription)],
                &[],
            ),
        ),
        (
            "The publisher is gone",
            timeline(
                &[
                    (2019, RISING, CAPTURE),
                    (2021, EVEN, Position::Copy),
                    (2023, &[5, 4, 1], Position::Subscription),
                ],
                &[],
            ),
        ),
        (
            "More archives exist",
            timeline(&[(2025, EVEN, ARCHIVE)], &[gap(limit, "2025-01-15", None)]),
        ),
    ];
    told.map(|(title, timeline)| (title.to_owned(), timeline)).into()
}

#[test]
fn five_histories_are_drawn_as_text_in_80_columns() {
    let texts: Vec<String> =
        five().iter().map(|(title, timeline)| timeline_text(timeline, title)).collect();
    let text = texts.join("\n\n");
    assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 80), "{text}");
    insta::assert_snapshot!("timelines", text);
}

#[test]
fn five_histories_are_drawn_as_a_picture() {
    compare("docs/history.md", "timelines.svg", &timelines_svg(&five()));
}

#[test]
fn enter_opens_a_year_or_lists_sources_for_what_is_missing() {
    let mut world = demo_world(100, 30);
    // The feed with archives, one of which its server does not deliver.
    world.press("gjjjjjjjjjjjl:timeline<enter>");
    let screen = world.draw();
    assert!(screen.contains("A archives") && screen.contains("┄ missing"), "{screen}");
    world.press("<enter>");
    assert!(!world.draw().contains("A archives"), "the year is shown");
    // The second year has a hole, and the last row is about what is older.
    for row in ["j", "G"] {
        world.press(":timeline<enter>");
        world.press(row);
        world.press("<enter>");
        let screen = world.draw();
        assert!(screen.contains("Older entries ─"), "{screen}");
        assert!(screen.contains("another reader's copy"), "{screen}");
        world.press("q");
    }
}

#[test]
fn wrong_dates_make_no_endless_timeline() {
    let ages = gap(Reason::Paged, "2026-01-01", Some("0001-01-01"));
    let timeline = timeline(&[(1, &[1], ARCHIVE), (2030, &[1], ARCHIVE)], &[ages]);
    assert_eq!(timeline.years.len(), 100);
    assert!(timeline.years.iter().all(|row| row.months.iter().all(|month| month.level <= 8)));
}

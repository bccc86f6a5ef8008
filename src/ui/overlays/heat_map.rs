//! The publication rhythm of a feed for the plan pane: publications observed and expected in each hour of the week, and the times
//! of the next polls (SPEC S0.17).

use chrono::{DateTime, Datelike, TimeDelta, Timelike, Utc};
use chrono_tz::Tz;

use crate::engine::feeds::subscription::Subscription;
use crate::engine::poll::{learn, plans};
use crate::ui::app::App;
use crate::ui::state::plan_pane::{KnownPublications, RhythmHour, RhythmPicture, SHADES};
use backissue_core::schedule::learning::HeatMap;

/// Hours in a week.
const HOURS: usize = 168;
/// An hour has no shade if it has fewer expected publications than this fraction of the number in the busiest hour.
const FAINT: f64 = 0.02;
/// Maximum number of coming polls that the plan pane lists.
const POLLS_NAMED: usize = 5;

/// Builds the chart of a feed's publication rhythm in a time zone. Returns `None` while the publication times have not been read
/// from the store.
pub(crate) fn build_picture(
    app: &App,
    subscription: &Subscription,
    known: &KnownPublications,
    (now, zone): (DateTime<Utc>, Tz),
) -> Option<RhythmPicture> {
    let publications = known.publications.as_deref()?;
    let plan = known.learned.as_deref();
    // A learned plan only has reliable expectations for each hour if it places polls at specific times. Without such a plan, the
    // chart shows the observed publications, because a few publications say nothing about the other hours.
    let placed = plan.filter(|plan| plan.is_placed());
    let map = HeatMap::new(publications, placed, &learn::zone_of(zone), now);
    let observed = || map.published.iter().map(|&count| f64::from(count)).collect();
    let expected: Vec<f64> =
        if map.expected.is_empty() { observed() } else { map.expected.clone() };
    let busiest = expected.iter().copied().fold(0.0, f64::max);
    let mut hours: Vec<RhythmHour> = map
        .published
        .iter()
        .zip(&expected)
        .map(|(&published, &expected)| RhythmHour {
            published,
            expected,
            shade: choose_shade(expected, busiest),
            polled: false,
        })
        .collect();
    let week = now.checked_add_signed(TimeDelta::weeks(1)).unwrap_or(now);
    let polls = plans::polls_until(subscription, app.engine.salt, now, week);
    for poll in &polls {
        if let Some(hour) = hours.get_mut(hour_of_week(*poll, zone)) {
            hour.polled = true;
        }
    }
    Some(RhythmPicture {
        publications: publications.len(),
        unknown: if subscription.record.feed_settings.is_polled_by_server() {
            "unknown: the server of its account polls it, and says only when entries are dated"
        } else if publications.has_dates() {
            "unknown: it has no entries from the last twelve weeks"
        } else {
            "unknown so far: no entry had a usable date"
        },
        sentence: plan.filter(|_| !publications.is_empty()).map(|plan| plan.rhythm.sentence()),
        not_followed: plan
            .and_then(|plan| learn::why_not_followed(&app.engine, subscription.key, plan)),
        coming: polls.into_iter().take(POLLS_NAMED).collect(),
        hours,
        foretold: placed.is_some(),
        busiest,
        now: hour_of_week(now, zone),
    })
}

/// Returns the shade for the expected number of publications in an hour. Shades depend on the square root of this number, so that
/// quiet hours also have different shades.
fn choose_shade(expected: f64, busiest: f64) -> u8 {
    if busiest <= 0.0 || expected < busiest * FAINT {
        return 0;
    }
    let part = (expected / busiest).clamp(0.0, 1.0).sqrt();
    let over = (1..SHADES).filter(|step| part > f64::from(*step) / f64::from(SHADES));
    u8::try_from(over.count()).unwrap_or(0).saturating_add(1)
}

/// Returns the hour of the week in a time zone. Hour 0 is Monday 00:00.
pub fn hour_of_week(at: DateTime<Utc>, zone: Tz) -> usize {
    let local = at.with_timezone(&zone);
    let day = local.weekday().num_days_from_monday().saturating_mul(24);
    usize::try_from(day.saturating_add(local.hour())).unwrap_or(0) % HOURS
}

#[cfg(test)]
mod tests {
    use crate::ui::overlays::heat_map::*;

    #[test]
    fn shades_rise_with_the_expected_count() {
        let shades =
            [0.0, 0.1, 0.3, 1.0, 2.0, 4.0, 5.0].map(|expected| choose_shade(expected, 5.0));
        assert_eq!(shades, [0, 1, 1, 2, 3, 4, 4]);
        assert_eq!(choose_shade(0.0, 0.0), 0);
        assert_eq!(choose_shade(f64::NAN, 1.0), 1, "drawn, and no panic");
    }

    #[test]
    fn hours_are_counted_in_the_zone_shown() {
        let monday = DateTime::from_timestamp(1_772_445_600, 0).unwrap();
        assert_eq!(hour_of_week(monday, Tz::UTC), 10);
        assert_eq!(hour_of_week(monday, Tz::America__New_York), 5);
        assert_eq!(hour_of_week(monday, Tz::Pacific__Auckland), 23);
    }
}

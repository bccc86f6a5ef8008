//! Computes the interval in force at each hour of a week, for the week chart in the plan pane (SPEC S0.17).

use chrono::{DateTime, Utc};

use crate::schedule::bounds::Bounds;
use crate::schedule::facts::Facts;
use crate::schedule::instant::seconds;
use crate::schedule::interval::segments::{IntervalWalk, Rhythm};
use crate::schedule::limits::HOUR;
use crate::schedule::recommend::{RecommendedCourse, recommend};
use crate::schedule::week::{HOURS, hour_of_week};

/// Implements GET-SCHEDULE for one feed: returns the interval in force at an instant, after pace and bounds, and for
/// how many seconds it applies; `None` means forever.
pub fn interval_in_force(facts: &Facts, at: DateTime<Utc>) -> (u32, Option<i64>) {
    let (recommendation, bounds) = (recommend(facts), Bounds::from_facts(facts));
    let fallback = recommendation.flat.seconds;
    let (interval, duration) = match &recommendation.course {
        RecommendedCourse::Flat | RecommendedCourse::Slots(..) | RecommendedCourse::Placed(_) => {
            (bounds.interval(fallback), None)
        }
        RecommendedCourse::Rules(table) => {
            let rhythm = Rhythm { table, fallback, bounds };
            let (in_force, duration) = rhythm.get_schedule(seconds(at));
            (in_force.interval, duration)
        }
    };
    (u32::try_from(interval).unwrap_or(u32::MAX), duration)
}

/// Returns the index of the interval rule in force at an instant, counted in document order. `None` means that no rule covers the
/// instant, or that the feed does not use rules.
pub fn rule_in_force(facts: &Facts, at: DateTime<Utc>) -> Option<usize> {
    let (recommendation, bounds) = (recommend(facts), Bounds::from_facts(facts));
    let fallback = recommendation.flat.seconds;
    match &recommendation.course {
        RecommendedCourse::Flat | RecommendedCourse::Slots(..) | RecommendedCourse::Placed(_) => {
            None
        }
        RecommendedCourse::Rules(table) => {
            IntervalWalk::start(Rhythm { table, fallback, bounds }, seconds(at)).in_force().rule
        }
    }
}

/// Returns the interval, in seconds, at the start of each hour of the UTC week around an instant, starting at Monday 00:00.
pub fn week_of_intervals(facts: &Facts, around: DateTime<Utc>) -> [u32; HOURS as usize] {
    let (recommendation, bounds) = (recommend(facts), Bounds::from_facts(facts));
    let fallback = recommendation.flat.seconds;
    let whole = |seconds: i64| u32::try_from(seconds).unwrap_or(u32::MAX);
    let mut week = [whole(bounds.interval(fallback)); HOURS as usize];
    let RecommendedCourse::Rules(table) = &recommendation.course else { return week };
    let hour = seconds(around).div_euclid(HOUR);
    let monday = (hour - i64::from(hour_of_week(seconds(around)))) * HOUR;
    let mut walk = IntervalWalk::start(Rhythm { table, fallback, bounds }, monday);
    let mut start = monday;
    for cell in &mut week {
        walk.advance_to(start);
        *cell = whole(walk.in_force().interval);
        start += HOUR;
    }
    week
}

#[cfg(test)]
mod tests {
    use crate::schedule::explain::week_picture::*;
    use crate::schedule::specimens::{at, set_p, with_rules, with_ttl};

    #[test]
    fn the_week_shows_each_hours_interval() {
        let week = week_of_intervals(&with_rules(set_p(), "03-02 10:00"), at("03-05 13:20"));
        let minutes = |day: usize, hour: usize| week[day * 24 + hour] / 60;
        assert_eq!(
            [minutes(0, 8), minutes(0, 9), minutes(4, 17), minutes(4, 18)],
            [240, 30, 30, 240]
        );
        assert_eq!([minutes(6, 4), minutes(6, 5), minutes(6, 12)], [30, 240, 240]);
        let busy = week.iter().filter(|&&seconds| seconds == 1800).count();
        assert_eq!(busy, 45 + 7);
        assert_eq!(week_of_intervals(&with_ttl(60, "03-02 10:00"), at("03-05 13:20")), [3600; 168]);
    }

    #[test]
    fn active_rule_is_named_by_its_position() {
        let facts = with_rules(set_p(), "03-02 10:00");
        assert_eq!(rule_in_force(&facts, at("03-02 10:00")), Some(1));
        assert_eq!(rule_in_force(&facts, at("03-02 04:59")), Some(2));
        assert_eq!(rule_in_force(&facts, at("03-02 05:00")), Some(0));
        assert_eq!(rule_in_force(&with_ttl(60, "03-02 10:00"), at("03-02 05:00")), None);
    }
}

//! The restrictions in force at an instant: floors that have not passed, and skipped hours (SPEC B.4, B.5).

use chrono::{DateTime, Utc};

use super::bans::Skips;
use super::floors::{Cause, Floor, FloorInputs, floors};
use crate::schedule::explanation::floor_step;
use crate::schedule::facts::Facts;
use crate::schedule::limits::{HOURS, instant, not_later, seconds};
use crate::schedule::recommend::{Bounds, recommend};
use crate::schedule::target_time::usable;

/// A time before which no automatic poll happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restriction {
    /// Earliest time of an automatic poll.
    pub until: DateTime<Utc>,
    /// Reason why the feed is not polled before `until`, as a sentence fragment.
    pub reason: String,
}

/// Returns the floors that have not passed yet, latest first. `u` is the feed's share of the jitter, as for
/// [`crate::schedule::decide()`].
pub fn floors_in_force(facts: &Facts, now: DateTime<Utc>, u: f64) -> Vec<Restriction> {
    let recommendation = recommend(facts);
    let inputs = FloorInputs {
        facts,
        recommendation: &recommendation,
        bounds: Bounds::from_facts(facts),
        now,
        last_try: not_later(facts.last_try, seconds(now))
            .max(not_later(facts.last_ok, seconds(now))),
        u: usable(u),
    };
    let mut ahead: Vec<Floor> = floors(&inputs).filter(|floor| floor.at > seconds(now)).collect();
    // The shortest allowed interval (`HARD_MIN`) is worth showing only if no other floor applies.
    if ahead.len() > 1 {
        ahead.retain(|floor| !matches!(floor.cause, Cause::HardMinimum(_)));
    }
    let mut restrictions: Vec<Restriction> = ahead
        .into_iter()
        .filter_map(|floor| {
            let reason = floor_step(&floor, floor.at.saturating_sub(1))?.reason;
            Some(Restriction { until: instant(floor.at), reason })
        })
        .collect();
    restrictions.sort_by_key(|restriction| std::cmp::Reverse(restriction.until));
    restrictions
}

/// Returns the hours of the UTC week in which the feed is not polled, starting at Monday 00:00; `None` if no skip
/// window is in force.
pub fn skipped_hours(facts: &Facts) -> Option<[bool; HOURS as usize]> {
    let windows = Skips::from_facts(facts).kept()?;
    let mut week = [false; HOURS as usize];
    for (hour, skipped) in (0..HOURS).zip(&mut week) {
        *skipped = windows.closes(hour);
    }
    Some(week)
}

/// Returns a short phrase saying whether the skip hours and days are observed, and if not, why (SPEC B.5, S0.9).
pub fn skips_in_words(facts: &Facts) -> &'static str {
    match Skips::from_facts(facts) {
        Skips::None => "there are no such hours",
        Skips::Kept(_) => "no polls then",
        Skips::WholeWeek => "ignored: they cover the whole week",
        Skips::ReplacedByRules => "ignored: the publisher's interval rules replace them",
        Skips::ReplacedBySy => "ignored: the publisher's sy schedule replaces them",
        Skips::SwitchedOff => "ignored, as you chose",
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::holds::cache::{CacheState, TimingHeaders};
    use crate::schedule::holds::in_force::*;
    use crate::schedule::specimens::{at, office, with_ttl, with_windows};

    #[test]
    fn floors_are_listed_until_they_expire() {
        let mut facts = with_ttl(30, "03-02 10:00");
        let headers = TimingHeaders { cache_control: Some("max-age=3600"), ..Default::default() };
        facts.cache = Some(CacheState::of_document(&headers, at("03-02 10:00")));
        let until = |now: &str| {
            let floors = floors_in_force(&facts, at(now), 0.0);
            floors.into_iter().map(|floor| (floor.until, floor.reason)).collect::<Vec<_>>()
        };
        let lifetime = "the server says that its response is fresh for 1 h".to_owned();
        let minimum = "the usual minimum interval: 15 min".to_owned();
        let first = until("03-02 10:05");
        assert_eq!(first, [(at("03-02 11:00"), lifetime.clone()), (at("03-02 10:15"), minimum)]);
        assert_eq!(until("03-02 10:20"), [(at("03-02 11:00"), lifetime)]);
        assert_eq!(until("03-02 11:00"), []);
    }

    #[test]
    fn shown_skip_hours_are_the_effective_ones() {
        let facts = with_windows(with_ttl(60, "03-02 10:00"));
        let week = skipped_hours(&facts).unwrap();
        assert!(week[6] && week[11] && !week[5] && !week[12] && week[6 * 24]);
        let mut ignoring = facts;
        ignoring.settings.ignore_skips = true;
        assert_eq!(skipped_hours(&ignoring), None);
        assert_eq!(skipped_hours(&with_ttl(60, "03-02 10:00")), None);
    }

    #[test]
    fn ineffective_skip_hours_name_their_reason() {
        let kept = with_windows(with_ttl(60, "03-02 10:00"));
        let changed = |change: fn(&mut Facts)| {
            let mut facts = kept.clone();
            change(&mut facts);
            skips_in_words(&facts)
        };
        assert_eq!(changed(|_| ()), "no polls then");
        assert_eq!(changed(|facts| facts.settings.ignore_skips = true), "ignored, as you chose");
        let whole = changed(|facts| facts.hints.skip_hours = (0..24).collect());
        assert_eq!(whole, "ignored: they cover the whole week");
        let rules = changed(|facts| facts.hints.intervals = vec![office()]);
        assert_eq!(rules, "ignored: the publisher's interval rules replace them");
    }
}

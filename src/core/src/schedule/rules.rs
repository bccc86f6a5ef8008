//! Interval rules compiled into a table that finds the rule in force at an instant (SPEC A.5.2), and interval rules in words.
//!
//! If several rules cover an instant, the most specific rule applies: the one that covers the fewest of the 168 hours of the week
//! in its time zone. Of two equally specific rules, the later one in the document applies.

use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::Tz;

use crate::feed::hints::INTERVAL_MINUTES_MAX;
use crate::feed::{DayOfWeek, IntervalRule, Zone};
use crate::schedule::limits::{MINUTE, RULES_MAX, WeekMask};

/// Rules in order of precedence, strongest first. A set of rules is a `u64` whose bit `i` represents `rules[i]`.
#[derive(Debug, Clone)]
pub(in crate::schedule) struct RuleTable {
    rules: Vec<TableRule>,
    zones: Vec<TableZone>,
}

/// A valid interval rule.
#[derive(Debug, Clone, Copy)]
struct TableRule {
    mask: WeekMask,
    seconds: i64,
    /// Index of the rule in the document.
    position: usize,
    zone: usize,
}

/// A time zone and the set of rules that use it.
#[derive(Debug, Clone, Copy)]
pub(in crate::schedule) struct TableZone {
    pub(in crate::schedule) clock: ZoneClock,
    pub(in crate::schedule) rules: u64,
}

/// Difference between a zone's local time and UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(in crate::schedule) enum ZoneClock {
    /// A fixed offset in seconds.
    Fixed(i64),
    /// A zone of the IANA database.
    Named(Tz),
}

impl RuleTable {
    /// Builds a table from the valid rules among those that the feed or the user states; `None` if none is valid. Rules beyond
    /// `RULES_MAX` are ignored.
    pub(in crate::schedule) fn new(stated: &[IntervalRule]) -> Option<Self> {
        let mut zones: Vec<TableZone> = Vec::new();
        let mut rules: Vec<TableRule> = Vec::with_capacity(stated.len().min(RULES_MAX));
        for (position, rule) in stated.iter().take(RULES_MAX).enumerate() {
            let Some(mask) = rule_mask(rule) else { continue };
            let clock = ZoneClock::for_zone(&rule.zone);
            let known = zones.iter().position(|zone| zone.clock == clock);
            let zone = known.unwrap_or_else(|| {
                zones.push(TableZone { clock, rules: 0 });
                zones.len() - 1
            });
            let seconds = i64::from(rule.minutes) * MINUTE;
            rules.push(TableRule { mask, seconds, position, zone });
        }
        rules.sort_by_key(|rule| (rule.mask.weight(), std::cmp::Reverse(rule.position)));
        for (bit, rule) in rules.iter().enumerate() {
            if let Some(zone) = zones.get_mut(rule.zone) {
                zone.rules |= 1 << bit;
            }
        }
        (!rules.is_empty()).then_some(Self { rules, zones })
    }

    /// Returns the time zones that the rules use.
    pub(in crate::schedule) fn zones(&self) -> &[TableZone] {
        &self.zones
    }

    /// Returns the rules in `among` that cover this hour of the week, 0 to 167, in their time zone.
    pub(in crate::schedule) fn active(&self, among: u64, hour: u8) -> u64 {
        let mut active = 0;
        for (bit, rule) in self.rules.iter().enumerate() {
            if among >> bit & 1 == 1 && rule.mask.contains(hour) {
                active |= 1 << bit;
            }
        }
        active
    }

    /// Returns the stated interval, in seconds, and the document index of the rule that takes precedence in a set of rules.
    pub(in crate::schedule) fn winner(&self, active: u64) -> Option<(i64, usize)> {
        let strongest = usize::try_from(active.trailing_zeros()).ok()?;
        self.rules.get(strongest).map(|rule| (rule.seconds, rule.position))
    }
}

impl ZoneClock {
    /// Returns the clock of a time zone. A zone with an unknown name counts as UTC.
    pub(in crate::schedule) fn for_zone(zone: &Zone) -> Self {
        match zone {
            Zone::Utc => Self::Fixed(0),
            Zone::Offset(minutes) => Self::Fixed(i64::from(*minutes) * MINUTE),
            Zone::Named(name) => name.parse().map_or(Self::Fixed(0), Self::Named),
        }
    }

    /// Returns the zone's offset from UTC at this instant, in seconds.
    #[inline]
    pub(in crate::schedule) fn offset(self, at: i64) -> i64 {
        match self {
            Self::Fixed(offset) => offset,
            Self::Named(zone) => DateTime::from_timestamp(at, 0).map_or(0, |utc| {
                let offset = zone.offset_from_utc_datetime(&utc.naive_utc());
                i64::from(offset.fix().local_minus_utc())
            }),
        }
    }
}

/// Returns the hours of the week, in the time zone of the rule, that a rule covers; `None` if an hour or a day is out of range.
///
/// Hours that wrap past midnight run from the start hour to the end of each listed day, and on to the end hour of the following
/// day. If the start day is after the end day, the days run over the weekend.
pub(in crate::schedule) fn rule_mask(rule: &IntervalRule) -> Option<WeekMask> {
    let (start_hour, end_hour) = (rule.start_hour.unwrap_or(0), rule.end_hour.unwrap_or(23));
    let (start_day, end_day) = (rule.start_day.unwrap_or(1), rule.end_day.unwrap_or(7));
    let hours_ok = start_hour <= 23 && end_hour <= 23;
    let days_ok = (1..=7).contains(&start_day) && (1..=7).contains(&end_day);
    let minutes_ok = (1..=INTERVAL_MINUTES_MAX).contains(&rule.minutes);
    if !(hours_ok && days_ok && minutes_ok) {
        return None;
    }
    let hours_long = (end_hour + 24 - start_hour) % 24 + 1;
    let days_long = (end_day + 7 - start_day) % 7 + 1;
    let mut mask = WeekMask::default();
    for day in 0..days_long {
        let day = (start_day - 1 + day) % 7;
        for hour in 0..hours_long {
            mask.insert((day * 24 + start_hour) % 168 + hour);
        }
    }
    Some(mask)
}

/// Formats the hours, days and time zone in which an interval rule applies: `from hour 9 to hour 17, Monday to Friday`.
pub fn rule_words(rule: &IntervalRule) -> String {
    let hours = match (rule.start_hour, rule.end_hour) {
        (None | Some(0), None | Some(23)) => String::new(),
        (start, end) if start.unwrap_or(0) == end.unwrap_or(23) => {
            format!("at hour {}", start.unwrap_or(0))
        }
        (start, end) => {
            format!("from hour {} to hour {}", start.unwrap_or(0), end.unwrap_or(23))
        }
    };
    let days = match (rule.start_day, rule.end_day) {
        (None | Some(1), None | Some(7)) => String::new(),
        (start, end) => day_words(start.unwrap_or(1), end.unwrap_or(7)),
    };
    let when = [hours, days].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    let when = if when.is_empty() { "at all times".to_owned() } else { when.join(", ") };
    match &rule.zone {
        Zone::Utc => when,
        Zone::Offset(minutes) => format!("{when}, at UTC{}", offset_words(*minutes)),
        Zone::Named(name) => format!("{when}, in {name}"),
    }
}

fn day_words(start: u8, end: u8) -> String {
    let name = |day: u8| {
        let place = usize::from(day.max(1) - 1);
        DayOfWeek::ALL.get(place).map_or_else(|| format!("day {day}"), |day| day.name().to_owned())
    };
    if start == end {
        format!("on {}", name(start))
    } else {
        format!("{} to {}", name(start), name(end))
    }
}

pub(in crate::schedule) fn offset_words(minutes: i16) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.unsigned_abs();
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use crate::schedule::rules::*;

    fn rule(hours: Option<(u8, u8)>, days: Option<(u8, u8)>) -> IntervalRule {
        IntervalRule {
            minutes: 30,
            start_hour: hours.map(|hours| hours.0),
            end_hour: hours.map(|hours| hours.1),
            start_day: days.map(|days| days.0),
            end_day: days.map(|days| days.1),
            zone: Zone::Utc,
        }
    }

    /// Checks the number of hours that a rule covers, and some hours inside and outside it as (day 1 to 7, hour).
    fn check(
        hours: Option<(u8, u8)>,
        days: Option<(u8, u8)>,
        weight: u32,
        inside: &[(u8, u8)],
        outside: &[(u8, u8)],
    ) {
        let mask = rule_mask(&rule(hours, days)).expect("a rule in range");
        assert_eq!(mask.weight(), weight, "{hours:?} {days:?}");
        let has = |&(day, hour): &(u8, u8)| mask.contains((day - 1) * 24 + hour);
        assert!(inside.iter().all(has), "{hours:?} {days:?} inside");
        assert!(!outside.iter().any(has), "{hours:?} {days:?} outside");
    }

    #[test]
    fn a_rule_covers_its_hours_and_days() {
        check(None, None, 168, &[(1, 0), (7, 23)], &[]);
        check(Some((9, 17)), Some((1, 5)), 45, &[(1, 9), (5, 17)], &[(1, 8), (5, 18), (6, 9)]);
        check(Some((4, 4)), None, 7, &[(1, 4), (7, 4)], &[(1, 3), (1, 5)]);
        check(None, Some((7, 7)), 24, &[(7, 0)], &[(6, 23), (1, 0)]);
    }

    #[test]
    fn wrapping_hours_belong_to_the_day_they_start_on() {
        let (inside, outside) = (&[(5, 22), (6, 2), (6, 23), (7, 2)], &[(5, 2), (6, 3), (7, 22)]);
        check(Some((22, 2)), Some((5, 6)), 10, inside, outside);
        check(Some((22, 2)), Some((7, 7)), 5, &[(7, 22), (1, 2)], &[(7, 2), (1, 3)]);
        check(Some((12, 11)), Some((1, 1)), 24, &[(1, 12), (2, 11)], &[(1, 11), (2, 12)]);
        check(Some((1, 0)), None, 168, &[(1, 0)], &[]);
    }

    #[test]
    fn wrapping_days_run_over_the_weekend() {
        check(None, Some((6, 1)), 72, &[(6, 0), (7, 0), (1, 23)], &[(2, 0), (5, 23)]);
        check(None, Some((7, 6)), 168, &[(3, 3)], &[]);
    }

    #[test]
    fn numbers_out_of_range_drop_the_rule() {
        for bad in [
            rule(Some((25, 26)), None),
            rule(Some((0, 24)), None),
            rule(None, Some((0, 5))),
            rule(None, Some((1, 8))),
            IntervalRule { minutes: 0, ..rule(None, None) },
            IntervalRule { minutes: 527_041, ..rule(None, None) },
            rule(Some((255, 255)), Some((255, 255))),
        ] {
            assert_eq!(rule_mask(&bad), None, "{bad:?}");
        }
    }

    #[test]
    fn rules_beyond_the_limit_are_ignored() {
        let mut stated = vec![IntervalRule { minutes: 0, ..rule(None, None) }; RULES_MAX];
        stated.push(rule(None, None));
        assert!(RuleTable::new(&stated).is_none());
        assert!(RuleTable::new(&[]).is_none());
    }
}

#[cfg(test)]
mod wording_tests {
    use crate::schedule::rules::*;

    #[test]
    fn rule_is_described_in_words() {
        let rule = |hours: Option<(u8, u8)>, days: Option<(u8, u8)>, zone| IntervalRule {
            minutes: 30,
            start_hour: hours.map(|hours| hours.0),
            end_hour: hours.map(|hours| hours.1),
            start_day: days.map(|days| days.0),
            end_day: days.map(|days| days.1),
            zone,
        };
        let check = |rule: IntervalRule, expected: &str| assert_eq!(rule_words(&rule), expected);
        check(rule(None, None, Zone::Utc), "at all times");
        check(
            rule(Some((9, 17)), Some((1, 5)), Zone::Utc),
            "from hour 9 to hour 17, Monday to Friday",
        );
        check(rule(Some((4, 4)), None, Zone::Offset(-480)), "at hour 4, at UTC-08:00");
        check(
            rule(None, Some((7, 7)), Zone::Named("Asia/Tokyo".into())),
            "on Sunday, in Asia/Tokyo",
        );
    }
}

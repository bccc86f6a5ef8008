//! Skip windows: hours and days during which the publisher asks readers not to poll (SPEC B.5, S0.8).

use crate::feed::{DayOfWeek, Hints};
use crate::schedule::facts::Facts;
use crate::schedule::limits::{DAY, HOUR, HOURS, WeekMask, hour_of_week, next_hour};
use crate::schedule::plan::SettledBy;
use crate::schedule::recommend::is_boilerplate;
use crate::schedule::rules::rule_mask;

/// Skip windows in force. At least one hour of the week is open.
#[derive(Debug, Clone, Copy)]
pub(in crate::schedule) struct SkipWindows {
    hours: WeekMask,
    days: WeekMask,
}

/// How the skip hints of a feed are treated.
#[derive(Debug, Clone, Copy)]
pub(in crate::schedule) enum Skips {
    /// The feed states no skip hints.
    None,
    /// The skip windows are in force.
    Kept(SkipWindows),
    /// The skip windows would cover the whole week, so they are ignored.
    WholeWeek,
    /// The publisher's interval rules replace the skip windows.
    ReplacedByRules,
    /// The `sy` hint replaces the skip windows (SPEC S0.9).
    ReplacedBySy,
    /// The user chose to ignore the skip windows.
    SwitchedOff,
}

impl Skips {
    /// Determines whether the skip hints of a feed are in force or why they are ignored.
    pub(in crate::schedule) fn from_facts(facts: &Facts) -> Self {
        let hints = &facts.hints;
        if hints.skip_hours.is_empty() && hints.skip_days.is_empty() {
            return Self::None;
        }
        if hints.intervals.iter().any(|rule| rule_mask(rule).is_some()) {
            return Self::ReplacedByRules;
        }
        if hints.sy.is_some() && !is_boilerplate(facts) {
            return Self::ReplacedBySy;
        }
        let windows = SkipWindows::from_hints(hints);
        let open = (0..HOURS).any(|hour| !windows.closes(hour));
        match (open, facts.settings.ignore_skips, windows.is_empty()) {
            (_, _, true) => Self::None,
            (false, _, _) => Self::WholeWeek,
            (true, true, _) => Self::SwitchedOff,
            (true, false, _) => Self::Kept(windows),
        }
    }
}

impl Skips {
    /// Returns the skip windows if they are in force.
    pub(in crate::schedule) fn kept(self) -> Option<SkipWindows> {
        if let Self::Kept(windows) = self { Some(windows) } else { None }
    }
}

impl SkipWindows {
    fn from_hints(hints: &Hints) -> Self {
        let (mut hours, mut days) = (WeekMask::default(), WeekMask::default());
        for &hour in hints.skip_hours.iter().filter(|&&hour| hour < 24) {
            (0..7).for_each(|day| hours.insert(day * 24 + hour));
        }
        for (day, name) in (0..7).zip(DayOfWeek::ALL) {
            if hints.skip_days.contains(&name) {
                (0..24).for_each(|hour| days.insert(day * 24 + hour));
            }
        }
        Self { hours, days }
    }

    fn is_empty(&self) -> bool {
        self.hours.is_empty() && self.days.is_empty()
    }

    /// Checks whether a window covers an hour of the week, 0 to 167.
    pub(in crate::schedule) fn closes(&self, hour: u8) -> bool {
        self.hours.contains(hour) || self.days.contains(hour)
    }

    /// Checks whether an instant is inside a window.
    pub(in crate::schedule) fn skips(&self, at: i64) -> bool {
        self.closes(hour_of_week(at))
    }

    /// Returns the first instant at or after `at` that no skip window covers.
    pub(in crate::schedule) fn opening(&self, at: i64) -> i64 {
        let mut at = at;
        for _ in 0..HOURS {
            if !self.skips(at) {
                break;
            }
            at = next_hour(at);
        }
        at
    }

    /// Returns the end of the period without skip windows that contains the instant `open`, at most a day after `open`.
    pub(in crate::schedule) fn closing(&self, open: i64) -> i64 {
        let mut at = next_hour(open);
        while at < open + DAY && !self.skips(at) {
            at += HOUR;
        }
        at.min(open + DAY)
    }

    /// Returns whether skipped hours or a skipped day end at `opening`.
    pub(in crate::schedule) fn exit(&self, opening: i64) -> Exit {
        if self.days.contains(hour_of_week(opening - 1)) { Exit::Days } else { Exit::Hours }
    }
}

/// How a poll that was planned inside a skip window is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) enum Exit {
    /// The poll moves past skipped hours.
    Hours,
    /// The poll moves past a skipped day.
    Days,
    /// The poll is not moved: the feed was due and could have been polled outside the window, but the program was not running.
    Missed,
}

impl Exit {
    pub(in crate::schedule) const fn settled_by(self) -> SettledBy {
        match self {
            Self::Hours => SettledBy::SkipHours,
            Self::Days => SettledBy::SkipDays,
            Self::Missed => SettledBy::Overdue,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::holds::bans::*;
    use crate::schedule::limits::{instant, seconds};

    fn at(text: &str) -> i64 {
        seconds(text.parse().expect("an instant"))
    }

    fn windows_of(hours: &[u8], days: &[DayOfWeek]) -> Skips {
        let hints =
            Hints { skip_hours: hours.to_vec(), skip_days: days.to_vec(), ..Hints::default() };
        Skips::from_facts(&Facts { hints, ..Facts::default() })
    }

    fn check(hours: &[u8], days: &[DayOfWeek], from: &str, expected: &str) {
        let Skips::Kept(windows) = windows_of(hours, days) else { panic!("{hours:?} {days:?}") };
        assert_eq!(instant(windows.opening(at(from))), instant(at(expected)), "{from}");
    }

    #[test]
    fn an_instant_is_moved_to_the_start_of_the_next_open_hour() {
        let morning = [6, 7, 8, 9, 10, 11];
        check(&morning, &[DayOfWeek::Sunday], "2026-03-02T06:10:00Z", "2026-03-02T12:00:00Z");
        check(&morning, &[DayOfWeek::Sunday], "2026-03-02T05:59:59Z", "2026-03-02T05:59:59Z");
        check(&morning, &[DayOfWeek::Sunday], "2026-03-08T00:30:00Z", "2026-03-09T00:00:00Z");
        check(&[1, 3, 5, 7], &[], "2026-03-02T01:05:00Z", "2026-03-02T02:00:00Z");
        check(&[0], &[DayOfWeek::Sunday], "2026-03-08T12:00:00Z", "2026-03-09T01:00:00Z");
    }

    #[test]
    fn ban_on_the_whole_week_has_no_effect() {
        let all_hours: Vec<u8> = (0..24).collect();
        assert!(matches!(windows_of(&all_hours, &[]), Skips::WholeWeek));
        assert!(matches!(windows_of(&[], &DayOfWeek::ALL), Skips::WholeWeek));
        assert!(matches!(windows_of(&[], &[]), Skips::None));
        assert!(matches!(windows_of(&[24, 99], &[]), Skips::None));
    }

    #[test]
    fn the_open_stretch_ends_at_the_next_window_or_after_a_day() {
        let Skips::Kept(windows) = windows_of(&[14], &[]) else { panic!("kept") };
        let open = at("2026-03-02T12:20:00Z");
        assert_eq!(windows.closing(open), at("2026-03-02T14:00:00Z"));
        let weekend = windows_of(&[], &[DayOfWeek::Sunday]);
        let Skips::Kept(windows) = weekend else { panic!("kept") };
        assert_eq!(windows.closing(open), open + DAY);
        assert_eq!(windows.exit(at("2026-03-09T00:00:00Z")), Exit::Days);
    }
}

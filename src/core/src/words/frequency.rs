//! How often a feed publishes: in classes with words, and how that is known. Lists order feeds by it, and it explains itself.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::about_duration;

/// Minimum number of publications from which a frequency is counted.
const ENTRIES_MIN: u32 = 8;
/// Time in which publications are counted, in seconds: twelve weeks, and a year for feeds that publish less in them.
const WINDOWS: [i64; 2] = [84 * DAY, 364 * DAY];
/// Time after which even a few publications show how rarely a feed publishes, in seconds: eight weeks.
const LONG: i64 = 56 * DAY;
const DAY: i64 = 86_400;
const YEAR: i64 = 365 * DAY;
const WEEKS_A_YEAR: f64 = 365.0 / 7.0;

/// Maximum number of publications a year, and name, of each class, the rarest first.
const CLASSES: [(u32, &str); 9] = [
    (2, "about yearly"),
    (8, "a few times a year"),
    (26, "about monthly"),
    (88, "about weekly"),
    (238, "a few times a week"),
    (550, "about daily"),
    (8_760, "several times a day"),
    (36_500, "more than hourly"),
    (u32::MAX, "over 100 a day"),
];
/// Names of classes in a query such as `rate:<weekly`.
const NAMED: [(&str, usize); 5] =
    [("yearly", 0), ("monthly", 2), ("weekly", 3), ("daily", 5), ("hourly", 7)];
/// Number of classes that come before feeds of which too little is known.
const RARE_CLASSES: usize = 4;

/// How often a feed publishes, and how that is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frequency {
    /// Publications a year.
    pub per_year: u32,
    /// Source of the number.
    pub known: KnownBy,
}

/// How it is known how often a feed publishes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum KnownBy {
    /// It was learned from the feed's publications, recent ones counting more.
    Learning,
    /// The publisher states it.
    Publisher,
    /// This number of entries was counted in this time before now, in seconds.
    Counting { entries: u32, seconds: i64 },
    /// Too little is known.
    #[default]
    Nothing,
}

impl Frequency {
    /// Returns the frequency of a feed that was learned to have these publications a week.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub fn of_week(per_week: f64) -> Self {
        Self { per_year: (per_week * WEEKS_A_YEAR).round() as u32, known: KnownBy::Learning }
    }

    /// Returns the frequency that a publisher states as this interval, in seconds.
    pub fn of_interval(seconds: i64) -> Self {
        let per_year = u32::try_from(YEAR / seconds.max(1)).unwrap_or(u32::MAX);
        Self { per_year, known: KnownBy::Publisher }
    }

    /// Counts the entries of a feed, whose dates are in Unix seconds in any order. Counts the last twelve weeks, or the last year if
    /// these have too few entries. Too few entries show nothing unless the oldest one is old enough, and neither do entries of one
    /// date, which is the time when they were fetched.
    pub fn counted(dates: &(impl Iterator<Item = i64> + Clone), now: i64) -> Self {
        let past = || dates.clone().filter(|date| *date <= now);
        let (oldest, newest) = (past().min().unwrap_or(now), past().max().unwrap_or(now));
        let mut found = Self { per_year: 0, known: KnownBy::Nothing };
        for window in WINDOWS {
            let since = oldest.max(now.saturating_sub(window));
            let seconds = now.saturating_sub(since).max(1);
            let counted = past().filter(|date| *date >= since).count();
            let entries = u32::try_from(counted).unwrap_or(u32::MAX);
            let is_known = seconds >= LONG || (entries >= ENTRIES_MIN && oldest < newest);
            if is_known {
                let per_year = (i64::from(entries).saturating_mul(YEAR)) / seconds;
                let known = KnownBy::Counting { entries, seconds };
                found = Self { per_year: u32::try_from(per_year).unwrap_or(u32::MAX), known };
            }
            if entries >= ENTRIES_MIN {
                break;
            }
        }
        found
    }

    /// Returns the place of the feed among others: the rarest first, and feeds of which too little is known after the rare ones.
    pub fn rank(self) -> usize {
        let class = self.class();
        match self.known {
            KnownBy::Nothing => RARE_CLASSES,
            KnownBy::Learning | KnownBy::Publisher | KnownBy::Counting { .. } => {
                class.saturating_add(usize::from(class >= RARE_CLASSES))
            }
        }
    }

    fn class(self) -> usize {
        CLASSES.iter().position(|(most, _)| self.per_year <= *most).unwrap_or_default()
    }

    /// Names the class of the frequency.
    pub fn words(self) -> &'static str {
        if self.known == KnownBy::Nothing {
            return "new here";
        }
        CLASSES.get(self.class()).map_or("", |(_, words)| words)
    }

    /// Says how the frequency is known, for example "about monthly: 5 entries in 16 weeks".
    pub fn reason(self) -> String {
        let words = self.words();
        match self.known {
            KnownBy::Learning => {
                format!("{words}: {}, learned from its entries", amount(self.per_year))
            }
            KnownBy::Publisher => format!("{words}: its publisher says so"),
            KnownBy::Counting { entries, seconds } => {
                let noun = if entries == 1 { "entry" } else { "entries" };
                format!("{words}: {entries} {noun} in {}", about_duration(seconds))
            }
            KnownBy::Nothing => {
                format!("{words}: fewer than {ENTRIES_MIN} entries in less than eight weeks")
            }
        }
    }
}

/// How often a feed must publish to be found by a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// How the class of the feed compares with `class`.
    order: Ordering,
    /// A class by its place in [`CLASSES`].
    class: usize,
}

impl RateLimit {
    /// Parses a limit: `<weekly` for feeds that publish more rarely than weekly, `>daily` for more often, or `monthly`.
    pub fn typed(typed: &str) -> Option<Self> {
        let (order, name) = match typed.split_at_checked(1)? {
            ("<", name) => (Ordering::Less, name),
            (">", name) => (Ordering::Greater, name),
            _ => (Ordering::Equal, typed),
        };
        let name = name.trim().to_ascii_lowercase();
        let (_, class) = NAMED.into_iter().find(|(known, _)| *known == name)?;
        Some(Self { order, class })
    }

    /// Checks whether a feed publishes as often. Nothing is said of a feed of which too little is known.
    pub fn holds(self, frequency: Frequency) -> bool {
        frequency.known != KnownBy::Nothing && frequency.class().cmp(&self.class) == self.order
    }
}

fn amount(per_year: u32) -> String {
    match per_year {
        0..=99 => format!("{per_year} a year"),
        100..=729 => format!("{} a week", per_year.saturating_add(26) / 52),
        _ => format!("{} a day", per_year.saturating_add(182) / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_790_000_000;

    /// Counts `entries` entries, one each `hours`, the newest one hour ago.
    fn every(hours: i64, entries: i64) -> Frequency {
        Frequency::counted(&(0..entries).map(|n| NOW - 3600 - n * hours * 3600), NOW)
    }

    #[test]
    fn feeds_are_ordered_from_rare_to_frequent() {
        let found = [
            every(24 * 400, 3),
            every(24 * 90, 20),
            every(700, 5),
            every(168, 12),
            every(168, 3),
            every(48, 15),
            every(24, 20),
            every(6, 30),
            Frequency::counted(&(0..100).map(|n| NOW - n * 1800), NOW),
            Frequency::counted(&(0..600).map(|n| NOW - n * 432), NOW),
        ];
        let words = [
            "about yearly",
            "a few times a year",
            "about monthly",
            "about weekly",
            "new here",
            "a few times a week",
            "about daily",
            "several times a day",
            "more than hourly",
            "over 100 a day",
        ];
        assert_eq!(found.map(Frequency::words), words);
        assert!(found.is_sorted_by(|one, other| one.rank() < other.rank()));
    }

    #[test]
    fn each_frequency_says_how_it_is_known() {
        let one_old = Frequency::counted(&[NOW + 9, NOW - 500 * DAY].into_iter(), NOW);
        let same_date = Frequency::counted(&std::iter::repeat_n(NOW - 60, 20), NOW);
        for (frequency, reason) in [
            (every(700, 5), "about monthly: 5 entries in 117 d"),
            (every(168, 3), "new here: fewer than 8 entries in less than eight weeks"),
            (same_date, "new here: fewer than 8 entries in less than eight weeks"),
            (Frequency::of_week(7.2), "about daily: 7 a week, learned from its entries"),
            (Frequency::of_week(1.1), "about weekly: 57 a year, learned from its entries"),
            (Frequency::of_week(2000.0), "over 100 a day: 286 a day, learned from its entries"),
            (Frequency::of_interval(30 * DAY), "about monthly: its publisher says so"),
            (one_old, "about yearly: 0 entries in 364 d"),
        ] {
            assert_eq!(frequency.reason(), reason);
        }
    }

    #[test]
    fn limits_compare_classes() {
        let (monthly, weekly, daily) = (every(700, 5), every(168, 12), every(24, 20));
        for (typed, found) in [
            ("<weekly", [true, false, false]),
            ("weekly", [false, true, false]),
            ("> Weekly", [false, false, true]),
            (">daily", [false; 3]),
            ("<hourly", [true; 3]),
        ] {
            let limit = RateLimit::typed(typed).unwrap();
            assert_eq!([monthly, weekly, daily].map(|one| limit.holds(one)), found, "{typed}");
            assert!(!limit.holds(Frequency::default()));
        }
        for typed in ["", "<", "<fortnightly", "<=weekly", "7"] {
            assert_eq!(RateLimit::typed(typed), None, "{typed}");
        }
    }
}

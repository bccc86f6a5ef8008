//! Formats lists, durations and times as text.

use chrono::{DateTime, Utc};

use crate::schedule::duration_words;
use crate::schedule::limits::{DAY, HOUR, MINUTE};

/// Joins words as in `a, b and c`.
pub(super) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Formats a duration, rounded to a few units.
pub(super) fn about(seconds: i64) -> String {
    let unit = match seconds {
        ..DAY => MINUTE,
        DAY.. if seconds < 10 * DAY => HOUR,
        _ => DAY,
    };
    duration_words((seconds + unit / 2) / unit * unit)
}

/// Formats a time as `Monday 2026-03-02 10:00 UTC`.
pub(super) fn instant(at: DateTime<Utc>) -> String {
    at.format("%A %Y-%m-%d %H:%M UTC").to_string()
}

/// Formats a time as `Monday 10:30`, with seconds unless they are zero.
pub(super) fn moment(at: DateTime<Utc>) -> String {
    let form = if at.timestamp() % MINUTE == 0 { "%A %H:%M" } else { "%A %H:%M:%S" };
    at.format(form).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_rounded_to_what_matters() {
        let words = [90, 3_700, 90_000, 864_000, 9_999_999].map(about);
        assert_eq!(words, ["2 min", "1 h 2 min", "1 d 1 h", "10 d", "116 d"]);
    }

    #[test]
    fn lists_are_joined_in_plain_english() {
        let words = |count: usize| (0..count).map(|word| word.to_string()).collect::<Vec<_>>();
        assert_eq!(
            [0, 1, 2, 3].map(|count| listed(&words(count))),
            ["", "0", "0 and 1", "0, 1 and 2"]
        );
        assert_eq!(
            [1, 2].map(|count| crate::feed::text::counted_words(count, "entry", "entries")),
            ["1 entry", "2 entries"]
        );
    }
}

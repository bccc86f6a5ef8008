//! Durations as users write them, such as `500ms`, `30s`, `15m`, `24h` or `2d`; words for a new filter from the title of an entry;
//! and reasons as sentences.

use backissue_core::feed::hints::INTERVAL_MINUTES_MAX;
use backissue_core::words::interval_text;
use backissue_core::{InputFlaw, flaw};
use serde::Deserialize;

/// Maximum number of words to propose.
const TELLING_WORDS: usize = 3;

/// Returns the characteristic words of a title: the text before a colon or in brackets, or else its longest words.
pub fn telling(title: &str) -> String {
    let bracketed = title.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let headed = title.split_once(": ").map(|(head, _)| head);
    let head = bracketed.map(|(inside, _)| inside).or(headed).filter(|head| {
        let words = head.split_whitespace().count();
        (1..=4).contains(&words)
    });
    head.map_or_else(|| longest_words(title), |head| head.trim().to_owned())
}

/// Returns the longest words of a title in their original order.
fn longest_words(title: &str) -> String {
    let trimmed = title.split_whitespace().map(|word| word.trim_matches(is_mark));
    let words: Vec<&str> = trimmed.filter(|word| !word.is_empty()).collect();
    let mut places: Vec<usize> = (0..words.len()).collect();
    let length = |place: &usize| words.get(*place).map_or(0, |word| word.chars().count());
    places.sort_by_key(|place| std::cmp::Reverse(length(place)));
    places.truncate(TELLING_WORDS);
    places.sort_unstable();
    let told: Vec<&str> = places.iter().filter_map(|place| words.get(*place).copied()).collect();
    told.join(" ")
}

fn is_mark(char: char) -> bool {
    !char.is_alphanumeric()
}

/// Returns a sentence fragment as a sentence, with a capital letter and an end mark.
pub(super) fn sentence(why: &str) -> String {
    let mut chars = why.chars();
    let first = chars.next().map(|char| char.to_uppercase().to_string());
    let end = if why.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{}{}{end}", first.unwrap_or_default(), chars.as_str())
}

/// A duration as users write it, at most 366 days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Length in milliseconds.
    pub ms: u64,
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = Span;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a duration in quotes, like \"30s\", \"15m\", \"24h\" or \"2d\"")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Span, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl std::str::FromStr for Span {
    type Err = InputFlaw;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || flaw!("'{text}' is not a duration; write it like 30s, 15m, 24h or 2d");
        let trimmed = text.trim();
        let digits = trimmed.find(|char: char| !char.is_ascii_digit()).unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(digits);
        let factor: u64 = match unit.trim() {
            "ms" => 1,
            "s" => 1000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(wrong()),
        };
        let ms = number
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(factor))
            .ok_or_else(wrong)?;
        if ms > u64::from(INTERVAL_MINUTES_MAX) * 60_000 {
            return Err(flaw!("'{trimmed}' is longer than a year"));
        }
        Ok(Self { ms })
    }
}

impl Span {
    /// Returns the length in whole minutes, rounded up, at least one.
    pub fn minutes(self) -> u32 {
        u32::try_from(self.ms.div_ceil(60_000)).unwrap_or(INTERVAL_MINUTES_MAX).max(1)
    }
}

/// How long something lasts, in minutes: a duration, or `always`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Lasting(pub Option<u32>);

impl Lasting {
    /// The word for a time that does not end.
    pub const ALWAYS: &str = "always";

    /// Returns the time as users write it.
    pub fn text(self) -> String {
        self.0.map_or_else(|| Self::ALWAYS.into(), interval_text)
    }
}

impl TryFrom<String> for Lasting {
    type Error = InputFlaw;

    fn try_from(text: String) -> Result<Self, InputFlaw> {
        if text.trim() == Self::ALWAYS {
            return Ok(Self(None));
        }
        let span = text.parse::<Span>().map_err(|why| format!("{why}, or \"always\""))?;
        Ok(Self(Some(span.minutes())))
    }
}

/// Parses a typed interval between polls, in minutes. The error is a sentence.
pub fn interval_minutes(typed: &str) -> Result<u32, InputFlaw> {
    let span = typed.parse::<Span>()?;
    let typed = typed.trim();
    if span.ms < 60_000 {
        return Err(flaw!("'{typed}' is less than a minute, the shortest possible interval"));
    }
    if !span.ms.is_multiple_of(60_000) {
        return Err(flaw!("'{typed}' is not a whole number of minutes"));
    }
    Ok(span.minutes())
}

#[cfg(test)]
mod tests {
    use crate::engine::wording::*;

    #[test]
    fn words_that_describe_a_title_are_offered() {
        for (title, expected) in [
            ("Sponsored: a new ladder", "Sponsored"),
            ("[Video] How to prune", "Video"),
            ("Nine candidates for harbour master", "candidates harbour master"),
            ("It was, as they say in the town, odd: so", "was they town"),
            ("One", "One"),
            ("", ""),
        ] {
            assert_eq!(telling(title), expected, "{title}");
        }
    }

    #[test]
    fn sentence_gets_exactly_one_end_mark() {
        for (why, expected) in [
            ("is this a captive portal?", "Is this a captive portal?"),
            ("answered 503", "Answered 503."),
            ("ünder way", "Ünder way."),
        ] {
            assert_eq!(sentence(why), expected);
        }
    }
}

#[cfg(test)]
mod durations_tests {
    use crate::engine::wording::*;
    use backissue_core::words::interval_text;

    #[test]
    fn intervals_are_read_in_whole_minutes() {
        let read = |typed: &str| interval_minutes(typed);
        for (typed, minutes) in
            [("15m", 15), (" 2 h ", 120), ("1d", 1440), ("30min", 30), ("120s", 2)]
        {
            assert_eq!(read(typed), Ok(minutes), "{typed}");
        }
        assert!(read("soon").unwrap_err().contains("'soon' is not a duration"));
        assert!(read("15").unwrap_err().contains("write it like"));
        assert!(read("367d").unwrap_err().contains("longer than a year"));
        assert!(read("99999999999999999999d").is_err());
        // Adding a pause beyond the range of the clock to a time would fail, and there would be no pause.
        assert!("1000000000d".parse::<Span>().unwrap_err().contains("longer than a year"));
        for short in ["0m", "10s", "59999ms"] {
            assert!(read(short).unwrap_err().contains("less than a minute"), "{short}");
        }
        assert!(read("90s").unwrap_err().contains("not a whole number of minutes"));
    }

    #[test]
    fn an_interval_is_written_as_it_is_read() {
        for (minutes, text) in [(15, "15m"), (60, "1h"), (90, "90m"), (1440, "1d"), (2880, "2d")] {
            assert_eq!(interval_text(minutes), text);
            assert_eq!(interval_minutes(text), Ok(minutes));
        }
    }
}

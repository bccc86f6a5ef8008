//! Names of months, weekdays and other words in dates, in the languages of Unicode CLDR.

/// Words used in dates, sorted by their bytes. The header of the file `months.txt` explains its format.
const TABLE: &str = include_str!("../../../assets/dates/months.txt");

/// Minimum length of an abbreviated month or weekday name, in characters.
const PREFIX_CHARS_MIN: usize = 3;

/// Maximum number of words in a name in [`TABLE`].
pub(super) const WORDS_MAX: usize = 7;

/// Meaning of a word in a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    Month(u32),
    /// A weekday, from 1 (Monday) to 7 (Sunday).
    Day(u32),
    Morning,
    Afternoon,
    /// Part of the day after midnight or late in the evening.
    Night,
    /// A word without a meaning for the date, such as *of*.
    Filler,
}

/// One meaning of a word in a date, such as a month.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning {
    pub(super) sense: Sense,
    /// Whether the meaning occurs only in languages that are not main languages.
    pub(super) is_minor: bool,
    /// Languages in which the word has this meaning, separated by commas. Empty if the language does not matter.
    languages: &'static str,
}

impl Meaning {
    fn read(code: &'static str) -> Option<Self> {
        let (sense, languages) = code.split_once(':').unwrap_or((code, ""));
        let bare = sense.trim_end_matches('~');
        let read = match bare {
            "a" => Sense::Morning,
            "p" => Sense::Afternoon,
            "n" => Sense::Night,
            "w" => Sense::Filler,
            _ => match bare.strip_prefix('d') {
                Some(day) => Sense::Day(day.parse().ok()?),
                None => Sense::Month(bare.parse().ok()?),
            },
        };
        Some(Self { sense: read, is_minor: bare.len() < sense.len(), languages })
    }

    /// Returns the number of the month, or `None` if the meaning is not a month.
    pub(super) fn month(self) -> Option<u32> {
        match self.sense {
            Sense::Month(month) => Some(month),
            Sense::Day(_) | Sense::Morning | Sense::Afternoon | Sense::Night | Sense::Filler => {
                None
            }
        }
    }

    /// Returns the number of the weekday, or `None` if the meaning is not a weekday.
    pub(super) fn day(self) -> Option<u32> {
        match self.sense {
            Sense::Day(day) => Some(day),
            Sense::Month(_) | Sense::Morning | Sense::Afternoon | Sense::Night | Sense::Filler => {
                None
            }
        }
    }

    /// Checks whether the meaning is a part of the day, such as am or pm.
    pub(super) fn is_half(self) -> bool {
        matches!(self.sense, Sense::Morning | Sense::Afternoon | Sense::Night)
    }

    /// Checks whether the words with these two meanings can be from the same language.
    pub(super) fn shares_language(self, other: Self) -> bool {
        !self.languages.is_empty()
            && self.languages.split(',').any(|one| other.languages.split(',').any(|two| one == two))
    }
}

/// All meanings of one word, starting with those in the most common languages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meanings(&'static str);

impl Meanings {
    pub(super) fn iter(self) -> impl Iterator<Item = Meaning> {
        self.0.split(' ').filter_map(Meaning::read)
    }

    pub(super) fn has(self, wanted: impl FnMut(Meaning) -> bool) -> bool {
        self.iter().any(wanted)
    }

    /// Returns the months that the word can mean.
    pub(super) fn months(self) -> impl Iterator<Item = (u32, Meaning)> {
        self.iter().filter_map(|meaning| Some((meaning.month()?, meaning)))
    }

    /// Returns the weekdays that the word can mean. Returns nothing if the most common meaning of the word is neither a month nor a
    /// weekday, as for `h`.
    pub(super) fn days(self) -> impl Iterator<Item = Meaning> {
        let first = self.iter().next();
        let is_name = first.is_some_and(|first| first.month().or(first.day()).is_some());
        self.iter().filter(move |meaning| is_name && meaning.day().is_some())
    }

    /// Checks whether the only meaning of the word in the main languages is a month.
    pub(super) fn is_clearly_month(self) -> bool {
        let has_main = self.has(|meaning| meaning.month().is_some() && !meaning.is_minor);
        self.has(|meaning| meaning.month().is_some())
            && self
                .iter()
                .all(|meaning| meaning.month().is_some() || (has_main && meaning.is_minor))
    }
}

/// Looks up the meanings of a name in the table. The words of `name` must be in lower case, without dots and separated by one
/// space.
pub(super) fn find(name: &str) -> Option<Meanings> {
    find_start(name).0
}

/// Looks up the meanings of a name in the table. The second value is true if the table also contains longer names that begin with
/// `name` and another word.
pub(super) fn find_start(name: &str) -> (Option<Meanings>, bool) {
    let mut lines = TABLE.get(lower_bound(name)..).unwrap_or_default().lines().peekable();
    let read = |line: &'static str| line.split_once('\t').filter(|(known, _)| *known == name);
    let found = lines.peek().and_then(|line| read(line)).map(|(_, codes)| Meanings(codes));
    if found.is_some() {
        lines.next();
    }
    // A space sorts before all other characters in names, so a longer name with the same first words is on the next line.
    let next = lines.next().and_then(|line| line.strip_prefix(name));
    (found, next.is_some_and(|rest| rest.starts_with(' ')))
}

/// Looks up a name that is written without its accents or without its last letters. `word` must be in the form that `find`
/// requires. Returns `None` if more than one month or weekday of the main languages matches.
pub(super) fn find_similar(word: &str) -> Option<Meanings> {
    let is_mark = |c: char| ('\u{300}'..='\u{36f}').contains(&c);
    if word.contains(is_mark) {
        let plain: String = word.chars().filter(|c| !is_mark(*c)).collect();
        if let Some(found) = find(&plain) {
            return Some(found);
        }
    }
    find_prefix(word).or_else(|| {
        let (at, _) = word.char_indices().next_back()?;
        let stem = word.get(..at)?;
        let least = if word.is_ascii() { PREFIX_CHARS_MIN + 2 } else { PREFIX_CHARS_MIN };
        (stem.chars().count() >= least).then(|| find_prefix(stem)).flatten()
    })
}

/// Returns the meanings of the only month or weekday whose name begins with `start`. If a name has several meanings, only the first
/// one is compared.
fn find_prefix(start: &str) -> Option<Meanings> {
    if start.chars().count() < PREFIX_CHARS_MIN {
        return None;
    }
    let lines = TABLE.get(lower_bound(start)..)?.lines().take_while(|line| line.starts_with(start));
    let (mut main, mut minor) = (Agreement::None, Agreement::None);
    for line in lines {
        let Some((_, codes)) = line.split_once('\t') else { continue };
        let first = codes.split(' ').next().unwrap_or(codes);
        let Some(meaning) = Meaning::read(first) else { continue };
        if meaning.month().or(meaning.day()).is_some() {
            let group = if meaning.is_minor { &mut minor } else { &mut main };
            *group = group.add(meaning.sense, first);
        }
    }
    match (main, minor) {
        (Agreement::One(_, codes), _) | (Agreement::None, Agreement::One(_, codes)) => {
            Some(Meanings(codes))
        }
        (Agreement::Several, _) | (Agreement::None, Agreement::None | Agreement::Several) => None,
    }
}

/// Result of comparing the meanings of several names: no meaning, one common meaning, or different meanings.
#[derive(Clone, Copy)]
enum Agreement {
    None,
    One(Sense, &'static str),
    Several,
}

impl Agreement {
    fn add(self, sense: Sense, codes: &'static str) -> Self {
        match self {
            Self::None => Self::One(sense, codes),
            Self::One(known, _) if known == sense => self,
            Self::One(..) | Self::Several => Self::Several,
        }
    }
}

/// Returns the byte offset of the first line in the table that does not sort before `name`.
fn lower_bound(name: &str) -> usize {
    let bytes = TABLE.as_bytes();
    let (mut low, mut high) = (0, bytes.len());
    while low < high {
        let middle = low.midpoint(high);
        let before = bytes.get(..middle).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1).max(low);
        let line = bytes.get(start..).unwrap_or_default();
        let end = memchr::memchr(b'\n', line).unwrap_or(line.len());
        let line = line.get(..end).unwrap_or_default();
        let key = line.split(|byte| *byte == b'\t').next().unwrap_or_default();
        if line.starts_with(b"#") || key < name.as_bytes() {
            low = (start + end + 1).min(high);
        } else {
            high = start;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_line_is_found() {
        let lines: Vec<_> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(lines.len() > 9_000, "{}", lines.len());
        for line in lines {
            let (name, codes) = line.split_once('\t').unwrap();
            assert_eq!(find(name).map(|found| found.0), Some(codes), "{name}");
            assert_eq!(find(name).unwrap().iter().count(), codes.split(' ').count(), "{line}");
            assert!(name.split(' ').count() <= WORDS_MAX, "{name}");
        }
        assert!(find("").is_none() && find("#").is_none() && find("zzzzzz").is_none());
    }
}

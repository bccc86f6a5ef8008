//! Names of time zones in dates.

/// Abbreviations of time zones, then their full names, with their minutes east of UTC.
const TABLE: &str = include_str!("../../../assets/dates/zones.txt");
/// The end of the line before the abbreviations.
const ABBREVIATIONS: &str = "come last.\n";
/// The line between the abbreviations and the full names.
const FULL_NAMES: &str = "# Full names.\n";

/// Returns the names, and their minutes as text, in the part of the table after the line `from` and before the next comment.
fn rows(from: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let (_, rows) = TABLE.split_once(from).unwrap_or_default();
    let lines = rows.lines().take_while(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('\t'))
}

/// Finds the full name of a zone at the start of `words`. Returns the minutes east of UTC and the number of words in the name. If
/// `daylight` or `summer` follows a one-word name such as `pacific`, an hour is added.
pub(in crate::feed) fn find_phrase(words: &[&str]) -> Option<(i32, usize)> {
    let starts = |phrase: &str, at: usize| {
        phrase.split(' ').enumerate().all(|(place, wanted)| {
            words.get(at + place).is_some_and(|word| word.eq_ignore_ascii_case(wanted))
        })
    };
    let fitting = rows(FULL_NAMES).filter(|(phrase, _)| starts(phrase, 0));
    let (phrase, minutes) = fitting.max_by_key(|(phrase, _)| phrase.len())?;
    let (mut count, minutes) = (phrase.split(' ').count(), minutes.parse().unwrap_or(0));
    if count > 1 {
        return Some((minutes, count));
    }
    let is_summer = starts("daylight", count) || starts("summer", count);
    count += usize::from(is_summer || starts("standard", count));
    let has_time = starts("time", count);
    let minutes = minutes + if is_summer { 60 } else { 0 };
    (has_time || count > 1).then_some((minutes, count + usize::from(has_time)))
}

/// Returns the minutes east of UTC of the zone with this abbreviation.
pub(in crate::feed) fn find(name: &str) -> Option<i32> {
    rows(ABBREVIATIONS)
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .and_then(|(_, minutes)| minutes.parse().ok())
}

/// Checks whether a word looks like the name of a zone: capital letters, or a place like `Europe/Berlin`. An unknown zone is read
/// as UTC.
pub(in crate::feed) fn is_like_zone(word: &str) -> bool {
    let is_place = word.split('/').count() > 1
        && word.split('/').all(|part| part.starts_with(|c: char| c.is_ascii_uppercase()));
    is_place || (word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_uppercase()))
}

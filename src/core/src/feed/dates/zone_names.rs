//! Names of time zones in dates.

/// Names of time zones with their minutes east of UTC. If a name has several meanings, the meaning in RFC 822 takes precedence,
/// then the most common meaning.
const ZONES: [(&str, i32); 84] = [
    ("acdt", 630),
    ("acst", 570),
    ("adt", -180),
    ("aedt", 660),
    ("aest", 600),
    ("akdt", -480),
    ("akst", -540),
    ("amt", -240),
    ("art", -180),
    ("ast", -240),
    ("at", -240),
    ("awst", 480),
    ("bot", -240),
    ("brst", -120),
    ("brt", -180),
    ("bst", 60),
    ("cat", 120),
    ("cdt", -300),
    ("cest", 120),
    ("cet", 60),
    ("chst", 600),
    ("clst", -180),
    ("clt", -240),
    ("cot", -300),
    ("cst", -360),
    ("ct", -360),
    ("eat", 180),
    ("edt", -240),
    ("eest", 180),
    ("eet", 120),
    ("est", -300),
    ("et", -300),
    ("gmt", 0),
    ("gst", 240),
    ("hdt", -540),
    ("hkt", 480),
    ("hst", -600),
    ("ict", 420),
    ("idt", 180),
    ("irst", 210),
    ("ist", 330),
    ("jst", 540),
    ("kst", 540),
    ("mdt", -360),
    ("mest", 120),
    ("mesz", 120),
    ("met", 60),
    ("mez", 60),
    ("mmt", 390),
    ("msd", 240),
    ("msk", 180),
    ("mst", -420),
    ("mt", -420),
    ("ndt", -150),
    ("npt", 345),
    ("nst", -210),
    ("nzdt", 780),
    ("nzst", 720),
    ("pdt", -420),
    ("pet", -300),
    ("pht", 480),
    ("pkt", 300),
    ("pst", -480),
    ("pt", -480),
    ("pyt", -240),
    ("sast", 120),
    ("sgt", 480),
    ("sst", -660),
    ("trt", 180),
    ("ut", 0),
    ("utc", 0),
    ("uyt", -180),
    ("uzt", 300),
    ("vet", -240),
    ("wast", 120),
    ("wat", 60),
    ("west", 60),
    ("wet", 0),
    ("wib", 420),
    ("wit", 540),
    ("wita", 480),
    ("wst", 480),
    ("yekt", 300),
    ("z", 0),
];

/// Full names of zones, in lower case, with their minutes east of UTC.
const PHRASES: [(&str, i32); 18] = [
    ("coordinated universal time", 0),
    ("universal time", 0),
    ("greenwich mean time", 0),
    ("british summer time", 60),
    ("western european time", 0),
    ("western european summer time", 60),
    ("central european time", 60),
    ("central european standard time", 60),
    ("central european summer time", 120),
    ("eastern european time", 120),
    ("eastern european summer time", 180),
    ("india standard time", 330),
    ("eastern", -300),
    ("central", -360),
    ("mountain", -420),
    ("pacific", -480),
    ("alaska", -540),
    ("hawaii", -600),
];

/// Finds the full name of a zone at the start of `words`. Returns the minutes east of UTC and the number of words in the name. If
/// `daylight` or `summer` follows a one-word name such as `pacific`, an hour is added.
pub(in crate::feed) fn find_phrase(words: &[&str]) -> Option<(i32, usize)> {
    let starts = |phrase: &str, at: usize| {
        phrase.split(' ').enumerate().all(|(place, wanted)| {
            words.get(at + place).is_some_and(|word| word.eq_ignore_ascii_case(wanted))
        })
    };
    let fitting = PHRASES.iter().filter(|(phrase, _)| starts(phrase, 0));
    let (phrase, minutes) = fitting.max_by_key(|(phrase, _)| phrase.len())?;
    let mut count = phrase.split(' ').count();
    if count > 1 {
        return Some((*minutes, count));
    }
    let is_summer = starts("daylight", count) || starts("summer", count);
    count += usize::from(is_summer || starts("standard", count));
    let has_time = starts("time", count);
    let minutes = minutes + if is_summer { 60 } else { 0 };
    (has_time || count > 1).then_some((minutes, count + usize::from(has_time)))
}

/// Returns the minutes east of UTC of the zone with this abbreviation.
pub(in crate::feed) fn find(name: &str) -> Option<i32> {
    let known = ZONES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map(|(_, minutes)| *minutes)
}

/// Checks whether a word looks like the name of a zone: capital letters, or a place like `Europe/Berlin`. An unknown zone is read
/// as UTC.
pub(in crate::feed) fn is_like_zone(word: &str) -> bool {
    let is_place = word.split('/').count() > 1
        && word.split('/').all(|part| part.starts_with(|c: char| c.is_ascii_uppercase()));
    is_place || (word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_uppercase()))
}

//! The names of zones in dates.

/// Minutes east of UTC. Of several meanings of a name, RFC 822's counts, else the most common one.
const ZONES: [(&str, i32); 58] = [
    ("adt", -180),
    ("aedt", 660),
    ("aest", 600),
    ("akdt", -480),
    ("akst", -540),
    ("art", -180),
    ("ast", -240),
    ("at", -240),
    ("awst", 480),
    ("brt", -180),
    ("bst", 60),
    ("cdt", -300),
    ("cest", 120),
    ("cet", 60),
    ("cst", -360),
    ("ct", -360),
    ("eat", 180),
    ("edt", -240),
    ("eest", 180),
    ("eet", 120),
    ("est", -300),
    ("et", -300),
    ("gmt", 0),
    ("hkt", 480),
    ("hst", -600),
    ("ict", 420),
    ("idt", 180),
    ("ist", 330),
    ("jst", 540),
    ("kst", 540),
    ("mdt", -360),
    ("mest", 120),
    ("mesz", 120),
    ("met", 60),
    ("mez", 60),
    ("msd", 240),
    ("msk", 180),
    ("mst", -420),
    ("mt", -420),
    ("ndt", -150),
    ("nst", -210),
    ("nzdt", 780),
    ("nzst", 720),
    ("pdt", -420),
    ("pht", 480),
    ("pkt", 300),
    ("pst", -480),
    ("pt", -480),
    ("sast", 120),
    ("sgt", 480),
    ("ut", 0),
    ("utc", 0),
    ("wat", 60),
    ("west", 60),
    ("wet", 0),
    ("wib", 420),
    ("wst", 480),
    ("z", 0),
];

/// Returns the minutes east of UTC of a known zone.
pub(in crate::feed) fn find(name: &str) -> Option<i32> {
    let known = ZONES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map(|(_, minutes)| *minutes)
}

/// Whether a word looks like the name of a zone: capitals, or a place like `Europe/Berlin`. Such a zone
/// counts as UTC if it is not known.
pub(in crate::feed) fn is_like_zone(word: &str) -> bool {
    let is_place = word.split('/').count() > 1
        && word.split('/').all(|part| part.starts_with(|c: char| c.is_ascii_uppercase()));
    is_place || (word.len() <= 5 && word.bytes().all(|byte| byte.is_ascii_uppercase()))
}

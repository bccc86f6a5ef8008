//! The words in dates: names of zones and months.

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

/// Returns the minutes east of UTC of a named zone. An unknown name counts as UTC; what is no name is `None`.
pub(in crate::feed) fn find_offset(name: &str) -> Option<i32> {
    let name = name.rsplit('/').next().unwrap_or(name).trim_end_matches('.');
    if !name.chars().all(|c| c.is_alphabetic() || c == '_') {
        return None;
    }
    Some(
        ZONES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map_or(0, |(_, minutes)| *minutes),
    )
}

/// Beginnings of the names of months, in lower case, in English, German, French, Spanish, Italian,
/// Portuguese, Dutch, Scandinavian languages, Polish, Russian, Greek and Hungarian. The first that fits counts.
const MONTHS: [(u32, &[&str]); 12] = [
    (1, &["jan", "jän", "ene", "gen", "sty", "янв", "ιαν"]),
    (2, &["feb", "fév", "fev", "lut", "фев", "φεβ"]),
    (3, &["mar", "mär", "mrz", "maa", "mrt", "már", "мар", "μαρ", "μάρ"]),
    (4, &["apr", "avr", "abr", "ápr", "kwi", "апр", "απρ"]),
    (5, &["may", "mai", "maj", "mei", "mag", "máj", "май", "мая", "μαϊ", "μαΐ"]),
    (6, &["jun", "giu", "juin", "jún", "cze", "июн", "ιουν", "ιούν"]),
    (7, &["jul", "lug", "juil", "júl", "lip", "июл", "ιουλ", "ιούλ"]),
    (8, &["aug", "aoû", "aou", "ago", "sie", "авг", "αυγ", "αύγ"]),
    (9, &["sep", "set", "sze", "wrz", "сен", "σεπ"]),
    (10, &["oct", "okt", "out", "ott", "paź", "окт", "οκτ"]),
    (11, &["nov", "lis", "ноя", "νοε", "νοέ"]),
    (12, &["dec", "dez", "déc", "dic", "des", "gru", "дек", "δεκ"]),
];

/// Names of days that begin like a month.
const NOT_MONTHS: [&str; 4] = ["mardi", "marted", "martes", "maandag"];

/// Returns the number of a named month.
pub(in crate::feed) fn find_month(name: &str) -> Option<u32> {
    if name.starts_with(|c: char| !c.is_alphabetic()) || name.len() > 24 {
        return None;
    }
    let name = name.to_lowercase();
    if NOT_MONTHS.iter().any(|day| name.starts_with(day)) {
        return None;
    }
    MONTHS
        .iter()
        .find(|(_, starts)| starts.iter().any(|start| name.starts_with(start)))
        .map(|(number, _)| *number)
}

/// Whether a word inside a date means nothing.
pub(in crate::feed) fn is_filler(word: &str) -> bool {
    const FILLERS: [&str; 8] = ["of", "at", "de", "del", "um", "den", "the", "-"];
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    FILLERS.iter().any(|filler| word.eq_ignore_ascii_case(filler))
        || DAYS.iter().any(|day| word.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(day)))
}

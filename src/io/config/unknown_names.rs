//! Names that are not known in a configuration, and the nearest that are.

/// `; did you mean 'x'?` for the name that is most like what was written, if one is.
pub(in crate::io) fn nearest<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> String {
    let written = written.to_lowercase();
    names
        .map(|name| (strsim::normalized_damerau_levenshtein(&written, name), name))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map_or_else(String::new, |(_, name)| format!("; did you mean '{name}'?"))
}

/// What a parser says about a name it does not know, with the nearest it knows: such a message names both in
/// backquotes, first the unknown one. `None`: it says something else.
pub(in crate::io) fn unknown_name(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field ")?;
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let written = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let meant = nearest(written, known.iter().copied());
    if meant.is_empty() {
        return Some(format!("no key is called '{written}' here; there are {}", known.join(", ")));
    }
    Some(format!("no key is called '{written}' here{meant}"))
}

#[cfg(test)]
mod tests {
    use crate::io::config::unknown_names::*;

    #[test]
    fn the_nearest_name_is_offered_or_else_all_of_them() {
        let message =
            |name: &str| format!("unknown field `{name}`, expected one of `min`, `max`, `default`");
        for (written, expected) in [
            ("mni", "no key is called 'mni' here; did you mean 'min'?"),
            ("defualt", "no key is called 'defualt' here; did you mean 'default'?"),
            ("colour", "no key is called 'colour' here; there are min, max, default"),
        ] {
            assert_eq!(unknown_name(&message(written)).as_deref(), Some(expected));
        }
        assert_eq!(unknown_name("invalid type: integer"), None);
    }
}

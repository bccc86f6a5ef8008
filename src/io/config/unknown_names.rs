//! Suggests the most similar known name for an unknown name in the configuration file.

/// Returns `; did you mean 'x'?` for the name that is most similar to `written`, or an empty text if no name is similar enough.
pub(in crate::io) fn nearest<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> String {
    let written = written.to_lowercase();
    names
        .map(|name| (strsim::normalized_damerau_levenshtein(&written, name), name))
        .filter(|(likeness, _)| *likeness >= 0.5)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map_or_else(String::new, |(_, name)| format!("; did you mean '{name}'?"))
}

/// Rewords serde's message about an unknown field and suggests the most similar known name. In the message, the names are in
/// backquotes, and the unknown name comes first. Returns `None` for any other message.
pub(in crate::io) fn unknown_name(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field ")?;
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let written = quoted.next()?;
    let known: Vec<&str> = quoted.collect();
    let meant = nearest(written, known.iter().copied());
    if meant.is_empty() {
        return Some(format!("unknown key '{written}'; the keys here are {}", known.join(", ")));
    }
    Some(format!("unknown key '{written}'{meant}"))
}

#[cfg(test)]
mod tests {
    use crate::io::config::unknown_names::*;

    #[test]
    fn nearest_known_name_or_all_names_are_suggested() {
        let message =
            |name: &str| format!("unknown field `{name}`, expected one of `min`, `max`, `default`");
        for (written, expected) in [
            ("mni", "unknown key 'mni'; did you mean 'min'?"),
            ("defualt", "unknown key 'defualt'; did you mean 'default'?"),
            ("colour", "unknown key 'colour'; the keys here are min, max, default"),
        ] {
            assert_eq!(unknown_name(&message(written)).as_deref(), Some(expected));
        }
        assert_eq!(unknown_name("invalid type: integer"), None);
    }
}

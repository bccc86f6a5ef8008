//! Tags as they are typed in one line: separated by commas, and in quotes if a tag has a comma itself.

use super::subscription_list::normal_tags;

/// Writes tags as a line that [`read_tags`] reads.
pub fn write_tags(tags: &[String]) -> String {
    let quoted = |tag: &String| {
        if tag.contains(',') || tag.starts_with('"') {
            format!("\"{}\"", tag.replace('"', "\"\""))
        } else {
            tag.clone()
        }
    };
    tags.iter().map(quoted).collect::<Vec<String>>().join(", ")
}

/// Reads a line of tags, in normal form and without duplicates.
pub fn read_tags(line: &str) -> Vec<String> {
    normal_tags(split_tags(line).iter().map(String::as_str))
}

/// Splits a line at its commas, except commas inside quotation marks. Removes the quotation marks around a tag; a minus may
/// precede them. Inside them, two quotation marks are read as one. A quotation mark without a closing one is kept as text.
pub fn split_tags(line: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = line;
    loop {
        let (minus, tag) = match rest.trim_start() {
            trimmed if trimmed.starts_with("-\"") => ("-", trimmed.trim_start_matches('-')),
            trimmed => ("", trimmed),
        };
        let (part, after) = if let Some((tag, after)) = quoted_tag(tag) {
            (format!("{minus}{tag}"), after)
        } else {
            let (part, after) =
                rest.split_once(',').map_or((rest, None), |(part, after)| (part, Some(after)));
            (part.trim().to_owned(), after)
        };
        parts.push(part);
        match after {
            Some(after) => rest = after,
            None => return parts,
        }
    }
}

/// Reads a tag in quotes. Returns it and what follows the comma after it, if there is one; `None` if this is not such a tag.
fn quoted_tag(text: &str) -> Option<(String, Option<&str>)> {
    let (mut tag, mut rest) = (String::new(), text.strip_prefix('"')?);
    loop {
        let (piece, after) = rest.split_once('"')?;
        tag.push_str(piece);
        if let Some(further) = after.strip_prefix('"') {
            tag.push('"');
            rest = further;
            continue;
        }
        let after = after.trim_start();
        return match after.strip_prefix(',') {
            None if !after.is_empty() => None,
            further => Some((tag.trim().to_owned(), further)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_tags_are_read_back() {
        for tags in [
            &["a", "b c"][..],
            &["a, b", "c"],
            &["c", "a,b"],
            &["say \"x\""],
            &["\"x\""],
            &["a, \"b\"", "c"],
            &[],
        ] {
            let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
            assert_eq!(read_tags(&write_tags(&tags)), tags, "{}", write_tags(&tags));
        }
    }

    #[test]
    fn odd_lines_are_split_at_their_commas() {
        for (line, tags) in [
            ("", &[][..]),
            (" a ,, b,", &["a", "b"]),
            ("\"a, b", &["\"a", "b"]),
            ("\"a\" b, c", &["\"a\" b", "c"]),
            ("x, \"a, b\" , -\"c, d\"", &["x", "a, b", "-c, d"]),
        ] {
            assert_eq!(read_tags(line), tags, "{line}");
        }
    }
}

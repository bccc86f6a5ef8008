//! Tags as they are typed in one line: separated by commas, and in quotes if a tag has a comma itself.

use super::subscription_list::normal_tags;

/// Writes tags as a line that [`read_tags`] reads.
pub fn write_tags(tags: &[String]) -> String {
    let quoted = |tag: &String| if tag.contains(',') { format!("\"{tag}\"") } else { tag.clone() };
    tags.iter().map(quoted).collect::<Vec<String>>().join(", ")
}

/// Reads a line of tags, in normal form and without duplicates.
pub fn read_tags(line: &str) -> Vec<String> {
    normal_tags(split_tags(line))
}

/// Splits a line at the commas outside quotes, and removes the quotes around a part. A quote that is not closed is a character
/// like others.
pub fn split_tags(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = line;
    loop {
        let trimmed = rest.trim_start();
        let quoted = trimmed.strip_prefix('"').and_then(|inner| {
            let (tag, after) = inner.split_once('"')?;
            let after = after.trim_start();
            (after.is_empty() || after.starts_with(',')).then_some((tag, after))
        });
        let (part, after) = match quoted {
            Some((tag, after)) => (tag, after.strip_prefix(',')),
            None => rest.split_once(',').map_or((rest, None), |(part, after)| (part, Some(after))),
        };
        parts.push(part.trim());
        match after {
            Some(after) => rest = after,
            None => return parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_tags_are_read_back() {
        for tags in [&["a", "b c"][..], &["a, b", "c"], &["c", "a,b"], &["say \"x\""], &[]] {
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
            ("x, \"a, b\" , -\"c\"", &["x", "a, b", "-\"c\""]),
        ] {
            assert_eq!(read_tags(line), tags, "{line}");
        }
    }
}

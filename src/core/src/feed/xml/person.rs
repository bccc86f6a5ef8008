//! Reads the names of authors. A name may include an email address or parentheses, or be split into several elements.

use super::tree::XmlElement;
use crate::feed::text::{self, NAME_MAX};

/// Returns the name of an author as one line of text. An email address in addition to the name is removed.
pub(in crate::feed) fn author_name(element: XmlElement<'_, '_>) -> Option<String> {
    let part = |local: &str| {
        element
            .children()
            .find(|child| child.local() == local)
            .and_then(|child| text::some_line(&child.text(), NAME_MAX))
    };
    let stated = if element.has_elements() {
        part("name").or_else(|| part("email")).or_else(|| part("uri"))
    } else {
        text::some_line(&element.text(), NAME_MAX)
    }?;
    Some(without_address(&stated)).filter(|name| !name.is_empty())
}

/// Extracts the name from `mail@host (Name)`, `Name <mail@host>` and similar texts. If there is only an email address, returns the
/// address, or its part before the `@` if it is not ASCII.
fn without_address(text: &str) -> String {
    let Some(mail) = text.split_whitespace().find(|word| word.contains('@')) else {
        return text.to_owned();
    };
    let rest: String =
        text.split_whitespace().filter(|word| *word != mail).collect::<Vec<_>>().join(" ");
    let name = match (rest.find('('), rest.rfind(')')) {
        (Some(open), Some(close)) if open < close => rest.get(open + 1..close).unwrap_or(&rest),
        _ => &rest,
    };
    let name = name.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '"' | ',' | '-')
    });
    let bare = mail.trim_matches(|c: char| matches!(c, '(' | ')' | '<' | '>' | '[' | ']' | ','));
    let bare = bare.strip_prefix("mailto:").unwrap_or(bare);
    match (name.contains('@') || name.is_empty(), bare.is_ascii()) {
        (false, _) => name.to_owned(),
        (true, true) => bare.to_owned(),
        (true, false) => bare.split('@').next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::feed::xml::person::*;

    #[test]
    fn a_name_is_found_beside_an_address() {
        for (text, expected) in [
            ("Ada Lovelace", "Ada Lovelace"),
            ("ada@example.org (Ada Lovelace)", "Ada Lovelace"),
            ("Ada Lovelace <ada@example.org>", "Ada Lovelace"),
            ("Ada Lovelace (ada@example.org)", "Ada Lovelace"),
            ("“Ada” <ada@example.org>", "“Ada”"),
            ("mailto:ada@example.org", "ada@example.org"),
            ("ada@example.org", "ada@example.org"),
        ] {
            assert_eq!(without_address(text), expected);
        }
    }
}

//! Removes comments and quoted text from Rust code, so that the project rules see only code.

/// Returns Rust code without its comments and quoted text.
pub(super) fn code_of(text: &str) -> String {
    parts_of(text).0
}

/// Returns the quoted texts of Rust code, with their quotes.
pub(super) fn texts_of(text: &str) -> Vec<&str> {
    parts_of(text).1
}

fn parts_of(text: &str) -> (String, Vec<&str>) {
    let (mut code, mut texts) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment_length(rest)
        } else if let Some(length) = raw_text_length(rest, &code) {
            code.push_str("r\"\"");
            texts.push(&rest[..length]);
            length
        } else if char == '"' {
            code.push_str("\"\"");
            let length = quoted_length(rest, '"');
            texts.push(&rest[..length]);
            length
        } else if char == '\'' && is_char(rest) {
            code.push_str("''");
            quoted_length(rest, '\'')
        } else {
            code.push(char);
            char.len_utf8()
        };
        rest = &rest[length..];
    }
    (code, texts)
}

fn comment_length(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// Returns the length of the raw string literal at the start of `text`; `None` if there is none, or if its `r` belongs to a name
/// that ends `before`.
fn raw_text_length(text: &str, before: &str) -> Option<usize> {
    let inside_name =
        before.chars().next_back().is_some_and(|char| char.is_alphanumeric() && char != 'b');
    let marks = text.strip_prefix('r').filter(|_| !inside_name)?;
    let hashes = marks.len() - marks.trim_start_matches('#').len();
    marks[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let from = hashes + 2;
    Some(text[from..].find(&end).map_or(text.len(), |at| from + at + end.len()))
}

fn is_char(text: &str) -> bool {
    let mut chars = text.chars().skip(1);
    chars.next() == Some('\\') || chars.next() == Some('\'')
}

fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if char == '\\' {
            escaped = true;
        } else if char == quote {
            return at + 1;
        }
    }
    text.len()
}

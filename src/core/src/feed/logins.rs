//! Removes logins (`user:password@`) from text, so that messages never show them and only the credentials file stores them.

/// Schemes whose URLs contain `@` but no password.
const NAMING: [&str; 6] = ["acct", "feed", "mailto", "sip", "sips", "xmpp"];
/// Longest login that is detected, in characters. The limit bounds the run time on long texts.
const LOGIN_CHARS_MAX: usize = 256;

/// Removes logins (`user:password@`) at the start of words and of URL hosts.
pub fn without_logins(text: &str) -> String {
    if !text.contains('@') {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        if begins_word(&clean) {
            let is_host = clean.ends_with("//");
            let length = match login_length(rest, is_host) {
                0 if is_host => odd_login_length(rest),
                length => length,
            };
            if let Some(behind) = rest.get(length..).filter(|_| length > 0) {
                rest = behind;
                continue;
            }
        }
        clean.push(char);
        rest = rest.get(char.len_utf8()..).unwrap_or_default();
    }
    clean
}

/// Checks whether text directly after `before` begins a word or a URL host.
fn begins_word(before: &str) -> bool {
    const SEPARATORS: [char; 10] = ['"', '\'', '<', '>', '(', ',', ';', '=', '|', '`'];
    let is_separator = |c: char| c.is_whitespace() || SEPARATORS.contains(&c);
    before.is_empty()
        || before.ends_with(is_separator)
        || ["//", ":/", "%20", "%09"].iter().any(|end| before.ends_with(end))
}

/// Returns the length of the login at the start of a text, including its `@`, or 0 if there is none.
fn login_length(text: &str, is_host: bool) -> usize {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>');
    let chars = text.char_indices().take(LOGIN_CHARS_MAX).take_while(|(_, char)| !is_end(*char));
    let end = chars.last().map_or(0, |(at, char)| at.saturating_add(char.len_utf8()));
    let word = text.get(..end).unwrap_or_default();
    let behind = |at: usize| at.saturating_add(1);
    let host = word.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some(at) = host.rfind('@').filter(|_| is_host) {
        return behind(at);
    }
    let Some((user, password)) = word.split_once(':') else { return 0 };
    let port = password.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_port = port.len() < password.len() && port.starts_with(['/', '?', '#']);
    if user.contains(['/', '?', '#', '@']) || (user.is_empty() && !is_host) || is_port {
        return 0;
    }
    if NAMING.iter().any(|naming| user.eq_ignore_ascii_case(naming)) || password.starts_with('/') {
        return 0;
    }
    // A password may contain a slash. If there is no @ before the first slash, the login ends at the first @ after it.
    host.rfind('@').or_else(|| word.find('@')).map_or(0, behind)
}

/// Returns the length of a login whose password contains blanks or quotes, or 0 if the text does not begin with one. `text` is the
/// start of a URL host. A URL with such a login is invalid, but error messages quote it.
fn odd_login_length(text: &str) -> usize {
    let within = text.char_indices().take(LOGIN_CHARS_MAX).take_while(|(_, char)| *char != '\n');
    let end = within.last().map_or(0, |(at, char)| at.saturating_add(char.len_utf8()));
    let line = text.get(..end).unwrap_or_default();
    let Some((user, password)) = line.split_once(':') else { return 0 };
    let is_word = !user.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '@'));
    let behind_port = password.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_port = behind_port.len() < password.len() && !behind_port.starts_with('@');
    let login = password.split_once('@').map(|(password, _)| password);
    let login = login.filter(|password| is_word && !is_port && !password.contains('/'));
    login.map_or(0, |password| user.len().saturating_add(password.len()).saturating_add(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_is_removed_at_any_position() {
        for (text, clean) in [
            ("https://me:secret@a.example/x", "https://a.example/x"),
            ("https://token@a.example/", "https://a.example/"),
            ("ftp://me:secret@a.example:99999/x", "ftp://a.example:99999/x"),
            ("https://me:se@cret@a b/", "https://a b/"),
            ("https://me:se/cret@a.example/", "https://a.example/"),
            ("me:secret@word", "word"),
            ("--x=https://me:secret@a.example/", "--x=https://a.example/"),
            ("https://a.example/x me:secret@b", "https://a.example/x b"),
            ("https://a.example/x%20me:secret@b", "https://a.example/x%20b"),
            ("https://a.example/https://me:secret@b/", "https://a.example/https://b/"),
            ("https://a.example/?u=me:secret@b", "https://a.example/?u=b"),
            ("'http://me:secret@a' (http://me:secret@b)", "'http://a' (http://b)"),
            ("//:secret@a", "//a"),
            ("http://me:se cret@a.example/", "http://a.example/"),
            ("http://me:se\"cr\tet@a.example/x", "http://a.example/x"),
            ("http:/me:secret@a.example/", "http:/a.example/"),
            ("http:\\\\me:secret@a.example/", "a.example/"),
        ] {
            assert_eq!(without_logins(text), clean, "{text}");
        }
    }

    #[test]
    fn login_removal_runs_in_linear_time() {
        let long = "a,".repeat(20_000) + "@";
        assert_eq!(without_logins(&long), long);
    }

    #[test]
    fn text_without_a_login_is_unchanged() {
        for text in [
            "",
            "two words",
            "me@home",
            "https://a.example/@me",
            "https://a.example:8080/x@y",
            "https://a.example/acct:me@b.example",
            "https://a.example/?resource=acct:me@b.example",
            "mailto:me@a.example",
            "feed:https://a.example/@me",
            "at 12:30 @ home",
            "http://a.example:8080 is where me@home is",
            "see http://a.example/ or: me@home",
            "ä:ö",
        ] {
            assert_eq!(without_logins(text), text);
        }
    }
}

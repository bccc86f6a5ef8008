//! What no log may hold: logins and tokens within addresses.

use url::Url;

use backissue_core::feed::logins::without_logins;

/// A text in which the addresses hold neither a login nor the values of a query.
pub(super) fn without_secrets(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = find_address(rest) {
        let (before, from) = rest.split_at(at);
        clean.push_str(before);
        // Also what may end an address within a text stands in passwords and in the values of queries.
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>');
        let address = from.split(ends).next().unwrap_or_default();
        let address = address.trim_end_matches(['\'', ',', ';', ')']);
        let behind = from.get(address.len()..).unwrap_or_default();
        clean.push_str(&bare_address(address));
        rest = behind;
    }
    clean.push_str(rest);
    without_logins(&clean)
}

/// Where an address begins, of whatever scheme: a proxy has a login too.
fn find_address(text: &str) -> Option<usize> {
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let mut before = 0;
    while let Some(found) = text.get(before..)?.find("://") {
        let at = before.saturating_add(found);
        let scheme = text.get(..at)?;
        let begin = scheme.trim_end_matches(in_scheme);
        if begin.len() < at {
            return Some(begin.len());
        }
        before = at.saturating_add(1);
    }
    None
}

/// An address without login and fragment, and with the names of its query alone.
fn bare_address(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else { return "(an address)".into() };
    let had_login = !url.username().is_empty() || url.password().is_some();
    // Only addresses without a host refuse this, and these have one.
    url.set_username("").and_then(|()| url.set_password(None)).ok();
    url.set_fragment(None);
    let names: Vec<String> = url.query_pairs().map(|(name, _)| format!("{name}=...")).collect();
    let query = url.query().map(|_| format!("?{}", names.join("&"))).unwrap_or_default();
    url.set_query(None);
    let login = if had_login { " (with a login)" } else { "" };
    format!("{url}{query}{login}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_and_the_values_of_queries_are_left_out() {
        for (text, expected) in [
            ("nothing here", "nothing here"),
            ("asked https://me:pw@a.example/f.", "asked https://a.example/f. (with a login)"),
            (
                "'http://a.example/?token=abc&x=1#y' and https://b.example",
                "'http://a.example/?token=...&x=...' and https://b.example/",
            ),
            ("http://", "(an address)"),
            ("https://a.example/https://me:pw@b/", "https://a.example/https://b/"),
            ("(https://a.example/?k=a,b;c'd), next", "(https://a.example/?k=...), next"),
            ("HTTPS://me:p,w)x@a.example/", "https://a.example/ (with a login)"),
            (
                "by socks5://me:pw@p.example:1080, then ://",
                "by socks5://p.example:1080 (with a login), then ://",
            ),
        ] {
            assert_eq!(without_secrets(text), expected);
        }
        assert!(!without_secrets("https://a.example/?secret").contains("=secret"));
    }
}

//! What no log may hold: logins and tokens within addresses.

use url::Url;

/// A text in which the addresses hold neither a login nor the values of a query.
pub(super) fn without_secrets(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = find_address(rest) {
        let (before, from) = rest.split_at(at);
        clean.push_str(before);
        let ends =
            |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '<' | '>' | ',' | ';' | ')');
        let (address, behind) = from.split_at(from.find(ends).unwrap_or(from.len()));
        clean.push_str(&bare_address(address));
        rest = behind;
    }
    clean.push_str(rest);
    clean
}

fn find_address(text: &str) -> Option<usize> {
    [text.find("http://"), text.find("https://")].into_iter().flatten().min()
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
        ] {
            assert_eq!(without_secrets(text), expected);
        }
        assert!(!without_secrets("https://a.example/?secret").contains("=secret"));
    }
}

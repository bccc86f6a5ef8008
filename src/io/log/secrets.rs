//! Removes secrets from log messages: logins and tokens in URLs.

use url::Url;

use backissue_core::feed::outgoing::replace_addresses;

/// Removes logins and query values from the URLs in a text.
pub(super) fn without_secrets(text: &str) -> String {
    replace_addresses(text, bare_address)
}

/// Returns a URL without its login, its fragment and the values in its query. The names in the query remain.
fn bare_address(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else { return "(an address)".into() };
    let had_login = !url.username().is_empty() || url.password().is_some();
    // These calls fail only for URLs without a host, and this URL has a host.
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

//! Addresses of archives: how they are compared and which ones may be requested (SPEC C.4, D.6).

use std::fmt::Write as _;

use url::{Host, Url};

/// Maximum length of an address that is followed, in bytes.
const ADDRESS_BYTES_MAX: usize = 8_192;

/// Returns the form in which addresses are compared: scheme and host in lower case, no default port, dot segments
/// removed, percent-encoding in upper case with unreserved characters decoded, no fragment. Addresses still differ if
/// the order of query parameters, a trailing slash, or http versus https differs (SPEC C.4). An invalid address is
/// returned unchanged, apart from trimming.
pub fn canonical(address: &str) -> String {
    let trimmed = address.trim();
    let Ok(mut url) = Url::parse(trimmed) else { return trimmed.to_owned() };
    url.set_fragment(None);
    with_normal_escapes(url.as_str())
}

/// Returns the address to send in a request: without surrounding white space and without its fragment.
pub(crate) fn without_fragment(address: &str) -> &str {
    address.trim().split('#').next().unwrap_or_default()
}

/// Normalizes the percent-encoding of an address: hexadecimal digits in upper case, unreserved characters decoded (RFC 3986
/// §6.2.2).
pub(super) fn with_normal_escapes(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    let mut rest = address;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let byte = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let Some(byte) = byte else {
            out.push('%');
            rest = after;
            continue;
        };
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
        rest = after.get(2..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Checks whether two addresses have the same scheme, host and port.
pub(crate) fn same_origin(a: &str, b: &str) -> bool {
    match (Url::parse(a.trim()), Url::parse(b.trim())) {
        (Ok(a), Ok(b)) => a.origin().is_tuple() && a.origin() == b.origin(),
        _ => false,
    }
}

/// Returns the host of an address, as shown to the user.
pub fn host(address: &str) -> Option<String> {
    Url::parse(address.trim()).ok()?.host_str().map(str::to_owned)
}

/// Checks whether an address has a login or a query, either of which may be a secret of its subscriber.
pub fn carries_login_or_query(address: &str) -> bool {
    Url::parse(address.trim()).is_ok_and(|url| {
        url.query().is_some() || !url.username().is_empty() || url.password().is_some()
    })
}

/// Returns the reason why an address that a document contains may not be requested, judged by the address alone. The IP
/// address is checked later, when the host name is resolved (SPEC D.6).
pub fn refusal(address: &str, by: &str, allow_insecure: bool) -> Option<&'static str> {
    if address.len() > ADDRESS_BYTES_MAX {
        return Some("its address is too long");
    }
    let Ok(url) = Url::parse(address.trim()) else { return Some("its address is not valid") };
    if !matches!(url.scheme(), "http" | "https") {
        return Some("its address is neither http nor https");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some("its address contains a user name");
    }
    let was_secure = by.trim().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("https:"));
    (was_secure && url.scheme() == "http" && !allow_insecure)
        .then_some("insecure: an https document links to it over http")
}

/// Checks whether an address is on this machine.
pub(crate) fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

/// Checks whether an address is obviously on a local machine or a private network.
pub(crate) fn is_nearby(url: &Url) -> bool {
    is_local(url)
        || match url.host() {
            Some(Host::Ipv4(address)) => address.is_private(),
            Some(Host::Ipv6(address)) => address.is_unique_local(),
            Some(Host::Domain(_)) | None => false,
        }
}

/// Checks whether two addresses are equal but for their queries and other parts that may name a session.
pub fn differ_only_in_session(a: &str, b: &str) -> bool {
    without_session(a).is_some_and(|bare| without_session(b) == Some(bare))
}

/// Returns an address without its query, the parameters of its path, and segments with the session of ASP.NET.
fn without_session(url: &str) -> Option<String> {
    let mut url = Url::parse(url).ok()?;
    let segments = url.path_segments()?.filter(|segment| !segment.starts_with("(S("));
    let path: Vec<&str> =
        segments.map(|segment| segment.split(';').next().unwrap_or_default()).collect();
    let path = path.join("/");
    url.set_path(&path);
    url.set_query(None);
    url.set_fragment(None);
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_in_one_form() {
        for (written, expected) in [
            ("HTTP://A.Example:80", "http://a.example/"),
            (" https://a.example:443/x/../y#part ", "https://a.example/y"),
            ("http://a.example/%7euser/%2fx%C3%a9", "http://a.example/~user/%2Fx%C3%A9"),
            ("http://a.example/?b=2&a=1", "http://a.example/?b=2&a=1"),
            ("http://a.example/100%", "http://a.example/100%"),
            ("http://a.example/x/", "http://a.example/x/"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(canonical(written), expected, "{written}");
        }
    }

    #[test]
    fn disallowed_address_says_why() {
        for (address, by, refused) in [
            ("https://a.example/1", "https://a.example/", false),
            ("http://a.example/1", "http://a.example/", false),
            ("https://a.example/1", "http://a.example/", false),
            ("http://a.example/1", "HTTPS://a.example/", true),
            ("file:///etc/hosts", "http://a.example/", true),
            ("http://me:secret@a.example/", "http://a.example/", true),
            ("2026-01.atom", "http://a.example/", true),
        ] {
            assert_eq!(refusal(address, by, false).is_some(), refused, "{address}");
        }
        assert_eq!(refusal("http://a.example/1", "https://a.example/", true), None);
    }

    #[test]
    fn origins_are_scheme_host_and_port() {
        assert!(same_origin("https://A.example/x", "https://a.example:443/y"));
        assert!(!same_origin("http://a.example/", "https://a.example/"));
        assert!(!same_origin("http://a.example:81/", "http://a.example/"));
        assert!(!same_origin("x", "x"));
    }
}

//! Checks who may see the pages for browsers, and restricts what a browser may do with the answers. Unlike an app, a browser also
//! sends requests that come from other sites, and adds the cookie automatically.

use std::net::IpAddr;

use crate::io::http_server::{ServedAnswer, ServedRequest};

/// Name of the cookie.
const COOKIE: &str = "backissue";
/// How long a browser stays logged in, in seconds: a month.
const COOKIE_SECONDS: u32 = 30 * 86_400;
/// Headers of every answer to a browser. With `same-origin`, no referrer is sent to other sites. `no-referrer` cannot be used,
/// because browsers would then send `Origin: null` with our own forms, and their origin could not be checked.
const HEADERS: [(&str, &str); 4] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Adds the headers that every answer to a browser has.
pub(super) fn sealed(mut answer: ServedAnswer) -> ServedAnswer {
    answer.headers.extend(HEADERS.map(|(name, value)| (name.to_owned(), value.to_owned())));
    answer
}

/// Returns the name or the address in a `Host` header, without the port.
fn host_name(host: &str) -> String {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(it, _)| it);
    name.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase()
}

/// Checks whether the host in a request is a name of this server. An attacker could let another name point to this server, so
/// that pages of the attacker could read ours. A numeric address cannot be redirected in this way.
pub(super) fn is_own_host(request: &ServedRequest, hosts: &[String]) -> bool {
    let name = host_name(request.header("host").unwrap_or_default());
    name.parse::<IpAddr>().is_ok() || name == "localhost" || hosts.contains(&name)
}

/// Checks that a form does not come from another site. Text browsers send no origin; their forms are identified by the token.
pub(super) fn is_own_form(request: &ServedRequest, hosts: &[String]) -> bool {
    let is_own = |origin: &str| {
        let host = origin.split_once("://").map(|(_, host)| host).unwrap_or_default();
        request.header("host") == Some(host) || hosts.contains(&host_name(host))
    };
    let site = request.header("sec-fetch-site").unwrap_or("none");
    request.header("origin").is_none_or(is_own) && ["same-origin", "none"].contains(&site)
}

/// Returns the name and the token in the cookie.
pub(super) fn session(request: &ServedRequest) -> Option<(String, String)> {
    let mut cookies = request.header("cookie")?.split(';').map(str::trim);
    let value = cookies.find_map(|cookie| cookie.strip_prefix(COOKIE)?.strip_prefix('='))?;
    let (name, token) = value.split_once('/')?;
    Some((name.to_owned(), token.to_owned()))
}

/// Returns the header that sets the cookie, or that removes it if there is no value.
pub(super) fn cookie(request: &ServedRequest, value: Option<&str>) -> (String, String) {
    let has_tls = request.header("x-forwarded-proto") == Some("https")
        || request.header("origin").is_some_and(|origin| origin.starts_with("https://"));
    let secure = if has_tls { "; Secure" } else { "" };
    let (value, seconds) = value.map_or(("", 0), |value| (value, COOKIE_SECONDS));
    let text =
        format!("{COOKIE}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    ("set-cookie".to_owned(), text)
}

/// Returns an answer that redirects the browser to another of our pages.
pub(super) fn lead_to(place: &str) -> ServedAnswer {
    let headers = vec![("location".to_owned(), place.to_owned())];
    ServedAnswer { status: 303, headers, body: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)]) -> ServedRequest {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        ServedRequest {
            method: "POST".into(),
            path_and_query: "/".into(),
            headers: headers.collect(),
            body: Vec::new(),
            from: [127, 0, 0, 1].into(),
        }
    }

    #[test]
    fn only_own_names_and_addresses_in_digits_lead_here() {
        let hosts = ["rss.example".to_owned()];
        for (host, is_own) in [
            ("127.0.0.1:8086", true),
            ("[::1]:8086", true),
            ("192.168.1.2", true),
            ("localhost:8086", true),
            ("LocalHost", true),
            ("rss.example", true),
            ("RSS.example:443", true),
            ("evil.example:8086", false),
            ("127.0.0.1.evil.example:8086", false),
            ("localhost.evil.example", false),
            ("rss.example.evil.example", false),
            ("", false),
        ] {
            assert_eq!(is_own_host(&request(&[("host", host)]), &hosts), is_own, "{host}");
        }
        assert!(!is_own_host(&request(&[]), &hosts));
    }

    #[test]
    fn forms_of_other_sites_are_refused() {
        let hosts = ["rss.example".to_owned()];
        for (origin, site, is_own) in [
            (Some("http://127.0.0.1:8086"), Some("same-origin"), true),
            (Some("http://127.0.0.1:8086"), None, true),
            (Some("https://rss.example"), None, true),
            (None, None, true),
            (Some("http://127.0.0.1:9"), None, false),
            (Some("http://evil.example"), None, false),
            (Some("null"), None, false),
            (Some(""), None, false),
            (Some("http://127.0.0.1:8086"), Some("same-site"), false),
            (None, Some("cross-site"), false),
        ] {
            let mut headers = vec![("host", "127.0.0.1:8086")];
            headers.extend(origin.map(|origin| ("origin", origin)));
            headers.extend(site.map(|site| ("sec-fetch-site", site)));
            assert_eq!(is_own_form(&request(&headers), &hosts), is_own, "{origin:?} {site:?}");
        }
    }

    #[test]
    fn cookie_is_for_this_site_only_and_secure_behind_tls() {
        let plain = cookie(&request(&[]), Some("phone/1")).1;
        assert!(plain.contains("HttpOnly") && plain.contains("SameSite=Strict"), "{plain}");
        assert!(!plain.contains("Secure") && plain.starts_with("backissue=phone/1;"), "{plain}");
        for header in [("x-forwarded-proto", "https"), ("origin", "https://rss.example")] {
            assert!(cookie(&request(&[header]), Some("a/b")).1.ends_with("; Secure"));
        }
        assert!(cookie(&request(&[]), None).1.contains("Max-Age=0"));
        for (cookies, found) in [
            ("a=b; backissue=phone/1", Some(("phone".to_owned(), "1".to_owned()))),
            ("backissue=phone", None),
            ("xbackissue=phone/1", None),
            ("backissuex=phone/1", None),
        ] {
            assert_eq!(session(&request(&[("cookie", cookies)])), found, "{cookies}");
        }
    }
}

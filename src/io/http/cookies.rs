//! The cookies of one fetch. Redirecting responses set them, later requests of the fetch to the same site send them, and they are
//! discarded after the fetch (SPEC D.3).

use std::fmt;

use reqwest::header::{self, HeaderMap, HeaderValue};
use url::Url;

use crate::engine::politeness::host_queue::site_of;
use crate::io::clock;
use backissue_core::feed::dates::date::parse_date;

/// Maximum number of cookies per fetch and per response.
const COOKIES_MAX: usize = 10;
/// Maximum length of a cookie line, bytes (RFC 6265 §6.1).
const COOKIE_BYTES_MAX: usize = 4096;

/// The cookies set by the redirects of one fetch.
#[derive(Default)]
pub(super) struct Cookies(Vec<Cookie>);

#[derive(PartialEq, Eq)]
struct Cookie {
    name: String,
    value: String,
    /// The site that set the cookie. Only requests to this site send the cookie.
    site: String,
    /// The host to which the cookie is sent. Unless `host_only` is set, its subdomains receive the cookie too.
    host: String,
    host_only: bool,
    path: String,
    secure: bool,
}

/// Omits the values of the cookies from the debug output, because they may be secret.
impl fmt::Debug for Cookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cookies", self.0.len())
    }
}

impl Cookies {
    /// Stores the cookies of a response.
    pub(super) fn take_from(&mut self, from: &Url, headers: &HeaderMap) {
        for line in headers.get_all(header::SET_COOKIE).iter().take(COOKIES_MAX) {
            let line = std::str::from_utf8(line.as_bytes()).unwrap_or_default();
            let Some((cookie, is_removal)) = read_cookie(line, from) else { continue };
            let key = |one: &Cookie| (one.name.clone(), one.host.clone(), one.path.clone());
            self.0.retain(|known| key(known) != key(&cookie));
            if !is_removal && self.0.len() < COOKIES_MAX {
                self.0.push(cookie);
            }
        }
    }

    /// Returns the value of the `Cookie` header for a request.
    pub(super) fn header_for(&self, to: &Url) -> Option<HeaderValue> {
        let site = site_of(to.as_str());
        let fitting = self.0.iter().filter(|cookie| cookie.site == site && cookie.is_for(to));
        let pairs: Vec<String> =
            fitting.map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        let mut header = HeaderValue::from_bytes(pairs.join("; ").as_bytes()).ok()?;
        header.set_sensitive(true);
        (!pairs.is_empty()).then_some(header)
    }
}

impl Cookie {
    fn is_for(&self, to: &Url) -> bool {
        let host = to.host_str().unwrap_or_default();
        let is_host = if self.host_only { host == self.host } else { is_within(host, &self.host) };
        let below = to.path().strip_prefix(self.path.as_str());
        let is_path = below.is_some_and(|below| {
            below.is_empty() || self.path.ends_with('/') || below.starts_with('/')
        });
        is_host && is_path && (to.scheme() == "https" || !self.secure)
    }
}

/// Parses a `Set-Cookie` line (RFC 6265 §5.2). The flag tells whether the line removes the cookie. Returns `None` for an
/// invalid line, and for a cookie of a domain that the host may not set cookies for.
fn read_cookie(line: &str, from: &Url) -> Option<(Cookie, bool)> {
    let mut parts = line.split(';');
    let (name, value) = parts.next().filter(|_| line.len() <= COOKIE_BYTES_MAX)?.split_once('=')?;
    let host = from.host_str()?.to_owned();
    let default_path = from.path().rsplit_once('/').map_or("/", |(folder, _)| folder);
    let mut cookie = Cookie {
        name: name.trim().to_owned(),
        value: value.trim().to_owned(),
        site: site_of(from.as_str()),
        host: host.clone(),
        host_only: true,
        path: if default_path.is_empty() { "/" } else { default_path }.to_owned(),
        secure: false,
    };
    let (mut by_age, mut by_date) = (None, false);
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "domain" => {
                let domain = value.strip_prefix('.').unwrap_or(value).to_ascii_lowercase();
                cookie.host_only = domain.is_empty() || (domain == host && !is_shared(&domain));
                if !cookie.host_only {
                    cookie.host = domain;
                }
            }
            "path" if value.starts_with('/') => value.clone_into(&mut cookie.path),
            "secure" => cookie.secure = true,
            "max-age" => by_age = value.parse::<i64>().ok().map(|seconds| seconds <= 0),
            "expires" => by_date = parse_date(value).is_some_and(|at| at <= clock::now()),
            _ => {}
        }
    }
    let may_set = cookie.host_only || (is_within(&host, &cookie.host) && is_shared(&cookie.host));
    (may_set && !cookie.name.is_empty()).then_some((cookie, by_age.unwrap_or(by_date)))
}

/// Checks whether a host equals a domain or is a subdomain of it.
fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|below| below.is_empty() || below.ends_with('.'))
}

/// Checks whether a domain belongs to one owner, so that its hosts may share cookies. Public suffixes such as `com` and `co.uk`
/// do not.
fn is_shared(domain: &str) -> bool {
    psl::domain_str(domain).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the `Cookie` header of a request after some responses set cookies.
    fn sent(set: &[(&str, &str)], to: &str) -> Option<String> {
        let mut cookies = Cookies::default();
        for (from, line) in set {
            let headers = HeaderMap::from_iter([(header::SET_COOKIE, line.parse().unwrap())]);
            cookies.take_from(&Url::parse(from).unwrap(), &headers);
        }
        let header = cookies.header_for(&Url::parse(to).unwrap())?;
        Some(String::from_utf8(header.as_bytes().to_vec()).unwrap())
    }

    /// SPEC D.3: a cookie is sent only to the host or domain, path and scheme that it was set for.
    #[test]
    fn cookie_is_sent_only_within_its_scope() {
        let from = "https://www.a.example/x/y";
        for (line, to, expected) in [
            ("a=b", "https://www.a.example/x/z", true),
            ("a=b", "https://www.a.example/x", true),
            ("a=b", "https://www.a.example/", false),
            ("a=b; Path=/", "http://www.a.example/", true),
            ("a=b; path=/z", "https://www.a.example/zz", false),
            ("a=b; path=/z", "https://www.a.example/z/z?z", true),
            ("a=b; path=/; SECURE", "http://www.a.example/", false),
            ("a=b; path=/; Secure", "https://www.a.example/", true),
            ("a=b; path=/", "https://a.example/", false),
            ("a=b; path=/; Domain=.A.example", "https://a.example/", true),
            ("a=b; path=/; domain=a.example", "https://feeds.a.example/", true),
            ("a=b; path=/; domain=a.example", "https://nota.example/", false),
            ("a=b; path=/; domain=b.example", "https://b.example/", false),
            ("a=b; path=/; domain=example", "https://www.a.example/", false),
            ("a=b; path=/; domain=example", "https://b.example/", false),
            ("a=b; path=/; max-age=0", "https://www.a.example/", false),
            ("a=b; path=/; max-age=60", "https://www.a.example/", true),
            ("a=b; path=/; expires=Thu, 01-Jan-1970 00:00:01 GMT", "https://www.a.example/", false),
            ("=b; path=/", "https://www.a.example/", false),
            ("b; path=/", "https://www.a.example/", false),
        ] {
            let got = sent(&[(from, line)], to);
            assert_eq!(got, expected.then(|| "a=b".to_owned()), "{line} to {to}");
        }
        let (here, beside) = ("http://127.0.0.1:8001/", "http://127.0.0.1:8002/");
        assert_eq!(sent(&[(here, "a=b; domain=127.0.0.1")], here).as_deref(), Some("a=b"));
        assert_eq!(sent(&[(here, "a=b")], beside), None);
        let (one, other) = ("https://one.github.io/", "https://other.github.io/");
        assert_eq!(sent(&[(one, "a=b; domain=github.io")], other), None);
    }

    #[test]
    fn cookies_are_replaced_removed_and_bounded() {
        let at = "https://a.example/";
        assert_eq!(sent(&[(at, "a=1"), (at, "b=2"), (at, "a=3")], at).unwrap(), "b=2; a=3");
        assert_eq!(sent(&[(at, "a=1"), (at, "a=; Max-Age=-1")], at), None);
        assert_eq!(sent(&[(at, &format!("a={}", "x".repeat(COOKIE_BYTES_MAX)))], at), None);
        let many: Vec<String> = (0..50).map(|number| format!("c{number}=x")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|line| (at, line.as_str())).collect();
        assert_eq!(sent(&many, at).unwrap().split("; ").count(), COOKIES_MAX);
    }
}

//! Follows redirects, which are given by a status code or by a redirect document, and reads how long a redirect asks clients to
//! wait (SPEC D.3, D.5). The cookies that redirecting responses set are sent by later requests of the fetch to the same site, and
//! discarded after it.

use std::fmt;
use std::time::Duration;

use backissue_core::feed::address::owned_domain;
use backissue_core::feed::dates::date::parse_date;
use backissue_core::feed::{Kind, NewLocation};
use backissue_core::schedule::WaitHeader;
use reqwest::StatusCode;
use reqwest::header::{self, HeaderMap, HeaderValue};
use url::Url;

use super::address_guard::{Trust, carries_credentials};
use crate::engine::politeness::host_queue::site_of;
use crate::engine::poll::fetch::{AnswerBody, FetchFailure, FetchRequest, Hop, ServerAnswer};
use crate::io::clock;

/// Maximum length of the address of a redirect, bytes.
const LOCATION_BYTES_MAX: usize = 8_192;

/// The redirects of one fetch so far.
#[derive(Debug)]
pub(super) struct RedirectPath {
    /// The address of the next request.
    pub(super) at: Url,
    /// The source of the address of the next request, which determines where the request may go.
    pub(super) trust: Trust,
    /// The cookies set by the responses so far.
    cookies: Cookies,
    /// The addresses requested so far, each with its cookies.
    seen: Vec<(Url, Option<HeaderValue>)>,
    by_document: usize,
}

/// Maximum numbers of redirects in one fetch.
#[derive(Debug, Clone, Copy)]
pub(super) struct RedirectLimits {
    /// Maximum number of redirects of both kinds (SPEC 0, `REDIRECT_MAX`).
    pub(super) all_max: usize,
    /// Maximum number of redirects by document (SPEC 0, `XML_REDIRECT_MAX`).
    pub(super) documents_max: usize,
    /// `true` for an attached file, whose redirects may lead from https to http.
    pub(super) is_file: bool,
}

impl RedirectPath {
    pub(super) fn new(at: Url, trust: Trust) -> Self {
        let seen = vec![(at.clone(), None)];
        Self { seen, at, trust, cookies: Cookies::default(), by_document: 0 }
    }

    /// Checks whether a redirect led from https to http.
    pub(super) fn is_downgraded(&self) -> bool {
        let schemes: Vec<&str> = self.seen.iter().map(|(url, _)| url.scheme()).collect();
        schemes.windows(2).any(|pair| pair == ["https", "http"])
    }

    /// Stores the cookies of a response for the rest of the fetch.
    pub(super) fn take_cookies(&mut self, headers: &HeaderMap) {
        self.cookies.take_from(&self.at, headers);
    }

    /// Returns the cookies to send with the next request.
    pub(super) fn cookie(&self) -> Option<&HeaderValue> {
        self.seen.last()?.1.as_ref()
    }

    /// Makes the target of a redirect the next address, if SPEC D.3 allows it. `public` means that the response came from a
    /// public address. An address may be requested again only with other cookies.
    pub(super) fn follow(
        &mut self,
        turn: &Redirect,
        public: bool,
        request: &FetchRequest,
        steps: RedirectLimits,
    ) -> Result<Hop, FetchFailure> {
        let to = resolve_target(&self.at, &turn.location)?;
        if carries_credentials(&to) {
            return Err(bad_redirect("its address contains a login"));
        }
        let is_downgrade = self.at.scheme() == "https" && to.scheme() == "http";
        let public = public || (is_downgrade && steps.is_file);
        let trust = Trust::Supplied { by: Some(self.at.clone()), public };
        trust.check(&to, request.allow_insecure || steps.is_file)?;
        if is_downgrade {
            self.cookies = Cookies::default();
        }
        let asked = (to.clone(), self.cookies.header_for(&to));
        if self.seen.contains(&asked) {
            return Err(FetchFailure::Redirect(format!("it leads back to {to}")));
        }
        if self.seen.len() > steps.all_max {
            return Err(FetchFailure::Redirect(format!("more than {} in a row", steps.all_max)));
        }
        self.by_document += usize::from(turn.by_document);
        if self.by_document > steps.documents_max {
            let max = steps.documents_max;
            return Err(FetchFailure::Redirect(format!(
                "more than {max} redirect documents in a row"
            )));
        }
        self.seen.push(asked);
        (self.at, self.trust) = (to.clone(), trust);
        Ok(Hop { status: turn.status, to: to.into(), by_document: turn.by_document })
    }
}

/// A redirect as the server stated it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    status: u16,
    location: String,
    by_document: bool,
}

impl Redirect {
    /// Reads the redirect from the head of a response. Returns `None` if it is not a redirect.
    pub(super) fn from_head(
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, FetchFailure> {
        let status = status.as_u16();
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Ok(None);
        }
        let location =
            headers.get(header::LOCATION).ok_or_else(|| bad_redirect("it has no address"))?;
        Ok(Some(Self { status, location: location_text(location.as_bytes()), by_document: false }))
    }

    /// Reads a redirect document, which counts as a 301 (SPEC D.5). Returns `None` if the address is empty, because that means
    /// that the feed is gone.
    pub(super) fn from_document(answer: &ServerAnswer) -> Option<Self> {
        let (200 | 203, AnswerBody::Document(document)) = (answer.status, &answer.body) else {
            return None;
        };
        match (document.kind, &document.new_location) {
            (Kind::Redirect, Some(NewLocation::At(location))) => {
                Some(Self { status: 301, location: location.clone(), by_document: true })
            }
            _ => None,
        }
    }
}

/// Returns a `Location` as text. If it is not UTF-8, non-ASCII bytes are percent-encoded, as in browsers.
fn location_text(bytes: &[u8]) -> String {
    let encode = |byte: &u8| match byte {
        0..=0x7f => char::from(*byte).to_string(),
        _ => percent_encoding::percent_encode_byte(*byte).to_owned(),
    };
    String::from_utf8(bytes.to_vec()).unwrap_or_else(|_| bytes.iter().map(encode).collect())
}

/// Resolves the target of a redirect, without its fragment; only http and https are allowed.
fn resolve_target(from: &Url, location: &str) -> Result<Url, FetchFailure> {
    if location.len() > LOCATION_BYTES_MAX {
        return Err(FetchFailure::Redirect(format!(
            "its address has {} bytes, which is too long",
            location.len()
        )));
    }
    let mut to = from.join(location.trim()).map_err(|_| unreadable_address())?;
    to.set_fragment(None);
    if matches!(to.scheme(), "http" | "https") {
        return Ok(to);
    }
    Err(FetchFailure::Redirect(format!("it leads to a '{}:' address", to.scheme())))
}

fn bad_redirect(why: &str) -> FetchFailure {
    FetchFailure::Redirect(why.to_owned())
}

fn unreadable_address() -> FetchFailure {
    bad_redirect("its address is not valid")
}

/// Returns the time that a redirect asks clients to wait before they follow it (SPEC D.3).
pub(super) fn requested_wait(answer: &ServerAnswer) -> Duration {
    let stated = backissue_core::schedule::Wait::of_answer(
        answer.status,
        &answer.headers.times(),
        answer.received,
    );
    let seconds = stated.filter(|wait| wait.stated_by == WaitHeader::RetryAfter);
    Duration::from_secs(seconds.map_or(0, |wait| u64::from(wait.seconds)))
}

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

/// Parses a `Set-Cookie` line (RFC 6265 §5.2). Also returns whether the line removes the cookie. Returns `None` for an invalid
/// line, and for a cookie of a domain for which the host may not set cookies.
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
    owned_domain(domain).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: &str, location: &str, expected: Result<&str, &str>) {
        let got = resolve_target(&Url::parse(from).unwrap(), location);
        let got = got.map(String::from).map_err(|failure| failure.to_string());
        assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned), "{location}");
    }

    #[test]
    fn non_utf8_location_keeps_its_bytes() {
        for (bytes, text) in [
            (b"/ziel-\xfc?a=%20 b".as_slice(), "/ziel-%FC?a=%20 b"),
            ("/ziel-ü".as_bytes(), "/ziel-ü"),
        ] {
            assert_eq!(location_text(bytes), text);
        }
        check("http://a.example/", "/ziel-%FC", Ok("http://a.example/ziel-%FC"));
        check("http://a.example/", "/ziel-ü", Ok("http://a.example/ziel-%C3%BC"));
        check(
            "http://a.example/",
            "http://%FC.example/",
            Err("bad redirect: its address is not valid"),
        );
    }

    /// SPEC D.10: only an attached file may be fetched over http after https, without cookies and from a public address.
    #[test]
    fn only_files_follow_a_redirect_from_https_to_http() {
        let from = Url::parse("https://a.example/1.mp3").unwrap();
        let request = FetchRequest::typed(crate::engine::poll::fetch::FetchId(0), from.to_string());
        let turn = |location: &str| Redirect {
            status: 302,
            location: location.into(),
            by_document: false,
        };
        for is_file in [false, true] {
            let mut path = RedirectPath::new(from.clone(), Trust::Typed);
            let mut headers = HeaderMap::new();
            headers.insert(header::SET_COOKIE, HeaderValue::from_static("a=b; Path=/"));
            path.take_cookies(&headers);
            let steps = RedirectLimits { all_max: 20, documents_max: 3, is_file };
            let followed = path.follow(&turn("http://a.example/2.mp3"), false, &request, steps);
            assert_eq!(followed.is_ok(), is_file);
            assert_eq!(path.is_downgraded(), is_file);
            if is_file {
                assert_eq!(path.cookie(), None);
                assert_eq!(path.trust, Trust::Supplied { by: Some(from.clone()), public: true });
            }
        }
    }

    /// SPEC D.3: a `Location` may be relative, loses its fragment, and must lead to http or https.
    #[test]
    fn location_is_resolved_and_limited_to_http_schemes() {
        let from = "https://a.example/dir/feed?x=1";
        check(from, "new", Ok("https://a.example/dir/new"));
        check(from, " ../new#part ", Ok("https://a.example/new"));
        check(from, "//b.example/f", Ok("https://b.example/f"));
        check(from, "HTTP://b.example", Ok("http://b.example/"));
        check(from, "http://", Err("bad redirect: its address is not valid"));
        let long = Err("bad redirect: its address has 100000 bytes, which is too long");
        check(from, &"a".repeat(100_000), long);
        check(from, "file:///etc/hostname", Err("bad redirect: it leads to a 'file:' address"));
        check(from, "gopher://b.example", Err("bad redirect: it leads to a 'gopher:' address"));
    }

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

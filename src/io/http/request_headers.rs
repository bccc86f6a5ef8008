//! Builds the headers of a request (SPEC D.1): validators (D.4), credentials if the request goes to the origin they belong to, and
//! the headers, user agent and cookies that the user configured for an origin. A request to another origin, also after a redirect,
//! gets none of them.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder};
use url::Url;

use super::address_guard::carries_credentials;
use crate::engine::poll::fetch::{FetchFailure, FetchRequest, RequestKind, Validators};
use crate::engine::settings::{Credentials, Login, OriginSettings};
use crate::io::system::system_words;
use crate::io::{clock, regular_files};

/// The default `User-Agent`, which names neither the platform nor the HTTP library (SPEC D.1). The address is a placeholder that
/// a release replaces with the project's address.
pub(super) const USER_AGENT: &str =
    concat!("backissue/", env!("CARGO_PKG_VERSION"), " (+https://backissue.example/)");
/// Sent with every feed request (SPEC D.1; never varied, D.4 rule 11), except after a 406 or 415 (D.2). It names no
/// `application/json`, because servers that offer their data as JSON then send that instead of a page or feed.
const ACCEPT: &str = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, application/xml;q=0.8, text/xml;q=0.8, */*;q=0.1";
/// Sent after the server rejected [`ACCEPT`]. Some servers require the type of web pages to be listed explicitly.
const ACCEPT_ANY_FORMAT: &str = "*/*, text/html";
/// The `Accept` header for pictures: the supported formats.
const ACCEPT_PICTURE: &str = "image/png, image/jpeg, image/webp, image/gif, image/*;q=0.1";
/// The `Accept-Encoding` header: the encodings that [`super::body`] can decode.
const ACCEPT_ENCODING: &str = "gzip, deflate, br";
/// The header that requests only the entries that are new since the entity tag (RFC 3229 §10.5.3, the instance manipulation
/// `feed`).
const A_IM: HeaderName = HeaderName::from_static("a-im");

/// Returns the headers of a request, except credentials.
pub(super) fn headers(request: &FetchRequest, url: &Url) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let accept = match request.kind {
        RequestKind::Anything => "*/*",
        RequestKind::AnyFormat => ACCEPT_ANY_FORMAT,
        RequestKind::Listing => "application/json",
        RequestKind::Page => "text/html, application/xhtml+xml, */*;q=0.1",
        RequestKind::Picture => ACCEPT_PICTURE,
        RequestKind::Robots => "text/plain, */*;q=0.1",
        RequestKind::Usual | RequestKind::Fresh | RequestKind::Delta => ACCEPT,
    };
    headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(ACCEPT_ENCODING));
    if request.kind == RequestKind::Fresh {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    if let Some(validators) = &request.validators {
        put_validators(&mut headers, validators, url.as_str());
    }
    if request.kind == RequestKind::Delta && headers.contains_key(header::IF_NONE_MATCH) {
        headers.insert(A_IM, HeaderValue::from_static("feed"));
    }
    headers
}

/// Adds the validators, unchanged byte for byte, if the response that contained them came from this address (SPEC D.4 rules 1 to
/// 3).
fn put_validators(headers: &mut HeaderMap, validators: &Validators, url: &str) {
    if !validators.speak_for(url) {
        return;
    }
    let lines = [
        (header::IF_NONE_MATCH, &validators.etag),
        (header::IF_MODIFIED_SINCE, &validators.last_modified),
    ];
    for (name, bytes) in lines {
        if let Some(value) = bytes.as_deref().and_then(|bytes| HeaderValue::from_bytes(bytes).ok())
        {
            headers.insert(name, value);
        }
    }
}

/// The credentials for a fetch: those in the configuration, and the login in the address that the user typed, if it contains one.
#[derive(Debug)]
pub(super) struct FetchCredentials<'a> {
    configured: &'a [Credentials],
    /// The typed address, if it contains user information. This address is never shown.
    typed: Option<Url>,
}

impl<'a> FetchCredentials<'a> {
    /// Removes the user information from a typed address, so that the login is sent as a header, and only to the origin of this
    /// address.
    pub(super) fn take_from_address(url: &mut Url, configured: &'a [Credentials]) -> Self {
        let typed = carries_credentials(url).then(|| url.clone());
        // Both calls fail only for a URL without a host, and such a URL contains no user information.
        url.set_username("").and_then(|()| url.set_password(None)).ok();
        Self { configured, typed }
    }

    /// Builds a GET request for a URL, with the credentials for its origin, if any (SPEC D.1, D.3, D.6).
    pub(super) fn build_request(&self, client: &Client, url: &Url) -> RequestBuilder {
        let origin = url.origin();
        if let Some(typed) = self.typed.as_ref().filter(|typed| typed.origin() == origin) {
            // The HTTP library converts a login in the URL to an `Authorization` header.
            let mut with = url.clone();
            let put = with.set_username(typed.username()).is_ok()
                && with.set_password(typed.password()).is_ok();
            return client.get(if put { with } else { url.clone() });
        }
        let asking = client.get(url.clone());
        let origin = origin.ascii_serialization();
        let find = |place: &str| self.configured.iter().find(|one| one.origin == place);
        match find(url.as_str()).or_else(|| find(&origin)).map(|one| &one.login) {
            Some(Login::Basic { user, password }) => {
                asking.basic_auth(user.reveal(), Some(password.reveal()))
            }
            Some(Login::Bearer { token }) => asking.bearer_auth(token.reveal()),
            None => asking,
        }
    }
}

/// Maximum size of a cookie file, bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Maximum length of the `Cookie` header, bytes. Cookies beyond it are not sent.
const COOKIE_BYTES_MAX: usize = 8 * 1024;

/// What requests to each origin send in addition to the usual headers, or in their place.
#[derive(Debug)]
pub(super) struct OriginHeaders(Vec<Own>);

#[derive(Debug)]
struct Own {
    origin: String,
    /// All values are marked as sensitive, so that no debug output shows them.
    headers: HeaderMap,
    cookies: Option<PathBuf>,
}

impl OriginHeaders {
    /// Prepares the headers of all origins. The configuration accepts only names and values that can be sent.
    pub(super) fn new(settings: &[OriginSettings]) -> Self {
        let own = |one: &OriginSettings| {
            let written = one.headers.iter().map(|(name, value)| (name.as_str(), value.reveal()));
            let agent = one.user_agent.iter().map(|agent| ("user-agent", agent.as_str()));
            let parsed = written.chain(agent).filter_map(|(name, value)| {
                let mut value = HeaderValue::from_str(value).ok()?;
                value.set_sensitive(true);
                Some((name.parse::<HeaderName>().ok()?, value))
            });
            let headers = parsed.collect();
            Own { origin: one.origin.clone(), headers, cookies: one.cookies.clone() }
        };
        Self(settings.iter().map(own).collect())
    }

    /// Adds the headers and cookies that are configured for the origin of an address. The cookies are added to those that
    /// redirects have set.
    pub(super) async fn add_to(
        &self,
        headers: &mut HeaderMap,
        url: &Url,
        from_redirects: Option<&HeaderValue>,
    ) -> Result<(), FetchFailure> {
        let origin = url.origin().ascii_serialization();
        let own = self.0.iter().find(|own| own.origin == origin);
        headers.extend(own.iter().flat_map(|own| own.headers.clone()));
        let file = own.and_then(|own| own.cookies.clone());
        let cookies = match file {
            Some(file) => read_cookies(file, url.clone(), from_redirects).await?,
            None => from_redirects.cloned(),
        };
        headers.extend(cookies.map(|cookies| (header::COOKIE, cookies)));
        Ok(())
    }
}

/// Returns the `Cookie` header with the cookies of a file. A cookie set by a redirect replaces a cookie with the same name.
async fn read_cookies(
    file: PathBuf,
    url: Url,
    from_redirects: Option<&HeaderValue>,
) -> Result<Option<HeaderValue>, FetchFailure> {
    let shown = file.display().to_string();
    let read =
        tokio::task::spawn_blocking(move || regular_files::read(&file, FILE_BYTES_MAX)).await;
    let read = read.map_err(|_| "the program failed".to_owned());
    let read = read.and_then(|read| read.map_err(|error| system_words(&error)));
    let bytes = read.map_err(|why| {
        FetchFailure::Address(format!("the cookie file {shown} cannot be read: {why}"))
    })?;
    let mut line = from_redirects.and_then(|set| set.to_str().ok()).unwrap_or_default().to_owned();
    let names: Vec<String> =
        line.split("; ").filter_map(|one| Some(one.split_once('=')?.0.to_owned())).collect();
    for (name, value) in cookies_for(&String::from_utf8_lossy(&bytes), &url, clock::now()) {
        let length = line.len().saturating_add(name.len()).saturating_add(value.len());
        if names.contains(&name) || length >= COOKIE_BYTES_MAX {
            continue;
        }
        let between = if line.is_empty() { "" } else { "; " };
        for part in [between, &name, "=", &value] {
            line.push_str(part);
        }
    }
    let mut header = HeaderValue::from_str(&line).ok().filter(|line| !line.is_empty());
    if let Some(header) = &mut header {
        header.set_sensitive(true);
    }
    Ok(header)
}

/// Returns the cookies of a file that a request to an address sends, as names and values: those with the longest path first.
fn cookies_for(text: &str, to: &Url, now: DateTime<Utc>) -> Vec<(String, String)> {
    let fitting = text.lines().filter_map(|line| cookie_for(line, to, now));
    let mut fitting: Vec<(usize, &str, &str)> = fitting.collect();
    fitting.sort_by_key(|(path, ..)| std::cmp::Reverse(*path));
    fitting.into_iter().map(|(_, name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Returns the length of the path, the name and the value of the cookie in a line, if a request to the address sends it.
fn cookie_for<'a>(
    line: &'a str,
    to: &Url,
    now: DateTime<Utc>,
) -> Option<(usize, &'a str, &'a str)> {
    let line = line.strip_prefix("#HttpOnly_").unwrap_or(line);
    if line.starts_with('#') {
        return None;
    }
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    let (domain, subdomains, path, secure) = (next()?, next()?, next()?, next()?);
    let (expires, name, value) = (next()?, next()?, next().unwrap_or_default());
    let domain = domain.strip_prefix('.').unwrap_or(domain).to_ascii_lowercase();
    let is_host = match to.host_str()?.strip_suffix(&domain) {
        Some("") => true,
        Some(below) => is_true(subdomains) && below.ends_with('.') && !domain.is_empty(),
        None => false,
    };
    let below = to.path().strip_prefix(path)?;
    let is_path = below.is_empty() || path.ends_with('/') || below.starts_with('/');
    let is_allowed = !is_true(secure) || to.scheme() == "https";
    // Some programs write fractions of a second.
    let expires = expires.split('.').next()?.parse::<i64>().ok()?;
    let is_valid = expires <= 0 || expires > now.timestamp();
    let is_clean = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';');
    let is_sendable = !name.is_empty() && is_clean(name) && is_clean(&value.replace(' ', ""));
    (is_host && is_path && is_allowed && is_valid && is_sendable).then_some((
        path.len(),
        name,
        value,
    ))
}

fn is_true(field: &str) -> bool {
    field.eq_ignore_ascii_case("true")
}

#[cfg(test)]
mod tests {
    use crate::engine::poll::fetch::FetchId;
    use crate::io::http::request_headers::*;

    fn request(kind: RequestKind, etag: Option<&[u8]>) -> FetchRequest {
        let url = "https://a.example/feed".to_owned();
        let validators = Validators {
            url: url.clone(),
            etag: etag.map(<[u8]>::to_vec),
            last_modified: Some(b"Mon".to_vec()),
        };
        FetchRequest { kind, validators: Some(validators), ..FetchRequest::typed(FetchId(1), url) }
    }

    /// SPEC D.7: `A-IM` is sent only with `If-None-Match`.
    #[test]
    fn delta_is_requested_only_with_an_entity_tag() {
        let own = Url::parse("https://a.example/feed").unwrap();
        let other = Url::parse("https://a.example/other").unwrap();
        let tag: &[u8] = b"\"a\"";
        for (kind, etag, url, asked) in [
            (RequestKind::Delta, Some(tag), &own, true),
            (RequestKind::Delta, None, &own, false),
            (RequestKind::Delta, Some(b"no\nheader".as_slice()), &own, false),
            (RequestKind::Delta, Some(tag), &other, false),
            (RequestKind::Usual, Some(tag), &own, false),
            (RequestKind::Fresh, Some(tag), &own, false),
        ] {
            let headers = headers(&request(kind, etag), url);
            let sent = headers.get(A_IM).map(HeaderValue::as_bytes);
            assert_eq!(sent, asked.then_some(b"feed".as_slice()), "{kind:?} {etag:?} {url}");
        }
    }

    #[test]
    fn typed_credentials_are_removed_from_the_address() {
        let mut url = Url::parse("https://u%40x:p@a.example:8443/f?x=1").unwrap();
        let keys = FetchCredentials::take_from_address(&mut url, &[]);
        assert_eq!(url.as_str(), "https://a.example:8443/f?x=1");
        assert!(keys.typed.is_some());
        assert!(FetchCredentials::take_from_address(&mut url, &[]).typed.is_none());
    }
}

#[cfg(test)]
mod cookie_file_tests {
    use super::*;

    const FILE: &str = "# Netscape HTTP Cookie File\n\
        a.example\tFALSE\t/\tFALSE\t0\tsession\ts1\n\
        .a.example\tTRUE\t/feeds\tFALSE\t2000\tdeep\td 1\n\
        #HttpOnly_.a.example\tTRUE\t/\tTRUE\t2000.5\tlocked\tl1\n\
        a.example\tFALSE\t/\tFALSE\t1000\told\to1\n\
        a.example\tFALSE\t/\tFALSE\t0\tbad\tb;1\n\
        a.example\tFALSE\t/\tFALSE\tx\tbad\tb1\n\
        b.example\tFALSE\t/\tFALSE\t0\tother\tx1\n\
        \tTRUE\t/\tFALSE\t0\tnowhere\tn1\n\
        a.example /\n\n";

    #[test]
    fn cookies_go_to_their_host_path_and_scheme_until_they_expire() {
        let now = DateTime::from_timestamp(1_500, 0).unwrap();
        for (url, names) in [
            ("https://a.example/feeds/x", "deep=d 1 session=s1 locked=l1"),
            ("https://a.example/feedsx", "session=s1 locked=l1"),
            ("http://a.example/feeds", "deep=d 1 session=s1"),
            ("https://sub.a.example/feeds", "deep=d 1 locked=l1"),
            ("https://nota.example/feeds", ""),
            ("https://b.example/", "other=x1"),
            ("https://c.example./", ""),
        ] {
            let found = cookies_for(FILE, &Url::parse(url).unwrap(), now);
            let found: Vec<String> =
                found.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(found.join(" "), names, "{url}");
        }
    }
}

//! Builds the headers of a request (SPEC D.1): validators (D.4), and credentials if the request goes to the origin they belong
//! to.

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder};
use url::Url;

use super::trust::carries_credentials;
use crate::engine::poll::fetch::{FetchRequest, RequestKind, Validators};
use crate::engine::settings::{Credentials, Login};

/// The default `User-Agent`, which names neither the platform nor the HTTP library (SPEC D.1). The address is a placeholder that
/// a release replaces with the project's address.
pub(super) const USER_AGENT: &str =
    concat!("backissue/", env!("CARGO_PKG_VERSION"), " (+https://backissue.example/)");
/// Sent with every feed request (SPEC D.1; never varied, D.4 rule 11), except after a 406 or 415 (D.2). It names no
/// `application/json`, because servers that offer their data as JSON then send that instead of a page or feed.
const ACCEPT: &str = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, application/xml;q=0.8, text/xml;q=0.8, */*;q=0.1";
/// Sent after the server refused [`ACCEPT`]. Some servers look for the type of web pages by name.
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

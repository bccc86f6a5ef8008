//! Proxies, and the choice of requests that go through them (SPEC D.6).
//!
//! If `[network] proxy` is set, requests go through it. Otherwise the environment's proxies are used (`ALL_PROXY`, `HTTPS_PROXY`,
//! `HTTP_PROXY`; on macOS and Windows the system's proxies). Neither is used for hosts listed in `NO_PROXY`, nor for this machine,
//! which no proxy can reach. A proxy resolves host names itself, so only literal IP addresses and `localhost` can be checked. The
//! proxy that the settings name for an origin replaces these for requests to that origin. With a `socks5` proxy, this program
//! resolves host names, so they are checked as usual.

use std::collections::BTreeSet;
use std::sync::Arc;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Proxy;
use url::Url;

use super::address_guard::{host_text, is_localhost, literal};
use crate::engine::settings::{NetworkSettings, OriginSettings};
use backissue_core::{InputFlaw, flaw};

/// A host name that no `NO_PROXY` list contains, used to find out whether the environment configures a proxy at all.
const NOBODY: &str = "nobody.invalid";

/// The value of `proxy` for an origin that is requested without a proxy.
const DIRECT: &str = "none";

/// The environment variables that configure proxies.
const VARIABLES: [&str; 6] =
    ["ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/// Returns the hosts that are requested without a proxy, as the environment lists them.
pub(super) fn no_proxy() -> String {
    let value = ["NO_PROXY", "no_proxy"].into_iter().find_map(std::env::var_os);
    value.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the environment variables that configure proxies, with their values.
pub(super) fn proxy_variables() -> Vec<(&'static str, String)> {
    let value = |name| Some((name, std::env::var_os(name)?.to_string_lossy().into_owned()));
    VARIABLES.into_iter().filter_map(value).filter(|(_, value)| !value.is_empty()).collect()
}

/// The choice of requests that go through a proxy.
#[derive(Debug)]
pub(super) struct ProxyChoice(Arc<Matcher>);

impl ProxyChoice {
    /// Chooses the proxy of the settings, which is not used for the hosts in `no_proxy`, or else those of the environment.
    pub(super) fn new(settings: &NetworkSettings, around: &Arc<Matcher>, no_proxy: &str) -> Self {
        let proxy = settings.proxy.as_deref().and_then(read_proxy);
        let own = |proxy| Matcher::builder().all(String::from(proxy)).no(no_proxy.to_owned());
        Self(proxy.map_or_else(|| Arc::clone(around), |proxy| Arc::new(own(proxy).build())))
    }

    /// Returns the host of the proxy for a request.
    pub(super) fn proxy_for(&self, url: &Url) -> Option<String> {
        let here = literal(url).is_some_and(|address| address.to_canonical().is_loopback())
            || is_localhost(&host_text(url));
        let uri = url.as_str().parse::<hyper::Uri>().ok().filter(|_| !here)?;
        self.0.intercept(&uri)?.uri().host().map(str::to_owned)
    }
}

/// Returns the proxies that the settings or the environment configure, and the hosts of these proxies.
pub(super) fn proxies(
    settings: &NetworkSettings,
    environment: &Matcher,
    variables: &[(&str, String)],
) -> Result<(Vec<Proxy>, BTreeSet<String>), InputFlaw> {
    if let Some(text) = &settings.proxy {
        let url = read_proxy(text).ok_or_else(|| unusable(text, ""))?;
        let host = host_text(&url);
        let proxy = Proxy::all(url)
            .map_err(|error| format!("the proxy {host} cannot be used: {}", error.without_url()))?;
        return Ok((vec![proxy], BTreeSet::from([host])));
    }
    // An invalid proxy is an error, because a user who sets a proxy does not expect direct requests.
    if let Some((name, text)) = variables.iter().find(|(_, text)| read_proxy(text).is_none()) {
        return Err(unusable(text, &format!(" of the environment variable {name}")));
    }
    let mut all = Vec::new();
    let mut hosts = BTreeSet::new();
    for scheme in ["http", "https"] {
        let probe = format!("{scheme}://{NOBODY}/").parse::<hyper::Uri>();
        let Some(found) = probe.ok().and_then(|probe| environment.intercept(&probe)) else {
            continue;
        };
        let text = found.uri().to_string();
        let mut url = read_proxy(&text).ok_or_else(|| unusable(&text, ""))?;
        hosts.insert(host_text(&url));
        if let Some((user, password)) = found.raw_auth() {
            // This cannot fail, because a URL with a host accepts a user name and a password.
            url.set_username(user).and_then(|()| url.set_password(Some(password))).ok();
        }
        let made = if scheme == "http" { Proxy::http(url) } else { Proxy::https(url) };
        let proxy = made.map_err(|error| error.without_url().to_string())?;
        all.push(match found.basic_auth() {
            Some(login) => proxy.custom_http_auth(login.clone()),
            None => proxy,
        });
    }
    Ok((all, hosts))
}

/// The proxy that the settings name for one origin.
#[derive(Debug)]
pub(super) struct OwnProxy {
    pub(super) origin: String,
    /// The proxy and its host; `None` for no proxy.
    pub(super) through: Option<(Proxy, String)>,
}

/// Returns the proxies of the origins that have their own.
pub(super) fn own_proxies(settings: &NetworkSettings) -> Result<Vec<OwnProxy>, InputFlaw> {
    let own = |one: &OriginSettings| {
        let text = one.proxy.as_ref()?.reveal();
        let origin = one.origin.clone();
        if text == DIRECT {
            return Some(Ok(OwnProxy { origin, through: None }));
        }
        let made = read_proxy(text).and_then(|url| {
            let host = host_text(&url);
            Some((Proxy::all(url).ok()?, host))
        });
        let made = made.ok_or_else(|| unusable(text, &format!(" of {origin}")));
        Some(made.map(|made| OwnProxy { origin, through: Some(made) }))
    };
    settings.origins.iter().filter_map(own).collect()
}

fn unusable(text: &str, whose: &str) -> InputFlaw {
    let shown = without_login(text);
    flaw!("the proxy '{shown}'{whose} cannot be used; write it like http://proxy.example:3128")
}

/// Parses a proxy address; without a scheme it is an HTTP proxy.
fn read_proxy(text: &str) -> Option<Url> {
    let known = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];
    let url =
        if text.contains("://") { Url::parse(text) } else { format!("http://{text}").parse() };
    url.ok().filter(|url| known.contains(&url.scheme()) && url.has_host())
}

/// Removes everything between the scheme and the last `@` from a URL, so that no password is shown.
pub(super) fn without_login(text: &str) -> String {
    let (scheme, rest) = text.split_once("//").map_or(("", text), |(scheme, rest)| (scheme, rest));
    match rest.rsplit_once('@') {
        Some((_, rest)) if scheme.is_empty() => rest.to_owned(),
        Some((_, rest)) => format!("{scheme}//{rest}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_is_removed_from_any_text() {
        for (text, shown) in [
            ("http://u:p@a.example/x@y", "http://y"),
            ("u:p@a.example", "a.example"),
            ("http://a.example", "http://a.example"),
        ] {
            assert_eq!(without_login(text), shown, "{text}");
        }
    }

    /// The environment can configure a proxy for each scheme. One proxy for both schemes is listed once.
    #[test]
    fn environment_proxies_are_chosen_by_scheme() {
        let settings = crate::engine::settings::Settings::default().network;
        let both = Matcher::builder().all("http://u:p@proxy.lan:3128").build();
        let (found, hosts) = proxies(&settings, &both, &[]).unwrap();
        assert_eq!((found.len(), hosts), (2, BTreeSet::from(["proxy.lan".to_owned()])));
        let one = Matcher::builder().https("socks5h://u:p@proxy.lan").build();
        assert_eq!(proxies(&settings, &one, &[]).unwrap().0.len(), 1);
        let none = Matcher::builder().build();
        assert_eq!(proxies(&settings, &none, &[]).unwrap().0.len(), 0);
        for text in ["ftp://u:p@proxy.lan", "http://", "http://proxy.lan:99999", "two words"] {
            let why = proxies(&settings, &none, &[("HTTP_PROXY", text.to_owned())]).unwrap_err();
            assert!(why.contains("of the environment variable HTTP_PROXY cannot be used"), "{why}");
            assert!(!why.contains("u:p"), "{why}");
        }
        let good = [("ALL_PROXY", "proxy.lan:3128".to_owned())];
        assert_eq!(proxies(&settings, &none, &good).unwrap().0.len(), 0);
    }
}

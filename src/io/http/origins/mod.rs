//! Headers, user agent and cookies that the user configured for an origin. A request to another origin, also after a redirect, gets
//! none of them.

mod cookie_file;

use std::path::PathBuf;

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::engine::poll::fetch::FetchFailure;
use crate::engine::settings::OriginSettings;
use crate::io::system::words::system_words;
use crate::io::{clock, small_files};
use cookie_file::cookies_for;

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

    /// Adds the headers of the origin of an address to a request, and its cookies to those that redirects set.
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

/// Returns the `Cookie` header with the cookies of a file. A cookie that a redirect set replaces the one of the same name.
async fn read_cookies(
    file: PathBuf,
    url: Url,
    from_redirects: Option<&HeaderValue>,
) -> Result<Option<HeaderValue>, FetchFailure> {
    let shown = file.display().to_string();
    let read = tokio::task::spawn_blocking(move || small_files::read(&file, FILE_BYTES_MAX)).await;
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

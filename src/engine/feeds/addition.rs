//! State of adding a subscription: the user's input, the addresses tried, the feeds found, and the result.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::chosen_settings::FeedSettings;
use super::subscription::{GivenBy, NamedBy};
use crate::engine::poll::fetch::{AddressSource, FetchFailure, Fetched};
use crate::engine::poll::poll_request::Again;
use crate::engine::settings::Credentials;
use backissue_core::feed::after_feed_scheme;
use backissue_core::feed::discover::candidates::Candidate;
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;
use backissue_core::other_readers::elsewhere::KnownEntries;
use backissue_core::other_readers::library::MovedFilter;

/// A request to subscribe to an address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscribe {
    /// Number of this request.
    pub id: u32,
    /// Address as typed or pasted.
    pub address: String,
    /// Title from the user; `None` uses the publisher's title.
    pub title: Option<String>,
    /// Address of the site, if known before the feed is read.
    pub site: Option<String>,
    /// Tags for the new subscription.
    pub tags: Vec<String>,
    /// Settings for the new subscription.
    pub feed_settings: FeedSettings,
    /// `true` to subscribe to the address as it is, without a request.
    pub unasked: bool,
    /// `true` to let the user choose if a page names several feeds; `false` takes the first one.
    pub choose: bool,
    /// Feed whose address to change to the found address; `None` adds a subscription.
    pub moves: Option<FeedKey>,
    /// Who gave the address.
    pub given_by: GivenBy,
}

/// A subscription that is being added.
#[derive(Debug, Clone, PartialEq)]
pub struct Addition {
    /// The user's request.
    pub wanted: Subscribe,
    /// Addresses still to try.
    pub(super) to_try: VecDeque<String>,
    /// Addresses that pages named, with the restrictions on each. Any other address was typed by the user or derives from the typed
    /// address.
    pub(super) named: BTreeMap<String, NamedAddress>,
    /// `true` after the redirect of a page by a meta refresh was followed. Only one is followed.
    pub(super) refreshed: bool,
    /// Feeds that a page names, for the user to choose from.
    pub found: Vec<Candidate>,
    /// Previews of the feeds in `found`.
    pub previews: Previews,
    /// Number of addresses requested so far.
    pub(super) asked: u32,
    /// The last address that was requested again within this addition, and the reason (SPEC D.2). This is done only once for each
    /// address.
    pub again: Option<(String, Again)>,
    /// Number of requests that were repeated so far.
    pub(super) repeated: u32,
    /// First reason that an address is not a feed; pages that lead to other addresses give no reason.
    pub(super) first_trouble: Option<String>,
    /// The address with `http:`, if the user typed no scheme and the request with `https:` failed.
    pub plain: Option<String>,
    /// Archive document at the typed address, while its feed is being requested.
    pub mistaken: Option<Box<Mistaken>>,
    /// Login from the typed address, unless the login was already in the credentials.
    pub login: Option<Credentials>,
    /// Result of the addition; `None` while it is in progress.
    pub ended: Option<Result<Added, String>>,
}

impl Addition {
    /// Sets `plain` after the first request, if that request failed.
    pub(super) fn note_plain(&mut self, asked: &str, fetched: &Fetched) {
        if self.asked == 1 {
            self.plain = plain_address(&self.wanted.address, asked, fetched);
        }
    }

    /// Returns the document that named the address to subscribe to: a page, an archive, or the response that redirected to it.
    /// Returns `None` if the user typed the address.
    pub(super) fn named_by(
        &self,
        asked: &str,
        url: &str,
        fetched: &Fetched,
        by_archive: Option<NamedBy>,
    ) -> Option<NamedBy> {
        let answer = fetched.result.as_ref().ok();
        let by_page = || match self.named.get(asked).map(|named| &named.source) {
            Some(AddressSource::Supplied { by, public }) => {
                Some(NamedBy { url: by.clone(), public: *public })
            }
            Some(AddressSource::Typed) | None => None,
        };
        let by_redirect = || {
            let public = answer.is_some_and(|answer| answer.public);
            (url != asked).then(|| NamedBy { url: asked.to_owned(), public })
        };
        by_archive.or_else(by_page).or_else(by_redirect)
    }
}

/// Origin of an address that a page named, and whether the address may redirect from https to http (SPEC D.3, D.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAddress {
    pub(super) source: AddressSource,
    pub(super) allow_insecure: bool,
}

/// Result of adding a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Feed that was added, or that was already subscribed.
    pub feed: FeedKey,
    /// `true` if the feed was already subscribed.
    pub known: bool,
    /// Sentence about the change if the address of a feed was changed.
    pub moved: Option<String>,
}

/// Previews of the feeds that a page names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Previews {
    /// Address of the feed whose preview is shown.
    pub(super) selected: Option<String>,
    /// Address being requested for a preview. Only one request is under way at a time.
    pub(super) asking: Option<String>,
    /// `true` if the user chose the feed whose preview is being requested, so that it is subscribed when the response arrives.
    pub(super) wanted: bool,
    /// Results by address: the feed with its preview, or the reason that the address is not a feed.
    pub(super) known: BTreeMap<String, Result<(Box<Fetched>, FeedPreview), String>>,
}

/// Preview of a feed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedPreview {
    /// The publisher's title.
    pub title: Option<String>,
    /// Number of entries in the document.
    pub entries: usize,
    /// Newest entries with their stated dates, newest first.
    pub newest: Vec<(Option<DateTime<Utc>>, String)>,
    /// Words for the older entries that the feed offers.
    pub history: &'static str,
    /// Expected poll interval and the reason for it.
    pub schedule: String,
}

impl FeedPreview {
    /// Formats the preview as one line.
    pub fn words(&self) -> String {
        format!(
            "{} · {} · {}",
            counted_words(self.entries, "entry", "entries"),
            self.history,
            self.schedule
        )
    }
}

impl Previews {
    /// Returns the preview of the feed at an address, or an error. Returns `None` if the address was not fetched yet.
    pub fn of(&self, url: &str) -> Option<Result<&FeedPreview, &str>> {
        let known = self.known.get(url)?;
        Some(known.as_ref().map(|(_, preview)| preview).map_err(String::as_str))
    }
}

/// An archive document at the address that the user typed, kept until its current document has been requested.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistaken {
    pub(super) asked: String,
    pub(super) fetched: Fetched,
}

/// Result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Feeds that the import added.
    pub added: Vec<FeedKey>,
    /// Imported feeds that were already subscribed. The import only added tags to them.
    pub known: Vec<FeedKey>,
    /// Addresses that cannot be subscribed to, with the reasons.
    pub bad: Vec<(String, String)>,
    /// New logins found in the imported addresses.
    pub logins: Vec<Credentials>,
}

/// Returns the requested address with `http:`, if the user typed no scheme and the host was reached but did not respond over https.
/// If the user typed a port where nothing answers, http would lead to the same port.
fn plain_address(typed: &str, asked: &str, fetched: &Fetched) -> Option<String> {
    let Err(failure) = &fetched.result else { return None };
    let is_time_out = matches!(failure, FetchFailure::Timeout { .. });
    let is_refused = matches!(failure, FetchFailure::Connect(_));
    let is_reachable = is_time_out
        || is_refused
        || matches!(
            failure,
            FetchFailure::Tls(_) | FetchFailure::Redirect(_) | FetchFailure::Protocol(_)
        );
    let has_port = url::Url::parse(asked).is_ok_and(|url| url.port().is_some());
    let is_closed = is_refused || (is_time_out && failure.is_unreachable());
    let rest = asked.strip_prefix("https://")?;
    let is_reachable = is_reachable && !(has_port && is_closed);
    let typed = after_feed_scheme(typed.trim()).map_or(typed, |rest| rest.trim_start_matches("//"));
    (is_reachable && !typed.contains("://")).then(|| format!("http://{rest}"))
}

/// A login to write to the credentials file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginToKeep {
    /// Credentials file.
    pub file: PathBuf,
    /// Login to write.
    pub credentials: Credentials,
    /// Earlier login for the same origin, restored if the file cannot be written.
    pub before: Option<Credentials>,
}

/// New logins that were found in addresses since start-up, each with the result of writing it to the credentials file.
#[derive(Debug, Clone, Default)]
pub struct TypedLogins(Vec<(Credentials, Option<Result<String, String>>)>);

impl TypedLogins {
    /// Returns the result of writing a login to the credentials file, as a sentence. Returns `None` if the login is not written
    /// yet.
    pub fn outcome(&self, login: &Credentials) -> Option<&Result<String, String>> {
        self.0.iter().find(|(typed, _)| typed == login)?.1.as_ref()
    }

    /// Records the result of writing a login to the credentials file. `None` means that the login is being written.
    pub fn note(&mut self, login: Credentials, outcome: Option<Result<String, String>>) {
        self.0.retain(|(typed, _)| *typed != login);
        self.0.push((login, outcome));
    }
}

/// What is taken over from another reader.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MoveIn {
    /// Subscriptions to add. Feeds that are already subscribed to only get new tags.
    pub subscriptions: Vec<Subscribe>,
    /// Searches to save, each as its name and query.
    pub searches: Vec<(String, String)>,
    /// Filters to add.
    pub filters: Vec<MovedFilter>,
    /// What is known of entries.
    pub known: KnownEntries,
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::addition::*;

    #[test]
    fn plain_http_is_offered_only_for_reachable_typed_hosts() {
        use chrono::{DateTime, Utc};
        let failed = |failure| Fetched {
            started: DateTime::<Utc>::UNIX_EPOCH,
            wire_bytes: 0,
            hops: Vec::new(),
            conditional: false,
            result: Err(failure),
        };
        let refused = failed(FetchFailure::Connect("a.example".into()));
        let unknown = failed(FetchFailure::Name("a.example".into()));
        let untrusted = failed(FetchFailure::Tls("it shows a self-made certificate".into()));
        let (asked, plain) = ("https://a.example/x", Some("http://a.example/x".to_owned()));
        for (typed, fetched, expected) in [
            ("a.example/x", &refused, plain.clone()),
            ("feed:a.example/x", &untrusted, plain.clone()),
            ("itpc://a.example/x", &refused, plain),
            ("a.example/x", &unknown, None),
            ("https://a.example/x", &refused, None),
            ("feed:https://a.example/x", &refused, None),
        ] {
            assert_eq!(plain_address(typed, asked, fetched), expected, "{typed}");
        }
        let asked = "https://a.example:8080/x";
        assert_eq!(plain_address("a.example:8080/x", asked, &refused), None, "the same port");
        let plain = Some("http://a.example:8080/x".to_owned());
        assert_eq!(plain_address("a.example:8080/x", asked, &untrusted), plain);
    }
}

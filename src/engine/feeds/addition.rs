//! A subscription that is being added: the user's input, the addresses tried, the feeds found, and the result.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::chosen_settings::FeedSettings;
use super::subscription::NamedBy;
use crate::engine::poll::fetch::{AddressSource, FailureClass, FetchFailure, Fetched};
use crate::engine::settings::Credentials;
use backissue_core::feed::discover::candidates::Candidate;
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;

/// An address that the user wants to subscribe to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscribe {
    /// Number of this request.
    pub id: u32,
    /// Address as typed or pasted.
    pub address: String,
    /// The user's own title.
    pub title: Option<String>,
    /// Address of the site, if known before the feed is read.
    pub site: Option<String>,
    /// Tags of the subscription.
    pub tags: Vec<String>,
    /// The user's settings for the feed.
    pub feed_settings: FeedSettings,
    /// `true` to subscribe to the address as it is, without a request.
    pub unasked: bool,
    /// `true` to let the user choose if a page names several feeds; `false` takes the first one.
    pub choose: bool,
}

/// A subscription that is being added.
#[derive(Debug, Clone, PartialEq)]
pub struct Addition {
    /// The user's request.
    pub wanted: Subscribe,
    /// Addresses still to try.
    pub(super) to_try: VecDeque<String>,
    /// Addresses that pages named, with the restrictions on each. All other addresses were typed or derive from the typed one.
    pub(super) named: BTreeMap<String, NamedAddress>,
    /// `true` after a page redirected to another page with a meta refresh.
    pub(super) refreshed: bool,
    /// Feeds that the page names.
    pub found: Vec<Candidate>,
    /// Previews of these feeds.
    pub previews: Previews,
    /// Number of pages requested so far.
    pub(super) asked: u32,
    /// `true` if the last address is requested again, bypassing caches (SPEC D.2).
    pub fresh: bool,
    /// Reason that the first address is not a feed.
    pub(super) first_trouble: Option<String>,
    /// Unencrypted form of the address, if it was typed without a scheme and a secure connection failed.
    pub plain: Option<String>,
    /// Archive document at the typed address, while its feed is being requested.
    pub mistaken: Option<Box<Mistaken>>,
    /// Login from the address, unless it was already known.
    pub login: Option<Credentials>,
    /// Result of the addition; `None` while it is in progress.
    pub ended: Option<Result<Added, String>>,
}

impl Addition {
    /// Records the unencrypted form of the first address after the encrypted request failed.
    pub(super) fn note_plain(&mut self, asked: &str, fetched: &Fetched) {
        if self.asked == 1 {
            self.plain = plain_address(&self.wanted.address, asked, fetched);
        }
    }

    /// Returns the document that named the subscribed address: a page, an archive, or a redirect from the typed address.
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

/// Origin of an address that a page named, with its restrictions (SPEC D.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAddress {
    pub(super) source: AddressSource,
    pub(super) allow_insecure: bool,
}

/// A subscription that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Feed of the subscription.
    pub feed: FeedKey,
    /// `true` if the feed was already subscribed.
    pub known: bool,
}

/// Previews of the feeds that a page names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Previews {
    /// Address of the feed whose preview is shown.
    pub(super) selected: Option<String>,
    /// Address being requested, one at a time.
    pub(super) asking: Option<String>,
    /// `true` if the user wants to subscribe as soon as the response arrives.
    pub(super) wanted: bool,
    /// Result by address: a feed, or the reason that there is none.
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
    /// History that the feed offers.
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
    /// Returns the result for an address, or `None` if it was not fetched yet.
    pub fn of(&self, url: &str) -> Option<Result<&FeedPreview, &str>> {
        let known = self.known.get(url)?;
        Some(known.as_ref().map(|(_, preview)| preview).map_err(String::as_str))
    }
}

/// An archive document that the user named, kept until its feed has been requested.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistaken {
    pub(super) asked: String,
    pub(super) fetched: Fetched,
}

/// Result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Feeds that were added.
    pub added: Vec<FeedKey>,
    /// Feeds that were already subscribed; their new tags were added.
    pub known: Vec<FeedKey>,
    /// Addresses that cannot be subscribed to, with the reasons.
    pub bad: Vec<(String, String)>,
    /// New logins found in the imported addresses.
    pub logins: Vec<Credentials>,
}

/// Returns the unencrypted form of an address that was typed without a scheme, if the encrypted request failed.
fn plain_address(typed: &str, asked: &str, fetched: &Fetched) -> Option<String> {
    let is_reachable = matches!(&fetched.result, Err(failure)
        if failure.class() == FailureClass::Unanswered
            || matches!(failure, FetchFailure::Timeout { .. }));
    let rest = asked.strip_prefix("https://")?;
    (is_reachable && !typed.contains("://")).then(|| format!("http://{rest}"))
}

/// A login to write to the credentials file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginToKeep {
    /// Credentials file.
    pub file: PathBuf,
    /// Login to write.
    pub credentials: Credentials,
    /// Login that was sent to the same origin before.
    pub before: Option<Credentials>,
}

/// New logins found in addresses entered since start-up, each with the result of storing it.
#[derive(Debug, Clone, Default)]
pub struct TypedLogins(Vec<(Credentials, Option<Result<String, String>>)>);

impl TypedLogins {
    /// Returns the result of storing a login, as a sentence, or `None` if it is not written yet.
    pub fn outcome(&self, login: &Credentials) -> Option<&Result<String, String>> {
        self.0.iter().find(|(typed, _)| typed == login)?.1.as_ref()
    }

    /// Records the result of storing a login; `None` means that it is being written.
    pub fn note(&mut self, login: Credentials, outcome: Option<Result<String, String>>) {
        self.0.retain(|(typed, _)| *typed != login);
        self.0.push((login, outcome));
    }
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
            ("feed:a.example/x", &untrusted, plain),
            ("a.example/x", &unknown, None),
            ("https://a.example/x", &refused, None),
            ("feed://a.example/x", &refused, None),
        ] {
            assert_eq!(plain_address(typed, asked, fetched), expected, "{typed}");
        }
    }
}

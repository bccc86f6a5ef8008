//! A subscription on its way: what the reader wants, what was tried, what the page offers, how it ended.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::archive_subscription::CurrentFound;
use super::chosen_settings::FeedSettings;
use super::subscription::NamedBy;
use crate::engine::poll::fetch::{AddressSource, FailureClass, FetchFailure, Fetched};
use crate::engine::settings::Credentials;
use backissue_core::feed::discover::candidates::Candidate;
use backissue_core::feed::text::counted_words;
use backissue_core::history::FeedKey;

/// An address the reader wants to subscribe to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscribe {
    /// Names this request.
    pub id: u32,
    /// What was typed or pasted.
    pub address: String,
    /// The reader's own title.
    pub title: Option<String>,
    /// The site, as far as known before the feed was read.
    pub site: Option<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// The reader's settings for it.
    pub feed_settings: FeedSettings,
    /// Subscribe to the address as it is, without asking anybody.
    pub unasked: bool,
    /// Ask the reader where a page names several feeds; else the first one is taken.
    pub choose: bool,
}

/// A subscription under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Addition {
    /// What was wanted.
    pub wanted: Subscribe,
    /// Addresses still to try, and whether somebody named them or they are only usual.
    pub(super) to_try: VecDeque<String>,
    /// Addresses that pages named, and how far each may lead. All others were typed, or follow from what was typed.
    pub(super) named: BTreeMap<String, NamedAddress>,
    /// A page led to another one by itself.
    pub(super) refreshed: bool,
    /// Feeds the page named.
    pub found: Vec<Candidate>,
    /// What is known of them.
    pub previews: Previews,
    /// Pages asked so far.
    pub(super) asked: u32,
    /// The last one is asked once more, past the caches (SPEC D.2).
    pub fresh: bool,
    /// Why the first address is no feed.
    pub(super) first_trouble: Option<String>,
    /// Where it could be asked without encryption: it was typed without a scheme, and there is no secure connection.
    pub plain: Option<String>,
    /// It led to an archive, whose feed is asked for.
    pub mistaken: Option<Box<Mistaken>>,
    /// The login that stood within the address, unless it was known.
    pub login: Option<Credentials>,
    /// How it ended; `None`: it goes on.
    pub ended: Option<Result<Added, String>>,
}

impl Addition {
    /// Notes where the first address could be asked without encryption, after it could not be asked with it.
    pub(super) fn note_plain(&mut self, asked: &str, fetched: &Fetched) {
        if self.asked == 1 {
            self.plain = plain_address(&self.wanted.address, asked, fetched);
        }
    }

    /// What named the address that is subscribed to: a page, an archive, or a redirect of the address that was typed.
    pub(super) fn named_by(
        &self,
        asked: &str,
        url: &str,
        fetched: &Fetched,
        current: Option<&CurrentFound>,
    ) -> Option<NamedBy> {
        let answer = fetched.result.as_ref().ok();
        let archive = current.filter(|current| current.takes_over).map(|current| &current.named);
        let by_archive = archive.map(|archive| {
            let public = archive.fetched.result.as_ref().is_ok_and(|answer| answer.public);
            NamedBy { url: archive.asked.clone(), public }
        });
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

/// Whose word an address is that a page named (SPEC D.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAddress {
    pub(super) source: AddressSource,
    pub(super) allow_insecure: bool,
}

/// A subscription that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The feed.
    pub feed: FeedKey,
    /// It had been subscribed to before.
    pub known: bool,
}

/// The feeds of a page that were looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Previews {
    /// The address that the reader looks at.
    pub(super) selected: Option<String>,
    /// The address that is being asked for; one at a time.
    pub(super) asking: Option<String>,
    /// The reader wants to subscribe to it as soon as it is here.
    pub(super) wanted: bool,
    /// What came of each address: a feed, or why there is none.
    pub(super) known: BTreeMap<String, Result<(Box<Fetched>, FeedPreview), String>>,
}

/// What a feed offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedPreview {
    /// Its own title.
    pub title: Option<String>,
    /// Entries of its document.
    pub entries: usize,
    /// The newest of them with the dates they state, newest first.
    pub newest: Vec<(Option<DateTime<Utc>>, String)>,
    /// What it offers of its history.
    pub history: &'static str,
    /// How often it would be polled, and why so.
    pub schedule: String,
}

impl FeedPreview {
    /// It in one line.
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
    /// What is known of an address; `None`: it was not looked at yet.
    pub fn of(&self, url: &str) -> Option<Result<&FeedPreview, &str>> {
        let known = self.known.get(url)?;
        Some(known.as_ref().map(|(_, preview)| preview).map_err(String::as_str))
    }
}

/// An archive document that the reader named, kept until it is known whether its feed can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistaken {
    pub(super) asked: String,
    pub(super) fetched: Fetched,
}

/// What came of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Subscriptions made.
    pub added: Vec<FeedKey>,
    /// Addresses subscribed to before; their new tags were added.
    pub known: Vec<FeedKey>,
    /// Addresses that cannot be subscribed to, and why.
    pub bad: Vec<(String, String)>,
    /// Logins that stood within addresses and were not known.
    pub logins: Vec<Credentials>,
}

/// Where an address that was typed without a scheme can be asked without encryption, after it could not be asked with it.
fn plain_address(typed: &str, asked: &str, fetched: &Fetched) -> Option<String> {
    let is_reachable = matches!(&fetched.result, Err(failure)
        if failure.class() == FailureClass::Unanswered
            || matches!(failure, FetchFailure::Timeout { .. }));
    let rest = asked.strip_prefix("https://")?;
    (is_reachable && !typed.contains("://")).then(|| format!("http://{rest}"))
}

/// A login that is to be written to the file of credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginToKeep {
    /// The file.
    pub file: PathBuf,
    /// The login.
    pub credentials: Credentials,
    /// What was sent to the same place before.
    pub before: Option<Credentials>,
}

/// The logins that stood within addresses since the start and were not known, and what came of keeping each.
#[derive(Debug, Clone, Default)]
pub struct TypedLogins(Vec<(Credentials, Option<Result<String, String>>)>);

impl TypedLogins {
    /// What came of keeping a login, as a sentence; `None`: it is not written yet.
    pub fn outcome(&self, login: &Credentials) -> Option<&Result<String, String>> {
        self.0.iter().find(|(typed, _)| typed == login)?.1.as_ref()
    }

    /// Notes what came of a login; `None`: it is being written.
    pub fn note(&mut self, login: Credentials, outcome: Option<Result<String, String>>) {
        self.0.retain(|(typed, _)| *typed != login);
        self.0.push((login, outcome));
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::feeds::addition::*;

    #[test]
    fn only_what_was_typed_without_a_scheme_and_is_there_is_offered_without_encryption() {
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

//! Who subscribes to an archive document means the feed it belongs to: its `current` is asked for first (SPEC C.2 rule 3).

use super::addition::{Addition, Mistaken, NamedAddress};
use super::discovery::named_by;
use crate::engine::poll::current_document::{NamedCurrent, is_taken_over};
use crate::engine::poll::fetch::{FetchRequest, Fetched, RequestKind};
use crate::engine::poll::poll_request::Sent;
use backissue_core::feed::FeedDocument;
use backissue_core::history::kind::{Subscribed, subscribed};

/// What became of an answer.
#[derive(Debug)]
pub enum Corrected {
    /// It is an archive: this address is to be asked for next.
    Ask(String),
    /// This answer of this address is the one to go by.
    GoBy(String, Box<Fetched>),
    /// The current document of an archive was asked for.
    Judge(Box<CurrentFound>),
}

/// An archive that the reader named, and what its `current` answered.
#[derive(Debug)]
pub struct CurrentFound {
    /// The archive.
    pub named: NamedCurrent,
    /// The answer at `current`.
    pub found: Fetched,
    /// It is the feed's subscription document.
    pub takes_over: bool,
}

impl CurrentFound {
    /// The address to subscribe to.
    pub fn address(&self) -> &str {
        if self.takes_over { &self.named.to } else { &self.named.asked }
    }

    /// The answer of that address.
    pub const fn answer(&self) -> &Fetched {
        if self.takes_over { &self.found } else { &self.named.fetched }
    }
}

/// Judges an answer on the way from a typed address to a feed. Only one `current` is followed.
pub fn correct(addition: &mut Addition, asked: &str, fetched: Fetched) -> Corrected {
    if let Some(first) = addition.mistaken.take() {
        let Mistaken { asked: archive, fetched: read } = *first;
        let (to, sent) = (asked.to_owned(), Sent::default());
        let named = NamedCurrent { to, once: false, asked: archive, sent, fetched: read };
        let takes_over = is_taken_over(&named, &fetched);
        return Corrected::Judge(Box::new(CurrentFound { named, found: fetched, takes_over }));
    }
    let answered = fetched.result.as_ref().ok().map(|answer| answer.url.clone());
    let answered = answered.unwrap_or_default();
    match document(&fetched).map(|document| subscribed(document, &[asked, &answered])) {
        Some(Subscribed::ToAnArchiveOf(current)) => {
            addition.mistaken = Some(Box::new(Mistaken { asked: asked.to_owned(), fetched }));
            Corrected::Ask(current)
        }
        // A current document that changes no address is asked for once the feed is subscribed to.
        Some(Subscribed::Rightly | Subscribed::ToAnArchive | Subscribed::FollowOnce(_)) | None => {
            Corrected::GoBy(asked.to_owned(), Box::new(fetched))
        }
    }
}

/// Makes the request for the next address: whose word it is, and whether caches are passed over.
pub fn request(addition: &Addition, typed: FetchRequest) -> FetchRequest {
    let answer = addition.mistaken.as_ref().and_then(|first| first.fetched.result.as_ref().ok());
    let kind = if addition.fresh { RequestKind::Fresh } else { RequestKind::Usual };
    let named = addition.named.get(&typed.url).cloned();
    let NamedAddress { source, allow_insecure } = match answer {
        Some(answer) => NamedAddress { source: named_by(answer), allow_insecure: false },
        None => {
            named.unwrap_or(NamedAddress { source: typed.address_source, allow_insecure: false })
        }
    };
    FetchRequest { kind, address_source: source, allow_insecure, ..typed }
}

fn document(fetched: &Fetched) -> Option<&FeedDocument> {
    fetched.result.as_ref().ok()?.body.feed()
}

//! If the user subscribes to the address of an archive document, requests the `current` document that the archive names, and
//! subscribes to that document instead (SPEC C.2 rule 3).

use super::addition::{Addition, Mistaken, NamedAddress, named_by};
use super::subscription::NamedBy;
use crate::engine::poll::current_document::is_taken_over;
use crate::engine::poll::fetch::{FetchRequest, Fetched, RequestKind};
use crate::engine::poll::poll_request::{Again, Sent};
use crate::engine::poll::poll_stage::NamedCurrent;
use backissue_core::feed::FeedDocument;
use backissue_core::history::kind::{Subscribed, subscribed};

/// Next step after a response while a subscription is being added.
#[derive(Debug)]
pub enum Corrected {
    /// The response is an archive; request this address next.
    Ask(String),
    /// Continue with this response from this address.
    GoBy(String, Box<Fetched>),
    /// The `current` address of an archive responded. Subscribe to one of the two addresses.
    Judge(Box<CurrentFound>),
}

/// An archive whose address the user typed, and the response from its `current` address.
#[derive(Debug)]
pub struct CurrentFound {
    /// Archive, with the address of the current document that it names.
    pub named: NamedCurrent,
    /// Response from the `current` address.
    pub found: Fetched,
    /// `true` if the current document is the feed's subscription document.
    pub takes_over: bool,
}

impl CurrentFound {
    /// Returns the address to subscribe to.
    pub fn address(&self) -> &str {
        if self.takes_over { &self.named.to } else { &self.named.asked }
    }

    /// Returns the archive as the document that named the address to subscribe to. Returns `None` if the address of the archive
    /// itself is subscribed.
    pub fn named_by(&self) -> Option<NamedBy> {
        let archive = Some(&self.named).filter(|_| self.takes_over)?;
        let public = archive.fetched.result.as_ref().is_ok_and(|answer| answer.public);
        Some(NamedBy { url: archive.asked.clone(), public })
    }

    /// Returns the response from the address to subscribe to.
    pub const fn answer(&self) -> &Fetched {
        if self.takes_over { &self.found } else { &self.named.fetched }
    }
}

/// Returns the next step after a response while a subscription is being added. Follows only one `current` link.
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
        // If the naming document is not an archive, subscribe to it. Its current document is requested afterwards.
        Some(Subscribed::Rightly | Subscribed::ToAnArchive | Subscribed::FollowOnce(_)) | None => {
            Corrected::GoBy(asked.to_owned(), Box::new(fetched))
        }
    }
}

/// Completes the request for the next address: sets the origin of the address, its restrictions, and whether to bypass caches.
pub fn request(addition: &Addition, typed: FetchRequest) -> FetchRequest {
    let answer = addition.mistaken.as_ref().and_then(|first| first.fetched.result.as_ref().ok());
    let again = addition.again.as_ref().filter(|(url, _)| *url == typed.url);
    let kind = match again {
        Some((_, Again::OtherFormats)) => RequestKind::AnyFormat,
        Some(_) => RequestKind::Fresh,
        None => RequestKind::Usual,
    };
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

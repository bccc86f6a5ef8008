//! Who subscribes to an archive document means the feed it belongs to: its `current` is asked for first (SPEC C.2 rule 3).

use super::addition::{Addition, Mistaken};
use crate::engine::poll::fetch::{AddressSource, Fetched};
use crate::feed::FeedDocument;
use crate::history::kind::{Subscribed, TakesOver, subscribed, takes_over};

/// What became of an answer.
#[derive(Debug)]
pub enum Corrected {
    /// It is an archive: this address is to be asked for next.
    Ask(String),
    /// This answer of this address is the one to go by.
    GoBy(String, Box<Fetched>),
}

/// Judges an answer on the way from a typed address to a feed. Only one `current` is followed.
pub fn correct(addition: &mut Addition, asked: &str, fetched: Fetched) -> Corrected {
    if let Some(first) = addition.mistaken.take() {
        let both = document(&first.fetched).zip(document(&fetched));
        // Another feed cannot be told from a mistake without asking, so the archive stays.
        let right = both.is_some_and(|(first, found)| takes_over(first, found) == TakesOver::Yes);
        return if right {
            Corrected::GoBy(asked.to_owned(), Box::new(fetched))
        } else {
            Corrected::GoBy(first.asked, Box::new(first.fetched))
        };
    }
    let answered = fetched.result.as_ref().ok().map(|answer| answer.url.clone());
    let answered = answered.unwrap_or_default();
    match document(&fetched).map(|document| subscribed(document, &[asked, &answered])) {
        Some(Subscribed::ToAnArchiveOf(current)) => {
            addition.mistaken = Some(Box::new(Mistaken { asked: asked.to_owned(), fetched }));
            Corrected::Ask(current)
        }
        Some(Subscribed::Rightly | Subscribed::ToAnArchive | Subscribed::FollowOnce(_)) | None => {
            Corrected::GoBy(asked.to_owned(), Box::new(fetched))
        }
    }
}

/// Whose word the address is that is asked for next.
pub fn address_source(addition: &Addition) -> AddressSource {
    let answer = addition.mistaken.as_ref().and_then(|first| first.fetched.result.as_ref().ok());
    answer.map_or(AddressSource::Typed, |answer| AddressSource::Supplied {
        by: answer.url.clone(),
        public: answer.public,
    })
}

fn document(fetched: &Fetched) -> Option<&FeedDocument> {
    fetched.result.as_ref().ok()?.body.feed()
}

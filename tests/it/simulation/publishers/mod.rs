//! Publishers of a seed, as values: each answer at each time is determined before the first request.

mod answering;
mod character;
mod documents;
mod life;

pub use life::{Episode, Fault, FaultKind};

use std::collections::BTreeMap;

use backissue::engine::poll::fetch::AnswerBody;
use chrono::{DateTime, Utc};

/// A publisher.
#[derive(Debug, Clone)]
pub struct Publisher {
    pub number: u64,
    pub seed: u64,
    pub host: String,
    pub form: Form,
    pub offer: Offer,
    pub tags: Tags,
    /// Cache lifetime statements.
    pub caching: Caching,
    /// Markup of the hints, and its replacements with their times.
    pub hints: Vec<(DateTime<Utc>, String)>,
    /// All its entries, oldest first.
    pub items: Vec<Item>,
    /// Maximum number of entries in its document.
    pub window: usize,
    pub dates: Dates,
    /// Whether deltas are served (RFC 3229).
    pub deltas: bool,
    /// Faults in order of time.
    pub episodes: Vec<Episode>,
    /// Missing archives: since the start, until when, and with which fault.
    pub lost_archives: BTreeMap<usize, (Option<DateTime<Utc>>, Fault)>,
    /// Moves to the next address: their times and kinds, and whether the old address keeps redirecting.
    pub moves: Vec<Move>,
    /// The last parsed document; the same text is not parsed again.
    pub read: Option<(String, String, AnswerBody)>,
}

/// The format of its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Rss,
    Atom,
    Rdf,
    Json,
}

/// The history it offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    Nothing,
    /// The document is the whole feed.
    Complete,
    /// Archives with this number of entries. `churns`: the address of the newest one changes with each entry.
    Archives {
        entries: usize,
        churns: bool,
    },
    /// Pages with the same number of entries as the document.
    Pages,
}

/// Validators and their reliability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tags {
    None,
    Etag,
    Date,
    Both,
    /// The whole document is sent even if the request has its `ETag`.
    Deaf,
    /// A 304 is sent for any `ETag`.
    Stuck,
    /// An `ETag` that changes with each answer, independent of the document.
    Restless,
    /// Occasional 304 answers to unconditional requests.
    Unasked,
}

/// Cache lifetime statements of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    Nothing,
    MaxAge(i64),
    /// `Expires` this number of seconds after `Date`.
    Expires(i64),
    NoCache,
    /// A lifetime together with an `Age` header.
    Aged(i64, i64),
    Nonsense,
}

/// The dates of its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dates {
    Published,
    WithUpdates,
    None,
    /// Some dates are in the future.
    Future,
}

/// An entry.
#[derive(Debug, Clone)]
pub struct Item {
    pub at: DateTime<Utc>,
    /// Time from which it has another text.
    pub edited: Option<DateTime<Utc>>,
    /// Time from which no document contains it.
    pub vanishes: Option<DateTime<Utc>>,
}

/// A change of address.
#[derive(Debug, Clone)]
pub struct Move {
    pub at: DateTime<Utc>,
    pub status: u16,
    /// Time until which the old address redirects to the new one; later nothing is served there.
    pub until: DateTime<Utc>,
    /// Whether the move is to another host.
    pub abroad: bool,
}

impl Publisher {
    /// Returns the subscribed address.
    pub fn first_address(&self) -> String {
        self.address(0)
    }

    /// Returns the address after this number of moves.
    fn address(&self, moves: usize) -> String {
        let abroad = self.moves.iter().take(moves).filter(|found| found.abroad).count();
        let host = match abroad {
            0 => self.host.clone(),
            some => format!("press{}-{some}.example", self.number),
        };
        format!("https://{host}/p{}/feed-{moves}", self.number)
    }

    /// Returns the number of moves at an instant.
    fn moves_by(&self, at: DateTime<Utc>) -> usize {
        self.moves.iter().filter(|found| found.at <= at).count()
    }

    /// Returns the entries published and not vanished at an instant, oldest first, by number.
    fn items_by(&self, at: DateTime<Utc>) -> Vec<usize> {
        let out = self.items.iter().take_while(|item| item.at <= at).enumerate();
        let kept = out.filter(|(_, item)| item.vanishes.is_none_or(|gone| gone > at));
        kept.map(|(number, _)| number).collect()
    }

    /// Returns a number that grows with each change of the content.
    fn revision(&self, at: DateTime<Utc>) -> usize {
        let changes = self.items.iter().take_while(|item| item.at <= at).map(|item| {
            let passed = |time: Option<DateTime<Utc>>| usize::from(time.is_some_and(|it| it <= at));
            1 + passed(item.edited) + passed(item.vanishes)
        });
        let hints = self.hints.iter().filter(|(since, _)| *since <= at).count();
        let renamed =
            self.episodes.iter().filter(|it| it.fault == Fault::OtherIds && it.from <= at);
        changes.sum::<usize>() + hints + renamed.count()
    }

    /// Returns the time of the last content change.
    fn changed(&self, at: DateTime<Utc>) -> DateTime<Utc> {
        let of_item = |item: &Item| [Some(item.at), item.edited, item.vanishes];
        let times = self.items.iter().flat_map(of_item).flatten();
        let hints = self.hints.iter().map(|(since, _)| *since);
        times.chain(hints).filter(|time| *time <= at).max().unwrap_or(at)
    }
}

//! The publishers of a seed. Each answer of a publisher at each time is determined before the first request.

mod answering;
mod character;
mod documents;
mod life;

pub use life::{Episode, Fault, FaultKind};

use std::collections::BTreeMap;

use backissue::engine::poll::fetch::AnswerBody;
use chrono::{DateTime, Utc};

/// A simulated publisher of one feed.
#[derive(Debug, Clone)]
pub struct Publisher {
    pub number: u64,
    pub seed: u64,
    pub host: String,
    pub form: Form,
    pub offer: Offer,
    pub tags: Tags,
    /// What the publisher's answers state about their cache lifetime.
    pub caching: Caching,
    /// Markup of the publisher's hints, and from which time each version is served.
    pub hints: Vec<(DateTime<Utc>, String)>,
    /// All entries that the publisher ever publishes, oldest first.
    pub items: Vec<Item>,
    /// Maximum number of entries in the subscribed document.
    pub window: usize,
    pub dates: Dates,
    /// Whether deltas are served (RFC 3229).
    pub deltas: bool,
    /// Temporary faults in order of time.
    pub episodes: Vec<Episode>,
    /// Missing archives: the time until which each is missing (`None`: permanently), and the fault that a request causes.
    pub lost_archives: BTreeMap<usize, (Option<DateTime<Utc>>, Fault)>,
    /// Changes of the feed's address, in order of time.
    pub moves: Vec<Move>,
    /// The last document that was parsed: its address, its text and the result. The same text is not parsed again.
    pub read: Option<(String, String, AnswerBody)>,
}

/// The format of the publisher's documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Rss,
    Atom,
    Rdf,
    Json,
}

/// The older entries that the publisher offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    Nothing,
    /// The subscribed document contains all entries.
    Complete,
    /// Archives with `entries` entries each. `churns`: the address of the newest archive changes with each entry.
    Archives {
        entries: usize,
        churns: bool,
    },
    /// Older pages, each with as many entries as the subscribed document.
    Pages,
}

/// The validators that the publisher sends, and how it treats them in requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tags {
    None,
    Etag,
    Date,
    Both,
    /// The whole document is sent even if the request names its current `ETag`.
    Deaf,
    /// A 304 is sent for any `ETag`.
    Stuck,
    /// The `ETag` changes with each answer, even if the document does not.
    Restless,
    /// Some requests without validators are answered with 304.
    Unasked,
}

/// Cache lifetime statements of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    Nothing,
    MaxAge(i64),
    /// An `Expires` header this number of seconds after `Date`.
    Expires(i64),
    NoCache,
    /// A lifetime and an `Age` header, in seconds.
    Aged(i64, i64),
    Nonsense,
}

/// The dates that the publisher gives its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dates {
    Published,
    WithUpdates,
    None,
    /// Some entries are dated in the future.
    Future,
}

/// An entry of a publisher.
#[derive(Debug, Clone)]
pub struct Item {
    pub at: DateTime<Utc>,
    /// Time from which the entry has a different text.
    pub edited: Option<DateTime<Utc>>,
    /// Time from which no document contains the entry.
    pub vanishes: Option<DateTime<Utc>>,
}

/// A change of the feed's address.
#[derive(Debug, Clone)]
pub struct Move {
    pub at: DateTime<Utc>,
    pub status: u16,
    /// Time until which the old address redirects to the new one; after it nothing is served at the old address.
    pub until: DateTime<Utc>,
    /// Whether the new address is on another host.
    pub abroad: bool,
}

impl Publisher {
    /// Returns the address to which the program subscribes.
    pub fn first_address(&self) -> String {
        self.address(0)
    }

    /// Returns the feed's address after `moves` changes.
    fn address(&self, moves: usize) -> String {
        let abroad = self.moves.iter().take(moves).filter(|found| found.abroad).count();
        let host = match abroad {
            0 => self.host.clone(),
            some => format!("press{}-{some}.example", self.number),
        };
        format!("https://{host}/p{}/feed-{moves}", self.number)
    }

    /// Returns the number of address changes up to `at`.
    fn moves_by(&self, at: DateTime<Utc>) -> usize {
        self.moves.iter().filter(|found| found.at <= at).count()
    }

    /// Returns the numbers of the entries that are published and have not vanished at `at`, oldest first.
    fn items_by(&self, at: DateTime<Utc>) -> Vec<usize> {
        let out = self.items.iter().take_while(|item| item.at <= at).enumerate();
        let kept = out.filter(|(_, item)| item.vanishes.is_none_or(|gone| gone > at));
        kept.map(|(number, _)| number).collect()
    }

    /// Returns a revision number that grows with each change of the content.
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

    /// Returns the time of the last change of the content up to `at`.
    fn changed(&self, at: DateTime<Utc>) -> DateTime<Utc> {
        let of_item = |item: &Item| [Some(item.at), item.edited, item.vanishes];
        let times = self.items.iter().flat_map(of_item).flatten();
        let hints = self.hints.iter().map(|(since, _)| *since);
        times.chain(hints).filter(|time| *time <= at).max().unwrap_or(at)
    }
}

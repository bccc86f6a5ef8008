//! Publishers of a seed, as values: what each answers at which time is settled before the first request.

mod answering;
mod character;
mod documents;
mod life;

pub use life::{Episode, Fault, FaultKind};

use std::collections::BTreeMap;

use backissue::engine::poll::fetch::AnswerBody;
use chrono::{DateTime, Utc};

/// One publisher.
#[derive(Debug, Clone)]
pub struct Publisher {
    pub number: u64,
    pub seed: u64,
    pub host: String,
    pub form: Form,
    pub offer: Offer,
    pub tags: Tags,
    /// What is said of the lifetime of an answer.
    pub caching: Caching,
    /// Markup of the hints, and what takes its place at some time.
    pub hints: Vec<(DateTime<Utc>, String)>,
    /// Everything it ever publishes, oldest first.
    pub items: Vec<Item>,
    /// Entries in its document at most.
    pub window: usize,
    pub dates: Dates,
    /// Deltas are served (RFC 3229).
    pub deltas: bool,
    /// What goes wrong, in order.
    pub episodes: Vec<Episode>,
    /// Archives that cannot be had: since the beginning, until when, and how.
    pub lost_archives: BTreeMap<usize, (Option<DateTime<Utc>>, Fault)>,
    /// When it moves on to its next address, how, and whether the old one goes on leading there.
    pub moves: Vec<Move>,
    /// The document that was read last: the same text is not read again.
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

/// What it offers of its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    Nothing,
    /// The document is the whole feed.
    Complete,
    /// Archives of so many entries. `churns`: the address of the newest one changes with each entry.
    Archives {
        entries: usize,
        churns: bool,
    },
    /// Pages of as many entries as the document has.
    Pages,
}

/// Validators, and how honest they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tags {
    None,
    Etag,
    Date,
    Both,
    /// The document comes with its tag even to whoever sent that.
    Deaf,
    /// A 304 to whatever tag.
    Stuck,
    /// A tag that says nothing of the document: it changes each time.
    Restless,
    /// A 304 now and then to requests that sent nothing.
    Unasked,
}

/// What an answer says of its lifetime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caching {
    Nothing,
    MaxAge(i64),
    /// `Expires` so many seconds after `Date`.
    Expires(i64),
    NoCache,
    /// With an `Age`.
    Aged(i64, i64),
    Nonsense,
}

/// How its entries are dated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dates {
    Published,
    WithUpdates,
    None,
    /// Some lie in the future.
    Future,
}

/// One entry.
#[derive(Debug, Clone)]
pub struct Item {
    pub at: DateTime<Utc>,
    /// It has another text from then on.
    pub edited: Option<DateTime<Utc>>,
    /// It is in no document from then on.
    pub vanishes: Option<DateTime<Utc>>,
}

/// A change of address.
#[derive(Debug, Clone)]
pub struct Move {
    pub at: DateTime<Utc>,
    pub status: u16,
    /// The old address leads to the new one until then; later there is nothing.
    pub until: DateTime<Utc>,
    /// To another host.
    pub abroad: bool,
}

impl Publisher {
    /// The address that is subscribed to.
    pub fn first_address(&self) -> String {
        self.address(0)
    }

    /// Its address after so many moves.
    fn address(&self, moves: usize) -> String {
        let abroad = self.moves.iter().take(moves).filter(|found| found.abroad).count();
        let host = match abroad {
            0 => self.host.clone(),
            some => format!("press{}-{some}.example", self.number),
        };
        format!("https://{host}/p{}/feed-{moves}", self.number)
    }

    /// How often it has moved by then.
    fn moves_by(&self, at: DateTime<Utc>) -> usize {
        self.moves.iter().filter(|found| found.at <= at).count()
    }

    /// The entries that are out by then and not gone, oldest first, with their numbers.
    fn items_by(&self, at: DateTime<Utc>) -> Vec<usize> {
        let out = self.items.iter().take_while(|item| item.at <= at).enumerate();
        let kept = out.filter(|(_, item)| item.vanishes.is_none_or(|gone| gone > at));
        kept.map(|(number, _)| number).collect()
    }

    /// A number that grows with each change of what it says.
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

    /// When that changed last.
    fn changed(&self, at: DateTime<Utc>) -> DateTime<Utc> {
        let of_item = |item: &Item| [Some(item.at), item.edited, item.vanishes];
        let times = self.items.iter().flat_map(of_item).flatten();
        let hints = self.hints.iter().map(|(since, _)| *since);
        times.chain(hints).filter(|time| *time <= at).max().unwrap_or(at)
    }
}

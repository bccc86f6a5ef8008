//! The model of a publisher: what it published, which documents it serves, and the steps that change them.

use backissue_core::feed::{Entry, FeedDocument, Kind};
use chrono::{DateTime, TimeDelta, Utc};

pub(super) const FEED: &str = "http://p.example/feed";
pub(super) const CURRENT: &str = "http://p.example/current";
pub(super) const OTHER: &str = "http://p.example/other";
pub(super) const STRANGER: &str = "http://stranger.example/feed";
const ID: &str = "tag:p";
/// Number of entries in a window.
const WINDOW: usize = 3;
/// Number of entries that a limited delta contains.
const DELTA: usize = 2;

/// What the publisher does between two polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    PublishOne,
    PublishMany,
    PublishIntoNewArchive,
    PublishIntoGrownArchive,
    EditAndRepublish,
    Pin,
    NewArchive,
    ArchiveGrows,
    ArchivePaged,
    ArchiveMissing,
    ArchiveTruncated,
    ArchiveRedirectedToStranger,
    LinkVanishes,
    AllReturns,
    EmptyDocument,
    SmallerWindow,
    CurrentElsewhere,
    Fails,
    LimitedDelta,
    AllIdsChange,
    OneIdChanges,
    SameTitleAgain,
    OneLinkForAll,
    RedirectToOtherId,
}

impl Step {
    pub(super) const ALL: [Self; 24] = [
        Self::PublishOne,
        Self::PublishMany,
        Self::PublishIntoNewArchive,
        Self::PublishIntoGrownArchive,
        Self::EditAndRepublish,
        Self::Pin,
        Self::NewArchive,
        Self::ArchiveGrows,
        Self::ArchivePaged,
        Self::ArchiveMissing,
        Self::ArchiveTruncated,
        Self::ArchiveRedirectedToStranger,
        Self::LinkVanishes,
        Self::AllReturns,
        Self::EmptyDocument,
        Self::SmallerWindow,
        Self::CurrentElsewhere,
        Self::Fails,
        Self::LimitedDelta,
        Self::AllIdsChange,
        Self::OneIdChanges,
        Self::SameTitleAgain,
        Self::OneLinkForAll,
        Self::RedirectToOtherId,
    ];

    /// Checks whether a publisher that follows RFC 5005 may do this: whatever leaves the window is in an archive.
    pub(super) fn is_by_the_book(self) -> bool {
        matches!(
            self,
            Self::PublishOne
                | Self::PublishIntoNewArchive
                | Self::PublishIntoGrownArchive
                | Self::EditAndRepublish
                | Self::Pin
                | Self::AllReturns
                | Self::Fails
        )
    }

    /// Checks whether the step publishes more than a window.
    pub(super) fn overruns(self) -> bool {
        matches!(
            self,
            Self::PublishMany
                | Self::PublishIntoNewArchive
                | Self::PublishIntoGrownArchive
                | Self::LimitedDelta
        )
    }
}

/// A publication: what one entry is about, whatever its id.
#[derive(Clone, Debug)]
pub(super) struct Publication {
    /// Every id that it ever had; the last one is in force.
    pub ids: Vec<String>,
    title: String,
    pub link: String,
    published: DateTime<Utc>,
    updated: DateTime<Utc>,
    text: u32,
}

/// How an archive answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    Paged,
    Missing,
    Truncated,
    Stranger,
}

#[derive(Clone, Debug)]
struct Archive {
    publications: Vec<usize>,
    fault: Fault,
}

/// An answer to a request.
pub(super) enum Answer {
    /// A document from this address; the flag is true for a delta.
    Document(String, Box<FeedDocument>, bool),
    Failed(u16),
    /// An answer that ends in the middle of a document.
    CutOff,
}

#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fault that steps turn on and off")]
pub(super) struct Publisher {
    pub publications: Vec<Publication>,
    archives: Vec<Archive>,
    /// Publications that left the window and are in no archive.
    pending: Vec<usize>,
    /// Publications in the window, newest first.
    window: Vec<usize>,
    size: usize,
    pinned: Option<usize>,
    dated: bool,
    links: bool,
    /// The window that the feed's address keeps showing while another document is the current one.
    elsewhere: Option<Vec<usize>>,
    one_link: bool,
    empty: bool,
    fails: bool,
    limited: bool,
    redirected: bool,
    scheme: u32,
    pub now: DateTime<Utc>,
}

impl Publisher {
    pub(super) fn new(dated: bool) -> Self {
        let mut publisher = Self {
            publications: Vec::new(),
            archives: Vec::new(),
            pending: Vec::new(),
            window: Vec::new(),
            size: WINDOW,
            pinned: None,
            dated,
            links: true,
            elsewhere: None,
            one_link: false,
            empty: false,
            fails: false,
            limited: false,
            redirected: false,
            scheme: 0,
            now: DateTime::from_timestamp(1_772_600_000, 0).unwrap(),
        };
        publisher.publish(5);
        publisher.archive_anew(Fault::None);
        publisher.now += TimeDelta::days(8);
        publisher.publish(2);
        publisher.archive_anew(Fault::None);
        publisher
    }

    fn publish(&mut self, count: i64) {
        for number in 0..count {
            let place = self.publications.len();
            let link = if self.one_link { "show".to_owned() } else { place.to_string() };
            let at = self.now - TimeDelta::hours(count - number);
            self.publications.push(Publication {
                ids: vec![self.id(place)],
                title: format!("Title {place}"),
                link: format!("http://p.example/{link}"),
                published: at,
                updated: at,
                text: 0,
            });
            self.window.insert(0, place);
        }
        self.slide();
    }

    fn id(&self, place: usize) -> String {
        format!("id{}-{place}", self.scheme)
    }

    /// Moves out what the window has no room for.
    fn slide(&mut self) {
        let room = self.size - usize::from(self.pinned.is_some_and(|_| self.size > 1));
        let mut ordinary: Vec<usize> = self.window.clone();
        ordinary.retain(|place| Some(*place) != self.pinned);
        ordinary
            .sort_by_key(|place| std::cmp::Reverse((self.publications[*place].updated, *place)));
        ordinary.truncate(room);
        self.window = ordinary;
        if let Some(pinned) = self.pinned.filter(|_| self.size > 1 || self.window.is_empty()) {
            self.window.insert(0, pinned);
        }
        let archived: Vec<usize> =
            self.archives.iter().flat_map(|archive| archive.publications.iter().copied()).collect();
        let here = |place: &usize| archived.contains(place) || self.window.contains(place);
        self.pending = (0..self.publications.len()).filter(|place| !here(place)).collect();
    }

    fn archive_anew(&mut self, fault: Fault) {
        if self.pending.is_empty() {
            let oldest = self.window.iter().filter(|place| Some(**place) != self.pinned).min();
            let oldest = *oldest.unwrap_or(&0);
            if self.archives.iter().any(|archive| archive.publications.contains(&oldest)) {
                return;
            }
            self.pending.push(oldest);
        }
        let publications = std::mem::take(&mut self.pending);
        self.archives.push(Archive { publications, fault });
    }

    fn grow(&mut self) {
        if let Some(newest) = self.archives.last_mut() {
            newest.publications.append(&mut self.pending);
        }
    }

    #[expect(clippy::too_many_lines, reason = "one table: each step and what it does")]
    pub(super) fn take(&mut self, step: Step) {
        self.now += TimeDelta::days(8);
        (self.empty, self.fails, self.limited, self.redirected) = (false, false, false, false);
        match step {
            Step::PublishOne => {
                self.publish(1);
                self.grow();
            }
            Step::PublishMany => self.publish(5),
            Step::PublishIntoNewArchive => {
                self.publish(5);
                self.archive_anew(Fault::None);
            }
            Step::PublishIntoGrownArchive => {
                self.publish(5);
                self.grow();
            }
            Step::EditAndRepublish => {
                let place = *self.window.last().unwrap();
                let (publication, now) = (&mut self.publications[place], self.now);
                publication.text += 1;
                publication.updated = now;
                if Some(place) != self.pinned {
                    self.window.retain(|it| *it != place);
                    let top = usize::from(self.window.first() == self.pinned.as_ref());
                    self.window.insert(top.min(self.window.len()), place);
                }
            }
            Step::Pin => {
                self.pinned = self.window.last().copied();
                self.slide();
            }
            Step::NewArchive => self.archive_anew(Fault::None),
            Step::ArchiveGrows => self.grow(),
            Step::ArchivePaged => self.archive_anew(Fault::Paged),
            Step::ArchiveMissing => self.archive_anew(Fault::Missing),
            Step::ArchiveTruncated => self.archive_anew(Fault::Truncated),
            Step::ArchiveRedirectedToStranger => self.archive_anew(Fault::Stranger),
            Step::LinkVanishes => self.links = false,
            Step::AllReturns => self.heal(),
            Step::EmptyDocument => self.empty = true,
            Step::SmallerWindow => {
                self.size = 1;
                self.slide();
            }
            Step::CurrentElsewhere => {
                self.elsewhere = Some(self.window.clone());
                self.publish(1);
            }
            Step::Fails => self.fails = true,
            Step::LimitedDelta => {
                self.publish(5);
                self.limited = true;
            }
            Step::AllIdsChange => {
                self.scheme += 1;
                for place in 0..self.publications.len() {
                    let id = self.id(place);
                    self.publications[place].ids.push(id);
                }
            }
            Step::OneIdChanges => {
                let place = self.window[0];
                let id = format!("{}-again", self.publications[place].ids.last().unwrap());
                self.publications[place].ids.push(id);
                // The only entry of a document is another publication if its text changes with its id.
                self.publications[place].text += u32::from(self.window.len() > 1);
            }
            Step::SameTitleAgain => {
                let title = self.publications[self.window[0]].title.clone();
                self.publish(1);
                self.publications.last_mut().unwrap().title = title;
            }
            Step::OneLinkForAll => {
                self.one_link = true;
                self.publish(2);
            }
            Step::RedirectToOtherId => self.redirected = true,
        }
    }

    /// Makes everything readable again: whatever left the window is in an archive.
    pub(super) fn heal(&mut self) {
        for archive in &mut self.archives {
            archive.fault = Fault::None;
        }
        (self.links, self.size, self.elsewhere) = (true, WINDOW, None);
        self.pinned = None;
        self.slide();
        if !self.pending.is_empty() {
            self.archive_anew(Fault::None);
        }
    }

    fn entry(&self, place: usize) -> Entry {
        let publication = &self.publications[place];
        Entry {
            id: publication.ids.last().unwrap().clone(),
            title: Some(publication.title.clone()),
            link: Some(publication.link.clone()),
            published: self.dated.then_some(publication.published),
            updated: self.dated.then_some(publication.updated),
            content: Some(format!("text {place} {}", publication.text)),
            ..Entry::default()
        }
    }

    fn document(&self, places: &[usize]) -> FeedDocument {
        let mut document = FeedDocument {
            kind: Kind::Atom,
            entries: places.iter().map(|place| self.entry(*place)).collect(),
            ..FeedDocument::default()
        };
        document.head.id = Some(ID.to_owned());
        document
    }

    fn archive_url(number: usize) -> String {
        format!("http://p.example/archive{number}")
    }

    /// Answers a request for the feed. A delta is sent only if it is wanted.
    pub(super) fn feed(&self, url: &str, wants_delta: bool) -> Answer {
        if self.fails && (self.elsewhere.is_none() || url == CURRENT) {
            return Answer::Failed(500);
        }
        if self.redirected && url == FEED {
            let mut other = FeedDocument { kind: Kind::Atom, ..FeedDocument::default() };
            other.entries.push(Entry { id: "other".to_owned(), ..Entry::default() });
            other.head.id = Some("tag:other".to_owned());
            other.history.complete = true;
            return Answer::Document(OTHER.to_owned(), Box::new(other), false);
        }
        let stale = self.elsewhere.as_deref().filter(|_| url == FEED);
        let shown = if self.empty { &[][..] } else { stale.unwrap_or(&self.window) };
        let newest = wants_delta && self.limited && !self.empty;
        let shown = if newest { &shown[..DELTA.min(shown.len())] } else { shown };
        let mut document = self.document(shown);
        if self.links && !self.archives.is_empty() {
            document.history.prev_archive = Some(Self::archive_url(self.archives.len() - 1));
        }
        if stale.is_some() {
            document.history.current = Some(CURRENT.to_owned());
        }
        Answer::Document(url.to_owned(), Box::new(document), newest)
    }

    /// Answers a request for an archive.
    pub(super) fn archive(&self, url: &str) -> Answer {
        let number = (0..self.archives.len()).find(|number| Self::archive_url(*number) == url);
        let Some(number) = number else { return Answer::Failed(404) };
        let archive = &self.archives[number];
        let mut places = archive.publications.clone();
        places.reverse();
        let mut document = self.document(&places);
        document.history.archive = true;
        document.history.prev_archive = number.checked_sub(1).map(Self::archive_url);
        match archive.fault {
            Fault::Missing => return Answer::Failed(404),
            Fault::Truncated => return Answer::CutOff,
            Fault::Stranger => {
                let mut other = FeedDocument { kind: Kind::Rss, ..FeedDocument::default() };
                other.entries.push(Entry { id: "spam".to_owned(), ..Entry::default() });
                return Answer::Document(STRANGER.to_owned(), Box::new(other), false);
            }
            Fault::Paged => {
                document.entries.truncate(1);
                document.history.next = Some(format!("{url}-2"));
            }
            Fault::None => {}
        }
        Answer::Document(url.to_owned(), Box::new(document), false)
    }
}

//! Everything a reader can ask for, as plain data: a key, the palette, a subcommand and another process make the same.

use serde::{Deserialize, Serialize};

use super::backfill::history_actions::HistoryAction;
use super::entries::full_text::FullText;
use super::feeds::addition::Subscribe;
use super::feeds::chosen_settings::Chosen;
use super::poll::manual_poll::PollRequest;
use super::saved_searches::SavedSearch;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{EntryKey, FeedKey, Flag, GapKey};
use backissue_core::schedule::Pace;

/// Something that a reader asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Poll feeds.
    Poll(PollRequest),
    /// Do not poll these feeds after all: what waits is given up, what is on its way ends, walks through archives are stopped.
    StopPolls(Vec<FeedKey>),
    /// Subscribe to an address.
    Subscribe(Box<Subscribe>),
    /// Subscribe to many addresses without asking anybody.
    Import(Vec<Subscribe>),
    /// Subscribe to everything that an OPML file names.
    ImportFile(String),
    /// Look at one of the feeds that a page names, before it is subscribed to.
    Preview {
        /// The number of the addition.
        addition: u32,
        /// The address of the feed.
        url: String,
    },
    /// Take one of the feeds that a page names; `None`: none of them.
    Choose {
        /// The number of the addition.
        addition: u32,
        /// The address of the feed.
        url: Option<String>,
    },
    /// Take the first feed of those that a page names that can be read; the number is that of the addition.
    TakeFirstFeed(u32),
    /// Give up a subscription.
    Unsubscribe(FeedKey),
    /// Subscribe again to a feed that was unsubscribed from within a week, as it was.
    SubscribeAgain(FeedKey),
    /// Poll a feed more or less often.
    SetPace(FeedKey, Pace),
    /// Change what is chosen for a feed.
    Set(FeedKey, Box<Chosen>),
    /// Give another name to a tag, and to those below it.
    RenameTag {
        /// The tag.
        tag: String,
        /// Its new name.
        name: String,
    },
    /// Answer what a feed in trouble asks.
    Trouble(FeedKey, TroubleAnswer),
    /// More of a feed's history.
    History(FeedKey, HistoryAction),
    /// More of a feed's history at one gap, or wherever something is missing; stops a walk under way.
    MoreHistory(FeedKey, Option<GapKey>),
    /// Do not show a gap any more.
    DismissGap(FeedKey, GapKey),
    /// Set or clear a mark on entries.
    Mark {
        /// The entries.
        keys: Vec<EntryKey>,
        /// Which mark.
        flag: Flag,
        /// Set or cleared.
        value: bool,
    },
    /// Mark everything read that the list with this number holds.
    MarkListRead(u64),
    /// Keep a filter, a new one if it has no number, and apply it.
    SaveFilter(Box<EntryFilter>),
    /// Give up a filter; what it hid is shown again.
    RemoveFilter(u32),
    /// Keep these searches in place of those that are saved.
    SaveSearches(Vec<SavedSearch>),
    /// Fetch the page that an entry links to.
    FetchPage {
        /// The entry.
        key: EntryKey,
        /// The address of the page.
        url: String,
        /// What was kept of it before.
        kept: Option<Box<FullText>>,
    },
    /// Fetch a picture of an entry.
    FetchPicture {
        /// The entry.
        key: EntryKey,
        /// The address of the picture.
        url: String,
    },
    /// Fetch none of the pictures that still wait.
    DropPictures,
    /// Learn the rhythm of a feed if that is due; who looks at its plan wants to see it.
    Learn(FeedKey),
    /// Open an address in the browser, or an attached file in the program for it.
    Open {
        /// The address.
        link: String,
        /// It is an attached file.
        attached: bool,
    },
    /// Do several things that one change takes back.
    Together(Vec<Self>),
    /// Take the last change back.
    Undo,
    /// Make a change again that was taken back.
    Redo,
    /// End the program.
    Stop,
}

/// What the reader answers to a feed in trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TroubleAnswer {
    /// Read it from the address it proposes.
    AcceptMove,
    /// Keep it at the address it has.
    DeclineMove,
    /// Go back to the former address.
    UndoMove,
    /// Poll a feed by plan again that has ended.
    Resume,
    /// Follow it from https to http.
    AllowInsecure,
    /// Ask again now.
    Retry,
    /// Take note: it leaves the list until something changes.
    Note,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::poll::manual_poll::PollKind;

    /// One request of each kind.
    fn requests() -> Vec<Request> {
        let feed = FeedKey(7);
        let key = EntryKey { feed, seq: 3 };
        let search = SavedSearch { id: 1, name: "frost".into(), text: "frost is:unread".into() };
        vec![
            Request::Poll(PollRequest {
                feeds: Some(vec![feed]),
                kind: PollKind::Forced,
                archives: true,
            }),
            Request::StopPolls(vec![feed]),
            Request::Subscribe(Box::default()),
            Request::Import(vec![Subscribe::default()]),
            Request::ImportFile("list.opml".into()),
            Request::Preview { addition: 1, url: "https://a.example/".into() },
            Request::Choose { addition: 1, url: None },
            Request::TakeFirstFeed(1),
            Request::Unsubscribe(feed),
            Request::SubscribeAgain(feed),
            Request::SetPace(feed, Pace::Less),
            Request::Set(feed, Box::default()),
            Request::RenameTag { tag: "a".into(), name: "b/c".into() },
            Request::Trouble(feed, TroubleAnswer::AllowInsecure),
            Request::History(feed, HistoryAction::Reread),
            Request::MoreHistory(feed, Some(GapKey(5))),
            Request::DismissGap(feed, GapKey(5)),
            Request::Mark { keys: vec![key], flag: Flag::Starred, value: true },
            Request::MarkListRead(9),
            Request::SaveFilter(Box::default()),
            Request::RemoveFilter(2),
            Request::SaveSearches(vec![search]),
            Request::FetchPage { key, url: "https://a.example/1".into(), kept: None },
            Request::FetchPicture { key, url: "https://a.example/1.png".into() },
            Request::DropPictures,
            Request::Learn(feed),
            Request::Open { link: "https://a.example/1".into(), attached: true },
            Request::Together(vec![Request::Unsubscribe(feed), Request::SetPace(feed, Pace::More)]),
            Request::Undo,
            Request::Redo,
            Request::Stop,
        ]
    }

    #[test]
    fn every_request_can_be_sent_to_another_process() {
        for request in requests() {
            let sent = rmp_serde::to_vec_named(&request).unwrap();
            let read: Request = rmp_serde::from_slice(&sent).unwrap();
            assert_eq!(read, request);
            let sent = serde_json::to_string(&request).unwrap();
            assert_eq!(serde_json::from_str::<Request>(&sent).unwrap(), request);
        }
    }
}

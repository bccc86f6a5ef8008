//! Everything the program may ask of the world, as one closed enum.

use std::ops::Range;

use chrono::{DateTime, Utc};

use super::entries::entry_filters::RuleWish;
use super::entries::full_text::FullText;
use super::entries::full_text::Source;
use super::external_command::CommandLine;
use super::feeds::subscription::Commit;
use super::feeds::subscription::FeedState;
use super::feeds::subscription::HistoryCommit;
use super::feeds::subscription::SubscriptionRecord;
use super::learn::LearnWanted;
use super::poll::fetch::Request;
use super::run_external::Errand;
use super::settings::NetworkSettings;
use super::settings::NotifySettings;
use crate::feed::Enclosure;
use crate::filters::EntryFilter;
use crate::history::{EntryKey, FeedKey, Flag};
use crate::search::Matching;
use crate::ui::panes::entry_list::RowsWanted;
use crate::ui::panes::saved_searches::SavedSearch;
use crate::ui::reader::pictures::PictureWish;
use crate::ui::reader::reading_position::TextPlace;

/// Something asked of the world. The answer, where there is one, comes as a [`super::msg::Msg`].
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// One HTTP exchange.
    Fetch(Request),
    /// Write what a poll changed, all or nothing.
    Commit(Box<Commit>),
    /// Write what an archive, a page or a wish changed of a feed's history, all or nothing.
    KeepHistory(Box<HistoryCommit>),
    /// Read which archives of a feed were fetched, behind everything that waits to be written.
    LoadNodes(FeedKey),
    /// Bring entries back that their publisher withdrew.
    Restore(FeedKey, Vec<u32>),
    /// Write a feed's state before a request goes out (SPEC G.20).
    SaveState(FeedKey, Box<FeedState>),
    /// Write when a feed was tried last, where nothing else of its state changes before a request.
    SaveTry(FeedKey, DateTime<Utc>),
    /// Write the lasting part of subscriptions, all or nothing.
    SaveRecords(Vec<(FeedKey, SubscriptionRecord)>),
    /// Hand the entries of one feed, with their marks, to another that goes on in its place.
    Absorb {
        /// The feed that is given up.
        from: FeedKey,
        /// The feed that goes on.
        into: FeedKey,
    },
    /// Set or clear a mark on entries.
    Mark {
        /// The entries.
        keys: Vec<EntryKey>,
        /// Which mark.
        flag: Flag,
        /// Set or cleared.
        value: bool,
    },
    /// Set or clear a mark on all entries of the open list, as it stands.
    MarkList {
        /// Number of the list.
        list: u64,
        /// Which mark.
        flag: Flag,
        /// Set or cleared.
        value: bool,
    },
    /// Write the backup of this day, if there is none.
    BackUp(chrono::NaiveDate),
    /// Read rows of a list.
    LoadRows(RowsWanted),
    /// Read an entry.
    LoadEntry(EntryKey),
    /// Turn an entry's text into lines.
    Render(RenderWanted),
    /// Keep where the reader left an entry; `None`: at its beginning or its end.
    SavePlace(EntryKey, Option<TextPlace>),
    /// Look for a picture, keep one, or make one ready for the screen.
    Picture(Box<PictureWish>),
    /// Keep the page that an entry links to.
    SaveFullText(EntryKey, Box<FullText>),
    /// Read the last polls of a feed.
    LoadPolls(FeedKey),
    /// Read when a feed published.
    LoadPublications(FeedKey),
    /// Learn the rhythm of a feed.
    Learn(Box<LearnWanted>),
    /// Count the unread entries listed since an instant.
    CountToday(DateTime<Utc>),
    /// Write the searches that are saved.
    SaveSearches(Vec<SavedSearch>),
    /// Count the unread entries that saved searches find.
    CountFound(Vec<(u32, Matching)>),
    /// Write the reader's rules.
    SaveRules(Vec<EntryFilter>),
    /// Look through the store for what a rule would hit, for the preview with this number.
    PreviewRule(u64, Box<EntryFilter>),
    /// Look through the store for what a rule hits.
    FindHits(Box<EntryFilter>),
    /// Do with the entries of a rule what is wished.
    Rule(Box<RuleWish>),
    /// Count what the rules hit.
    CountRuled,
    /// Write which tags are folded.
    SaveFolded(std::collections::BTreeSet<String>),
    /// Open an address in the reader's browser.
    Open(String),
    /// Start a command of the reader's own.
    Run(Box<Errand>),
    /// Read an entry for a command.
    ReadForPipe(EntryKey, CommandLine),
    /// Read new entries, by feed and numbers, behind everything that waits to be written.
    ReadNews(Vec<(FeedKey, Range<u32>)>),
    /// Tell the desktop something, by the way that is configured.
    Notify(String, NotifySettings),
    /// Subscribe to everything an OPML file names.
    Import(String),
    /// Ask the network as these settings say from now on.
    Reconnect(Box<NetworkSettings>),
    /// Put a text on the clipboard.
    Copy(String),
    /// Give the terminal back and stop until the shell lets it go on.
    Suspend,
    /// Leave for the demo.
    OpenDemo,
    /// End what is on the screen: from the demo back to where it was opened, else the program.
    Quit,
    /// End the program.
    Stop,
}

/// A text to turn into lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderWanted {
    /// The entry.
    pub key: EntryKey,
    /// Which of its texts it is.
    pub source: Source,
    /// Its text as marked up.
    pub html: String,
    /// Addresses in it are relative to this.
    pub base: Option<String>,
    /// Files attached to it.
    pub enclosures: Vec<Enclosure>,
    /// Columns there are.
    pub width: u16,
    /// Tables and code that are wider are moved sideways; otherwise they are broken.
    pub slides: bool,
}

/// A text as lines.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedEntry {
    /// The entry.
    pub key: EntryKey,
    /// Which of its texts it is.
    pub source: Source,
    /// Columns it was made for.
    pub width: u16,
    /// The lines.
    pub rendered: crate::ui::reader::lines::Rendered,
}

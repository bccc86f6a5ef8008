//! Everything that can happen, as one closed enum.

use std::sync::Arc;

use crate::engine::entries::loaded_entry::ReadingPosition;
use crate::history::{Counters, EntryBody, EntryKey, FeedKey, Flag, Flags, KeptEntry, Nodes};
use crate::schedule::learning::{LearnedPlan, Publications};
use crate::ui::keys::key::Key;
use crate::ui::keys::mouse::Mouse;
use crate::ui::panes::entry_list::RowsLoaded;
use crate::ui::reader::pictures::PictureNews;
use crate::ui::theme::graphics::Graphics;
use super::backfill::history_actions::HistoryAction;
use super::effect::RenderedEntry;
use super::entries::entry_filters::{FilterCount, FilterPreview, Filtered};
use super::entries::full_text::FullText;
use super::external_command::ExternalCommand;
use super::feeds::subscribe::Subscribe;
use super::poll::fetch::{FetchId, Fetched};
use super::poll::manual_poll::PollRequest;
use super::poll::poll_log::PollLogEntry;
use super::reconfigure::Reconfigured;
use super::run_external::RunPurpose;



/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Pasted(String),
    /// Something was done with the mouse.
    Mouse(Mouse),
    /// The terminal has a new size, in columns and rows.
    Resized(u16, u16),
    /// The terminal got the keys, or lost them.
    Focused(bool),
    /// The program is asked to stop for a while, as by Ctrl-z in a shell.
    Suspend,
    /// It goes on after that, on a terminal of so many columns and rows.
    Continued(u16, u16),
    /// It cannot stop for a while: there is no shell to go back to.
    NoShell,
    /// Time passed.
    Tick,
    /// The machine was asleep.
    Woke,
    /// A fetch ended.
    Fetched(FetchId, Box<Fetched>),
    /// What a poll changed is durable.
    Committed {
        /// The feed.
        feed: FeedKey,
        /// Its sums afterwards.
        counters: Counters,
        /// Entries never seen before.
        new: u32,
        /// Entries whose content changed.
        edited: u32,
        /// Entries of the document that were known, changed or not.
        known: u32,
        /// Entries that the publisher withdrew.
        withdrawn: Vec<u32>,
    },
    /// The store did something about a feed's history.
    History(FeedKey, HistoryNews),
    /// A feed took over the entries of another.
    Absorbed {
        /// The feed.
        into: FeedKey,
        /// Its sums afterwards.
        counters: Counters,
    },
    /// What a poll changed could not be written.
    CommitFailed {
        /// The feed.
        feed: FeedKey,
        /// Why, as a sentence.
        why: String,
    },
    /// The lasting part of some subscriptions is durable.
    RecordsSaved,
    /// They could not be written; a sentence.
    RecordsNotSaved(String),
    /// Marks were set and are durable.
    Marked {
        /// Which mark.
        flag: Flag,
        /// Set or cleared.
        value: bool,
        /// It was asked for a whole list.
        whole_list: bool,
        /// What changed.
        marked: Marked,
    },
    /// Rows of the open list.
    RowsLoaded(RowsLoaded),
    /// Rows of a list could not be read; a sentence.
    RowsFailed(u64, String),
    /// An entry could not be read; a sentence.
    EntryFailed(EntryKey, String),
    /// An entry with its text.
    EntryLoaded(Box<LoadedEntry>),
    /// An entry has been read for a command.
    PipeRead(Box<LoadedEntry>, ExternalCommand),
    /// New entries have been read.
    NewsRead(Result<Vec<LoadedEntry>, String>),
    /// A command of the reader's own ended: with the first line it said, or with a sentence.
    Ran(RunPurpose, Result<Option<String>, String>),
    /// An entry's text as lines.
    Rendered(Box<RenderedEntry>),
    /// Something came of a wish about pictures.
    Picture(Box<PictureNews>),
    /// The terminal shows pictures in this way.
    Graphics(Graphics),
    /// The last polls of a feed, newest first.
    PollsLoaded(FeedKey, Vec<PollLogEntry>),
    /// When a feed published; `None`: it could not be read.
    PublicationsLoaded(FeedKey, Option<Arc<Publications>>),
    /// What was learned of a feed.
    Learned(FeedKey, Option<Arc<LearnedPlan>>),
    /// The search index holds more than before.
    Indexed {
        /// Entries that are still missing in it.
        missing: u32,
    },
    /// Unread entries that saved searches find, by the searches' numbers.
    FoundCounted(std::collections::BTreeMap<u32, u32>),
    /// The reader's rules are durable.
    RulesSaved,
    /// What a rule would hit, for the preview with this number.
    RulePreviewed(u64, Box<FilterPreview>),
    /// What a rule hits, by its number.
    HitsFound(u32, Vec<EntryKey>),
    /// A rule's wish is done and durable.
    Filtered(Box<Filtered>),
    /// What the rules hit, by their numbers.
    RuledCounted(std::collections::BTreeMap<u32, FilterCount>),
    /// Unread entries of today.
    TodayCounted(u32),
    /// The store could not do what the reader wants taken back, or what a rule waits for; a sentence.
    StoreFailed(String),
    /// The store could not keep something that nobody waits for; a sentence.
    Unsaved(String),
    /// Something that only the reader can put right; a sentence.
    Trouble(String),
    /// The configuration file was saved and read again.
    Configured(Box<Reconfigured>),
    /// Poll these feeds.
    Poll(PollRequest),
    /// Subscribe to an address.
    Add(Subscribe),
    /// Subscribe to many addresses without asking anybody.
    Import(Vec<Subscribe>),
    /// More of a feed's history.
    WantHistory(FeedKey, HistoryAction),
    /// The program is asked to end (signal, closed terminal).
    Stop,
}

/// What the store did about a feed's history.
#[derive(Debug, Clone, PartialEq)]
pub enum HistoryNews {
    /// What an archive, a page or a wish changed is durable.
    Kept {
        /// The feed's sums afterwards.
        counters: Counters,
        /// Entries never seen before.
        new: u32,
        /// Entries whose content changed.
        edited: u32,
    },
    /// It could not be written, or the archives could not be read; a sentence.
    Failed(String),
    /// The archives that were fetched.
    Nodes(Box<Nodes>),
    /// Entries were brought back that their publisher had withdrawn.
    Restored(Marked),
}

/// Which entries a mark changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marked {
    /// The entries that did not have it so before.
    pub changed: Vec<EntryKey>,
    /// The sums of their feeds afterwards.
    pub counters: Vec<(FeedKey, Counters)>,
}

/// An entry read from the store to be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedEntry {
    /// The entry.
    pub key: EntryKey,
    /// Its kept form.
    pub kept: KeptEntry,
    /// Its marks.
    pub flags: Flags,
    /// Its text.
    pub body: Option<EntryBody>,
    /// It had a text that is not kept any more.
    pub text_gone: bool,
    /// Where the reader left it.
    pub place: Option<ReadingPosition>,
    /// What is kept of the page it links to.
    pub full: Option<FullText>,
    /// The reader's rules that hit it, by their numbers.
    pub ruled: Vec<u32>,
}

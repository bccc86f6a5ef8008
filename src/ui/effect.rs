//! All side effects that the screen can request: the effects of the engine, and additional effects that only a screen needs.

use super::reader::lines::Rendered;
use super::state::reader::{PictureWork, TextSource};
use crate::engine::entries::entry_view::FeedOfEntry;
use crate::engine::request::Effect;
use crate::engine::settings::Secret;
use crate::engine::store_work::Job;
use backissue_core::feed::Enclosure;
use backissue_core::filters::EntryFilter;
use backissue_core::history::EntryKey;

/// A side effect for the main program to perform.
#[derive(Debug, Clone, PartialEq)]
pub enum ScreenEffect {
    /// An effect requested by the engine.
    Engine(Effect),
    /// Lay out the text of an entry as lines for the screen.
    Render(RenderWork),
    /// Look up a picture in the cache, store one, or prepare one for the screen.
    Picture(Box<PictureWork>),
    /// Find the entries that a filter matches. The number identifies the preview that shows the result.
    PreviewFilter(u64, Box<EntryFilter>),
    /// Write pending entries to the search index now, because the user is searching. The screen does not wait until they are
    /// written.
    HurryIndex,
    /// Copy a text to the clipboard.
    Copy {
        /// The text.
        text: String,
        /// Message for the user if that worked.
        told: String,
    },
    /// Complete the file path that the user is typing.
    CompletePath(String),
    /// Write the list of subscriptions to a file.
    Export {
        /// Path of the file as the user typed it.
        path: String,
        /// Contents of the file.
        text: String,
    },
    /// Write entries to a file, as Markdown.
    SaveEntries {
        /// Path of the file as the user typed it.
        path: String,
        /// The entries, each with what is known about its feed.
        entries: Vec<(EntryKey, FeedOfEntry)>,
    },
    /// Log in to a server and store the account.
    AddAccount(Box<NewLogin>),
    /// Forget the account of this name and its login.
    ForgetAccount(String),
    /// Serve devices at this address, as the user typed it. `None` stops serving them.
    Serve(Option<String>),
    /// Restore the terminal and suspend the program until the shell resumes it.
    Suspend,
    /// Switch to the demo.
    OpenDemo,
    /// Leave the screen to import from another reader. The number is the index of this reader among those that were found.
    MoveIn(usize),
    /// Leave the screen: return from the demo to the place where it was opened, or end the program.
    Quit,
}

/// A login that the user typed, for a new account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLogin {
    /// Address of the server.
    pub address: String,
    /// Name of the user; empty if the password is an API token.
    pub user: String,
    /// Password or API token.
    pub password: Secret,
}

impl From<Effect> for ScreenEffect {
    fn from(effect: Effect) -> Self {
        Self::Engine(effect)
    }
}

/// Wraps a request to the store in an effect.
pub fn ask_store(job: Job) -> ScreenEffect {
    Effect::store(job).into()
}

/// An entry's text to lay out as lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderWork {
    /// The entry that the text belongs to.
    pub key: EntryKey,
    /// Whether the HTML is from the feed or from the entry's page.
    pub source: TextSource,
    /// The HTML of the text.
    pub html: String,
    /// Base URL for relative addresses in the text.
    pub base: Option<String>,
    /// Files attached to the entry, which are listed below the text.
    pub enclosures: Vec<Enclosure>,
    /// Width in columns to lay the text out for.
    pub width: u16,
    /// Maximum width of running text in columns. Only code and tables may be wider.
    pub text_width: u16,
    /// `true` if tables and code that are too wide scroll sideways. If `false`, they are wrapped.
    pub slides: bool,
}

/// An entry's text, laid out as lines.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedEntry {
    /// The entry that the text belongs to.
    pub key: EntryKey,
    /// Whether the text is from the feed or from the entry's page.
    pub source: TextSource,
    /// Width in columns that the text was laid out for.
    pub width: u16,
    /// The laid-out lines with their links and pictures.
    pub rendered: Rendered,
}

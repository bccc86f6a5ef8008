//! Everything that can happen on a screen, as one enum.

use super::effect::RenderedEntry;
use super::keys::key::Key;
use super::keys::mouse::Mouse;
use super::settings::ScreenSettings;
use super::state::pending::ImportedList;
use super::state::reader::PictureAnswer;
use super::theme::colours::Appearance;
use super::theme::graphics::Graphics;
use crate::engine::entries::filter_work::FilterPreview;
use crate::engine::request::{Input, Request};
use crate::engine::settings::Settings;
use backissue_core::InputFlaw;

/// An input of the screen.
#[derive(Debug, Clone, PartialEq)]
pub enum ScreenInput {
    /// An input that is passed to the engine.
    Engine(Input),
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Pasted(String),
    /// The mouse was clicked or its wheel was turned.
    Mouse(Mouse),
    /// The terminal was resized to the given numbers of columns and rows.
    Resized(u16, u16),
    /// The terminal window gained (`true`) or lost the focus.
    Focused(bool),
    /// The terminal reported its background colour, which is light (`true`) or dark.
    Ground(bool),
    /// The user wants to suspend the program, as with Ctrl-z in a shell.
    Suspend,
    /// The program was resumed. The terminal now has the given numbers of columns and rows.
    Continued(u16, u16),
    /// The program cannot be suspended, because no shell started it and could resume it.
    NoShell,
    /// The text of an entry was laid out as lines.
    Rendered(Box<RenderedEntry>),
    /// A picture was looked up in the cache or drawn, or this failed.
    Picture(Box<PictureAnswer>),
    /// The protocol and cell size that the terminal uses for pictures were detected.
    Graphics(Graphics),
    /// The entries that a filter matches were found. The number identifies the preview that requested them.
    FilterPreviewed(u64, Box<FilterPreview>),
    /// A completion was found for a path that the user was typing.
    PathCompleted {
        /// The path as it was when the completion was requested. If it has changed since, the completion is ignored.
        typed: String,
        /// The completed path.
        completed: String,
    },
    /// A text was copied, or the list of subscriptions or entries were written to a file. The text is a message for the user.
    Told(String),
    /// An account was added, or could not be added. The value is the name of the account, or a sentence with the reason.
    AccountAdded(Result<String, InputFlaw>),
    /// The address at which devices are served has changed, or could not be changed. The values are the current address, and the
    /// result of the request as a sentence.
    Serving(Option<String>, Result<String, InputFlaw>),
    /// A list of subscriptions was read from a file and can be imported.
    ListRead(Box<ImportedList>),
    /// The configuration file was saved and read again.
    Reconfigured(Box<Reconfigured>),
}

impl From<Input> for ScreenInput {
    fn from(input: Input) -> Self {
        Self::Engine(input)
    }
}

impl From<Request> for ScreenInput {
    fn from(request: Request) -> Self {
        Self::Engine(Input::Request(request))
    }
}

/// The result of reading the configuration again.
#[derive(Debug, Clone, PartialEq)]
pub enum Reconfigured {
    /// The configuration is valid and can be applied.
    Read {
        /// New settings of the engine.
        settings: Box<Settings>,
        /// New settings of the screen.
        screen: Box<ScreenSettings>,
        /// Theme, colours and other display properties that result from the new settings.
        appearance: Box<Appearance>,
        /// Warnings about harmless mistakes in the file, each as a sentence.
        notes: Vec<String>,
    },
    /// The configuration is invalid and is not applied. The text is a sentence that explains the error.
    Wrong(String),
}

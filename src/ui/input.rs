//! Everything that can happen on a screen, as one closed enum.

use super::effect::RenderedEntry;
use super::keys::key::Key;
use super::keys::mouse::Mouse;
use super::settings::ScreenSettings;
use super::state::imported_list::ImportedList;
use super::state::pictures::PictureAnswer;
use super::theme::appearance::Appearance;
use super::theme::graphics::Graphics;
use crate::engine::entries::filter_work::FilterPreview;
use crate::engine::input::Input;
use crate::engine::request::Request;
use crate::engine::settings::Settings;

/// An input of the screen.
#[derive(Debug, Clone, PartialEq)]
pub enum ScreenInput {
    /// An input for the engine.
    Engine(Input),
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Pasted(String),
    /// The mouse was clicked or its wheel was turned.
    Mouse(Mouse),
    /// The terminal was resized, to these columns and rows.
    Resized(u16, u16),
    /// The terminal window gained or lost the focus.
    Focused(bool),
    /// The program should suspend itself, as Ctrl-z does in a shell.
    Suspend,
    /// The program was resumed, on a terminal with these columns and rows.
    Continued(u16, u16),
    /// The program cannot suspend itself because no shell started it.
    NoShell,
    /// An entry's text was laid out.
    Rendered(Box<RenderedEntry>),
    /// The result of work on pictures.
    Picture(Box<PictureAnswer>),
    /// The terminal's graphics support was detected.
    Graphics(Graphics),
    /// The entries that a filter matches, for the preview with this number.
    FilterPreviewed(u64, Box<FilterPreview>),
    /// A completion for the path that was being typed.
    PathCompleted {
        /// The text at the time of the request.
        typed: String,
        /// The completed path.
        completed: String,
    },
    /// A list of subscriptions was written. The text is a sentence.
    ListWritten(String),
    /// A list of subscriptions was read and is ready for import.
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
    /// The configuration is valid.
    Read {
        /// The settings of the engine.
        settings: Box<Settings>,
        /// The settings of the screen.
        screen: Box<ScreenSettings>,
        /// The appearance that results from the settings.
        appearance: Box<Appearance>,
        /// Warnings about harmless mistakes, each a sentence.
        notes: Vec<String>,
    },
    /// The configuration is invalid. The text is a sentence.
    Wrong(String),
}

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

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum ScreenInput {
    /// Something for the engine.
    Engine(Input),
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
    /// An entry's text as lines.
    Rendered(Box<RenderedEntry>),
    /// What came of work on pictures.
    Picture(Box<PictureAnswer>),
    /// The terminal shows pictures in this way.
    Graphics(Graphics),
    /// What a filter would hit, for the preview with this number.
    FilterPreviewed(u64, Box<FilterPreview>),
    /// The path that was being typed may go on like this.
    PathCompleted {
        /// What was typed then.
        typed: String,
        /// What it may become.
        completed: String,
    },
    /// A list of subscriptions was written; a sentence.
    ListWritten(String),
    /// A list of subscriptions was read, to be imported.
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

/// What came of reading the configuration again.
#[derive(Debug, Clone, PartialEq)]
pub enum Reconfigured {
    /// It says this.
    Read {
        /// The settings of the engine.
        settings: Box<Settings>,
        /// The settings of the screen.
        screen: Box<ScreenSettings>,
        /// How the screen looks then.
        appearance: Box<Appearance>,
        /// What is wrong with it and does no harm; each a sentence.
        notes: Vec<String>,
    },
    /// It is wrong; a sentence.
    Wrong(String),
}

//! An input line: the typed text, the position of the cursor, and the purpose of the line.

use unicode_segmentation::UnicodeSegmentation;

use crate::ui::keys::key::{ALT_BACKSPACE, Code, Key};
use backissue_core::feed::characters::is_hidden;
use backissue_core::history::FeedKey;

/// Maximum length of an input line in bytes, which also limits pasted text.
const LINE_MAX: usize = 4096;

/// A line in which the user types text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What the typed text is used for.
    pub purpose: PromptPurpose,
    /// The text typed so far.
    pub text: String,
    /// Byte offset of the cursor, on a grapheme boundary.
    pub cursor: usize,
    /// `true` while the whole text is selected: what is typed next replaces it.
    pub is_selected: bool,
}

/// What the text of an input line is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptPurpose {
    /// The address of a site or feed to subscribe to.
    Add,
    /// The path of a subscription list to import.
    Import,
    /// The path of the file for exported subscriptions.
    Export,
    /// The path of the file for entries.
    Save,
    /// A date to jump to in the entry list.
    GoTo,
    /// The name of a command.
    Command,
    /// Words to find in the open text.
    Find,
    /// A label for entries.
    Label,
    /// Letters of a feed, tag or list to jump to.
    Jump,
    /// A search query for entries.
    Search,
    /// An external command that receives the selected entry.
    Pipe,
    /// A filter for the commands shown in the help.
    Help,
    /// A new name for the saved search with the given ID.
    Rename(u32),
    /// The tags of a feed, separated by commas.
    Tags(FeedKey),
    /// The address of a copy of this feed's history that another reader published.
    Copy(FeedKey),
    /// Tags to add to, or remove from, all marked feeds.
    MarkedTags,
    /// A new name for the selected tag.
    RenameTag,
    /// A setting in the edit dialog, identified by its label.
    Field(&'static str),
    /// A password. It is not shown.
    Password,
    /// A condition or another value in the filter dialog.
    Condition,
    /// An interval rule of the user, which is added or edited.
    Rule {
        /// The feed that the rule applies to.
        feed: FeedKey,
        /// Index of the rule being edited. If `None`, a new rule is added.
        replaces: Option<usize>,
    },
}

/// The state of an input line after a key press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypedText {
    /// The user is still typing.
    More,
    /// The user has finished the line.
    Done,
    /// The user has cancelled the line.
    Cancelled,
}

impl Prompt {
    /// Creates an empty input line.
    pub const fn new(purpose: PromptPurpose) -> Self {
        Self { purpose, text: String::new(), cursor: 0, is_selected: false }
    }

    /// Creates an input line that contains a text, with the cursor at the end.
    pub const fn filled(purpose: PromptPurpose, text: String) -> Self {
        let cursor = text.len();
        Self { purpose, text, cursor, is_selected: false }
    }

    /// Creates an input line like [`Self::filled`], with the whole text selected, so that typed text replaces it.
    pub fn selected(purpose: PromptPurpose, text: String) -> Self {
        Self { is_selected: !text.is_empty(), ..Self::filled(purpose, text) }
    }

    /// Returns the label that is shown in front of the line.
    pub const fn label(&self) -> &'static str {
        match self.purpose {
            PromptPurpose::Add => "Add (paste the address of a site or feed): ",
            PromptPurpose::Import => "Import OPML, newsboat or newsraft urls (Tab completes): ",
            PromptPurpose::Export => "Export as OPML to (Tab completes): ",
            PromptPurpose::Save => "Save as Markdown to (Tab completes): ",
            PromptPurpose::GoTo => "Go to (2014, 2014-03, 2014-03-09): ",
            PromptPurpose::Command => ":",
            PromptPurpose::Find => "Find in this text: ",
            PromptPurpose::Label => "Label: ",
            PromptPurpose::Jump => "Jump to: ",
            PromptPurpose::Search => "Search: ",
            PromptPurpose::Pipe => "Pipe the entry to (↑ the last): ",
            PromptPurpose::Help => "Search the keys: ",
            PromptPurpose::Rename(_) => "Name of the search: ",
            PromptPurpose::Tags(_) => "Tags (Tab completes): ",
            PromptPurpose::Copy(_) => "Address of a published history: ",
            PromptPurpose::MarkedTags => "Tags for all marked feeds (-tag removes one): ",
            PromptPurpose::RenameTag => "Name of the tag: ",
            PromptPurpose::Field(label) => label,
            PromptPurpose::Condition | PromptPurpose::Password => "",
            PromptPurpose::Rule { replaces: None, .. } => "Your rule (change the interval): ",
            PromptPurpose::Rule { replaces: Some(_), .. } => "Your rule (empty removes it): ",
        }
    }

    /// Inserts text at the cursor. Line breaks and characters unsafe for the screen are removed.
    pub fn insert(&mut self, text: &str) {
        if std::mem::take(&mut self.is_selected) {
            self.text.clear();
            self.cursor = 0;
        }
        let clean: String = text.chars().filter(|char| !is_hidden(*char)).collect();
        let room = LINE_MAX.saturating_sub(self.text.len());
        let clean = clean.get(..clean.floor_char_boundary(room)).unwrap_or_default();
        self.text.insert_str(self.cursor, clean);
        self.cursor = self.cursor.saturating_add(clean.len());
    }

    /// Handles a key in the input line.
    pub fn key(&mut self, key: Key) -> TypedText {
        match key {
            Key { code: Code::Enter, .. } => return TypedText::Done,
            Key { code: Code::Esc, .. } | Key { code: Code::Char('c'), ctrl: true } => {
                return TypedText::Cancelled;
            }
            Key { code: Code::Char('u'), ctrl: true } => self.cut(0, self.cursor),
            Key { code: Code::Char('w'), ctrl: true }
            | Key { code: Code::Alt(ALT_BACKSPACE), .. } => {
                let before = self.before().trim_end();
                let from = before.rfind(' ').map_or(0, |at| at.saturating_add(1));
                self.cut(from, self.cursor);
            }
            Key { code: Code::Home, .. } | Key { code: Code::Char('a'), ctrl: true } => {
                self.cursor = 0;
            }
            Key { code: Code::End, .. } | Key { code: Code::Char('e'), ctrl: true } => {
                self.cursor = self.text.len();
            }
            Key { code: Code::Left, .. } => self.cursor = self.previous(),
            Key { code: Code::Right, .. } => self.cursor = self.following(),
            Key { code: Code::Backspace, .. } => self.cut(self.previous(), self.cursor),
            Key { code: Code::Delete, .. } => self.cut(self.cursor, self.following()),
            Key { code: Code::Char(char), ctrl: false } => {
                self.insert(char.encode_utf8(&mut [0; 4]));
                return TypedText::More;
            }
            Key {
                code:
                    Code::Char(_)
                    | Code::Alt(_)
                    | Code::Function(_)
                    | Code::Insert
                    | Code::Tab
                    | Code::BackTab
                    | Code::Up
                    | Code::Down
                    | Code::PageUp
                    | Code::PageDown,
                ..
            } => {}
        }
        self.is_selected = false;
        TypedText::More
    }

    fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    fn previous(&self) -> usize {
        self.before().grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn following(&self) -> usize {
        let behind = self.text.get(self.cursor..).unwrap_or_default();
        self.cursor.saturating_add(behind.graphemes(true).next().map_or(0, str::len))
    }

    fn cut(&mut self, from: usize, to: usize) {
        let (before, behind) = (self.text.get(..from), self.text.get(to..));
        if let (Some(before), Some(behind)) = (before, behind) {
            self.text = format!("{before}{behind}");
            self.cursor = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ui::overlays::prompt::*;

    fn typed(keys: &[Key]) -> (String, usize) {
        let mut prompt = Prompt::new(PromptPurpose::Add);
        for key in keys {
            assert_eq!(prompt.key(*key), TypedText::More);
        }
        (prompt.text, prompt.cursor)
    }

    #[test]
    fn a_line_is_edited_by_whole_characters() {
        let mut prompt = Prompt::new(PromptPurpose::Add);
        prompt.insert("aé👨‍👩‍👧b");
        prompt.key(Key::code(Code::Left));
        prompt.key(Key::code(Code::Backspace));
        assert_eq!(prompt.text, "aéb");
        prompt.key(Key::code(Code::Home));
        prompt.key(Key::code(Code::Delete));
        assert_eq!((prompt.text.as_str(), prompt.cursor), ("éb", 0));
    }

    #[test]
    fn pasted_line_breaks_and_escapes_are_left_out() {
        let mut prompt = Prompt::new(PromptPurpose::Add);
        prompt.insert("https://a.example/\r\n\u{1b}[31m");
        assert_eq!(prompt.text, "https://a.example/[31m");
        prompt.insert(&"x".repeat(10_000));
        assert_eq!(prompt.text.len(), LINE_MAX);
    }

    #[test]
    fn words_and_lines_can_be_cut() {
        let keys: Vec<Key> = "ab cd".chars().map(Key::char).chain([Key::ctrl('w')]).collect();
        assert_eq!(typed(&keys), ("ab ".into(), 3));
        let keys: Vec<Key> = "ab cd".chars().map(Key::char).chain([Key::ctrl('u')]).collect();
        assert_eq!(typed(&keys), (String::new(), 0));
    }
}

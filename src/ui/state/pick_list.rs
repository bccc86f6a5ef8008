//! The state of a list from which the user picks an item by typing some of its letters.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::feeds_pane::FeedsRow;
use crate::ui::keys::commands::COMMANDS;
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::scroll_list::ScrollList;

/// What the list says of a label that does not exist yet.
const NEW_LABEL: &str = "new label";

/// Words of other programs for commands, which the palette finds, too.
const SYNONYMS: [(&str, &str); 16] = [
    ("bookmark", "read-later"),
    ("bookmark", "star"),
    ("colours", "theme"),
    ("dark", "theme"),
    ("delete", "unsubscribe"),
    ("exit", "quit"),
    ("light", "theme"),
    ("podcasts", "downloads"),
    ("preferences", "edit"),
    ("refresh", "poll"),
    ("refresh", "poll-all"),
    ("reload", "poll"),
    ("rules", "filters"),
    ("settings", "edit"),
    ("sync", "accounts"),
    ("update", "poll"),
];

/// The state of a list from which the user picks an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickList {
    /// Input line with the typed letters.
    pub line: Prompt,
    /// All items.
    pub items: Vec<PickItem>,
    /// Indexes of the matching items, with the best match first.
    pub found: Vec<usize>,
    /// The selected match and the first visible one.
    pub list: ScrollList,
}

/// An item that the user can pick.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickItem {
    /// Name of the item.
    pub name: String,
    /// What the item is or does, or its tags.
    pub detail: String,
    /// What happens if the user picks the item.
    pub target: PickTarget,
}

/// What happens if the user picks an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickTarget {
    /// The list of this row of the subscriptions pane is opened.
    Row(FeedsRow),
    /// This label is set on entries, or removed.
    Label(String),
    /// The command at this place is run: an index of the command table, or beyond its end an own command.
    Command(usize),
}

impl PickList {
    /// Returns the selected item.
    pub fn selected_item(&self) -> Option<&PickItem> {
        self.items.get(*self.found.get(self.list.selected)?)
    }

    /// Lists items, the best matches of the typed text first.
    pub(in crate::ui) fn new(line: Prompt, items: Vec<PickItem>) -> Self {
        let mut picks = Self { line, items, found: Vec::new(), list: ScrollList::default() };
        picks.search();
        picks
    }

    /// Splits the typed text into the name of a command and the text after it.
    pub(in crate::ui) fn written(&self) -> (&str, &str) {
        let text = self.line.text.trim();
        text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
    }

    /// Finds the items that match the typed text. A label that does not exist yet is offered as a new one.
    pub(in crate::ui) fn search(&mut self) {
        self.items.retain(|item| item.detail != NEW_LABEL);
        let typed = self.line.text.trim().to_owned();
        let (word, argument) = self.written();
        let is_whole = |item: &PickItem| {
            item.name == word
                && matches!(item.target, PickTarget::Command(at) if at < COMMANDS.len())
        };
        // A whole name means this command, even if another one matches better. With an argument, it is the only match.
        let exact = self.items.iter().position(is_whole);
        let others = if exact.is_some() && !argument.is_empty() {
            Vec::new()
        } else {
            rank(&self.items, &typed)
        };
        let others = others.into_iter().filter(|place| Some(*place) != exact);
        self.found = exact.into_iter().chain(others).collect();
        let is_new = !typed.is_empty() && self.items.iter().all(|item| item.name != typed);
        if self.line.purpose == PromptPurpose::Label && is_new {
            let target = PickTarget::Label(typed.clone());
            self.items.push(PickItem { name: typed, detail: NEW_LABEL.to_owned(), target });
            self.found.push(self.items.len().saturating_sub(1));
        }
        self.list = ScrollList::default();
    }
}

/// Returns the indexes of the items that match the typed text, best match first. A command also matches by its description, below the
/// matches in names.
pub(in crate::ui) fn rank(items: &[PickItem], typed: &str) -> Vec<usize> {
    let pattern = Pattern::parse(typed, CaseMatching::Ignore, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    let mut letters = Vec::new();
    let mut scored: Vec<(u32, usize)> = (0..)
        .zip(items)
        .filter_map(|(place, item)| {
            let score = pattern.score(Utf32Str::new(&item.name, &mut letters), &mut matcher);
            let by_name = score.map(|score| score.saturating_add(1));
            // Fuzzy matches in a long description are meaningless, so every typed word must occur literally in the description.
            let by_help = matches!(item.target, PickTarget::Command(_)) && {
                let help = item.detail.to_lowercase();
                let is_called = |word: &str| {
                    let mut called = SYNONYMS.iter().filter(|(_, name)| *name == item.name);
                    word.len() > 2 && called.any(|(synonym, _)| synonym.starts_with(word))
                };
                words.iter().all(|word| help.contains(word) || is_called(word))
            };
            Some((by_name.max(by_help.then_some(1))?, place))
        })
        .collect();
    scored.sort_by_key(|&(score, place)| (std::cmp::Reverse(score), place));
    scored.into_iter().map(|(_, place)| place).collect()
}

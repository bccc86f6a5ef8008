//! The state of a list from which the user picks an item by typing some of its letters.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::feeds_pane::FeedsRow;
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};
use crate::ui::scroll_list::ScrollList;

/// What the list says of a label that does not exist yet.
const NEW_LABEL: &str = "new label";

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
    /// What the item is, or its tags.
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
}

impl PickList {
    /// Returns the selected item.
    pub fn selected_item(&self) -> Option<&PickItem> {
        self.items.get(*self.found.get(self.list.selected)?)
    }

    /// Finds the items that match the typed letters. A label that does not exist yet is offered as a new one.
    pub(in crate::ui) fn search(&mut self) {
        self.items.retain(|item| item.detail != NEW_LABEL);
        let typed = self.line.text.trim().to_owned();
        self.found = rank(&self.items, &typed);
        let is_new = !typed.is_empty() && self.items.iter().all(|item| item.name != typed);
        if self.line.purpose == PromptPurpose::Label && is_new {
            let target = PickTarget::Label(typed.clone());
            self.items.push(PickItem { name: typed, detail: NEW_LABEL.to_owned(), target });
            self.found.push(self.items.len().saturating_sub(1));
        }
        self.list = ScrollList::default();
    }
}

/// Returns the indexes of the items whose name matches the typed text, best match first.
pub(in crate::ui) fn rank(items: &[PickItem], typed: &str) -> Vec<usize> {
    let pattern = Pattern::parse(typed, CaseMatching::Ignore, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut letters = Vec::new();
    let mut scored: Vec<(u32, usize)> = (0..)
        .zip(items)
        .filter_map(|(place, item)| {
            let name = Utf32Str::new(&item.name, &mut letters);
            Some((pattern.score(name, &mut matcher)?, place))
        })
        .collect();
    scored.sort_by_key(|&(score, place)| (std::cmp::Reverse(score), place));
    scored.into_iter().map(|(_, place)| place).collect()
}

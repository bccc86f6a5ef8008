//! The tag tree: `a/b` is a child of `a`; a folded tag hides its descendants.

use std::collections::{BTreeMap, BTreeSet};

use crate::ui::app::App;
use crate::ui::state::feeds_pane::FeedsRow;
use backissue_core::history::FeedKey;

/// Indentation per level of the tree, in cells.
pub const INDENT_CELLS: usize = 2;

/// Splits a tag into the names of its levels. Tags that are sorted by these names are in tree order: the descendants of a tag
/// directly follow it.
fn parts(tag: &str) -> Vec<&str> {
    tag.split('/').collect()
}

/// Returns the ancestors of a tag, topmost first.
pub(super) fn above(tag: &str) -> impl Iterator<Item = &str> {
    tag.match_indices('/').filter_map(|(at, _)| tag.get(..at))
}

/// Returns the number of ancestors of a tag, which is its level in the tree.
pub fn depth(tag: &str) -> usize {
    above(tag).count()
}

/// A tag with its feeds.
struct Tagged<'m> {
    tag: &'m str,
    /// Feeds with this tag.
    own: Vec<FeedKey>,
    /// Feeds with this tag or one of its descendants.
    all: Vec<FeedKey>,
}

/// Builds the rows of all tags, each followed by its feeds. `titled` contains all feeds in the order in which they are listed under
/// each tag.
pub(crate) fn build_rows(
    app: &App,
    titled: &[FeedKey],
    folded: &BTreeSet<String>,
) -> Vec<FeedsRow> {
    let mut tags: BTreeMap<Vec<&str>, Tagged<'_>> = BTreeMap::new();
    for &key in titled {
        let Some(feed) = app.engine.feeds.get(&key) else { continue };
        for tag in &feed.record.tags {
            for upper in above(tag).chain([tag.as_str()]) {
                let none = Tagged { tag: upper, own: Vec::new(), all: Vec::new() };
                let tagged = tags.entry(parts(upper)).or_insert(none);
                if tagged.all.last() != Some(&key) {
                    tagged.all.push(key);
                }
                if upper == tag {
                    tagged.own.push(key);
                }
            }
        }
    }
    let mut rows = Vec::new();
    for Tagged { tag, own, all } in tags.into_values() {
        if above(tag).any(|upper| folded.contains(upper)) {
            continue;
        }
        rows.push(FeedsRow::Tag(tag.to_owned(), all));
        if !folded.contains(tag) {
            let below = depth(tag).saturating_add(1);
            rows.extend(own.into_iter().map(|key| FeedsRow::Feed(key, below)));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use crate::ui::panes::tag_tree::*;

    #[test]
    fn tags_are_ordered_as_a_tree() {
        let mut tags = ["a b", "a/b", "a", "a/b/c", "b", "a-b"];
        tags.sort_by_key(|tag| parts(tag));
        assert_eq!(tags, ["a", "a/b", "a/b/c", "a b", "a-b", "b"]);
        assert_eq!(above("a/b/c").collect::<Vec<_>>(), ["a", "a/b"]);
        assert_eq!(depth("a"), 0);
    }
}

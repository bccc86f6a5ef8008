//! Shows what changed in a text, as markup with the words that were removed and added.

use std::fmt::Write;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::feed::outgoing::push_escaped;
use crate::feed::text::strip_markup;
use crate::history::kept::PreviousText;

/// Maximum number of words that are compared. The comparison takes longer than linear time.
const WORDS_MAX: usize = 5_000;
/// Number of unchanged words shown before and after a change.
const CONTEXT_WORDS: usize = 12;

/// Returns markup that shows the changes between the previous and the present title and text of an entry: removed words in `del`
/// and `[-…-]`, added words in `ins` and `{+…+}`, and a few words around them. Versions with other ids follow, each with its id.
pub fn changes_markup(previous: &PreviousText, title: Option<&str>, text: &str) -> String {
    let mut markup = String::new();
    for version in std::iter::successors(Some(previous), |version| version.before.as_deref()) {
        if let Some(id) = &version.former {
            markup.push_str("<p><b>Before, with the id:</b> ");
            push_words(&mut markup, &[id], 0..1);
            markup.push_str("</p>");
        }
        push_version(&mut markup, version, title, text);
    }
    markup
}

/// Adds the changes between one version of an entry and its present title and text.
fn push_version(markup: &mut String, previous: &PreviousText, title: Option<&str>, text: &str) {
    let [before, now] = [previous.title.as_deref(), title].map(Option::unwrap_or_default);
    if !before.split_whitespace().eq(now.split_whitespace()) {
        markup.push_str("<p><b>Title:</b> ");
        push_changes(markup, before, now);
        markup.push_str("</p>");
    }
    let (before, now) = (strip_markup(&previous.text), strip_markup(text));
    if !before.split_whitespace().eq(now.split_whitespace()) {
        markup.push_str("<p>");
        push_changes(markup, &before, &now);
        markup.push_str("</p>");
    }
    if [&before, &now].into_iter().any(|text| text.split_whitespace().nth(WORDS_MAX).is_some()) {
        // Writing to a string cannot fail.
        write!(markup, "<p>Only the first {WORDS_MAX} words were compared.</p>").ok();
    }
}

fn push_changes(markup: &mut String, before: &str, now: &str) {
    let words = |text| -> Vec<&str> { str::split_whitespace(text).take(WORDS_MAX).collect() };
    let (before, now) = (words(before), words(now));
    let changes = capture_diff_slices(Algorithm::Myers, &before, &now);
    let last = changes.len().saturating_sub(1);
    for (place, change) in changes.into_iter().enumerate() {
        match change {
            DiffOp::Equal { new_index, len, .. } => {
                let range = new_index..new_index.saturating_add(len);
                push_unchanged(markup, &now, range, (place == 0, place == last));
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                push_marked(markup, &before, old_index..old_index.saturating_add(old_len), "del");
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                push_marked(markup, &now, new_index..new_index.saturating_add(new_len), "ins");
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                push_marked(markup, &before, old_index..old_index.saturating_add(old_len), "del");
                push_marked(markup, &now, new_index..new_index.saturating_add(new_len), "ins");
            }
        }
    }
}

/// Adds unchanged words. Of many, only those beside the changes are added.
fn push_unchanged(
    markup: &mut String,
    words: &[&str],
    range: Range<usize>,
    (is_first, is_last): (bool, bool),
) {
    let after = if is_first { 0 } else { CONTEXT_WORDS };
    let before = if is_last { 0 } else { CONTEXT_WORDS };
    if range.len() <= after.saturating_add(before) {
        return push_words(markup, words, range);
    }
    push_words(markup, words, range.start..range.start.saturating_add(after));
    markup.push_str(if is_first || is_last { "… " } else { "…</p><p>… " });
    push_words(markup, words, range.end.saturating_sub(before)..range.end);
}

/// Adds words in an element, and between signs that can be read without its style.
fn push_marked(markup: &mut String, words: &[&str], range: Range<usize>, element: &str) {
    let [open, close] = if element == "del" { ["[-", "-]"] } else { ["{+", "+}"] };
    // Writing to a string cannot fail.
    write!(markup, "<{element}>{open}").ok();
    push_words(markup, words, range);
    while markup.ends_with(' ') {
        markup.pop();
    }
    write!(markup, "{close}</{element}> ").ok();
}

fn push_words(markup: &mut String, words: &[&str], range: Range<usize>) {
    for word in words.get(range).unwrap_or_default() {
        push_escaped(markup, word, false);
        markup.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(before: &str, now: &str) -> String {
        let previous = PreviousText {
            title: Some("Wax".into()),
            text: before.into(),
            ..PreviousText::default()
        };
        changes_markup(&previous, Some("Wax"), now)
    }

    #[test]
    fn changed_words_are_marked_within_their_context() {
        assert_eq!(
            changes("<p>Warm the wax slowly.</p>", "<p>Melt the wax &lt;b&gt; slowly.</p>"),
            "<p><del>[-Warm-]</del> <ins>{+Melt+}</ins> the wax <ins>{+&lt;b&gt;+}</ins> slowly. </p>"
        );
        assert_eq!(changes("a b", "a"), "<p>a <del>[-b-]</del> </p>");
        assert_eq!(changes("a", "a"), "");
    }

    #[test]
    fn versions_with_other_ids_follow_with_their_ids() {
        let version = |former: Option<&str>, text: &str, before| PreviousText {
            title: Some("Wax".into()),
            text: text.into(),
            former: former.map(str::to_owned),
            before,
            ..PreviousText::default()
        };
        let old = Box::new(version(Some("<g1>"), "one", None));
        let shown = changes_markup(&version(None, "two", Some(old)), Some("Wax"), "three");
        let id = "<p><b>Before, with the id:</b> &lt;g1&gt; </p>";
        let changes = ["two", "one"]
            .map(|text| format!("<p><del>[-{text}-]</del> <ins>{{+three+}}</ins> </p>"));
        assert_eq!(shown, changes.join(id));
    }

    #[test]
    fn unchanged_words_far_from_changes_are_left_out() {
        let same: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let same = same.join(" ");
        let shown = changes(&format!("x {same} y"), &format!("z {same} w"));
        assert!(shown.contains("10 11 …</p><p>… 88 89"), "{shown}");
        assert!(!shown.contains(" 50 "), "{shown}");
        let shown = changes(&format!("{same} y"), &format!("{same} w"));
        assert!(shown.starts_with("<p>… 88"), "{shown}");
    }

    #[test]
    fn changed_title_and_cut_comparison_are_named() {
        let previous = PreviousText { title: Some("Old".into()), ..PreviousText::default() };
        let shown = changes_markup(&previous, Some("New"), "");
        assert_eq!(shown, "<p><b>Title:</b> <del>[-Old-]</del> <ins>{+New+}</ins> </p>");
        let long = "word ".repeat(WORDS_MAX + 1);
        assert!(
            changes(&long, "word").ends_with("<p>Only the first 5000 words were compared.</p>")
        );
    }
}

//! Entries that their publishers edit: the text before the edit, and what changed.

use std::fmt::Write;
use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::kept::{EntryBody, KeptEntry, PreviousText};
use super::merge::MergedEntry;
use crate::feed::outgoing::push_escaped;
use crate::feed::text::strip_markup;

/// Time for which later edits are compared with the text before the first one: publishers often edit several times in a row.
const ONE_EDIT: TimeDelta = TimeDelta::days(7);
/// Maximum length of a text that is kept, in bytes.
const TEXT_BYTES_MAX: usize = 200_000;

/// Keeps the texts that an entry had before the copy that was fetched at `at`, if a reader would see a difference. Returns whether the
/// reader sees another text than the stored one.
pub fn keep_previous(
    entry: &mut MergedEntry,
    kept: &KeptEntry,
    mut body: EntryBody,
    at: DateTime<Utc>,
) -> bool {
    if let Some(mut lost) = entry.earlier.take() {
        let is_news = !is_same_text(&lost, kept.title.as_deref(), &body)
            && versions(&body)
                .all(|known| (&known.former, &known.text) != (&lost.former, &lost.text));
        if is_news && entry.body.is_none() {
            lost.before = body.previous.take();
            body.previous = bounded(Some(lost), TEXT_BYTES_MAX);
            entry.row.flags = entry.row.flags.edited(body.previous.is_some());
            entry.body = Some(body);
        }
        return false;
    }
    let Some(now) = &mut entry.body else { return false };
    let title = entry.kept.title.as_deref();
    let (earlier, text) = (body.previous.take(), body.text().unwrap_or_default().to_owned());
    let is_renamed = kept.id != entry.kept.id;
    let former = is_renamed.then(|| kept.id.clone());
    let stored = PreviousText { title: kept.title.clone(), text, at, former, before: None };
    let differs = !is_same_text(&stored, title, now);
    let previous = match earlier {
        // Nothing to be seen changed, or it is one edit in several steps.
        Some(earlier)
            if !is_renamed && at.signed_duration_since(earlier.at) < ONE_EDIT || !differs =>
        {
            Some(earlier)
        }
        earlier => Some(Box::new(PreviousText { before: renamed(earlier), ..stored })),
    };
    let previous = previous.and_then(|previous| {
        if is_same_text(&previous, title, now) { renamed(previous.before) } else { Some(previous) }
    });
    now.previous = bounded(previous, TEXT_BYTES_MAX);
    entry.row.flags = entry.row.flags.edited(now.previous.is_some());
    differs
}

/// Iterates over the earlier versions of an entry, newest first.
pub fn versions(body: &EntryBody) -> impl Iterator<Item = &PreviousText> {
    std::iter::successors(body.previous.as_deref(), |version| version.before.as_deref())
}

/// Returns the versions that had other ids. Of edits, only the last one is kept.
fn renamed(version: Option<Box<PreviousText>>) -> Option<Box<PreviousText>> {
    let mut version = version?;
    let before = renamed(version.before.take());
    if version.former.is_none() {
        return before;
    }
    version.before = before;
    Some(version)
}

/// Drops the oldest versions, so that all texts together have at most `bytes` bytes.
fn bounded(version: Option<Box<PreviousText>>, bytes: usize) -> Option<Box<PreviousText>> {
    let mut version = version?;
    let rest = bytes.checked_sub(version.text.len())?;
    version.before = bounded(version.before.take(), rest);
    Some(version)
}

/// Checks whether a reader sees no difference between an earlier version and a title and text.
fn is_same_text(version: &PreviousText, title: Option<&str>, body: &EntryBody) -> bool {
    let text = body.text().map(strip_markup);
    is_same(version.title.as_deref(), title)
        && is_same(Some(&strip_markup(&version.text)), text.as_deref())
}

/// Checks whether two texts have the same words.
fn is_same(one: Option<&str>, other: Option<&str>) -> bool {
    let [one, other] = [one, other].map(Option::unwrap_or_default);
    one.split_whitespace().eq(other.split_whitespace())
}

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
    use crate::feed::Entry;
    use crate::feed::fingerprint::PageHash;
    use crate::history::kept::{Position, Rank};
    use crate::history::row::{Flags, IndexRow};

    fn at(days: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(days)
    }

    /// Returns an entry as a poll merges it, with this title and text.
    fn merged(title: &str, text: &str) -> MergedEntry {
        let entry = Entry {
            title: Some(title.to_owned()),
            content: Some(text.to_owned()),
            ..Entry::default()
        };
        let rank = Rank {
            entry_time: None,
            document_time: None,
            position: Position::Subscription,
            fetched_at: at(0),
        };
        let row = IndexRow {
            identity: 1,
            content: 2,
            listed: 3,
            flags: Flags::NEW,
            page: PageHash::UNKNOWN,
        };
        let body = Some(EntryBody::from_copy(&entry));
        MergedEntry::new(row, KeptEntry::from_copy(&entry, at(0), rank), body)
    }

    /// Edits an entry, and returns the edited one with its previous text.
    fn edit(
        before: &MergedEntry,
        title: &str,
        text: &str,
        day: i64,
    ) -> (MergedEntry, Option<String>) {
        let mut now = merged(title, text);
        keep_previous(&mut now, &before.kept, before.body.clone().unwrap(), at(day));
        let previous = now.body.as_ref().and_then(|body| body.previous.as_ref());
        let previous = previous.map(|previous| previous.text.clone());
        assert_eq!(now.row.flags.is_edited(), previous.is_some());
        (now, previous)
    }

    #[test]
    fn only_a_visible_edit_keeps_the_text_before_it() {
        let first = merged("Wax", "<p>Warm it.</p>");
        assert_eq!(edit(&first, "Wax", "<div>Warm  it.</div>", 1).1, None, "only the markup");
        let previous = Some("<p>Warm it.</p>".to_owned());
        assert_eq!(edit(&first, "Wax", "<p>Melt it.</p>", 1).1, previous);
        assert_eq!(edit(&first, "Waxes", "<p>Warm it.</p>", 1).1, previous, "the title");
        let long = merged("Wax", &"x ".repeat(TEXT_BYTES_MAX));
        assert_eq!(edit(&long, "Wax", "y", 1).1, None, "too long to keep");
    }

    #[test]
    fn edits_of_one_week_are_compared_with_the_first_text() {
        let first = merged("Wax", "one");
        let (second, _) = edit(&first, "Wax", "two", 1);
        let (third, previous) = edit(&second, "Wax", "three", 2);
        assert_eq!(previous.as_deref(), Some("one"));
        assert_eq!(edit(&third, "Wax", "one", 3).1, None, "the edits were taken back");
        assert_eq!(edit(&third, "Wax", "four", 8).1.as_deref(), Some("three"));
    }

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

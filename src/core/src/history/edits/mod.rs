//! Entries that their publishers edit: the text before the edit, and what changed.

mod changes;

pub use changes::changes_markup;

use chrono::{DateTime, TimeDelta, Utc};

use super::kept::{EntryBody, KeptEntry, PreviousText};
use super::merge::MergedEntry;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::Entry;
    use crate::history::rank::{Position, Rank};
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
        let row = IndexRow { identity: 1, content: 2, listed: 3, flags: Flags::NEW };
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
}

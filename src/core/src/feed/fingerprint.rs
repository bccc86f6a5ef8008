//! Hashes the content of an entry, to distinguish an edited entry from an unchanged repetition (SPEC E).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher13};

use super::entry::Entry;

/// Keys of [`content_hash`]. They must never change, because stored hashes depend on them.
const KEYS: (u64, u64) = (0x636f_6e74_656e_7420, 0x6f66_2061_6e20_656e);
/// Field separator: the ASCII unit separator, which cannot occur in a field.
const US: u8 = 0x1f;

/// Hashes the visible parts of an entry (SPEC E.2): title, link, author, summary, content, enclosure URLs and categories. Ignores
/// times, the order of enclosures and categories, white space, comments in the markup and `utm_*` parameters in the link.
pub(crate) fn content_hash(entry: &Entry) -> u128 {
    let mut hasher = SipHasher13::new_with_keys(KEYS.0, KEYS.1);
    let mut field = |text: &str| {
        write_words(&mut hasher, text);
        hasher.write_u8(US);
    };
    field(entry.title.as_deref().unwrap_or_default());
    field(&without_tracking(entry.link.as_deref().unwrap_or_default()));
    field(entry.author.as_deref().unwrap_or_default());
    field(&without_comments(entry.summary.as_deref().unwrap_or_default()));
    field(&without_comments(entry.content.as_deref().unwrap_or_default()));
    let enclosures: BTreeSet<&str> =
        entry.enclosures.iter().map(|enclosure| enclosure.url.as_str()).collect();
    let categories: BTreeSet<&str> = entry.categories.iter().map(String::as_str).collect();
    for set in [enclosures, categories] {
        set.into_iter().for_each(&mut field);
        field("");
    }
    hasher.finish128().as_u128()
}

fn write_words(hasher: &mut SipHasher13, text: &str) {
    for (at, word) in text.split_ascii_whitespace().enumerate() {
        if at > 0 {
            hasher.write_u8(b' ');
        }
        hasher.write(word.as_bytes());
    }
}

/// Removes comments from markup. Some publishing programs write the current time into a comment, so the comment differs in each
/// document.
fn without_comments(markup: &str) -> Cow<'_, str> {
    let mut rest = markup;
    let mut out = String::new();
    while let Some((before, tail)) = rest.split_once("<!--") {
        out.push_str(before);
        let Some((_, after)) = tail.split_once("-->") else { return Cow::Owned(out) };
        rest = after;
    }
    if out.is_empty() && rest.len() == markup.len() {
        return Cow::Borrowed(markup);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Removes `utm_*` parameters from the query of a link.
fn without_tracking(link: &str) -> Cow<'_, str> {
    if !link.contains("utm_") {
        return Cow::Borrowed(link);
    }
    let (rest, fragment) =
        link.split_once('#').map_or((link, None), |(rest, fragment)| (rest, Some(fragment)));
    let Some((path, query)) = rest.split_once('?') else { return Cow::Borrowed(link) };
    let kept: Vec<&str> = query.split('&').filter(|part| !part.starts_with("utm_")).collect();
    let mut out = path.to_owned();
    if !kept.is_empty() {
        out.push('?');
        out.push_str(&kept.join("&"));
    }
    if let Some(fragment) = fragment {
        out.push('#');
        out.push_str(fragment);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::entry::Enclosure;

    fn entry() -> Entry {
        Entry {
            id: "1".to_owned(),
            title: Some("Ladders".to_owned()),
            link: Some("https://orchard.example/n3?a=1".to_owned()),
            content: Some("<p>Three.</p>".to_owned()),
            categories: vec!["tools".to_owned(), "wood".to_owned()],
            ..Entry::default()
        }
    }

    fn check(change: impl Fn(&mut Entry), is_edit: bool) {
        let mut changed = entry();
        change(&mut changed);
        assert_eq!(content_hash(&changed) != content_hash(&entry()), is_edit, "{changed:?}");
    }

    #[test]
    fn visible_changes_are_edits() {
        check(|e| e.title = Some("Ladder".to_owned()), true);
        check(|e| e.content = Some("<p>3.</p>".to_owned()), true);
        check(|e| e.summary = Some("<p>Three.</p>".to_owned()), true);
        check(|e| e.link = Some("https://orchard.example/n3?a=2".to_owned()), true);
        check(|e| e.author = Some("Pomona".to_owned()), true);
        check(|e| e.categories.push("new".to_owned()), true);
        check(
            |e| e.enclosures.push(Enclosure { url: "u".to_owned(), ..Enclosure::default() }),
            true,
        );
    }

    #[test]
    fn times_spacing_comments_and_tracking_are_no_edit() {
        check(|e| e.updated = Some(chrono::DateTime::UNIX_EPOCH), false);
        check(|e| e.content = Some("<p>Three.</p>\n <!-- 0.3 s -->".to_owned()), false);
        check(|e| e.categories.reverse(), false);
        check(
            |e| e.link = Some("https://orchard.example/n3?a=1&utm_source=feed".to_owned()),
            false,
        );
    }

    #[test]
    fn hashes_of_contents_are_part_of_the_stored_form() {
        assert_eq!(content_hash(&entry()), 166_278_650_906_485_633_720_078_254_656_850_314_995);
    }
}

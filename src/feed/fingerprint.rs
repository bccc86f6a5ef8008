//! What an entry says, as a number: to know an edit from a repetition (SPEC E).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher13};

use super::entry::Entry;

/// Keys of [`content_hash`]. They are part of what is stored and never change.
const KEYS: (u64, u64) = (0x636f_6e74_656e_7420, 0x6f66_2061_6e20_656e);
/// Separates fields: the ASCII unit separator, which no field holds.
const US: u8 = 0x1f;

/// Hash of what a reader sees of an entry (SPEC E.2): title, link, author, summary, content,
/// addresses of enclosures, categories. Not the times, not the order, not white space, not comments in
/// the markup, not the `utm_*` parameters of the link.
pub fn content_hash(entry: &Entry) -> u128 {
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

/// Markup without its comments: some programs write the time they took into one.
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

/// A link without the `utm_*` parameters of its query.
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

/// CRC-32 of each entry, as a set (SPEC E.1, E.5): fed with id, title, link and text to read, separated
/// by 0x1F. Order and repetition do not matter.
pub fn crc_set(entries: &[Entry]) -> BTreeSet<u32> {
    entries.iter().map(entry_crc).collect()
}

/// CRC-32 of one entry, as in [`crc_set`].
pub fn entry_crc(entry: &Entry) -> u32 {
    let fields = [
        entry.id.as_str(),
        entry.title.as_deref().unwrap_or_default(),
        entry.link.as_deref().unwrap_or_default(),
        entry.body().unwrap_or_default(),
    ];
    let mut crc = Crc32::new();
    for (at, field) in fields.into_iter().enumerate() {
        if at > 0 {
            crc.write(&[US]);
        }
        crc.write(field.as_bytes());
    }
    crc.finish()
}

/// CRC-32 with the polynomial 0x04C11DB7 reflected, all ones before and after.
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = Crc32::new();
    crc.write(bytes);
    crc.finish()
}

struct Crc32(u32);

impl Crc32 {
    const TABLE: [u32; 256] = crc_table();

    const fn new() -> Self {
        Self(u32::MAX)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            let at = self.0.to_le_bytes()[0] ^ byte;
            self.0 = Self::TABLE.get(usize::from(at)).copied().unwrap_or_default() ^ (self.0 >> 8);
        }
    }

    const fn finish(&self) -> u32 {
        !self.0
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "a table of 256 filled by a counter below 256, at compile time"
)]
#[expect(clippy::cast_possible_truncation, reason = "the counter is below 256")]
const fn crc_table() -> [u32; 256] {
    let mut table = [0_u32; 256];
    let mut at = 0_usize;
    while at < table.len() {
        let mut value = at as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { 0xedb8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        table[at] = value;
        at += 1;
    }
    table
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
    fn what_a_reader_sees_is_an_edit() {
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
    fn times_order_spacing_comments_and_tracking_are_no_edit() {
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

    #[test]
    fn the_crc_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc_set(&[entry(), entry()]).len(), 1);
        assert_eq!(
            entry_crc(&entry()),
            crc32(b"1\x1fLadders\x1fhttps://orchard.example/n3?a=1\x1f<p>Three.</p>")
        );
    }
}

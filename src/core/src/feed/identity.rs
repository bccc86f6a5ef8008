//! Determines the identity of each entry (SPEC C.5). An identity is never random. It depends on the order of the entries only if
//! nothing else distinguishes them.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;

use sha2::{Digest as _, Sha256};
use siphasher::sip::SipHasher13;
use siphasher::sip128::{Hasher128 as _, SipHasher13 as SipHasher128};

use super::text::strip_markup;

/// Keys of [`identity_hash`]. They must never change, because stored data depends on them.
const IDENTITY_KEYS: (u64, u64) = (0x6261_636b_6973_7375, 0x6520_6964_656e_7469);
/// Hash keys for the identities of entries without a stated ID. They must never change, because stored data depends on them.
const TEXT_KEYS: (u64, u64) = (0x656e_7472_7920_7769, 0x7468_6f75_7420_6964);
/// Maximum length of an identity, in bytes. A longer one is replaced by its hash.
const ID_BYTES_MAX: usize = 4_096;
/// Prefix of identities that are hashes.
const HASH_PREFIX: &str = "urn:backissue:entry:";

/// Prefix of identities that the server of an account gave to entries whose publisher's id it does not tell.
pub const SERVED_PREFIX: &str = "tag:google.com,2005:reader/item/";
/// Prefix of identities that are the SHA-256 of another identity, in hexadecimal.
const SHA256_PREFIX: &str = "urn:sha256:";
/// Number of hexadecimal digits of a SHA-256.
const SHA256_DIGITS: usize = 64;

/// `Flaw::reason` for a stated ID that is ignored.
pub(super) const SHARED_ID: &str = "different entries have this same id: it was ignored";

/// Entry fields from which the identity is derived.
#[derive(Debug, Clone, Copy, Default)]
pub struct StatedIdentity<'a> {
    /// ID stated by the publisher: `atom:id`, `guid`, `rdf:about` or JSON Feed `id`.
    pub id: Option<&'a str>,
    /// URL of the entry's page, resolved.
    pub link: Option<&'a str>,
    /// Title as plain text.
    pub title: Option<&'a str>,
    /// Summary of the entry, or its content if it has no summary.
    pub text: Option<&'a str>,
    /// Name of the first author. Used only to distinguish entries that differ in nothing else.
    pub author: Option<&'a str>,
    /// Whether the entry has any other content: a date, an attached file or a category.
    pub has_more: bool,
}

/// Returns the identity of a single entry: the trimmed stated ID, else the link, else a hash of the title and text.
pub(crate) fn entry_id(stated: &StatedIdentity<'_>) -> String {
    named(stated.id).or_else(|| named(stated.link)).map_or_else(|| text_hash(stated, &[]), bounded)
}

/// Identities of the entries of one document.
#[derive(Debug, PartialEq, Eq)]
pub struct EntryIds {
    /// Identities in document order.
    pub ids: Vec<String>,
    /// Stated IDs that are ignored because different entries share them.
    pub shared: Vec<String>,
}

/// Returns the identities of the entries of one document.
///
/// Each identity is the result of [`entry_id`], except that stated IDs shared by different entries are ignored. If several entries
/// without an ID would get the same identity, they are distinguished further: entries with the same link by title (or text, if
/// there is no title) and author; entries without a link by author, then by position.
pub fn entry_ids(stated: &[StatedIdentity<'_>]) -> EntryIds {
    let shared = shared_ids(stated);
    if shared.is_empty() {
        return EntryIds { ids: told_apart(stated), shared: Vec::new() };
    }
    let stated: Vec<StatedIdentity<'_>> = stated
        .iter()
        .map(|entry| match named(entry.id) {
            Some(id) if shared.contains(id) => StatedIdentity { id: None, ..*entry },
            Some(_) | None => *entry,
        })
        .collect();
    let shared = shared.into_iter().map(str::to_owned).collect();
    EntryIds { ids: told_apart(&stated), shared }
}

/// Finds stated IDs that are not unique. An ID is not unique if at least three entries share it, or if the document has only two
/// entries and they share the ID but have different links. In both cases no two of these entries may have the same link and title.
fn shared_ids<'a>(stated: &[StatedIdentity<'a>]) -> BTreeSet<&'a str> {
    let ids = stated.iter().filter_map(|entry| named(entry.id));
    let mut hashes: Vec<u64> = ids.map(identity_hash).collect();
    hashes.sort_unstable();
    if hashes.is_sorted_by(|a, b| a < b) {
        return BTreeSet::new();
    }
    let mut by_id: BTreeMap<&str, Vec<&StatedIdentity<'_>>> = BTreeMap::new();
    for entry in stated {
        if let Some(id) = named(entry.id) {
            by_id.entry(id).or_default().push(entry);
        }
    }
    by_id.retain(|_, entries| {
        let said: BTreeSet<_> = entries.iter().map(|e| (named(e.link), named(e.title))).collect();
        let links: BTreeSet<_> = entries.iter().filter_map(|e| named(e.link)).collect();
        // Two entries with the same ID can be copies of one entry with different titles, so a pair must also have different links.
        let is_pair = entries.len() == 2 && stated.len() == 2 && links.len() == 2;
        said.len() == entries.len() && (entries.len() > 2 || is_pair)
    });
    by_id.into_keys().collect()
}

fn told_apart(stated: &[StatedIdentity<'_>]) -> Vec<String> {
    let mut ids: Vec<String> = stated.iter().map(entry_id).collect();
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, (id, entry)) in ids.iter().zip(stated).enumerate() {
        if named(entry.id).is_none() {
            alike.entry(id.clone()).or_default().push(at);
        }
    }
    for places in alike.into_values().filter(|places| places.len() > 1) {
        for (at, id) in tell_apart(stated, &places) {
            if let Some(known) = ids.get_mut(at) {
                *known = id;
            }
        }
    }
    ids
}

/// Distinguishes the entries at the positions `places`, which would otherwise have the same identity. Returns the position and the
/// new identity of each entry whose identity changes.
fn tell_apart(stated: &[StatedIdentity<'_>], places: &[usize]) -> Vec<(usize, String)> {
    let entries = || places.iter().filter_map(|at| Some((*at, stated.get(*at)?)));
    let by_author: Vec<(usize, String)> =
        entries().map(|(at, entry)| (at, hash_with_author(entry))).collect();
    let first = by_author.first().map(|(_, id)| id);
    let is_one = by_author.iter().all(|(_, id)| Some(id) == first);
    if entries().any(|(_, entry)| named(entry.link).is_some()) {
        // Entries that have the same link, title (or text) and author are copies of one entry (SPEC G.41).
        return if is_one { Vec::new() } else { by_author };
    }
    let mut told = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    // New entries are added at the start of a document. Counting from the end therefore gives older entries the same number in
    // later documents.
    for (at, id) in by_author.iter().rev() {
        let Some(entry) = stated.get(*at) else { continue };
        let count = counts.entry(id).or_default();
        if *count > 0 && !is_blank(entry) {
            told.push((*at, hashed(&[id, "", "", &count.to_string()])));
        } else if !is_one {
            told.push((*at, id.clone()));
        }
        *count += 1;
    }
    told
}

/// Hashes the fields that distinguish an entry from others with the same link, or with the same title and text.
fn hash_with_author(entry: &StatedIdentity<'_>) -> String {
    let author = entry.author.unwrap_or_default();
    match (named(entry.link), named(entry.title)) {
        (Some(link), Some(title)) => hashed(&[link, title, author]),
        (Some(link), None) => hashed(&[link, "", author, &plain_text(entry)]),
        (None, _) => text_hash(entry, &[author]),
    }
}

/// Checks whether an entry is empty. Several empty entries share one identity.
fn is_blank(entry: &StatedIdentity<'_>) -> bool {
    let says_nothing = |value| named(value).is_none();
    !entry.has_more && [entry.title, entry.text, entry.author].into_iter().all(says_nothing)
}

fn named(value: Option<&str>) -> Option<&str> {
    value.map(str::trim).filter(|text| !text.is_empty())
}

/// Hashes the title and the text of an entry, and the strings in `more`.
fn text_hash(entry: &StatedIdentity<'_>, more: &[&str]) -> String {
    let text = plain_text(entry);
    hashed(&[&[entry.title.unwrap_or_default(), text.as_str()], more].concat())
}

/// Returns the text of an entry without markup. URLs in the markup would change the hash when the feed moves to another URL.
fn plain_text(entry: &StatedIdentity<'_>) -> String {
    strip_markup(entry.text.unwrap_or_default())
}

/// Checks whether an identity is a hash of the entry's content, because the entry has no ID and no distinct link.
pub(crate) fn is_made_up(id: &str) -> bool {
    id.starts_with(HASH_PREFIX)
}

/// Returns the identity of an entry of which only the SHA-256 of its identity is known. Such an entry and one with the identity itself
/// are one entry.
pub fn hashed_identity(id: &str) -> String {
    format!("{SHA256_PREFIX}{}", sha256_digits(id.as_bytes()))
}

/// Returns the SHA-256 of bytes in hexadecimal.
pub fn sha256_digits(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut digits = String::with_capacity(SHA256_DIGITS);
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        write!(digits, "{byte:02x}").ok();
    }
    digits
}

/// Returns the identity for a SHA-256 of an identity in hexadecimal; `None` if it is none.
pub fn identity_of_sha256(digits: &str) -> Option<String> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_hash = digits.len() == SHA256_DIGITS && digits.bytes().all(is_digit);
    is_hash.then(|| format!("{SHA256_PREFIX}{digits}"))
}

/// Checks whether an identity is the SHA-256 of another.
pub fn is_hashed_identity(id: &str) -> bool {
    id.strip_prefix(SHA256_PREFIX).is_some_and(|digits| digits.len() == SHA256_DIGITS)
}

/// Checks whether an identity was given by the server of an account, and not by the publisher.
pub(crate) fn is_served(id: &str) -> bool {
    id.starts_with(SERVED_PREFIX) || is_hashed_identity(id)
}

fn bounded(id: &str) -> String {
    if id.len() <= ID_BYTES_MAX { id.to_owned() } else { hashed(&[id]) }
}

fn hashed(parts: &[&str]) -> String {
    let mut hasher = SipHasher128::new_with_keys(TEXT_KEYS.0, TEXT_KEYS.1);
    for part in parts {
        for word in part.split_whitespace() {
            hasher.write(word.as_bytes());
            hasher.write_u8(b' ');
        }
        hasher.write_u8(0x1f);
    }
    format!("{HASH_PREFIX}{:032x}", hasher.finish128().as_u128())
}

/// Hashes an identity with fixed keys. The result is the same in every run and on every machine.
pub fn identity_hash(id: &str) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(IDENTITY_KEYS.0, IDENTITY_KEYS.1);
    hasher.write(id.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stated_id_wins_and_is_trimmed() {
        let stated = StatedIdentity {
            id: Some("\n urn:1 "),
            link: Some("http://a.example/"),
            ..StatedIdentity::default()
        };
        assert_eq!(entry_id(&stated), "urn:1");
    }

    #[test]
    fn without_an_id_the_link_is_the_identity_whatever_the_title() {
        let first = StatedIdentity {
            id: Some("  "),
            link: Some("http://a.example/1"),
            title: Some("a"),
            ..StatedIdentity::default()
        };
        let second = StatedIdentity { title: Some("b"), ..first };
        assert_eq!(entry_id(&first), "http://a.example/1");
        assert_eq!(entry_id(&first), entry_id(&second));
    }

    #[test]
    fn without_link_title_and_text_are_the_identity() {
        let first =
            StatedIdentity { title: Some("a b"), text: Some("c"), ..StatedIdentity::default() };
        let same = StatedIdentity { title: Some(" a\n b"), ..first };
        let other =
            StatedIdentity { title: Some("a"), text: Some("b c"), ..StatedIdentity::default() };
        assert_eq!(entry_id(&first), entry_id(&same));
        assert_ne!(entry_id(&first), entry_id(&other));
        assert!(entry_id(&first).starts_with(HASH_PREFIX));
    }

    fn titled<'a>(title: &'a str, author: &'a str) -> StatedIdentity<'a> {
        StatedIdentity {
            title: Some(title),
            author: Some(author).filter(|author| !author.is_empty()),
            ..StatedIdentity::default()
        }
    }

    fn linked<'a>(title: &'a str, author: &'a str) -> StatedIdentity<'a> {
        StatedIdentity { link: Some("http://a.example/"), ..titled(title, author) }
    }

    /// Counts the distinct identities.
    fn count(ids: &[String]) -> usize {
        ids.iter().collect::<BTreeSet<_>>().len()
    }

    #[test]
    fn distinct_entries_keep_their_identity_in_a_document() {
        let with_id = StatedIdentity { id: Some("1"), ..linked("a", "x") };
        let other_link = StatedIdentity { link: Some("http://a.example/2"), ..linked("a", "x") };
        let stated = [
            with_id,
            StatedIdentity { author: Some("y"), ..with_id },
            linked("a", "x"),
            other_link,
            titled("a", "x"),
            titled("b", "x"),
            StatedIdentity { text: Some("<p>t</p>"), ..titled("a", "") },
        ];
        let alone: Vec<String> = stated.iter().map(entry_id).collect();
        assert_eq!(entry_ids(&stated).ids, alone);
        assert_eq!(count(&alone), stated.len() - 1, "one id for two entries makes them one");
    }

    #[test]
    fn title_and_text_identity_is_part_of_the_stored_form() {
        let stated = StatedIdentity { text: Some("<p>b c</p>"), ..titled("a", "x") };
        assert_eq!(entry_id(&stated), "urn:backissue:entry:e39a664d213d5359d8930f094545d7ef");
    }

    #[test]
    fn equal_title_and_text_are_distinguished_by_author() {
        let ids = entry_ids(&[titled("a", "x"), titled("a", "y"), titled("b", "x")]).ids;
        assert_eq!(count(&ids), 3);
        let mut turned = entry_ids(&[titled("a", "y"), titled("b", "x"), titled("a", "x")]).ids;
        turned.rotate_right(1);
        assert_eq!(turned, [ids[0].clone(), ids[1].clone(), ids[2].clone()], "in any order");
    }

    #[test]
    fn identical_entries_are_distinguished_by_position() {
        let two = entry_ids(&[titled("a", "x"), titled("a", "x")]).ids;
        assert_eq!(count(&two), 2);
        assert_eq!(two[1], entry_id(&titled("a", "x")), "the last one has the usual identity");
        let three = entry_ids(&[titled("a", "x"), titled("a", "x"), titled("a", "x")]).ids;
        assert_eq!(three[1..], two, "a new one at the top changes no other");
    }

    #[test]
    fn empty_entries_share_one_identity() {
        let blank = StatedIdentity::default();
        assert_eq!(count(&entry_ids(&[blank, blank, blank]).ids), 1);
        let dated = StatedIdentity { has_more: true, ..blank };
        assert_eq!(count(&entry_ids(&[dated, dated]).ids), 2);
    }

    #[test]
    fn shared_link_entries_differ_by_title_and_author() {
        let ids =
            entry_ids(&[linked("a", "x"), linked("b", "x"), linked("b", "y"), linked("b", "x")])
                .ids;
        assert_eq!(count(&ids), 3);
        assert_eq!(ids[1], ids[3], "one entry that stands there twice");
        let text = |text| StatedIdentity { text: Some(text), title: None, ..linked("", "") };
        assert_eq!(count(&entry_ids(&[text("s"), text("t")]).ids), 2);
    }

    #[test]
    fn repeated_entry_keeps_its_link_as_identity() {
        let edited = StatedIdentity { text: Some("t"), ..linked("a", "x") };
        assert_eq!(entry_ids(&[linked("a", "x"), edited]).ids, ["http://a.example/"; 2]);
    }

    #[test]
    fn id_shared_by_different_entries_is_ignored() {
        let entry = |id, link, title| StatedIdentity {
            id: Some(id),
            link: Some(link),
            title: Some(title),
            ..StatedIdentity::default()
        };
        let (one, two) =
            (entry("N/A", "http://a.example/1", "a"), entry("N/A", "http://a.example/2", "b"));
        let all = entry_ids(&[one, two]);
        assert_eq!(
            (all.ids, all.shared),
            (
                vec!["http://a.example/1".to_owned(), "http://a.example/2".to_owned()],
                vec!["N/A".to_owned()],
            )
        );
        let three = [
            one,
            two,
            entry("N/A", "http://a.example/3", "c"),
            entry("g", "http://a.example/4", "d"),
        ];
        assert_eq!(entry_ids(&three).ids[3], "g");
        assert_eq!(count(&entry_ids(&three).ids), 4);
        for copies in [
            vec![one, one, one],
            vec![one, entry("N/A", "http://a.example/1", "a, corrected"), one],
            vec![one, two, entry("g", "http://a.example/4", "d")],
        ] {
            assert_eq!(entry_ids(&copies).ids[0], "N/A", "{copies:?}");
        }
    }

    #[test]
    fn hashes_of_identities_are_part_of_the_stored_form() {
        assert_eq!(identity_hash("tag:orchard.example,2025:n6"), 16_185_863_149_614_722_164);
    }

    #[test]
    fn an_identity_and_its_sha256_are_one() {
        let hashed = hashed_identity("urn:1");
        assert!(is_hashed_identity(&hashed) && !is_hashed_identity("urn:sha256:12"));
        assert_eq!(identity_of_sha256(hashed.rsplit(':').next().unwrap()), Some(hashed));
        for wrong in ["4c9e5e2d", "", &"G".repeat(64), &"a".repeat(65)] {
            assert_eq!(identity_of_sha256(wrong), None, "{wrong}");
        }
        assert_eq!(
            hashed_identity(""),
            "urn:sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn an_absurdly_long_id_is_replaced_by_its_hash() {
        let long = "x".repeat(ID_BYTES_MAX + 1);
        let id = entry_id(&StatedIdentity { id: Some(&long), ..StatedIdentity::default() });
        assert!(id.len() < 100 && id.starts_with(HASH_PREFIX));
    }
}

//! The identity of an entry (SPEC C.5). It is never random and never depends on the order of entries.

use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;
use siphasher::sip128::{Hasher128 as _, SipHasher13 as SipHasher128};

use super::text::strip_markup;

/// Keys of [`identity_hash`]. Stored data depends on them: they never change.
const IDENTITY_KEYS: (u64, u64) = (0x6261_636b_6973_7375, 0x6520_6964_656e_7469);
/// Keys of the identity of entries that state none. They never change either.
const TEXT_KEYS: (u64, u64) = (0x656e_7472_7920_7769, 0x7468_6f75_7420_6964);
/// Longest identity kept, in bytes; a longer one is replaced by its hash.
const ID_BYTES_MAX: usize = 4_096;
/// The start of identities that are hashes.
const HASH_PREFIX: &str = "urn:backissue:entry:";

/// The parts of an entry from which its identity is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct StatedIdentity<'a> {
    /// `atom:id`, `guid`, `rdf:about`, JSON Feed `id`.
    pub id: Option<&'a str>,
    /// The page of the entry, resolved.
    pub link: Option<&'a str>,
    /// Title as plain text.
    pub title: Option<&'a str>,
    /// Summary, else content.
    pub text: Option<&'a str>,
}

/// Returns the identity of an entry: the stated id trimmed, else the link, else a hash of title and text.
pub fn entry_id(stated: &StatedIdentity<'_>) -> String {
    let named = |value: Option<&str>| value.map(str::trim).filter(|id| !id.is_empty()).map(bounded);
    named(stated.id).or_else(|| named(stated.link)).unwrap_or_else(|| {
        // Without its markup: the addresses in it change when the feed moves.
        hashed(&[stated.title.unwrap_or_default(), &strip_markup(stated.text.unwrap_or_default())])
    })
}

/// Whether an identity was made from the title and the text, because the entry states neither id nor link.
pub fn is_made_up(id: &str) -> bool {
    id.starts_with(HASH_PREFIX)
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

/// Hashes an identity with fixed keys, so that the result is the same in every run and on every machine.
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
            text: None,
        };
        let second = StatedIdentity { title: Some("b"), ..first };
        assert_eq!(entry_id(&first), "http://a.example/1");
        assert_eq!(entry_id(&first), entry_id(&second));
    }

    #[test]
    fn without_both_title_and_text_decide_and_spacing_does_not() {
        let first =
            StatedIdentity { title: Some("a b"), text: Some("c"), ..StatedIdentity::default() };
        let same = StatedIdentity { title: Some(" a\n b"), ..first };
        let other =
            StatedIdentity { title: Some("a"), text: Some("b c"), ..StatedIdentity::default() };
        assert_eq!(entry_id(&first), entry_id(&same));
        assert_ne!(entry_id(&first), entry_id(&other));
        assert!(entry_id(&first).starts_with(HASH_PREFIX));
    }

    #[test]
    fn hashes_of_identities_are_part_of_the_stored_form() {
        assert_eq!(identity_hash("tag:orchard.example,2025:n6"), 16_185_863_149_614_722_164);
    }

    #[test]
    fn an_absurdly_long_id_is_replaced_by_its_hash() {
        let long = "x".repeat(ID_BYTES_MAX + 1);
        let id = entry_id(&StatedIdentity { id: Some(&long), ..StatedIdentity::default() });
        assert!(id.len() < 100 && id.starts_with(HASH_PREFIX));
    }
}

//! The keys of changed records: sled leaves out of each what all keys of its page begin with, and does not write how much that is.

use super::stray_pages::FACTS;
use crate::io::codec;
use crate::io::store::chunks::{ALONE_KEY, are_texts};
use backissue_core::history::ArchiveNode;

/// Bytes of the number of a feed, with which most keys begin.
const FEED: usize = 4;
/// Bytes of the key of a record of several texts; that of a text of its own is longer.
const PACKED: usize = 8;

/// Lengths that a key of a tree can have; none: any.
const fn key_lengths(tree: &[u8]) -> &'static [usize] {
    match tree {
        b"feeds" | b"state" | b"times" | b"counters" | b"history" | b"rhythms" | b"places" => &[4],
        b"index" | b"meta" | b"polls" | b"rulings" | b"pages" | b"undo" => &[8],
        b"bodies" => &[PACKED, ALONE_KEY],
        _ => &[],
    }
}

/// The key of a changed record of a tree that ends so; `None`: that cannot be told. `lo`: the first key of its page, or nothing
/// where that is not known, of which `left_out` bytes are left out of each key, if that is known. `value`: `None`, if the record was removed.
pub(super) fn whole_key(
    tree: &[u8],
    lo: &[u8],
    left_out: Option<usize>,
    end: &[u8],
    value: Option<&[u8]>,
) -> Option<Vec<u8>> {
    let lengths = key_lengths(tree);
    let with = |left_out: usize| {
        let key = [lo.get(..left_out)?, end].concat();
        let is_one = lengths.is_empty() || lengths.contains(&key.len());
        (is_one && key.as_slice() >= lo).then_some(key)
    };
    let usual = left_out.and_then(with);
    let others = || lengths.iter().filter_map(|length| with(length.checked_sub(end.len())?));
    match (tree, value) {
        // What a record holds says which of them it is.
        (b"bodies", Some(value)) => {
            let mut keys = usual.iter().cloned().chain(others());
            keys.find(|key| are_texts(value, key.len() > PACKED)).or(usual)
        }
        (b"nodes", Some(value)) => {
            let address = codec::decode::<ArchiveNode>(value).map(|node| node.url);
            let named = address.ok().and_then(|address| {
                let length = address.len().saturating_add(FEED);
                let key = length.checked_sub(end.len()).and_then(with);
                key.filter(|key| key.ends_with(address.as_bytes()))
            });
            named.or(usual)
        }
        // None of the facts ends as another one.
        (b"about", _) => usual.or_else(|| with(0).filter(|key| FACTS.contains(&key.as_slice()))),
        _ if lengths.len() == 1 => usual.or_else(|| others().next()),
        _ => usual,
    }
}

#[cfg(test)]
mod tests {
    use crate::io::store::chunks::{BodyChunk, BodySlot};
    use crate::io::store::salvage::whole_keys::*;
    use backissue_core::history::EntryBody;

    #[test]
    fn key_is_completed_to_its_known_length() {
        let lo = [0, 0, 0, 3, 0, 0, 0, 9];
        let key = |left_out, end: &[u8]| whole_key(b"meta", &lo, left_out, end, Some(b"value"));
        let expected = Some(vec![0, 0, 0, 3, 0, 0, 0, 10]);
        assert_eq!(key(Some(4), &[0, 0, 0, 10]), expected);
        assert_eq!(key(None, &[10]), expected);
        // A page between what is known and the change is lost: it left out more.
        assert_eq!(key(Some(4), &[10]), expected);
        assert_eq!(key(None, &[8]), None, "it is of no such page");
        assert_eq!(whole_key(b"about", b"", None, b"salt", None), Some(b"salt".to_vec()));
        assert_eq!(whole_key(b"about", b"", None, b"alt", None), None);
        assert_eq!(whole_key(b"about", b"t", None, b"salt", None), None);
    }

    #[test]
    fn record_content_decides_between_two_keys() {
        let lo = [0, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0, 36];
        let packed: BodyChunk = vec![BodySlot::Here(EntryBody::default())];
        let packed = codec::encode_compressed(&packed).unwrap();
        let alone = codec::encode_compressed(&EntryBody::default()).unwrap();
        let end = [0, 0, 0, 37];
        for left_out in [None, Some(4), Some(8)] {
            let of = |value: Option<&[u8]>| whole_key(b"bodies", &lo, left_out, &end, value);
            assert_eq!(of(Some(&packed)), Some(vec![0, 0, 0, 3, 0, 0, 0, 37]));
            assert_eq!(of(Some(&alone)), Some(vec![0, 0, 0, 3, 0, 0, 0, 9, 0, 0, 0, 37]));
            assert_eq!(of(None).map(|key| key.len()), left_out.map(|left_out| left_out + 4));
        }
    }

    #[test]
    fn the_address_of_an_archive_is_its_key() {
        let node = ArchiveNode { url: "http://a.example/2".into(), ..ArchiveNode::default() };
        let value = codec::encode(&node).unwrap();
        let lo = b"\0\0\0\x03http://a.example/1";
        let expected = Some(b"\0\0\0\x03http://a.example/2".to_vec());
        for left_out in [None, Some(2), Some(10)] {
            assert_eq!(whole_key(b"nodes", lo, left_out, b"e/2", Some(&value)), expected);
        }
        assert_eq!(whole_key(b"nodes", lo, None, b"e/2", None), None);
    }
}

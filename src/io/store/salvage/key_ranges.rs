//! Ranges of keys of a tree, of which is known what stands in them.

use std::collections::BTreeMap;
use std::ops::Bound;

/// Ranges that do not touch: the first key of each, and the first one behind it (`None`: there is no end).
#[derive(Debug, Default)]
pub(super) struct KeyRanges(BTreeMap<Vec<u8>, Option<Vec<u8>>>);

/// The end of a range as sled writes it: an empty key is none.
fn end_of(hi: &[u8]) -> Option<Vec<u8>> {
    (!hi.is_empty()).then(|| hi.to_vec())
}

/// Whether a range that ends so reaches to a key.
fn reaches(end: Option<&Vec<u8>>, key: &[u8]) -> bool {
    end.is_none_or(|end| key <= end.as_slice())
}

impl KeyRanges {
    /// The last range that does not begin behind a key.
    fn at_or_before(&self, key: &[u8]) -> Option<(&Vec<u8>, &Option<Vec<u8>>)> {
        self.0.range::<[u8], _>((Bound::Unbounded, Bound::Included(key))).next_back()
    }

    pub(super) fn contains(&self, key: &[u8]) -> bool {
        let before = self.at_or_before(key);
        before.is_some_and(|(_, end)| end.as_ref().is_none_or(|end| key < end.as_slice()))
    }

    /// Whether all of a range is in one of these.
    pub(super) fn contains_all(&self, lo: &[u8], hi: &[u8]) -> bool {
        let before = self.at_or_before(lo);
        before.is_some_and(|(_, end)| match (end, end_of(hi)) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(end), Some(hi)) => hi <= *end,
        })
    }

    pub(super) fn add(&mut self, lo: &[u8], hi: &[u8]) {
        let (mut from, mut to) = (lo.to_vec(), end_of(hi));
        let before = self.at_or_before(lo);
        if let Some((start, end)) = before.filter(|(_, end)| reaches(end.as_ref(), lo)) {
            from.clone_from(start);
            to = later(to, end.clone());
        }
        let touched: Vec<Vec<u8>> = self
            .0
            .range::<[u8], _>((Bound::Included(from.as_slice()), Bound::Unbounded))
            .map(|(start, _)| start.clone())
            .take_while(|start| reaches(to.as_ref(), start))
            .collect();
        for start in touched {
            if let Some(end) = self.0.remove(&start) {
                to = later(to, end);
            }
        }
        self.0.insert(from, to);
    }

    /// Whether every key is in one of them.
    pub(super) fn is_everything(&self) -> bool {
        self.contains_all(&[], &[])
    }

    /// How many gaps there are between them.
    pub(super) fn gaps(&self) -> usize {
        let begins = self.0.first_key_value().is_some_and(|(start, _)| start.is_empty());
        let ends = self.0.last_key_value().is_some_and(|(_, end)| end.is_none());
        let (before, behind) = (usize::from(!begins), usize::from(!ends && begins));
        self.0.len().saturating_sub(1).saturating_add(before).saturating_add(behind)
    }
}

fn later(one: Option<Vec<u8>>, other: Option<Vec<u8>>) -> Option<Vec<u8>> {
    Some(one?.max(other?))
}

#[cfg(test)]
mod tests {
    use crate::io::store::salvage::key_ranges::*;

    #[test]
    fn touching_ranges_merge_and_the_space_between_is_a_gap() {
        let mut ranges = KeyRanges::default();
        assert!(!ranges.contains(b"") && !ranges.is_everything());
        ranges.add(b"c", b"f");
        ranges.add(b"m", b"p");
        assert!(ranges.contains(b"c") && ranges.contains(b"ez") && !ranges.contains(b"f"));
        assert_eq!(ranges.gaps(), 2);
        ranges.add(b"f", b"h");
        assert!(ranges.contains_all(b"d", b"h") && !ranges.contains_all(b"d", b"i"));
        ranges.add(b"g", b"n");
        assert!(ranges.contains_all(b"c", b"p"));
        ranges.add(b"", b"d");
        ranges.add(b"p", b"");
        assert!(ranges.is_everything());
        assert_eq!(ranges.gaps(), 0);
        ranges.add(b"a", b"z");
        assert!(ranges.is_everything(), "what is known stays known");
    }
}

//! Words as numbers, which are compared faster than bytes.

use super::segment::Field;

/// Words up to this size in bytes are kept as two numbers.
pub(super) const SHORT_BYTES: usize = 16;

/// A word and its field: all of a short word, the ends of a long one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PackedWord {
    pub(super) head: u64,
    pub(super) tail: u64,
    pub(super) field: u8,
    pub(super) length: u8,
}

impl PackedWord {
    /// Packs a word of at most 255 bytes.
    #[inline]
    pub(super) fn new(field: Field, word: &[u8]) -> Self {
        let (head, tail) = match (word.first_chunk::<8>(), word.last_chunk::<8>()) {
            (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
            _ => match (word.first_chunk::<4>(), word.last_chunk::<4>()) {
                (Some(head), Some(tail)) => {
                    (u32::from_le_bytes(*head).into(), u32::from_le_bytes(*tail).into())
                }
                _ => (word.iter().fold(0, |head, byte| head << 8 | u64::from(*byte)), 0),
            },
        };
        Self {
            head,
            tail,
            field: field.byte(),
            length: u8::try_from(word.len()).unwrap_or(u8::MAX),
        }
    }

    /// Checks whether the numbers are not all of the word.
    pub(super) const fn is_long(self) -> bool {
        self.length as usize > SHORT_BYTES
    }

    /// Appends the term of a short word: the field and the word.
    pub(super) fn push_short(self, term: &mut Vec<u8>) {
        let length = usize::from(self.length);
        let (head, tail) = (self.head.to_le_bytes(), self.tail.to_le_bytes());
        let width = if length < 8 { 4 } else { 8 };
        term.push(self.field);
        if length < 4 {
            term.extend_from_slice(last_of(&self.head.to_be_bytes(), length));
        } else {
            // The ends overlap.
            let tail = tail.get(..width).unwrap_or_default();
            term.extend_from_slice(head.get(..width).unwrap_or_default());
            term.extend_from_slice(last_of(tail, length.saturating_sub(width)));
        }
    }

    /// Returns a hash of this word, whose bytes are `word`.
    #[inline]
    pub(super) fn hash(self, word: &[u8], seed: [u64; 2]) -> usize {
        let [head_seed, tail_seed] = seed;
        let kind = u64::from(self.field) << 8 | u64::from(self.length);
        let mut head = self.head ^ head_seed;
        if self.is_long() {
            for eight in word.as_chunks::<8>().0 {
                head = mixed(head ^ u64::from_le_bytes(*eight), tail_seed);
            }
        }
        let hash = mixed(head, self.tail ^ tail_seed ^ kind << 48);
        usize::try_from(hash & 0xffff_ffff).unwrap_or(0)
    }
}

fn last_of(bytes: &[u8], count: usize) -> &[u8] {
    bytes.get(bytes.len().saturating_sub(count)..).unwrap_or_default()
}

/// Multiplies two numbers, and folds the product.
#[inline]
fn mixed(a: u64, b: u64) -> u64 {
    let product = u128::from(a).wrapping_mul(b.into());
    let folded = (product >> 64) ^ (product & u128::from(u64::MAX));
    u64::try_from(folded).unwrap_or(0)
}

//! Posting lists: the ordinals of the entries that contain a word, in ascending order, packed into bytes.
//!
//! A list of frequent entries is a bitmap. Any other list holds the gaps between its ordinals in a Rice code: the upper part
//! of a gap in unary, the lower part in a fixed number of bits that is chosen for the list.

/// First byte of a list that is a bitmap. Other lists begin with the number of fixed bits of their gaps.
const BITMAP: u8 = 0xff;
/// Maximum number of fixed bits in a gap.
const FIXED_BITS_MAX: u8 = 31;
/// Number of bits that one load of eight bytes supplies at any bit offset.
const LOADED_BITS: u32 = 57;

/// Appends a number in groups of seven bits, lowest group first.
pub(super) fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

/// Removes a number from the beginning of `bytes`. Returns `None` if there is no complete number.
pub(super) fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    if *first < 0x80 {
        return Some(u64::from(*first));
    }
    let mut value = u64::from(first & 0x7f);
    let mut shift = 7_u32;
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if *byte < 0x80 {
            return Some(value);
        }
        shift = shift.saturating_add(7);
    }
}

/// Appends a list of ordinals. They must be ascending, and there must be at least one.
pub(super) fn push_list(out: &mut Vec<u8>, ordinals: &[u32]) {
    let start = out.len();
    let count = ordinals.len() as u64;
    let last = ordinals.last().copied().unwrap_or(0);
    let range = u64::from(last).saturating_add(1);
    let bitmap_bytes = (last / 8) as usize;
    if count.saturating_mul(5) < range.saturating_mul(2) {
        let between = range.saturating_sub(count);
        let gap = between.saturating_mul(3).checked_div(count.saturating_mul(4)).unwrap_or(0);
        let fixed = gap.checked_ilog2().unwrap_or(0).min(u32::from(FIXED_BITS_MAX));
        out.push((fixed & 0xff) as u8);
        push_gaps(out, ordinals, fixed);
        // Both sizes include the first byte.
        if out.len().saturating_sub(start) <= bitmap_bytes.saturating_add(2) {
            return;
        }
        out.truncate(start);
    }
    out.push(BITMAP);
    let bits = out.len();
    out.resize(bits.saturating_add(bitmap_bytes).saturating_add(1), 0);
    let bits = out.get_mut(bits..).unwrap_or_default();
    for ordinal in ordinals {
        set_bit(bits, *ordinal);
    }
}

/// Sets a bit, counted from the lowest bit of the first byte. Does nothing if the bit is beyond the end.
pub(super) fn set_bit(bits: &mut [u8], bit: u32) {
    if let Some(byte) = bits.get_mut((bit / 8) as usize) {
        *byte |= 1 << (bit % 8);
    }
}

/// Writes bits, lowest bit first.
struct BitWriter<'o> {
    out: &'o mut Vec<u8>,
    /// Bits that are not written yet: fewer than 32 between two calls.
    held: u64,
    held_count: u32,
}

impl BitWriter<'_> {
    /// Appends at most 32 bits.
    #[inline]
    fn push(&mut self, bits: u64, count: u32) {
        self.held |= bits << self.held_count;
        self.held_count = self.held_count.wrapping_add(count);
        if self.held_count >= 32 {
            let low = (self.held & 0xffff_ffff) as u32;
            self.out.extend_from_slice(&low.to_le_bytes());
            self.held >>= 32;
            self.held_count = self.held_count.wrapping_sub(32);
        }
    }

    /// Writes the bits that are left, followed by zeros up to the end of a byte.
    fn finish(self) {
        let bytes = self.held_count.div_ceil(8) as usize;
        self.out.extend(self.held.to_le_bytes().iter().take(bytes));
    }
}

fn push_gaps(out: &mut Vec<u8>, ordinals: &[u32], fixed: u32) {
    let mut bits = BitWriter { out, held: 0, held_count: 0 };
    let mut least = 0_u32;
    for ordinal in ordinals {
        let gap = ordinal.wrapping_sub(least);
        least = ordinal.wrapping_add(1);
        let lower = u64::from(gap) & (1_u64 << fixed).wrapping_sub(1);
        let mut upper = gap >> fixed;
        while upper > 31 {
            bits.push(0, 32);
            upper = upper.wrapping_sub(32);
        }
        let marked = upper.wrapping_add(1);
        if marked.wrapping_add(fixed) <= 32 {
            bits.push((1 | lower << 1) << upper, marked.wrapping_add(fixed));
        } else {
            bits.push(1 << upper, marked);
            bits.push(lower, fixed);
        }
    }
    bits.finish();
}

/// The bytes of a list.
#[derive(Clone, Copy)]
pub(super) enum PostingList<'b> {
    Bitmap(&'b [u8]),
    Gaps { fixed: u32, bits: &'b [u8] },
}

impl<'b> PostingList<'b> {
    /// Recognizes the kind of a list. Returns `None` if it is damaged.
    pub(super) fn parse(bytes: &'b [u8]) -> Option<Self> {
        match bytes.split_first()? {
            (&BITMAP, bits) => Some(Self::Bitmap(bits)),
            (&fixed, bits) => {
                (fixed <= FIXED_BITS_MAX).then_some(Self::Gaps { fixed: fixed.into(), bits })
            }
        }
    }

    /// Appends the ordinals of the list, each less than `limit`. Returns `None` if the list is damaged.
    pub(super) fn push_to(self, ordinals: &mut Vec<u32>, limit: u32) -> Option<()> {
        match self {
            Self::Gaps { fixed, bits } => {
                each_of_gaps(bits, fixed, limit, |ordinal| ordinals.push(ordinal))
            }
            Self::Bitmap(bits) => {
                check_bitmap(bits, limit)?;
                let mut base = 0_u32;
                for byte in bits {
                    let mut left = *byte;
                    while left != 0 {
                        ordinals.push(base.wrapping_add(left.trailing_zeros()));
                        left &= left.wrapping_sub(1);
                    }
                    base = base.wrapping_add(8);
                }
                Some(())
            }
        }
    }

    /// Sets the bits of the ordinals of the list, each less than `limit`. Returns `None` if the list is damaged.
    pub(super) fn set_in(self, set: &mut [u8], limit: u32) -> Option<()> {
        match self {
            Self::Gaps { fixed, bits } => {
                each_of_gaps(bits, fixed, limit, |ordinal| set_bit(set, ordinal))
            }
            Self::Bitmap(bits) => {
                check_bitmap(bits, limit)?;
                for (byte, more) in set.iter_mut().zip(bits) {
                    *byte |= more;
                }
                Some(())
            }
        }
    }
}

/// Checks that a bitmap ends with its highest ordinal, and that this ordinal is less than `limit`.
fn check_bitmap(bits: &[u8], limit: u32) -> Option<()> {
    let top = bits.last()?.checked_ilog2()?;
    let before = u32::try_from(bits.len().checked_sub(1)?).ok()?.checked_mul(8)?;
    (before.checked_add(top)? < limit).then_some(())
}

/// Returns the bits that start at an offset, at least [`LOADED_BITS`] of them. Bits beyond the end of `bytes` are zero.
#[inline]
fn load(bytes: &[u8], bit: usize) -> u64 {
    let at = bit / 8;
    let word = match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(word) => *word,
        None => load_end(bytes.get(at..).unwrap_or_default()),
    };
    u64::from_le_bytes(word) >> (bit % 8)
}

#[cold]
fn load_end(rest: &[u8]) -> [u8; 8] {
    let mut word = [0; 8];
    word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    word
}

/// Decodes gaps. Returns `None` if they are damaged, or if an ordinal is not less than `limit`.
#[inline]
fn each_of_gaps(bits: &[u8], fixed: u32, limit: u32, mut each: impl FnMut(u32)) -> Option<()> {
    let end = bits.len().checked_mul(8)?;
    let mask = (1_u64 << fixed).wrapping_sub(1);
    let (mut at, mut least) = (0_usize, 0_u64);
    loop {
        let mut loaded = load(bits, at);
        let zeros = loaded.trailing_zeros();
        let mut upper = u64::from(zeros);
        if zeros.wrapping_add(fixed) < LOADED_BITS {
            loaded = loaded >> zeros >> 1;
            at = at.wrapping_add(zeros as usize).wrapping_add(1);
        } else {
            if is_over(bits, at) {
                return Some(());
            }
            upper = long_upper(bits, &mut at)?;
            loaded = load(bits, at);
        }
        at = at.wrapping_add(fixed as usize);
        let gap = upper.checked_shl(fixed)? | (loaded & mask);
        let ordinal = least.wrapping_add(gap);
        if at > end || ordinal >= limit.into() {
            return None;
        }
        least = ordinal.wrapping_add(1);
        each((ordinal & 0xffff_ffff) as u32);
    }
}

/// Checks whether only padding is left in the last byte after a bit offset.
#[cold]
fn is_over(bits: &[u8], at: usize) -> bool {
    let left = bits.len().saturating_mul(8).saturating_sub(at);
    left < 8 && load(bits, at) == 0
}

/// Reads the upper part of a gap, however long it is. Returns `None` if it does not end or is too large.
#[cold]
fn long_upper(bits: &[u8], at: &mut usize) -> Option<u64> {
    let mut upper = 0_u64;
    while at.div_ceil(8) <= bits.len() {
        let loaded = load(bits, *at);
        if loaded != 0 {
            let zeros = loaded.trailing_zeros();
            *at = at.checked_add(zeros as usize)?.checked_add(1)?;
            upper = upper.checked_add(zeros.into())?;
            // A larger gap would lead to an ordinal of more than 32 bits.
            return (upper <= u32::MAX.into()).then_some(upper);
        }
        *at = at.checked_add(LOADED_BITS as usize)?;
        upper = upper.checked_add(LOADED_BITS.into())?;
    }
    None
}

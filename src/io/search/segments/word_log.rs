//! The log of a builder: which words each entry has, in the order in which they were added.

/// In the log: an entry begins.
pub(super) const NEXT_ENTRY: u32 = 0;
/// Maximum size of a number in the log, in bytes.
const LOGGED_BYTES_MAX: usize = 4;
/// By how many bytes memory grows at most.
const GROWTH_BYTES: usize = 1 << 18;

/// Numbers less than 2^30, each in one to four bytes: the lowest two bits are the number of bytes that follow the first.
#[derive(Debug, Default)]
pub(super) struct WordLog {
    /// Longer than what is written.
    bytes: Vec<u8>,
    written: usize,
}

impl WordLog {
    /// Writes a number to the end of the log, and keeps it there if it is wanted. No branch depends on that.
    #[inline]
    pub(super) fn push(&mut self, number: u32, is_wanted: bool) {
        let (bytes, size) = logged(number);
        let at = self.written;
        let left = self.bytes.get_mut(at..);
        let Some(place) = left.and_then(|left| left.first_chunk_mut::<LOGGED_BYTES_MAX>()) else {
            return self.push_further(number, is_wanted);
        };
        *place = bytes;
        self.written = at.wrapping_add(if is_wanted { size } else { 0 });
    }

    #[cold]
    fn push_further(&mut self, number: u32, is_wanted: bool) {
        make_room(&mut self.bytes, LOGGED_BYTES_MAX);
        self.bytes.resize(self.bytes.capacity(), 0);
        let (bytes, size) = logged(number);
        let place = self.bytes.iter_mut().skip(self.written);
        place.zip(bytes).for_each(|(to, from)| *to = from);
        self.written = self.written.saturating_add(if is_wanted { size } else { 0 });
    }

    pub(super) const fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Sorts the log by words: returns for each word the gaps between the ordinals of its entries as varints, `size` bytes in
    /// total. The place of the word with number 1 is the first one.
    pub(super) fn into_gaps(self, places: &mut [GapPlace], size: usize) -> Vec<u8> {
        let mut gaps = vec![0_u8; size];
        // The ordinal of the current entry and 1.
        let mut behind = 0_u32;
        let mut at = 0;
        while at < self.written
            && let Some((number, size)) = read_logged(&self.bytes, at)
        {
            at = at.wrapping_add(size);
            let Some(index) = number.checked_sub(1) else {
                behind = behind.saturating_add(1);
                continue;
            };
            if let Some(place) = places.get_mut(index as usize).filter(|one| one.at < u32::MAX) {
                let gap = behind.wrapping_sub(1).wrapping_sub(place.least);
                place.least = behind;
                place.at = write_varint(&mut gaps, place.at, gap);
            }
        }
        gaps
    }
}

/// Where the next gap of a word is written, and the least ordinal that may come next.
#[derive(Debug, Clone, Copy)]
pub(super) struct GapPlace {
    at: u32,
    least: u32,
}

impl GapPlace {
    /// The place of a word whose gaps are not written.
    pub(super) const NONE: Self = Self::new(u32::MAX);

    pub(super) const fn new(at: u32) -> Self {
        Self { at, least: 0 }
    }
}

/// Writes a number to an offset. Returns the offset behind it.
#[inline]
fn write_varint(bytes: &mut [u8], mut at: u32, mut value: u32) -> u32 {
    loop {
        let more = value >= 0x80;
        if let Some(byte) = bytes.get_mut(at as usize) {
            *byte = (value & 0x7f) as u8 | u8::from(more) << 7;
        }
        at = at.wrapping_add(1);
        value >>= 7;
        if !more {
            return at;
        }
    }
}

/// Returns a number as it is in the log, and its size there.
#[inline]
fn logged(number: u32) -> ([u8; LOGGED_BYTES_MAX], usize) {
    let more = (number | 1).ilog2().wrapping_add(2) / 8;
    ((number << 2 | more.min(3)).to_le_bytes(), more.wrapping_add(1) as usize)
}

/// Returns the number at an offset of a log, and its size there.
#[inline]
fn read_logged(log: &[u8], at: usize) -> Option<(u32, usize)> {
    let word = u32::from_le_bytes(*log.get(at..)?.first_chunk::<LOGGED_BYTES_MAX>()?);
    let more = word & 3;
    let mask = u32::MAX >> 24_u32.wrapping_sub(more.wrapping_mul(8));
    Some(((word & mask) >> 2, more.wrapping_add(1) as usize))
}

/// Returns the size of a number as a varint, in bytes.
#[inline]
pub(super) const fn varint_bytes(value: u32) -> u32 {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        0x1000_0000.. => 5,
    }
}

/// Makes room for more items. Doubles what is small, so that growing costs little; what is large grows by steps, so that
/// little is left over.
#[inline]
pub(super) fn make_room<T>(items: &mut Vec<T>, more: usize) {
    if items.capacity().saturating_sub(items.len()) < more {
        let step = GROWTH_BYTES.checked_div(size_of::<T>()).unwrap_or(1);
        items.reserve_exact(items.len().clamp(64, step.max(64)));
    }
}

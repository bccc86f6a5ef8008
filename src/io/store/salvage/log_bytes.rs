//! The numbers and texts of sled's log, read from bytes that may be damaged.

/// Bytes that are read from the front; each reading is `None` where they end too soon.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogBytes<'a>(pub(super) &'a [u8]);

impl<'a> LogBytes<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// A number of four bytes, the lowest first.
    pub(super) fn four(&mut self) -> Option<u32> {
        let (taken, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*taken))
    }

    /// A number of eight bytes, the lowest first.
    pub(super) fn eight(&mut self) -> Option<u64> {
        let (taken, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*taken))
    }

    /// A number of one to nine bytes; small ones are short.
    pub(super) fn number(&mut self) -> Option<u64> {
        Some(match self.byte()? {
            small @ 0..=240 => u64::from(small),
            middle @ 241..=248 => 240 + 256 * (u64::from(middle) - 241) + u64::from(self.byte()?),
            249 => 2288 + 256 * u64::from(self.byte()?) + u64::from(self.byte()?),
            large => {
                let mut bytes = [0; 8];
                let taken = self.take(usize::from(large) - 247)?;
                bytes.get_mut(..taken.len())?.copy_from_slice(taken);
                u64::from_le_bytes(bytes)
            }
        })
    }

    /// A number that counts bytes or parts: never more than there are bytes left.
    pub(super) fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    /// A text with its length before it.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use crate::io::store::salvage::log_bytes::*;

    #[test]
    fn numbers_are_read_as_sled_writes_them() {
        for (bytes, expected) in [
            (&[0][..], Some(0)),
            (&[240], Some(240)),
            (&[241, 0], Some(240)),
            (&[248, 255], Some(2287)),
            (&[249, 0, 0], Some(2288)),
            (&[249, 255, 255], Some(67823)),
            (&[250, 1, 0, 1], Some(65537)),
            (&[255, 1, 0, 0, 0, 0, 0, 0, 128], Some((1 << 63) + 1)),
            (&[250, 1, 0], None),
            (&[], None),
        ] {
            assert_eq!(LogBytes(bytes).number(), expected, "{bytes:?}");
        }
        assert_eq!(LogBytes(&[2, 7, 8, 9]).text(), Some(&[7, 8][..]));
        assert_eq!(LogBytes(&[4, 7, 8, 9]).text(), None);
    }
}

//! Encodes the records of the store. Each consists of a version byte, a checksum and named fields.
//!
//! Fields are stored by name, so that a record can gain a field without a new schema: missing fields get their default,
//! unknown fields are skipped. The checksum detects flipped bits.

use std::cell::RefCell;
use std::fmt;

use serde::Serialize;
use serde::de::{DeserializeOwned, Deserializer as _, IgnoredAny, SeqAccess, Visitor};
use zstd::bulk::{Compressor, Decompressor};

use backissue_core::history::IndexRow;

/// Version of the record format. A record with an unknown version byte is reported as damaged.
const FORM: u8 = 1;
/// Version of records of index rows with hashes of pages. Those without have version 1.
pub(super) const ROWS_FORM: u8 = 2;
/// Bytes before the payload: version and checksum.
const HEAD: usize = 5;
/// Compression level of zstd.
const LEVEL: i32 = 2;
/// Maximum size of a record before compression, in bytes.
const PLAIN_MAX: u64 = 256 * 1024 * 1024;

/// A problem with bytes read from the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The record is too short, or its version byte is unknown.
    #[error("the record has an unknown format")]
    Form,
    /// The checksum does not match.
    #[error("the record's checksum does not match")]
    Checksum,
    /// The payload cannot be decoded.
    #[error("the record's content cannot be read")]
    Content,
}

/// Adds version and checksum to a payload.
pub(super) fn seal(payload: &[u8]) -> Vec<u8> {
    seal_as(FORM, payload)
}

/// Like [`seal`], for a record with this version.
pub(super) fn seal_as(form: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len().saturating_add(HEAD));
    bytes.push(form);
    bytes.extend_from_slice(&crc32fast::hash(payload).to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Checks version and checksum, and returns the payload.
pub(super) fn unseal(bytes: &[u8]) -> Result<&[u8], CodecError> {
    let Some((&(FORM | ROWS_FORM), rest)) = bytes.split_first() else {
        return Err(CodecError::Form);
    };
    let Some((sum, payload)) = rest.split_first_chunk::<4>() else { return Err(CodecError::Form) };
    if crc32fast::hash(payload) == u32::from_be_bytes(*sum) {
        Ok(payload)
    } else {
        Err(CodecError::Checksum)
    }
}

/// Checks whether a record passes its checksum.
pub(super) fn is_sound(bytes: &[u8]) -> bool {
    unseal(bytes).is_ok()
}

pub(super) fn encode<T: Serialize>(record: &T) -> Result<Vec<u8>, CodecError> {
    Ok(seal(&rmp_serde::to_vec_named(record).map_err(|_| CodecError::Content)?))
}

/// Decodes the output of [`encode`].
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    rmp_serde::from_slice(unseal(bytes)?).map_err(|_| CodecError::Content)
}

thread_local! {
    /// The compressor and decompressor of this thread. Creating them takes longer than using them for a small record.
    static ZSTD: RefCell<Option<(Compressor<'static>, Decompressor<'static>)>> = const { RefCell::new(None) };
}

fn with_zstd<T>(
    work: impl FnOnce(&mut Compressor<'static>, &mut Decompressor<'static>) -> std::io::Result<T>,
) -> Result<T, CodecError> {
    ZSTD.with_borrow_mut(|zstd| {
        let (compressor, decompressor) = match zstd {
            Some(zstd) => zstd,
            None => zstd.insert((Compressor::new(LEVEL)?, Decompressor::new()?)),
        };
        work(compressor, decompressor)
    })
    .map_err(|_| CodecError::Content)
}

/// Compresses bytes.
pub(super) fn pack(plain: &[u8]) -> Result<Vec<u8>, CodecError> {
    with_zstd(|compressor, _| compressor.compress(plain))
}

/// Decompresses the output of [`pack`].
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<u8>, CodecError> {
    let size = zstd::zstd_safe::get_frame_content_size(packed).ok().flatten();
    let size = size.filter(|size| *size <= PLAIN_MAX).ok_or(CodecError::Content)?;
    let size = usize::try_from(size).map_err(|_| CodecError::Content)?;
    with_zstd(|_, decompressor| decompressor.decompress(packed, size))
}

/// Encodes and compresses a record.
pub(super) fn encode_compressed<T: Serialize>(record: &T) -> Result<Vec<u8>, CodecError> {
    let plain = rmp_serde::to_vec_named(record).map_err(|_| CodecError::Content)?;
    Ok(seal(&pack(&plain)?))
}

/// Decodes the output of [`encode_compressed`].
pub(super) fn decode_compressed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    rmp_serde::from_slice(&unpack(unseal(bytes)?)?).map_err(|_| CodecError::Content)
}

/// Decodes the output of [`encode_compressed`] of a list, but only its items at the wanted indexes. All other items are defaults.
pub(super) fn decode_items<T: DeserializeOwned + Default>(
    bytes: &[u8],
    is_wanted: impl Fn(usize) -> bool,
) -> Result<Vec<T>, CodecError> {
    let plain = unpack(unseal(bytes)?)?;
    let wanted = WantedItems(is_wanted, std::marker::PhantomData);
    let mut decoder = rmp_serde::Deserializer::from_read_ref(&plain);
    decoder.deserialize_seq(wanted).map_err(|_| CodecError::Content)
}

/// Reads a list, but only its wanted items.
struct WantedItems<F, T>(F, std::marker::PhantomData<T>);

impl<'de, F: Fn(usize) -> bool, T: DeserializeOwned + Default> Visitor<'de> for WantedItems<F, T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut read = Vec::new();
        loop {
            let item = if (self.0)(read.len()) {
                items.next_element()?
            } else {
                items.next_element::<IgnoredAny>()?.map(|_| T::default())
            };
            let Some(item) = item else { return Ok(read) };
            read.push(item);
        }
    }
}

/// Encodes index rows with a fixed size per row.
pub(super) fn encode_rows(rows: &[IndexRow]) -> Vec<u8> {
    let payload: Vec<u8> = rows.iter().flat_map(|row| row.to_bytes()).collect();
    seal_as(ROWS_FORM, &payload)
}

/// Decodes the output of [`encode_rows`], also if an earlier version wrote it.
pub(super) fn decode_rows(bytes: &[u8]) -> Result<Vec<IndexRow>, CodecError> {
    let has_pages = bytes.first() == Some(&ROWS_FORM);
    let size = if has_pages { IndexRow::SIZE } else { IndexRow::SIZE_WITHOUT_PAGE };
    let rows = unseal(bytes)?.chunks(size).map(IndexRow::from_bytes);
    rows.collect::<Option<_>>().ok_or(CodecError::Content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use backissue_core::feed::fingerprint::PageHash;
    use backissue_core::history::{Counters, Flags};

    const ROW: IndexRow =
        IndexRow { identity: 7, content: 8, listed: 9, flags: Flags(1), page: PageHash(10) };

    #[test]
    fn a_record_reads_back_plain_and_compressed() {
        let record =
            Counters { unread: 1, total: 2, starred: 3, next_seq: 4, ..Counters::default() };
        assert_eq!(decode(&encode(&record).unwrap()), Ok(record));
        assert_eq!(decode_compressed(&encode_compressed(&record).unwrap()), Ok(record));
    }

    #[test]
    fn only_wanted_items_are_decoded() {
        let list = ["a", "", "c", "d"].map(str::to_owned).to_vec();
        let bytes = encode_compressed(&list).unwrap();
        assert_eq!(decode_items(&bytes, |_| true), Ok(list));
        let some = ["", "", "c", ""].map(str::to_owned).to_vec();
        assert_eq!(decode_items(&bytes, |place| place == 2), Ok(some));
        // A damaged list has no items, whichever of them are wanted.
        let cut = seal(&pack(&[0x93, 0xa1, b'a']).unwrap());
        assert_eq!(decode_items::<String>(&cut, |_| false), Err(CodecError::Content));
    }

    #[test]
    fn rows_read_back() {
        assert_eq!(decode_rows(&encode_rows(&[ROW, ROW])), Ok(vec![ROW, ROW]));
        assert_eq!(decode_rows(&encode_rows(&[])), Ok(vec![]));
        // 29 rows of the third schema are as long as 25 of today.
        let old: Vec<u8> = ROW.to_bytes()[..IndexRow::SIZE_WITHOUT_PAGE].repeat(29);
        let unknown = IndexRow { page: PageHash::UNKNOWN, ..ROW };
        assert_eq!(decode_rows(&seal(&old)), Ok(vec![unknown; 29]));
    }

    /// Changes a few bytes of a payload and seals it again with a valid checksum, as a bug or faulty memory might do.
    fn resealed(good: &[u8], dice: &mut u64) -> Vec<u8> {
        let mut roll = |below: usize| {
            // Pseudo-random number from the xorshift generator.
            *dice ^= *dice << 13;
            *dice ^= *dice >> 7;
            *dice ^= *dice << 17;
            usize::try_from(*dice % 1_000_003).unwrap() % below.max(1)
        };
        let mut payload = good[HEAD..].to_vec();
        for _ in 0..=roll(4) {
            let at = roll(payload.len());
            match roll(4) {
                0 => payload.truncate(at),
                1 => payload.splice(at..at, [0xdd, 0xff, 0xff, 0xff, 0xff]).for_each(drop),
                2 => payload.extend_from_within(at..),
                _ => payload.iter_mut().skip(at).take(1).for_each(|byte| {
                    *byte = u8::try_from(roll(256)).unwrap();
                }),
            }
        }
        seal(&payload)
    }

    #[test]
    fn malformed_record_is_an_error_without_large_buffer() {
        let text = "frost and wax, ".repeat(40);
        let state = crate::engine::feeds::subscription::FeedState {
            trouble: Some(text.clone()),
            ..Default::default()
        };
        let history = backissue_core::history::HistoryRecord::default();
        let (plain, packed) = (encode(&state).unwrap(), encode_compressed(&text).unwrap());
        let record = encode(&history).unwrap();
        let rows = encode_rows(&[ROW; 3]);
        let mut dice = 0x9e37_79b9_7f4a_7c15;
        for _ in 0..2_000 {
            decode::<crate::engine::feeds::subscription::FeedState>(&resealed(&plain, &mut dice))
                .ok();
            decode::<backissue_core::history::HistoryRecord>(&resealed(&record, &mut dice)).ok();
            decode_compressed::<String>(&resealed(&packed, &mut dice)).ok();
            decode_rows(&resealed(&rows, &mut dice)).ok();
        }
        let huge = seal(&[0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(decode_compressed::<String>(&huge), Err(CodecError::Content));
    }

    #[test]
    fn every_flipped_bit_is_detected() {
        let good = encode(&Counters::default()).unwrap();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(decode::<Counters>(&bad).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_record_with_unknown_fields_or_without_known_ones_is_read() {
        #[derive(serde::Serialize)]
        struct Later {
            unread: u32,
            novelty: &'static str,
        }
        let bytes = encode(&Later { unread: 5, novelty: "x" }).unwrap();
        assert_eq!(decode::<Counters>(&bytes), Ok(Counters { unread: 5, ..Counters::default() }));
    }

    #[test]
    fn short_bytes_are_refused() {
        for length in 0..HEAD {
            assert_eq!(decode::<Counters>(&vec![FORM; length]), Err(CodecError::Form));
        }
    }
}

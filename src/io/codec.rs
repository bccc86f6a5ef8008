//! Encodes records: a version byte, a checksum, named fields.
//!
//! Fields are written by name, so that a record can gain a field without a new schema: missing fields get their
//! default, unknown ones are skipped. The checksum detects flipped bits.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::history::IndexRow;

/// Version of the format; a record of another version is reported as damaged.
const FORM: u8 = 1;
/// Bytes before the payload: version and checksum.
const HEAD: usize = 5;

/// What is wrong with bytes read from the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// Too short, or of an unknown version.
    #[error("the record has an unknown form")]
    Form,
    /// The checksum does not match.
    #[error("the record's checksum does not fit")]
    Checksum,
    /// The payload cannot be decoded.
    #[error("the record's content cannot be read")]
    Content,
}

/// Adds version and checksum to a payload.
fn seal(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len().saturating_add(HEAD));
    bytes.push(FORM);
    bytes.extend_from_slice(&crc32fast::hash(payload).to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// Checks version and checksum, and returns the payload.
fn unseal(bytes: &[u8]) -> Result<&[u8], CodecError> {
    let Some((&FORM, rest)) = bytes.split_first() else { return Err(CodecError::Form) };
    let Some((sum, payload)) = rest.split_first_chunk::<4>() else { return Err(CodecError::Form) };
    if crc32fast::hash(payload) == u32::from_be_bytes(*sum) {
        Ok(payload)
    } else {
        Err(CodecError::Checksum)
    }
}

/// Whether a record passes its checksum.
pub(super) fn is_sound(bytes: &[u8]) -> bool {
    unseal(bytes).is_ok()
}

pub(super) fn encode<T: Serialize>(record: &T) -> Result<Vec<u8>, CodecError> {
    Ok(seal(&rmp_serde::to_vec_named(record).map_err(|_| CodecError::Content)?))
}

/// Decodes what [`encode`] returned.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    rmp_serde::from_slice(unseal(bytes)?).map_err(|_| CodecError::Content)
}

/// Encodes and compresses a record.
pub(super) fn encode_compressed<T: Serialize>(record: &T) -> Result<Vec<u8>, CodecError> {
    let plain = rmp_serde::to_vec_named(record).map_err(|_| CodecError::Content)?;
    Ok(seal(&lz4_flex::compress_prepend_size(&plain)))
}

/// Decodes what [`encode_compressed`] returned.
pub(super) fn decode_compressed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    let plain =
        lz4_flex::decompress_size_prepended(unseal(bytes)?).map_err(|_| CodecError::Content)?;
    rmp_serde::from_slice(&plain).map_err(|_| CodecError::Content)
}

/// Encodes index rows, each in the same number of bytes.
pub(super) fn encode_rows(rows: &[IndexRow]) -> Vec<u8> {
    let payload: Vec<u8> = rows.iter().flat_map(|row| row.to_bytes()).collect();
    seal(&payload)
}

/// Decodes what [`encode_rows`] returned.
pub(super) fn decode_rows(bytes: &[u8]) -> Result<Vec<IndexRow>, CodecError> {
    let rows = unseal(bytes)?.chunks(IndexRow::SIZE).map(IndexRow::from_bytes);
    rows.collect::<Option<_>>().ok_or(CodecError::Content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Counters, Flags};

    #[test]
    fn a_record_reads_back_plain_and_compressed() {
        let record = Counters { unread: 1, total: 2, starred: 3, next_seq: 4 };
        assert_eq!(decode(&encode(&record).unwrap()), Ok(record));
        assert_eq!(decode_compressed(&encode_compressed(&record).unwrap()), Ok(record));
    }

    #[test]
    fn rows_read_back() {
        let row = IndexRow { identity: 7, content: 8, listed: 9, flags: Flags(1) };
        assert_eq!(decode_rows(&encode_rows(&[row, row])), Ok(vec![row, row]));
        assert_eq!(decode_rows(&encode_rows(&[])), Ok(vec![]));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
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

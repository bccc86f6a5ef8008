//! Merging of segments.

use roaring::RoaringBitmap;

use super::segment::{IndexedEntry, Segment, SegmentError};
use super::segment_terms::Terms;
use super::segment_writer::SegmentWriter;

/// Returns the file of one segment with the entries of several that are still wanted, in the order of the segments.
///
/// `live` contains for each segment the ordinals of its wanted entries. A segment for which there is no bitmap is taken as a
/// whole. The result is the same as if only the wanted entries had been indexed. Beside it, memory is needed for one list,
/// for 64 kB or one list of each segment twice, and for four bytes an entry of segments with unwanted entries.
///
/// # Errors
///
/// Returns [`SegmentError::Damaged`] if a segment is damaged, [`SegmentError::Io`] if one cannot be read, and
/// [`SegmentError::TooLarge`] if there are more entries than a segment can have.
pub(in crate::io::search) fn merge(
    segments: &[&Segment],
    live: &[RoaringBitmap],
) -> Result<Vec<u8>, SegmentError> {
    let mut entries = Vec::new();
    let mut parts = Vec::with_capacity(segments.len());
    for (index, segment) in segments.iter().enumerate() {
        let renumbering = Renumbering::new(segment, live.get(index), &mut entries)?;
        let mut part = Part { terms: Terms::all(segment), renumbering, is_over: false };
        part.advance()?;
        parts.push(part);
    }
    let mut writer = SegmentWriter::new();
    let (mut term, mut ordinals) = (Vec::new(), Vec::new());
    loop {
        let left = parts.iter().filter(|part| !part.is_over);
        let Some(least) = left.map(|part| part.terms.term()).min() else { break };
        term.clear();
        term.extend_from_slice(least);
        ordinals.clear();
        for part in &mut parts {
            if !part.is_over && part.terms.term() == term {
                let before = ordinals.len();
                part.terms.read_ordinals(&mut ordinals)?;
                part.renumbering.apply(&mut ordinals, before);
                part.advance()?;
            }
        }
        writer.push(&term, &ordinals);
    }
    Ok(writer.finish(&entries))
}

struct Part<'s> {
    terms: Terms<'s>,
    renumbering: Renumbering,
    is_over: bool,
}

impl Part<'_> {
    fn advance(&mut self) -> Result<(), SegmentError> {
        self.is_over = !self.terms.advance()?;
        Ok(())
    }
}

/// The new ordinals of a segment's entries.
enum Renumbering {
    /// All entries are wanted: this is added to each ordinal.
    Shift(u32),
    /// The new ordinal of each entry, or [`GONE`].
    Table(Vec<u32>),
}

/// Stands for the new ordinal of an entry that is not wanted.
const GONE: u32 = u32::MAX;

impl Renumbering {
    /// Appends the wanted entries of a segment to those of the segments before it.
    fn new(
        segment: &Segment,
        live: Option<&RoaringBitmap>,
        entries: &mut Vec<IndexedEntry>,
    ) -> Result<Self, SegmentError> {
        let base = ordinal_of(entries.len())?;
        ordinal_of(entries.len().saturating_add(segment.entries().len()))?;
        let Some(live) = live else {
            entries.extend_from_slice(segment.entries());
            return Ok(Self::Shift(base));
        };
        let mut next = base;
        let mut table = Vec::with_capacity(segment.entries().len());
        for (ordinal, entry) in (0_u32..).zip(segment.entries()) {
            if live.contains(ordinal) {
                table.push(next);
                entries.push(*entry);
                next = next.saturating_add(1);
            } else {
                table.push(GONE);
            }
        }
        let is_whole = !table.contains(&GONE);
        Ok(if is_whole { Self::Shift(base) } else { Self::Table(table) })
    }

    /// Replaces the ordinals from an index on by the new ones.
    fn apply(&self, ordinals: &mut Vec<u32>, from: usize) {
        match self {
            Self::Shift(base) => {
                for ordinal in ordinals.get_mut(from..).unwrap_or_default() {
                    *ordinal = ordinal.saturating_add(*base);
                }
            }
            Self::Table(table) => {
                let mut kept = from;
                for index in from..ordinals.len() {
                    let old = ordinals.get(index).copied().unwrap_or(GONE);
                    let new = table.get(old as usize).copied().unwrap_or(GONE);
                    if let Some(place) = ordinals.get_mut(kept) {
                        *place = new;
                    }
                    kept = kept.saturating_add(usize::from(new != GONE));
                }
                ordinals.truncate(kept);
            }
        }
    }
}

fn ordinal_of(count: usize) -> Result<u32, SegmentError> {
    u32::try_from(count).map_err(|_| SegmentError::TooLarge)
}

//! Merging of segments.

use roaring::RoaringBitmap;

use super::segment::{IndexedEntry, Segment, SegmentError};
use super::segment_terms::Terms;
use super::segment_writer::SegmentWriter;

/// Returns the file of one segment with the entries of several that are still wanted, in the order of the segments.
///
/// Each segment is given with the ordinals of its wanted entries. The result is the same as if only these had been indexed. Beside
/// it, memory is needed for one list, for 64 kB or one list of each segment twice, and for four bytes an entry.
///
/// # Errors
///
/// Returns [`SegmentError::Damaged`] if a segment is damaged, and [`SegmentError::Io`] if one cannot be read.
pub(in crate::io::search) fn merge(
    segments: &[(&Segment, RoaringBitmap)],
) -> Result<Vec<u8>, SegmentError> {
    let mut entries = Vec::new();
    let mut parts = Vec::with_capacity(segments.len());
    for (segment, live) in segments {
        let renumbering = Renumbering::new(segment, live, &mut entries);
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

/// The new ordinal of each entry of a segment, or [`GONE`].
struct Renumbering(Vec<u32>);

/// In a [`Renumbering`]: the entry is not wanted.
const GONE: u32 = u32::MAX;

impl Renumbering {
    /// Appends the wanted entries of a segment to those of the segments before it.
    fn new(segment: &Segment, live: &RoaringBitmap, entries: &mut Vec<IndexedEntry>) -> Self {
        let renumbered = (0_u32..).zip(segment.entries()).map(|(ordinal, entry)| {
            if !live.contains(ordinal) {
                return GONE;
            }
            entries.push(*entry);
            u32::try_from(entries.len()).map_or(GONE, |count| count.saturating_sub(1))
        });
        Self(renumbered.collect())
    }

    /// Replaces the ordinals from an index on by the new ones.
    fn apply(&self, ordinals: &mut Vec<u32>, from: usize) {
        let mut kept = from;
        for index in from..ordinals.len() {
            let old = ordinals.get(index).copied().unwrap_or(GONE);
            let new = self.0.get(old as usize).copied().unwrap_or(GONE);
            if let Some(place) = ordinals.get_mut(kept) {
                *place = new;
            }
            kept = kept.saturating_add(usize::from(new != GONE));
        }
        ordinals.truncate(kept);
    }
}

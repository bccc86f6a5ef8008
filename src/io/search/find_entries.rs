//! Finds the entries that have the words of a query.

use roaring::RoaringBitmap;

use super::index::{OpenSegment, SearchIndex};
use super::index_error::IndexError;
use super::segments::{Field, Segment, SegmentError};
use super::writer::unpack_key;
use backissue_core::history::EntryKey;
use backissue_core::search::{QueryField, Term};

/// Score of a term that occurs in the title.
const TITLE_SCORE: f32 = 2.5;
/// Score of a term that occurs elsewhere.
const SCORE: f32 = 1.0;
/// A shorter prefix is searched in titles and authors only: nearly every text has it.
const PREFIX_CHARS_MIN: usize = 2;

impl SearchIndex {
    /// Calls `found` with the score of each entry that has all terms and none of the excluded ones.
    ///
    /// The index knows no positions: for a term of several words, the entries that have all of them are found, and none is
    /// excluded. Whether the words follow each other must be verified.
    pub fn find(
        &self,
        terms: &[Term],
        found: &mut dyn FnMut(EntryKey, f32),
    ) -> Result<(), IndexError> {
        for open in self.segments() {
            find_in(&open, terms, found)?;
        }
        Ok(())
    }
}

fn find_in(
    open: &OpenSegment,
    terms: &[Term],
    found: &mut dyn FnMut(EntryKey, f32),
) -> Result<(), SegmentError> {
    let mut hits = open.live.clone();
    let mut in_titles = Vec::new();
    for term in terms {
        let (in_title, elsewhere) = term_hits(&open.segment, term)?;
        let all = &in_title | elsewhere;
        if !term.excluded {
            hits &= all;
            in_titles.push(in_title);
        } else if term.words.len() == 1 {
            hits -= all;
        }
    }
    for ordinal in hits {
        let Some(entry) = open.segment.entries().get(ordinal as usize) else { continue };
        let scores =
            in_titles.iter().map(|title| if title.contains(ordinal) { TITLE_SCORE } else { SCORE });
        // Not `sum`: without scores it returns -0.
        found(unpack_key(entry.key), scores.fold(0.0, |sum, score| sum + score));
    }
    Ok(())
}

/// Returns the entries that have all words of a term in the title, and those that have them in another field.
fn term_hits(
    segment: &Segment,
    term: &Term,
) -> Result<(RoaringBitmap, RoaringBitmap), SegmentError> {
    let short = term.prefix
        && term.words.len() == 1
        && term.words.iter().all(|word| word.is_ascii() && word.len() < PREFIX_CHARS_MIN);
    let mut in_title = RoaringBitmap::new();
    let mut elsewhere = RoaringBitmap::new();
    if term.field != QueryField::Author {
        in_title = words_hits(segment, Field::Title, term, true)?;
    }
    if term.field != QueryField::Title {
        elsewhere = words_hits(segment, Field::Author, term, true)?;
    }
    if term.field == QueryField::Anywhere {
        elsewhere |= words_hits(segment, Field::Text, term, !short)?;
    }
    Ok((in_title, elsewhere))
}

/// Returns the entries that have all words of a term in a field; `open`: its last word may be a prefix there, if the term is
/// unfinished.
fn words_hits(
    segment: &Segment,
    field: Field,
    term: &Term,
    open: bool,
) -> Result<RoaringBitmap, SegmentError> {
    let mut hits: Option<RoaringBitmap> = None;
    for (place, word) in term.words.iter().enumerate() {
        let is_last = place.saturating_add(1) == term.words.len();
        let of_word = if is_last && term.prefix && open {
            segment.prefix(field, word)?
        } else {
            segment.word(field, word)?
        };
        let all = hits.map_or(of_word.clone(), |hits| hits & of_word);
        if all.is_empty() {
            return Ok(all);
        }
        hits = Some(all);
    }
    Ok(hits.unwrap_or_default())
}

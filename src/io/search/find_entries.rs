//! Finds the entries that may meet the condition of a query, as far as the words in the index can tell.

use roaring::RoaringBitmap;

use super::IndexError;
use super::index::{OpenSegment, SearchIndex, unpack_key};
use super::segments::{Field, Segment, SegmentError};
use backissue_core::history::EntryKey;
use backissue_core::search::{Condition, Leaf, Term, TextField, TextTest};

/// Score of a term that occurs in the title.
const TITLE_SCORE: f32 = 2.5;
/// Score of a term that occurs elsewhere.
const SCORE: f32 = 1.0;

/// An entry that may meet a condition.
#[derive(Debug)]
pub struct Candidate<'s> {
    pub key: EntryKey,
    /// Sum of the scores of the terms that the entry contains, without excluded terms; 0 if the query has no terms.
    pub score: f32,
    terms: &'s [TermHits<'s>],
    ordinal: u32,
}

impl Candidate<'_> {
    /// Checks whether the entry contains a term. Returns `None` for a phrase if the entry contains all of its words, because the
    /// index has no positions.
    pub fn has(&self, term: &Term) -> Option<bool> {
        let hits = self.terms.iter().find(|hits| std::ptr::eq(hits.term, term))?;
        let has_words =
            hits.in_title.contains(self.ordinal) || hits.elsewhere.contains(self.ordinal);
        (!has_words || !term.is_phrase()).then_some(has_words)
    }
}

/// The entries of a segment that contain all words of a term.
#[derive(Debug)]
struct TermHits<'c> {
    term: &'c Term,
    is_wanted: bool,
    in_title: RoaringBitmap,
    elsewhere: RoaringBitmap,
}

impl SearchIndex {
    /// Calls `found` with each entry that may meet a condition.
    pub fn find(
        &self,
        condition: &Condition,
        found: &mut dyn FnMut(&Candidate<'_>),
    ) -> Result<(), IndexError> {
        for open in self.segments() {
            find_in(&open, condition, found)?;
        }
        Ok(())
    }
}

fn find_in(
    open: &OpenSegment,
    condition: &Condition,
    found: &mut dyn FnMut(&Candidate<'_>),
) -> Result<(), SegmentError> {
    let mut terms = Vec::new();
    for (term, is_wanted) in condition.terms() {
        let (in_title, elsewhere) = term_hits(&open.segment, term)?;
        terms.push(TermHits { term, is_wanted, in_title, elsewhere });
    }
    for ordinal in bounds(condition, &terms, &open.live).possible {
        let Some(entry) = open.segment.entries().get(ordinal as usize) else { continue };
        let mut score = 0.0;
        for hits in terms.iter().filter(|hits| hits.is_wanted) {
            if hits.in_title.contains(ordinal) {
                score += TITLE_SCORE;
            } else if hits.elsewhere.contains(ordinal) {
                score += SCORE;
            }
        }
        found(&Candidate { key: unpack_key(entry.key), score, terms: &terms, ordinal });
    }
    Ok(())
}

/// The entries of a segment that certainly meet a condition, whatever their texts contain, and the entries that may meet it.
struct Bounds {
    certain: RoaringBitmap,
    possible: RoaringBitmap,
}

fn bounds(condition: &Condition, terms: &[TermHits<'_>], live: &RoaringBitmap) -> Bounds {
    let unknown = || Bounds { certain: RoaringBitmap::new(), possible: live.clone() };
    match condition {
        Condition::All(parts) => {
            let mut all = Bounds { certain: live.clone(), possible: live.clone() };
            for part in parts {
                let part = bounds(part, terms, live);
                all.certain &= part.certain;
                all.possible &= part.possible;
            }
            all
        }
        Condition::Any(parts) => {
            let mut any = Bounds { certain: RoaringBitmap::new(), possible: RoaringBitmap::new() };
            for part in parts {
                let part = bounds(part, terms, live);
                any.certain |= part.certain;
                any.possible |= part.possible;
            }
            any
        }
        Condition::Not(inner) => {
            let inner = bounds(inner, terms, live);
            Bounds { certain: live - inner.possible, possible: live - inner.certain }
        }
        Condition::Leaf(Leaf::Text(TextTest::Words(term))) => {
            let Some(hits) = terms.iter().find(|hits| std::ptr::eq(hits.term, term)) else {
                return unknown();
            };
            let possible = (&hits.in_title | &hits.elsewhere) & live;
            let certain = if term.is_phrase() { RoaringBitmap::new() } else { possible.clone() };
            Bounds { certain, possible }
        }
        Condition::Leaf(Leaf::Text(_) | Leaf::Name(_) | Leaf::Rate(_) | Leaf::Row(_)) => unknown(),
    }
}

/// Returns the entries that contain all words of a term in the title, and those that contain them in another field.
fn term_hits(
    segment: &Segment,
    term: &Term,
) -> Result<(RoaringBitmap, RoaringBitmap), SegmentError> {
    let mut in_title = RoaringBitmap::new();
    let mut elsewhere = RoaringBitmap::new();
    for field in fields(term.field) {
        // In texts, a short prefix must be a whole word, because almost every text has a word that begins with it.
        let open = *field != Field::Text || !term.is_short_prefix();
        let hits = words_hits(segment, *field, term, open)?;
        if *field == Field::Title {
            in_title = hits;
        } else {
            elsewhere |= hits;
        }
    }
    Ok((in_title, elsewhere))
}

/// Returns the fields of the index for a field of the query language. The link has none, because it is not indexed.
const fn fields(field: TextField) -> &'static [Field] {
    match field {
        TextField::Anywhere => &[Field::Title, Field::Author, Field::Text],
        TextField::Title => &[Field::Title],
        TextField::Author => &[Field::Author],
        TextField::Category => &[Field::Category],
        TextField::Text => &[Field::Text],
        TextField::Link => &[],
    }
}

/// Returns the entries that contain all words of a term in a field. If `open` is set and the user has not finished the term, its
/// last word may be a prefix.
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

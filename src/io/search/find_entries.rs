//! Finds the entries that have the terms of a query.

use std::ops::Bound;

use tantivy::Term as IndexTerm;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EnableScoring, Occur, PhrasePrefixQuery,
    PhraseQuery, Query, RangeQuery, TermQuery,
};
use tantivy::schema::{Field as IndexField, IndexRecordOption};

use super::index::{IndexError, SearchIndex, unpack_key};
use backissue_core::history::EntryKey;
use backissue_core::search::{QueryField, Term};

/// Weight of a hit in the title.
const TITLE_WEIGHT: f32 = 2.5;
/// Score of a word of which only the beginning was typed.
const PREFIX_SCORE: f32 = 0.5;
/// A shorter prefix is searched in titles and authors only: nearly every text has it.
const PREFIX_CHARS_MIN: usize = 2;
/// Most words that the unfinished end of a phrase is expanded to.
const EXPANSIONS_MAX: u32 = 2000;

impl SearchIndex {
    /// Calls `found` with the score of each entry that has all terms and none of the excluded ones.
    pub fn find(
        &self,
        terms: &[Term],
        found: &mut dyn FnMut(EntryKey, f32),
    ) -> Result<(), IndexError> {
        super::catch_tantivy_panic(|| {
            let searcher = self.reader.searcher();
            let weight =
                self.query(terms).weight(EnableScoring::enabled_from_searcher(&searcher))?;
            for segment in searcher.segment_readers() {
                let keys = segment.fast_fields().u64("key")?;
                weight.for_each(segment, &mut |doc, score| {
                    if let Some(key) = keys.first(doc).filter(|_| !segment.is_deleted(doc)) {
                        found(unpack_key(key), score);
                    }
                })?;
            }
            Ok(())
        })
    }

    fn query(&self, terms: &[Term]) -> BooleanQuery {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        if terms.iter().all(|term| term.excluded) {
            clauses.push((Occur::Must, Box::new(AllQuery)));
        }
        for term in terms {
            let occur = if term.excluded { Occur::MustNot } else { Occur::Must };
            clauses.push((occur, self.term(term)));
        }
        BooleanQuery::new(clauses)
    }

    fn term(&self, term: &Term) -> Box<dyn Query> {
        let fields = self.fields;
        let short = term.prefix
            && term.words.len() == 1
            && term.words.iter().all(|word| word.is_ascii() && word.len() < PREFIX_CHARS_MIN);
        let mut queries: Vec<Box<dyn Query>> = Vec::new();
        if term.field != QueryField::Author {
            let query = in_field(fields.title, term, true);
            queries.push(Box::new(BoostQuery::new(query, TITLE_WEIGHT)));
        }
        if term.field != QueryField::Title {
            queries.push(in_field(fields.author, term, true));
        }
        if term.field == QueryField::Anywhere {
            queries.push(in_field(fields.text, term, !short));
        }
        Box::new(BooleanQuery::union(queries))
    }
}

/// Builds the query for a term in one field; `open`: its last word may be a prefix there, if the term is unfinished.
fn in_field(field: IndexField, term: &Term, open: bool) -> Box<dyn Query> {
    let words: Vec<IndexTerm> =
        term.words.iter().map(|word| IndexTerm::from_field_text(field, word)).collect();
    match (words.as_slice(), term.prefix && open) {
        ([word], false) => Box::new(exact(word)),
        ([word], true) => Box::new(BooleanQuery::union(vec![
            Box::new(exact(word)),
            Box::new(beginning_with(field, term.words.last().map_or("", String::as_str))),
        ])),
        (_, false) => Box::new(PhraseQuery::new(words)),
        (_, true) => {
            let mut phrase = PhrasePrefixQuery::new(words);
            phrase.set_max_expansions(EXPANSIONS_MAX);
            Box::new(phrase)
        }
    }
}

fn exact(word: &IndexTerm) -> TermQuery {
    TermQuery::new(word.clone(), IndexRecordOption::WithFreqs)
}

/// Builds the query for every word with this prefix.
fn beginning_with(field: IndexField, word: &str) -> ConstScoreQuery {
    let last = format!("{word}{}", char::MAX);
    let range = RangeQuery::new(
        Bound::Included(IndexTerm::from_field_text(field, word)),
        Bound::Excluded(IndexTerm::from_field_text(field, &last)),
    );
    ConstScoreQuery::new(Box::new(range), PREFIX_SCORE)
}

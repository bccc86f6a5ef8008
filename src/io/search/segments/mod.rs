//! Segments: the files of the search index. Each holds, for some entries, which words occur in which field. No positions are kept:
//! phrases are verified in the texts.

mod packed_word;
mod posting_list;
mod segment;
mod segment_builder;
mod segment_merge;
mod segment_terms;
#[cfg(test)]
mod segment_tests;
mod segment_writer;
mod word_log;

pub(super) use segment::{Field, IndexedEntry, Segment, SegmentError};
pub(super) use segment_builder::SegmentBuilder;
pub(super) use segment_merge::merge;

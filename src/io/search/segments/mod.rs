//! Segments: the files of the search index. Each segment contains, for some entries, which words occur in which field. It contains
//! no positions, so searches verify phrases in the texts.

mod posting_list;
mod segment;
mod segment_builder;
#[cfg(test)]
mod segment_tests;

pub(super) use segment::{Field, IndexedEntry, Segment, SegmentError};
pub(super) use segment_builder::{SegmentBuilder, merge};

//! The pages of sled's trees, as they stand in its log.

use std::collections::BTreeMap;

use super::log_bytes::LogBytes;

/// Most records or children of a page that are believed.
const PARTS_MAX: usize = 100_000;

/// A page of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// The page to its right.
    pub(super) next: Option<u64>,
    /// It is being merged with the page to its left.
    pub(super) merging: bool,
    /// How many bytes at the beginning of `lo` are left out of its keys.
    pub(super) prefix: usize,
    /// Its first key.
    pub(super) lo: Vec<u8>,
    /// The first key behind it; empty: it is the last one.
    pub(super) hi: Vec<u8>,
    pub(super) content: Content,
}

/// What a page holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Records(BTreeMap<Vec<u8>, Vec<u8>>),
    /// Other pages, each with the first key of it.
    Children(Vec<(Vec<u8>, u64)>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Records(BTreeMap::new())
    }
}

/// A change of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PageChange {
    Set(Vec<u8>, Vec<u8>),
    Remove(Vec<u8>),
    /// It is being merged with the page to its left.
    Merging,
    /// Another one of inner pages.
    Inner,
}

impl Page {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut read = LogBytes(bytes);
        let next = Some(read.number()?).filter(|next| *next > 0);
        let _merging_child = read.number()?;
        let merging = read.byte()? != 0;
        let prefix = usize::from(read.byte()?);
        let (lo, hi) = (read.text()?.to_vec(), read.text()?.to_vec());
        if prefix > lo.len() {
            return None;
        }
        let (is_inner, count) = (read.byte()?, read.count()?);
        if count > PARTS_MAX {
            return None;
        }
        let keys: Vec<&[u8]> = (0..count).map(|_| read.text()).collect::<Option<_>>()?;
        let content = match is_inner {
            0 => {
                let values: Vec<&[u8]> = keys.iter().map(|_| read.text()).collect::<Option<_>>()?;
                let left_out = lo.get(..prefix)?;
                let records = keys.into_iter().zip(values);
                let whole = records.map(|(end, value)| ([left_out, end].concat(), value.to_vec()));
                Content::Records(whole.collect())
            }
            1 => {
                let left_out = lo.get(..prefix)?;
                let whole = keys.iter().map(|end| [left_out, end].concat());
                let pages: Vec<u64> = keys.iter().map(|_| read.number()).collect::<Option<_>>()?;
                Content::Children(whole.zip(pages).collect())
            }
            _ => return None,
        };
        Some(Self { next, merging, prefix, lo, hi, content })
    }

    /// The first key of each page below this one, and the first key behind it.
    pub(super) fn bounds_below(&self) -> Vec<(u64, Vec<u8>, Vec<u8>)> {
        let Content::Children(children) = &self.content else { return Vec::new() };
        let ends = children.iter().skip(1).map(|(lo, _)| lo).chain([&self.hi]);
        let all = children.iter().zip(ends);
        all.map(|((lo, page), hi)| (*page, lo.clone(), hi.clone())).collect()
    }

    /// Changes the page.
    pub(super) fn apply(&mut self, change: PageChange) {
        let left_out = self.lo.get(..self.prefix).unwrap_or_default();
        let whole = |end: &[u8]| [left_out, end].concat();
        match (change, &mut self.content) {
            (PageChange::Merging, _) => self.merging = true,
            (PageChange::Set(end, value), Content::Records(records)) => {
                records.insert(whole(&end), value);
            }
            (PageChange::Remove(end), Content::Records(records)) => {
                records.remove(&whole(&end));
            }
            (PageChange::Inner, _)
            | (PageChange::Set(..) | PageChange::Remove(_), Content::Children(_)) => {}
        }
    }
}

impl PageChange {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut read = LogBytes(bytes);
        Some(match read.byte()? {
            0 => Self::Set(read.text()?.to_vec(), read.text()?.to_vec()),
            1 => Self::Remove(read.text()?.to_vec()),
            2 | 3 => Self::Inner,
            4 => Self::Merging,
            _ => return None,
        })
    }
}

/// The names of the trees with the pages they begin with.
pub(super) fn read_names(bytes: &[u8]) -> Option<Vec<(Vec<u8>, u64)>> {
    let mut read = LogBytes(bytes);
    let mut names = Vec::new();
    while !read.0.is_empty() {
        names.push((read.text()?.to_vec(), read.number()?));
    }
    Some(names)
}

//! What is known of the records of a tree: the newest state of each, or else the newest earlier one that is left somewhere.

use std::cmp::Reverse;
use std::rc::Rc;

use super::key_ranges::KeyRanges;
use super::log_scan::Message;
use super::pages::{Content, Page, PageChange};
use super::trees::{Pages, Version};
use super::whole_keys::whole_key;
use crate::io::store::error::StoreError;

/// Takes the key and the value of a record; and, if that is of an earlier state of its page, the place of the endless log that says it.
pub(super) type PutRecord<'a> = dyn FnMut(&[u8], &[u8], Option<u64>) -> Result<(), StoreError> + 'a;

/// What is told of one tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TreeSummary {
    /// Ranges of keys of which the newest state is lost.
    pub(super) gaps: u64,
    /// Records that were taken from an earlier state of their page.
    pub(super) older: u64,
}

/// A message that says what some records of a tree were.
struct State<'m> {
    message: &'m Message,
    /// Something may have changed since, of which nothing is known.
    is_earlier: bool,
    /// Its page is being merged with the one to its left.
    is_merging: bool,
    said: MessageScope,
}

/// What a message says.
enum MessageScope {
    /// All records of a page.
    All,
    /// One record of a page that begins with a key, and leaves out so many bytes of each; `None`: that is not known.
    One { lo: Rc<[u8]>, left_out: Option<usize> },
}

impl State<'_> {
    /// Where the endless log says it, if it is an earlier state.
    fn earlier(&self) -> Option<u64> {
        self.is_earlier.then_some(self.message.lsn)
    }
}

/// The keys of a tree of which something is known, and what was told.
#[derive(Default)]
struct Known {
    records: KeyRanges,
    /// Those of which a page said what stands in them.
    pages: KeyRanges,
    told: TreeSummary,
}

impl Pages<'_> {
    /// Tells every record of some pages, which are those of a tree, once: as it was last.
    pub(super) fn read_records(
        &self,
        pages: &[u64],
        tree: &[u8],
        put: &mut PutRecord<'_>,
    ) -> Result<TreeSummary, StoreError> {
        let mut states = self.states(pages);
        // What is known to be the newest state first, and then the last before it; a page that is being merged has its records in
        // the one before.
        states
            .sort_by_key(|state| (state.is_earlier, state.is_merging, Reverse(state.message.lsn)));
        let (mut known, mut gaps) = (Known::default(), None);
        for state in &states {
            if state.is_earlier {
                gaps.get_or_insert_with(|| known.pages.gaps());
                if known.records.is_everything() {
                    break;
                }
            }
            match &state.said {
                MessageScope::All => self.tell_page(state, &mut known, put)?,
                MessageScope::One { lo, left_out } => {
                    let change = self.change(state.message);
                    let name = |end: &[u8], value: Option<&[u8]>| {
                        whole_key(tree, lo, *left_out, end, value)
                    };
                    known.tell_change(change, name, state.earlier(), put)?;
                }
            }
        }
        known.told.gaps = gaps.unwrap_or_else(|| known.pages.gaps()) as u64;
        Ok(known.told)
    }

    /// The last value that is known of a record of some pages, which are those of a tree, and the first place of the endless log that
    /// says it.
    pub(super) fn last_value(
        &self,
        pages: &[u64],
        tree: &[u8],
        key: &[u8],
    ) -> Option<(Vec<u8>, u64)> {
        let states = self.states(pages);
        let said = states.iter().filter_map(|state| Some((self.value(state, tree, key)?, state)));
        let mut values: Vec<(Vec<u8>, u64)> =
            said.map(|(value, state)| (value, state.message.lsn)).collect();
        values.sort_by_key(|(_, lsn)| *lsn);
        let last = values.last()?.0.clone();
        values.into_iter().find(|(value, _)| *value == last)
    }

    /// What a state says of one record, if it says that it is there.
    fn value(&self, state: &State<'_>, tree: &[u8], key: &[u8]) -> Option<Vec<u8>> {
        match &state.said {
            MessageScope::All => match self.page(state)?.content {
                Content::Records(mut records) => records.remove(key),
                Content::Children(_) => None,
            },
            MessageScope::One { lo, left_out } => match self.change(state.message)? {
                PageChange::Set(end, value) => {
                    let whole = whole_key(tree, lo, *left_out, &end, Some(&value))?;
                    (whole == key).then_some(value)
                }
                PageChange::Remove(_) | PageChange::Merging | PageChange::Inner => None,
            },
        }
    }

    /// The page as a message wrote it whole.
    fn page(&self, state: &State<'_>) -> Option<Page> {
        self.files.content(state.message).and_then(|bytes| Page::read(&bytes))
    }

    /// All that is known of the records of some pages.
    fn states(&self, pages: &[u64]) -> Vec<State<'_>> {
        let mut states = Vec::new();
        for page in pages {
            for version in self.versions.get(page).map_or(&[][..], Vec::as_slice) {
                self.add_states(*page, version, &mut states);
            }
        }
        states
    }

    /// Adds what the messages of a version of a page say of records.
    fn add_states<'m>(&self, page: u64, version: &'m Version, states: &mut Vec<State<'m>>) {
        let lost_at = version.lost_at.unwrap_or(0);
        let is_earlier =
            |message: &Message| !version.is_current || message.stale || message.lsn < lost_at;
        let (lo, left_out, is_merging) = if let Some(whole) = &version.whole {
            let Some(page) = self.load(version) else { return };
            if matches!(page.content, Content::Children(_)) {
                return;
            }
            let (is_earlier, is_merging) = (is_earlier(whole), page.merging);
            states.push(State { message: whole, is_earlier, is_merging, said: MessageScope::All });
            (page.lo, Some(page.prefix), page.merging)
        } else {
            let (lo, left_out) = self.begin_of(page);
            (lo, left_out.filter(|_| version.is_current), false)
        };
        let lo: Rc<[u8]> = lo.into();
        for message in &version.changes {
            // What a page leaves out of its keys may be other bytes when it is written whole again.
            let left_out = left_out.filter(|_| message.lsn < lost_at || lost_at == 0);
            let said = MessageScope::One { lo: Rc::clone(&lo), left_out };
            states.push(State { message, is_earlier: is_earlier(message), is_merging, said });
        }
    }

    /// The first key of a page, and how many bytes of it the page leaves out of its keys now, if that is known. Where nothing is
    /// known, only whole keys can be used.
    fn begin_of(&self, page: u64) -> (Vec<u8>, Option<usize>) {
        if let Some(bounds) = self.bounds.get(&page) {
            let left_out = bounds
                .hi
                .as_ref()
                .map(|hi| bounds.lo.iter().zip(hi).take_while(|(one, other)| one == other).count());
            return (bounds.lo.clone(), left_out);
        }
        let known = self.versions.get(&page).map_or(&[][..], Vec::as_slice);
        let whole = known.iter().find_map(|version| self.load(version));
        (whole.unwrap_or_default().lo, None)
    }

    /// Tells what stands in a page.
    fn tell_page(
        &self,
        state: &State<'_>,
        known: &mut Known,
        put: &mut PutRecord<'_>,
    ) -> Result<(), StoreError> {
        let Some(Page { lo, hi, content: Content::Records(records), .. }) = self.page(state) else {
            return Ok(());
        };
        if !known.records.contains_all(&lo, &hi) {
            for (key, value) in &records {
                known.tell(key, Some(value), state.earlier(), put)?;
            }
        }
        known.records.add(&lo, &hi);
        known.pages.add(&lo, &hi);
        Ok(())
    }
}

impl Known {
    fn tell_change(
        &mut self,
        change: Option<PageChange>,
        name: impl Fn(&[u8], Option<&[u8]>) -> Option<Vec<u8>>,
        earlier: Option<u64>,
        put: &mut PutRecord<'_>,
    ) -> Result<(), StoreError> {
        let (end, value) = match change {
            Some(PageChange::Set(end, value)) => (end, Some(value)),
            Some(PageChange::Remove(end)) => (end, None),
            Some(PageChange::Merging | PageChange::Inner) | None => return Ok(()),
        };
        let Some(key) = name(&end, value.as_deref()) else { return Ok(()) };
        self.tell(&key, value.as_deref(), earlier, put)?;
        self.records.add(&key, &[key.as_slice(), &[0]].concat());
        Ok(())
    }

    /// Tells a record, unless something newer is known of it. `value`: `None`, if it was removed.
    fn tell(
        &mut self,
        key: &[u8],
        value: Option<&[u8]>,
        earlier: Option<u64>,
        put: &mut PutRecord<'_>,
    ) -> Result<(), StoreError> {
        let Some(value) = value.filter(|_| !self.records.contains(key)) else { return Ok(()) };
        put(key, value, earlier)?;
        self.told.older = self.told.older.saturating_add(u64::from(earlier.is_some()));
        Ok(())
    }
}

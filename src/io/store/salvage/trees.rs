//! Finds out which page belongs to which tree, and what each tree holds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::key_ranges::KeyRanges;
use super::log_scan::{Kind, LogFiles, LogScan, Message};
use super::pages::{Change, Content, Page, read_names};
use crate::io::store::error::StoreError;

/// The page that names the trees.
const NAMES_PAGE: u64 = 0;

/// A page as it was at some time: written whole, and changed since.
#[derive(Debug, Clone)]
struct Version {
    /// `None`: it is damaged, and only what changed it is known.
    whole: Option<Message>,
    changes: Vec<Message>,
    /// It is what the log says last of the page.
    is_current: bool,
    /// The page was written whole at this place of the endless log, which is lost: all that was not changed since is of an earlier
    /// state.
    lost_at: Option<u64>,
}

impl Version {
    /// When the page was written whole; 0: that is not known.
    fn since(&self) -> u64 {
        self.whole.map_or(0, |whole| whole.lsn)
    }
}

/// The pages of a log.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    files: &'a LogFiles,
    /// What is known of each page since it was taken last, the newest first.
    versions: BTreeMap<u64, Vec<Version>>,
    /// The trees with the pages they begin with.
    names: BTreeMap<Vec<u8>, u64>,
    /// The first key of pages of which only changes are known, and the first key behind them.
    bounds: BTreeMap<u64, (Vec<u8>, Vec<u8>)>,
    /// A state of a page is lost.
    pub(super) is_damaged: bool,
}

/// Takes the key and the value of a record, and whether it is of an earlier state of its page.
pub(super) type PutRecord<'a> = dyn FnMut(&[u8], &[u8], bool) -> Result<(), StoreError> + 'a;

/// What is told of one tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TreeTold {
    /// Ranges of keys of which the newest state is lost.
    pub(super) gaps: u64,
    /// Records that were taken from an earlier state of their page.
    pub(super) older: u64,
}

impl<'a> Pages<'a> {
    /// `written`: where each page was written whole, as far as that is known.
    pub(super) fn new(files: &'a LogFiles, scan: &LogScan, written: &BTreeMap<u64, u64>) -> Self {
        let mut by_page: BTreeMap<u64, Vec<Message>> = BTreeMap::new();
        let mut names = BTreeMap::new();
        for message in &scan.messages {
            if message.kind == Kind::Names || message.page == NAMES_PAGE {
                // Later ones come later, and trees are never given up.
                let read = files.content(message).and_then(|bytes| read_names(&bytes));
                names.extend(read.unwrap_or_default());
            } else {
                by_page.entry(message.page).or_default().push(*message);
            }
        }
        let mut is_damaged = false;
        for all in by_page.values_mut() {
            // A page in a file of its own that is damaged: what changed since then changed the page before.
            all.retain(|message| {
                let is_whole = message.kind != Kind::Whole || files.has_content(message);
                is_damaged |= !is_whole;
                is_whole
            });
        }
        let mut versions: BTreeMap<u64, Vec<Version>> =
            by_page.into_iter().map(|(page, all)| (page, versions_of(&all))).collect();
        for (page, known) in &mut versions {
            is_damaged |= note_lost(known, written.get(page).copied());
        }
        // Older states lose their base when segments are used again; that is no damage.
        let is_baseless =
            |known: &[Version]| known.first().is_some_and(|newest| newest.whole.is_none());
        let mut pages = Self { files, versions, names, bounds: BTreeMap::new(), is_damaged };
        if pages.versions.values().any(|known| is_baseless(known)) {
            let bounds = pages.find_bounds();
            let lost = |(page, known): (&u64, &Vec<Version>)| {
                is_baseless(known) && bounds.contains_key(page)
            };
            pages.is_damaged |= pages.versions.iter().any(lost);
            pages.bounds = bounds;
        }
        pages
    }

    /// What the inner pages say of those below them; what was said last counts.
    fn find_bounds(&self) -> BTreeMap<u64, (Vec<u8>, Vec<u8>)> {
        let mut inner: Vec<&Version> = self.versions.values().flatten().collect();
        inner.sort_by_key(|version| version.since());
        let mut bounds = BTreeMap::new();
        for version in inner {
            let below = self.load(version, &[]).map(|page| page.bounds_below());
            bounds.extend(
                below.unwrap_or_default().into_iter().map(|(page, lo, hi)| (page, (lo, hi))),
            );
        }
        bounds
    }

    /// The names of the trees.
    pub(super) fn names(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.names.keys()
    }

    /// The page as it was in a version.
    fn load(&self, version: &Version, lengths: &[usize]) -> Option<Page> {
        let mut page = Page::read(&self.files.content(&version.whole?)?)?;
        self.apply(&mut page, version.changes.iter(), lengths);
        Some(page)
    }

    fn apply<'m>(
        &self,
        page: &mut Page,
        changes: impl Iterator<Item = &'m Message>,
        lengths: &[usize],
    ) {
        for message in changes {
            let change = self.files.content(message).and_then(|bytes| Change::read(&bytes));
            if let Some(change) = change {
                page.apply(change, lengths);
            }
        }
    }

    /// What was changed of a page behind a place of the endless log.
    fn changed_since(&self, version: &Version, since: u64, page: &Page, lengths: &[usize]) -> Page {
        let mut newest = Page::between(&page.lo, &page.hi);
        newest.prefix = page.prefix;
        let changes = version.changes.iter().filter(|message| message.lsn > since);
        self.apply(&mut newest, changes, lengths);
        newest
    }

    /// The tree of each page that can be reached from the beginning of one.
    pub(super) fn find_trees(&self) -> BTreeMap<u64, &[u8]> {
        let mut trees: BTreeMap<u64, &[u8]> = BTreeMap::new();
        // What the newest state says goes before what an earlier one said.
        for is_current in [true, false] {
            let mut waiting: VecDeque<(u64, &[u8])> =
                trees.iter().map(|(at, name)| (*at, *name)).collect();
            waiting.extend(self.names.iter().map(|(name, page)| (*page, name.as_slice())));
            let mut seen = BTreeSet::new();
            while let Some((page, name)) = waiting.pop_front() {
                if !seen.insert(page) || trees.get(&page).is_some_and(|tree| *tree != name) {
                    continue;
                }
                trees.insert(page, name);
                let known = self.versions.get(&page).map_or(&[][..], Vec::as_slice);
                let wanted = known.iter().filter(|version| !is_current || version.is_current);
                for version in wanted {
                    let next_to_it = self.load(version, &[]).map(neighbours).unwrap_or_default();
                    waiting.extend(next_to_it.into_iter().map(|page| (page, name)));
                }
            }
        }
        trees
    }

    /// Tells every record of some pages, which are those of a tree.
    pub(super) fn read_records(
        &self,
        pages: &[u64],
        lengths: &[usize],
        put: &mut PutRecord<'_>,
    ) -> Result<TreeTold, StoreError> {
        let (mut known, mut told, mut is_old) = (KeyRanges::default(), TreeTold::default(), false);
        let mut lost = 0_u64;
        for page in pages {
            self.read_changes(*page, lengths, &mut known, put)?;
        }
        let mut leaves: Vec<(bool, bool, u64, &Version)> = Vec::new();
        for page in pages {
            for version in self.versions.get(page).map_or(&[][..], Vec::as_slice) {
                if let Some(page) = self.load(version, lengths)
                    && matches!(page.content, Content::Records(_))
                {
                    leaves.push((!version.is_current, page.merging, version.since(), version));
                }
            }
        }
        // The newest states first; a page that is being merged has its records in the one before.
        leaves
            .sort_by_key(|(is_old, merging, lsn, _)| (*is_old, *merging, std::cmp::Reverse(*lsn)));
        for (old, _, _, version) in leaves {
            if old && !is_old {
                is_old = true;
                told.gaps = known.gaps() as u64;
            }
            if known.is_everything() {
                break;
            }
            let Some(page) = self.load(version, lengths) else { continue };
            if known.contains_all(&page.lo, &page.hi) {
                continue;
            }
            let Content::Records(records) = &page.content else { continue };
            let newest = version.lost_at.map(|at| self.changed_since(version, at, &page, lengths));
            if !old && newest.is_some() {
                lost = lost.saturating_add(1);
            }
            for (key, value) in records.iter().filter(|(key, _)| !known.contains(key)) {
                let is_earlier = old || newest.as_ref().is_some_and(|newest| !newest.holds(key));
                put(key, value, is_earlier)?;
                told.older = told.older.saturating_add(u64::from(is_earlier));
            }
            known.add(&page.lo, &page.hi);
        }
        if !is_old {
            told.gaps = known.gaps() as u64;
        }
        told.gaps = told.gaps.saturating_add(lost);
        Ok(told)
    }

    /// Tells what is known of a page by its changes alone: the page itself is damaged, but where it began stands in another.
    fn read_changes(
        &self,
        page: u64,
        lengths: &[usize],
        known: &mut KeyRanges,
        put: &mut PutRecord<'_>,
    ) -> Result<(), StoreError> {
        let Some(newest) = self.versions.get(&page).and_then(|versions| versions.first()) else {
            return Ok(());
        };
        let Some((lo, hi)) = self.bounds.get(&page).filter(|_| newest.whole.is_none()) else {
            return Ok(());
        };
        let mut page = Page::between(lo, hi);
        self.apply(&mut page, newest.changes.iter(), lengths);
        let Content::Records(records) = &page.content else { return Ok(()) };
        for (key, value) in records {
            put(key, value, false)?;
            known.add(key, &[key.as_slice(), &[0]].concat());
        }
        Ok(())
    }

    /// Pages that no tree is known of, and what stands in them now.
    pub(super) fn strays(&self, trees: &BTreeMap<u64, &[u8]>) -> Vec<(u64, Page)> {
        let strays = self.versions.iter().filter(|(page, _)| !trees.contains_key(page));
        let current = strays.filter_map(|(page, versions)| {
            let newest = versions.iter().find(|version| version.is_current)?;
            Some((*page, self.load(newest, &[])?))
        });
        current.collect()
    }
}

/// The pages that a page names.
fn neighbours(page: Page) -> Vec<u64> {
    let mut named = match page.content {
        Content::Children(children) => children.into_iter().map(|(_, page)| page).collect(),
        Content::Records(_) => Vec::new(),
    };
    named.extend(page.next);
    named
}

/// Notes that the newest state of a page is lost, if it was `written` whole at a place behind all that is known of it; says whether
/// it is.
fn note_lost(known: &mut [Version], written: Option<u64>) -> bool {
    let newest = known.iter().map(Version::since).max().filter(|since| *since > 0);
    let lost = written.filter(|written| newest.is_some_and(|newest| newest < *written));
    for version in known {
        version.lost_at = lost;
    }
    lost.is_some()
}

/// The versions of a page since it was taken last, the newest first. `messages`: in order.
fn versions_of(messages: &[Message]) -> Vec<Version> {
    let taken = messages.iter().rposition(|message| message.kind == Kind::Free && !message.stale);
    let since = messages.get(taken.map_or(0, |at| at.saturating_add(1))..).unwrap_or_default();
    let mut versions: Vec<Version> = Vec::new();
    for message in since {
        match message.kind {
            Kind::Whole => {
                let (whole, changes) = (Some(*message), Vec::new());
                versions.push(Version { whole, changes, is_current: false, lost_at: None });
            }
            Kind::Change if versions.is_empty() && message.stale => {}
            Kind::Change => {
                if let Some(version) = versions.last_mut() {
                    version.changes.push(*message);
                } else {
                    let (whole, changes) = (None, vec![*message]);
                    versions.push(Version { whole, changes, is_current: false, lost_at: None });
                }
            }
            Kind::Free | Kind::Names | Kind::Cap | Kind::Skip => {}
        }
    }
    if let Some(newest) =
        versions.iter_mut().rfind(|version| version.whole.is_none_or(|whole| !whole.stale))
    {
        newest.is_current = true;
    }
    versions.reverse();
    versions
}

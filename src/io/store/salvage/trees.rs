//! Finds out which page belongs to which tree, and what each tree holds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::log_scan::{Kind, LogFiles, LogScan, Message};
use super::pages::{Content, Page, PageChange, read_names};

/// The page that names the trees.
const NAMES_PAGE: u64 = 0;

/// A page as it was at some time: written whole, and changed since.
#[derive(Debug, Clone)]
pub(super) struct Version {
    /// `None`: it is damaged, and only what changed it is known.
    pub(super) whole: Option<Message>,
    pub(super) changes: Vec<Message>,
    /// It is what the log says last of the page.
    pub(super) is_current: bool,
    /// The page was written whole at this place of the endless log, which is lost: all that was not changed since is of an earlier
    /// state.
    pub(super) lost_at: Option<u64>,
}

impl Version {
    const fn of(whole: Option<Message>) -> Self {
        Self { whole, changes: Vec::new(), is_current: false, lost_at: None }
    }

    /// Whether it stands in a part of the log that was not used again.
    fn stands(&self) -> bool {
        match &self.whole {
            Some(whole) => !whole.stale,
            None => self.changes.iter().any(|change| !change.stale),
        }
    }

    /// When the page was written whole; 0: that is not known.
    fn since(&self) -> u64 {
        self.whole.map_or(0, |whole| whole.lsn)
    }
}

/// Where a page begins and ends.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    /// Its first key, which it has as long as it is used.
    pub(super) lo: Vec<u8>,
    /// The first key behind it; `None`: that is not known.
    pub(super) hi: Option<Vec<u8>>,
}

/// The pages of a log.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    pub(super) files: &'a LogFiles,
    /// What is known of each page since it was taken last, the newest first.
    pub(super) versions: BTreeMap<u64, Vec<Version>>,
    /// The trees with the pages they begin with.
    names: BTreeMap<Vec<u8>, u64>,
    /// Where pages begin and end, where there are some of which only changes are known.
    pub(super) bounds: BTreeMap<u64, Bounds>,
    /// A state of a page is lost.
    pub(super) is_damaged: bool,
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
        let (mut is_damaged, mut written) = (false, written.clone());
        for (page, all) in &mut by_page {
            // A page in a file of its own that is damaged: what changed since then changed the page before.
            all.retain(|message| {
                let is_lost = message.kind == Kind::Whole && !files.has_content(message);
                if is_lost {
                    let at = written.entry(*page).or_default();
                    *at = message.lsn.max(*at);
                }
                is_damaged |= is_lost;
                !is_lost
            });
        }
        for message in files.left_behind(&scan.messages) {
            by_page.entry(message.page).or_default().push(message);
        }
        let mut versions: BTreeMap<u64, Vec<Version>> =
            by_page.into_iter().map(|(page, all)| (page, versions_of(&all))).collect();
        for (page, known) in &mut versions {
            is_damaged |= note_lost(known, written.get(page).copied());
        }
        let mut pages = Self { files, versions, names, bounds: BTreeMap::new(), is_damaged };
        let is_baseless = |version: &Version| version.whole.is_none();
        if pages.versions.values().flatten().any(is_baseless) {
            let bounds = pages.find_bounds();
            // Older states lose their base when segments are used again; that is no damage.
            let lost = |(page, known): (&u64, &Vec<Version>)| {
                known.iter().any(|version| version.is_current && is_baseless(version))
                    && bounds.contains_key(page)
            };
            pages.is_damaged |= pages.versions.iter().any(lost);
            pages.bounds = bounds;
        }
        pages
    }

    /// What other pages say of where each page begins and ends: of those below them, and of those to the right; what was said last
    /// counts.
    fn find_bounds(&self) -> BTreeMap<u64, Bounds> {
        let mut all: Vec<&Version> = self.versions.values().flatten().collect();
        all.sort_by_key(|version| version.since());
        let (mut bounds, mut beside) = (BTreeMap::new(), BTreeMap::new());
        for version in all {
            let Some(page) = self.load(version) else { continue };
            let below = page.bounds_below().into_iter();
            bounds.extend(below.map(|(page, lo, hi)| (page, Bounds { lo, hi: Some(hi) })));
            beside.extend(page.next.map(|next| (next, Bounds { lo: page.hi, hi: None })));
        }
        for (page, begin) in beside {
            bounds.entry(page).or_insert(begin);
        }
        bounds
    }

    /// The names of the trees.
    pub(super) fn names(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.names.keys()
    }

    /// The page as it was in a version.
    pub(super) fn load(&self, version: &Version) -> Option<Page> {
        let mut page = Page::read(&self.files.content(&version.whole?)?)?;
        for message in &version.changes {
            if let Some(change) = self.change(message) {
                page.apply(change);
            }
        }
        Some(page)
    }

    pub(super) fn change(&self, message: &Message) -> Option<PageChange> {
        self.files.content(message).and_then(|bytes| PageChange::read(&bytes))
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
                    let next_to_it = self.load(version).map(neighbours).unwrap_or_default();
                    waiting.extend(next_to_it.into_iter().map(|page| (page, name)));
                }
            }
        }
        trees
    }

    /// Pages that no tree is known of, and what stands in them now, or stood in them last.
    pub(super) fn strays(&self, trees: &BTreeMap<u64, &[u8]>) -> Vec<(u64, Page)> {
        let strays = self.versions.iter().filter(|(page, _)| !trees.contains_key(page));
        let known = strays.map(|(page, versions)| {
            let current = versions.iter().filter(|version| version.is_current);
            let mut newest = current.chain(versions);
            let loaded = newest.find_map(|version| self.load(version));
            (*page, loaded.unwrap_or_else(|| self.load_changes(versions)))
        });
        known.collect()
    }

    /// What changed a page of which nothing else is known, as though it left nothing out of its keys.
    fn load_changes(&self, versions: &[Version]) -> Page {
        let mut page = Page::default();
        for message in versions.iter().rev().flat_map(|version| &version.changes) {
            if let Some(change) = self.change(message) {
                page.apply(change);
            }
        }
        page
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
    let newest = known.iter().map(Version::since).max();
    let lost = written.filter(|written| newest.is_some_and(|newest| newest < *written));
    for version in known {
        version.lost_at = lost;
    }
    // Where nothing but changes is known, what other pages say of it decides.
    lost.is_some() && newest > Some(0)
}

/// The versions of a page since it was taken last, the newest first. `messages`: in order.
fn versions_of(messages: &[Message]) -> Vec<Version> {
    let taken = messages.iter().rposition(|message| message.kind == Kind::Free && !message.stale);
    let since = messages.get(taken.map_or(0, |at| at.saturating_add(1))..).unwrap_or_default();
    let mut versions: Vec<Version> = Vec::new();
    for message in since {
        match message.kind {
            Kind::Whole => versions.push(Version::of(Some(*message))),
            Kind::Change => {
                if versions.is_empty() {
                    versions.push(Version::of(None));
                }
                if let Some(version) = versions.last_mut() {
                    version.changes.push(*message);
                }
            }
            Kind::Free | Kind::Names | Kind::Cap | Kind::Skip => {}
        }
    }
    if let Some(newest) = versions.iter_mut().rfind(|version| version.stands()) {
        newest.is_current = true;
    }
    versions.reverse();
    versions
}

//! Crashes: what the files hold after one is a state that they had, and not an older one than what was reported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use backissue::engine::change::undo_stack::SavedStep;
use backissue::engine::feeds::subscription::SavedSubscription;
use backissue::engine::saved_searches::SavedSearch;
use backissue::io::store::Store;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{ArchiveNode, EntryKey, FeedKey, Flags, KeptEntry};

/// A crash that is to come.
#[derive(Debug)]
pub struct Crash {
    /// Only what was synced is left.
    power_cut: bool,
    /// Writes until then.
    writes: u32,
    /// What was synced last.
    synced: Option<PathBuf>,
    /// The states that may be found: that of the last sync, and those since.
    pub states: Vec<Dump>,
    /// Work that takes several transactions is under way: any state between is right.
    pub loose: bool,
}

impl Crash {
    pub const fn new(power_cut: bool, writes: u32) -> Self {
        Self { power_cut, writes, synced: None, states: Vec::new(), loose: false }
    }

    pub const fn is_power_cut(&self) -> bool {
        self.power_cut
    }

    /// Another write is about to be done: whether the crash comes before it.
    pub fn is_now(&mut self, loose: bool) -> bool {
        if self.writes == 0 {
            return true;
        }
        self.writes -= 1;
        self.loose |= loose;
        false
    }

    /// Keeps what was synced, in place of what was synced before.
    pub fn keep(&mut self, folder: PathBuf) {
        self.loose = false;
        if let Some(old) = self.synced.replace(folder) {
            std::fs::remove_dir_all(old).ok();
        }
    }

    /// What is left of a data folder: a folder of the same content.
    pub fn leave(&mut self, folder: &Path, new: PathBuf) -> PathBuf {
        self.synced.take().unwrap_or_else(|| {
            copy_folder(folder, &new);
            new
        })
    }

    /// What is wrong with what was found.
    pub fn judge(&self, found: &Dump) -> Result<(), String> {
        if self.loose || self.states.iter().any(|state| state == found) {
            return Ok(());
        }
        let last = self.states.last().map_or_else(String::new, |state| found.differs_from(state));
        let first = self.states.first().map_or_else(String::new, |state| found.differs_from(state));
        Err(format!(
            "after a crash the store holds none of the {} states it had since it was synced: it differs from what was \
             synced in {first}; and from the last in {last}",
            self.states.len()
        ))
    }
}

/// Everything that lasts, as the store reads it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dump {
    saved: Vec<SavedSubscription>,
    ended: Vec<SavedSubscription>,
    entries: BTreeMap<FeedKey, Vec<(EntryKey, KeptEntry, Flags)>>,
    nodes: BTreeMap<FeedKey, BTreeMap<String, ArchiveNode>>,
    filters: Vec<EntryFilter>,
    searches: Vec<SavedSearch>,
    steps: Vec<SavedStep>,
    folded: BTreeSet<String>,
}

impl Dump {
    pub fn of(store: &mut Store) -> Self {
        let mut dump = Self {
            saved: store.subscriptions().unwrap(),
            ended: store.ended_subscriptions().unwrap(),
            filters: store.saved_filters().unwrap(),
            searches: store.saved_searches().unwrap(),
            steps: store.saved_steps().unwrap(),
            folded: store.folded().unwrap(),
            ..Self::default()
        };
        for saved in dump.saved.iter().chain(&dump.ended) {
            let feed = saved.key;
            let keys: Vec<EntryKey> =
                (0..saved.counters.next_seq).map(|seq| EntryKey { feed, seq }).collect();
            dump.entries.insert(feed, store.entries(&keys).unwrap());
            let nodes = store.nodes(feed).unwrap();
            let nodes = nodes.iter().map(|(key, node)| (key.to_owned(), node.clone()));
            dump.nodes.insert(feed, nodes.collect());
        }
        dump
    }

    /// What is different, in words.
    fn differs_from(&self, other: &Self) -> String {
        let pairs = [
            ("subscriptions", self.saved == other.saved),
            ("ended subscriptions", self.ended == other.ended),
            ("entries", self.entries == other.entries),
            ("archives", self.nodes == other.nodes),
            ("filters", self.filters == other.filters),
            ("searches", self.searches == other.searches),
            ("steps of undo", self.steps == other.steps),
            ("folded tags", self.folded == other.folded),
        ];
        let names: Vec<&str> =
            pairs.iter().filter(|(_, same)| !same).map(|(name, _)| *name).collect();
        let feeds = self.saved.iter().zip(&other.saved).filter(|(one, two)| one != two);
        let feeds: Vec<String> = feeds
            .map(|(one, two)| {
                let parts = [
                    ("record", one.record == two.record),
                    ("state", one.state == two.state),
                    ("history", one.history == two.history),
                    ("counters", one.counters == two.counters),
                ];
                let parts = parts.iter().filter(|(_, same)| !same).map(|(name, _)| *name);
                format!("feed {}: {:?}", one.key, parts.collect::<Vec<_>>())
            })
            .collect();
        format!("{names:?} {feeds:?}")
    }
}

/// A folder is copied at most so often until nothing changed meanwhile.
const COPIES: usize = 50;

/// Copies a data folder as it stands at one instant, as a crash leaves it: sled's threads write and shorten its log and
/// write snapshots of their own accord, and a part that was copied later than another would be damage that no crash does.
pub fn copy_folder(from: &Path, to: &Path) {
    for _ in 0..COPIES {
        copy_once(from, to);
        // Times of changes do not tell: they are no finer than a tick of the system's.
        if contents_of(from, from) == contents_of(to, to) {
            return;
        }
        std::fs::remove_dir_all(to).unwrap();
    }
    panic!("the files of the store never rest");
}

/// The files below a folder, by their paths in it, with what they hold.
fn contents_of(root: &Path, folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files.extend(contents_of(root, &path)),
            Ok(kind) if kind.is_file() => {
                let name = path.strip_prefix(root).unwrap().to_owned();
                files.insert(name, std::fs::read(&path).unwrap_or_default());
            }
            Ok(_) | Err(_) => {}
        }
    }
    files
}

fn copy_once(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = to.join(entry.file_name());
        // A file may be replaced while this looks.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => copy_once(&entry.path(), &name),
            Ok(kind) if kind.is_file() => drop(std::fs::copy(entry.path(), name)),
            Ok(_) | Err(_) => {}
        }
    }
}

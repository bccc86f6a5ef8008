//! Crashes: afterwards the files must hold a state that existed and that is not older than the last state reported as durable.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use backissue::engine::change::undo_stack::SavedStep;
use backissue::engine::change::value::SavedSearch;
use backissue::engine::entries::entry_view::LoadedEntry;
use backissue::engine::feeds::subscription::SavedSubscription;
use backissue::io::store::Store;
use backissue_core::filters::EntryFilter;
use backissue_core::history::{ArchiveNode, EntryKey, FeedKey};

/// A planned crash.
#[derive(Debug)]
pub struct Crash {
    /// Whether only synced data survives, as in a power cut.
    power_cut: bool,
    /// Number of writes left until the crash.
    writes: u32,
    /// Copy of the data folder at the last sync.
    synced: Option<PathBuf>,
    /// States that the store may have after the crash: the last synced one and all later ones.
    pub states: Vec<Dump>,
    /// Whether a job of several transactions is running, so that any state within it is correct.
    pub loose: bool,
}

impl Crash {
    pub const fn new(power_cut: bool, writes: u32) -> Self {
        Self { power_cut, writes, synced: None, states: Vec::new(), loose: false }
    }

    pub const fn is_power_cut(&self) -> bool {
        self.power_cut
    }

    /// Counts a write that is about to happen and checks whether the crash comes before it.
    pub fn is_now(&mut self, loose: bool) -> bool {
        if self.writes == 0 {
            return true;
        }
        self.writes -= 1;
        self.loose |= loose;
        false
    }

    /// Replaces the last synced copy with a new one.
    pub fn keep(&mut self, folder: PathBuf) {
        self.loose = false;
        if let Some(old) = self.synced.replace(folder) {
            std::fs::remove_dir_all(old).ok();
        }
    }

    /// Returns the folder that survives the crash: the last synced copy if there is one, and a copy of the data folder if not.
    pub fn leave(&mut self, folder: &Path, new: PathBuf) -> PathBuf {
        self.synced.take().unwrap_or_else(|| {
            copy_folder(folder, &new);
            new
        })
    }

    /// Returns an error text if the state found after the crash is not one of the possible ones.
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

/// All persistent data as the store reads it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dump {
    saved: Vec<SavedSubscription>,
    ended: Vec<SavedSubscription>,
    entries: BTreeMap<FeedKey, Vec<LoadedEntry>>,
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

    /// Describes which parts differ.
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

/// Maximum number of attempts to copy a folder without a concurrent change.
const COPIES: usize = 50;

/// Copies a data folder as of one instant, as a crash leaves it. sled's threads write and truncate its log and write snapshots at
/// any time; parts copied at different times would be damage that no crash causes.
pub fn copy_folder(from: &Path, to: &Path) {
    for _ in 0..COPIES {
        copy_once(from, to);
        // Comparing modification times would not suffice: their resolution is one system tick.
        if contents_of(from, from) == contents_of(to, to) {
            return;
        }
        std::fs::remove_dir_all(to).unwrap();
    }
    panic!("the files of the store keep changing");
}

/// Returns the files below a folder by relative path, with their contents.
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
        // sled may replace a file while the folder is scanned.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => copy_once(&entry.path(), &name),
            Ok(kind) if kind.is_file() => drop(std::fs::copy(entry.path(), name)),
            Ok(_) | Err(_) => {}
        }
    }
}

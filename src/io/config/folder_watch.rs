//! Waits until the operating system reports a change in some folders. If the system cannot report changes, checks again after a
//! fixed interval.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

/// Time within which several events count as one change, because saving a file causes several events.
const GATHERED: Duration = Duration::from_millis(100);
/// Interval between checks if the operating system does not report changes.
const PAUSE: Duration = Duration::from_secs(1);

/// The watched folders and the notification of changes in them.
#[derive(Debug)]
pub(super) struct FolderWatch {
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    changed: Arc<Notify>,
    /// `true` if the operating system reports changes in all watched folders.
    whole: bool,
    /// Interval between checks if the operating system does not report changes in all folders.
    pause: Duration,
}

impl FolderWatch {
    /// Creates a watch without folders.
    pub(super) fn start() -> Self {
        let changed = Arc::new(Notify::new());
        let hears = Arc::clone(&changed);
        let hear = move |event: notify::Result<notify::Event>| {
            // Ignore events for read access. Treat an error as a change, because events may have been lost.
            if event.map_or(true, |event| !matches!(event.kind, EventKind::Access(_))) {
                hears.notify_one();
            }
        };
        let watcher = notify::recommended_watcher(hear).ok();
        Self { watcher, watched: BTreeSet::new(), changed, whole: false, pause: PAUSE }
    }

    /// Replaces the set of watched folders.
    pub(super) fn watch(&mut self, folders: BTreeSet<PathBuf>) {
        let Some(watcher) = &mut self.watcher else { return };
        for left in self.watched.difference(&folders) {
            // This fails only if the folder was deleted, and a deleted folder is no longer watched anyway.
            watcher.unwatch(left).ok();
        }
        // Register all folders again, also known ones, because a folder may have been replaced by another of the same name.
        let unheard =
            |folder: &&PathBuf| watcher.watch(folder, RecursiveMode::NonRecursive).is_err();
        self.whole = folders.iter().filter(unheard).count() == 0;
        self.watched = folders;
    }

    /// Waits until something in the folders may have changed since the last call.
    pub(super) async fn changed(&self) {
        if self.whole {
            self.changed.notified().await;
            tokio::time::sleep(GATHERED).await;
        } else {
            tokio::time::sleep(self.pause).await;
        }
    }
}

/// Returns the folders in which a change to this file is visible: the folder of its path, or the nearest existing ancestor, and
/// the folder of the link's target if the file is a link.
pub(super) fn folders_of(file: &Path) -> impl Iterator<Item = PathBuf> {
    let named = std::path::absolute(file).ok();
    let meant = file.canonicalize().ok();
    [named, meant].into_iter().flatten().filter_map(|path| {
        path.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::io::config::folder_watch::*;

    /// Maximum wait for a reported change, far longer than the system needs.
    const PATIENCE: Duration = Duration::from_secs(20);

    async fn hears(watch: &FolderWatch, change: impl FnOnce()) -> bool {
        change();
        tokio::time::timeout(PATIENCE, watch.changed()).await.is_ok()
    }

    #[tokio::test]
    async fn file_change_is_noticed_however_it_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("not/yet/there.toml");
        let mut watch = FolderWatch::start();
        let again = |watch: &mut FolderWatch| {
            watch.watch(folders_of(&file).collect());
            assert!(watch.whole, "nothing is looked at again and again");
        };
        again(&mut watch);
        assert!(hears(&watch, || fs::create_dir(folder.path().join("not")).unwrap()).await);
        again(&mut watch);
        assert!(hears(&watch, || fs::create_dir(file.parent().unwrap()).unwrap()).await);
        again(&mut watch);
        assert!(hears(&watch, || fs::write(&file, "a").unwrap()).await, "made");
        assert!(hears(&watch, || fs::write(&file, "b").unwrap()).await, "written");
        let other = file.with_extension("new");
        let put_in_place = || {
            fs::write(&other, "c").unwrap();
            fs::rename(&other, &file).unwrap();
        };
        assert!(hears(&watch, put_in_place).await, "replaced");
        assert!(hears(&watch, || fs::remove_file(&file).unwrap()).await, "removed");
    }

    #[tokio::test]
    async fn change_of_a_link_target_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (elsewhere, here) = (folder.path().join("elsewhere"), folder.path().join("here"));
        fs::create_dir(&elsewhere).unwrap();
        fs::create_dir(&here).unwrap();
        fs::write(elsewhere.join("real.toml"), "a").unwrap();
        let link = here.join("config.toml");
        std::os::unix::fs::symlink(elsewhere.join("real.toml"), &link).unwrap();
        let mut watch = FolderWatch::start();
        watch.watch(folders_of(&link).collect());
        assert!(hears(&watch, || fs::write(elsewhere.join("real.toml"), "b").unwrap()).await);
    }

    #[tokio::test]
    async fn unwatchable_folder_is_checked_periodically() {
        let mut watch = FolderWatch { pause: Duration::ZERO, ..FolderWatch::start() };
        watch.watch(BTreeSet::from(["/no/such/folder".into()]));
        assert!(hears(&watch, || {}).await);
    }
}

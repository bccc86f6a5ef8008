//! The backup of the day, written on a thread of its own beside everything else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use chrono::NaiveDate;

use super::daily_backup;
use crate::io::store::error::catch_sled_panic;
use crate::io::store::handle::Store;
use crate::io::system::words::system_words;

/// A backup being written.
pub(in crate::io::store) struct BackingUp {
    left: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl BackingUp {
    /// Begins the backup of a day, if there is none. The reason is reported if it cannot be written. `None`: nothing was begun.
    pub(in crate::io::store) fn start(
        store: &Store,
        today: NaiveDate,
        tell: impl Fn(String) + Clone + Send + 'static,
    ) -> Option<Self> {
        let (data, source) = (store.data.clone(), store.backup_source());
        if !daily_backup::backup_is_due(&data, today) {
            return None;
        }
        let left = Arc::new(AtomicBool::new(false));
        let (leaves, told) = (left.clone(), tell.clone());
        let writing = move || {
            let goes_on = || !leaves.load(Ordering::Relaxed);
            let written = catch_sled_panic(|| daily_backup::write(&source, &data, today, &goes_on));
            if let (Err(error), true) = (written, goes_on()) {
                told(error.reason_of_backup());
            }
        };
        let thread = std::thread::Builder::new().name("backup".into()).spawn(writing);
        match thread {
            Ok(thread) => Some(Self { left, thread }),
            Err(error) => {
                tell(system_words(&error));
                None
            }
        }
    }

    pub(in crate::io::store) fn is_under_way(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Leaves it, so that nobody else has the files open.
    pub(in crate::io::store) fn leave(self) {
        self.left.store(true, Ordering::Relaxed);
        self.thread.join().ok();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn backup_write_failure_is_one_sentence() {
        let data = tempfile::tempdir().unwrap();
        let store = Store::open(data.path()).unwrap();
        std::fs::write(data.path().join("backups"), "a file in its place").unwrap();
        let (sender, told) = channel();
        let day = NaiveDate::from_ymd_opt(2026, 3, 2).unwrap();
        let backing_up = BackingUp::start(&store, day, move |why| sender.send(why).unwrap());
        let why = told.recv().unwrap();
        assert!(why.starts_with("it cannot be written to "), "{why}");
        backing_up.unwrap().leave();
    }
}

//! A thread that syncs the pack on request, so that reads go on meanwhile.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// The thread.
#[derive(Debug)]
pub(in crate::io::store) struct SyncThread {
    orders: Sender<Arc<File>>,
    thread: JoinHandle<()>,
}

impl SyncThread {
    /// Starts the thread, which calls `done` after each sync.
    pub(in crate::io::store) fn start(
        done: impl Fn(io::Result<()>) + Send + 'static,
    ) -> io::Result<Self> {
        let (orders, ordered) = channel::<Arc<File>>();
        let work = move || {
            while let Ok(file) = ordered.recv() {
                done(file.sync_data());
            }
        };
        let thread = std::thread::Builder::new().name("syncer".into()).spawn(work)?;
        Ok(Self { orders, thread })
    }

    /// Orders a sync. Returns `false` if there is nobody to do it.
    pub(in crate::io::store) fn order(&self, file: Arc<File>) -> bool {
        self.orders.send(file).is_ok()
    }

    /// Ends the thread after the sync under way.
    pub(in crate::io::store) fn end(self) {
        drop(self.orders);
        self.thread.join().ok();
    }
}

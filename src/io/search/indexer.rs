//! The indexer: the one thread that writes the search index.
//!
//! The store thread reports changed feeds. The indexer collects these changes for a short time and writes them in one batch. When
//! it starts, it first indexes the entries that are missing in the index. The store never waits for the indexer. If the disk is
//! full, the indexer waits until there is space again, and then indexes the missing entries.
//!
//! The index contains a stamp of the indexed content of each entry. Entries whose stamp differs from the store's rows are added,
//! replaced or removed, so nothing is lost if the program is killed.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use backissue_core::history::{EntryKey, FeedKey, IndexRow};
use backissue_core::search::EntryTexts;

use super::IndexError;
use super::index::{IndexState, ROOM_MIN, SearchIndex, SharedIndex, Stamps, Writer};
use crate::engine::request::Input;
use crate::io::answers::Answers;
use crate::io::clock;
use crate::io::store::{SessionLength, Texts, measure_room};
use crate::io::system::is_out_of_files_now;

/// Pause after the start, before the indexer reads all rows, so that the first screen appears earlier.
const START_PAUSE: Duration = Duration::from_millis(700);
/// Pause between two changes after which they are written in separate batches. Batches are costly: each requires a commit and,
/// later, a merge.
const GATHERED: Duration = Duration::from_millis(800);
/// Maximum time for which changes are collected while more of them arrive. Each batch is a segment that must be merged later. If
/// a search is waiting, changes are not collected.
const GATHERED_MOST: Duration = Duration::from_secs(10);
/// How often to retry after the system refused an operation.
const REFUSED_PAUSE: Duration = Duration::from_secs(30);
/// Number of indexed entries after which progress is reported again.
const TOLD_ENTRIES: usize = 2_000;

/// A handle to the indexer thread.
#[derive(Debug)]
pub struct Indexer {
    orders: Sender<Order>,
    stopping: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// A message to the indexer.
enum Order {
    /// A feed has changed.
    Changed(FeedKey),
    /// A search is waiting, so index missing entries without a pause. The sender receives the number of missing entries
    /// repeatedly, and 0 at the end.
    CatchUp(Sender<usize>),
}

/// Pending work: feeds that changed, and searches that wait until these are indexed.
#[derive(Default)]
struct Orders {
    changed: BTreeSet<FeedKey>,
    waiting: Vec<Sender<usize>>,
}

impl Orders {
    fn add(&mut self, order: Order) {
        match order {
            Order::Changed(feed) => {
                self.changed.insert(feed);
            }
            Order::CatchUp(waiting) => self.waiting.push(waiting),
        }
    }

    /// Sends the number of missing entries to the waiting searches.
    fn tell(&mut self, missing: usize) {
        // If sending fails, the search was interrupted.
        self.waiting.retain(|waiting| waiting.send(missing).is_ok() && missing > 0);
    }

    fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.waiting.is_empty()
    }
}

/// The state of the indexer thread.
struct Work {
    data: PathBuf,
    index: SharedIndex,
    texts: Texts,
    stay: SessionLength,
    orders: Receiver<Order>,
    stopping: Arc<AtomicBool>,
    answers: Answers,
    /// Whether the present failure to write the index was already reported. Reset by a successful write.
    is_told: Cell<bool>,
}

impl Indexer {
    /// Starts the thread, which opens the index of a data folder and shares it. In a short session it opens the index only when
    /// there is work, because most commands end without a search.
    pub fn start(
        data: PathBuf,
        index: SharedIndex,
        texts: Texts,
        stay: SessionLength,
        answers: Answers,
    ) -> std::io::Result<Self> {
        let (sender, orders) = channel();
        let stopping = Arc::new(AtomicBool::new(false));
        let work = Work {
            data,
            index,
            texts,
            stay,
            orders,
            stopping: Arc::clone(&stopping),
            answers,
            is_told: Cell::new(false),
        };
        let thread =
            std::thread::Builder::new().name("indexer".into()).spawn(move || work.run())?;
        Ok(Self { orders: sender, stopping, thread })
    }

    /// Reports that a feed has changed.
    pub fn changed(&self, feed: FeedKey) {
        // If the thread has ended, the index is incomplete until the next start.
        self.orders.send(Order::Changed(feed)).ok();
    }

    /// Sends the number of entries that the index lacks, repeatedly until it is 0. If the index cannot be written, the sender is
    /// dropped.
    pub fn when_indexed(&self, answer: Sender<usize>) {
        self.orders.send(Order::CatchUp(answer)).ok();
    }

    /// Ends the thread after the entries in progress. The others are indexed at the next start.
    pub fn stop(self) {
        self.stopping.store(true, Ordering::Relaxed);
        drop(self.orders);
        self.thread.join().ok();
    }
}

impl Work {
    /// Runs until the program ends. If the system refused an operation, tries again later. Rebuilds a damaged index, but only
    /// once.
    fn run(&self) {
        let mut orders = Orders::default();
        let (mut opened, mut is_rebuilt) = (None, false);
        while let Err(error) = self.work(&mut opened, std::mem::take(&mut orders)) {
            let gone = self.check_place().err();
            if gone.is_some() {
                opened = None;
            }
            let error = gone.unwrap_or(error);
            if matches!(error, IndexError::Unusable(_)) {
                match SearchIndex::make_empty(&self.data) {
                    Ok(index) if !is_rebuilt => (opened, is_rebuilt) = (Some(index), true),
                    Ok(_) | Err(_) => return self.tell(&error),
                }
                continue;
            }
            match self.wait_for_room(&error) {
                Some(ordered) => orders = ordered,
                None => return,
            }
        }
    }

    fn tell(&self, error: &IndexError) {
        self.answers.send(Input::Trouble(error.to_string()));
    }

    /// Waits until the system may again allow what it refused, and returns the messages that arrived. Changed feeds need not be
    /// remembered, because their entries are found by their stamps. Waiting searches are answered at once, by dropping their
    /// senders. If the refusal lasts, reports it once. Returns `None` if the program ends.
    fn wait_for_room(&self, refused: &IndexError) -> Option<Orders> {
        let mut began = clock::instant();
        loop {
            let mut orders = Orders::default();
            let left = REFUSED_PAUSE.saturating_sub(began.elapsed());
            match self.orders.recv_timeout(left) {
                Ok(order) => orders.add(order),
                Err(RecvTimeoutError::Timeout) => began = clock::instant(),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
            let is_over = orders.is_empty();
            if (is_over || !orders.waiting.is_empty()) && self.check_room().is_ok() {
                return Some(orders);
            }
            if is_over && !self.is_told.replace(true) {
                self.tell(refused);
            }
        }
    }

    /// Returns an error if the data folder is not the one in which the store was opened.
    fn check_place(&self) -> Result<(), IndexError> {
        let is_there = self.texts.is_in_place(&self.data);
        if is_there { Ok(()) } else { Err(IndexError::gone()) }
    }

    /// Returns an error if there is too little disk space or no free file, so that no write is attempted.
    fn check_room(&self) -> Result<(), IndexError> {
        self.check_place()?;
        if measure_room(&self.data).is_some_and(|free| free < ROOM_MIN) {
            return Err(IndexError::Passing("the disk is full".into()));
        }
        if is_out_of_files_now() {
            return Err(IndexError::Passing("too many files are open".into()));
        }
        Ok(())
    }

    /// Indexes what is missing and then changed feeds, until the program ends or an error occurs.
    fn work(&self, opened: &mut Option<SearchIndex>, mut orders: Orders) -> Result<(), IndexError> {
        let is_late = self.stay == SessionLength::Short;
        if is_late && !self.pause(&mut orders) {
            return Ok(());
        }
        let index = match opened {
            Some(index) => index.clone(),
            None => opened.insert(SearchIndex::open(&self.data)?).clone(),
        };
        self.index.set(index.clone());
        if !is_late && !self.pause(&mut orders) {
            return Ok(());
        }
        let mut catch_up = CatchUp::new(index, self.texts.clone());
        let behind = catch_up.differing_feeds();
        let missing = behind.iter().map(|(_, entries)| entries).sum::<usize>();
        if missing > 0 {
            self.check_room()?;
        }
        let mut told = 0;
        let all = catch_up.feeds(behind.into_iter().map(|(feed, _)| feed), &mut |done| {
            if done >= told + TOLD_ENTRIES {
                told = done;
                let missing = missing.saturating_sub(done);
                self.report_missing(missing);
                // Also answer searches that began in the meantime.
                self.orders.try_iter().for_each(|order| orders.add(order));
                if missing > 0 {
                    orders.tell(missing);
                }
            }
            !self.stopping.load(Ordering::Relaxed)
        })?;
        let wrote = catch_up.commit()?;
        if wrote || told > 0 {
            self.report_missing(0);
        }
        self.is_told.set(false);
        if all { self.follow(&mut catch_up, orders) } else { Ok(()) }
    }

    /// Waits for the first message, but not for long. Returns `false` if the program ends.
    fn pause(&self, orders: &mut Orders) -> bool {
        if orders.is_empty() {
            match self.orders.recv_timeout(START_PAUSE) {
                Ok(order) => orders.add(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }

    /// Indexes changed feeds until the program ends.
    fn follow(&self, catch_up: &mut CatchUp, mut orders: Orders) -> Result<(), IndexError> {
        loop {
            if orders.is_empty() {
                match self.orders.recv() {
                    Ok(order) => orders.add(order),
                    Err(_) => return Ok(()),
                }
            }
            self.gather(&mut orders);
            if !orders.changed.is_empty() {
                self.check_room()?;
            }
            // Only waiting searches need the number of missing entries.
            let missing = if orders.waiting.is_empty() {
                0
            } else {
                orders.changed.iter().map(|&feed| catch_up.state_of(feed).missing).sum()
            };
            if missing > 0 {
                self.report_missing(missing);
            }
            let go_on = &mut |_| !self.stopping.load(Ordering::Relaxed);
            catch_up.feeds(std::mem::take(&mut orders.changed), go_on)?;
            if catch_up.commit()? || missing > 0 {
                self.report_missing(0);
            }
            orders.tell(0);
        }
    }

    /// Collects further changes until none arrives for a short time. Does not wait if a search is waiting.
    fn gather(&self, orders: &mut Orders) {
        let began = clock::instant();
        loop {
            let left = GATHERED.min(GATHERED_MOST.saturating_sub(began.elapsed()));
            let next = if orders.waiting.is_empty() && !left.is_zero() {
                self.orders.recv_timeout(left).ok()
            } else {
                self.orders.try_recv().ok()
            };
            let Some(order) = next else { return };
            orders.add(order);
        }
    }

    fn report_missing(&self, missing: usize) {
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        self.answers.send(Input::Indexed { missing });
    }
}

/// Number of entries that are read together.
const SLICE: usize = 128;

/// Updates an index from a store.
pub struct CatchUp {
    index: SearchIndex,
    texts: Texts,
    /// The stamps in the index, by feed and entry number; 0 means that the entry is not indexed.
    has: Stamps,
    /// Words that are not written yet.
    writer: Writer,
}

impl std::fmt::Debug for CatchUp {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("CatchUp").field("index", &self.index).finish_non_exhaustive()
    }
}

/// Returns the stamp of an entry's content, or 0 if the entry is not indexed. `page` is the length of the record of its page, if
/// that was fetched; a new version of the page usually has another length.
fn stamp(row: &IndexRow, page: Option<&u64>) -> u32 {
    if !row.flags.is_findable() {
        return 0;
    }
    // The lowest bit is always set, so shift the length by one bit.
    let folded = row.content ^ (row.content >> 32) ^ page.map_or(0, |length| length << 1);
    u32::try_from(folded & u64::from(u32::MAX)).unwrap_or_default() | 1
}

impl CatchUp {
    /// Reads the stamps in an index.
    pub fn new(index: SearchIndex, texts: Texts) -> Self {
        let has = index.stamps();
        Self { index, texts, has, writer: Writer::default() }
    }

    /// Compares the whole index with the store.
    pub fn state(&self) -> IndexState {
        let mut state = IndexState { disk_bytes: self.index.disk_bytes(), ..Default::default() };
        for feed in self.texts.feeds() {
            let of_feed = self.state_of(feed);
            state.missing = state.missing.saturating_add(of_feed.missing);
            state.indexed = state.indexed.saturating_add(of_feed.indexed);
        }
        state
    }

    /// Compares the entries of one feed.
    pub fn state_of(&self, feed: FeedKey) -> IndexState {
        let mut state = IndexState::default();
        let has = self.has.get(&feed).map_or(&[][..], Vec::as_slice);
        for (place, wanted) in self.stamps(feed).into_iter().enumerate() {
            let got = has.get(place).copied().unwrap_or(0);
            if wanted != got {
                state.missing = state.missing.saturating_add(1);
            } else if got != 0 {
                state.indexed = state.indexed.saturating_add(1);
            }
        }
        state
    }

    /// Returns the stamps of the entries of a feed as they are in the store; none if the store does not have it.
    fn stamps(&self, feed: FeedKey) -> Vec<u32> {
        if !self.texts.has(feed) {
            return Vec::new();
        }
        let pages = self.texts.pages(feed);
        let rows = self.texts.rows(feed);
        (0_u32..).zip(&rows).map(|(seq, row)| stamp(row, pages.get(&seq))).collect()
    }

    /// Returns the entries of a feed whose stamps in the index and in the store differ, with their stamps in the store.
    fn differing(&self, feed: FeedKey) -> Vec<(u32, u32)> {
        let has = self.has.get(&feed).map_or(&[][..], Vec::as_slice);
        let wanted = self.stamps(feed);
        let stamp = |of: &[u32], place: usize| of.get(place).copied().unwrap_or(0);
        (0_u32..)
            .zip(0..has.len().max(wanted.len()))
            .filter(|&(_, place)| stamp(has, place) != stamp(&wanted, place))
            .map(|(seq, place)| (seq, stamp(&wanted, place)))
            .collect()
    }

    /// Returns the feeds with entries whose stamps differ, and the number of these entries.
    fn differing_feeds(&self) -> Vec<(FeedKey, usize)> {
        let feeds = self.all_feeds().into_iter();
        let counts = feeds.map(|feed| (feed, self.differing(feed).len()));
        counts.filter(|(_, entries)| *entries > 0).collect()
    }

    /// Returns the feeds in the index or in the store.
    fn all_feeds(&self) -> BTreeSet<FeedKey> {
        self.has.keys().copied().chain(self.texts.feeds()).collect()
    }

    /// Updates the whole index. Calls `go_on` with the number of finished entries, and stops if it returns `false`. Returns
    /// `true` if everything is indexed.
    pub fn everything(&mut self, go_on: &mut dyn FnMut(usize) -> bool) -> Result<bool, IndexError> {
        self.feeds(self.all_feeds(), go_on)
    }

    /// Like [`Self::everything`], for these feeds.
    fn feeds(
        &mut self,
        feeds: impl IntoIterator<Item = FeedKey>,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Result<bool, IndexError> {
        let mut done = 0_usize;
        for feed in feeds {
            for slice in self.differing(feed).chunks(SLICE) {
                if !go_on(done) {
                    return Ok(false);
                }
                self.write(feed, slice);
                done = done.saturating_add(slice.len());
                if self.writer.is_full() {
                    self.commit()?;
                }
            }
        }
        Ok(true)
    }

    /// Adds, replaces or removes entries, each given with its new stamp.
    fn write(&mut self, feed: FeedKey, changes: &[(u32, u32)]) {
        let has = self.has.entry(feed).or_default();
        let end = changes.last().map_or(0, |(seq, _)| (*seq as usize).saturating_add(1));
        has.resize(has.len().max(end), 0);
        let added = changes.iter().filter(|(_, stamp)| *stamp != 0).map(|(seq, _)| *seq);
        let mut texts = self.texts.read(feed, added);
        let pages = self.texts.pages(feed);
        for &(seq, stamp) in changes {
            let key = EntryKey { feed, seq };
            let Some(slot) = has.get_mut(seq as usize) else { continue };
            // An entry whose record is damaged has no words. 'backissue doctor' reports it.
            if let Some((kept, body)) = texts.remove(&seq) {
                let page = pages.contains_key(&seq).then(|| self.texts.page(key)).flatten();
                let whole = page.map(|page| body.clone().unwrap_or_default().with_page(&page.html));
                let words = EntryTexts::new(&kept, whole.as_ref().or(body.as_ref()));
                self.writer.add(key, stamp, &words);
            } else if *slot != 0 {
                self.writer.remove(key);
            }
            *slot = stamp;
        }
    }

    /// Writes the collected words, so that they are durable and searches find them. Returns `false` if there were none.
    pub fn commit(&mut self) -> Result<bool, IndexError> {
        if self.writer.is_empty() {
            return Ok(false);
        }
        if !self.texts.is_in_place(self.index.data()) {
            return Err(IndexError::gone());
        }
        self.index.commit(std::mem::take(&mut self.writer))?;
        Ok(true)
    }
}

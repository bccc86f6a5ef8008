//! The pack: one file to which frames are appended, and a thread that syncs it on request. The folder of the pack may be moved,
//! deleted, replaced or unmounted at any time. Later writes to the open file then go to another place or are lost.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use super::frame::{FrameBuilder, FrameChange, HEAD, Head, MAGIC, changes, random};
use super::table::TableName;
use crate::io::regular_files::{self, open_with};
use crate::io::store::error::StoreError;

/// Number of bytes that are read at once to find the next frame after a damaged part.
const SEARCHED: usize = 1024 * 1024;

/// An open pack.
#[derive(Debug)]
pub(super) struct Pack {
    /// The file, which is shared with readers.
    pub(super) file: Arc<File>,
    /// The path at which it was opened.
    pub(super) path: PathBuf,
    /// Random number of the pack, which each of its frames contains.
    pub(super) number: u64,
    /// Whether the number was read from a frame. If it was, frames with other numbers do not belong to this pack.
    pub(super) is_known: bool,
    /// Length of the valid part in bytes. The next frame begins there.
    pub(super) end: u64,
    /// Number of bytes that are known to be synced.
    pub(super) synced: u64,
    /// The end of the synced part, by which the pack is recognised.
    pub(super) synced_end: SyncedEnd,
}

/// For each changed record, the position and the length of its newest value in the pack, in bytes; `None` if it was removed.
pub(super) type Places = BTreeMap<(TableName, Vec<u8>), Option<(u64, u32)>>;

/// The result of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::io::store) struct Scanned {
    /// Length in bytes of the part to keep. What follows it was never synced, and is damaged or incomplete.
    pub(super) end: u64,
    /// Ranges of bytes in the synced part in which no frame can be read.
    pub(in crate::io::store) gaps: Vec<Range<u64>>,
    /// Number of values that do not match their checksums.
    pub(in crate::io::store) unsound: usize,
}

impl Scanned {
    /// Returns whether everything that was synced can be read.
    pub(in crate::io::store) fn is_sound(&self) -> bool {
        self.gaps.is_empty() && self.unsound == 0
    }
}

impl Pack {
    /// Creates an empty pack.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).mode(0o600).open(path)?;
        Ok(Self::with(file, path, 0))
    }

    /// Opens a pack. Reads only its first frame. A pack without a frame gets a new number.
    pub(super) fn open(path: &Path, writable: bool) -> io::Result<Self> {
        let file = open_with(OpenOptions::new().read(true).write(writable), path)?;
        let end = file.metadata()?.len();
        let mut pack = Self::with(file, path, end);
        if let Some((_, head, _)) = pack.next_frame(0, end)? {
            (pack.number, pack.is_known) = (head.pack, true);
        }
        Ok(pack)
    }

    fn with(file: File, path: &Path, end: u64) -> Self {
        let (file, path, synced_end) = (Arc::new(file), path.into(), SyncedEnd::default());
        Self { file, path, number: random(), is_known: false, end, synced: 0, synced_end }
    }

    /// Appends a frame. Returns the positions of its values in the pack. After an error, the frame is removed.
    pub(super) fn append(&mut self, frame: FrameBuilder) -> io::Result<Vec<u64>> {
        let (bytes, mut places) = frame.finish(self.number, self.synced);
        if let Err(error) = self.file.write_all_at(&bytes, self.end) {
            // If this fails too, the rest is not a valid frame, and the next frame is written over it.
            self.file.set_len(self.end).ok();
            return Err(error);
        }
        for place in &mut places {
            *place = place.saturating_add(self.end);
        }
        self.end = self.end.saturating_add(bytes.len() as u64);
        Ok(places)
    }

    /// Removes everything after a position.
    pub(super) fn cut(&mut self, end: u64) -> io::Result<()> {
        self.file.set_len(end)?;
        self.end = end;
        Ok(())
    }

    /// Reads all frames from the one that begins at `from`. At least `synced` bytes are known to be synced. Returns what the
    /// undamaged ones change.
    pub(super) fn changes(&self, from: u64, synced: u64) -> io::Result<(Places, Scanned)> {
        let mut places = Places::new();
        let scanned = self.scan(from, synced, &mut |change, frame| {
            // Ignore tables of later versions.
            let Some(table) = TableName::numbered(change.table) else { return };
            let place = change.value.map(|(place, length)| (frame.saturating_add(place), length));
            places.insert((table, change.key.to_vec()), place);
        })?;
        Ok((places, scanned))
    }

    /// Reads the frames in order, from the one that begins at `from`. Calls `each` with each change whose value is undamaged, and with
    /// the position of its frame in the pack.
    ///
    /// After a part that cannot be read, the scan continues with the next frame. If later frames and `synced` do not show that this
    /// part was synced, it is the rest of a write that was never reported as done, and the pack ends before it.
    pub(super) fn scan(
        &self,
        from: u64,
        synced: u64,
        each: &mut dyn FnMut(FrameChange<'_>, u64),
    ) -> io::Result<Scanned> {
        let length = self.file.metadata()?.len();
        let synced = self.synced_at_least(from, length)?.max(synced);
        let (mut scanned, mut at) = (Scanned::default(), from);
        while let Some((place, head, bytes)) = self.next_frame(at, length)? {
            if place > at {
                if at >= synced {
                    break;
                }
                scanned.gaps.push(at..place);
            }
            let directory = bytes.get(HEAD..).unwrap_or_default();
            let (mut unsound, mut sound) = (0, Vec::new());
            let mut value = Vec::new();
            for change in changes(directory) {
                let is_sound = match change.value {
                    None => true,
                    Some((start, bytes)) => {
                        let start = place.saturating_add(start);
                        let is_there = start.saturating_add(bytes.into()) <= length;
                        if is_there {
                            value.resize(bytes as usize, 0);
                            self.file.read_exact_at(&mut value, start)?;
                        }
                        is_there && crc32fast::hash(&value) == change.sum
                    }
                };
                if is_sound { sound.push(change) } else { unsound += 1 }
            }
            if unsound > 0 && place >= synced {
                break;
            }
            scanned.unsound += unsound;
            for change in sound {
                each(change, place);
            }
            at = place.saturating_add(head.length());
        }
        // The end of the synced part is damaged or missing.
        if at < synced {
            scanned.gaps.push(at..synced);
        }
        scanned.end = at.max(synced).min(length);
        Ok(scanned)
    }

    /// Returns how many bytes were synced according to the heads of the frames from this position on.
    fn synced_at_least(&self, from: u64, length: u64) -> io::Result<u64> {
        let (mut at, mut synced) = (from, 0);
        while let Some((place, head, _)) = self.next_frame(at, length)? {
            synced = synced.max(head.synced);
            at = place.saturating_add(head.length());
        }
        Ok(synced)
    }

    /// Returns the first frame at or after a position: its position, its head, and the bytes of its head and directory.
    fn next_frame(&self, at: u64, length: u64) -> io::Result<Option<(u64, Head, Vec<u8>)>> {
        let mut place = at;
        loop {
            if let Some((head, bytes)) = self.frame_at(place, length)? {
                return Ok(Some((place, head, bytes)));
            }
            let Some(next) = self.find_magic(place.saturating_add(1), length)? else {
                return Ok(None);
            };
            place = next;
        }
    }

    /// Reads the head and the directory of the frame at a position. Returns `None` if there is no valid frame. The file may end
    /// before the values of the frame.
    fn frame_at(&self, place: u64, length: u64) -> io::Result<Option<(Head, Vec<u8>)>> {
        let left = length.saturating_sub(place);
        if left < HEAD as u64 {
            return Ok(None);
        }
        let mut bytes = vec![0; HEAD];
        self.file.read_exact_at(&mut bytes, place)?;
        let is_there = |head: &Head| {
            HEAD.saturating_add(head.directory) as u64 <= left
                && (!self.is_known || head.pack == self.number)
        };
        let Some(head) = Head::read(&bytes).filter(is_there) else { return Ok(None) };
        bytes.resize(HEAD.saturating_add(head.directory), 0);
        let directory = bytes.get_mut(HEAD..).unwrap_or_default();
        self.file.read_exact_at(directory, place.saturating_add(HEAD as u64))?;
        Ok(head.is_sound(&bytes).then_some((head, bytes)))
    }

    /// Returns the first position, at or after `at`, where a frame may begin.
    fn find_magic(&self, at: u64, length: u64) -> io::Result<Option<u64>> {
        let (mut at, mut bytes) = (at, Vec::new());
        while at.saturating_add(HEAD as u64) <= length {
            let wanted = usize::try_from(length.saturating_sub(at)).unwrap_or(SEARCHED);
            bytes.resize(wanted.min(SEARCHED), 0);
            self.file.read_exact_at(&mut bytes, at)?;
            if let Some(found) = memchr::memmem::find(&bytes, &MAGIC) {
                return Ok(Some(at.saturating_add(found as u64)));
            }
            // A frame may begin in the last bytes that were read.
            at = at.saturating_add((bytes.len().saturating_sub(MAGIC.len() - 1)).max(1) as u64);
        }
        Ok(None)
    }
}

/// Number of bytes before the end of the synced part that are compared to recognise a pack. They contain the last frames, with the
/// checksums of their values.
const COMPARED: u64 = 4096;

/// What is at the path of an open pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::io::store) enum PackPlace {
    /// The open file.
    Here,
    /// Another file with the same content, for instance because its disk was mounted again.
    Returned,
    /// Nothing, or something else.
    Gone,
}

/// The end of the synced part of a pack: its position, and the bytes before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SyncedEnd {
    end: u64,
    bytes: Vec<u8>,
}

impl SyncedEnd {
    /// Reads the end of the synced part of a pack. Returns `None` if the file cannot be read or is shorter.
    fn read(file: &File, end: u64) -> Option<Self> {
        let length = end.min(COMPARED);
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        file.read_exact_at(&mut bytes, end.saturating_sub(length)).ok()?;
        Some(Self { end, bytes })
    }
}

impl Pack {
    /// Notes that the pack is synced up to a position.
    pub(super) fn note_synced(&mut self, end: u64) {
        self.synced = end;
        // If the bytes cannot be read, the pack is still recognised by its former end.
        if let Some(read) = SyncedEnd::read(&self.file, end) {
            self.synced_end = read;
        }
    }

    /// Checks what is at the path of the pack.
    pub(super) fn place(&self) -> PackPlace {
        let Ok(found) = fs::metadata(&self.path) else { return PackPlace::Gone };
        let is_open = is_at(&self.file, &self.path);
        let is_same = |file: &File| {
            SyncedEnd::read(file, self.synced_end.end).is_some_and(|read| read == self.synced_end)
        };
        if is_open && found.len() >= self.end && is_same(&self.file) {
            return PackPlace::Here;
        }
        // Another process has appended to a longer file, so it is not used.
        let may_return = !is_open && found.is_file() && found.len() == self.synced_end.end;
        if may_return && regular_files::open(&self.path).is_ok_and(|file| is_same(&file)) {
            PackPlace::Returned
        } else {
            PackPlace::Gone
        }
    }

    /// Returns an error unless the open file is at its path.
    pub(super) fn check_place(&self) -> Result<(), StoreError> {
        if self.place() == PackPlace::Here {
            return Ok(());
        }
        Err(StoreError::Gone(self.path.parent().unwrap_or(Path::new(".")).into()))
    }
}

/// Checks whether a path leads to this open file.
pub(in crate::io::store) fn is_at(file: &File, path: &Path) -> bool {
    let ids = |found: fs::Metadata| (found.dev(), found.ino());
    let found = fs::metadata(path).and_then(|found| Ok((ids(found), ids(file.metadata()?))));
    found.is_ok_and(|(found, open)| found == open)
}

/// The thread that syncs the pack.
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

    /// Requests a sync. Returns `false` if the thread has ended.
    pub(in crate::io::store) fn order(&self, file: Arc<File>) -> bool {
        self.orders.send(file).is_ok()
    }

    /// Waits for the sync in progress and ends the thread.
    pub(in crate::io::store) fn end(self) {
        drop(self.orders);
        self.thread.join().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a pack of frames with a subscription and a text each. Returns it with the ends of the frames. The head of the last
    /// frame states that all frames but the last two are synced.
    fn pack(folder: &Path, count: u32) -> (Pack, Vec<u64>) {
        let mut pack = Pack::create(&folder.join("pack")).unwrap();
        let mut ends = Vec::new();
        for number in 0..count {
            if number + 1 < count {
                pack.synced = pack.end;
            }
            let mut frame = FrameBuilder::default();
            assert!(frame.put(TableName::Feeds, &number.to_be_bytes(), Some(&[7; 50])));
            assert!(frame.put(TableName::Bodies, &number.to_be_bytes(), Some(&[8; 5_000])));
            pack.append(frame).unwrap();
            ends.push(pack.end);
        }
        (pack, ends)
    }

    /// Changes the bytes of a pack and scans it. Returns the numbers of the subscriptions and of the texts that were read.
    fn scan(pack: &Pack, change: impl FnOnce(&mut Vec<u8>)) -> (Vec<u32>, Vec<u32>, Scanned) {
        let mut bytes = vec![0; usize::try_from(pack.end).unwrap()];
        pack.file.read_exact_at(&mut bytes, 0).unwrap();
        change(&mut bytes);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pack");
        fs::write(&path, bytes).unwrap();
        let pack = Pack::open(&path, false).unwrap();
        let (mut feeds, mut texts) = (Vec::new(), Vec::new());
        let scanned = pack.scan(0, 0, &mut |change, _| {
            let number = u32::from_be_bytes(change.key.try_into().unwrap());
            let feed = change.table == TableName::Feeds.number();
            if feed { feeds.push(number) } else { texts.push(number) }
        });
        (feeds, texts, scanned.unwrap())
    }

    #[test]
    fn a_whole_pack_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let (pack, ends) = pack(folder.path(), 4);
        let (feeds, texts, scanned) = scan(&pack, |_| {});
        assert_eq!((feeds, texts), (vec![0, 1, 2, 3], vec![0, 1, 2, 3]));
        assert!(scanned.is_sound() && scanned.end == ends[3]);
    }

    #[test]
    fn damage_costs_what_it_hits_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (pack, ends) = pack(folder.path(), 5);
        let start = usize::try_from(ends[0]).unwrap();
        let value = usize::try_from(ends[1]).unwrap() - 9;
        let (feeds, texts, scanned) = scan(&pack, |bytes| bytes[value] ^= 1);
        assert_eq!((feeds, texts), (vec![0, 1, 2, 3, 4], vec![0, 2, 3, 4]));
        assert_eq!((scanned.gaps.len(), scanned.unsound), (0, 1));
        let (feeds, _, scanned) = scan(&pack, |bytes| bytes[start + 12] ^= 1);
        assert_eq!(feeds, [0, 2, 3, 4]);
        assert_eq!(scanned.gaps, std::slice::from_ref(&(ends[0]..ends[1])));
        let (feeds, _, scanned) = scan(&pack, |bytes| bytes[..20].fill(0));
        assert_eq!((feeds, scanned.gaps[0].clone()), (vec![1, 2, 3, 4], 0..ends[0]));
        let (feeds, ..) = scan(&pack, |bytes| bytes.drain(..start + 1_000).for_each(drop));
        assert_eq!(feeds, [2, 3, 4]);
    }

    #[test]
    fn a_frame_that_was_not_written_whole_ends_the_pack() {
        let folder = tempfile::tempdir().unwrap();
        let (pack, ends) = pack(folder.path(), 4);
        let third = usize::try_from(ends[2]).unwrap();
        for cut in [1, 20, 40, 90, 4_000] {
            let (feeds, _, scanned) = scan(&pack, |bytes| bytes.truncate(third + cut));
            assert_eq!((feeds, scanned.end), (vec![0, 1, 2], ends[2]), "{cut}");
            assert!(scanned.is_sound(), "{cut}");
            let (feeds, _, scanned) = scan(&pack, |bytes| bytes[third + cut..].fill(0));
            assert_eq!((feeds, scanned.end), (vec![0, 1, 2], ends[2]), "{cut}");
        }
        // If everything was synced, the same is damage, and the rest of the frame is read.
        let mut bytes = vec![0; third + 5_000];
        pack.file.read_exact_at(&mut bytes, 0).unwrap();
        let path = folder.path().join("cut");
        fs::write(&path, bytes).unwrap();
        let (cut, mut keys) = (Pack::open(&path, false).unwrap(), Vec::new());
        let scanned = cut.scan(0, pack.end, &mut |change, _| keys.push(change.table)).unwrap();
        assert_eq!((keys.len(), keys.last()), (7, Some(&TableName::Feeds.number())));
        assert_eq!((scanned.unsound, scanned.is_sound()), (1, false));
        // If the first of two frames that were written together is incomplete, the second one is dropped as well.
        let second = usize::try_from(ends[1]).unwrap();
        let (feeds, _, scanned) = scan(&pack, |bytes| bytes[third - 9] ^= 1);
        assert_eq!((feeds, scanned.end), (vec![0, 1], u64::try_from(second).unwrap()));
    }
}

#[cfg(test)]
mod pack_place_tests {
    use super::*;
    use crate::io::store::pack::TableName;
    use crate::io::store::pack::frame::FrameBuilder;

    fn append(pack: &mut Pack, number: u32) {
        let mut frame = FrameBuilder::default();
        assert!(frame.put(TableName::Feeds, &number.to_be_bytes(), Some(&[7; 900])));
        pack.append(frame).unwrap();
        pack.note_synced(pack.end);
    }

    #[test]
    fn the_open_pack_is_told_from_others_at_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("pack"), folder.path().join("other"));
        let mut pack = Pack::create(&path).unwrap();
        assert_eq!(pack.place(), PackPlace::Here, "an empty one");
        (0..9).for_each(|number| append(&mut pack, number));
        let older = fs::read(&path).unwrap();
        append(&mut pack, 9);
        assert_eq!(pack.place(), PackPlace::Here);
        fs::rename(&path, &other).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "moved");
        fs::copy(&other, &path).unwrap();
        assert_eq!(pack.place(), PackPlace::Returned, "a copy");
        fs::write(&path, &older).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "an older copy");
        let mut longer = fs::read(&other).unwrap();
        longer.extend_from_slice(&older);
        fs::write(&path, &longer).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "another process continued it");
        let at = usize::try_from(pack.end).unwrap() - 1;
        longer.truncate(at + 1);
        longer[at] ^= 1;
        fs::write(&path, &longer).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "another one of the same length");
        fs::rename(&other, &path).unwrap();
        assert_eq!(pack.place(), PackPlace::Here, "moved back");
        fs::write(&path, &longer).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "overwritten");
        fs::write(&path, &older).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "overwritten by an older one");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(pack.place(), PackPlace::Gone, "a folder");
    }
}

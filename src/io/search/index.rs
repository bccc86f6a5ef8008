//! The search index on disk: its schema, opening it, writing to it.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::indexer::IndexWriterOptions;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TantivyDocument, TextFieldIndexing,
    TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyError, Term};

use crate::io::private_files::create_private_folder;
use crate::io::system::words::{is_out_of_files, is_out_of_room, system_words};
use backissue_core::feed::text::strip_markup;
use backissue_core::history::{EntryBody, EntryKey, FeedKey, KeptEntry};
use backissue_core::search::WordScanner;

/// Names of the tokenizer and of the field of stamps. They carry the version of the index: one of another version is
/// rebuilt.
const WORDS: &str = "words_1";
const STAMP: &str = "stamp_1";
/// What an index is called, beside the next one, while it is removed.
const LEAVING: &str = "index-leaving";
/// Memory of the writer: slightly more than the minimum of tantivy.
const WRITER_BYTES: usize = 18_000_000;
/// Bytes of a text that are indexed; the rest of a longer one is not.
const TEXT_BYTES_MAX: usize = 1_000_000;

/// Why the index cannot be used, as a part of a sentence.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The system refuses room, memory or a file for now: the index itself is sound.
    #[error(
        "the search index cannot be written ({0}): new entries are found once that is resolved"
    )]
    Passing(String),
    /// It is damaged, or of another version.
    #[error("the search index cannot be used ({0}); 'backissue doctor --repair' rebuilds it")]
    Unusable(String),
}

impl From<TantivyError> for IndexError {
    fn from(error: TantivyError) -> Self {
        match system_error(&error) {
            Some(error) => Self::of_system(error),
            None => Self::Unusable(library_words(&error)),
        }
    }
}

impl From<std::io::Error> for IndexError {
    fn from(error: std::io::Error) -> Self {
        Self::of_system(&error)
    }
}

impl IndexError {
    fn of_system(error: &std::io::Error) -> Self {
        let why = system_words(error);
        let is_refused = is_out_of_room(error)
            || is_out_of_files(error)
            || matches!(error.kind(), ErrorKind::OutOfMemory | ErrorKind::PermissionDenied);
        if is_refused { Self::Passing(why) } else { Self::Unusable(why) }
    }
}

/// What the library says, without its names for things.
#[expect(clippy::wildcard_enum_match_arm, reason = "the library's enum, which may grow")]
fn library_words(error: &TantivyError) -> String {
    match error {
        TantivyError::LockFailure(LockError::LockBusy, _) => "another process is using it".into(),
        TantivyError::DataCorruption(_) => "its files are damaged".into(),
        TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_)) => {
            "one of its files is missing".into()
        }
        error => error.to_string().split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// What the system said, if that is what is behind an error.
#[expect(clippy::wildcard_enum_match_arm, reason = "the library's enum, which may grow")]
fn system_error(error: &TantivyError) -> Option<&std::io::Error> {
    match error {
        TantivyError::IoError(error) | TantivyError::LockFailure(LockError::IoError(error), _) => {
            Some(error)
        }
        TantivyError::OpenDirectoryError(
            OpenDirectoryError::IoError { io_error, .. }
            | OpenDirectoryError::FailedToCreateTempDir(io_error),
        )
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => Some(io_error),
        _ => None,
    }
}

/// The state of the index compared with the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexState {
    /// Entries that are indexed as the store has them now.
    pub indexed: usize,
    /// Entries of the store that are missing, or were indexed with other content.
    pub missing: usize,
    pub disk_bytes: u64,
}

/// The fields of the schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) key: Field,
    pub(super) stamp: Field,
    pub(super) title: Field,
    pub(super) author: Field,
    pub(super) text: Field,
}

/// The open index; clones share it.
#[derive(Clone)]
pub struct SearchIndex {
    pub(super) index: Index,
    pub(super) reader: IndexReader,
    pub(super) fields: Fields,
    files: MmapDirectory,
    folder: PathBuf,
}

impl std::fmt::Debug for SearchIndex {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("SearchIndex").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// Writes to the index.
pub(super) struct Writer {
    inner: IndexWriter,
    fields: Fields,
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let words = TextFieldIndexing::default()
        .set_tokenizer(WORDS)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let words = TextOptions::default().set_indexing_options(words);
    let fields = Fields {
        key: builder.add_u64_field("key", INDEXED | FAST),
        stamp: builder.add_u64_field(STAMP, FAST),
        title: builder.add_text_field("title", words.clone()),
        author: builder.add_text_field("author", words.clone()),
        text: builder.add_text_field("text", words),
    };
    (builder.build(), fields)
}

impl SearchIndex {
    /// Returns the folder of the index in a data folder.
    pub fn folder_in(data: &Path) -> PathBuf {
        data.join("index")
    }

    /// Opens the index in a data folder. One that is missing, damaged, or of another version is replaced by an empty
    /// one; one that the system has no file or no room to open is left alone.
    pub fn open(data: &Path) -> Result<Self, IndexError> {
        let folder = Self::folder_in(data);
        // A removal that was interrupted goes on.
        fs::remove_dir_all(data.join(LEAVING)).ok();
        match Self::open_there(&folder) {
            Ok(index) => Ok(index),
            Err(error @ IndexError::Passing(_)) => Err(error),
            Err(IndexError::Unusable(_)) => Self::make_anew(data),
        }
    }

    /// Replaces the index by an empty one.
    pub fn make_anew(data: &Path) -> Result<Self, IndexError> {
        let (folder, leaving) = (Self::folder_in(data), data.join(LEAVING));
        // Also a link that leads nowhere stands in the way.
        let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
        if is_there(&leaving) {
            fs::remove_dir_all(&leaving)?;
        }
        if is_there(&folder) {
            // All of it goes at once: half of an index is a damaged one to whoever finds it after a kill.
            fs::rename(&folder, &leaving)?;
            fs::remove_dir_all(&leaving)?;
        }
        create_private_folder(&folder)?;
        Index::create_in_dir(&folder, schema().0)?;
        Self::open_there(&folder)
    }

    fn open_there(folder: &Path) -> Result<Self, IndexError> {
        let (schema, fields) = schema();
        let (opened, files) = super::catch_tantivy_panic(|| {
            let files = MmapDirectory::open(folder).map_err(TantivyError::from)?;
            Ok((Index::open(files.clone())?, files))
        })?;
        if opened.schema() != schema {
            return Err(IndexError::Unusable("it has another format".into()));
        }
        opened.tokenizers().register(WORDS, IndexTokenizer);
        let reader = super::catch_tantivy_panic(|| {
            Ok(opened.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?)
        })?;
        Ok(Self { index: opened, reader, fields, files, folder: folder.into() })
    }

    /// Makes searches see what was committed.
    pub(super) fn refresh(&self) -> Result<(), IndexError> {
        self.reader.reload()?;
        // Of every file that it ever opened tantivy keeps the name, and some memory, until it is asked which are open.
        drop(self.files.get_cache_info());
        Ok(())
    }

    /// Returns the stamps of all entries, by entry number; 0: not indexed.
    pub(super) fn stamps(&self) -> Result<BTreeMap<FeedKey, Vec<u32>>, IndexError> {
        let mut stamps: BTreeMap<FeedKey, Vec<u32>> = BTreeMap::new();
        let searcher = self.reader.searcher();
        for segment in searcher.segment_readers() {
            let keys = segment.fast_fields().u64("key")?;
            let values = segment.fast_fields().u64(STAMP)?;
            for doc in segment.doc_ids_alive() {
                let (Some(key), Some(stamp)) = (keys.first(doc), values.first(doc)) else {
                    continue;
                };
                let key = unpack_key(key);
                let of_feed = stamps.entry(key.feed).or_default();
                let place = key.seq as usize;
                if of_feed.len() <= place {
                    of_feed.resize(place.saturating_add(1), 0);
                }
                if let Some(slot) = of_feed.get_mut(place) {
                    *slot = u32::try_from(stamp).unwrap_or(0);
                }
            }
        }
        Ok(stamps)
    }

    /// Returns what is wrong with the index in a data folder: it cannot be opened, or a checksum does not match. An
    /// index that does not exist is not damaged, nor is one whose making was interrupted.
    pub fn damage(data: &Path) -> Option<String> {
        let folder = Self::folder_in(data);
        if !folder.exists() || is_begun(&folder) {
            return None;
        }
        let opened = match Self::open_there(&folder) {
            Ok(opened) => opened,
            Err(IndexError::Passing(_)) => return None,
            Err(IndexError::Unusable(why)) => return Some(why),
        };
        match super::catch_tantivy_panic(|| Ok(opened.index.validate_checksum()?)) {
            Ok(files) if files.is_empty() => None,
            Ok(files) => {
                Some(format!("{} of its files changed after they were written", files.len()))
            }
            Err(IndexError::Passing(_)) => None,
            Err(IndexError::Unusable(why)) => Some(why),
        }
    }

    pub fn disk_bytes(&self) -> u64 {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|about| about.len()).sum()
    }

    pub(super) fn writer(&self) -> Result<Writer, IndexError> {
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(WRITER_BYTES)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let inner = self.index.writer_with_options(options)?;
        Ok(Writer { inner, fields: self.fields })
    }
}

/// Whether a folder holds an index that was never whole: tantivy writes its own list and its locks before anything else.
fn is_begun(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.map(|file| file.file_name()).all(|name| {
        let name = name.to_string_lossy();
        name == ".managed.json" || name.ends_with(".lock") || name.starts_with(".tmp")
    })
}

impl Writer {
    pub(super) fn remove(&self, key: EntryKey) {
        self.inner.delete_term(Term::from_field_u64(self.fields.key, pack_key(key)));
    }

    pub(super) fn add(
        &self,
        key: EntryKey,
        stamp: u32,
        kept: &KeptEntry,
        body: Option<&EntryBody>,
    ) -> Result<(), IndexError> {
        let mut document = TantivyDocument::default();
        document.add_u64(self.fields.key, pack_key(key));
        document.add_u64(self.fields.stamp, u64::from(stamp));
        for (field, text) in [(self.fields.title, &kept.title), (self.fields.author, &kept.author)]
        {
            if let Some(text) = text {
                document.add_text(field, text);
            }
        }
        if let Some(text) = body.and_then(EntryBody::text) {
            let text = strip_markup(text);
            let text = text.get(..text.floor_char_boundary(TEXT_BYTES_MAX)).unwrap_or_default();
            document.add_text(self.fields.text, text);
        }
        self.inner.add_document(document)?;
        Ok(())
    }

    pub(super) fn commit(&mut self) -> Result<(), IndexError> {
        self.inner.commit()?;
        Ok(())
    }

    /// Waits until the segments are merged.
    pub(super) fn rest(self) -> Result<(), IndexError> {
        Ok(self.inner.wait_merging_threads()?)
    }
}

/// Packs the key of an entry into a number.
pub(super) fn pack_key(key: EntryKey) -> u64 {
    (u64::from(key.feed.0) << 32) | u64::from(key.seq)
}

/// Unpacks the number of [`pack_key`].
pub(super) fn unpack_key(packed: u64) -> EntryKey {
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
    EntryKey { feed: FeedKey(half(packed >> 32)), seq: half(packed) }
}

/// Tokenizes texts into the words of [`backissue_core::search`].
#[derive(Debug, Clone)]
struct IndexTokenizer;

struct WordStream<'t> {
    scanner: WordScanner<'t>,
    token: Token,
}

impl Tokenizer for IndexTokenizer {
    type TokenStream<'t> = WordStream<'t>;

    fn token_stream<'t>(&'t mut self, text: &'t str) -> WordStream<'t> {
        WordStream { scanner: WordScanner::new(text), token: Token::default() }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(word) = self.scanner.next_into(&mut self.token.text) else { return false };
        (self.token.offset_from, self.token.offset_to) = (word.from, word.to);
        self.token.position = word.place;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use std::io::Error;
    use std::sync::Arc;

    use crate::io::search::index::*;

    #[test]
    fn temporary_system_error_is_not_index_damage() {
        for (code, passes) in
            [(28, true), (24, true), (23, true), (12, true), (13, true), (5, false)]
        {
            let io_error = || Arc::new(Error::from_raw_os_error(code));
            let filepath = || PathBuf::from("meta.json");
            let errors = [
                TantivyError::IoError(io_error()),
                OpenReadError::IoError { io_error: io_error(), filepath: filepath() }.into(),
                OpenWriteError::IoError { io_error: io_error(), filepath: filepath() }.into(),
                LockError::IoError(io_error()).into(),
            ];
            for error in errors {
                let told = IndexError::from(error);
                assert_eq!(matches!(told, IndexError::Passing(_)), passes, "{code}: {told}");
                assert!(!told.to_string().contains("os error"), "{told}");
            }
        }
    }
    #[test]
    fn half_removed_index_is_not_damage_and_is_deleted() {
        let data = tempfile::tempdir().unwrap();
        let (folder, leaving) = (SearchIndex::folder_in(data.path()), data.path().join(LEAVING));
        for make in [SearchIndex::open, SearchIndex::make_anew] {
            drop(SearchIndex::make_anew(data.path()).unwrap());
            fs::rename(&folder, &leaving).unwrap();
            fs::remove_file(leaving.join(".managed.json")).unwrap();
            assert_eq!(SearchIndex::damage(data.path()), None);
            drop(make(data.path()).unwrap());
            assert!(folder.join("meta.json").exists() && !leaving.exists());
            assert_eq!(SearchIndex::damage(data.path()), None);
        }
        // Half of one where it was is damage.
        fs::remove_file(folder.join("meta.json")).unwrap();
        fs::write(folder.join("0.term"), "half").unwrap();
        assert!(SearchIndex::damage(data.path()).is_some());
    }
}

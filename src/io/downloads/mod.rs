//! Downloads attached files: requests the missing rest of a file, writes it to a part file as it arrives, and reports the
//! progress. `src/engine/downloads/` decides what to download and what an answer means.

pub mod player;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use backissue_core::InputFlaw;
use backissue_core::schedule::Wait;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Mutex, oneshot};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::engine::downloads::record::{
    Cure, DownloadNews, FileTransfer, FileVersion, PART, Pace, TransferFailure,
};
use crate::engine::downloads::responses::{
    DownloadVerdict, FileAnswer, RangeRequest, classify, range_request, too_large,
};
use crate::engine::poll::fetch::FetchFailure;
use crate::engine::request::Input;
use crate::io::clock;
use crate::io::http::{Http, OpenFile};
use crate::io::named_files::refuse_data_folder;
use crate::io::regular_files::{open_with, sync_folder};
use crate::io::system::{is_out_of_room, system_words};
use crate::ui::update::ScreenInput;

/// The downloads in progress.
#[derive(Debug)]
pub(in crate::io) struct Receiving {
    tasks: BTreeMap<u32, JoinHandle<()>>,
    pace: SharedPace,
    answers: UnboundedSender<ScreenInput>,
}

/// The rate limit that all downloads share.
#[derive(Debug, Clone)]
pub(in crate::io) struct SharedPace {
    pace: Arc<Mutex<Pace>>,
    began: Instant,
}

impl SharedPace {
    /// Counts received bytes, and returns how long to wait before receiving more.
    async fn wait_after(&self, bytes: u64, rate: Option<u64>) -> Duration {
        let now = clock::instant().saturating_duration_since(self.began);
        self.pace.lock().await.wait_after(now, bytes, rate)
    }
}

impl Receiving {
    /// Creates the shared state of all downloads. Reports are sent to `answers`.
    pub(in crate::io) fn new(answers: UnboundedSender<ScreenInput>) -> Self {
        let pace = SharedPace { pace: Arc::default(), began: clock::instant() };
        Self { tasks: BTreeMap::new(), pace, answers }
    }

    /// Starts a download as soon as `durable` completes. The report about its end is sent even if the task panics.
    pub(in crate::io) fn start(
        &mut self,
        http: Result<Arc<Http>, InputFlaw>,
        transfer: FileTransfer,
        durable: oneshot::Receiver<()>,
    ) {
        self.tasks.retain(|_, task| !task.is_finished());
        let (id, answers, pace) = (transfer.id, self.answers.clone(), self.pace.clone());
        let reports = answers.clone();
        let receiving = async move {
            // Ignore a failed write, which is reported elsewhere.
            durable.await.ok();
            match http {
                Ok(http) => receive(&http, &transfer, &pace, &reports).await,
                Err(why) => {
                    Err(TransferFailure { cure: Cure::Later(0), why: why.into(), received: 0 })
                }
            }
        };
        // If the outer task is aborted, the inner one is aborted too.
        let task = tokio::spawn(async move {
            let mut receiving = AbortOnDrop(tokio::spawn(receiving));
            let ended = (&mut receiving.0).await.unwrap_or_else(|_| {
                let why = "the file could not be received".to_owned();
                Err(TransferFailure { cure: Cure::Nothing, why, received: 0 })
            });
            let news = ended.map_or_else(DownloadNews::Failed, DownloadNews::Complete);
            answers.send(Input::Download(id, news).into()).ok();
        });
        self.tasks.insert(id, task);
    }

    /// Stops a download, and then deletes these files.
    pub(in crate::io) fn stop(&mut self, id: u32, delete: Vec<String>) {
        let task = self.tasks.remove(&id);
        if let Some(task) = &task {
            task.abort();
        }
        tokio::spawn(async move {
            if let Some(task) = task {
                task.await.ok();
            }
            spawn_blocking(move || {
                for path in delete {
                    // The file may already be gone.
                    fs::remove_file(path).ok();
                }
            });
        });
    }
}

/// Aborts a task when it is dropped.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Number of bytes after which received bytes are written to the disk.
const WRITE_BYTES: usize = 256 * 1024;
/// Interval between two reports of the progress, and maximum time until received bytes are written to the disk.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// Downloads a file. Returns its length in bytes when it is complete.
async fn receive(
    http: &Http,
    transfer: &FileTransfer,
    pace: &SharedPace,
    answers: &UnboundedSender<ScreenInput>,
) -> Result<u64, TransferFailure> {
    let (path, is_new) = (transfer.path.clone(), transfer.is_new);
    let found = on_disk(move || PartFile::open(&path, is_new), 0).await?;
    let mut part = match found {
        FoundPart::Part(part) => part,
        FoundPart::Complete(length) if transfer.version.size.is_none_or(|size| size == length) => {
            return Ok(length);
        }
        FoundPart::Complete(_) | FoundPart::Taken => {
            return Err(failure(Cure::OtherName, "a file of this name is already there", 0));
        }
    };
    let mut version = transfer.version.clone();
    let mut asked = range_request(part.length, &version);
    // If the server does not continue the part, request the whole file.
    for _ in 0..2 {
        let opened = http.open_file(&transfer.request, &headers(asked.as_ref())).await;
        let open = opened.map_err(|error| unanswered(&error, part.length))?;
        let answer = answer_of(&open);
        let wanted = transfer.media_type.as_deref();
        match classify(&answer, asked.as_ref(), &version, wanted, transfer.bytes_max) {
            DownloadVerdict::Continue(now) => version = now,
            DownloadVerdict::Whole(now) => {
                part = on_part(part, PartFile::empty).await?;
                version = now;
            }
            DownloadVerdict::Complete => return finish(part).await,
            DownloadVerdict::StartOver => {
                asked = None;
                continue;
            }
            DownloadVerdict::Retry(why) => {
                return Err(failure(Cure::Later(stated_wait(&open)), &why, part.length));
            }
            DownloadVerdict::Refused(why) => return Err(failure(Cure::Nothing, &why, part.length)),
        }
        let report = Reports { id: transfer.id, answers };
        report.send(DownloadNews::Began(version.clone(), part.length, open.is_unencrypted));
        return receive_body(open, part, &version, transfer, pace, &report).await;
    }
    let why = "the server does not send the file from its start";
    Err(failure(Cure::Later(0), why, part.length))
}

/// Sends reports about one download to the main loop.
struct Reports<'a> {
    id: u32,
    answers: &'a UnboundedSender<ScreenInput>,
}

impl Reports<'_> {
    fn send(&self, news: DownloadNews) {
        self.answers.send(Input::Download(self.id, news).into()).ok();
    }
}

async fn receive_body(
    mut open: OpenFile,
    mut part: PartFile,
    version: &FileVersion,
    transfer: &FileTransfer,
    pace: &SharedPace,
    reports: &Reports<'_>,
) -> Result<u64, TransferFailure> {
    let mut held: Vec<u8> = Vec::with_capacity(WRITE_BYTES);
    let mut reported = clock::instant();
    loop {
        let piece = open.next_piece().await;
        let is_end = !matches!(&piece, Ok(Some(_)));
        if let Ok(Some(piece)) = &piece {
            let bytes = piece.as_ref();
            held.extend_from_slice(bytes);
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            tokio::time::sleep(pace.wait_after(length, transfer.rate).await).await;
        }
        let is_due = reported.elapsed() >= REPORT_EVERY;
        if held.len() >= WRITE_BYTES || is_due || is_end {
            let bytes = std::mem::take(&mut held);
            part = on_part(part, move |part| part.append(&bytes)).await?;
        }
        if is_due {
            reported = clock::instant();
            reports.send(DownloadNews::Received(part.length));
        }
        if let Some(why) = too_large(Some(part.length), transfer.bytes_max) {
            return Err(failure(Cure::Nothing, &why, part.length));
        }
        match piece {
            Ok(Some(_)) => {}
            Ok(None) if part.length == 0 => {
                return Err(failure(Cure::Nothing, "the server sends an empty file", 0));
            }
            Ok(None) if version.size.is_none_or(|size| size == part.length) => {
                return finish(part).await;
            }
            Ok(None) if version.size.is_some_and(|size| part.length > size) => {
                let part = on_part(part, PartFile::empty).await?;
                let why = "the file is longer than its server says";
                return Err(failure(Cure::Later(0), why, part.length));
            }
            Ok(None) => return Err(unanswered(&FetchFailure::CutOff, part.length)),
            Err(error) => return Err(unanswered(&error, part.length)),
        }
    }
}

/// Returns the headers of the request. If a part exists, they request the rest. The file is requested uncompressed, because
/// positions in the part refer to uncompressed bytes.
fn headers(asked: Option<&RangeRequest>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let Some(asked) = asked else { return headers };
    let range = HeaderValue::from_str(&format!("bytes={}-", asked.from));
    let if_range = asked.if_range.as_ref().map(|text| HeaderValue::from_bytes(text.as_bytes()));
    for (name, value) in [(header::RANGE, Some(range)), (header::IF_RANGE, if_range)] {
        if let Some(Ok(value)) = value {
            headers.insert(name, value);
        }
    }
    headers
}

fn answer_of(open: &OpenFile) -> FileAnswer {
    let (status, headers) = open.head();
    let text = |name: HeaderName| {
        headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    FileAnswer {
        status,
        etag: text(header::ETAG),
        last_modified: text(header::LAST_MODIFIED),
        length: text(header::CONTENT_LENGTH).and_then(|length| length.trim().parse().ok()),
        range: text(header::CONTENT_RANGE),
        content_type: text(header::CONTENT_TYPE),
        encoding: text(header::CONTENT_ENCODING),
    }
}

/// Returns how long to wait according to the server, in seconds.
fn stated_wait(open: &OpenFile) -> u32 {
    let (status, _) = open.head();
    let wait = Wait::of_answer(status, &open.times().times(), clock::now());
    wait.map_or(0, |wait| wait.seconds)
}

/// Gives the file its final name. If another file has that name now, the download starts again with another name.
async fn finish(part: PartFile) -> Result<u64, TransferFailure> {
    let length = part.length;
    let finished = on_disk_io(move || part.finish()).await;
    finished.map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            failure(Cure::OtherName, "a file of this name is already there", 0)
        } else {
            unwritten(&error, length)
        }
    })
}

fn failure(cure: Cure, why: &str, received: u64) -> TransferFailure {
    TransferFailure { cure, why: why.to_owned(), received }
}

/// Describes why there is no answer or why the answer ended early. The failure determines whether another attempt may succeed.
fn unanswered(error: &FetchFailure, received: u64) -> TransferFailure {
    let is_final = error.is_of_address()
        || matches!(error, FetchFailure::Redirect(_) | FetchFailure::TooLarge(_));
    let cure = if is_final { Cure::Nothing } else { Cure::Later(0) };
    failure(cure, &error.to_string(), received)
}

fn unwritten(error: &io::Error, received: u64) -> TransferFailure {
    if is_out_of_room(error) {
        let why = format!("there is no room for the file: {}", system_words(error));
        return failure(Cure::Room, &why, received);
    }
    failure(Cure::Nothing, &format!("it cannot be written: {}", system_words(error)), received)
}

/// Changes a part on the blocking pool.
async fn on_part(
    mut part: PartFile,
    change: impl FnOnce(&mut PartFile) -> io::Result<()> + Send + 'static,
) -> Result<PartFile, TransferFailure> {
    let changed = spawn_blocking(move || {
        let done = change(&mut part);
        (part, done)
    });
    match changed.await {
        Ok((part, Ok(()))) => Ok(part),
        Ok((part, Err(error))) => Err(unwritten(&error, part.length)),
        Err(_) => Err(failure(Cure::Nothing, "the file could not be written", 0)),
    }
}

async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
    received: u64,
) -> Result<T, TransferFailure> {
    on_disk_io(work).await.map_err(|error| unwritten(&error, received))
}

/// Runs work on the blocking pool.
async fn on_disk_io<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|_| Err(io::Error::other("a fault of backissue")))
}

/// A file that is being received.
#[derive(Debug)]
struct PartFile {
    file: File,
    path: PathBuf,
    part: PathBuf,
    /// Number of bytes in the part.
    length: u64,
}

/// What was found at the path of a download.
#[derive(Debug)]
enum FoundPart {
    /// A part file, which may be empty.
    Part(PartFile),
    /// The complete file, with its length in bytes.
    Complete(u64),
    /// Another file has this name.
    Taken,
}

impl PartFile {
    /// Opens the part of a file, or creates it and its folder. A new download never uses a name that another file has.
    fn open(path: &str, is_new: bool) -> io::Result<FoundPart> {
        let part = PathBuf::from(format!("{path}{PART}"));
        let path = PathBuf::from(path);
        refuse_data_folder(&path)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let complete = fs::symlink_metadata(&path).ok();
        if is_new && (complete.is_some() || fs::symlink_metadata(&part).is_ok()) {
            return Ok(FoundPart::Taken);
        }
        if let Some(complete) = complete {
            let rest = fs::symlink_metadata(&part).ok();
            let is_same = rest
                .as_ref()
                .is_some_and(|rest| (rest.dev(), rest.ino()) == (complete.dev(), complete.ino()));
            // The program was killed after the file got its final name and before that was noted, or another program wrote a file
            // with this name.
            let is_ours = complete.is_file() && (rest.is_none() || is_same);
            if rest.is_some() {
                fs::remove_file(&part)?;
            }
            return Ok(if is_ours {
                FoundPart::Complete(complete.len())
            } else {
                FoundPart::Taken
            });
        }
        let mut options = OpenOptions::new();
        options.write(true);
        if is_new {
            options.create_new(true);
        } else {
            options.create(true).truncate(false);
        }
        let mut file = open_with(&mut options, &part)?;
        let length = file.seek(SeekFrom::End(0))?;
        Ok(FoundPart::Part(Self { file, path, part, length }))
    }

    /// Empties the part, because the server sends another version of the file.
    fn empty(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.length = 0;
        Ok(())
    }

    /// Appends bytes. If only some of them can be written, the written ones are counted.
    fn append(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    self.length = self.length.saturating_add(u64::try_from(written).unwrap_or(0));
                    bytes = bytes.get(written..).unwrap_or_default();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Gives the complete file its final name, and returns its length in bytes. If another file has that name by now, keeps that
    /// file and deletes the part, because the download starts again with another name.
    fn finish(self) -> io::Result<u64> {
        self.file.sync_all()?;
        // Unlike a rename, this never replaces a file that was created in the meantime.
        match fs::hard_link(&self.part, &self.path) {
            Ok(()) => fs::remove_file(&self.part)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&self.part)?;
                return Err(error);
            }
            // Some file systems do not support hard links.
            Err(_) => fs::rename(&self.part, &self.path)?,
        }
        // If this is not possible, the file may have its former name again after a power cut.
        self.path.parent().map(sync_folder).transpose().ok();
        Ok(self.length)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn opened(path: &str, is_new: bool) -> PartFile {
        match PartFile::open(path, is_new).unwrap() {
            FoundPart::Part(part) => part,
            other @ (FoundPart::Complete(_) | FoundPart::Taken) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_part_grows_and_gets_its_name_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Show/one.mp3").to_string_lossy().into_owned();
        opened(&path, true).append(b"abc").unwrap();
        let mut part = opened(&path, false);
        assert_eq!(part.length, 3);
        part.append(b"def").unwrap();
        assert_eq!(part.finish().unwrap(), 6);
        assert_eq!(fs::read(&path).unwrap(), b"abcdef");
        assert!(matches!(PartFile::open(&path, false).unwrap(), FoundPart::Complete(6)));
        // The program was killed after the new name was created and before the old one was removed.
        fs::hard_link(&path, format!("{path}{PART}")).unwrap();
        assert!(matches!(PartFile::open(&path, false).unwrap(), FoundPart::Complete(6)));
        assert!(!Path::new(&format!("{path}{PART}")).exists());
    }

    #[test]
    fn files_of_something_else_are_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.mp3").to_string_lossy().into_owned();
        fs::write(format!("{path}{PART}"), "other").unwrap();
        assert!(matches!(PartFile::open(&path, true).unwrap(), FoundPart::Taken));
        fs::remove_file(format!("{path}{PART}")).unwrap();
        let mut part = opened(&path, true);
        part.append(b"mine").unwrap();
        fs::write(&path, "other").unwrap();
        assert!(part.finish().is_err());
        assert_eq!(fs::read(&path).unwrap(), b"other");
        // The length shows that it is another file.
        assert!(matches!(PartFile::open(&path, false).unwrap(), FoundPart::Complete(5)));
        std::os::unix::fs::symlink("nowhere", folder.path().join("two.mp3")).unwrap();
        let two = folder.path().join("two.mp3").to_string_lossy().into_owned();
        assert!(matches!(PartFile::open(&two, true).unwrap(), FoundPart::Taken));
    }

    #[test]
    fn another_version_starts_with_an_empty_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.mp3").to_string_lossy().into_owned();
        let mut part = opened(&path, true);
        part.append(b"a long old version").unwrap();
        part.empty().unwrap();
        part.append(b"new").unwrap();
        assert_eq!(part.finish().unwrap(), 3);
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}

//! Receives one file: requests it from where its part ends, writes what arrives, and reports the progress.

use std::io;
use std::time::Duration;

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::spawn_blocking;

use super::SharedPace;
use super::part_file::{FoundPart, PartFile};
use crate::engine::downloads::record::FileVersion;
use crate::engine::downloads::responses::{
    DownloadVerdict, FileAnswer, RangeRequest, classify, range_request, too_large,
};
use crate::engine::downloads::transfer::{Cure, DownloadNews, FileTransfer, TransferFailure};
use crate::engine::input::Input;
use crate::engine::poll::fetch::FetchFailure;
use crate::io::clock;
use crate::io::http::{Http, OpenFile};
use crate::io::system::words::{is_out_of_room, system_words};
use crate::ui::input::ScreenInput;
use backissue_core::schedule::Wait;

/// Number of bytes that are written together.
const WRITE_BYTES: usize = 256 * 1024;
/// Interval between two reports of the progress, and maximum time that received bytes wait to be written.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// Receives a file. Returns its length when it is complete.
pub(super) async fn receive(
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
    // The whole file is requested if the server does not continue the part.
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

/// Returns the headers of the request, with the range if a part is there. The bytes of a part count uncompressed.
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

/// Returns how long the server asks to wait, in seconds.
fn stated_wait(open: &OpenFile) -> u32 {
    let (status, _) = open.head();
    let wait = Wait::of_answer(status, &open.times().times(), clock::now());
    wait.map_or(0, |wait| wait.seconds)
}

/// Gives the file its name. A name that was taken meanwhile is chosen again, which starts the download over.
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

/// Describes why there is no answer, or no end of it. Whether another attempt may help depends on the failure.
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

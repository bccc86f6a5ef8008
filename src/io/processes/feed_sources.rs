//! Fetches the documents of feeds that come from a file or a program, within the limits of a response.
//!
//! A program has its own process group and a mark in its environment. All of its processes are ended when the program ends, takes too
//! long, prints too much, or is no longer waited for. Its output is parsed as a response is, so escapes in it never reach the terminal.

use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::time::timeout;

use super::run_command::{
    COMPLAINT_CHARS_MAX, RunMark, check_end, end_group, not_started, program as program_to_start,
};
use crate::engine::external_command::ExternalCommand;
use crate::engine::external_run::RunFailure;
use crate::engine::poll::fetch::{
    AddressSource, AnswerBody, AnswerHeaders, FetchFailure, FetchRequest, Fetched, RequestKind,
    ServerAnswer,
};
use crate::engine::settings::NetworkSettings;
use crate::engine::start_external::check_allowed;
use crate::io::http::Http;
use crate::io::named_files::expand_home;
use crate::io::system::system_words;
use crate::io::{clock, regular_files};
use backissue_core::feed::opml::subscription_list::FeedSource;
use backissue_core::feed::text::one_line;
use backissue_core::feed::{DocumentRole, HistoryLinks};

/// Maximum running time of a program.
const TIME_MAX: Duration = Duration::from_secs(20);
/// Maximum wait for the rest of the output after a program has ended.
const LEFTOVER: Duration = Duration::from_secs(1);
/// Maximum amount of a program's error messages that is kept, bytes.
const COMPLAINT_BYTES_MAX: u64 = 64 * 1024;

/// Limits of a program.
#[derive(Debug, Clone, Copy)]
struct ProgramLimits {
    time: Duration,
    /// Maximum size of the output, bytes.
    bytes: usize,
}

/// Fetches a document from its source: the network, a file, or a program. Only an address that the user typed leads to a file or a
/// program.
pub(in crate::io) async fn fetch(
    http: &Http,
    settings: &NetworkSettings,
    request: FetchRequest,
) -> Fetched {
    let url = request.url.clone();
    let source = FeedSource::of(&url);
    if source == FeedSource::Web || request.address_source != AddressSource::Typed {
        return http.fetch(request).await;
    }
    let limits = ProgramLimits { time: TIME_MAX, bytes: http.body_max() };
    let mut fetched = Fetched {
        started: clock::precise_now(),
        wire_bytes: 0,
        hops: Vec::new(),
        conditional: false,
        result: Ok(whole_answer(&url)),
    };
    let bytes = match check_allowed(&url, settings) {
        Err(why) => Err(FetchFailure::Address(why.into())),
        Ok(()) => match source {
            FeedSource::Web | FeedSource::File => read_file(url.clone(), limits.bytes).await,
            FeedSource::Program(command) => run(command, &[], limits).await,
            FeedSource::Filter { command, url } => {
                let (arrived, bytes) = http.fetch_kept(inner(request, url)).await;
                fetched = without_redirects(arrived);
                match &fetched.result {
                    Ok(answer) if matches!(answer.status, 200 | 203) => {
                        run(command, &bytes, limits).await
                    }
                    Ok(_) | Err(_) => return fetched,
                }
            }
        },
    };
    fetched.result = match (fetched.result, bytes) {
        (Ok(answer), Ok(bytes)) => {
            fetched.wire_bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            read(http, bytes, answer).await
        }
        (Err(failure), _) | (_, Err(failure)) => Err(failure),
    };
    fetched
}

/// Returns an answer whose body is still missing. Its links are restricted like those of a public site, because the program may
/// pass on content from the web.
fn whole_answer(url: &str) -> ServerAnswer {
    ServerAnswer {
        status: 200,
        url: url.to_owned(),
        public: true,
        received: clock::now(),
        headers: AnswerHeaders::default(),
        body: AnswerBody::Unread,
    }
}

/// Returns the request for the document that a filter program reads: always for the whole document, never for a delta.
fn inner(request: FetchRequest, url: &str) -> FetchRequest {
    let is_delta = request.kind == RequestKind::Delta;
    let kind = if is_delta { RequestKind::Usual } else { request.kind };
    FetchRequest { kind, url: url.to_owned(), ..request }
}

/// Removes the redirects from the result of a filter program: the feed keeps its address, because a new address would remove the
/// filter.
fn without_redirects(mut fetched: Fetched) -> Fetched {
    let is_redirected = !std::mem::take(&mut fetched.hops).is_empty();
    if let Ok(answer) = &mut fetched.result
        && answer.status == 410
        && is_redirected
    {
        // Only the address itself can state that the feed ended (SPEC D.2).
        answer.status = 404;
    }
    fetched
}

/// Parses a document. A file or program has no archives and does not move, so the links that say so are removed.
async fn read(
    http: &Http,
    bytes: Vec<u8>,
    answer: ServerAnswer,
) -> Result<ServerAnswer, FetchFailure> {
    let body = http.read_document(bytes, answer.url.clone()).await;
    let mut body =
        body.ok_or_else(|| FetchFailure::Protocol("the output could not be read".to_owned()))?;
    if let AnswerBody::Document(document) = &mut body {
        let complete = document.history.complete;
        document.history = HistoryLinks { complete, ..HistoryLinks::default() };
        document.role = if complete { DocumentRole::Complete } else { DocumentRole::Plain };
        document.new_location = None;
    } else if let AnswerBody::Page { .. } = body {
        return Err(FetchFailure::Protocol("not a feed but a web page".to_owned()));
    }
    Ok(ServerAnswer { body, ..answer })
}

async fn read_file(url: String, bytes_max: usize) -> Result<Vec<u8>, FetchFailure> {
    let failed = |why: String| FetchFailure::Protocol(format!("the file cannot be read: {why}"));
    let path = url::Url::parse(&url).ok().and_then(|url| url.to_file_path().ok());
    let path = path.ok_or_else(|| FetchFailure::Address(format!("'{url}' is not a path")))?;
    let bytes_max = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    let read = move || regular_files::read(Path::new(&path), bytes_max);
    let read = tokio::task::spawn_blocking(read).await;
    let read = read.map_err(|_| failed("the program failed".to_owned()))?;
    read.map_err(|error| failed(system_words(&error)))
}

/// The process group of a program, which is ended when this value is dropped, and the mark of its processes.
struct Group(Option<u32>, RunMark);

impl Drop for Group {
    fn drop(&mut self) {
        end_group(self.0, &self.1);
    }
}

/// Runs a program and returns its output. The error gives the first line of the program's error messages.
async fn run(command: &str, input: &[u8], limits: ProgramLimits) -> Result<Vec<u8>, FetchFailure> {
    let command =
        ExternalCommand::typed(command).map_err(|why| FetchFailure::Address(why.into()))?;
    let program = one_line(command.program(), COMPLAINT_CHARS_MAX);
    let failed = |failure: RunFailure| FetchFailure::Protocol(failure.to_string());
    let stdin = input_file(input)
        .map_err(|error| failed(RunFailure::NoInput(program.clone(), system_words(&error))))?;
    let mut started = Command::from(program_to_start(expand_home(command.program())));
    started.args(command.arguments().iter().map(|word| expand_home(word))).process_group(0);
    started.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mark = RunMark::new();
    started.env(RunMark::VARIABLE, &mark.0);
    let mut child = started.spawn().map_err(|error| failed(not_started(&program, &error)))?;
    let group = Group(child.id(), mark);
    let mut complaint = tokio::spawn(first_bytes(child.stderr.take()));
    let mut output = Vec::new();
    let stdout = child.stdout.take();
    let bytes_max = u64::try_from(limits.bytes).unwrap_or(u64::MAX);
    let work = async {
        let mut reading = std::pin::pin!(async {
            let Some(stdout) = stdout else { return Ok(0) };
            stdout.take(bytes_max.saturating_add(1)).read_to_end(&mut output).await
        });
        tokio::select! {
            // The output ended, or is too large.
            read = &mut reading => match read {
                Ok(length) if length > limits.bytes => None,
                Ok(_) | Err(_) => Some((child.wait().await, true)),
            },
            ended = child.wait() => {
                let rest = timeout(LEFTOVER, &mut reading).await;
                let is_whole = rest.is_ok_and(|read| read.is_ok_and(|length| length <= limits.bytes));
                Some((ended, is_whole))
            }
        }
    };
    let worked = timeout(limits.time, work).await;
    drop(group);
    let told = timeout(LEFTOVER, &mut complaint).await;
    // A process that left the process group may keep the error output open.
    complaint.abort();
    let Ok(worked) = worked else {
        return Err(failed(RunFailure::TooSlow(program, limits.time.as_secs())));
    };
    let Some((ended, is_whole)) = worked.filter(|_| output.len() <= limits.bytes) else {
        let kib = limits.bytes / 1024;
        return Err(FetchFailure::TooLarge(format!(
            "{program} was stopped after more than {kib} KiB"
        )));
    };
    let told = told.ok().and_then(Result::ok).unwrap_or_default();
    let mut lines = told.lines().map(str::trim);
    check_end(&program, ended, lines.find(|line| !line.is_empty())).map_err(failed)?;
    if !is_whole {
        return Err(FetchFailure::Protocol(format!(
            "{program} ended, but a process that it started kept the output open"
        )));
    }
    Ok(output)
}

/// Returns a file as the standard input of a program, so that a program that does not read its input still ends.
fn input_file(input: &[u8]) -> io::Result<Stdio> {
    if input.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(input)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file.into())
}

/// Reads error messages to their end and returns the first [`COMPLAINT_BYTES_MAX`] bytes.
async fn first_bytes(stream: Option<impl AsyncRead + Unpin + Send>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let mut bytes = Vec::new();
    (&mut stream).take(COMPLAINT_BYTES_MAX).read_to_end(&mut bytes).await.ok();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await.ok();
    text
}

#[cfg(test)]
#[path = "feed_sources_tests.rs"]
mod tests;

//! Follows mpv through its socket: the position in the file, and whether the end was reached. Other players are not followed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{sleep, timeout};

use crate::engine::downloads::record::PlayerNews;
use crate::engine::external_run::{ExternalRun, RunFailure, RunPurpose};
use crate::engine::request::Input;
use crate::ui::update::ScreenInput;

/// Interval between two requests for the position.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// Number of requests after which the position is reported.
const REPORT_AFTER: u32 = 5;
/// Pause between two attempts to connect to the socket of a player that is starting.
const CONNECT_EVERY: Duration = Duration::from_millis(100);
/// Maximum number of attempts to connect to the socket.
const CONNECTS_MAX: u32 = 100;
/// Maximum length of a line from the player, in bytes.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// Ids of the requests.
const POSITION: u64 = 1;
const DURATION: u64 = 2;

/// Prepares the start of a player, and follows the player if it is mpv. Does nothing for other programs.
pub(in crate::io) fn prepare(
    run: &mut ExternalRun,
    answers: &UnboundedSender<ScreenInput>,
) -> Result<(), RunFailure> {
    let RunPurpose::Play(id) = run.purpose else { return Ok(()) };
    let paths = run.command.arguments().iter().filter(|word| word.starts_with('/'));
    if let Some(gone) = paths.map(Path::new).find(|path| !path.exists()) {
        return Err(RunFailure::FileGone(gone.display().to_string()));
    }
    if !run.command.is_mpv() {
        return Ok(());
    }
    // Only this user can access the folder. If it cannot be created, mpv plays, but its position is not remembered.
    let Ok(folder) = tempfile::Builder::new().prefix("backissue-player-").tempdir() else {
        return Ok(());
    };
    let socket = folder.path().join("mpv");
    let option = format!("--input-ipc-server={}", socket.display());
    run.command = run.command.with_options(vec![option]);
    tokio::spawn(follow(id, socket, folder, answers.clone()));
    Ok(())
}

/// Requests the position of the player until the player ends.
async fn follow(id: u32, socket: PathBuf, folder: TempDir, answers: UnboundedSender<ScreenInput>) {
    let Some(stream) = connect(&socket).await else { return };
    let (from, mut to) = stream.into_split();
    let mut lines = BufReader::new(from);
    let mut state = Followed::default();
    let (mut asked, mut told) = (0_u32, None);
    loop {
        let questions = format!(
            "{}\n{}\n",
            json!({ "command": ["get_property", "time-pos"], "request_id": POSITION }),
            json!({ "command": ["get_property", "duration"], "request_id": DURATION })
        );
        let is_open = to.write_all(questions.as_bytes()).await.is_ok();
        let ended = timeout(ASK_EVERY, read_lines(&mut lines, &mut state)).await.is_ok();
        asked = asked.saturating_add(1);
        let is_over = ended || !is_open;
        if is_over || asked.is_multiple_of(REPORT_AFTER) {
            let news = state.news();
            if news != told {
                told = news;
                if let Some(news) = news {
                    answers.send(Input::Playing(id, news).into()).ok();
                }
            }
        }
        if is_over {
            break;
        }
    }
    drop(folder);
}

async fn connect(socket: &Path) -> Option<UnixStream> {
    for _ in 0..CONNECTS_MAX {
        if let Ok(stream) = UnixStream::connect(socket).await {
            return Some(stream);
        }
        sleep(CONNECT_EVERY).await;
    }
    None
}

/// Reads lines until the player closes the socket. Dropping this future loses no complete line.
async fn read_lines(lines: &mut BufReader<tokio::net::unix::OwnedReadHalf>, state: &mut Followed) {
    loop {
        let Ok(bytes) = lines.fill_buf().await else { return };
        if bytes.is_empty() {
            return;
        }
        let length = bytes.len();
        for byte in bytes {
            match byte {
                b'\n' => {
                    let line = std::mem::take(&mut state.line);
                    state.take_line(&line);
                }
                byte if state.line.len() < LINE_BYTES_MAX => state.line.push(*byte),
                _ => {}
            }
        }
        lines.consume(length);
    }
}

/// The state of the player according to its messages so far.
#[derive(Debug, Default)]
struct Followed {
    /// Beginning of an incomplete line.
    line: Vec<u8>,
    position: Option<u32>,
    duration: Option<u32>,
    at_end: bool,
}

impl Followed {
    /// Takes an answer or an event of the player. Anything else is ignored.
    fn take_line(&mut self, line: &[u8]) {
        let Ok(told) = serde_json::from_slice::<Value>(line) else { return };
        let seconds = told.get("data").and_then(Value::as_f64).and_then(whole_seconds);
        match told.get("request_id").and_then(Value::as_u64) {
            Some(POSITION) => self.position = seconds.or(self.position),
            Some(DURATION) => self.duration = seconds.or(self.duration),
            Some(_) | None => {}
        }
        let text = |name: &str| told.get(name).and_then(Value::as_str).unwrap_or_default();
        match text("event") {
            "end-file" => self.at_end = text("reason") == "eof",
            // The player plays the file again.
            "start-file" => self.at_end = false,
            _ => {}
        }
    }

    fn news(&self) -> Option<PlayerNews> {
        let (position, at_end) = (self.position.unwrap_or_default(), self.at_end);
        let is_known = self.position.is_some() || at_end;
        is_known.then_some(PlayerNews { position, duration: self.duration, at_end })
    }
}

/// Returns a number of seconds without its fraction, or `None` if it is negative or too large.
fn whole_seconds(seconds: f64) -> Option<u32> {
    u32::try_from(Duration::try_from_secs_f64(seconds).ok()?.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_and_events_of_the_player_are_read() {
        let mut state = Followed::default();
        assert_eq!(state.news(), None);
        for (line, position, duration, at_end) in [
            (r#"{"data":12.9,"request_id":1,"error":"success"}"#, Some(12), None, false),
            (r#"{"data":3600.2,"request_id":2,"error":"success"}"#, Some(12), Some(3600), false),
            (r#"{"request_id":1,"error":"property unavailable"}"#, Some(12), Some(3600), false),
            (r#"{"data":-1.0,"request_id":1}"#, Some(12), Some(3600), false),
            (r#"{"data":1e300,"request_id":1}"#, Some(12), Some(3600), false),
            ("not JSON", Some(12), Some(3600), false),
            (r#"{"event":"end-file","reason":"quit"}"#, Some(12), Some(3600), false),
            (r#"{"event":"end-file","reason":"eof"}"#, Some(12), Some(3600), true),
        ] {
            state.take_line(line.as_bytes());
            let expected = PlayerNews { position: position.unwrap_or(0), duration, at_end };
            assert_eq!(state.news(), Some(expected), "{line}");
        }
    }
}

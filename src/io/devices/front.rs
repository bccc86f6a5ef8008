//! What a device meets first: the login, the check of its token, and the process that has the store, which may be another one than the
//! one that listens. The listener stays while readers take the store and give it back.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use backissue_core::accounts::served::{ATOM_PATH, check_query, field, write_user};
use percent_encoding::percent_decode_str;
use tokio::sync::watch;

use super::device_file::{DeviceFile, action_token};
use super::dispatch::reply;
use super::replies::{DeviceCall, DeviceReply};
use crate::demo::{accepts_gzip, gzip};
use crate::io::clock;
use crate::io::loop_handle::LoopHandle;
use crate::io::owner::client::{Client, RunEnd};
use crate::io::publisher::server::{PublisherAnswer, PublisherRequest};
use crate::io::store::owner_socket;

/// Path of the API, where clients of `FreshRSS` look for it.
pub const API_PATH: &str = "/api/greader.php";
/// Longest body of a request: ten thousand ids.
pub const BODY_MAX: usize = 1024 * 1024;
/// Longest wait for a process that has the store, while it changes hands.
const STORE_WAIT: Duration = Duration::from_secs(30);
const STORE_PAUSE: Duration = Duration::from_millis(20);
/// Wrong passwords and tokens from one address until it has to wait, and how long they count.
const WRONG_MAX: usize = 10;
const WRONG_TIME: Duration = Duration::from_mins(1);
/// Most addresses whose wrong passwords are counted.
const WRONG_FROM_MAX: usize = 1_000;
/// Minimum size in bytes of an answer that is compressed.
const GZIP_BYTES_MIN: usize = 512;
/// The command line that asks the process that has the store.
const ASK_OWNER: [&str; 3] = ["backissue", "device", "answer"];

/// Answers devices.
#[derive(Debug)]
pub struct DeviceServer {
    file: DeviceFile,
    data: PathBuf,
    /// The store, while this process has it.
    store: watch::Sender<Option<LoopHandle>>,
    wrong: watch::Sender<BTreeMap<IpAddr, Vec<Instant>>>,
}

impl DeviceServer {
    /// Creates a server for the devices in a file and the store in a data folder.
    pub fn new(file: DeviceFile, data: PathBuf) -> Self {
        let (store, wrong) = (watch::Sender::new(None), watch::Sender::default());
        Self { file, data, store, wrong }
    }

    /// Notes that this process has the store, or no longer has it.
    pub fn has_store(&self, handle: Option<LoopHandle>) {
        self.store.send_replace(handle);
    }

    /// Answers a request. It may wait for the store.
    pub fn answer(&self, request: &PublisherRequest) -> PublisherAnswer {
        let mut answer = self.answered(request);
        if answer.body.len() >= GZIP_BYTES_MIN
            && accepts_gzip(request.header("accept-encoding"))
            && let Some(body) = gzip(&answer.body)
        {
            answer.body = body;
            answer.headers.push(("content-encoding".to_owned(), "gzip".to_owned()));
        }
        for (name, value) in [("cache-control", "no-store"), ("x-content-type-options", "nosniff")]
        {
            answer.headers.push((name.to_owned(), value.to_owned()));
        }
        answer
    }

    fn answered(&self, request: &PublisherRequest) -> PublisherAnswer {
        let path = percent_decode_str(request.path()).decode_utf8().unwrap_or_default();
        let Some(path) = path.strip_prefix(API_PATH) else {
            return PublisherAnswer::plain(404, "nothing is here\n");
        };
        let query = request.query().unwrap_or_default();
        if let Err(fault) = check_query(query) {
            return PublisherAnswer::plain(400, format!("{fault}\n"));
        }
        let form = match request.method.as_str() {
            "POST" => match std::str::from_utf8(&request.body) {
                Ok(form) => Some(form.to_owned()),
                Err(_) => return PublisherAnswer::plain(400, "the form is not UTF-8\n"),
            },
            "GET" => None,
            _ => return PublisherAnswer::plain(405, "only GET and POST are allowed\n"),
        };
        match (path.trim_end_matches('/'), form.as_deref()) {
            ("" | "/check/compatibility", _) => return PublisherAnswer::plain(200, "OK"),
            ("/accounts/ClientLogin", Some(form)) => return self.log_in(request.from, form),
            ("/accounts/ClientLogin", None) => {
                return PublisherAnswer::plain(400, "the login must be a POST\n");
            }
            _ => {}
        }
        let atom = path.strip_prefix("/reader/").filter(|path| path.starts_with(ATOM_PATH));
        let Some(path) = path.strip_prefix("/reader/api/0/").or(atom) else {
            return PublisherAnswer::plain(404, "nothing is here\n");
        };
        let Some((device, token)) = self.let_in(request) else { return self.refuse(request.from) };
        match path {
            "token" => PublisherAnswer::plain(200, action_token(&token)),
            "user-info" => typed("application/json", write_user(&device)),
            _ => {
                let (path, query) = (path.to_owned(), query.to_owned());
                let answered = self.ask(&DeviceCall { device, path, query, form });
                match answered {
                    DeviceReply { status: 200, text } if text == "OK" => {
                        PublisherAnswer::plain(200, text)
                    }
                    DeviceReply { status: 200, text } if atom.is_some() => {
                        typed("application/atom+xml", text)
                    }
                    DeviceReply { status: 200, text } => typed("application/json", text),
                    DeviceReply { status, text } => {
                        PublisherAnswer::plain(status, format!("{text}\n"))
                    }
                }
            }
        }
    }

    fn log_in(&self, from: IpAddr, form: &str) -> PublisherAnswer {
        let (Some(name), Some(password)) = (field(form, "Email"), field(form, "Passwd")) else {
            return PublisherAnswer::plain(400, "the name or the password is missing\n");
        };
        // A file that cannot be read lets nobody in.
        match self.file.log_in(&name, &password) {
            Ok(Some(token)) => {
                let value = format!("{name}/{token}");
                PublisherAnswer::plain(200, format!("SID={value}\nLSID=null\nAuth={value}\n"))
            }
            Ok(None) | Err(_) => self.refuse(from),
        }
    }

    /// Returns the name and the token of a device with a valid token, which is taken from the header only.
    fn let_in(&self, request: &PublisherRequest) -> Option<(String, String)> {
        let value = request.header("authorization")?.strip_prefix("GoogleLogin auth=")?;
        let (name, token) = value.trim().split_once('/')?;
        let is_valid = self.file.is_valid(name, token).unwrap_or(false);
        is_valid.then(|| (name.to_owned(), token.to_owned()))
    }

    /// Refuses a wrong password or token. Only these are limited; who has a valid one never waits for others.
    fn refuse(&self, from: IpAddr) -> PublisherAnswer {
        let now = clock::instant();
        let mut count = 0;
        self.wrong.send_modify(|wrong| {
            for times in wrong.values_mut() {
                times.retain(|time| now.duration_since(*time) < WRONG_TIME);
            }
            wrong.retain(|_, times| !times.is_empty());
            if wrong.len() < WRONG_FROM_MAX || wrong.contains_key(&from) {
                let times = wrong.entry(from).or_default();
                if times.len() <= WRONG_MAX {
                    times.push(now);
                }
                count = times.len();
            }
        });
        let mut answer = if count > WRONG_MAX {
            let mut answer = PublisherAnswer::plain(429, "too many wrong passwords\n");
            let seconds = WRONG_TIME.as_secs().to_string();
            answer.headers.push(("retry-after".to_owned(), seconds));
            answer
        } else {
            PublisherAnswer::plain(401, "Unauthorized!")
        };
        answer.headers.push(("google-bad-token".to_owned(), "true".to_owned()));
        answer
    }

    /// Asks the process that has the store. Requests can be repeated: each names the state that it wants.
    fn ask(&self, call: &DeviceCall) -> DeviceReply {
        let began = clock::instant();
        loop {
            let handle = self.store.borrow().clone();
            let reply = match handle {
                Some(handle) => reply(&handle, call).ok(),
                None => self.ask_owner(call),
            };
            if let Some(reply) = reply {
                return reply;
            }
            if began.elapsed() > STORE_WAIT {
                let text = "the store is busy; try again".to_owned();
                return DeviceReply { status: 503, text };
            }
            std::thread::sleep(STORE_PAUSE);
        }
    }

    fn ask_owner(&self, call: &DeviceCall) -> Option<DeviceReply> {
        let client = Client::connect(&owner_socket(&self.data)?).ok()?;
        let call = serde_json::to_vec(call).ok()?;
        let (end, text) = client.ask(ASK_OWNER.map(str::to_owned).to_vec(), call);
        if end != RunEnd::Ended(0, None) {
            return None;
        }
        serde_json::from_str(&text).ok()
    }
}

fn typed(media_type: &str, text: String) -> PublisherAnswer {
    let headers = vec![("content-type".to_owned(), format!("{media_type}; charset=utf-8"))];
    PublisherAnswer { status: 200, headers, body: text.into_bytes() }
}

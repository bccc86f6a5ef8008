//! The first steps for each request of a device: the login, the check of the token, and finding the process that has the store.
//! That process may be another one than the listening process, which keeps its port while other processes take over the store. The port
//! stays open while the store is handed over.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use backissue_core::accounts::served;
use backissue_core::accounts::served::{ATOM_PATH, check_query, field, write_user};
use backissue_core::{InputFlaw, flaw};
use chrono::{DateTime, TimeDelta, Utc};
use percent_encoding::percent_decode_str;
use tokio::sync::{oneshot, watch};

use super::device_file::{DeviceFile, action_token};
use super::replies::{self, DeviceCall, DeviceReply, ReplyFault};
use super::{changes, page, page_gate, page_html};
use crate::demo::{accepts_gzip, gzip};
use crate::engine::settings::{ServeSettings, Settings};
use crate::io::answers::LoopEnded;
use crate::io::clock;
use crate::io::http_server::{HttpServer, ServedAnswer, ServedRequest};
use crate::io::loop_handle::LoopHandle;
use crate::io::owner::client::{Client, RunEnd};
use crate::io::pictures::PictureCache;
use crate::io::store::{DeviceRecord, Store, StoreError, owner_socket};
use crate::io::system::system_words;

/// Path of the API, where clients of `FreshRSS` look for it.
pub const API_PATH: &str = "/api/greader.php";
/// Maximum size of the body of a request in bytes, enough for ten thousand ids.
pub const BODY_MAX: usize = 1024 * 1024;
/// How long to wait for a process that has the store, for instance while the store is handed over.
const STORE_WAIT: Duration = Duration::from_secs(30);
const STORE_PAUSE: Duration = Duration::from_millis(20);
/// Number of wrong passwords and tokens from one address after which the address must wait, and the time for which each counts.
const WRONG_MAX: usize = 10;
const WRONG_TIME: Duration = Duration::from_mins(1);
/// Maximum number of addresses whose wrong passwords are counted.
const WRONG_FROM_MAX: usize = 1_000;
/// Minimum size in bytes of an answer that is compressed.
const GZIP_BYTES_MIN: usize = 512;
/// The command line that is sent to the process that has the store.
const ASK_OWNER: [&str; 3] = ["backissue", "device", "answer"];

/// Answers devices.
#[derive(Debug)]
pub struct DeviceServer {
    file: DeviceFile,
    data: PathBuf,
    /// Handle to the store while this process has it, otherwise `None`.
    store: watch::Sender<Option<LoopHandle>>,
    wrong: watch::Sender<BTreeMap<IpAddr, Vec<Instant>>>,
    settings: ServeSettings,
}

impl DeviceServer {
    /// Creates a server for the devices in a file and the store in a data folder.
    pub fn new(file: DeviceFile, data: PathBuf, settings: ServeSettings) -> Self {
        let (store, wrong) = (watch::Sender::new(None), watch::Sender::default());
        Self { file, data, store, wrong, settings }
    }

    /// Notes that this process has the store, or no longer has it.
    pub fn has_store(&self, handle: Option<LoopHandle>) {
        self.store.send_replace(handle);
    }

    /// Answers a request. This may wait for the store.
    pub fn answer(&self, request: &ServedRequest) -> ServedAnswer {
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

    fn answered(&self, request: &ServedRequest) -> ServedAnswer {
        let path = percent_decode_str(request.path()).decode_utf8().unwrap_or_default();
        let query = request.query().unwrap_or_default();
        if let Err(fault) = check_query(query) {
            return ServedAnswer::plain(400, format!("{fault}\n"));
        }
        let form = match request.method.as_str() {
            "POST" => match std::str::from_utf8(&request.body) {
                Ok(form) => Some(form.to_owned()),
                Err(_) => return ServedAnswer::plain(400, "the form is not UTF-8\n"),
            },
            "GET" => None,
            _ => return ServedAnswer::plain(405, "only GET and POST are allowed\n"),
        };
        let Some(path) = path.strip_prefix(API_PATH) else {
            return page_gate::sealed(self.page(request, &path, form));
        };
        // Some apps join an address that ends with a slash and a path that begins with one.
        let slashes = path.len().saturating_sub(path.trim_start_matches('/').len());
        let path = path.get(slashes.saturating_sub(1)..).unwrap_or_default();
        match (path.trim_end_matches('/'), form.as_deref()) {
            ("" | "/check/compatibility", _) => return ServedAnswer::plain(200, "OK"),
            ("/accounts/ClientLogin", Some(form)) => return self.log_in(request, form),
            ("/accounts/ClientLogin", None) => {
                return ServedAnswer::plain(400, "the login must be a POST\n");
            }
            _ => {}
        }
        let atom = path.strip_prefix("/reader/").filter(|path| path.starts_with(ATOM_PATH));
        let Some(path) = path.strip_prefix("/reader/api/0/").or(atom) else {
            return ServedAnswer::plain(404, "nothing is here\n");
        };
        let Some((device, token)) = self.let_in(request) else { return self.refuse(request) };
        // As with FreshRSS, clients may omit this token, because the token in the header is checked.
        let given = form.as_deref().and_then(|form| field(form, "T")).unwrap_or_default();
        if !["", "x", &action_token(&token)].contains(&given.as_str()) {
            return self.refuse(request);
        }
        match path {
            "token" => ServedAnswer::plain(200, action_token(&token)),
            "user-info" => typed("application/json", write_user(&device)),
            _ => {
                let (path, query) = (path.to_owned(), query.to_owned());
                let answered = self.ask(&DeviceCall { device, path, query, form, page: None });
                match answered {
                    DeviceReply { status: 200, text } if text == "OK" => {
                        ServedAnswer::plain(200, text)
                    }
                    DeviceReply { status: 200, text } if atom.is_some() => {
                        typed("application/atom+xml", text)
                    }
                    DeviceReply { status: 200, text } => typed("application/json", text),
                    DeviceReply { status, text } => {
                        ServedAnswer::plain(status, format!("{text}\n"))
                    }
                }
            }
        }
    }

    fn log_in(&self, request: &ServedRequest, form: &str) -> ServedAnswer {
        let (Some(name), Some(password)) = (field(form, "Email"), field(form, "Passwd")) else {
            return ServedAnswer::plain(400, "the name or the password is missing\n");
        };
        // If the file cannot be read, nobody can log in.
        match self.file.log_in(&name, &password) {
            Ok(Some(token)) => {
                let value = format!("{name}/{token}");
                ServedAnswer::plain(200, format!("SID={value}\nLSID=null\nAuth={value}\n"))
            }
            Ok(None) | Err(_) => self.refuse(request),
        }
    }

    /// Returns the name and the token of a device with a valid token, which is taken from the header only.
    fn let_in(&self, request: &ServedRequest) -> Option<(String, String)> {
        let value = request.header("authorization")?.strip_prefix("GoogleLogin auth=")?;
        let (name, token) = value.trim().split_once('/')?;
        let is_valid = self.file.is_valid(name, token).unwrap_or(false);
        is_valid.then(|| (name.to_owned(), token.to_owned()))
    }

    /// Answers a browser. Every page except the login requires the cookie.
    fn page(&self, request: &ServedRequest, path: &str, form: Option<String>) -> ServedAnswer {
        let hosts = &self.settings.hosts;
        if !page_gate::is_own_host(request, hosts) {
            let why = "this name is not known here: add it to hosts in [serve] of config.toml\n";
            return ServedAnswer::plain(421, why);
        }
        if form.is_some() && !page_gate::is_own_form(request, hosts) {
            return ServedAnswer::plain(403, "this form is of another site\n");
        }
        match (path, form.as_deref()) {
            ("/style.css", None) => return typed("text/css", page_html::STYLE.to_owned()),
            ("/login", Some(form)) => return self.log_in_browser(request, form),
            _ => {}
        }
        let session = page_gate::session(request);
        let is_valid = |(name, token): &(String, String)| self.file.is_valid(name, token);
        let has_cookie = session.is_some();
        let Some((device, token)) = session.filter(|it| is_valid(it).unwrap_or(false)) else {
            let is_much = has_cookie && self.count_wrong(request);
            return html_page(if is_much { 429 } else { 401 }, page_html::login(""));
        };
        let token = action_token(&token);
        if form.as_deref().is_some_and(|form| field(form, "T").as_ref() != Some(&token)) {
            let why = "this form is not of this login: go back and load the page again\n";
            return ServedAnswer::plain(403, why);
        }
        let query = request.query().unwrap_or_default().to_owned();
        match (path, &form) {
            ("/logout", Some(_)) => {
                let mut answer = page_gate::lead_to("./");
                answer.headers.push(page_gate::cookie(request, None));
                return answer;
            }
            ("/picture", None) => return self.picture(&query),
            _ => {}
        }
        let call = DeviceCall { device, path: path.to_owned(), query, form, page: Some(token) };
        match self.ask(&call) {
            DeviceReply { status: 200, text } => html_page(200, text),
            DeviceReply { status: 303, text } => page_gate::lead_to(&text),
            DeviceReply { status, text } => ServedAnswer::plain(status, format!("{text}\n")),
        }
    }

    fn log_in_browser(&self, request: &ServedRequest, form: &str) -> ServedAnswer {
        let given = |name| field(form, name).unwrap_or_default();
        let (name, password) = (given("Email"), given("Passwd"));
        // If the file cannot be read, nobody can log in.
        if let Ok(Some(token)) = self.file.log_in(name.trim(), &password) {
            let value = format!("{}/{token}", name.trim());
            let mut answer = page_gate::lead_to("./");
            answer.headers.push(page_gate::cookie(request, Some(&value)));
            return answer;
        }
        if self.count_wrong(request) {
            let text = "Too many wrong passwords: try again in a minute.";
            return html_page(429, page_html::login(text));
        }
        html_page(401, page_html::login("That is not the password of this device."))
    }

    /// Returns a picture of an entry. Only stored pictures are shown; none is fetched.
    fn picture(&self, query: &str) -> ServedAnswer {
        let cache = PictureCache::beside(&self.data);
        let found = field(query, "of").and_then(|name| cache.find_named(&name));
        let known = found.and_then(|body| Some((image::guess_format(&body).ok()?, body)));
        let Some((format, body)) = known else {
            return ServedAnswer::plain(404, "nothing is here\n");
        };
        let headers = vec![("content-type".to_owned(), format.to_mime_type().to_owned())];
        ServedAnswer { status: 200, headers, body }
    }

    /// Returns the address of the client. If the request comes from the configured proxy, this is the last address in its header.
    fn client(&self, request: &ServedRequest) -> IpAddr {
        let is_proxy = self.settings.proxy == Some(request.from);
        // The proxy adds the last address. Anybody can have written the others.
        let stated = request.headers.iter().rev().find(|(name, _)| name == "x-forwarded-for");
        let last = stated.filter(|_| is_proxy);
        let last = last.and_then(|(_, list)| list.rsplit(',').next()?.trim().parse().ok());
        last.unwrap_or(request.from)
    }

    /// Counts a wrong password or token. Returns whether this client has sent too many. Only wrong ones are limited, so a client
    /// with a valid token never has to wait.
    fn count_wrong(&self, request: &ServedRequest) -> bool {
        let (from, now) = (self.client(request), clock::instant());
        // If too many addresses are wrong at once, a new one has to wait, too.
        let mut count = usize::MAX;
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
        count > WRONG_MAX
    }

    /// Refuses a wrong password or token of an app.
    fn refuse(&self, request: &ServedRequest) -> ServedAnswer {
        let mut answer = if self.count_wrong(request) {
            let mut answer = ServedAnswer::plain(429, "too many wrong passwords\n");
            let seconds = WRONG_TIME.as_secs().to_string();
            answer.headers.push(("retry-after".to_owned(), seconds));
            answer
        } else {
            ServedAnswer::plain(401, "Unauthorized!")
        };
        answer.headers.push(("google-bad-token".to_owned(), "true".to_owned()));
        answer
    }

    /// Sends the request to the process that has the store. It may be sent again, because each request states the wanted result.
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

fn html_page(status: u16, text: String) -> ServedAnswer {
    ServedAnswer { status, ..typed("text/html", text) }
}

fn typed(media_type: &str, text: String) -> ServedAnswer {
    let headers = vec![("content-type".to_owned(), format!("{media_type}; charset=utf-8"))];
    ServedAnswer { status: 200, headers, body: text.into_bytes() }
}

/// An open port. A thread serves it until this value is dropped.
#[derive(Debug)]
pub struct DevicePort {
    /// Answers the requests.
    pub server: Arc<DeviceServer>,
    /// Address of the page for browsers, without a slash at its end.
    pub base: String,
    /// Notes about the port for the user.
    pub notes: Vec<&'static str>,
    /// Closes the port when it is dropped.
    _open: oneshot::Sender<()>,
}

/// Reads the address of the port: the number of a port of this machine, or an IP address with a port.
pub fn read_address(typed: &str) -> Result<SocketAddr, InputFlaw> {
    let of_port = |port| (Ipv4Addr::LOCALHOST, port).into();
    let read = typed.parse().map(of_port).or_else(|_| typed.parse());
    read.map_err(|_| {
        flaw!("use a port such as 8086, or an address with a port such as 192.168.1.2:8086")
    })
}

impl DevicePort {
    /// Opens the port and starts its thread. The error is a sentence.
    pub fn open(
        settings: &Settings,
        data: PathBuf,
        address: SocketAddr,
    ) -> Result<Self, InputFlaw> {
        let file = DeviceFile::of(settings).ok_or_else(|| {
            flaw!("there is no folder for the configuration, so no device can be let in")
        })?;
        let mut notes = Vec::new();
        if !address.ip().is_loopback() {
            notes.push(
                "not encrypted: others in the network could read passwords and texts; put a web server with TLS in front",
            );
        }
        if file.read()?.is_empty() {
            notes.push("no device is let in: 'backissue device add phone' adds one");
        }
        let server = Arc::new(DeviceServer::new(file, data, settings.serve.clone()));
        let answering = Arc::clone(&server);
        let ((open, closed), (bound, told)) = (oneshot::channel::<()>(), channel());
        let serve = move || {
            let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = built else { return };
            runtime.block_on(async {
                let server = match HttpServer::bind_address(address).await {
                    Ok(server) => server,
                    Err(error) => return drop(bound.send(Err(error))),
                };
                bound.send(Ok(server.base_url())).ok();
                let running =
                    server.serve_slowly(BODY_MAX, move |request| answering.answer(&request));
                closed.await.ok();
                drop(running);
            });
            runtime.shutdown_background();
        };
        let cannot = |why: String| flaw!("{address} cannot be served: {why}");
        let begun = std::thread::Builder::new().name("devices".into()).spawn(serve);
        begun.map_err(|error| cannot(system_words(&error)))?;
        let base = told.recv().map_err(|_| cannot("no thread could be started".to_owned()))?;
        let base = base.map_err(|error| cannot(system_words(&error)))?;
        Ok(Self { server, base, notes, _open: open })
    }

    /// Returns the address to enter in an app.
    pub fn api(&self) -> String {
        format!("{}{API_PATH}", self.base)
    }
}

/// Minimum time between two notes that a device was seen. Each note writes to the store.
const SEEN_AGAIN: TimeDelta = TimeDelta::minutes(10);
/// Number of entries that get their numbers in one job.
const NUMBERS_AT_ONCE: usize = 4_096;

/// Answers a device. Returns an error if this process no longer has the store.
pub fn reply(handle: &LoopHandle, call: &DeviceCall) -> Result<DeviceReply, LoopEnded> {
    match answer(handle, call) {
        Ok(reply) | Err(ReplyFault::Refused(reply)) => Ok(reply),
        Err(ReplyFault::Ended(ended)) => Err(ended),
    }
}

/// Undoes the last change of a device. Returns its description, or `None` if there is none. The error is a sentence.
pub fn undo(handle: &LoopHandle, device: &str) -> Result<Option<String>, String> {
    changes::undo(handle, device).map_err(|fault| match fault {
        ReplyFault::Ended(ended) => ended.to_string(),
        ReplyFault::Refused(reply) => reply.text,
    })
}

fn answer(handle: &LoopHandle, call: &DeviceCall) -> Result<DeviceReply, ReplyFault> {
    if let Some(token) = &call.page {
        let (now, device) = (clock::now(), call.device.clone());
        handle.look(move |store| note_seen(store, &device, now))?;
        return page::answer(handle, call, token);
    }
    let read = served::read_call(&call.path, &call.query, call.form.as_deref());
    let asked = read.map_err(|fault| {
        let status = if fault == served::CallFault::NotOffered { 404 } else { 400 };
        ReplyFault::refused(status, fault.to_string())
    })?;
    prepare(handle, &call.device)?;
    let text = match replies::read(handle, &asked)? {
        Some(text) => text,
        None => changes::carry_out(handle, &call.device, asked)?,
    };
    Ok(DeviceReply { status: 200, text })
}

/// Notes that a device was seen.
fn note_seen(store: &mut Store, device: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
    let seen = store.device_records()?.get(device).and_then(|record| record.seen);
    if seen.is_some_and(|seen| now - seen < SEEN_AGAIN && seen <= now) {
        return Ok(());
    }
    let seen = |record: &mut DeviceRecord| {
        record.seen = Some(now);
        Some(())
    };
    store.change_device(device, now, seen).map(drop)
}

/// Notes that a device was seen, and gives numbers to new entries. Waits until the numbers are durable, so that a number that a
/// device has is never given again. Works in short jobs, so that the keys of the reader need not wait.
fn prepare(handle: &LoopHandle, device: &str) -> Result<(), ReplyFault> {
    let (now, device) = (clock::now(), device.to_owned());
    let mut found = handle.look(move |store| {
        note_seen(store, &device, now)?;
        store.without_number(None)
    })?;
    let mut new = found.0;
    while found.1.is_some() {
        found = handle.look(move |store| store.without_number(found.1))?;
        new.append(&mut found.0);
    }
    if new.is_empty() {
        return Ok(());
    }
    new.sort_unstable();
    let now = u64::try_from(clock::precise_now().timestamp_micros()).unwrap_or_default();
    for piece in new.chunks(NUMBERS_AT_ONCE) {
        let piece = piece.to_vec();
        handle.look(move |store| store.give_numbers(&piece, now))?;
    }
    Ok(handle.wait_until_durable()?)
}

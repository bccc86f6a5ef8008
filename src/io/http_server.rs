//! A small HTTP/1.1 server for the demo's site, for served folders, for devices, and for tests.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use chrono::{DateTime, Utc};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderMap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use crate::demo::{DemoRequest, DemoSite};

/// Maximum number of simultaneous connections, and of connections from one address. Another connection replaces the oldest one
/// that has not sent a request yet, or else the oldest one.
pub const CONNECTIONS_MAX: usize = 64;
const FROM_ONE_MAX: usize = 32;
/// Maximum size of the request line and headers, bytes; a larger request is answered with 431.
pub const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Maximum number of requests in the log; the oldest are dropped first.
pub const REQUESTS_LOGGED_MAX: usize = 4096;
/// Maximum wait for a request on a connection, which is then closed.
const HEAD_WAIT: Duration = Duration::from_secs(10);
/// Maximum wait for a body.
const BODY_WAIT: Duration = Duration::from_secs(30);
/// Pause after a failed accept (such as no free file descriptor), to avoid spinning.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A received request, with lowercase header names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedRequest {
    pub method: String,
    pub path_and_query: String,
    pub headers: Vec<(String, String)>,
    /// The body, if the server reads bodies.
    pub body: Vec<u8>,
    /// Address from which the request was sent.
    pub from: IpAddr,
}

impl ServedRequest {
    pub fn path(&self) -> &str {
        self.path_and_query.split('?').next().unwrap_or_default()
    }

    pub fn query(&self) -> Option<&str> {
        self.path_and_query.split_once('?').map(|(_, query)| query)
    }

    /// Returns the first header with this lowercase name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// A response; `date` and `content-length` are added if they are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl ServedAnswer {
    /// Creates an answer of plain text.
    pub fn plain(status: u16, text: impl Into<String>) -> Self {
        let headers = vec![("content-type".to_owned(), "text/plain; charset=utf-8".to_owned())];
        Self { status, headers, body: text.into().into_bytes() }
    }
}

/// A bound socket on which no connection is accepted yet, so that the responder can be created with the address of the socket.
#[derive(Debug)]
pub struct BoundServer {
    listener: TcpListener,
    address: SocketAddr,
}

/// A running server on a port of 127.0.0.1. Dropping this value ends all connections of the server.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    log: Log,
    serving: AbortHandle,
}

type Log = watch::Sender<VecDeque<ServedRequest>>;

impl HttpServer {
    /// Starts a server on a free port that answers with `respond`.
    pub async fn start<F>(respond: F) -> io::Result<Self>
    where
        F: Fn(ServedRequest) -> ServedAnswer + Send + Sync + 'static,
    {
        Ok(Self::bind().await?.serve(respond))
    }

    /// Binds a free port without serving yet, for a responder that must know the port.
    pub async fn bind() -> io::Result<BoundServer> {
        Self::bind_at(0).await
    }

    /// Binds a port of 127.0.0.1 without serving yet; 0 means any free port.
    pub async fn bind_at(port: u16) -> io::Result<BoundServer> {
        Self::bind_address((Ipv4Addr::LOCALHOST, port).into()).await
    }

    /// Binds an address without serving yet.
    pub async fn bind_address(address: SocketAddr) -> io::Result<BoundServer> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(BoundServer { listener, address })
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns `http://127.0.0.1:PORT`, without a trailing slash.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the last requests, oldest first, at most [`REQUESTS_LOGGED_MAX`].
    pub fn requests(&self) -> Vec<ServedRequest> {
        self.log.borrow().iter().cloned().collect()
    }

    /// Returns the number of logged requests for this path and query.
    pub fn requests_for(&self, path_and_query: &str) -> usize {
        self.log.borrow().iter().filter(|r| r.path_and_query == path_and_query).count()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl BoundServer {
    /// Returns `http://127.0.0.1:PORT`, without a trailing slash.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Starts serving. Must be called within a tokio runtime.
    pub fn serve<F>(self, respond: F) -> HttpServer
    where
        F: Fn(ServedRequest) -> ServedAnswer + Send + Sync + 'static,
    {
        let log = Log::default();
        let noted = log.clone();
        let answer = move |request: Request<Incoming>, from| {
            let request = read(&request, from);
            noted.send_modify(|log| {
                log.push_back(request.clone());
                if log.len() > REQUESTS_LOGGED_MAX {
                    log.pop_front();
                }
            });
            std::future::ready(respond(request))
        };
        let accepting = accept(self.listener, Arc::new(answer));
        let serving = tokio::spawn(accepting).abort_handle();
        HttpServer { address: self.address, log, serving }
    }

    /// Starts serving with a responder that may wait and therefore runs on its own thread. Bodies of at most `body_max` bytes are
    /// received. Requests are not logged. Must be called within a tokio runtime.
    pub fn serve_slowly<F>(self, body_max: usize, respond: F) -> HttpServer
    where
        F: Fn(ServedRequest) -> ServedAnswer + Send + Sync + 'static,
    {
        let respond = Arc::new(respond);
        let answer = move |request: Request<Incoming>, from| {
            let (head, respond) = (read(&request, from), Arc::clone(&respond));
            async move {
                let body = Limited::new(request.into_body(), body_max).collect();
                let body = match tokio::time::timeout(BODY_WAIT, body).await {
                    Ok(Ok(body)) => body.to_bytes().to_vec(),
                    Ok(Err(_)) => return ServedAnswer::plain(413, "the body is too long\n"),
                    Err(_) => return ServedAnswer::plain(408, "the body did not arrive\n"),
                };
                let request = ServedRequest { body, ..head };
                let answer = tokio::task::spawn_blocking(move || respond(request)).await;
                answer.unwrap_or_else(|_| ServedAnswer::plain(500, "the answer failed\n"))
            }
        };
        let serving = tokio::spawn(accept(self.listener, Arc::new(answer))).abort_handle();
        HttpServer { address: self.address, log: Log::default(), serving }
    }
}

/// Accepts connections. This task owns the tasks of all connections, so that aborting it closes the connections too.
async fn accept<F, A>(listener: TcpListener, respond: Arc<F>)
where
    F: Fn(Request<Incoming>, IpAddr) -> A + Send + Sync + 'static,
    A: Future<Output = ServedAnswer> + Send + 'static,
{
    let mut connections = JoinSet::new();
    let mut open: Vec<ClientConnection> = Vec::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    open.retain(|connection| !connection.task.is_finished());
                    if let Some(place) = in_the_way(&open, peer.ip()) {
                        open.remove(place).task.abort();
                    }
                    let has_asked = Arc::<AtomicBool>::default();
                    let noted = Arc::clone(&has_asked);
                    let conversation = converse((stream, peer.ip()), Arc::clone(&respond), noted);
                    let task = connections.spawn(conversation);
                    open.push(ClientConnection { from: peer.ip(), has_asked, task });
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// An open connection.
struct ClientConnection {
    from: IpAddr,
    /// Whether a request has arrived on the connection.
    has_asked: Arc<AtomicBool>,
    task: AbortHandle,
}

/// If there are too many connections for a new one from this address, returns the index of the connection to close.
fn in_the_way(open: &[ClientConnection], from: IpAddr) -> Option<usize> {
    let own = open.iter().filter(|connection| connection.from == from).count();
    if open.len() < CONNECTIONS_MAX && own < FROM_ONE_MAX {
        return None;
    }
    let all = open.iter().enumerate();
    let candidates = all.filter(|(_, other)| own < FROM_ONE_MAX || other.from == from);
    let oldest = candidates.min_by_key(|(place, other)| (other.has_asked.load(Relaxed), *place));
    oldest.map(|(place, _)| place)
}

async fn converse<F, A>(
    (stream, from): (TcpStream, IpAddr),
    respond: Arc<F>,
    has_asked: Arc<AtomicBool>,
) where
    F: Fn(Request<Incoming>, IpAddr) -> A + Send + Sync + 'static,
    A: Future<Output = ServedAnswer> + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        has_asked.store(true, Relaxed);
        let answer = respond(request, from);
        async { Ok::<_, Infallible>(response(answer.await)) }
    });
    let conversation = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WAIT)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    // Ignore the error, because a client that disconnects or sends invalid data affects only its own connection.
    drop(conversation.await);
}

fn read(request: &Request<Incoming>, from: IpAddr) -> ServedRequest {
    let path_and_query = request.uri().path_and_query().map_or("/", |both| both.as_str());
    ServedRequest {
        method: request.method().to_string(),
        path_and_query: path_and_query.to_owned(),
        headers: read_headers(request.headers()),
        body: Vec::new(),
        from,
    }
}

fn read_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect()
}

/// Builds the response. An invalid one (such as a line break in a header) becomes a 500 with an explanation.
fn response(answer: ServedAnswer) -> Response<Full<Bytes>> {
    let headers = answer.headers.into_iter();
    headers
        .fold(Response::builder().status(answer.status), |builder, (name, value)| {
            builder.header(name, value)
        })
        .body(Full::from(answer.body))
        .unwrap_or_else(|flaw| {
            let mut response = Response::new(Full::from(format!("bad answer: {flaw}\n")));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            response
        })
}

/// A running server for the demo site, which ends when this is dropped.
#[derive(Debug)]
pub struct DemoServer {
    pub server: HttpServer,
    pub site: Arc<DemoSite>,
}

impl DemoServer {
    /// Starts the server. `clock` is called for every request and returns the time at which the site responds.
    pub async fn start(
        clock: impl Fn() -> DateTime<Utc> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let server = HttpServer::bind().await?;
        let site = Arc::new(DemoSite::new(server.base_url(), clock()));
        let answering = Arc::clone(&site);
        let server = server.serve(move |request| answer(&answering, &request, clock()));
        Ok(Self { server, site })
    }
}

fn answer(site: &DemoSite, request: &ServedRequest, now: DateTime<Utc>) -> ServedAnswer {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        let headers = vec![("allow".to_owned(), "GET, HEAD".to_owned())];
        return ServedAnswer { status: 405, headers, body: Vec::new() };
    }
    let asked = DemoRequest {
        path: request.path(),
        query: request.query(),
        if_none_match: request.header("if-none-match"),
        if_modified_since: request.header("if-modified-since"),
        accept_encoding: request.header("accept-encoding"),
        a_im: request.header("a-im"),
    };
    let answer = site.answer(&asked, now);
    ServedAnswer { status: answer.status, headers: answer.headers, body: answer.body }
}

#[cfg(test)]
#[path = "http_server_tests.rs"]
mod tests;

#[cfg(test)]
mod demo_server_tests {
    use crate::io::http_server::*;
    use chrono::TimeZone as _;

    #[test]
    fn demo_site_gets_headers_and_query_of_get_and_head() {
        let started = Utc.with_ymd_and_hms(2026, 3, 2, 10, 0, 0).unwrap();
        let site = DemoSite::new("http://127.0.0.1:80", started);
        for (method, path_and_query, tag, status) in [
            ("GET", "/desk/feed.xml", "", 200),
            ("HEAD", "/desk/feed.xml", "", 200),
            ("GET", "/desk/feed.xml", "\"desk-0\"", 304),
            ("GET", "/finds/feed.json?page=3", "", 200),
            ("GET", "/finds/feed.json?page=4", "", 404),
            ("POST", "/desk/feed.xml", "", 405),
        ] {
            let request = ServedRequest {
                method: method.to_owned(),
                path_and_query: path_and_query.to_owned(),
                headers: vec![("if-none-match".to_owned(), tag.to_owned())],
                body: Vec::new(),
                from: Ipv4Addr::LOCALHOST.into(),
            };
            let answer = answer(&site, &request, started);
            assert_eq!(answer.status, status, "{method} {path_and_query} {tag}");
        }
    }
}

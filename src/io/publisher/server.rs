//! A small HTTP/1.1 server on the loopback address, for the demo and for tests.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderMap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

/// Most connections; further ones wait to be accepted.
pub const CONNECTIONS_MAX: usize = 64;
/// Longest request line with its headers; a longer one is answered with 431.
pub const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Most requests in the log; the oldest are dropped first.
pub const REQUESTS_LOGGED_MAX: usize = 4096;
/// How long a connection may take to send a request before it is closed.
const HEAD_WAIT: Duration = Duration::from_secs(30);
/// A pause after a failed accept (no free file descriptor, say), so as not to spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A received request. Header names are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublisherRequest {
    pub method: String,
    pub path_and_query: String,
    pub headers: Vec<(String, String)>,
}

impl PublisherRequest {
    pub fn path(&self) -> &str {
        self.path_and_query.split('?').next().unwrap_or_default()
    }

    pub fn query(&self) -> Option<&str> {
        self.path_and_query.split_once('?').map(|(_, query)| query)
    }

    /// Returns the first header with this lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// A response; `date` and `content-length` are added if they are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublisherAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// A socket that is bound but not served yet, so that its address is known to what will answer on it.
#[derive(Debug)]
pub struct BoundPublisher {
    listener: TcpListener,
    address: SocketAddr,
}

/// A running server on a free port of 127.0.0.1. It and its connections end when it is dropped.
#[derive(Debug)]
pub struct Publisher {
    address: SocketAddr,
    log: Log,
    serving: AbortHandle,
}

type Log = watch::Sender<VecDeque<PublisherRequest>>;

impl Publisher {
    /// Starts a server on a free port that answers with `respond`.
    pub async fn start<F>(respond: F) -> io::Result<Self>
    where
        F: Fn(PublisherRequest) -> PublisherAnswer + Send + Sync + 'static,
    {
        Ok(Self::bind().await?.serve(respond))
    }

    /// Binds a free port first, for a `respond` that must know it.
    pub async fn bind() -> io::Result<BoundPublisher> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok(BoundPublisher { listener, address })
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the last requests, oldest first, at most [`REQUESTS_LOGGED_MAX`].
    pub fn requests(&self) -> Vec<PublisherRequest> {
        self.log.borrow().iter().cloned().collect()
    }

    /// Counts the logged requests for this path and query.
    pub fn requests_for(&self, path_and_query: &str) -> usize {
        self.log.borrow().iter().filter(|r| r.path_and_query == path_and_query).count()
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl BoundPublisher {
    /// Returns `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Must be called inside a tokio runtime.
    pub fn serve<F>(self, respond: F) -> Publisher
    where
        F: Fn(PublisherRequest) -> PublisherAnswer + Send + Sync + 'static,
    {
        let log = Log::default();
        let accepting = accept(self.listener, Arc::new(respond), log.clone());
        let serving = tokio::spawn(accepting).abort_handle();
        Publisher { address: self.address, log, serving }
    }
}

/// Accepts connections. Owns their tasks, so that aborting it closes them too.
async fn accept<F>(listener: TcpListener, respond: Arc<F>, log: Log)
where
    F: Fn(PublisherRequest) -> PublisherAnswer + Send + Sync + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < CONNECTIONS_MAX => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(converse(stream, Arc::clone(&respond), log.clone()));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn converse<F>(stream: TcpStream, respond: Arc<F>, log: Log)
where
    F: Fn(PublisherRequest) -> PublisherAnswer + Send + Sync + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let request = read(&request);
        log.send_modify(|log| {
            log.push_back(request.clone());
            if log.len() > REQUESTS_LOGGED_MAX {
                log.pop_front();
            }
        });
        let response = response(respond(request));
        async { Ok::<_, Infallible>(response) }
    });
    let conversation = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WAIT)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    // A client that hangs up or talks nonsense ends its own connection and nothing else.
    drop(conversation.await);
}

fn read(request: &Request<Incoming>) -> PublisherRequest {
    let path_and_query = request.uri().path_and_query().map_or("/", |both| both.as_str());
    PublisherRequest {
        method: request.method().to_string(),
        path_and_query: path_and_query.to_owned(),
        headers: read_headers(request.headers()),
    }
}

fn read_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect()
}

/// Builds the response. One that is not valid HTTP (a line break in a header, say) becomes a 500 that says so.
fn response(answer: PublisherAnswer) -> Response<Full<Bytes>> {
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

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;

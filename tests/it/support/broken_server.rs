//! A server that answers with arbitrary bytes given by a test, valid or not, and records the requests.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;

/// What the server does after sending its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It closes the connection.
    Close,
    /// It keeps the connection open and sends nothing.
    Wait,
    /// It sends a byte every few milliseconds forever.
    Drip,
}

/// A server that treats every connection in the same way; it stops when dropped.
pub(crate) struct BrokenServer {
    address: SocketAddr,
    heads: UnboundedReceiver<Vec<u8>>,
    serving: JoinHandle<()>,
}

impl BrokenServer {
    pub(crate) async fn start(answer: impl Into<Vec<u8>>, then: Then) -> Self {
        Self::start_at(Ipv4Addr::LOCALHOST.into(), 0, answer, then).await
    }

    /// Starts the server on this address; port 0 means any free port.
    pub(crate) async fn start_at(
        address: IpAddr,
        port: u16,
        answer: impl Into<Vec<u8>>,
        then: Then,
    ) -> Self {
        let answer = answer.into();
        let listener = TcpListener::bind((address, port)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, heads) = unbounded_channel();
        let serving = tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                sender.send(head(&mut stream).await).ok();
                // The client may have disconnected already.
                stream.write_all(&answer).await.ok();
                match then {
                    Then::Close => drop(stream),
                    Then::Wait => open.push(stream),
                    Then::Drip => drip(stream).await,
                }
            }
        });
        Self { address, heads, serving }
    }

    pub(crate) fn at(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the number of connections that sent data and whose request head the test has not read yet.
    pub(crate) fn connections(&self) -> usize {
        self.heads.len()
    }

    /// Waits for the next request and returns its head, byte for byte.
    pub(crate) async fn head(&mut self) -> Vec<u8> {
        self.heads.recv().await.unwrap()
    }
}

impl Drop for BrokenServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Reads a request head up to the empty line; stops at the first byte if that shows that the client does not speak HTTP.
pub(crate) async fn head(stream: &mut TcpStream) -> Vec<u8> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.first().is_none_or(u8::is_ascii_alphabetic) {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    head
}

async fn drip(mut stream: TcpStream) {
    let mut pace = tokio::time::interval(std::time::Duration::from_millis(10));
    while stream.write_all(b" ").await.is_ok() {
        pace.tick().await;
    }
}

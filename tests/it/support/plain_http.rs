//! A server of a test that answers requests one by one from a function.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// Size of an answer that no client takes, in bytes. It is announced and not made, because that would take the test too long.
pub(crate) const TOO_LARGE: usize = 16 * 1024 * 1024;

/// A request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Received {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    pub(crate) body: String,
    /// Values of these headers; empty without the header.
    pub(crate) authorization: String,
    pub(crate) token: String,
}

/// An answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: String,
    /// Value of the `Date` header; empty for none.
    pub(crate) date: String,
    /// Length that is announced although the body is not sent; the connection is closed then.
    pub(crate) announced: Option<usize>,
}

impl From<(u16, String)> for Answered {
    fn from((status, body): (u16, String)) -> Self {
        Self { status, body, ..Self::default() }
    }
}

/// Starts a server and returns its address.
pub(crate) fn start(answer: impl Fn(Received) -> Answered + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || serve(stream, &*answer));
        }
    });
    address
}

fn serve(stream: TcpStream, answer: &dyn Fn(Received) -> Answered) {
    let mut reader = BufReader::new(stream);
    while let Some(received) = receive(&mut reader) {
        let Answered { status, body, date, announced } = answer(received);
        let date = if date.is_empty() { date } else { format!("Date: {date}\r\n") };
        // An answer with this status has no body.
        let length = if status == 204 {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", announced.unwrap_or(body.len()))
        };
        // In one piece: the rest of an answer would wait until its beginning was acknowledged.
        let answer = format!("HTTP/1.1 {status} x\r\n{date}{length}\r\n{body}");
        let sent = reader.get_mut().write_all(answer.as_bytes());
        if sent.is_err() || announced.is_some() {
            return;
        }
    }
}

fn receive(reader: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    let mut words = first.split(' ').map(str::to_owned);
    let mut received =
        Received { method: words.next()?, path: words.next()?, ..Received::default() };
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let (name, value) = line.trim_end().split_once(": ").unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "authorization" => value.clone_into(&mut received.authorization),
            "x-auth-token" => value.clone_into(&mut received.token),
            "" => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    received.body = String::from_utf8(body).unwrap();
    Some(received)
}

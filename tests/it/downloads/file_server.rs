//! A server with a feed and a file that it sends in ranges, until it breaks off as a test says.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// What the server does with one request for the file.
#[derive(Debug, Clone)]
pub(super) struct Answering {
    /// Content of the file.
    pub(super) file: Vec<u8>,
    /// `ETag` of the file; empty for none.
    pub(super) etag: &'static str,
    /// Whether ranges are answered.
    pub(super) ranges: bool,
    /// Number of bytes after which the connection is closed.
    pub(super) breaks_after: Option<usize>,
    /// Whether the connection stays open then, and nothing more is sent.
    pub(super) hangs: bool,
    /// Status instead of the file.
    pub(super) status: Option<&'static str>,
}

impl Answering {
    /// Sends the whole file.
    pub(super) fn whole(file: &[u8], etag: &'static str) -> Self {
        let file = file.to_vec();
        Self { file, etag, ranges: true, breaks_after: None, hangs: false, status: None }
    }

    /// Breaks off after this number of bytes.
    pub(super) fn broken(file: &[u8], etag: &'static str, after: usize) -> Self {
        Self { breaks_after: Some(after), ..Self::whole(file, etag) }
    }
}

/// The server. It ends with the test.
pub(super) struct FileServer {
    address: SocketAddr,
    requests: Receiver<String>,
}

impl FileServer {
    /// Starts a server that answers requests for the file in this order; the last answer is repeated.
    pub(super) fn start(answers: Vec<Answering>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = channel();
        thread::spawn(move || serve(&listener, address, &answers, &sender));
        Self { address, requests }
    }

    pub(super) fn at(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the value of a header in each request for the file so far; empty if a request had none.
    pub(super) fn asked(&self, header: &str) -> Vec<String> {
        let value = |request: String| {
            let wanted = format!("{header}: ");
            let line = request.lines().find_map(|line| line.strip_prefix(wanted.as_str()));
            line.unwrap_or_default().to_owned()
        };
        self.requests.try_iter().map(value).collect()
    }
}

fn serve(
    listener: &TcpListener,
    address: SocketAddr,
    answers: &[Answering],
    sender: &Sender<String>,
) {
    let (mut count, mut open) = (0, Vec::new());
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let Some(head) = head(&stream) else { continue };
        if head.starts_with("GET /feed") {
            let body = feed(address);
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(format!("{head}{body}").as_bytes()).ok();
            continue;
        }
        let answering = &answers[count.min(answers.len() - 1)];
        count += 1;
        sender.send(head.clone()).ok();
        send(&mut stream, &head, answering);
        if answering.hangs {
            open.push(stream);
        }
    }
}

fn head(stream: &TcpStream) -> Option<String> {
    let mut lines = BufReader::new(stream).lines();
    let mut head = String::new();
    loop {
        let line = lines.next()?.ok()?;
        if line.is_empty() {
            return Some(head);
        }
        // The names of headers are written in lower case by the client.
        head.push_str(&line);
        head.push('\n');
    }
}

fn feed(address: SocketAddr) -> String {
    format!(
        "<rss version='2.0'><channel><title>Show</title><item><guid>1</guid><title>One/Two</title>\
         <pubDate>Mon, 02 Mar 2026 08:00:00 GMT</pubDate>\
         <enclosure url='http://{address}/one.mp3' type='audio/mpeg' length='9'/></item></channel></rss>"
    )
}

/// Sends the file, or the range that was asked for in this version.
fn send(stream: &mut TcpStream, head: &str, answering: &Answering) {
    let value = |name: &str| {
        let wanted = format!("{name}: ");
        head.lines().find_map(|line| line.strip_prefix(wanted.as_str()).map(str::to_owned))
    };
    if let Some(status) = answering.status {
        stream
            .write_all(
                format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    .as_bytes(),
            )
            .ok();
        return;
    }
    let all = answering.file.len();
    let is_same = value("if-range").is_none_or(|known| known == answering.etag);
    let from = value("range").filter(|_| answering.ranges && is_same).map(|range| {
        let from = range.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap();
        from.parse::<usize>().unwrap()
    });
    let etag = match answering.etag {
        "" => String::new(),
        etag => format!("ETag: {etag}\r\n"),
    };
    let (line, body) = match from {
        Some(from) if from >= all => {
            (format!("416 Range Not Satisfiable\r\nContent-Range: bytes */{all}"), &[][..])
        }
        Some(from) => (
            format!("206 Partial Content\r\nContent-Range: bytes {from}-{}/{all}", all - 1),
            &answering.file[from..],
        ),
        None => ("200 OK".to_owned(), &answering.file[..]),
    };
    let head = format!(
        "HTTP/1.1 {line}\r\n{etag}Content-Type: audio/mpeg\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok();
    let sent = answering.breaks_after.map_or(body.len(), |after| after.min(body.len()));
    stream.write_all(&body[..sent]).ok();
    stream.flush().ok();
}

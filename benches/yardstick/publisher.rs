//! The publisher: a server of generated feeds. It runs in a separate process so that the resources it uses are not counted for the
//! program.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::Ipv4Addr;
use std::process::{ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::Extent;
use super::documents::feed;

/// With each edition, one feed in this number of feeds changes.
const CHANGING: u32 = 10;

/// The running publisher process, which is killed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Child {
    process: std::process::Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    port: u16,
    feeds: u32,
    /// Number of editions so far; each edition changes a tenth of the feeds.
    pub(crate) edition: u32,
}

impl Child {
    pub(crate) fn start(extent: Extent) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("publisher").arg(extent.feeds.to_string());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let orders = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        let mut child = Self { process, orders, answers, port: 0, feeds: extent.feeds, edition: 0 };
        child.port = child.answer().parse().unwrap();
        child
    }

    /// Prepares feeds with this number of entries each.
    pub(crate) fn prepare(&mut self, entries: u32) {
        self.order(&format!("prepare {entries}"));
    }

    /// Publishes the next edition, which changes a tenth of the feeds.
    pub(crate) fn change(&mut self) {
        self.edition += 1;
        self.order(&format!("edition {}", self.edition));
    }

    /// Makes the publisher wait for this duration before each response.
    pub(crate) fn delay(&mut self, milliseconds: u32) {
        self.order(&format!("delay {milliseconds}"));
    }

    /// Returns the addresses of the feeds with this number of entries.
    pub(crate) fn addresses(&self, entries: u32) -> Vec<String> {
        let address = |feed| format!("{}/{feed}", self.base(entries));
        (1..=self.feeds).map(address).collect()
    }

    pub(crate) fn base(&self, entries: u32) -> String {
        format!("http://127.0.0.1:{}/{entries}", self.port)
    }

    /// Returns the total size of the prepared documents, compressed, in bytes.
    pub(crate) fn compressed_bytes(&mut self) -> u64 {
        writeln!(self.orders, "size 0").unwrap();
        self.answer().parse().unwrap()
    }

    fn order(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
        assert_eq!(self.answer(), "done", "{order}");
    }

    fn answer(&mut self) -> String {
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        answer.trim().to_owned()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Returns the `ETag` of an edition of a feed.
pub(crate) fn etag(feed: u32, edition: u32) -> String {
    format!("\"{feed}-{}\"", edition_of(feed, edition))
}

const fn edition_of(feed: u32, edition: u32) -> u32 {
    if feed.is_multiple_of(CHANGING) { edition } else { 0 }
}

/// The documents that the publisher serves.
#[derive(Debug, Clone, Default)]
struct Site {
    delay: Duration,
    edition: u32,
    /// Compressed documents in order of feed number, by number of entries per feed.
    feeds: BTreeMap<u32, Arc<Vec<Bytes>>>,
}

/// Serves documents until standard input is closed.
pub(crate) fn serve(arguments: &[String]) -> ExitCode {
    let count: u32 = arguments[0].parse().unwrap();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.unwrap();
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    let (site, served) = watch::channel(Site::default());
    runtime.spawn(accept(listener, served));
    let now = Utc::now();
    for order in std::io::stdin().lines().map_while(Result::ok) {
        let (what, number) = order.split_once(' ').unwrap();
        let number: u32 = number.parse().unwrap();
        if what == "size" {
            let bytes = |feeds: &Arc<Vec<Bytes>>| feeds.iter().map(Bytes::len).sum::<usize>();
            println!("{}", site.borrow().feeds.values().map(bytes).sum::<usize>());
            continue;
        }
        let before = site.borrow().clone();
        let after = obeyed(before, count, what, number, now);
        site.send(after).unwrap();
        println!("done");
    }
    ExitCode::SUCCESS
}

fn obeyed(mut site: Site, count: u32, what: &str, number: u32, now: DateTime<Utc>) -> Site {
    match what {
        "delay" => site.delay = Duration::from_millis(number.into()),
        "prepare" => {
            let made = (1..=count).map(|feed_number| {
                let edition = edition_of(feed_number, site.edition);
                Bytes::from(feed(feed_number, number, edition, now))
            });
            let made = made.collect();
            site.feeds.insert(number, Arc::new(made));
        }
        "edition" => {
            site.edition = number;
            for (entries, feeds) in &mut site.feeds {
                for (feed_number, made) in (1..).zip(Arc::make_mut(feeds)) {
                    if edition_of(feed_number, number) == number {
                        *made = Bytes::from(feed(feed_number, *entries, number, now));
                    }
                }
            }
        }
        _ => panic!("an unknown order: {what}"),
    }
    site
}

async fn accept(listener: TcpListener, site: watch::Receiver<Site>) {
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).ok();
        let site = site.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let site = site.clone();
                async move { Ok::<_, Infallible>(answer(&request, &site).await) }
            });
            http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.ok();
        });
    }
}

async fn answer(
    request: &Request<Incoming>,
    site: &watch::Receiver<Site>,
) -> Response<Full<Bytes>> {
    let mut path = request.uri().path().trim_start_matches('/').split('/').map(str::parse::<u32>);
    let (Some(Ok(entries)), Some(Ok(number))) = (path.next(), path.next()) else {
        return Response::builder().status(404).body(Full::default()).unwrap();
    };
    let (delay, tag, body) = {
        let site = site.borrow();
        let body = site.feeds.get(&entries).and_then(|feeds| feeds.get(number as usize - 1));
        (site.delay, etag(number, site.edition), body.cloned())
    };
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let known = request.headers().get("if-none-match").is_some_and(|known| known == tag.as_str());
    let response = Response::builder().header("etag", tag);
    let response = match body {
        None => response.status(404).body(Full::default()),
        Some(_) if known => response.status(304).body(Full::default()),
        Some(body) => response
            .header("content-type", "application/xml")
            .header("content-encoding", "gzip")
            .body(Full::new(body)),
    };
    response.unwrap()
}

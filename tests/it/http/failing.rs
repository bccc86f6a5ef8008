//! Servers that are unreachable, do not answer, or send garbage (SPEC D.2, D.8, constants of SPEC 0).

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use backissue::engine::poll::fetch::{FetchFailure, Fetched};
use backissue::io::http::api_calls::ApiRequest;
use backissue::io::http::{ClientEnvironment, Http, Limits, NameLookup, NameResolver};
use backissue_core::accounts::api_call::Verb;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{SMALL, fetch, fetch_in, here, in_public, request, roomy, settings};
use crate::support::broken_server::{BrokenServer, Then, head};
use crate::support::documents::rss;

const FEED_HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n<rss version=\"2.0\">";

fn waited_for(fetched: &Fetched) -> &'static str {
    match &fetched.result {
        Err(FetchFailure::Timeout { phase, .. }) => phase,
        other => panic!("no time-out: {other:?}"),
    }
}

#[tokio::test]
async fn refused_connection_is_reported_with_the_host() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let refused = fetch(SMALL, request(&format!("http://127.0.0.1:{port}/"))).await.result;
    let Err(FetchFailure::Connect(why)) = &refused else { panic!("{refused:?}") };
    assert!(why.contains("127.0.0.1") && why.contains("refused"), "{why}");
}

#[tokio::test]
async fn unknown_host_name_is_reported() {
    let limits =
        Limits { connect: Duration::from_secs(10), total: Duration::from_secs(10), ..SMALL };
    let unknown = fetch(limits, request("http://no-such-host.invalid/feed")).await.result;
    assert_eq!(unknown, Err(FetchFailure::Name("no-such-host.invalid".into())));
}

#[tokio::test]
async fn unrequestable_address_is_reported() {
    for url in ["file:///etc/hostname", "ftp://a.example/", "not an address", "http://"] {
        let refused = fetch(SMALL, request(url)).await.result;
        assert!(matches!(refused, Err(FetchFailure::Address(_))), "{url}: {refused:?}");
    }
}

#[tokio::test]
async fn a_server_that_never_answers_ends_at_the_idle_limit() {
    let server = BrokenServer::start("", Then::Wait).await;
    assert_eq!(waited_for(&fetch(SMALL, request(&server.at("/"))).await), "waiting for data");
}

#[tokio::test]
async fn stalled_body_ends_at_the_idle_limit() {
    let server = BrokenServer::start(FEED_HEAD, Then::Wait).await;
    let stopped = fetch(SMALL, request(&server.at("/"))).await;
    assert_eq!(waited_for(&stopped), "waiting for data");
    assert!(stopped.wire_bytes > 0, "received bytes are counted");
}

#[tokio::test]
async fn dripping_body_ends_at_the_total_limit() {
    let server = BrokenServer::start(FEED_HEAD, Then::Drip).await;
    assert_eq!(waited_for(&fetch(SMALL, request(&server.at("/"))).await), "whole response");
}

#[tokio::test]
async fn dripping_head_ends_at_the_total_limit() {
    let server = BrokenServer::start("HTTP/1.1 200 OK\r\nX-Slow: ", Then::Drip).await;
    waited_for(&fetch(SMALL, request(&server.at("/"))).await);
}

#[tokio::test]
async fn more_header_lines_than_the_limit_are_refused() {
    let lines = |count: u32| -> String { (0..count).map(|n| format!("X-{n}: y\r\n")).collect() };
    for (count, good) in [(200, true), (300, false)] {
        let head = format!("HTTP/1.1 200 OK\r\n{}Content-Length: 0\r\n\r\n", lines(count));
        let server = BrokenServer::start(head, Then::Close).await;
        let fetched = fetch(SMALL, request(&server.at("/"))).await.result;
        assert_eq!(fetched.is_ok(), good, "{count}: {fetched:?}");
        if let Err(failure) = fetched {
            assert_eq!(failure.to_string(), "the response is too large: its headers");
        }
    }
}

#[tokio::test]
async fn a_header_line_without_end_is_refused() {
    let head = format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(2 << 20));
    let server = BrokenServer::start(head, Then::Wait).await;
    let refused = fetch(roomy(), request(&server.at("/"))).await.result;
    assert_eq!(refused, Err(FetchFailure::TooLarge("its headers".into())));
}

#[tokio::test]
async fn malformed_http_is_refused_in_one_line() {
    for bytes in ["", "220 mail.example ESMTP\r\n", "HTTP/1.1 banana\r\n\r\n", "\0\0\0\0"] {
        let server = BrokenServer::start(bytes, Then::Close).await;
        let refused = fetch(SMALL, request(&server.at("/"))).await.result;
        let Err(failure) = &refused else { panic!("{bytes:?}: {refused:?}") };
        assert!(
            matches!(failure, FetchFailure::Protocol(_) | FetchFailure::CutOff),
            "{bytes:?}: {failure:?}"
        );
        assert!(!failure.to_string().contains('\n') && !failure.to_string().is_empty());
    }
}

#[tokio::test]
async fn plain_text_instead_of_tls_is_no_secure_connection() {
    let server = BrokenServer::start("HTTP/1.1 400 X\r\n\r\n", Then::Close).await;
    let url = server.at("/").replace("http:", "https:");
    let refused = fetch(SMALL, request(&url)).await.result;
    assert!(matches!(refused, Err(FetchFailure::Tls(_))), "{refused:?}");
}

/// SPEC B.4: the failures "no route to the host", "connection refused" and "unknown name" are distinguished.
#[tokio::test]
async fn unreachable_host_differs_from_refused_connection() {
    // Connecting to the broadcast address makes the system report that there is no route.
    let none = Gone(ErrorKind::NotFound, None);
    let nowhere = Gone(ErrorKind::NotFound, Some("255.255.255.255:0"));
    for (names, told) in [
        (none, FetchFailure::Name("a.example".into())),
        (nowhere, FetchFailure::Unreachable("a.example".into())),
    ] {
        let around = ClientEnvironment { names: Arc::new(names), ..in_public() };
        let fetched = fetch_in(&around, &settings(), SMALL, request("http://a.example/")).await;
        assert_eq!(fetched.result, Err(told));
    }
}

/// A name resolver that returns the address in the second field, or fails with the error kind in the first field if there is none.
#[derive(Debug, Clone, Copy)]
struct Gone(ErrorKind, Option<&'static str>);

impl NameResolver for Gone {
    fn look_up(&self, _name: &str) -> NameLookup {
        let Self(kind, address) = *self;
        Box::pin(async move {
            let address = address.ok_or(kind)?;
            Ok(vec![address.parse().unwrap()])
        })
    }
}

/// SPEC D.2: a connection that the server closes before it answers is reported as a failure of its own.
#[tokio::test]
async fn server_hangup_is_reported_as_such() {
    let server = BrokenServer::start("", Then::Close).await;
    let fetched = fetch(SMALL, request(&server.at("/"))).await;
    assert_eq!(fetched.result, Err(FetchFailure::CutOff));
}

/// A server that answers this number of requests on each connection with a feed, and then closes the connection at the next request
/// without an answer. Returns the port and, for each request, its number on its connection.
async fn closing_after(answered: usize) -> (u16, UnboundedReceiver<usize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, requests) = unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let sender = sender.clone();
            tokio::spawn(async move {
                let body = rss("T", "e", 2);
                let feed =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
                for place in 1.. {
                    if head(&mut stream).await.is_empty() {
                        return;
                    }
                    sender.send(place).unwrap();
                    if place > answered {
                        return;
                    }
                    stream.write_all(feed.as_bytes()).await.unwrap();
                }
            });
        }
    });
    (port, requests)
}

fn counted(requests: &mut UnboundedReceiver<usize>) -> Vec<usize> {
    std::iter::from_fn(|| requests.try_recv().ok()).collect()
}

/// SPEC D.2: a GET on a kept connection that the server closes instead of answering is sent once more on a new connection. A new
/// connection that closes is a failure at once, and no other method is repeated.
#[tokio::test]
async fn get_on_a_kept_connection_that_closes_is_repeated() {
    let (port, mut requests) = closing_after(1).await;
    let http = Http::within(&settings(), roomy(), &here()).unwrap();
    for place in 1..=5 {
        let fetched = http.fetch(request(&format!("http://127.0.0.1:{port}/{place}"))).await;
        assert!(fetched.result.is_ok(), "{place}: {fetched:?}");
    }
    assert_eq!(counted(&mut requests), [1, 2, 1, 1, 2, 1, 1]);

    let call = |verb| ApiRequest {
        url: format!("http://127.0.0.1:{port}/star"),
        verb,
        body: String::new(),
        login: None,
        time: Duration::from_secs(20),
    };
    http.call(&call(Verb::PostForm)).await.unwrap_err();
    assert_eq!(counted(&mut requests), [2], "a POST is sent once");
    http.call(&call(Verb::Get)).await.unwrap();
    http.call(&call(Verb::Get)).await.unwrap();
    assert_eq!(counted(&mut requests), [1, 2, 1], "a GET is sent twice");

    let (port, mut requests) = closing_after(0).await;
    let fetched = http.fetch(request(&format!("http://127.0.0.1:{port}/"))).await;
    assert_eq!((fetched.result, counted(&mut requests)), (Err(FetchFailure::CutOff), vec![1]));
}

/// SPEC D.8: a response with endless headers is abandoned, and so is an endless series of interim responses.
#[tokio::test]
async fn header_flood_ends_the_request() {
    for flood in ["X-Flood: y\r\n", "X: "] {
        let head = format!("HTTP/1.1 200 OK\r\n{}", flood.repeat(1_000_000));
        let server = BrokenServer::start(head, Then::Wait).await;
        let refused = fetch(roomy(), request(&server.at("/"))).await.result;
        assert_eq!(refused, Err(FetchFailure::TooLarge("its headers".into())));
    }
    let server =
        BrokenServer::start("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50_000), Then::Wait).await;
    let refused = fetch(SMALL, request(&server.at("/"))).await;
    assert_eq!(waited_for(&refused), "waiting for data");
}

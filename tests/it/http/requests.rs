//! The exact bytes that are sent, and what is read from the response head (SPEC D.1, D.2, D.4).

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use backissue::engine::poll::fetch::{AnswerBody, FetchRequest, RequestKind};
use backissue::engine::settings::NetworkSettings;
use backissue::io::http::Http;
use backissue::io::http_server::{HttpServer, ServedRequest};
use futures_util::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{answered, conditional, document, fetch, here, request, roomy, settings};
use crate::support::broken_server::{BrokenServer, Then};
use crate::support::documents::rss;
use crate::support::site::answer;

const ACCEPT: &str = "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, application/xml;q=0.8, text/xml;q=0.8, */*;q=0.1";

async fn publisher() -> HttpServer {
    HttpServer::start(|_| answer(200, &[], rss("T", "e", 3))).await.unwrap()
}

fn names(request: &ServedRequest) -> Vec<&str> {
    let mut names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn unconditional_request_has_exactly_the_table_headers() {
    let publisher = publisher().await;
    let answer = answered(roomy(), request(&format!("{}/f?a=b%20c", publisher.base_url()))).await;
    assert_eq!((answer.status, document(&answer).entries.len()), (200, 3));
    let asked = publisher.requests().remove(0);
    assert_eq!((asked.method.as_str(), asked.path_and_query.as_str()), ("GET", "/f?a=b%20c"));
    assert_eq!(names(&asked), ["accept", "accept-encoding", "host", "user-agent"]);
    assert_eq!(asked.header("accept"), Some(ACCEPT));
    assert_eq!(asked.header("accept-encoding"), Some("gzip, deflate, br"));
}

#[tokio::test]
async fn user_agent_is_program_version_and_project_only() {
    let publisher = publisher().await;
    answered(roomy(), request(&publisher.base_url())).await;
    let asked = publisher.requests().remove(0);
    let agent = asked.header("user-agent").unwrap();
    let rest = agent.strip_prefix(concat!("backissue/", env!("CARGO_PKG_VERSION"), " (+https://"));
    let address = rest.and_then(|rest| rest.strip_suffix(')'));
    assert!(address.is_some_and(|address| !address.contains([' ', ';'])), "{agent}");
}

#[tokio::test]
async fn a_forced_request_asks_caches_for_a_fresh_copy() {
    let publisher = publisher().await;
    let forced = FetchRequest { kind: RequestKind::Fresh, ..request(&publisher.base_url()) };
    answered(roomy(), forced).await;
    assert_eq!(publisher.requests()[0].header("cache-control"), Some("no-cache"));
}

#[tokio::test]
async fn validators_are_sent_back_byte_for_byte() {
    let odd: [(&[u8], &[u8]); 6] = [
        (b"\"plain\"", b"Mon, 02 Mar 2026 10:00:00 GMT"),
        (b"without quotes", b"yesterday, I think"),
        (b"W/\"weak\"", b"2026-03-02 10:00:00"),
        (b"\"5e1-gzip\"", b"Monday, 02-Mar-26 10:00:00 GMT"),
        (b"W/\"two\", \"three\"", b"0"),
        (b"\"caf\xe9\"", b"Mon,  2 M\xe4r 2026"),
    ];
    for (etag, last_modified) in odd {
        let mut server = BrokenServer::start("HTTP/1.1 304 Not Modified\r\n\r\n", Then::Wait).await;
        let answer =
            answered(roomy(), conditional(&server.at("/f"), Some(etag), Some(last_modified))).await;
        assert_eq!((answer.status, answer.body), (304, AnswerBody::Unread));
        let head = server.head().await;
        for (name, value) in [("if-none-match", etag), ("if-modified-since", last_modified)] {
            assert_eq!(lines(&head, name), [value], "{name}: {}", value.escape_ascii());
        }
    }
}

/// Returns the values of the header `name` in a request, in order.
fn lines<'a>(head: &'a [u8], name: &str) -> Vec<&'a [u8]> {
    head.split(|&byte| byte == b'\n')
        .filter_map(|line| {
            let at = line.iter().position(|&byte| byte == b':')?;
            let named = line[..at].eq_ignore_ascii_case(name.as_bytes());
            named.then(|| line[at + 1..].trim_ascii())
        })
        .collect()
}

#[tokio::test]
async fn one_validator_is_sent_alone() {
    let publisher = publisher().await;
    let url = format!("{}/f", publisher.base_url());
    answered(roomy(), conditional(&url, Some(b"\"a\""), None)).await;
    answered(roomy(), conditional(&url, None, Some(b"Mon"))).await;
    let asked = publisher.requests();
    assert_eq!(asked[0].header("if-none-match"), Some("\"a\""));
    assert_eq!(asked[0].header("if-modified-since"), None);
    assert_eq!(asked[1].header("if-none-match"), None);
    assert_eq!(asked[1].header("if-modified-since"), Some("Mon"));
}

#[tokio::test]
async fn validators_of_another_address_are_not_sent() {
    let publisher = publisher().await;
    let base = publisher.base_url();
    let other = conditional(&format!("{base}/other"), Some(b"\"a\""), Some(b"Mon"));
    answered(roomy(), FetchRequest { url: format!("{base}/f"), ..other }).await;
    let asked = publisher.requests().remove(0);
    assert_eq!(asked.header("if-none-match"), None);
    assert_eq!(asked.header("if-modified-since"), None);
}

#[tokio::test]
async fn response_head_is_kept_as_sent() {
    let head = b"HTTP/1.1 200 OK\r\nETag: W/\"caf\xe9-gzip\"\r\nLast-Modified:  gestern \r\nCache-Control: max-age=60\r\nCache-Control: private\r\nExpires: 0\r\nAge: 5\r\nDate: then\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
    let server = BrokenServer::start(head.as_slice(), Then::Wait).await;
    let answer = answered(roomy(), request(&server.at("/f"))).await;
    assert_eq!(answer.headers.etag.as_deref(), Some(b"W/\"caf\xe9-gzip\"".as_slice()));
    assert_eq!(answer.headers.last_modified.as_deref(), Some(b"gestern".as_slice()));
    assert_eq!(answer.headers.cache_control.as_deref(), Some("max-age=60, private"));
    assert_eq!(answer.headers.expires.as_deref(), Some("0"));
    assert_eq!(answer.headers.age.as_deref(), Some("5"));
    assert_eq!(answer.headers.date.as_deref(), Some("then"));
    assert_eq!(answer.headers.retry_after.as_deref(), Some("7"));
    assert_eq!(answer.body, AnswerBody::Empty);
}

#[tokio::test]
async fn a_304_delivers_its_headers() {
    let publisher = HttpServer::start(|_| answer(304, &[("etag", "\"b\"")], "")).await.unwrap();
    let url = format!("{}/f", publisher.base_url());
    let answer = answered(roomy(), conditional(&url, Some(b"\"a\""), None)).await;
    assert_eq!(answer.headers.etag.as_deref(), Some(b"\"b\"".as_slice()));
    assert_eq!(answer.headers.last_modified, None);
}

#[tokio::test]
async fn no_body_is_read_for_bodiless_statuses() {
    for status in [300, 304, 305, 306, 400, 404, 410, 429, 500, 503] {
        // The server never sends the announced body, so the test would time out if the client read the body.
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: 1000\r\n\r\n");
        let server = BrokenServer::start(head, Then::Wait).await;
        let fetched = fetch(super::SMALL, request(&server.at("/f"))).await;
        let answer = fetched.result.unwrap();
        assert_eq!((answer.status, answer.body), (status, AnswerBody::Unread));
        assert_eq!(fetched.wire_bytes, 0);
    }
}

#[tokio::test]
async fn connection_is_reused_for_the_next_request() {
    let publisher = publisher().await;
    let http = Http::within(&settings(), roomy(), &here()).unwrap();
    for _ in 0..5 {
        http.fetch(request(&publisher.base_url())).await.result.unwrap();
    }
    assert_eq!(publisher.requests().len(), 5);
}

/// SPEC D.7: a delta is requested with `A-IM`, and the answer's headers and body are read like those of a 200.
#[tokio::test]
async fn delta_is_requested_and_read() {
    let headers = [("im", "feed"), ("delta-base", "\"a\""), ("etag", "\"b\"")];
    let publisher =
        HttpServer::start(move |_| answer(226, &headers, rss("T", "e", 2))).await.unwrap();
    let url = format!("{}/f", publisher.base_url());
    let delta = FetchRequest {
        kind: RequestKind::Delta,
        ..conditional(&url, Some(b"\"a\""), Some(b"Mon"))
    };
    let answer = answered(roomy(), delta).await;
    let asked = publisher.requests().remove(0);
    assert_eq!(
        (asked.header("a-im"), asked.header("if-none-match")),
        (Some("feed"), Some("\"a\""))
    );
    assert_eq!((answer.status, document(&answer).entries.len()), (226, 2));
    assert_eq!(answer.headers.im.as_deref(), Some("feed"));
    assert_eq!(answer.headers.delta_base.as_deref(), Some("\"a\""));
}

/// SPEC D.7: `A-IM` is not sent without an `ETag`, with the `ETag` of another address, or if the engine did not ask for a delta.
#[tokio::test]
async fn no_delta_is_requested_without_an_etag() {
    let publisher = publisher().await;
    let url = format!("{}/f", publisher.base_url());
    let tagged = conditional(&url, Some(b"\"a\""), None);
    let delta = |request: FetchRequest| FetchRequest { kind: RequestKind::Delta, ..request };
    answered(roomy(), delta(conditional(&url, None, Some(b"Mon")))).await;
    answered(roomy(), delta(request(&url))).await;
    answered(roomy(), delta(FetchRequest { url: format!("{url}/other"), ..tagged.clone() })).await;
    answered(roomy(), tagged).await;
    for asked in publisher.requests() {
        assert_eq!(asked.header("a-im"), None, "{asked:?}");
    }
}

/// SPEC D.1, D.2: files are requested with `Accept: */*`, and documents in any format after a 406 or 415 name web pages too.
#[tokio::test]
async fn any_format_is_requested_with_an_explicit_header() {
    let publisher = publisher().await;
    for kind in [RequestKind::Anything, RequestKind::AnyFormat] {
        answered(roomy(), FetchRequest { kind, ..request(&publisher.base_url()) }).await;
    }
    let accept =
        publisher.requests().into_iter().map(|asked| asked.header("accept").map(str::to_owned));
    let accept: Vec<Option<String>> = accept.collect();
    assert_eq!(accept, [Some("*/*".to_owned()), Some("*/*, text/html".to_owned())]);
}

/// G.34: the client adds nothing to the address, sends no `Referer`, and remembers no cookies from one poll to the next.
#[tokio::test]
async fn no_cookie_or_referer_and_an_unchanged_address_is_sent() {
    let publisher = HttpServer::start(|request| match request.path() {
        "/f" => answer(302, &[("location", "/g?b=2&a=%41"), ("set-cookie", "a=b; Path=/")], ""),
        _ => answer(200, &[("set-cookie", "c=d; Path=/")], rss("T", "e", 1)),
    })
    .await
    .unwrap();
    let http = Http::within(&settings(), roomy(), &here()).unwrap();
    let url = format!("{}/f?utm=&x=%7e", publisher.base_url());
    for _ in 0..2 {
        http.fetch(request(&url)).await.result.unwrap();
    }
    let asked = publisher.requests();
    let addresses: Vec<&str> = asked.iter().map(|one| one.path_and_query.as_str()).collect();
    assert_eq!(addresses, ["/f?utm=&x=%7e", "/g?b=2&a=%41", "/f?utm=&x=%7e", "/g?b=2&a=%41"]);
    for pair in asked.chunks(2) {
        assert_eq!(names(&pair[0]), ["accept", "accept-encoding", "host", "user-agent"]);
        assert_eq!(names(&pair[1]), ["accept", "accept-encoding", "cookie", "host", "user-agent"]);
        assert_eq!(pair[1].header("cookie"), Some("a=b"));
    }
}

/// Reads a request and answers it with an empty response (204).
async fn answer_nothing(mut stream: TcpStream) {
    let mut head = [0; 2048];
    assert!(stream.read(&mut head).await.unwrap() > 0);
    stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").await.unwrap();
}

#[tokio::test]
async fn concurrent_requests_stay_within_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let settings = NetworkSettings { parallel: 2, ..settings() };
    let http = Arc::new(Http::within(&settings, roomy(), &here()).unwrap());
    let begun = (0..5).map(|_| {
        let (http, asked) = (Arc::clone(&http), request(&url));
        tokio::spawn(async move { http.fetch(asked).await })
    });
    let begun: Vec<_> = begun.collect();
    let mut under_way = VecDeque::new();
    for _ in 0..5 {
        if under_way.len() == 2 {
            for _ in 0..200 {
                tokio::task::yield_now().await;
            }
            assert!(listener.accept().now_or_never().is_none(), "two are under way");
            answer_nothing(under_way.pop_front().unwrap()).await;
        }
        under_way.push_back(listener.accept().await.unwrap().0);
    }
    for stream in under_way {
        answer_nothing(stream).await;
    }
    for fetch in begun {
        assert_eq!(fetch.await.unwrap().result.unwrap().status, 204);
    }
}

#[tokio::test]
async fn at_most_64_idle_connections_are_kept() {
    let open = Arc::new(AtomicUsize::new(0));
    let http = Http::within(&settings(), roomy(), &here()).unwrap();
    for asked in 1..=150 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/f", listener.local_addr().unwrap());
        let open_here = Arc::clone(&open);
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            open_here.fetch_add(1, Ordering::SeqCst);
            let (mut asked, body) = (vec![0; 4096], rss("T", "e", 1));
            while stream.read(&mut asked).await.unwrap_or(0) > 0 {
                let answer =
                    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
            open_here.fetch_sub(1, Ordering::SeqCst);
        });
        let fetched = http.fetch(request(&url)).await;
        assert_eq!(fetched.result.unwrap().status, 200);
        let closed = async {
            while open.load(Ordering::SeqCst) > asked.min(64) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), closed).await.expect("idle ones are closed");
    }
    assert!(open.load(Ordering::SeqCst) > 1, "idle ones are kept");
}

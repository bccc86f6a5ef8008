//! Redirects are followed by the program itself, reported, and limited (SPEC D.3).

use std::time::Duration;

use backissue::engine::poll::fetch::{AnswerBody, FetchFailure, FetchRequest, Fetched};
use backissue::io::http::Limits;
use backissue::io::http_server::{HttpServer, ServedAnswer, ServedRequest};

use super::{conditional, document, fetch, fetch_in, in_public, request, roomy, settings};
use crate::support::broken_server::{BrokenServer, Then};
use crate::support::documents::rss;
use crate::support::site::answer;

fn to(status: u16, location: &str) -> ServedAnswer {
    answer(status, &[("location", location)], "<html>moved</html>")
}

fn feed() -> ServedAnswer {
    answer(200, &[], rss("T", "e", 2))
}

async fn publisher(
    respond: impl Fn(ServedRequest) -> ServedAnswer + Send + Sync + 'static,
) -> (HttpServer, String) {
    let publisher = HttpServer::start(respond).await.unwrap();
    let base = publisher.base_url();
    (publisher, base)
}

async fn fetch_publicly(limits: Limits, request: FetchRequest) -> Fetched {
    fetch_in(&in_public(), &settings(), limits, request).await
}

fn refused(fetched: &Fetched) -> &str {
    match &fetched.result {
        Err(FetchFailure::Redirect(why)) => why,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn each_kind_of_redirect_is_followed_and_reported() {
    for status in [301, 302, 303, 307, 308] {
        let (_publisher, base) = publisher(move |request| match request.path() {
            "/a/old" => to(status, "../b/new?x=1#part"),
            "/b/new" => feed(),
            _ => answer(404, &[], ""),
        })
        .await;
        let fetched = fetch(roomy(), request(&format!("{base}/a/old"))).await;
        let answer = fetched.result.unwrap();
        assert_eq!(answer.url, format!("{base}/b/new?x=1"), "resolved, without the fragment");
        assert_eq!(document(&answer).entries.len(), 2);
        assert_eq!(fetched.hops.len(), 1);
        assert_eq!((fetched.hops[0].status, &fetched.hops[0].to), (status, &answer.url));
    }
}

#[tokio::test]
async fn relative_absolute_and_schemeless_locations_are_resolved() {
    let (_there, other) = publisher(|_| feed()).await;
    let host = other.trim_start_matches("http:").to_owned();
    for location in [format!("{other}/x"), format!("{host}/x"), "/found".into(), "?page=2".into()] {
        let target = location.clone();
        let (_publisher, base) =
            publisher(
                move |request| {
                    if request.path_and_query == "/start" { to(302, &target) } else { feed() }
                },
            )
            .await;
        let fetched = fetch_publicly(roomy(), request(&format!("{base}/start"))).await;
        let answer = fetched.result.unwrap();
        let expected = match location.as_str() {
            "/found" => format!("{base}/found"),
            "?page=2" => format!("{base}/start?page=2"),
            _ => format!("{other}/x"),
        };
        assert_eq!(answer.url, expected, "{location}");
    }
}

#[tokio::test]
async fn redirect_chain_is_reported_hop_by_hop() {
    let (_publisher, base) = publisher(|request| match request.path() {
        "/1" => to(301, "/2"),
        "/2" => to(302, "/3"),
        "/3" => to(308, "/4"),
        _ => feed(),
    })
    .await;
    let fetched = fetch(roomy(), request(&format!("{base}/1"))).await;
    let hops: Vec<(u16, &str)> =
        fetched.hops.iter().map(|hop| (hop.status, hop.to.as_str())).collect();
    let to = |path: &str| format!("{base}{path}");
    assert_eq!(hops, [(301, to("/2").as_str()), (302, &to("/3")), (308, &to("/4"))]);
}

#[tokio::test]
async fn validators_do_not_travel_to_another_address() {
    let (publisher, base) = publisher(|request| match request.path() {
        "/old" => to(301, "/new"),
        _ => feed(),
    })
    .await;
    let old = format!("{base}/old");
    fetch(roomy(), conditional(&old, Some(b"\"old\""), Some(b"Mon"))).await.result.unwrap();
    let asked = publisher.requests();
    assert_eq!(asked[0].header("if-none-match"), Some("\"old\""));
    assert_eq!(asked[1].header("if-none-match"), None);
    assert_eq!(asked[1].header("if-modified-since"), None);
    assert_eq!(asked[1].header("referer"), None);
}

#[tokio::test]
async fn validators_of_a_redirect_target_are_sent_only_there() {
    let (publisher, base) = publisher(|request| match request.path() {
        "/old" => to(302, "/new"),
        _ => feed(),
    })
    .await;
    let new = conditional(&format!("{base}/new"), Some(b"\"new\""), None);
    let asked = FetchRequest { url: format!("{base}/old"), ..new };
    fetch(roomy(), asked).await.result.unwrap();
    let asked = publisher.requests();
    assert_eq!(asked[0].header("if-none-match"), None);
    assert_eq!(asked[1].header("if-none-match"), Some("\"new\""));
}

#[tokio::test]
async fn a_loop_ends_at_the_first_address_seen_again() {
    let (publisher, base) = publisher(|request| match request.path() {
        "/a" => to(302, "/b"),
        "/b" => to(302, "/a#again"),
        _ => to(302, "/self"),
    })
    .await;
    assert!(refused(&fetch(roomy(), request(&format!("{base}/a"))).await).contains("back to"));
    assert_eq!(publisher.requests().len(), 2);
    assert!(refused(&fetch(roomy(), request(&format!("{base}/self"))).await).contains("back to"));
    assert_eq!(publisher.requests().len(), 3);
}

#[tokio::test]
async fn eight_redirects_are_followed_and_nine_are_not() {
    for (redirects, good) in [(8, true), (9, false)] {
        let (publisher, base) = publisher(move |request| {
            let step: usize = request.path().trim_start_matches('/').parse().unwrap();
            if step == redirects { feed() } else { to(302, &format!("/{}", step + 1)) }
        })
        .await;
        let fetched = fetch(roomy(), request(&format!("{base}/0"))).await;
        assert_eq!(publisher.requests().len(), 9, "one request and eight redirects");
        assert_eq!(fetched.hops.len(), 8);
        if good {
            fetched.result.unwrap();
        } else {
            assert!(refused(&fetched).contains("more than 8"));
        }
    }
}

#[tokio::test]
async fn redirect_to_a_disallowed_address_is_refused() {
    for (location, word) in [
        ("file:///etc/hostname", "file:"),
        ("ftp://files.example/feed", "ftp:"),
        ("data:text/xml,<rss/>", "data:"),
        ("javascript:alert(1)", "javascript:"),
        ("http://", "not valid"),
        ("http://user:word@127.0.0.1/", "a login"),
    ] {
        let (publisher, base) = publisher(move |_| to(301, location)).await;
        let fetched = fetch(roomy(), request(&format!("{base}/f"))).await;
        assert!(refused(&fetched).contains(word), "{location}: {:?}", fetched.result);
        assert_eq!(publisher.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_redirect_without_an_address_is_refused() {
    let (_publisher, base) = publisher(|_| answer(302, &[], "")).await;
    assert!(refused(&fetch(roomy(), request(&base)).await).contains("no address"));
    let (_publisher, base) = publisher(|_| to(302, "http://")).await;
    assert!(refused(&fetch(roomy(), request(&base)).await).contains("not valid"));
}

#[tokio::test]
async fn latin_1_location_is_requested_by_its_bytes() {
    let head = b"HTTP/1.1 301 X\r\nLocation: /caf\xe9\r\nContent-Length: 0\r\n\r\n".as_slice();
    let mut server = BrokenServer::start(head, Then::Close).await;
    fetch(roomy(), request(&server.at("/"))).await.result.unwrap_err();
    server.head().await;
    assert!(server.head().await.starts_with(b"GET /caf%E9 "));
}

/// A cookie that a redirect sets is sent to the same site in the same chain of redirects and then forgotten (SPEC D.3, G.34).
#[tokio::test]
async fn redirect_cookie_is_used_once_and_forgotten() {
    let (there, other) = publisher(|_| feed()).await;
    let lead_out = format!("{other}/f");
    let (publisher, base) = publisher(move |request| {
        let seen = request.header("cookie") == Some("seen=1");
        let set = |location: &str| {
            answer(307, &[("location", location), ("set-cookie", "seen=1; Path=/; HttpOnly")], "")
        };
        match request.path() {
            "/check" => set("/feed"),
            "/out" => set(&lead_out),
            "/useless" => {
                answer(302, &[("location", "/useless"), ("set-cookie", "a=; Max-Age=0")], "")
            }
            _ if seen => feed(),
            "/feed" => to(302, "/check"),
            _ => set(request.path()),
        }
    })
    .await;
    for _ in 0..2 {
        for (path, requests) in [("/feed", 3), ("/itself", 2)] {
            let before = publisher.requests().len();
            let fetched = fetch(roomy(), request(&format!("{base}{path}"))).await;
            assert_eq!(fetched.result.unwrap().url, format!("{base}{path}"));
            assert_eq!(publisher.requests().len() - before, requests, "{path}");
        }
    }
    fetch_publicly(roomy(), request(&format!("{base}/out"))).await.result.unwrap();
    assert_eq!(there.requests()[0].header("cookie"), None, "another site");
    let fetched = fetch(roomy(), request(&format!("{base}/useless"))).await;
    assert!(refused(&fetched).contains("leads back"));
}

#[tokio::test]
async fn endless_cookie_redirects_stop_at_the_limit() {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let (publisher, base) = publisher(move |_| {
        let count = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        answer(302, &[("location", "/f"), ("set-cookie", &format!("n={count}"))], "")
    })
    .await;
    let fetched = fetch(roomy(), request(&format!("{base}/f"))).await;
    assert_eq!(refused(&fetched), "more than 8 in a row");
    assert_eq!(publisher.requests().len(), 9);
}

/// The server closes the connection after each redirect without announcing it, so the client must open a new connection.
#[tokio::test]
async fn reconnects_after_a_hangup_following_a_redirect() {
    let head = "HTTP/1.1 302 X\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n";
    let mut server = BrokenServer::start(head, Then::Close).await;
    let fetched = fetch(roomy(), request(&server.at("/"))).await;
    assert!(refused(&fetched).contains("leads back"), "{fetched:?}");
    server.head().await;
    assert!(server.head().await.starts_with(b"GET /again "));
}

#[tokio::test]
async fn redirect_body_is_not_awaited() {
    let (_publisher, base) = publisher(|_| feed()).await;
    let head = format!("HTTP/1.1 302 X\r\nLocation: {base}/f\r\nContent-Length: 999\r\n\r\n");
    let server = BrokenServer::start(head, Then::Wait).await;
    let answer = fetch_publicly(super::SMALL, request(&server.at("/"))).await.result.unwrap();
    assert_eq!(answer.url, format!("{base}/f"));
}

/// SPEC D.3: a redirect with a short `Retry-After` is followed after that time. If the limit for the whole fetch is shorter, the
/// second request is never sent.
#[tokio::test]
async fn short_retry_after_on_a_redirect_is_waited_for() {
    for (wait, requests) in [("0", 2), ("Mon, 02 Mar 2026 10:00:00 GMT", 2), ("3", 1)] {
        let (publisher, base) = publisher(move |request| match request.path() {
            "/old" => answer(301, &[("location", "/new"), ("retry-after", wait)], ""),
            _ => feed(),
        })
        .await;
        let fetched = fetch(super::SMALL, request(&format!("{base}/old"))).await;
        assert_eq!(publisher.requests().len(), requests, "{wait}");
        if requests == 1 {
            let waiting = matches!(
                fetched.result,
                Err(FetchFailure::Timeout { phase: "whole response", .. })
            );
            assert!(waiting, "{:?}", fetched.result);
            assert_eq!(fetched.hops, []);
        }
    }
}

/// SPEC D.3: a redirect with a `Retry-After` above `redirect_wait_max` is not followed but returned to the caller.
#[tokio::test]
async fn long_retry_after_on_a_redirect_is_not_followed() {
    let limits = Limits { redirect_wait_max: Duration::from_secs(1), ..roomy() };
    for wait in ["2", "Sat, 02 Mar 2126 10:00:00 GMT"] {
        let (publisher, base) = publisher(move |request| match request.path() {
            "/first" => to(302, "/old"),
            "/old" => answer(301, &[("location", "/new"), ("retry-after", wait)], ""),
            _ => feed(),
        })
        .await;
        let fetched = fetch(limits, request(&format!("{base}/first"))).await;
        let answer = fetched.result.unwrap();
        assert_eq!((answer.status, &answer.body), (301, &AnswerBody::Unread));
        assert_eq!(answer.headers.retry_after.as_deref(), Some(wait));
        assert_eq!((publisher.requests().len(), fetched.hops.len()), (2, 1));
    }
}

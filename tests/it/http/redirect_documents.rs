//! Redirect documents, which only state the new address of a feed (SPEC D.5, S1.12, S1.14).

use backissue::engine::poll::fetch::{AnswerBody, FetchFailure, Fetched};
use backissue::io::http_server::{HttpServer, ServedAnswer};
use backissue_core::feed::{Kind, NewLocation};

use super::{conditional, document, fetch, request, roomy};
use crate::support::documents::rss;
use crate::support::site::answer;

fn moved(to: &str) -> ServedAnswer {
    let text = format!("<redirect><newLocation>{to}</newLocation></redirect>");
    answer(200, &[("etag", "\"moved\""), ("content-type", "text/xml")], text)
}

fn feed() -> ServedAnswer {
    answer(200, &[], rss("T", "e", 2))
}

async fn publisher(
    respond: impl Fn(&str) -> ServedAnswer + Send + Sync + 'static,
) -> (HttpServer, String) {
    let publisher = HttpServer::start(move |request| respond(request.path())).await.unwrap();
    let base = publisher.base_url();
    (publisher, base)
}

fn told(fetched: &Fetched) -> Vec<(u16, &str, bool)> {
    fetched.hops.iter().map(|hop| (hop.status, hop.to.as_str(), hop.by_document)).collect()
}

/// SPEC D.5: a redirect document is followed like a response with the status 301 and counts in the same chain of redirects.
#[tokio::test]
async fn a_redirect_document_is_followed_like_a_permanent_redirect() {
    let (publisher, base) = publisher(|path| match path {
        "/a" => moved(" /b#part "),
        "/b" => answer(302, &[("location", "/c")], ""),
        _ => feed(),
    })
    .await;
    let asked = conditional(&format!("{base}/a"), Some(b"\"a\""), None);
    let fetched = fetch(roomy(), asked).await;
    let to = |path: &str| format!("{base}{path}");
    assert_eq!(told(&fetched), [(301, to("/b").as_str(), true), (302, to("/c").as_str(), false)]);
    assert!(!fetched.conditional, "the last request had no validators");
    let answer = fetched.result.unwrap();
    assert_eq!((answer.url.clone(), document(&answer).entries.len()), (to("/c"), 2));
    let sent: Vec<Option<String>> = publisher
        .requests()
        .iter()
        .map(|one| one.header("if-none-match").map(str::to_owned))
        .collect();
    assert_eq!(sent, [Some("\"a\"".to_owned()), None, None]);
}

/// SPEC D.5, S1.14: the client does not follow a redirect document without an address but returns it to the engine, which treats
/// the feed as gone.
#[tokio::test]
async fn a_redirect_document_without_an_address_is_handed_up() {
    let (_publisher, base) = publisher(|path| match path {
        "/a" => answer(302, &[("location", "/b")], ""),
        _ => moved(""),
    })
    .await;
    let fetched = fetch(roomy(), request(&format!("{base}/a"))).await;
    assert_eq!(fetched.hops.len(), 1);
    let answer = fetched.result.unwrap();
    let read = document(&answer);
    assert_eq!((read.kind, &read.new_location), (Kind::Redirect, &Some(NewLocation::Gone)));
}

/// At most `XML_REDIRECT_MAX` (SPEC 0) redirect documents are followed in a row.
#[tokio::test]
async fn two_redirect_documents_are_followed_and_three_are_not() {
    for (last, good) in [("/2", true), ("/3", false)] {
        let (publisher, base) = publisher(move |path| match path {
            path if path == last => feed(),
            "/0" => moved("/1"),
            "/1" => moved("/2"),
            _ => moved("/3"),
        })
        .await;
        let fetched = fetch(roomy(), request(&format!("{base}/0"))).await;
        assert_eq!(publisher.requests().len(), 3);
        if good {
            fetched.result.unwrap();
        } else {
            let why = "more than 2 redirect documents in a row".to_owned();
            assert_eq!(fetched.result, Err(FetchFailure::Redirect(why)));
        }
    }
}

/// SPEC D.5: a loop is detected even if it consists of a redirect document and a redirect status.
#[tokio::test]
async fn document_and_status_redirect_loop_ends() {
    let (publisher, base) = publisher(|path| match path {
        "/a" => moved("/b"),
        _ => answer(301, &[("location", "/a")], ""),
    })
    .await;
    let fetched = fetch(roomy(), request(&format!("{base}/a"))).await;
    assert_eq!(fetched.result, Err(FetchFailure::Redirect(format!("it leads back to {base}/a"))));
    assert_eq!(publisher.requests().len(), 2);
}

/// SPEC D.5: the address in a redirect document must meet the same conditions as that in a `Location` header: permitted scheme, no
/// user information, permitted host.
#[tokio::test]
async fn redirect_document_has_the_limits_of_a_status() {
    for (target, why) in [
        ("file:///etc/hostname", "bad redirect: it leads to a 'file:' address"),
        ("http://u:p@127.0.0.1/", "bad redirect: its address contains a login"),
        ("http://169.254.169.254/", "not requested: 169.254.169.254 is a link-local address"),
        ("http://127.0.0.2/", "not requested: 127.0.0.2 is an address of this machine"),
    ] {
        let (publisher, base) = publisher(move |_| moved(target)).await;
        let failure = fetch(roomy(), request(&format!("{base}/a"))).await.result.unwrap_err();
        assert!(failure.to_string().starts_with(why), "{target}: {failure}");
        assert_eq!(publisher.requests().len(), 1);
    }
}

/// SPEC D.2: a redirect document is followed only in a full response: a 404 stays a failure whatever its body contains, and a delta
/// (226) cannot redirect.
#[tokio::test]
async fn redirect_document_counts_only_in_a_full_response() {
    for status in [226, 404] {
        let (publisher, base) = publisher(move |_| ServedAnswer { status, ..moved("/b") }).await;
        let fetched = fetch(roomy(), request(&format!("{base}/a"))).await;
        assert_eq!((publisher.requests().len(), fetched.hops.len()), (1, 0));
        let body = fetched.result.unwrap().body;
        assert_eq!(status == 404, body == AnswerBody::Unread);
    }
}

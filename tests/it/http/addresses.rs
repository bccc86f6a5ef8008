//! The client connects only to permitted addresses: each address is checked on every redirect, and the connection goes to the
//! checked address (SPEC D.6). The tests need a machine where all of 127.0.0.0/8 is local.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use backissue::engine::poll::fetch::{AddressSource, FetchFailure, FetchId, FetchRequest, Fetched};
use backissue::engine::settings::NetworkSettings;
use backissue::io::http::address_guard::AddressClass;
use backissue::io::http::{ClientEnvironment, Http, NameLookup, NameResolver};
use backissue::io::http_server::{HttpServer, ServedAnswer};

use super::{SMALL, fetch, fetch_in, here, request, roomy, settings};
use crate::support::broken_server::{BrokenServer, Then};
use crate::support::documents::rss;
use crate::support::site::answer;

/// An address of this machine that the tests classify as public, and one that they classify as private.
const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const PRIVATE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

fn classify(address: IpAddr) -> AddressClass {
    match address {
        PUBLIC => AddressClass::Public,
        PRIVATE => AddressClass::Private,
        other => AddressClass::classify(other),
    }
}

/// A name resolver that answers each look-up with the next item of a list, and repeats the last item.
#[derive(Debug)]
struct Listed {
    answers: Vec<Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl NameResolver for Listed {
    fn look_up(&self, _name: &str) -> NameLookup {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst).min(self.answers.len() - 1);
        let found: Vec<SocketAddr> =
            self.answers[turn].iter().map(|&ip| SocketAddr::new(ip, 0)).collect();
        Box::pin(async move { Ok(found) })
    }
}

fn listed(answers: &[&[IpAddr]]) -> Arc<Listed> {
    let answers = answers.iter().map(|found| found.to_vec()).collect();
    Arc::new(Listed { answers, asked: AtomicUsize::new(0) })
}

fn world(names: &Arc<Listed>) -> ClientEnvironment {
    let names: Arc<dyn NameResolver> = Arc::<Listed>::clone(names);
    ClientEnvironment { names, classify, ..here() }
}

async fn publisher(
    respond: impl Fn(&str) -> ServedAnswer + Send + Sync + 'static,
) -> (HttpServer, u16) {
    let publisher = HttpServer::start(move |request| respond(request.path())).await.unwrap();
    let port = publisher.address().port();
    (publisher, port)
}

fn feed() -> ServedAnswer {
    answer(200, &[], rss("T", "e", 1))
}

fn supplied(url: String, by: &str, public: bool) -> FetchRequest {
    FetchRequest {
        address_source: AddressSource::Supplied { by: by.into(), public },
        ..FetchRequest::typed(FetchId(1), url)
    }
}

fn blocked(fetched: &Fetched) -> &str {
    match &fetched.result {
        Err(FetchFailure::Blocked(why)) => why,
        other => panic!("not blocked: {other:?}"),
    }
}

#[tokio::test]
async fn typed_loopback_address_is_polled_and_called_not_public() {
    let (_publisher, port) = publisher(|_| feed()).await;
    for host in ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"] {
        let asked = request(&format!("http://{host}:{port}/"));
        let answer = fetch(roomy(), asked).await.result.unwrap();
        assert!(!answer.public, "{host}");
    }
}

/// SPEC D.6: typed addresses that are link-local are refused unless allowed, and those that no server can have are refused.
#[tokio::test]
async fn typed_address_without_a_feed_is_refused_with_a_sentence() {
    for (host, word) in [
        ("169.254.169.254", "allow_link_local = [\"169.254.169.254\"]"),
        ("[fe80::1]", "allow_link_local = [\"fe80::1\"]"),
        ("[::ffff:169.254.169.254]", "link-local"),
        ("0.0.0.0", "no server can have"),
        ("0", "no server can have"),
        ("255.255.255.255", "no server can have"),
        ("224.0.0.1", "no server can have"),
        ("[ff02::1]", "no server can have"),
        ("[::]", "no server can have"),
        ("192.0.2.1", "no server can have"),
        ("198.18.0.1", "no server can have"),
        ("[2001:db8::1]", "no server can have"),
    ] {
        let refused = fetch(SMALL, request(&format!("http://{host}/feed"))).await;
        assert!(blocked(&refused).contains(word), "{host}: {:?}", refused.result);
    }
}

/// SPEC D.6: a link-local host is requested only if `allow_link_local` names it.
#[tokio::test]
async fn allowed_link_local_host_is_polled() {
    let (_publisher, port) = publisher(|_| feed()).await;
    let names = listed(&[&[PUBLIC]]);
    let around = ClientEnvironment { classify: |_| AddressClass::LinkLocal, ..world(&names) };
    let allowing = NetworkSettings { allow_link_local: vec!["cam.lan".into()], ..settings() };
    let ask = |host: &str| request(&format!("http://{host}:{port}/"));
    fetch_in(&around, &allowing, roomy(), ask("cam.lan")).await.result.unwrap();
    blocked(&fetch_in(&around, &allowing, roomy(), ask("other.lan")).await);
    blocked(&fetch_in(&around, &settings(), roomy(), ask("cam.lan")).await);
}

/// SPEC D.6: addresses in the setting `allow_addresses` may be requested even if a public document names them.
#[tokio::test]
async fn allowed_address_is_requested_from_any_source() {
    let (_publisher, port) = publisher(|_| feed()).await;
    // On many systems localhost has both addresses.
    let allow_addresses = ["127.0.0.0/8", "::1/128"].map(|net| net.parse().unwrap()).to_vec();
    let allowing = NetworkSettings { allow_addresses, ..settings() };
    for host in ["127.0.0.1", "localhost"] {
        let asked = supplied(format!("http://{host}:{port}/"), "http://a.example/feed", true);
        blocked(&fetch_in(&here(), &settings(), roomy(), asked.clone()).await);
        assert!(fetch_in(&here(), &allowing, roomy(), asked).await.result.unwrap().public);
    }
}

/// SPEC D.6: an address of this machine that a document names is requested only if the document is local and came from the same
/// host and port.
#[tokio::test]
async fn supplied_address_has_the_reach_of_its_document() {
    let (publisher, port) = publisher(|_| feed()).await;
    let here_url = format!("http://localhost:{port}/archive");
    let numbers = format!("http://127.0.0.1:{port}/archive");
    for (url, by, public, good) in [
        (&here_url, format!("http://localhost:{port}/feed"), false, true),
        (&here_url, format!("http://localhost:{port}/feed"), true, false),
        (&here_url, format!("http://localhost:{}/feed", port - 1), false, false),
        (&here_url, "http://a.example/feed".to_owned(), true, false),
        (&here_url, "http://a.example/feed".to_owned(), false, false),
        (&numbers, format!("http://127.0.0.1:{port}/feed"), false, true),
        (&numbers, format!("http://localhost:{port}/feed"), false, false),
        (&numbers, "http://a.example/feed".to_owned(), true, false),
    ] {
        let before = publisher.requests().len();
        let fetched = fetch(roomy(), supplied(url.clone(), &by, public)).await;
        if good {
            fetched.result.unwrap();
        } else {
            blocked(&fetched);
        }
        assert_eq!(publisher.requests().len() - before, usize::from(good), "{by} to {url}");
    }
}

/// SPEC D.6: a document from the local network may name a public address, and the answer says that its address is public.
#[tokio::test]
async fn local_document_may_name_a_public_address() {
    let (_publisher, port) = publisher(|_| feed()).await;
    let names = listed(&[&[PUBLIC]]);
    for public in [true, false] {
        let asked = supplied(format!("http://b.example:{port}/"), "http://nas.lan/feed", public);
        let answer = fetch_in(&world(&names), &settings(), roomy(), asked).await.result.unwrap();
        assert!(answer.public);
    }
}

/// SPEC D.3, D.6: the address of every redirect is checked, not only the first one.
#[tokio::test]
async fn public_site_may_not_redirect_to_local_addresses() {
    for target in ["http://127.0.0.3:1/", "http://127.0.0.2/", "http://10.0.0.1/", "http://[::1]/"]
    {
        let (publisher, port) = publisher(move |path| match path {
            "/a" => answer(302, &[("location", "/b")], ""),
            _ => answer(301, &[("location", target)], ""),
        })
        .await;
        let names = listed(&[&[PUBLIC]]);
        let asked = request(&format!("http://a.example:{port}/a"));
        let fetched = fetch_in(&world(&names), &settings(), SMALL, asked).await;
        assert!(blocked(&fetched).contains("a.example"), "{:?}", fetched.result);
        assert_eq!((publisher.requests().len(), fetched.hops.len()), (2, 2));
    }
}

/// SPEC D.6: a server on this machine may redirect to itself, but not to another port.
#[tokio::test]
async fn loopback_site_may_redirect_only_to_its_own_port() {
    let (other, other_port) = publisher(|_| feed()).await;
    let (_publisher, port) = publisher(move |path| match path {
        "/own" => answer(301, &[("location", "/feed")], ""),
        "/other" => answer(301, &[("location", &format!("http://127.0.0.1:{other_port}/"))], ""),
        _ => feed(),
    })
    .await;
    let ask = |path: &str| request(&format!("http://127.0.0.1:{port}{path}"));
    fetch(roomy(), ask("/own")).await.result.unwrap();
    let why = format!("127.0.0.1:{port} may point only to its own host and port");
    assert!(blocked(&fetch(roomy(), ask("/other")).await).contains(&why));
    assert_eq!(other.requests().len(), 0);
}

/// SPEC D.6: a name is looked up once for each connection, and the connection goes to the address that was checked, even if the
/// name has another address at the next look-up.
#[tokio::test]
async fn name_changed_after_the_check_is_not_connected_to() {
    // The resolver's second answer is the address of `inner`, to which the client must never connect.
    let (publisher, port) = publisher(|_| feed()).await;
    let inner = BrokenServer::start_at(PRIVATE, port, "HTTP/1.1 200 OK\r\n\r\n", Then::Close).await;
    for public in [true, false] {
        let names = listed(&[&[PUBLIC], &[PRIVATE]]);
        let http = Http::within(&settings(), roomy(), &world(&names)).unwrap();
        let url = format!("http://a.example:{port}/");
        let first = supplied(url.clone(), "http://b.example/", public);
        http.fetch(first.clone()).await.result.unwrap();
        assert_eq!(names.asked.load(Ordering::SeqCst), 1, "checked and connected by one look-up");
        // The second request uses the open connection without another look-up.
        http.fetch(first.clone()).await.result.unwrap();
        assert_eq!(names.asked.load(Ordering::SeqCst), 1);
        // Another client, which has no open connection, looks the name up again and refuses its new address.
        let anew = Http::within(&settings(), roomy(), &world(&names)).unwrap();
        blocked(&anew.fetch(first).await);
    }
    assert_eq!(publisher.requests().len(), 4);
    assert_eq!(inner.connections(), 0);
}

/// SPEC D.6: if a name has several addresses, all of them are checked, not only the one that would be tried first.
#[tokio::test]
async fn name_with_one_private_address_is_refused_as_public() {
    let (publisher, port) = publisher(|_| feed()).await;
    let names = listed(&[&[PUBLIC, PRIVATE]]);
    let asked = supplied(format!("http://a.example:{port}/"), "http://b.example/", true);
    blocked(&fetch_in(&world(&names), &settings(), roomy(), asked).await);
    assert_eq!(publisher.requests().len(), 0);
}

/// SPEC D.6: a request for an address that a public document names may not use a connection that was opened for a typed address.
#[tokio::test]
async fn open_connection_does_not_bypass_the_address_check() {
    let server = BrokenServer::start_at(
        PRIVATE,
        0,
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n ",
        Then::Wait,
    )
    .await;
    let names = listed(&[&[PRIVATE]]);
    let http = Http::within(&settings(), roomy(), &world(&names)).unwrap();
    let url = format!("http://nas.lan:{}/", server.port());
    let answer = http.fetch(request(&url)).await.result.unwrap();
    assert!(!answer.public);
    blocked(&http.fetch(supplied(url, "http://a.example/feed", true)).await);
    assert_eq!(server.connections(), 1);
}

/// SPEC D.6: addresses that a document names are refused if they have user information or a scheme other than http and https.
#[tokio::test]
async fn supplied_address_with_login_or_other_scheme_is_refused() {
    let by = "http://a.example/feed";
    blocked(&fetch(SMALL, supplied("http://u:p@b.example/".into(), by, true)).await);
    for scheme in ["file:///etc/hostname", "ftp://b.example/", "gopher://b.example/"] {
        let refused = fetch(SMALL, supplied(scheme.into(), by, true)).await.result;
        assert!(matches!(refused, Err(FetchFailure::Address(_))), "{refused:?}");
    }
}

/// SPEC D.6: an http address in a document that was read over https is requested only if the user allows it.
#[tokio::test]
async fn insecure_address_in_a_secure_document_needs_permission() {
    let (publisher, port) = publisher(|_| feed()).await;
    let names = listed(&[&[PUBLIC]]);
    let asked = supplied(format!("http://b.example:{port}/"), "https://a.example/feed", true);
    let refused = fetch_in(&world(&names), &settings(), roomy(), asked.clone()).await.result;
    assert_eq!(refused, Err(FetchFailure::Insecure { to: format!("http://b.example:{port}/") }));
    assert_eq!(publisher.requests().len(), 0);
    let allowed = FetchRequest { allow_insecure: true, ..asked };
    fetch_in(&world(&names), &settings(), roomy(), allowed).await.result.unwrap();
}

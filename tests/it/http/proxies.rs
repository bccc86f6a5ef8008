//! Proxies from the configuration and the environment (SPEC D.6, D.8; the decisions are in `io::http`).

use std::sync::Arc;

use backissue::engine::poll::fetch::{AddressSource, FetchFailure, FetchId, FetchRequest};
use backissue::engine::settings::NetworkSettings;
use backissue::io::http::{ClientEnvironment, NameLookup, NameResolver};
use backissue::io::http_server::HttpServer;
use hyper_util::client::proxy::matcher::Matcher;

use super::{fetch_in, here, request, roomy, settings};
use crate::support::broken_server::{BrokenServer, Then};
use crate::support::documents::rss;
use crate::support::site::answer;

pub(super) async fn proxy() -> BrokenServer {
    let body = rss("T", "e", 1);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    BrokenServer::start(head, Then::Close).await
}

fn environment(proxy: &str, exceptions: &str) -> ClientEnvironment {
    let proxies = Matcher::builder().all(proxy.to_owned()).no(exceptions.to_owned()).build();
    ClientEnvironment { proxies: Arc::new(proxies), ..here() }
}

/// A name resolver that finds no name, so that requests without a proxy fail.
#[derive(Debug)]
pub(super) struct Nobody;

impl NameResolver for Nobody {
    fn look_up(&self, _name: &str) -> NameLookup {
        Box::pin(async { Err(std::io::ErrorKind::NotFound.into()) })
    }
}

pub(super) async fn line(server: &mut BrokenServer) -> String {
    let head = String::from_utf8(server.head().await).unwrap();
    head.lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn environment_proxy_is_used_for_public_names() {
    let mut proxy = proxy().await;
    let around = environment(&proxy.at(""), "");
    let asked = request("http://a.example/feed");
    let answer = fetch_in(&around, &settings(), roomy(), asked).await.result.unwrap();
    assert_eq!(line(&mut proxy).await, "GET http://a.example/feed HTTP/1.1");
    assert!(answer.public, "a name requested through a proxy counts as public");
}

#[tokio::test]
async fn the_proxys_own_credentials_go_to_the_proxy() {
    let mut proxy = proxy().await;
    let around = environment(&proxy.at("").replace("http://", "http://u:p@"), "");
    let asked = request("http://a.example/feed");
    fetch_in(&around, &settings(), roomy(), asked).await.result.unwrap();
    let head = String::from_utf8(proxy.head().await).unwrap().to_ascii_lowercase();
    assert!(head.contains("proxy-authorization: basic dtpw"), "{head}");
    assert!(!head.contains("\nauthorization"), "{head}");
}

#[tokio::test]
async fn loopback_is_never_requested_through_a_proxy() {
    let proxy = proxy().await;
    let publisher = HttpServer::start(|_| answer(200, &[], rss("T", "e", 1))).await.unwrap();
    let port = publisher.address().port();
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        let asked = request(&format!("http://{host}:{port}/"));
        fetch_in(&environment(&proxy.at(""), ""), &settings(), roomy(), asked)
            .await
            .result
            .unwrap();
    }
    assert_eq!((publisher.requests().len(), proxy.connections()), (3, 0));
}

#[tokio::test]
async fn no_proxy_hosts_are_requested_directly() {
    let proxy = proxy().await;
    for (exceptions, host) in [
        ("a.example", "a.example"),
        (".a.example, other", "www.a.example"),
        ("10.0.0.0/8,192.0.2.0/24", "192.0.2.7"),
        ("*", "b.example"),
    ] {
        let around =
            ClientEnvironment { names: Arc::new(Nobody), ..environment(&proxy.at(""), exceptions) };
        let asked = request(&format!("http://{host}:1/"));
        fetch_in(&around, &settings(), roomy(), asked).await.result.unwrap_err();
        assert_eq!(proxy.connections(), 0, "{exceptions}");
    }
}

#[tokio::test]
async fn configured_proxy_leaves_this_machine_and_no_proxy_alone() {
    let mut proxy = proxy().await;
    for address in [proxy.at(""), proxy.at("").replace("http://", "")] {
        let through = NetworkSettings { proxy: Some(address), ..settings() };
        let no_proxy = "intern.example, 10.0.0.0/8".to_owned();
        let around = ClientEnvironment { names: Arc::new(Nobody), no_proxy, ..here() };
        let url = "http://a.example/feed";
        fetch_in(&around, &through, roomy(), request(url)).await.result.unwrap();
        assert_eq!(line(&mut proxy).await, format!("GET {url} HTTP/1.1"));
        for url in ["http://127.0.0.1:1/", "http://localhost:1/", "http://www.intern.example/"] {
            fetch_in(&around, &through, roomy(), request(url)).await.result.unwrap_err();
            assert_eq!(proxy.connections(), 0, "{url}");
        }
    }
}

/// SPEC D.6: with a proxy, only addresses written as numbers and names of this machine can be checked, and they are refused as
/// without one.
#[tokio::test]
async fn literal_addresses_are_checked_with_a_proxy_too() {
    let proxy = proxy().await;
    let through = NetworkSettings { proxy: Some(proxy.at("")), ..settings() };
    for host in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "localhost", "a.localhost"] {
        let address_source =
            AddressSource::Supplied { by: "http://a.example/feed".into(), public: true };
        let asked = FetchRequest {
            address_source,
            ..FetchRequest::typed(FetchId(1), format!("http://{host}/"))
        };
        let refused = fetch_in(&here(), &through, roomy(), asked).await.result;
        assert!(matches!(refused, Err(FetchFailure::Blocked(_))), "{host}: {refused:?}");
    }
    let refused = fetch_in(&here(), &through, roomy(), request("http://169.254.169.254/")).await;
    assert!(matches!(refused.result, Err(FetchFailure::Blocked(_))), "{refused:?}");
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn unreachable_proxy_is_named() {
    let through = |proxy: &str| NetworkSettings { proxy: Some(proxy.into()), ..settings() };
    let asked = request("http://a.example/feed");
    let around = ClientEnvironment { names: Arc::new(Nobody), ..here() };
    let refused = fetch_in(&around, &through("127.0.0.1:1"), roomy(), asked.clone()).await.result;
    let why = "no connection to a.example through the proxy 127.0.0.1 (connection refused)";
    assert_eq!(refused.unwrap_err().to_string(), why);
    let unknown = fetch_in(&around, &through("http://p.lan:8"), roomy(), asked).await.result;
    assert_eq!(unknown, Err(FetchFailure::Name("p.lan".into())));
}

#[tokio::test]
async fn locally_resolved_socks5_name_is_reported_as_not_found() {
    let proxy = proxy().await;
    let address = proxy.at("").replace("http://", "socks5://");
    let through = NetworkSettings { proxy: Some(address), ..settings() };
    let around = ClientEnvironment { names: Arc::new(Nobody), ..here() };
    let refused = fetch_in(&around, &through, roomy(), request("http://a.example/feed")).await;
    assert_eq!(refused.result, Err(FetchFailure::Name("a.example".into())));
}

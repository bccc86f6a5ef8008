//! Credentials are sent to their origin only and never shown (SPEC D.1, D.3, D.6).

use backissue::engine::poll::fetch::{FetchFailure, FetchRequest};
use backissue::engine::settings::{Credentials, Login, NetworkSettings, Secret};
use backissue::io::http_server::{HttpServer, ServedAnswer};

use super::{fetch, fetch_in, in_public, request, roomy, settings};
use crate::support::documents::rss;
use crate::support::site::answer;

/// The logins `reader:open sesame` and `o@c:a/b` as `Authorization` header values, encoded as in RFC 7617.
const READER: &str = "Basic cmVhZGVyOm9wZW4gc2VzYW1l";
const ODD: &str = "Basic b0BjOmEvYg==";

fn secret(text: &str) -> Secret {
    Secret::new(text.to_owned())
}

fn knowing(all: &[(&str, Login)]) -> NetworkSettings {
    let one = |(origin, login): &(&str, Login)| Credentials {
        origin: (*origin).to_owned(),
        login: login.clone(),
    };
    NetworkSettings { credentials: all.iter().map(one).collect(), ..settings() }
}

fn reader() -> Login {
    Login::Basic { user: secret("reader"), password: secret("open sesame") }
}

fn bearer() -> Login {
    Login::Bearer { token: secret("abc.def") }
}

/// Starts a site whose path `/away` redirects to the address `away`, `/on` to its own feed, and whose other paths serve the feed.
async fn site(away: String) -> HttpServer {
    HttpServer::start(move |request| match request.path() {
        "/away" => answer(302, &[("location", &away)], ""),
        "/on" => answer(301, &[("location", "/feed")], ""),
        _ => feed(),
    })
    .await
    .unwrap()
}

fn feed() -> ServedAnswer {
    answer(200, &[], rss("T", "e", 1))
}

fn sent(publisher: &HttpServer) -> Vec<Option<String>> {
    let all = publisher.requests();
    all.iter().map(|one| one.header("authorization").map(str::to_owned)).collect()
}

#[tokio::test]
async fn configured_credentials_go_to_their_origin_on_every_hop() {
    for (login, line) in [(reader(), READER), (bearer(), "Bearer abc.def")] {
        let here = site(String::new()).await;
        let settings = knowing(&[(&here.base_url(), login)]);
        let asked = request(&format!("{}/on", here.base_url()));
        fetch_in(&in_public(), &settings, roomy(), asked).await.result.unwrap();
        assert_eq!(sent(&here), [Some(line.to_owned()), Some(line.to_owned())]);
    }
}

/// SPEC D.3: a redirect to another origin does not send the first origin's credentials; credentials configured for the other origin
/// are sent to it.
#[tokio::test]
async fn credentials_do_not_cross_to_another_origin() {
    for there_knows in [false, true] {
        let there = site(String::new()).await;
        let here = site(format!("{}/feed", there.base_url())).await;
        let (here_url, there_url) = (here.base_url(), there.base_url());
        let mut all = vec![(here_url.as_str(), reader())];
        if there_knows {
            all.push((there_url.as_str(), bearer()));
        }
        let asked = request(&format!("{here_url}/away"));
        fetch_in(&in_public(), &knowing(&all), roomy(), asked).await.result.unwrap();
        assert_eq!(sent(&here), [Some(READER.to_owned())]);
        assert_eq!(sent(&there), [there_knows.then(|| "Bearer abc.def".to_owned())]);
    }
}

/// SPEC D.3: credentials are sent only to the scheme, host and port for which they are configured.
#[tokio::test]
async fn an_origin_is_scheme_host_and_port() {
    let here = site(String::new()).await;
    let base = here.base_url();
    let port = here.address().port();
    for (origin, matches) in [
        (base.clone(), true),
        (format!("https://127.0.0.1:{port}"), false),
        (format!("http://localhost:{port}"), false),
        ("http://127.0.0.1".to_owned(), false),
    ] {
        let asked = request(&format!("{base}/feed"));
        fetch_in(&in_public(), &knowing(&[(&origin, reader())]), roomy(), asked)
            .await
            .result
            .unwrap();
        assert_eq!(sent(&here).pop().unwrap().is_some(), matches, "{origin}");
    }
}

/// SPEC D.1: user information in a typed address becomes a header and is never sent or shown in the address.
#[tokio::test]
async fn login_in_a_typed_address_is_sent_only_to_its_origin() {
    let there = site(String::new()).await;
    let here = site(format!("{}/feed", there.base_url())).await;
    let with = |path: &str| {
        let place = here.base_url().replace("http://", "");
        request(&format!("http://o%40c:a%2Fb@{place}{path}"))
    };
    let fetched = fetch_in(&in_public(), &settings(), roomy(), with("/on")).await;
    assert_eq!(sent(&here), [Some(ODD.to_owned()), Some(ODD.to_owned())]);
    assert_eq!(fetched.hops[0].to, format!("{}/feed", here.base_url()));
    assert_eq!(fetched.result.unwrap().url, format!("{}/feed", here.base_url()));
    let asked = here.requests();
    assert_eq!(asked[0].path_and_query, "/on");
    assert_eq!(asked[0].header("host"), Some(here.base_url().replace("http://", "").as_str()));

    fetch_in(&in_public(), &settings(), roomy(), with("/away")).await.result.unwrap();
    assert_eq!(sent(&there), [None]);
}

#[tokio::test]
async fn typed_credentials_override_configured_ones() {
    let here = site(String::new()).await;
    let settings = knowing(&[(&here.base_url(), bearer())]);
    let place = here.base_url().replace("http://", "http://o%40c:a%2Fb@");
    fetch_in(&in_public(), &settings, roomy(), request(&place)).await.result.unwrap();
    assert_eq!(sent(&here), [Some(ODD.to_owned())]);
}

/// SPEC D.6: credentials and tokens are shown neither in failure messages nor in debug output.
#[tokio::test]
async fn secrets_appear_in_no_message() {
    let settings = knowing(&[("http://127.0.0.1:1", reader()), ("http://b.example", bearer())]);
    let shown = format!("{settings:?}");
    let http = backissue::io::http::Http::new(&settings, roomy()).unwrap();
    let shown = shown + &format!("{http:?}");
    for secret in ["reader", "open sesame", "abc.def", READER] {
        assert!(!shown.contains(secret), "{shown}");
    }
    for url in [
        "http://o:hunter2@127.0.0.1:1/",
        "ftp://o:hunter2@a.example/",
        "http://o:hunter2@:80/",
        "http://o:hunter2@169.254.1.1/",
        "o:hunter2@a.example",
    ] {
        let failure: FetchFailure = fetch(roomy(), request(url)).await.result.unwrap_err();
        assert!(!format!("{failure} {failure:?}").contains("hunter2"), "{failure:?}");
    }
    for proxy in ["ht!tp://o:hunter2@p", "ftp://o:hunter2@p:1", "o:hunter2@"] {
        let proxied = NetworkSettings { proxy: Some(proxy.into()), ..settings.clone() };
        let why = backissue::io::http::Http::new(&proxied, roomy()).unwrap_err();
        assert!(why.contains("cannot be used") && !why.contains("hunter2"), "{why}");
    }
}

#[tokio::test]
async fn nothing_is_sent_where_nothing_is_configured() {
    let here = site(String::new()).await;
    fetch(roomy(), FetchRequest { ..request(&here.base_url()) }).await.result.unwrap();
    assert_eq!(sent(&here), [None]);
}

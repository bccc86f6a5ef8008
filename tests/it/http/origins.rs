//! Headers, cookies, user agent and proxy of an origin go to that origin only (SPEC D.1, D.3).

use backissue::engine::poll::fetch::FetchFailure;
use backissue::engine::settings::{NetworkSettings, OriginSettings, Secret};
use backissue::io::http_server::{HttpServer, ServedRequest};

use super::proxies::{Nobody, line, proxy};
use super::{fetch_in, here, in_public, request, roomy, settings};
use crate::support::documents::rss;
use crate::support::site::answer;

fn knowing(origins: &[OriginSettings]) -> NetworkSettings {
    NetworkSettings { origins: origins.to_vec(), ..settings() }
}

fn own(origin: &str) -> OriginSettings {
    OriginSettings {
        origin: origin.to_owned(),
        headers: Vec::new(),
        user_agent: None,
        cookies: None,
        proxy: None,
    }
}

/// Starts a site whose path `/away` redirects to `away` and sets a cookie, and `/on` to its own feed.
async fn site(away: String) -> HttpServer {
    HttpServer::start(move |request| match request.path() {
        "/away" => answer(302, &[("location", &away), ("set-cookie", "hop=h1; Path=/")], ""),
        "/on" => {
            let set = [("set-cookie", "hop=h1; Path=/"), ("set-cookie", "two=new; Path=/")];
            answer(302, &[set[0], set[1], ("location", "/feed")], "")
        }
        _ => answer(200, &[], rss("T", "e", 1)),
    })
    .await
    .unwrap()
}

/// Returns the values of the headers of a request that an origin may set.
fn sent(request: &ServedRequest) -> [String; 4] {
    ["x-key", "accept", "user-agent", "cookie"]
        .map(|name| request.header(name).unwrap_or_default().to_owned())
}

#[tokio::test]
async fn headers_of_an_origin_stay_at_their_origin() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cookies.txt");
    let cookie = |name: &str| format!("127.0.0.1\tFALSE\t/\tFALSE\t0\t{name}\tsecret\n");
    std::fs::write(&file, cookie("one") + &cookie("two")).unwrap();
    let there = site(String::new()).await;
    let here = site(format!("{}/feed", there.base_url())).await;
    let header = |name: &str, value: &str| (name.to_owned(), Secret::new(value.to_owned()));
    let rule = OriginSettings {
        headers: vec![header("x-key", "secret"), header("accept", "text/x")],
        user_agent: Some("me/1".to_owned()),
        cookies: Some(file.clone()),
        ..own(&here.base_url())
    };
    let settings = knowing(&[rule]);
    for path in ["/on", "/away"] {
        let asked = request(&format!("{}{path}", here.base_url()));
        fetch_in(&in_public(), &settings, roomy(), asked).await.result.unwrap();
    }
    let requests = here.requests();
    let cookies =
        ["one=secret; two=secret", "hop=h1; two=new; one=secret", "one=secret; two=secret"];
    assert_eq!(requests.len(), cookies.len());
    for (request, cookies) in requests.iter().zip(cookies) {
        assert_eq!(sent(request), ["secret", "text/x", "me/1", cookies]);
    }
    let [there] = &there.requests()[..] else { panic!("one request") };
    let [key, accept, agent, _] = sent(there);
    assert!(key.is_empty() && accept.contains("rss") && agent.contains("backissue"), "{there:?}");
    assert!(!format!("{there:?}").contains("secret"), "{there:?}");

    std::fs::remove_file(&file).unwrap();
    let asked = request(&format!("{}/on", here.base_url()));
    let failed = fetch_in(&in_public(), &settings, roomy(), asked).await.result.unwrap_err();
    let FetchFailure::Address(why) = failed else { panic!("{failed:?}") };
    assert!(why.contains("cookies.txt cannot be read: there is no such file"), "{why}");
    assert_eq!(here.requests().len(), 3, "nothing is sent without the cookies");
}

#[tokio::test]
async fn proxy_of_an_origin_is_used_for_it_alone() {
    let (mut general, mut special) = (proxy().await, proxy().await);
    let through = |origin: &str, proxy: &str| OriginSettings {
        proxy: Some(Secret::new(proxy.to_owned())),
        ..own(origin)
    };
    let rules = [through("http://a.example", &special.at("")), through("http://b.example", "none")];
    let settings = NetworkSettings { proxy: Some(general.at("")), ..knowing(&rules) };
    let around =
        backissue::io::http::ClientEnvironment { names: std::sync::Arc::new(Nobody), ..here() };
    let ask = async |url: &str| fetch_in(&around, &settings, roomy(), request(url)).await.result;
    ask("http://a.example/feed").await.unwrap();
    assert_eq!(line(&mut special).await, "GET http://a.example/feed HTTP/1.1");
    ask("http://c.example/feed").await.unwrap();
    assert_eq!(line(&mut general).await, "GET http://c.example/feed HTTP/1.1");
    let direct = ask("http://b.example/feed").await.unwrap_err();
    assert_eq!(direct, FetchFailure::Name("b.example".into()), "its name is looked up here");

    let bad = through("http://a.example", "ftp://me:secret@proxy.example");
    let why = backissue::io::http::Http::new(&knowing(&[bad]), roomy()).unwrap_err();
    assert!(why.contains("of http://a.example cannot be used") && !why.contains("secret"), "{why}");
}

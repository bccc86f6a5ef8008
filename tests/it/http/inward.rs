//! Addresses in public documents never lead to a request to the user's machine or local network (SPEC D.6). The test combines each
//! way in which a document can name an address with each kind of local address, and sends the engine's requests with the real
//! client.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::poll::fetch::{AnswerHeaders, FetchFailure, FetchRequest};
use backissue::engine::request::{Request, TroubleAnswer};
use backissue::io::http::address_guard::AddressClass;
use backissue::io::http::{ClientEnvironment, Http, NameLookup, NameResolver};
use backissue::io::http_server::HttpServer;
use backissue_core::history::FeedKey;
use chrono::TimeDelta;
use url::Url;

use super::{SMALL, here, request, settings};
use crate::support::site::answer;
use crate::support::world::{Scripted, World, rss};

const SITE: &str = "https://pub.example/";
const FEED: &str = "https://pub.example/feed";
const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Hosts in the user's machine or local network, in all notations. The test classifies 127.0.0.1 as public, so it is not listed.
const INSIDE: [&str; 38] = [
    "127.0.0.2",
    "127.255.255.254",
    "[::1]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "[fd00::1]",
    "[fec0::1]",
    "169.254.169.254",
    "[fe80::1]",
    "100.64.0.1",
    "[64:ff9b::7f00:2]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b:1::10.0.0.1]",
    "[2002:7f00:2::]",
    "[2002:c0a8:101::1]",
    "[2001:0:7f00:2::]",
    "[2001:0:4136:e378:8000:63bf:f5ff:fffe]",
    "[::ffff:127.0.0.2]",
    "[::ffff:10.0.0.1]",
    "[::7f00:2]",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "127.0.0.2.",
    "2130706434",
    "0177.0.0.2",
    "0x7f.2",
    "127.2",
    "0x7f000002",
    "0.0.0.0",
    "[::]",
    "u:p@127.0.0.2",
    "pub.example@127.0.0.2",
    "u:p@other.example",
    "inside.example",
    "a.pub.example",
];

/// A name resolver: two names and `localhost` have local addresses, all other names have a public one.
#[derive(Debug)]
struct Names;

impl NameResolver for Names {
    fn look_up(&self, name: &str) -> NameLookup {
        let found = match name.trim_end_matches('.') {
            "inside.example" => vec![IpAddr::from([192, 168, 1, 5])],
            "a.pub.example" => vec![PUBLIC, IpAddr::from([10, 1, 1, 1])],
            name if name.ends_with("localhost") => vec![IpAddr::from([127, 0, 0, 2])],
            _ => vec![PUBLIC],
        };
        let found = found.into_iter().map(|ip| SocketAddr::new(ip, 9)).collect();
        Box::pin(async move { Ok(found) })
    }
}

fn around() -> ClientEnvironment {
    let classify =
        |ip| if ip == PUBLIC { AddressClass::Public } else { AddressClass::classify(ip) };
    ClientEnvironment { names: Arc::new(Names), classify, ..here() }
}

/// The name of a way in which a public document names an address, and a function that makes the program read such a document.
type Way = (&'static str, fn(&mut World, &str));

fn subscribe(world: &mut World, address: &str) {
    let address = address.to_owned();
    world.tell(Request::Subscribe(Box::new(Subscribe { address, ..Subscribe::default() })));
    world.rest();
}

fn atom(links: &str) -> String {
    format!(
        "<feed xmlns='http://www.w3.org/2005/Atom' xmlns:fh='http://purl.org/syndication/history/1.0'>\
         <id>urn:f</id><title>F</title>{links}<entry><id>urn:e</id><title>E</title>\
         <updated>2026-03-01T00:00:00Z</updated></entry></feed>"
    )
}

/// Subscribes to a feed that links to the address `named` with the relation `rel`.
fn linked(world: &mut World, rel: &str, named: &str) {
    world.serve(FEED, &atom(&format!("<link rel='{rel}' href='{named}'/>")));
    subscribe(world, FEED);
}

/// Subscribes to a feed with one entry that has this link and text.
fn of_entry(world: &mut World, link: &str, text: &str) {
    let feed = rss("F", &[("e", "E", 1, text)]).replace("https://site.example/e", link);
    world.serve(FEED, &feed);
    subscribe(world, FEED);
    world.pass(TimeDelta::seconds(5));
}

const WAYS: [Way; 12] = [
    ("alternate link", |world, named| {
        let link = format!("<link rel=alternate type=application/rss+xml href='{named}'>");
        world.serve(SITE, &format!("<html><head>{link}</head></html>"));
        subscribe(world, SITE);
    }),
    ("refresh", |world, named| {
        let refresh = format!("<meta http-equiv=refresh content='0;url={named}'>");
        world.serve(SITE, &format!("<html><head>{refresh}</head></html>"));
        subscribe(world, SITE);
    }),
    ("Link header", |world, named| {
        let link = format!("<{named}>; rel=\"alternate\"; type=\"application/rss+xml\"");
        let headers = AnswerHeaders { link: Some(link), ..AnswerHeaders::default() };
        let body = "<html><head></head></html>".to_owned();
        let page = Scripted { status: 200, headers, body, ..Scripted::default() };
        world.network.insert(SITE.into(), page);
        subscribe(world, SITE);
    }),
    ("prev-archive", |world, named| linked(world, "prev-archive", named)),
    ("previous", |world, named| {
        linked(world, "previous", named);
        world.tell(Request::MoreHistory(FeedKey(1), None));
        world.rest();
    }),
    ("current", |world, named| linked(world, "current", named)),
    ("next page", |world, named| {
        linked(world, "next", named);
        world.tell(Request::MoreHistory(FeedKey(1), None));
        world.rest();
    }),
    ("first page", |world, named| {
        world.serve(
            FEED,
            &atom(&format!("<link rel='first' href='{named}'/><link rel='previous' href='2'/>")),
        );
        subscribe(world, FEED);
        accept(world);
    }),
    ("new-feed-url", |world, named| {
        let item = format!("<itunes:new-feed-url>{named}</itunes:new-feed-url><item>");
        let xmlns = "<rss xmlns:itunes=\"http://www.itunes.com/dtds/podcast-1.0.dtd\" ";
        let feed = rss("F", &[("e", "E", 1, "text")]).replacen("<item>", &item, 1);
        world.serve(FEED, &feed.replacen("<rss ", xmlns, 1));
        subscribe(world, FEED);
        accept(world);
    }),
    ("full text", |world, named| {
        of_entry(world, named, "text");
        world.press("<enter><enter>v");
        world.rest();
    }),
    ("picture", |world, named| {
        of_entry(
            world,
            "https://pub.example/e",
            &format!("<img src='{named}' width='99' height='99'>"),
        );
        world.press("<enter><enter>I");
        world.draw();
        world.wait(40);
    }),
    ("feed that a page named, later", |world, named| {
        let link = format!("<link rel=alternate type=application/rss+xml href='{named}'>");
        world.serve(SITE, &format!("<html><head>{link}</head></html>"));
        world.serve(&normal(named), &rss("F", &[("e", "E", 1, "text")]));
        subscribe(world, SITE);
        world.requests.clear();
        world.poll(FeedKey(1));
    }),
];

fn accept(world: &mut World) {
    world.pass(TimeDelta::minutes(6));
    world.tell(Request::Trouble(FeedKey(1), TroubleAnswer::AcceptMove));
    world.pass(TimeDelta::seconds(2));
    world.rest();
}

fn normal(url: &str) -> String {
    Url::parse(url).map(String::from).unwrap()
}

/// Returns the requests to the host of `named` that the program makes if a document names that address in this way.
fn requests_by((_, way): Way, named: &str) -> Vec<FetchRequest> {
    let mut world = World::new(120, 36);
    way(&mut world, named);
    let place =
        |url: &str| Url::parse(url).ok().map(|url| url.host_str().unwrap_or_default().to_owned());
    let asked = world.requests.into_iter().filter(|asked| place(&asked.url) == place(named));
    asked.collect()
}

#[tokio::test]
async fn no_request_path_reaches_local_addresses() {
    let http = Http::within(&settings(), SMALL, &around()).unwrap();
    for way in WAYS {
        let public = requests_by(way, "https://other.example/x");
        assert!(!public.is_empty(), "{}: nothing is requested at all", way.0);
        for inside in INSIDE {
            let named = format!("https://{inside}/x");
            for asked in requests_by(way, &named) {
                let fetched = http.fetch(asked.clone()).await;
                let refused = matches!(fetched.result, Err(FetchFailure::Blocked(_)));
                assert!(refused, "{}, {named}: {:?} of {asked:?}", way.0, fetched.result);
            }
        }
    }
}

#[tokio::test]
async fn no_redirect_reaches_local_addresses() {
    for inside in INSIDE {
        for by_document in [false, true] {
            let named = format!("http://{inside}/x");
            let publisher = HttpServer::start(move |_| {
                if by_document {
                    let location =
                        format!("<redirect><newLocation>{named}</newLocation></redirect>");
                    answer(200, &[("content-type", "application/xml")], location)
                } else {
                    answer(302, &[("location", &named)], "")
                }
            });
            let publisher = publisher.await.unwrap();
            let url = format!("http://pub.example:{}/", publisher.address().port());
            let http = Http::within(&settings(), SMALL, &around()).unwrap();
            let fetched = http.fetch(request(&url)).await;
            let refused = match &fetched.result {
                Err(FetchFailure::Redirect(why)) => why.contains("a login"),
                result => matches!(result, Err(FetchFailure::Blocked(_))),
            };
            assert!(refused, "{inside}, by a document: {by_document}: {:?}", fetched.result);
            assert_eq!(publisher.requests().len(), 1);
        }
    }
}

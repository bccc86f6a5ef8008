//! The publisher of `backissue demo`, with all its documents and archives, on the scripted network of a test world.

use std::collections::BTreeSet;

use backissue::demo::{DemoRequest, DemoSite};
use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::poll::fetch::AnswerHeaders;
use backissue::engine::poll::poll_request::{PollKind, PollRequest};
use backissue::engine::request::Request;

use super::world::{World, start};

const BASE: &str = "https://demo.example";

/// Returns a world in which all feeds of the demo were polled and their histories fetched as far as possible.
pub fn demo_world(columns: u16, rows: u16) -> World {
    let site = DemoSite::new(BASE, start());
    let mut world = World::new(columns, rows);
    let mut feed_settings = Vec::new();
    let mut waiting: Vec<String> = Vec::new();
    for offer in site.subscriptions() {
        waiting.push(offer.url.clone());
        feed_settings.push(Subscribe {
            address: offer.url,
            tags: offer.tags,
            ..Subscribe::default()
        });
    }
    serve(&mut world, &site, waiting);
    world.subscribe_to_all(feed_settings);
    world.tell(Request::Poll(PollRequest { feeds: None, kind: PollKind::Allowed, archives: true }));
    for _ in 0..20 {
        world.pass(chrono::TimeDelta::seconds(2));
    }
    world.rest();
    world.app.ui.notice = None;
    world
}

/// Serves the documents at these addresses, and all documents that they name.
fn serve(world: &mut World, site: &DemoSite, mut waiting: Vec<String>) {
    let mut known: BTreeSet<String> = BTreeSet::new();
    while let Some(url) = waiting.pop() {
        if !known.insert(url.clone()) {
            continue;
        }
        let rest = url.strip_prefix(BASE).unwrap_or_default();
        let (path, query) =
            rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        let answer = site.answer(&DemoRequest { path, query, ..DemoRequest::default() }, start());
        let location = answer.headers.iter().find(|(name, _)| name == "location");
        match (answer.status, location) {
            (301, Some((_, to))) => {
                world.lead(&url, 301, to);
                waiting.push(to.clone());
            }
            (200, _) => {
                if let Ok(body) = String::from_utf8(answer.body) {
                    world.serve(&url, &body);
                    waiting.extend(named(&url, &body));
                }
            }
            (status, _) => world.refuse(&url, status, AnswerHeaders::default()),
        }
    }
}

/// Returns the publisher's addresses that a document names, whether in full or as relative links.
fn named(url: &str, body: &str) -> Vec<String> {
    let ends = |char: char| char.is_whitespace() || "\"'<>\\)".contains(char);
    let whole = body.match_indices(BASE).map(|(at, _)| {
        let rest = &body[at..];
        rest[..rest.find(ends).unwrap_or(rest.len())].replace("&amp;", "&")
    });
    let base = url::Url::parse(url).unwrap();
    let links = body.match_indices("href=\"").filter_map(|(at, mark)| {
        let rest = &body[at + mark.len()..];
        let link = base.join(&rest[..rest.find('"')?].replace("&amp;", "&")).ok()?;
        Some(link.to_string()).filter(|link| link.starts_with(BASE))
    });
    whole.chain(links).collect()
}

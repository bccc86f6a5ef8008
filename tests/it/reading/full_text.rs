//! The full text of an entry: it is fetched from the entry's page once, with pauses between requests, stored, shown instead of the
//! feed's text, and can be switched off.

use crate::support::scripted::Scripted;
use crate::support::world::{World, rss};
use backissue::engine::poll::fetch::{
    AddressSource, AnswerBody, AnswerHeaders, FetchFailure, FetchId, FetchRequest, RequestKind,
};
use backissue::engine::settings::Settings;
use backissue::io::http::{Http, Limits};
use backissue::io::http_server::{HttpServer, ServedAnswer};
use backissue::ui::state::reader::TextSource;
use backissue_core::history::FeedKey;
use chrono::TimeDelta;

const NOTES: &str = "https://site.example/feed";
const PAGE: &str = "https://site.example/n2";

/// Returns a page whose text about `word` is long enough for an article.
fn page(word: &str) -> String {
    let text =
        format!("The {word} is warmed slowly, in water, and never over an open flame. ").repeat(12);
    format!(
        "<html><head><title>Wax</title></head><body><nav><a href='/'>Home</a></nav><article><h1>Wax</h1>\
         <p>{text}</p><p>{text}</p></article><footer>Imprint</footer></body></html>"
    )
}

fn world() -> World {
    let notes =
        rss("Notes", &[("n2", "Wax", 1, "<p>teaser</p>"), ("n1", "Ladders", 2, "<p>b</p>")]);
    let mut world = World::subscribed(120, 36, &[(NOTES, &notes, &[])]);
    world.pass(TimeDelta::seconds(5));
    world
}

/// Delays all requests of the engine by one second.
fn wait_a_second(world: &mut World) {
    world.app.engine.host_queue.not_before = Some(world.now + TimeDelta::seconds(1));
}

fn asked_pages(world: &World) -> Vec<&str> {
    let pages = world.requests.iter().filter(|request| request.kind == RequestKind::Page);
    pages.map(|request| request.url.as_str()).collect()
}

#[test]
fn v_fetches_the_page_once_and_toggles_the_text() {
    let mut world = world();
    world.serve(PAGE, &page("wax"));
    world.press("<enter><enter>v");
    let screen = world.draw();
    assert!(screen.contains("The wax is warmed") && screen.contains("full text"), "{screen}");
    assert!(!screen.contains("Imprint"));
    assert_eq!(world.notice(), "", "nothing is being requested");
    world.press("v");
    let screen = world.draw();
    assert!(screen.contains("teaser") && screen.contains("the feed's text"), "{screen}");
    world.press("v");
    assert!(world.draw().contains("The wax is warmed"));
    world.restart();
    world.press("<end><enter><enter>");
    assert!(world.draw().contains("teaser"));
    world.press("v");
    assert!(world.draw().contains("The wax is warmed"), "it is kept");
    assert_eq!(asked_pages(&world), [PAGE]);
}

#[test]
fn failed_full_text_says_why_and_keeps_the_feed_text() {
    let mut world = world();
    let html = |body: &str, status| Scripted { status, body: body.into(), ..Scripted::default() };
    let pdf =
        AnswerHeaders { content_type: Some("application/pdf".into()), ..AnswerHeaders::default() };
    world.press("<enter><enter>");
    for (answer, why) in [
        (html("", 403), "no full text: the server answered 403 Forbidden"),
        (html("<p>Log in", 200), "no full text: no text was found on the page"),
        (
            Scripted { status: 200, body: "%PDF".into(), headers: pdf, ..Scripted::default() },
            "no full text: the link leads to application/pdf, not to a page",
        ),
        (
            Scripted { fails: Some(FetchFailure::CutOff), ..Scripted::default() },
            "no full text: the response was cut off",
        ),
    ] {
        world.network.insert(PAGE.into(), answer);
        world.press("v");
        world.pass(TimeDelta::seconds(2));
        assert_eq!(world.notice(), why);
        assert!(world.draw().contains("teaser"));
    }
    world.app.engine.offline = true;
    world.press("v");
    assert_eq!(world.notice(), "offline: the full text cannot be fetched");
}

#[test]
fn full_text_setting_of_a_feed_can_be_undone() {
    let mut world = world();
    world.serve(PAGE, &page("wax"));
    world.refuse("https://site.example/n1", 403, AnswerHeaders::default());
    world.press("<enter><enter>V");
    assert!(world.draw().contains("The wax is warmed"));
    assert_eq!(
        world.notice(),
        "'Notes' always shows the full text; V again fetches it ahead · u undo"
    );
    world.pass(TimeDelta::seconds(2));
    world.press("J");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.notice(), "no full text: the server answered 403 Forbidden");
    world.press("KJK");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(asked_pages(&world).len(), 2, "neither stored nor failed texts are requested again");
    assert_eq!(world.app.ui.reader.as_ref().unwrap().source, TextSource::Page);
    assert!(world.reload().engine.feeds[&FeedKey(1)].record.feed_settings.full_text);
    world.press("uu");
    assert!(!world.feed(1).record.feed_settings.full_text);
    world.press("V");
    assert!(world.draw().contains("The wax is warmed"));
    world.press("VV");
    assert!(world.draw().contains("teaser"), "the feed's own text, as it says");
}

#[test]
fn page_waits_for_its_site_and_its_429_delays_the_host() {
    let mut world = world();
    let headers = AnswerHeaders { retry_after: Some("7200".into()), ..AnswerHeaders::default() };
    world.serve(PAGE, &page("wax"));
    world.refuse("https://site.example/n1", 429, headers);
    world.press("<enter><enter>v");
    world.pass(TimeDelta::milliseconds(10));
    world.press("Jv");
    assert_eq!(asked_pages(&world), [PAGE], "the second waits");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(asked_pages(&world).len(), 2);
    assert!(world.feed(1).state.facts.host_wait.is_some());
    world.serve("https://site.example/n1", &page("ladder"));
    world.press("v");
    world.pass(TimeDelta::seconds(2));
    let said = "no full text: site.example asked backissue to wait 2 h";
    assert!(world.notice().starts_with(said), "{}", world.notice());
    assert_eq!(asked_pages(&world).len(), 2, "it is left alone");
    world.pass(TimeDelta::hours(3));
    world.press("v");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(asked_pages(&world).len(), 3);
    assert!(world.draw().contains("The ladder is warmed"));
}

#[test]
fn host_without_a_feed_also_honours_429() {
    let elsewhere =
        |markup: &str| markup.replace("https://site.example/n", "https://pages.example/n");
    let notes = rss("Notes", &[("n2", "Wax", 1, "a"), ("n1", "Ladders", 2, "b")]);
    let mut world = World::subscribed(120, 36, &[(NOTES, &elsewhere(&notes), &[])]);
    let headers = AnswerHeaders { retry_after: Some("600".into()), ..AnswerHeaders::default() };
    world.refuse("https://pages.example/n2", 429, headers);
    world.press("<enter><enter>v");
    world.pass(TimeDelta::seconds(2));
    world.press("Jv");
    world.pass(TimeDelta::seconds(2));
    let said = "no full text: pages.example asked backissue to wait 9 min";
    assert!(world.notice().starts_with(said), "{}", world.notice());
    assert_eq!(asked_pages(&world), ["https://pages.example/n2"]);
}

#[test]
fn late_page_keeps_the_text_chosen_by_the_reader() {
    let mut world = world();
    world.serve(PAGE, &page("wax"));
    world.press("<enter><enter>V");
    world.pass(TimeDelta::seconds(2));
    assert!(world.draw().contains("The wax is warmed"));
    // The entry gets a later update time, so its page is requested again.
    let later = world.now + TimeDelta::hours(1);
    let reader = world.app.ui.reader.as_mut().unwrap();
    reader.entry.kept.updated = Some(later);
    reader.source = TextSource::Feed;
    world.serve(PAGE, &page("hive"));
    wait_a_second(&mut world);
    world.press("v");
    assert_eq!(world.app.ui.reader.as_ref().unwrap().source, TextSource::Waiting);
    world.app.ui.reader.as_mut().unwrap().source = TextSource::Feed;
    world.pass(TimeDelta::seconds(2));
    let reader = world.app.ui.reader.as_ref().unwrap();
    assert_eq!(reader.source, TextSource::Feed);
    assert!(reader.entry.full.as_ref().unwrap().html.contains("hive"));
}

#[test]
fn unchanged_page_is_kept_after_leaving_its_entry() {
    let mut world = world();
    world.serve(PAGE, &page("wax"));
    world.network.get_mut(PAGE).unwrap().etag = Some("\"1\"");
    world.press("<enter><enter>v");
    world.pass(TimeDelta::seconds(2));
    let key = world.app.ui.reader.as_ref().unwrap().entry.key;
    let reader = world.app.ui.reader.as_mut().unwrap();
    reader.entry.kept.updated = Some(world.now + TimeDelta::hours(1));
    reader.source = TextSource::Feed;
    wait_a_second(&mut world);
    world.press("vJ");
    world.pass(TimeDelta::seconds(3));
    assert_eq!(asked_pages(&world).len(), 2);
    assert!(world.requests.last().unwrap().validators.is_some());
    let kept = world.store.full_text(key).unwrap().unwrap();
    assert!(kept.failed.is_none() && kept.html.contains("wax"));
}

#[test]
fn page_request_accepts_html_and_honours_its_encoding() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let publisher = HttpServer::start(|request| {
            let accepts = request.header("accept").unwrap_or_default().starts_with("text/html");
            ServedAnswer {
                status: if accepts { 200 } else { 406 },
                headers: vec![("content-type".into(), "text/html; charset=utf-8".into())],
                body: page("wäx").into_bytes(),
            }
        })
        .await
        .unwrap();
        let http = Http::new(&Settings::default().network, Limits::default()).unwrap();
        let by = format!("{}/feed", publisher.base_url());
        let request = FetchRequest {
            kind: RequestKind::Page,
            address_source: AddressSource::Supplied { by, public: false },
            ..FetchRequest::typed(FetchId(1), format!("{}/n2", publisher.base_url()))
        };
        let answer = http.fetch(request).await.result.unwrap();
        let AnswerBody::Article(Ok(text)) = answer.body else { panic!("{:?}", answer.body) };
        assert!(text.contains("The wäx is warmed"), "{text}");
    });
}

#[test]
fn search_finds_words_of_a_fetched_page() {
    let mut world = world();
    world.serve(PAGE, &page("wax"));
    let found = |world: &mut World, words: &str| {
        world.press(&format!("<esc><esc>/{words}<enter>"));
        let found = world.app.ui.list.rows.len();
        world.press("<esc>");
        found
    };
    assert_eq!(found(&mut world, "flame"), 0);
    world.press("<enter><enter>v");
    assert!(world.draw().contains("open flame"), "{}", world.draw());
    assert_eq!(found(&mut world, "flame"), 1);
    assert_eq!(found(&mut world, "\"over an open flame\""), 1);
    assert_eq!(found(&mut world, "\"open over flame\""), 0);
    assert_eq!(found(&mut world, "teaser flame"), 1, "the words of the feed stay");
}

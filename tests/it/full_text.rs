//! The full text of an entry: fetched once and politely, kept, shown in place of the feed's, and never insisted on.

use backissue::app::fetching::{
    AnswerBody, AnswerHeaders, Failure, FetchId, Manner, Reach, Request,
};
use backissue::app::full_text::Source;
use backissue::app::settings::Settings;
use backissue::history::FeedKey;
use backissue::io::http::{Http, Limits};
use backissue::io::publisher::{Publisher, PublisherAnswer};
use chrono::TimeDelta;

use crate::scripted::Scripted;
use crate::world::{World, rss};

const NOTES: &str = "https://site.example/feed";
const PAGE: &str = "https://site.example/n2";

/// A page with a text that is long enough to be one.
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

fn asked_pages(world: &World) -> Vec<&str> {
    let pages = world.requests.iter().filter(|request| request.manner == Manner::Page);
    pages.map(|request| request.url.as_str()).collect()
}

#[test]
fn v_fetches_the_page_once_keeps_it_and_turns_back() {
    let mut world = world();
    world.serve(PAGE, &page("wax"));
    world.press("<enter><enter>v");
    let screen = world.draw();
    assert!(screen.contains("The wax is warmed") && screen.contains("full text"), "{screen}");
    assert!(!screen.contains("Imprint"));
    assert_eq!(world.notice(), "", "nothing is being asked for any more");
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
fn what_cannot_be_had_is_said_and_the_feeds_text_stays() {
    let mut world = world();
    let html = |body: &str, status| Scripted { status, body: body.into(), ..Scripted::default() };
    let pdf =
        AnswerHeaders { content_type: Some("application/pdf".into()), ..AnswerHeaders::default() };
    world.press("<enter><enter>");
    for (answer, why) in [
        (html("", 403), "no full text: the page answered 403 Forbidden"),
        (html("<p>Log in", 200), "no full text: no text was found on the page"),
        (
            Scripted { status: 200, body: "%PDF".into(), headers: pdf, ..Scripted::default() },
            "no full text: the link leads to no page but to application/pdf",
        ),
        (
            Scripted { fails: Some(Failure::CutOff), ..Scripted::default() },
            "no full text: the answer was cut off",
        ),
    ] {
        world.network.insert(PAGE.into(), answer);
        world.press("v");
        world.pass(TimeDelta::seconds(2));
        assert_eq!(world.notice(), why);
        assert!(world.draw().contains("teaser"));
    }
    world.model.offline = true;
    world.press("v");
    assert_eq!(world.notice(), "offline: the full text cannot be fetched");
}

#[test]
fn a_feed_can_always_be_read_with_the_full_text_and_that_can_be_undone() {
    let mut world = world();
    world.serve(PAGE, &page("wax"));
    world.refuse("https://site.example/n1", 403, AnswerHeaders::default());
    world.press("<enter><enter>V");
    assert!(world.draw().contains("The wax is warmed"));
    assert_eq!(world.notice(), "'Notes' is shown always with the full text · u undo");
    world.pass(TimeDelta::seconds(2));
    world.press("J");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(world.notice(), "no full text: the page answered 403 Forbidden");
    world.press("KJK");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(
        asked_pages(&world).len(),
        2,
        "neither what is kept nor what failed is asked for again"
    );
    assert_eq!(world.model.screen.reader.as_ref().unwrap().source, Source::Page);
    assert!(world.reload().feeds[&FeedKey(1)].record.wishes.full_text);
    world.press("uu");
    assert!(!world.feed(1).record.wishes.full_text);
}

#[test]
fn a_page_waits_for_the_pause_of_its_site_and_a_429_holds_the_feeds_there() {
    let mut world = world();
    let headers = AnswerHeaders { retry_after: Some("7200".into()), ..AnswerHeaders::default() };
    world.refuse(PAGE, 429, headers);
    world.press("<enter><enter>v");
    world.pass(TimeDelta::milliseconds(10));
    world.press("J");
    world.serve("https://site.example/n1", &page("ladder"));
    world.press("v");
    assert_eq!(asked_pages(&world), [PAGE], "the second waits");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(asked_pages(&world).len(), 2);
    assert!(world.feed(1).state.facts.host_wait.is_some());
}

#[test]
fn a_page_is_asked_for_as_a_page_and_read_in_its_own_encoding() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let publisher = Publisher::start(|request| {
            let accepts = request.header("accept").unwrap_or_default().starts_with("text/html");
            PublisherAnswer {
                status: if accepts { 200 } else { 406 },
                headers: vec![("content-type".into(), "text/html; charset=utf-8".into())],
                body: page("wäx").into_bytes(),
            }
        })
        .await
        .unwrap();
        let http = Http::new(&Settings::default().network, Limits::default()).unwrap();
        let by = format!("{}/feed", publisher.base_url());
        let request = Request {
            manner: Manner::Page,
            reach: Reach::Supplied { by, public: false },
            ..Request::typed(FetchId(1), format!("{}/n2", publisher.base_url()))
        };
        let answer = http.fetch(request).await.result.unwrap();
        let AnswerBody::Article(Ok(text)) = answer.body else { panic!("{:?}", answer.body) };
        assert!(text.contains("The wäx is warmed"), "{text}");
    });
}

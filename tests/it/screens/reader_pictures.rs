//! Pictures in an entry's text: with pictures off, nothing is fetched; with pictures on, each one near the visible part is
//! fetched once, within limits, and the visible text does not move.

use crate::support::scripted::{Scripted, png};
use crate::support::world::{World, rss};
use backissue::engine::entries::page_fetches::PICTURE_BYTES_MAX;
use backissue::engine::poll::fetch::{
    AddressSource, AnswerBody, AnswerHeaders, FetchFailure, FetchId, FetchRequest, RequestKind,
};
use backissue::engine::settings::Settings;
use backissue::io::http::{Http, Limits};
use backissue::io::http_server::{HttpServer, ServedAnswer};
use backissue::ui::effect::ScreenEffect;
use backissue::ui::settings::ScreenSettings;
use backissue::ui::state::reader::{PictureState, PictureWork};
use backissue::ui::theme::colours::Colours;
use backissue::ui::theme::graphics::{Graphics, Protocol};
use backissue::ui::update::{Reconfigured, ScreenInput, update};
use chrono::TimeDelta;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

const FEED: &str = "https://site.example/feed";
const WAX: &str = "https://pictures.example/wax.png";
const POT: &str = "https://pictures.example/pot.png";

/// Returns a picture in which each row has a different colour.
fn shaded(width: u32, height: u32) -> Vec<u8> {
    let shade = |row: u32| u8::try_from(row * 255 / height).unwrap();
    let image = RgbImage::from_fn(width, height, |_, row| Rgb([shade(row), 90, 160]));
    let mut bytes = std::io::Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(image).write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

fn paragraphs(count: usize) -> String {
    let words = "Wax is warmed slowly, in water, and never over an open flame. ".repeat(4);
    (0..count).map(|number| format!("<p>{number}. {words}</p>")).collect()
}

/// Returns a world with a feed of two entries; `markup` is the text of the first.
fn world((columns, rows): (u16, u16), markup: &str) -> World {
    let feed = rss("Notes", &[("n2", "Wax", 1, markup), ("n1", "Ladders", 2, "<p>b</p>")]);
    let mut world = World::subscribed(columns, rows, &[(FEED, &feed, &[])]);
    world.pass(TimeDelta::seconds(5));
    world
}

fn asked(world: &World) -> Vec<&str> {
    let asked = world.requests.iter().filter(|request| request.kind == RequestKind::Picture);
    asked.map(|request| request.url.as_str()).collect()
}

/// Waits until all pending work is done and returns the screen.
fn settle(world: &mut World) -> String {
    world.wait(40);
    world.draw()
}

fn blocks(screen: &str) -> usize {
    screen.lines().filter(|line| line.contains('▄') || line.contains('▀')).count()
}

#[test]
fn each_picture_is_fetched_once_and_only_when_enabled() {
    let text =
        format!("<p>Before.</p><img src='{WAX}' alt='a pot of wax' width='120' height='90'>");
    let mut world = world((100, 30), &text);
    world.serve_picture(WAX, png(120, 90));
    world.press("<enter><enter>");
    let screen = settle(&mut world);
    assert!(screen.contains("[image: a pot of wax]"), "{screen}");
    assert_eq!(asked(&world), [""; 0]);
    world.press("I");
    assert_eq!(
        world.notice(),
        "pictures on (half-blocks), fetched from their publishers as you read · I off"
    );
    let screen = settle(&mut world);
    assert_eq!(blocks(&screen), 1, "the row in which its halves meet: {screen}");
    assert!(screen.contains("[image: a pot of wax]"), "its caption is below it");
    world.press("JKJK");
    settle(&mut world);
    world.press("II");
    settle(&mut world);
    world.restart();
    world.press("<end><enter><enter>I");
    assert_eq!(blocks(&settle(&mut world)), 1);
    assert_eq!(asked(&world), [WAX], "requested once");
    world.press("I");
    assert_eq!(world.notice(), "pictures off: none are fetched or shown");
    assert_eq!(blocks(&world.draw()), 0);
}

#[test]
fn undisplayable_picture_says_why_and_is_retried_manually() {
    let mut bomb = png(1, 1);
    bomb[16..24].copy_from_slice(&[0, 0, 0x30, 0, 0, 0, 0x30, 0]);
    let sum = crc32fast::hash(&bomb[12..29]);
    bomb[29..33].copy_from_slice(&sum.to_be_bytes());
    let answers = [
        (Scripted { status: 404, ..Scripted::default() }, "404 Not Found at pictures.example"),
        (
            Scripted { status: 200, picture: bomb, ..Scripted::default() },
            "12288 x 12288 pixels are too many",
        ),
        (
            Scripted { status: 200, picture: b"<svg/>".to_vec(), ..Scripted::default() },
            "SVG cannot be shown here",
        ),
        (Scripted { status: 200, ..Scripted::default() }, "pictures.example sent nothing"),
        (
            Scripted {
                fails: Some(FetchFailure::TooLarge("more than 8 MiB".into())),
                ..Scripted::default()
            },
            "the response is too large: more than 8 MiB",
        ),
    ];
    let mut world = world((100, 30), &format!("<p>Before.</p><img src='{WAX}' alt='wax'>"));
    world.press("<enter><enter>");
    for (count, (answer, why)) in answers.into_iter().enumerate() {
        world.network.insert(WAX.into(), answer);
        world.press("I");
        let screen = settle(&mut world);
        assert!(screen.contains("no picture: ") && screen.contains(why), "{screen}");
        world.press("JK");
        settle(&mut world);
        assert_eq!(asked(&world).len(), count + 1);
        world.press("I");
    }
    let text = "<p>x</p><img src='https://pictures.example/plan.svg' alt='plan'>";
    let mut world = super::reader_pictures::world((100, 30), text);
    world.press("<enter><enter>I");
    assert!(settle(&mut world).contains("no picture: SVG cannot be shown here"));
    assert_eq!(asked(&world), [""; 0], "its address says enough");
}

#[test]
fn tracking_pixels_get_no_place_and_no_request() {
    let pixel = "https://pictures.example/pixel.gif";
    let text =
        format!("<p>Text.</p><img src='{pixel}' width='1' height='1'><img src='{WAX}' alt='wax'>");
    let mut world = world((100, 30), &text);
    world.serve_picture(WAX, png(2, 2));
    world.press("<enter><enter>I");
    let screen = settle(&mut world);
    assert_eq!(asked(&world), [WAX]);
    assert_eq!(world.app.ui.pictures.standing(WAX), Some(&PictureState::Kept(2, 2)));
    assert_eq!(world.app.ui.reader.as_ref().unwrap().pictures[0].rows, 0, "{screen}");
}

#[test]
fn distant_picture_is_fetched_when_scrolled_near() {
    let text = format!("{}<img src='{WAX}' alt='wax'>", paragraphs(60));
    let mut world = world((100, 30), &text);
    world.serve_picture(WAX, png(120, 90));
    world.press("<enter><enter>I");
    settle(&mut world);
    assert_eq!(asked(&world), [""; 0]);
    world.press("G");
    settle(&mut world);
    assert_eq!(asked(&world), [WAX]);
}

#[test]
fn text_stays_when_a_picture_above_grows() {
    let text = format!("<img src='{WAX}' alt='wax'>{}", paragraphs(60));
    let mut world = world((100, 30), &text);
    world.press("<enter><enter>I");
    world.press("jjjj");
    let line = |world: &mut World| world.draw().lines().nth(12).unwrap().to_owned();
    let before = line(&mut world);
    assert!(before.contains("flame"), "{before}");
    // From now on the picture's address answers; pressing I twice requests the picture again.
    world.serve_picture(WAX, png(300, 300));
    world.press("II");
    settle(&mut world);
    assert_eq!(line(&mut world), before);
    let places = &world.app.ui.reader.as_ref().unwrap().pictures;
    assert!(places[1].rows > 5, "{places:?}");
}

#[test]
fn host_with_429_gets_no_other_picture_requests() {
    let text = format!("<img src='{WAX}' alt='wax'><img src='{POT}' alt='pot'>");
    let mut world = world((100, 30), &text);
    let headers = AnswerHeaders { retry_after: Some("600".into()), ..AnswerHeaders::default() };
    world.refuse(WAX, 429, headers);
    world.serve_picture(POT, png(50, 50));
    world.press("<enter><enter>I");
    let screen = settle(&mut world);
    assert_eq!(asked(&world), [WAX]);
    assert!(
        screen.contains("429") && screen.contains("asked backissue to wait 10 min"),
        "{screen}"
    );
}

#[test]
fn pictures_wait_for_documents_and_end_with_their_entry() {
    let near = |number: u32| format!("https://pictures.example/{number}.png");
    let text: String =
        (0..8).map(|number| format!("<img src='{}' alt='x'>", near(number))).collect();
    let mut world = world((100, 40), &text);
    for number in 0..8 {
        world.serve_picture(&near(number), png(40, 40));
    }
    world.press("<enter><enter>I");
    assert_eq!(asked(&world).len(), 1, "one at a time from a site");
    world.pass(TimeDelta::seconds(2));
    assert_eq!(asked(&world).len(), 2);
    world.press("J");
    settle(&mut world);
    assert_eq!(asked(&world).len(), 2, "another entry is read");
    world.press("K");
    settle(&mut world);
    assert_eq!(asked(&world).len(), 8);
}

#[test]
fn pictures_are_not_requested_offline_or_in_plain_mode() {
    let mut world = world((100, 30), &format!("<img src='{WAX}' alt='wax'>"));
    world.app.engine.offline = true;
    world.press("<enter><enter>I");
    assert!(settle(&mut world).contains("no picture: offline"));
    world.app.engine.offline = false;
    world.app.ui.appearance.plain = true;
    world.press("II");
    assert_eq!(world.notice(), "the plain screen shows captions instead of pictures");
    settle(&mut world);
    assert_eq!(asked(&world), [""; 0]);
}

#[test]
fn the_configuration_switches_pictures_too() {
    let mut world = world((100, 30), &format!("<img src='{WAX}' alt='wax'>"));
    world.serve_picture(WAX, png(50, 50));
    world.press("<enter><enter>");
    let settings = Box::new(world.app.engine.settings.clone());
    let screen = Box::new(ScreenSettings { images: true, ..ScreenSettings::default() });
    let appearance = Box::new(world.app.ui.appearance.clone());
    let read = Reconfigured::Read { settings, screen, appearance, notes: Vec::new() };
    world.tell(ScreenInput::Reconfigured(Box::new(read)));
    settle(&mut world);
    assert_eq!(asked(&world), [WAX]);
    assert!(world.reload().ui.pictures.on, "the same after a start");
}

#[test]
fn terminal_change_redraws_and_sixel_is_all_or_nothing() {
    let text = format!("{}<img src='{WAX}' alt='wax'>{}", paragraphs(1), paragraphs(30));
    let mut world = world((100, 30), &text);
    world.serve_picture(WAX, png(200, 200));
    world.press("<enter><enter>I");
    settle(&mut world);
    let graphics = Graphics { protocol: Protocol::Sixel, ..Graphics::default() };
    world.tell(ScreenInput::Graphics(graphics));
    let screen = world.draw();
    assert!(screen.contains("\u{1b}P") && blocks(&screen) == 0, "{screen}");
    world.press("jjjjjjjjj");
    let screen = world.draw();
    assert!(!screen.contains("\u{1b}P"));
    assert!(screen.contains("picture: scroll until all of it is visible"), "{screen}");
    world.press("g?");
    assert!(!world.draw().contains("\u{1b}P"), "nothing is painted over the help");
}

#[test]
fn outdated_drawing_is_discarded_when_it_arrives() {
    let mut world = world((100, 30), &format!("<img src='{WAX}' alt='wax'>"));
    world.serve_picture(WAX, png(50, 50));
    world.press("<enter><enter>");
    let now = world.now;
    let mut drawings = Vec::new();
    let mut waiting =
        update(&mut world.app, now, ScreenInput::Key(backissue::ui::keys::key::Key::char('I')));
    // Perform all effects except the drawing of the picture.
    while let Some(effect) = waiting.pop() {
        match effect {
            ScreenEffect::Picture(wish) if matches!(*wish, PictureWork::Draw(_)) => {
                drawings.push(wish);
            }
            other => world.perform(vec![other]),
        }
    }
    world.press("I");
    for wish in drawings {
        world.perform(vec![ScreenEffect::Picture(wish)]);
    }
    assert_eq!(world.app.ui.pictures.drawings().count(), 0);
}

#[test]
fn pictures_in_half_blocks_look_like_this() {
    let text = format!(
        "<p>Wax is warmed slowly.</p><figure><img src='{WAX}' alt='a pot of wax' width='400' height='200'>\
         <figcaption>The pot.</figcaption></figure><p>Never over a flame. <img src='{POT}' alt='a broken pot'> Then it cools.</p>"
    );
    for (columns, rows) in [(100, 30), (40, 12)] {
        let mut world = world((columns, rows), &text);
        world.serve_picture(WAX, shaded(400, 200));
        world.app.ui.appearance.colours = Colours::True;
        world.press("<enter><enter>I");
        settle(&mut world);
        world.app.ui.notice = None;
        if rows == 12 {
            world.press("jj");
        }
        insta::assert_snapshot!(format!("pictures_{columns}x{rows}"), world.draw());
    }
}

#[test]
fn picture_request_accepts_images_and_is_size_limited() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let publisher = HttpServer::start(|request| {
            let accepts = request.header("accept").unwrap_or_default().starts_with("image/png");
            let bytes = if request.path() == "/large" { PICTURE_BYTES_MAX + 1 } else { 3 };
            ServedAnswer {
                status: if accepts { 200 } else { 406 },
                headers: Vec::new(),
                body: vec![7; bytes],
            }
        })
        .await
        .unwrap();
        let http = Http::new(&Settings::default().network, Limits::default()).unwrap();
        let ask = |path: &str, public: bool| FetchRequest {
            id: FetchId(1),
            url: format!("{}{path}", publisher.base_url()),
            validators: None,
            kind: RequestKind::Picture,
            address_source: AddressSource::Supplied { by: publisher.base_url(), public },
            allow_insecure: true,
            waits_for_store: false,
            redirect_pause_ms: 0,
        };
        let fetched = http.fetch(ask("/small", false)).await.result.unwrap();
        assert_eq!(fetched.body, AnswerBody::Picture(vec![7; 3].into()));
        let refused = http.fetch(ask("/large", false)).await.result.unwrap_err();
        assert_eq!(refused.to_string(), "the response is too large: more than 8 MiB");
        let blocked = http.fetch(ask("/small", true)).await.result.unwrap_err();
        assert!(
            matches!(blocked, FetchFailure::Blocked(_)),
            "a public feed leads to public pictures"
        );
    });
}

#[test]
fn wide_picture_uses_the_margins_of_the_text() {
    let mut world = world((200, 50), &format!("<p>Before.</p><img src='{WAX}' alt='wax'>"));
    world.serve_picture(WAX, png(1200, 120));
    world.press("<enter><enter>zI");
    let screen = settle(&mut world);
    let place = world.app.ui.reader.as_ref().unwrap().pictures[1];
    assert_eq!(place.columns, world.app.ui.viewport.reader_columns);
    let column = |part: &str| {
        let line = screen.lines().find(|line| line.contains(part));
        let line = line.unwrap_or_else(|| panic!("{part}: {place:?} {screen}"));
        line[..line.find(part).unwrap()].chars().count()
    };
    assert_eq!((column("Before."), column("▀")), (60, 2), "{screen}");
}

#[test]
fn terminal_resize_keeps_the_picture_visible() {
    let text = format!("{}<img src='{WAX}' alt='wax'>{}", paragraphs(20), paragraphs(20));
    let mut world = world((100, 30), &text);
    world.serve_picture(WAX, png(300, 300));
    world.press("<enter><enter>I");
    settle(&mut world);
    let place = |world: &World| world.app.ui.reader.as_ref().unwrap().pictures[1];
    while world.app.ui.reader.as_ref().unwrap().scroll < place(&world).line + 2 {
        world.press("j");
    }
    assert!(place(&world).rows > 5);
    settle(&mut world);
    for size in [(60, 20), (40, 12), (160, 50)] {
        world.resize(size.0, size.1);
        settle(&mut world);
        let (top, place) = (world.app.ui.reader.as_ref().unwrap().scroll, place(&world));
        let bottom = place.line + usize::from(place.rows);
        assert!((place.line..bottom).contains(&top), "{size:?}: {top} in {place:?}");
    }
}

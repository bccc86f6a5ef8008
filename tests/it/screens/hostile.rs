//! Terminal safety: no text from a publisher or an imported list can make the screen control the terminal or change the text
//! direction.

use backissue::engine::feeds::addition::Subscribe;
use backissue::engine::poll::fetch::AnswerHeaders;
use backissue::engine::request::Request;
use backissue_core::feed::characters::is_bidi_control;
use backissue_core::history::FeedKey;

use crate::support::hostile_texts::{HOSTILE, hostile_document};
use crate::support::world::World;

const FEED: &str = "https://hostile.example/feed";

/// Keys that open each view from the list of feeds.
const VIEWS: [&str; 26] = [
    "",
    "<enter>",
    "<enter><enter>",
    "<enter><enter><pgdn>",
    "?",
    ":",
    ":tag",
    "/",
    "/hostile<enter>",
    "p",
    "P",
    "T",
    "v",
    "i",
    "e",
    "t",
    "m",
    "F",
    "D",
    "gj<enter>",
    "gjjj<enter>",
    "gjjjj<enter>",
    "<enter>m",
    "<enter>|",
    "+",
    "a",
];

const SIZES: [(u16, u16); 3] = [(140, 42), (80, 24), (40, 12)];

fn world((columns, rows): (u16, u16)) -> World {
    let document = hostile_document();
    let mut world = World::new(columns, rows);
    world.serve(FEED, &document);
    let wanted = |address: &str, title: Option<String>| Subscribe {
        address: address.into(),
        title,
        tags: HOSTILE.iter().map(|text| format!("tag/{text}")).collect(),
        ..Subscribe::default()
    };
    let own = Some(HOSTILE.concat());
    let refused = wanted("https://gone.example/feed", own);
    world.tell(Request::Import(vec![wanted(FEED, None), refused]));
    world.refuse("https://gone.example/feed", 410, AnswerHeaders::default());
    world.pass(chrono::TimeDelta::seconds(5));
    world.poll(FeedKey(1));
    world.poll(FeedKey(2));
    world
}

/// Checks for characters that no cell may contain: control characters, direction controls and line ends.
fn does_harm(char: char) -> bool {
    let ends_line = matches!(char, '\u{2028}' | '\u{2029}');
    (char.is_control() && char != '\n') || is_bidi_control(char) || ends_line
}

#[test]
fn no_view_shows_terminal_control_characters() {
    let mut texts_seen = 0;
    for (keys, size) in VIEWS.into_iter().zip(SIZES.into_iter().cycle()) {
        let mut world = world(size);
        world.press(keys);
        let screen = world.draw();
        let harm: Vec<char> = screen.chars().filter(|char| does_harm(*char)).collect();
        assert!(harm.is_empty(), "after '{keys}' at {size:?}: {harm:?}\n{screen}");
        texts_seen += usize::from(screen.contains("owned"));
    }
    assert!(
        texts_seen * 2 > VIEWS.len(),
        "the texts are shown without harmful characters: {texts_seen}"
    );
}

#[test]
fn pasted_and_reported_texts_have_no_control_characters() {
    let mut world = world((100, 30));
    for text in HOSTILE {
        for keys in [":", "/", "a"] {
            world.press(keys);
            world.tell(backissue::ui::update::ScreenInput::Pasted(text.into()));
            let screen = world.draw();
            assert!(!screen.chars().any(does_harm), "{text:?} typed behind '{keys}':\n{screen}");
            world.press("<esc><esc>");
        }
        world.tell(backissue::engine::request::Input::Trouble(text.into()));
        let screen = world.draw();
        assert!(!screen.chars().any(does_harm), "{text:?} told:\n{screen}");
    }
}

//! Tables and code that are wider than the pane: keys and the mouse wheel scroll them sideways, while the text around them does not
//! move.

use backissue::ui::keys::mouse::{Gesture, Mouse};
use backissue::ui::update::ScreenInput;

use crate::support::world::{World, rss};

const FEED: &str = "https://orchard.example/feed";

const ARTICLE: &str = "<p>What the trees gave, by year and by sort, in baskets.</p>\
    <table><tr><th>Sort</th><th>First year</th><th>Second year</th><th>Third year</th><th>Fourth year</th><th>Fifth year</th><th>What was done</th></tr>\
    <tr><td>Bramley</td><td>12</td><td>30</td><td>28</td><td>31</td><td>30</td><td>Pruned in January, limed in March, and left alone</td></tr>\
    <tr><td>Conference</td><td>4</td><td>9</td><td>17</td><td>20</td><td>19</td><td><a href=\"/wax\">Grafted anew</a></td></tr></table>\
    <p>How it was counted:</p>\
    <pre>let baskets: u32 = trees.iter().filter(|tree| tree.is_ours()).map(Tree::baskets).sum();\nprint(baskets);</pre>\
    <p>And so on.</p>";

fn world(columns: u16, rows: u16) -> World {
    let document = rss("Orchard Notes", &[("a", "Harvest", 1, ARTICLE), ("b", "Wax", 2, "Text.")]);
    let mut world = World::subscribed(columns, rows, &[(FEED, &document, &[])]);
    world.press("l<enter>");
    world
}

#[test]
fn code_and_tables_use_the_whole_width_and_prose_does_not() {
    let row = |cell: &str| format!("<tr><td>{cell}</td><td>c</td></tr>");
    let article = format!(
        "<p>{}</p><pre>{}</pre><pre>{}</pre><pre>{}</pre><ul><li><pre>{}</pre></ul><table>{}{}</table>",
        "P ".repeat(60),
        "X".repeat(90),
        "Y".repeat(110),
        "Z".repeat(200),
        "W".repeat(90),
        row("a"),
        row(&"V".repeat(90)),
    );
    let document = rss("Orchard Notes", &[("a", "Harvest", 1, &article)]);
    let mut world = World::subscribed(140, 44, &[(FEED, &document, &[])]);
    world.press("l<enter>z");
    let screen = world.draw();
    // The pane has 136 columns for text, from the column 2 on; prose has 80 of them in the middle.
    for (letter, column, count) in
        [('P', 30, 40), ('X', 30, 90), ('Y', 28, 110), ('Z', 2, 135), ('W', 32, 90), ('V', 32, 90)]
    {
        let line: Vec<char> =
            screen.lines().find(|line| line.contains(letter)).unwrap().chars().collect();
        let found = line.iter().position(|char| *char == letter).unwrap();
        let number = line.iter().filter(|char| **char == letter).count();
        assert_eq!((letter, found, number), (letter, column, count), "{screen}");
    }
}

#[test]
fn header_scrolls_away_in_a_short_pane() {
    let rows: String = (1..=40).map(|row| format!("<p>Row {row}.</p>")).collect();
    for (size, after) in [((60, 20), "Orchard Notes"), ((60, 30), "Harvest")] {
        let document = rss("Orchard Notes", &[("a", "Harvest", 1, &rows)]);
        let mut world = World::subscribed(size.0, size.1, &[(FEED, &document, &[])]);
        world.press("l<enter>");
        let lines = |world: &mut World| -> Vec<String> {
            let screen = world.draw();
            let lines =
                screen.lines().skip(1).map(|line| line.trim_matches(['│', '┃', ' ']).to_owned());
            lines.take_while(|line| !line.starts_with('└')).collect()
        };
        let top = |world: &mut World| lines(world)[0].clone();
        let last_row = |world: &mut World| {
            lines(world).into_iter().rfind(|line| line.starts_with("Row")).unwrap()
        };
        assert_eq!(top(&mut world), "Harvest");
        world.press("j");
        assert!(top(&mut world).starts_with(after), "{size:?}");
        world.press("q<enter>");
        assert_eq!(top(&mut world), "Harvest", "a place in the header is no reading position");
        let before = last_row(&mut world);
        world.press(" ");
        let first = lines(&mut world).into_iter().find(|line| line.starts_with("Row")).unwrap();
        let number = |line: &str| line[4..].trim_end_matches('.').parse::<u32>().unwrap();
        assert!(number(&first) <= number(&before) + 1, "{size:?}: no line is left out");
        world.press("G");
        assert_eq!(last_row(&mut world), "Row 40.");
        world.press("g");
        assert_eq!(top(&mut world), "Harvest");
    }
}

fn sideways(world: &World) -> usize {
    world.app.ui.reader.as_ref().unwrap().sideways
}

#[test]
fn wide_content_is_moved_and_the_screen_says_how() {
    for (columns, rows) in [(60, 20), (40, 12)] {
        let mut world = world(columns, rows);
        insta::assert_snapshot!(format!("wide_{columns}x{rows}"), world.draw());
        world.press(">");
        insta::assert_snapshot!(format!("wide_moved_{columns}x{rows}"), world.draw());
    }
}

#[test]
fn sideways_move_reaches_both_ends_and_resets_per_entry() {
    let mut world = world(60, 30);
    let screen = world.draw();
    assert!(screen.contains("›") && screen.contains("< > sideways"), "{screen}");
    world.press("<lt>");
    assert_eq!(sideways(&world), 0);
    world.press(">>>>>>>>");
    let end = sideways(&world);
    let screen = world.draw();
    assert!(screen.contains("Grafted anew") && screen.contains("baskets).sum();"), "{screen}");
    assert!(screen.contains("What the trees gave, by year"), "the text stays: {screen}");
    assert!(!screen.contains("›"), "{screen}");
    world.press(">");
    assert_eq!(sideways(&world), end);
    world.press("<lt>");
    assert!(sideways(&world) < end);
    world.press("J");
    assert_eq!(sideways(&world), 0);
    world.draw();
    world.press(">");
    assert_eq!(world.notice(), "nothing visible is wider than the pane");
    assert!(!world.draw().contains("sideways"));
}

#[test]
fn moved_link_is_clickable_and_wheel_moves_sideways() {
    let mut world = world(60, 30);
    let screen = world.draw();
    let line = |screen: &str, text: &str| screen.lines().position(|line| line.contains(text));
    let row = u16::try_from(line(&screen, "Conference").unwrap()).unwrap();
    for _ in 0..20 {
        world.tell(ScreenInput::Mouse(Mouse { gesture: Gesture::WheelRight, column: 9, row }));
    }
    let screen = world.draw();
    let text = screen.lines().nth(usize::from(row)).unwrap();
    let column = text[..text.find("Grafted").unwrap()].chars().count();
    let column = u16::try_from(column).unwrap();
    world.tell(ScreenInput::Mouse(Mouse { gesture: Gesture::Click, column, row }));
    assert_eq!(world.notice(), "opening https://site.example/wax");
    world.tell(ScreenInput::Mouse(Mouse { gesture: Gesture::WheelLeft, column, row }));
    assert!(sideways(&world) > 0);
}

#[test]
fn plain_screen_wraps_wide_content() {
    let mut world = world(40, 60);
    world.app.ui.appearance.plain = true;
    world.press("q<enter>");
    let screen = world.draw();
    for said in ["Sort: Bramley", "Third year: 28", "What was done:", "print(baskets);"] {
        assert!(screen.contains(said), "no '{said}' in\n{screen}");
    }
    assert!(!screen.contains("sideways"), "{screen}");
}

#[test]
fn nothing_is_drawn_over_the_border_at_any_width() {
    for columns in (40..200).step_by(7) {
        let mut world = world(columns, 60);
        for _ in 0..4 {
            let screen = world.draw();
            let panes: Vec<&str> = screen
                .lines()
                .map(str::trim)
                .filter(|line| line.starts_with(['│', '┌', '└', '├']))
                .collect();
            assert!(panes.len() > 20, "{screen}");
            for line in panes {
                assert!(line.ends_with(['│', '┃', '┐', '┘', '┤']), "{line}\n{screen}");
            }
            assert!(screen.contains("And so on."), "{screen}");
            world.press(">");
        }
    }
}

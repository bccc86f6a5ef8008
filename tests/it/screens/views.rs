//! Snapshots of every view at six sizes: empty, full and broken.

use backissue::engine::poll::fetch::AnswerHeaders;
use backissue::io::config::config_file;
use backissue::ui::theme::colours::Colours;
use backissue_core::history::FeedKey;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

use crate::feed_care::plans::{RULES, hinting};
use crate::support::world::{Scripted, World, rss};

const SIZES: [(u16, u16); 6] = [(200, 60), (140, 42), (100, 30), (80, 24), (60, 20), (40, 12)];

const ARTICLE: &str = "<h2>The frost</h2><p>The frost of the <em>tenth</em> came early. See \
    <a href=\"https://site.example/ladders\">the ladders</a> and <a href=\"/wax\">the wax</a>.</p>\
    <ul><li>apples<ul><li>Bramley</li></ul></li><li>pears</li></ul>\
    <table><tr><th>night</th><th>degrees</th></tr><tr><td>ninth</td><td>-2</td></tr></table>\
    <pre>let frost = true;\n    if frost { cover(); }</pre><blockquote><p>Cover the figs.</p></blockquote>";

/// Returns a world with three subscriptions, one of which fails.
fn full(columns: u16, rows: u16) -> World {
    let notes = rss(
        "Orchard Notes",
        &[
            ("n3", "Frost report (corrected)", 1, ARTICLE),
            ("n2", "Grafting wax", 30, "<p>Warm it slowly.</p>"),
            (
                "n1",
                "漢字 and emoji 🍎 in a rather long title that has to be cut somewhere",
                31,
                "<p>Wide.</p>",
            ),
        ],
    );
    let tower = rss("Bell Tower", &[("b1", "Vespers", 3, "<p>Six.</p>")]);
    let mut world = World::subscribed(
        columns,
        rows,
        &[
            ("https://orchard.example/feed", &notes, &["garden"]),
            ("https://tower.example/feed", &tower, &["garden", "sound"]),
        ],
    );
    world.app.ui.notice = None;
    let gone = backissue::engine::feeds::addition::Subscribe {
        address: "https://quiet.example/feed".into(),
        ..Default::default()
    };
    world.tell(backissue::engine::request::Request::Import(vec![gone]));
    world.pass(chrono::TimeDelta::seconds(5));
    world.app.ui.notice = None;
    world
}

/// Compares one view at every size with its snapshot.
fn show(name: &str, prepare: impl Fn(u16, u16) -> World) {
    for (columns, rows) in SIZES {
        let screen = prepare(columns, rows).draw();
        assert!(screen.lines().count() <= usize::from(rows));
        insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), screen);
    }
}

/// Returns a function that creates a full world and presses these keys.
fn after(keys: &'static str) -> impl Fn(u16, u16) -> World {
    move |columns, rows| {
        let mut world = full(columns, rows);
        world.press(keys);
        world
    }
}

/// Returns the first cell of a text on the screen.
fn cell_of(world: &World, text: &str) -> Cell {
    let (columns, rows) = world.app.ui.size;
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal
        .draw(|frame| {
            backissue::view::draw(frame, &world.app, world.now);
        })
        .unwrap();
    let cells = terminal.backend().buffer().content().chunks(usize::from(columns));
    let mut starts = cells.flat_map(|row| (0..row.len()).map(|place| &row[place..]));
    let is_here = |row: &&[Cell]| {
        row.len() >= text.len()
            && row.iter().zip(text.chars()).all(|(cell, char)| cell.symbol() == char.to_string())
    };
    starts.find(is_here).unwrap_or_else(|| panic!("no '{text}'"))[0].clone()
}

#[test]
fn titles_have_the_colour_of_the_first_query_that_finds_them() {
    let rules = "[[colours]]\nquery = \"title:wax is:unread\"\nstyle = \"red - underlined\"\n\
                 [[colours]]\nquery = \"tag:sound OR title:wax\"\nstyle = \"- green\"\n";
    let rules = config_file::parse(rules).unwrap().screen.colours;
    let mut world = full(140, 42);
    world.app.ui.appearance.own = rules.iter().map(|rule| rule.style.clone()).collect();
    world.app.ui.settings.colours = rules;
    world.draw();
    let plain = cell_of(&world, "Frost report");
    assert_eq!((plain.fg, plain.bg), (Color::Reset, Color::Reset));
    for (title, fg, bg, modifier) in [
        ("Grafting wax", Color::Red, Color::Reset, Modifier::BOLD | Modifier::UNDERLINED),
        ("Vespers", Color::Reset, Color::Green, Modifier::BOLD),
    ] {
        let cell = cell_of(&world, title);
        assert_eq!((cell.fg, cell.bg, cell.modifier), (fg, bg, modifier), "{title}");
    }
    world.app.ui.appearance.colours = Colours::None;
    let cell = cell_of(&world, "Grafting wax");
    assert_eq!((cell.fg, cell.modifier), (Color::Reset, Modifier::BOLD | Modifier::UNDERLINED));
}

#[test]
fn the_welcome_offers_the_first_steps() {
    show("welcome", World::new);
    show("welcome_found", |columns, rows| {
        let mut world = World::new(columns, rows);
        world.app.ui.found_readers = vec!["newsboat".into(), "liferea".into()];
        world
    });
}

#[test]
fn the_subscriptions_show_unread_next_poll_and_trouble() {
    show("subscriptions", full);
}

#[test]
fn entries_are_grouped_under_their_days() {
    show("entries", after("<enter>j"));
}

#[test]
fn reader_shows_an_entry_readably() {
    show("reader", after("<enter><enter>"));
}

#[test]
fn a_failing_feed_says_why() {
    show("failing", after("<end><enter>"));
}

#[test]
fn attention_list_shows_reason_and_remedy() {
    let attention = |columns, rows| {
        let mut world = full(columns, rows);
        let (orchard, moved) = ("https://orchard.example/feed", "https://apples.example/feed");
        world.lead(orchard, 301, moved);
        world.serve(moved, &rss("Apples", &[("x", "Other", 1, "")]));
        world.refuse("https://tower.example/feed", 410, AnswerHeaders::default());
        world.poll(FeedKey(1));
        world.poll(FeedKey(2));
        world.press("gjjjj<enter>");
        world
    };
    show("attention", attention);
    show("attention_empty", |columns, rows| {
        let mut world = World::subscribed(
            columns,
            rows,
            &[("https://a.example/f", &rss("A", &[("a", "A", 1, "")]), &[])],
        );
        world.press("gjjjj<enter>");
        world
    });
}

#[test]
fn the_help_is_drawn_from_the_keys() {
    show("help", after("<enter>?"));
}

#[test]
fn an_address_is_typed_on_the_bottom_line() {
    show("add", after("ahttps://a-rather-long-address.example/with/a/path/feed.xml"));
}

#[test]
fn a_search_is_followed_as_it_is_typed() {
    show("search", after("/fr"));
    show("search_reader", after("/fro<enter><enter>"));
    show("search_nothing", after("/zebra"));
    show("search_flaw", after("/frost titel:x"));
}

#[test]
fn a_list_without_entries_says_so() {
    show("all_read", after("Ajk"));
}

/// Returns a function that creates a world with three feeds: one with interval rules, one that fails and one that is gone.
/// `below` is the number of rows below the selected one.
fn planned(below: usize, keys: &'static str) -> impl Fn(u16, u16) -> World {
    move |columns, rows| {
        let rules = hinting("Harbour Gazette", RULES);
        let skipping = "<ttl>60</ttl><skipHours><hour>1</hour><hour>2</hour></skipHours>";
        let (failing, gone) = (hinting("Night Watch", skipping), hinting("Old Mill", ""));
        let feeds = ["gazette", "night", "mill"].map(|name| format!("https://{name}.example/feed"));
        let mut world = World::subscribed(
            columns,
            rows,
            &[(&feeds[0], &rules, &["coast"]), (&feeds[1], &failing, &[]), (&feeds[2], &gone, &[])],
        );
        for (feed, status) in [(&feeds[1], 503), (&feeds[2], 410)] {
            world.network.insert(feed.clone(), Scripted { status, ..Scripted::default() });
        }
        for _ in 0..12 {
            world.pass(chrono::TimeDelta::minutes(10));
            world.pass(chrono::TimeDelta::seconds(2));
        }
        world.app.ui.notice = None;
        world.press("<end>");
        for _ in 0..below {
            world.press("k");
        }
        world.press(keys);
        world.app.ui.notice = None;
        world
    }
}

#[test]
fn the_plan_of_a_feed_with_rules_says_when_and_why() {
    show("plan_rules", planned(2, "i"));
    show("plan_rules_end", planned(2, "iG"));
    show("plan_rules_steps", planned(2, "iw"));
}

#[test]
fn the_plan_of_a_failing_feed_says_what_it_waits_for() {
    show("plan_failing", planned(1, "i"));
}

#[test]
fn the_plan_of_a_gone_feed_says_that_it_is_over() {
    show("plan_gone", planned(0, "i"));
}

#[test]
fn the_timetable_lists_the_coming_polls() {
    show("timetable", planned(2, "+P"));
}

#[test]
fn the_edit_dialog_shows_what_can_be_chosen() {
    show("edit", planned(2, "e"));
}

#[test]
fn the_feeds_can_be_sorted_by_next_poll() {
    show("by_next_poll", planned(2, "SS"));
}

#[test]
fn entries_can_be_above_the_text() {
    show("two_rows", |columns, rows| {
        let mut world = full(columns, rows);
        world.press("<enter><enter>LL");
        world.app.ui.notice = None;
        world
    });
}

#[test]
fn question_is_shown_on_the_bottom_line() {
    show("question", after("<end>kD"));
}

#[test]
fn titles_of_the_demo_have_40_cells_from_100_columns_on() {
    for columns in [100, 110, 120, 139, 140, 170, 200] {
        let mut world = crate::support::demo_world::demo_world(columns, 42);
        world.rest();
        for keys in ["", "<end>"] {
            world.press(keys);
            let screen = world.draw();
            let list = &world.app.ui.list;
            let mut seen = 0;
            for row in list.rows.iter().skip(list.top).take(8) {
                let begin: String = row.title.chars().take(39).collect();
                assert!(screen.contains(&begin), "{columns}: {begin}\n{screen}");
                seen += 1;
            }
            assert!(seen > 5, "{screen}");
        }
    }
}

#[test]
fn no_column_jumps_when_the_screen_gets_a_column_narrower() {
    let place = |columns| {
        let mut world = full(columns, 30);
        let screen = world.draw();
        let border = screen.lines().next().unwrap();
        let feeds = border.chars().skip(1).position(|char| char == '┬').unwrap();
        let row = screen.lines().find(|line| line.contains("Frost report")).unwrap();
        (feeds, row.chars().collect::<String>().find("Frost report"))
    };
    let ((feeds, title), (feeds_before, title_before)) = (place(100), place(99));
    assert!(feeds.abs_diff(feeds_before) <= 1, "{feeds} {feeds_before}");
    assert!(title.unwrap().abs_diff(title_before.unwrap()) <= 1);
}

#[test]
fn text_is_centred_with_untouched_margins() {
    for (columns, rows) in SIZES.into_iter().chain([(260, 40)]) {
        let mut world = full(columns, rows);
        world.press("<enter><enter>");
        world.draw();
        let text = world.app.ui.viewport.reader;
        let screen = world.draw();
        let lines = screen.lines().skip(usize::from(text.row)).take(usize::from(text.rows));
        let mut margins = Vec::new();
        let prose = text.columns.min(80);
        let side = usize::from(text.columns - prose).div_ceil(2);
        for line in lines {
            let cells: Vec<char> = line.chars().collect();
            let at = |column: u16| cells.get(usize::from(column)).copied().unwrap_or(' ');
            margins.push((at(text.column - 1), at(text.column + text.columns)));
            let from = usize::from(text.column);
            let beside = cells.iter().skip(from).take(side);
            let beyond = from + side + usize::from(prose);
            let beyond = cells.iter().take(from + usize::from(text.columns)).skip(beyond);
            // A character of two cells in another pane moves what follows.
            if cells.len() == usize::from(columns) {
                assert!(beside.chain(beyond).all(|cell| *cell == ' '), "{columns}x{rows} {screen}");
            }
        }
        assert!(!margins.is_empty(), "{columns}x{rows}");
        assert!(margins.iter().all(|margin| *margin == (' ', ' ')), "{margins:?} {screen}");
    }
}

#[test]
fn too_small_terminal_is_reported_in_words() {
    let screen = full(39, 11).draw();
    assert!(screen.contains("needs 40 x 12"), "{screen}");
}

#[test]
fn every_size_draws_without_running_over_an_edge() {
    let mut world = full(120, 36);
    world.press("<enter><enter>");
    for keys in ["", "i", "e", "<esc>qP"] {
        world.resize(120, 36);
        world.press(keys);
        at_every_size(&mut world);
    }
}

fn at_every_size(world: &mut World) {
    for columns in (1..=200).step_by(7) {
        for rows in [1, 3, 11, 12, 13, 24, 60] {
            let screen = world.resize(columns, rows);
            assert!(screen.lines().count() <= usize::from(rows));
        }
    }
}

/// Returns a world with the archived feed of the specification: one archive is not delivered, and the feed's entry list is open.
fn with_a_gap(columns: u16, rows: u16) -> World {
    let mut world = World::new(columns, rows);
    crate::history::journeys::serve_orchard(&mut world);
    world.refuse(&crate::history::journeys::archive("2026-01"), 404, AnswerHeaders::default());
    crate::history::journeys::subscribe(&mut world, "https://orchard.example/notes/index.atom");
    world.rest();
    world.press("l");
    world.app.ui.notice = None;
    world
}

#[test]
fn gap_is_listed_where_its_entries_belong() {
    show("gap", |columns, rows| {
        let mut world = with_a_gap(columns, rows);
        world.press("G");
        world
    });
    show("gap_explained", |columns, rows| {
        let mut world = with_a_gap(columns, rows);
        world.press("Gl");
        world
    });
    show("gaps", |columns, rows| {
        let mut world = with_a_gap(columns, rows);
        world.press("<esc>gjjj");
        if columns < 80 {
            world.press("<enter>");
        }
        world
    });
}

#[test]
fn running_walk_shows_its_progress() {
    show("walking", |columns, rows| {
        let mut world = World::new(columns, rows);
        crate::history::journeys::serve_orchard(&mut world);
        crate::history::journeys::subscribe(&mut world, "https://orchard.example/notes/index.atom");
        world.pass(chrono::TimeDelta::seconds(2));
        world.app.ui.notice = None;
        world
    });
}

#[test]
fn the_palette_lists_commands_above_the_line_they_are_typed_in() {
    show("palette", |columns, rows| {
        let mut world = full(columns, rows);
        world.press("l:oft<c-n>");
        world
    });
}

#[test]
fn filter_dialog_previews_its_hits() {
    show("rule", after("<enter>m"));
    show("rules", after("<enter>m<enter>m<up><right><enter>F"));
    show("rule_flaw", after("<enter>m<c-u>/(/"));
}

#[test]
fn the_tags_of_a_feed_are_typed_on_the_bottom_line() {
    show("tags", after("Gkktga"));
}

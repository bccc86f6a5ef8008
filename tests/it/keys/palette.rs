//! The command palette: the user finds a command by some of its letters, and Enter runs it with the rest of the line as its
//! argument.

use crate::support::world::{World, rss};
use backissue::ui::keys::command_table::COMMANDS;
use backissue::ui::state::overlay::Overlay;
use backissue_core::schedule::Pace;

fn world() -> World {
    let entries: Vec<(String, String)> =
        (1..=9).map(|at| (format!("e{at}"), format!("Entry {at}"))).collect();
    let entries: Vec<_> = entries
        .iter()
        .zip(1..)
        .map(|((id, title), at)| (id.as_str(), title.as_str(), at, ""))
        .collect();
    let document = rss("Garden", &entries);
    World::subscribed(100, 30, &[("https://garden.example/feed", &document, &[])])
}

fn found(world: &World) -> Vec<String> {
    let Some(Overlay::Pick(picks)) = &world.app.ui.overlay else { return Vec::new() };
    picks.found.iter().map(|at| picks.items[*at].name.clone()).collect()
}

#[test]
fn few_letters_find_a_command_and_enter_runs_it() {
    let mut world = world();
    world.press("hG:less");
    assert_eq!(found(&world)[0], "less-often");
    world.press("<enter>");
    assert!(world.app.ui.overlay.is_none());
    assert_eq!(world.feed(1).record.feed_settings.pace, Some(Pace::Less));
    world.press(":");
    assert!(found(&world).len() > 20, "nothing typed offers everything: {:?}", found(&world));
    world.press("<esc>");
    assert!(world.app.ui.overlay.is_none());
}

#[test]
fn command_descriptions_are_searched_and_names_rank_first() {
    let mut world = world();
    world.press(":browser");
    assert_eq!(found(&world), Vec::<&str>::new(), "no entry has the keys");
    world.press("<esc>l:browser");
    assert_eq!(found(&world)[0], "open-in-browser");
    world.press("<esc>:poll");
    assert_eq!(found(&world)[..2], ["poll", "poll-all"]);
}

#[test]
fn words_of_other_programs_find_commands() {
    for (typed, name) in [
        ("refresh", "poll"),
        ("delete", "unsubscribe"),
        ("settings", "edit"),
        ("set", "edit"),
        ("bookmark", "star"),
        ("dark", "theme"),
    ] {
        let mut world = world();
        world.press(&format!("l:{typed}"));
        assert_eq!(found(&world)[0], name, "{typed}: {:?}", found(&world));
    }
    let mut world = world();
    world.press("l<enter>:delete<enter>");
    let told = "'unsubscribe' works in the list of feeds and in a list of entries";
    assert_eq!(world.notice(), told);
}

#[test]
fn what_most_need_comes_first() {
    let mut world = world();
    world.press("l:");
    assert_eq!(found(&world)[..3], ["add", "poll", "poll-all"]);
    world.press("<esc>?");
    let screen = world.draw();
    let line = screen.lines().nth(2).unwrap();
    assert!(line.contains("Enter") && line.contains(" open;"), "{screen}");
}

/// A whole name means its command and no other: each of them leads the list where it works, and says where it works elsewhere.
#[test]
fn a_whole_name_means_its_command() {
    for (pane, keys) in [("feeds", "hhg"), ("entries", "hhgl"), ("reader", "hhgl<enter>")] {
        let mut world = world();
        world.press(keys);
        let focus = world.app.ui.focus;
        for row in COMMANDS.iter().filter(|row| !["link", "command"].contains(&row.name)) {
            if row.works_in(focus) {
                world.press(&format!(":{}", row.name));
                assert_eq!(
                    found(&world).first().map(String::as_str),
                    Some(row.name),
                    "in the pane {pane}"
                );
                world.press("<esc>");
            } else if !COMMANDS.iter().any(|other| other.name == row.name && other.works_in(focus))
            {
                world.press(&format!(":{}<enter>", row.name));
                let told = world.notice();
                assert!(told.starts_with(&format!("'{}' works in ", row.name)), "{pane}: {told}");
            }
        }
    }
    let mut world = world();
    world.press("lg:mark<enter>");
    assert_eq!(world.app.engine.unread(), 9, "it marks the row, not the list as read");
}

#[test]
fn text_after_a_command_name_is_its_argument() {
    let mut world = world();
    world.press("lg:goto 1990<enter>");
    world.rest();
    let list = &world.app.ui.list;
    assert_eq!(list.selected, list.total - 1, "the oldest is the last not newer than that");
    world.press(":star now<enter>");
    assert_eq!(world.notice(), "'star' takes no argument: remove 'now'");
    world.press(":zzz<enter>");
    assert_eq!(world.notice(), "no command matches 'zzz' · ? shows the keys");
    // Words that are no argument are a part of what is looked for.
    world.press(":mark read");
    let draw = world.draw();
    assert!(draw.contains("mark-all-read") && !draw.contains(" mark-feed"), "{draw}");
    world.press("<esc>");
    // Commands of newsboat name what is here instead.
    for (typed, told) in [
        ("5", "rows have no numbers: 5j moves by five, @ goes to a date"),
        ("set browser x", "the configuration file has the settings, e those of a feed"),
        ("tag news", "b jumps to a tag, e sets those of a feed"),
    ] {
        world.press(&format!(":{typed}<enter>"));
        assert_eq!(world.notice(), format!("no command matches '{typed}' · {told}"));
    }
    world.press(":add not an address<enter>");
    assert!(world.notice().contains("address"), "{}", world.notice());
}

#[test]
fn command_unavailable_over_the_plan_says_so() {
    let mut world = world();
    world.press("hGi:mark<enter>");
    assert_eq!(world.notice(), "that does not work here: q returns to the panes");
    world.press(":more<enter>");
    assert_eq!(world.feed(1).record.feed_settings.pace, Some(Pace::More));
    assert!(matches!(world.app.ui.overlay, Some(Overlay::Plan(_))));
}

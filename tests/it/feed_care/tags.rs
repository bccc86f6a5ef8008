//! Tags: the tree of tags and its folding, the line that shows the tags of a feed, and renaming a tag.

use crate::support::world::{World, rss};
use backissue::ui::state::feeds_pane::FeedsRow;
use backissue_core::history::FeedKey;

/// Returns a world with three feeds: one with two tags, one with a nested tag, and one without tags.
fn world() -> World {
    let feed = |title: &str, count: usize| {
        let all = [("a", "One", 1, ""), ("b", "Two", 2, ""), ("c", "Three", 3, "")];
        // Each feed has its own links: articles with one link would be read together.
        rss(title, &all[..count]).replace("site.example", &format!("{title}.example"))
    };
    let (ash, birch, cedar) = (feed("Ash", 1), feed("Birch", 2), feed("Cedar", 3));
    World::subscribed(
        120,
        36,
        &[
            ("https://ash.example/f", &ash, &["garden", "sound"]),
            ("https://birch.example/f", &birch, &["garden/trees"]),
            ("https://cedar.example/f", &cedar, &[]),
        ],
    )
}

/// Returns the rows of tags and feeds in the first pane, below the smart lists.
fn tree(world: &mut World) -> Vec<String> {
    let screen = world.draw();
    let rows = screen.lines().skip(6).take_while(|line| line.starts_with("│ "));
    let cut = rows.map(|line| line.chars().skip(1).take(22).collect::<String>());
    cut.map(|row| row.trim_end().to_owned()).filter(|row| !row.is_empty()).collect()
}

/// Selects the row of a tag in the first pane.
fn select(world: &mut World, tag: &str) {
    world.press("g");
    for _ in 0..20 {
        if matches!(world.app.ui.feeds.selected_row(), Some(FeedsRow::Tag(name, _)) if name == tag)
        {
            return;
        }
        world.press("j");
    }
    panic!("no tag {tag}");
}

fn tags(world: &World, feed: u32) -> Vec<&str> {
    world.feed(feed).record.tags.iter().map(String::as_str).collect()
}

#[test]
fn tags_form_a_tree_with_counts_and_feeds_under_each_tag() {
    let mut world = world();
    let tree = tree(&mut world);
    let trimmed: Vec<&str> =
        tree.iter().map(|row| row.trim_end_matches(char::is_numeric)).collect();
    assert!(trimmed[0].starts_with(" ▾ garden"), "{tree:?}");
    assert!(tree[1].starts_with("   Ash"), "{tree:?}");
    assert!(tree[2].starts_with("   ▾ trees"), "{tree:?}");
    assert!(tree[3].starts_with("     Birch"), "{tree:?}");
    assert!(tree[4].starts_with(" ▾ sound"), "{tree:?}");
    assert!(tree[5].starts_with("   Ash"), "{tree:?}");
    assert!(tree[6].starts_with("   Cedar"), "{tree:?}");
    select(&mut world, "garden");
    assert_eq!(world.titles().len(), 3, "its list includes the tags below it");
    let row = world.app.ui.feeds.selected_row().unwrap();
    assert_eq!(backissue::ui::panes::feeds_pane::count_unread(&world.app, row), 3);
}

#[test]
fn tag_fold_is_toggled_and_survives_a_restart() {
    let mut world = world();
    let before = tree(&mut world);
    select(&mut world, "garden");
    world.press("h");
    assert_eq!(tree(&mut world).len(), before.len() - 3);
    assert!(world.draw().contains("▸ garden"), "{}", world.draw());
    assert_eq!(world.titles().len(), 3, "its list is the same");
    world.restart();
    assert!(world.draw().contains("▸ garden"));
    select(&mut world, "garden");
    world.press("l");
    assert_eq!(tree(&mut world).len(), before.len());
    world.press("l");
    assert_eq!(world.app.ui.focus, backissue::ui::state::layout::Pane::Entries);
    // The key `h` moves from a feed to its tag, folds that tag, and then moves to the parent tag.
    world.press("h");
    select(&mut world, "garden/trees");
    world.press("jhh");
    assert!(world.draw().contains("▸ trees"), "{}", world.draw());
    world.press("h");
    let row = world.app.ui.feeds.selected_row();
    assert!(matches!(row, Some(FeedsRow::Tag(tag, _)) if tag == "garden"), "{row:?}");
    assert_eq!(world.titles().len(), 3, "the list follows the selection");
}

#[test]
fn space_reads_unread_entries_of_a_folded_tag() {
    let mut world = world();
    select(&mut world, "garden");
    world.press("hG");
    assert_eq!(world.titles().len(), 3);
    world.press("    ");
    assert_eq!(world.app.engine.unread(), 2, "three of the last feed, then the folded tag");
}

#[test]
fn selection_keeps_its_row_of_a_feed_listed_twice() {
    let mut world = world();
    select(&mut world, "sound");
    world.press("j");
    let place = world.app.ui.feeds.selected;
    world.poll(FeedKey(1));
    world.press("+");
    assert_eq!(world.app.ui.feeds.selected, place);
}

#[test]
fn tags_are_typed_with_completion_and_undone() {
    let mut world = world();
    world.press("Gt");
    let screen = world.draw();
    assert!(screen.contains("Tags (Tab completes):") && screen.contains("garden/trees · sound"));
    world.press("so<tab>");
    assert!(world.draw().contains("Tags (Tab completes): sound, "), "{}", world.draw());
    world.press("ga<tab>");
    assert!(world.draw().contains("sound, garden   garden/trees"), "{}", world.draw());
    world.press("/<tab>new  one<enter>");
    assert_eq!(tags(&world, 3), ["sound", "garden/trees", "new one"]);
    assert_eq!(world.notice(), "'Cedar': sound, garden/trees, new one · u undo");
    world.press("t<c-u><enter>");
    assert_eq!(tags(&world, 3), [""; 0]);
    assert_eq!(world.notice(), "'Cedar' has no tags now · u undo");
    world.press("u");
    assert_eq!(tags(&world, 3).len(), 3);
    world.press("u");
    assert_eq!(tags(&world, 3), [""; 0]);
    world.press("t<enter>");
    assert_eq!(world.notice(), "nothing was changed");
}

#[test]
fn a_tag_is_renamed_for_all_its_feeds_and_rules_in_one_step() {
    let mut world = world();
    select(&mut world, "garden");
    world.press("lm<up><right><right><enter>h");
    let reach = |world: &World| format!("{:?}", world.app.engine.filters.list[0].scope);
    assert!(reach(&world).contains("garden"), "{}", reach(&world));
    select(&mut world, "garden");
    world.press("t<c-u>sound/park<enter>");
    assert_eq!(world.notice(), "'garden' is now 'sound/park' for 2 feeds · u undo");
    assert_eq!(tags(&world, 1), ["sound/park", "sound"]);
    assert_eq!(tags(&world, 2), ["sound/park/trees"]);
    assert!(reach(&world).contains("sound/park"));
    assert_eq!(world.reload().engine.feeds[&FeedKey(2)].record.tags, ["sound/park/trees"]);
    world.press("u");
    assert_eq!((tags(&world, 1), tags(&world, 2)), (vec!["garden", "sound"], vec!["garden/trees"]));
    assert!(reach(&world).contains("garden"));
    world.press("<c-y>");
    assert_eq!(tags(&world, 2), ["sound/park/trees"]);
}

#[test]
fn unsubscribing_on_a_tag_asks_for_all_its_feeds() {
    let mut world = world();
    select(&mut world, "garden");
    world.press("D");
    assert!(world.draw().contains("Unsubscribe from 'Ash' and 'Birch'"), "{}", world.draw());
    world.press("y");
    assert_eq!(world.app.engine.feeds.len(), 1);
}

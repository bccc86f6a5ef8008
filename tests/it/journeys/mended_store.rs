//! What came back from damaged files stands in Attention until the reader has seen it.

use crate::support::rss::rss;
use crate::support::world::World;

const NOTES: &str = "https://orchard.example/feed";

#[test]
fn what_came_back_stands_in_attention_until_it_is_dismissed() {
    let feed = rss("Orchard Notes", &[("a", "Wax", 1, "a")]);
    let mut world = World::subscribed(120, 36, &[(NOTES, &feed, &[])]);
    let told = "the store could not be opened (a part of its log is damaged): 12 records came back";
    world.app.engine.mended = Some(told.to_owned());
    world.press("hgg");
    let mut rows = 0;
    while !world.draw().contains("The store") && rows < 12 {
        world.press("j");
        rows += 1;
    }
    let shown = world.draw();
    assert!(shown.contains("The store") && shown.contains("mended"), "{shown}");
    world.press("l<enter>");
    assert_eq!(world.app.engine.mended, None);
    assert!(!world.draw().contains("The store"));
}

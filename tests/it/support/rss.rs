//! RSS documents for tests, and two feeds that several tests share.

use chrono::TimeDelta;

use super::world::{World, start};

/// Address of the first feed of [`two_feeds`].
pub const NOTES: &str = "https://orchard.example/feed";
/// Address of the second feed of [`two_feeds`].
pub const TOWER: &str = "https://tower.example/feed";

/// Returns a world subscribed to two feeds with three entries in total.
pub fn two_feeds() -> World {
    let notes = rss(
        "Orchard Notes",
        &[("n2", "Wax", 1, "<p>a <a href='/x'>x</a></p>"), ("n1", "Ladders", 2, "<p>b</p>")],
    );
    let tower = rss("Bell Tower", &[("b1", "Vespers", 3, "<p>c</p>")]);
    World::subscribed(120, 36, &[(NOTES, &notes, &[]), (TOWER, &tower, &[])])
}

/// Returns an RSS document with entries titled `NAME 1` to `NAME COUNT`, newest first, `hours` hours apart.
pub fn numbered(title: &str, name: &str, count: usize, hours: i64) -> String {
    let names: Vec<String> = (1..=count).map(|number| format!("{name} {number}")).collect();
    let entries = (1..).zip(&names);
    let entries =
        entries.map(|(at, name)| (name.as_str(), name.as_str(), at * hours, "<p>Text.</p>"));
    rss(title, &entries.collect::<Vec<_>>())
}

/// Returns an RSS document with a title and entries `(guid, title, hours before the start, markup)`.
pub fn rss(title: &str, entries: &[(&str, &str, i64, &str)]) -> String {
    let mut items = String::new();
    for (guid, title, hours, markup) in entries {
        let date = (start() - TimeDelta::hours(*hours)).to_rfc2822();
        let item = format!(
            "<item><guid isPermaLink=\"false\">{guid}</guid><title>{title}</title><pubDate>{date}</pubDate>\
             <link>https://site.example/{guid}</link><description><![CDATA[{markup}]]></description></item>"
        );
        items.push_str(&item);
    }
    format!(
        "<rss version=\"2.0\"><channel><title>{title}</title><link>https://site.example/</link><description/>{items}</channel></rss>"
    )
}

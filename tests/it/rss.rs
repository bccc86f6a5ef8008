//! An RSS document for tests.

use chrono::TimeDelta;

use crate::world::start;

/// An RSS document with a title and entries `(guid, title, hours before the start, markup)`.
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

//! The numbered pages of the kitchen's diary, which its feed does not link to, as in `WordPress`: six pages of ten older entries.

use std::fmt::Write as _;

/// Address of the pages, before their numbers. The feed itself is page 1.
const PAGES: &str = "/kitchen/feed.xml?paged=";
const LAST_PAGE: usize = 7;
const PER_PAGE: usize = 10;
/// Age of the newest entry of page 2, and time between two entries, in days.
const AGE: (usize, usize) = (70, 7);
const DISHES: [&str; 10] = [
    "Barley broth",
    "Pickled beans",
    "A pie of leeks",
    "Oatcakes",
    "Smoked eel",
    "Baked apples",
    "Split peas",
    "Nettle soup",
    "Potted cheese",
    "Plum jam",
];
const NOTES: [&str; 6] = [
    "for a wet night",
    "with what was left",
    "as my aunt made it",
    "for twelve and a dog",
    "on the small stove",
    "and what I would change",
];

/// Returns the template of the page at an address, if there is one.
pub(super) fn page(address: &str) -> Option<String> {
    let number: usize = address.strip_prefix(PAGES)?.parse().ok()?;
    if !(2..=LAST_PAGE).contains(&number) {
        return None;
    }
    let mut items = String::new();
    let first = (number - 2) * PER_PAGE;
    for place in first..first + PER_PAGE {
        let dish = DISHES.get(place % DISHES.len())?;
        let note = NOTES.get(place / DISHES.len() % NOTES.len())?;
        let days = AGE.0 + place * AGE.1;
        // Writing to a string cannot fail.
        let _ = write!(
            items,
            "<item><title>{dish}, {note}</title><link>{{{{base}}}}/kitchen/old/{place}</link>\
             <guid isPermaLink=\"false\">kitchen-old-{place}</guid><pubDate>{{{{ago:{days}d:rfc822}}}}</pubDate>\
             <description>{dish}, {note}: the page has become hard to read, but the onions are legible.</description></item>"
        );
    }
    Some(format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel>\
         <title>A Kitchen by the Locks</title><link>{{{{base}}}}/kitchen/</link>\
         <generator>https://wordpress.org/?v=6.5</generator>\n{items}</channel></rss>\n"
    ))
}

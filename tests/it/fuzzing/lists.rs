//! Fuzzing of subscription lists: OPML, the `urls` files of other readers, and plain address lists.

use backissue::engine::feeds::import::subscriptions_in;
use backissue_core::feed::opml::{is_url_list, read_list, read_opml, read_urls};

use super::{Target, documents};

const LISTS: [&str; 4] = [
    "<?xml version=\"1.0\"?><opml version=\"2.0\"><head><title>Mine</title></head><body>\
     <outline text=\"News\"><outline type=\"rss\" text=\"One\" xmlUrl=\"https://a.example/feed\" htmlUrl=\"https://a.example/\" \
     category=\"/x/y,z\"/><outline text=\"Two\" xmlUrl=\"feed://b.example/\" description=\"&amp;&#x202e;\"/></outline></body></opml>",
    "https://a.example/feed news \"~Title of mine\" !hidden\n# a comment\n\"query:unread:unread = \\\"yes\\\"\"\nexec:~/x.sh\n\
     \"filter:cat:https://b.example/\" tag\\ two\n",
    "https://a.example/\nhttp://user:word@b.example/x?y=z#f\nb.example\n\n   https://c.example/ \n",
    "<opml><body><outline xmlUrl='https://a.example/'><outline/></outline></body>",
];

fn check(bytes: &[u8], _: usize) {
    let text = String::from_utf8_lossy(bytes);
    is_url_list(bytes);
    let urls = read_urls(&text, None);
    assert_eq!(urls, read_urls(&text, None), "two answers");
    read_opml(bytes).ok();
    let Ok(list) = read_list(bytes, None) else { return };
    subscriptions_in(&list);
    // The messages about a list may contain no control characters, because they are printed to a terminal.
    let told = list.left_out();
    let is_plain = |line: &String| !line.chars().any(char::is_control);
    assert!(told.iter().all(is_plain), "{told:?}");
}

pub fn lists() -> Target {
    Target::of_texts("lists", &LISTS, documents::PIECES, 800, check)
}

#[test]
fn list_parsing_is_deterministic_and_never_panics() {
    lists().run();
}
